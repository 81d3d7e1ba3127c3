"""Requirements for every registered engine, sensor, actuator, agent, bus and fault."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contract.bench import LATE, NAME, bench, nudge, opened
from contract.examples import CASES, EXAMPLES, FORMAT_EXAMPLES, REGISTRIES, example
from linkwork.core import registry
from linkwork.core.registry import Registry
from linkwork.model.blocks import Block
from linkwork.model.scene.archive import pack
from linkwork.session.replay import replay
from linkwork.session.session import Session

BEFORE, AFTER = 105, 60  # not whole multiples of the examples' periods

each_block = pytest.mark.parametrize(("kind", "type"), CASES, ids=[f"{k}-{t}" for k, t in CASES])


def subject(session: Session, kind: str, type: str) -> Block:
    """Returns the block that holds the example; an auto servo becomes a servo."""
    type = "servo" if type == "auto_servo" else type
    return next(b for b in session.cycle.blocks if (b.kind, b.type) == (kind, type))


def memory(session: Session, kind: str, type: str) -> dict[str, np.ndarray]:
    """Returns copies of the example's slots in the state."""
    block = subject(session, kind, type)
    return {slot: block.slot(slot.removeprefix("int:")).copy() for slot in block.slots()}


@pytest.mark.parametrize("kind", sorted(REGISTRIES))
def test_everything_registered_has_an_example(kind: str) -> None:
    """Every registered kind is tested here, so it needs a valid example."""
    known = FORMAT_EXAMPLES if kind == "format" else EXAMPLES[kind]
    missing = [name for name in REGISTRIES[kind].names() if name not in known]
    assert not missing, f"{kind}s without an example: {missing}. Add one to contract/examples.py."
    stale = [name for name in known if name not in REGISTRIES[kind]]
    assert not stale, f"examples of {kind}s that are not registered: {stale}."


def test_every_registry_has_a_contract() -> None:
    """A new registry needs its own contract tests."""
    found = {thing.kind for thing in vars(registry).values() if isinstance(thing, Registry)}
    assert found == set(REGISTRIES)


@each_block
def test_saved_state_continues_bit_for_bit(tmp_path: Path, kind: str, type: str) -> None:
    """A state saved mid-run leads to the same end, in this session and in a new one."""
    scene = bench(tmp_path, kind, type)
    with opened(scene) as session:
        nudge(session)
        session.step(BEFORE)
        kept, saved = session.state.copy(), session.state.save()
        session.step(AFTER)
        end = session.state.copy()
        assert not end.same(kept)
        session.cycle.restore(kept)
        assert session.state.same(kept)
        session.step(AFTER)
        assert session.state.same(end), session.state.difference(end)
    with opened(scene) as other:
        other.cycle.restore(saved)
        other.step(AFTER)
        assert other.state.same(end), other.state.difference(end)


@each_block
def test_reset_begins_anew(tmp_path: Path, kind: str, type: str) -> None:
    """After a reset a run is the same as the first time."""
    with opened(bench(tmp_path, kind, type)) as session:
        session.step(BEFORE)
        first = session.state.copy()
        session.reset()
        session.step(BEFORE)
        assert session.state.same(first), session.state.difference(first)


@each_block
def test_memory_survives_an_edit(tmp_path: Path, kind: str, type: str) -> None:
    """Adding a part to the running scene changes nothing of the existing state."""
    scene = bench(tmp_path, kind, type)
    edited = bench(tmp_path, kind, type, more=LATE)
    with opened(scene) as session, opened(scene) as undisturbed:
        for each in (session, undisturbed):
            nudge(each)
            each.step(BEFORE)
        session.swap(edited).result(timeout=60)
        for each in (session, undisturbed):
            each.step()
        assert session.version == 2
        assert session.state.step == BEFORE + 1
        assert "late.z" in session.signals
        for signal in undisturbed.signals:
            if not signal.name.startswith("world."):  # these include the new part
                # A gap that a joint may leave is an acceleration by the square of the step more,
                # and a force of its bearing by the mass.
                bears = type == "impulse" and re.search(r"\.(force(_[xyz])?|moment)$", signal.name)
                near = 1e-3 if bears or signal.name.endswith(".acceleration") else 1e-6
                expected = pytest.approx(undisturbed[signal.name], abs=near)
                assert session[signal.name] == expected, signal.name
        if kind != "engine":  # an engine's own memory is reset
            mine, theirs = memory(session, kind, type), memory(undisturbed, kind, type)
            for slot in mine.keys() - set(example(kind, type).anew):
                np.testing.assert_allclose(mine[slot], theirs[slot], atol=1e-6, err_msg=slot)


@each_block
def test_recording_replays_bit_for_bit(tmp_path: Path, kind: str, type: str) -> None:
    """A recording with its inputs gives the same states when simulated again."""
    path = tmp_path / "run.mcap"
    with opened(bench(tmp_path, kind, type), record=path) as session:
        session.step(40)
        nudge(session)
        session["world.gravity_z"] = -5.0
        session.step(AFTER)
        session.reset()
        session.step(AFTER)
    result = replay(path)
    assert result.same, result.mismatch
    assert result.steps == 40 + 2 * AFTER
    assert result.compared >= 1


@pytest.fixture(scope="module")
def hashes_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns state hashes of all examples after a run in one other process."""
    folder = tmp_path_factory.mktemp("archives")
    for kind, type in CASES:
        if type not in EXAMPLES[kind]:
            continue
        place = tmp_path_factory.mktemp("bench")
        (folder / f"{kind}-{type}.archive").write_bytes(pack(bench(place, kind, type)))
    script = Path(__file__).with_name("other_process.py")
    run = subprocess.run(
        [sys.executable, str(script), str(BEFORE), str(folder)],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return dict(line.split() for line in run.stdout.splitlines())


@each_block
def test_another_process_gets_the_same_bits(
    tmp_path: Path, hashes_elsewhere: dict[str, str], kind: str, type: str
) -> None:
    """A scene archived with all its files runs the same in another process."""
    with opened(bench(tmp_path, kind, type)) as session:
        session.step(BEFORE)
        assert session.state.hash() == hashes_elsewhere[f"{kind}-{type}"]


@each_block
def test_the_example_does_something(tmp_path: Path, kind: str, type: str) -> None:
    """The example's memory, readings or joint change."""
    with opened(bench(tmp_path, kind, type)) as session:
        nudge(session)
        session.step(BEFORE)
        block = subject(session, kind, type)
        if kind == "engine":
            assert session["arm/J1.angle"] != session.cycle.first["q"][0]
        elif kind == "sensor":
            names = [s.name for s in block.signals() if s.name.startswith(f"{NAME}.")]
            assert any(session[name] != 0.0 for name in names), names
        elif kind == "actuator":
            assert session["arm/J2.effort"] != 0.0
        elif kind == "fault":
            assert session[f"{NAME}.active"] == 1.0
        else:
            assert session.signals.owners[f"{example(kind, type).moves}.target"] == NAME
