"""The Lagrange engine with generated code: the same motion, reported and recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from contract import test_blocks as contract
from contract.examples import EXAMPLES, Example
from linkwork.dynamics.symbolic import compiled
from linkwork.engines.lagrange import generated_code
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.messages import GrabElement, ReleaseGrab
from linkwork.session.recording import Recording
from linkwork.session.replay import replay
from linkwork.session.session import Session

CORNERS = [
    f"robot/{side}_{end}_{edge}"
    for side in ("right", "left")
    for end in ("front", "rear")
    for edge in ("left", "right")
]
needs_compiler = pytest.mark.skipif(compiled.compiler() is None, reason="no C compiler")


def biped(code: str, **more: object) -> Scene:
    """Returns BARt-UH II on a floating base, on its contact points."""
    scene = lw.load_scene("bart_uh/upright")
    scene.engines.clear()
    return scene.engine("lagrange", code=code, contacts=CORNERS, **more)


def crane(code: str, *, extra: Part | None = None) -> Scene:
    """Returns a ball, a slider, a hinge with a spring and one with a limit, all moving."""
    part = Part("crane").add(Element("stand", (), mass=1.0))
    before = "stand"
    kinds: list[tuple[str, dict]] = [
        ("ball", {"speed": (3.0, -2.0, 1.0)}),
        ("slider", {"axis": (1.0, 0.0, 0.0), "speed": 0.3, "range": (-0.1, 0.1)}),
        ("hinge", {"axis": (0.0, 1.0, 0.0), "speed": 4.0, "stiffness": 3.0, "armature": 0.02}),
        ("universal", {"axis": (1.0, 0.0, 0.0), "axis2": (0.0, 1.0, 0.0), "damping": 0.1}),
    ]
    for n, (kind, words) in enumerate(kinds):
        bar = Box(size=(0.3, 0.06, 0.04), at=Pose((0.15, 0.0, 0.0)), collide=False)
        part.add(Element(f"e{n}", (bar,), mass=0.5))
        place = Pose((0.3 * (n > 0), 0.0, 0.0))
        part.add(Joint(f"j{n}", kind, before, f"e{n}", at=place, **words))
        before = f"e{n}"
    scene = Scene("s", step=0.001).place(part)
    if extra is not None:
        scene.place(extra, at=Pose((2.0, 0.0, 1.0)))
    return scene.engine("lagrange", code=code, owns=["crane"])


def reported(session: Session) -> str:
    """Returns the session's message about the code."""
    return "\n".join(f"{f.level}: {f.text}" for f in session.cycle.findings)


@needs_compiler
def test_accelerations_are_those_of_the_recursive_kernels() -> None:
    """At random states of a floating biped and all joint types, to 1e-11."""
    rng = np.random.default_rng(4)
    for make in (biped, crane):
        with (
            Session(make("recursive"), watch=False) as one,
            Session(make("generated"), watch=False) as two,
        ):
            assert one.cycle.codes == {}
            assert two.cycle.codes["engine 1 (lagrange)"].startswith("C ")
            assert "note: moved by generated C" in reported(two)
            for _ in range(20):
                v = rng.uniform(-1.0, 1.0, one.world.nv)
                for session in (one, two):
                    session.reset()
                    session.state.v[:] = v
                    session.cycle.refresh()
                    session.step()
                made, wanted = two.state.report.acceleration, one.state.report.acceleration
                size = max(1.0, float(np.abs(wanted).max()))
                np.testing.assert_allclose(made, wanted, rtol=0.0, atol=1e-11 * size)


@needs_compiler
def test_a_run_is_the_same_within_rounding() -> None:
    """Half a second on contact springs, grabbed, and of swinging joints."""
    for make, tolerance in ((biped, 1e-11), (crane, 1e-11)):
        ends = []
        for code in ("recursive", "generated"):
            with Session(make(code), watch=False) as session:
                name = session.world.element_names[-1]
                session.run(0.1)
                session.send(GrabElement(name, (0.3, 0.2, 0.5), stiffness=50.0, damping=2.0))
                session.run(0.2)
                session.send(ReleaseGrab())
                session.run(0.2)
                ends.append(np.concatenate([session.state.q, session.state.v]))
        np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=tolerance)


@needs_compiler
@pytest.mark.parametrize(
    "holds",
    [
        contract.test_saved_state_continues_bit_for_bit,
        contract.test_reset_begins_anew,
        contract.test_memory_survives_an_edit,
        contract.test_recording_replays_bit_for_bit,
    ],
)
def test_the_contract_of_engines_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds: Callable[..., None]
) -> None:
    """Save and restore, reset, edits and replay, with generated code."""
    usual = EXAMPLES["engine"]["lagrange"]
    made = Example({**usual.params, "code": "generated"}, positive=usual.positive)
    monkeypatch.setitem(EXAMPLES["engine"], "lagrange", made)
    holds(tmp_path, "engine", "lagrange")


@needs_compiler
def test_recordings_say_which_code_moved_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replay is bit-exact with it; without a compiler the difference is reported."""
    file = tmp_path / "run.mcap"
    with Session(crane("generated"), watch=False) as session:
        session.record(file)
        session.run(0.05)
        made = session.cycle.codes["engine 1 (lagrange)"]
    with Recording.open(file) as recording:
        assert recording.header.versions["engine 1 (lagrange)"] == made
    again = replay(file)
    assert again.same
    assert again.different_versions == []
    monkeypatch.setattr(generated_code, "compiler", lambda: None)
    (difference,) = replay(file).different_versions
    assert difference == f"engine 1 (lagrange) {made} when recorded, recursive kernels here"


@needs_compiler
def test_masses_and_gravity_may_change_while_it_runs() -> None:
    """They are constants of the C file: recursive kernels are used for other values."""
    ends = []
    for code in ("recursive", "generated"):
        with Session(crane(code), watch=False) as session:
            session.run(0.1)
            session["crane/e3.mass"] = 2.0
            session.run(0.1)
            session["world.gravity_z"] = -1.6
            session["crane/e3.mass"] = 0.5
            session.run(0.1)
            session["world.gravity_z"] = -9.81
            session.run(0.1)
            ends.append(np.concatenate([session.state.q, session.state.v]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=1e-11)


def test_without_a_compiler_it_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiler, a failing one, and too many operations: recursive kernels."""
    with Session(crane("recursive"), watch=False) as session:
        session.run(0.05)
        wanted = session.state.q.copy()

    def runs(words: str) -> None:
        with Session(crane("generated"), watch=False) as session:
            assert f"approximated: {words}" in reported(session)
            assert "so recursive kernels are used" in reported(session)
            assert session.cycle.codes == {"engine 1 (lagrange)": "recursive kernels"}
            session.run(0.05)
            assert np.array_equal(session.state.q, wanted)

    with monkeypatch.context() as here:
        here.setattr(generated_code, "MAX_OPERATIONS", 100)
        here.setattr(generated_code, "compiler", lambda: "cc")
        runs("its equations have")
    with monkeypatch.context() as here:
        here.setenv("CC", "/bin/false")
        runs("/bin/false rejects the generated C file")
    with monkeypatch.context() as here:
        here.setenv("CC", "no-such-compiler")
        runs("the environment variable CC is 'no-such-compiler'")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    runs("there is no C compiler")


@needs_compiler
def test_only_what_the_engine_moves_is_derived() -> None:
    """Bodies of another engine are not included, whatever their joints."""
    neighbour = Part("door").add(Element("post", (), mass=1.0))
    leaf = Box(size=(0.4, 0.02, 0.8), at=Pose((0.2, 0.0, 0.0)), collide=False)
    neighbour.add(Element("leaf", (leaf,), mass=3.0))
    neighbour.add(Joint("pin", "hinge", "post", "leaf", axis=(0.0, 0.0, 1.0), speed=1.0))
    ends = []
    for extra in (None, neighbour):
        scene = crane("generated", extra=extra)
        if extra is not None:
            scene.engine("mujoco")
        with Session(scene, watch=False) as session:
            assert "note: moved by generated C" in reported(session)
            session.run(0.1)
            ends.append([session[f"crane/j{n}.angle"] for n in (2,)])
            ends[-1].append(session["crane/j1.position"])
    assert ends[0] == ends[1]
