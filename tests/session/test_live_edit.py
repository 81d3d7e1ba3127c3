"""Edits of a running scene: what stays, what starts anew, and that a faulty edit does nothing."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linkwork import Document
from linkwork.core.errors import LinkworkError, ProgramError
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session import live_edit
from linkwork.session.messages import ReloadProgram
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from session_scenes import H, arm, bench, bench_files, box, program

BOX = {"name": "box", "part": "./box.toml", "at": {"xyz": [1.0, 0.0, 1.0]}, "base": "free"}


def scene_of(document: Document) -> Scene:
    content = document.content
    assert isinstance(content, Scene)
    return content


def edit(session: Session, document: Document) -> None:
    """What an editor does: saves, compiles, and lets the session take the scene over."""
    document.save()
    session.swap(scene_of(document), ids=document.ids).result(timeout=60)
    session.process_inbox()


def errors(session: Session) -> list[str]:
    return [event.text for event in session.outbox.events if event.level == "error"]


def test_adding_a_part_keeps_the_rest_of_the_state(tmp_path: Path) -> None:
    """Coordinates, speeds, targets, gains, memory, listeners and owners stay; time goes on."""
    document = Document.open(bench_files(tmp_path))
    seen: list[float] = []
    with Session(document.path, record=tmp_path / "run.mcap") as session:
        session.on_change("arm/J1.angle", seen.append)
        session["arm/J2.kp"] = 33.0
        session["arm/upper.mass"] = 0.7
        session.run(0.5)
        session.take("arm/J1.target")
        session.step()
        names = [signal.name for signal in session.signals]
        before = {name: session[name] for name in names if not name.startswith("world.")}
        memory = session.state["agent/follow/memory"].copy()
        warm = session.state["engine/0-mujoco/warmstart"]
        assert np.any(warm != 0.0)
        steps, time, received = session.state.step, session.time, len(seen)

        document.add("part", BOX)
        edit(session, document)

        assert (session.version, session.state.step, session.time) == (2, steps, time)
        assert {name: session[name] for name in before} == before
        assert session["box.z"] == 1.0
        assert (session.state["agent/follow/memory"] == memory).all()
        assert (session.state["engine/0-mujoco/warmstart"] == 0.0).all()
        assert session.signals.owners["arm/J1.target"] == "user"
        session.step(10)
        assert session.signals.owners["arm/J2.target"] == "follow"
        assert len(seen) == received + 10
        assert session.state["agent/follow/memory"][0] == memory[0] + 10
        assert session["arm/J1.target"] == before["arm/J1.target"]
        fallen = 9.81 * H**2 * (10 * 11) / 2  # Σ n g h²
        assert session["box.z"] == pytest.approx(1.0 - fallen, abs=1e-9)
    with Recording.open(tmp_path / "run.mcap") as recording:
        assert [segment.first_step for segment in recording.segments] == [0, steps]


def test_undo_restores_the_file_byte_for_byte_and_changes_the_scene_never_time(
    tmp_path: Path,
) -> None:
    """The file is again what it was; the box is gone; the clock and the arm go on."""
    file = bench_files(tmp_path)
    first = file.read_bytes()
    document = Document.open(file)
    with Session(file) as session:
        session.run(0.2)
        document.add("part", BOX)
        edit(session, document)
        assert file.read_bytes() != first
        session.run(0.2)
        angle = session["arm/J1.angle"]
        document.undo()
        edit(session, document)
        assert file.read_bytes() == first
        assert session.version == 3
        assert session.time == pytest.approx(0.4)
        assert session["arm/J1.angle"] == angle
        assert "box.z" not in session.signals
        document.redo()
        edit(session, document)
        assert session["box.z"] == 1.0
        assert session.time == pytest.approx(0.4)
        session.run(0.1)


def test_the_arm_moves_on_as_if_nothing_had_been_edited(tmp_path: Path) -> None:
    """Beside a run that nobody edited the angles differ by the engine's memory only."""
    file = bench_files(tmp_path)
    document = Document.open(file)
    with Session(file) as session, Session(file) as other:
        session.run(0.5)
        other.run(0.5)
        document.add("part", BOX)
        edit(session, document)
        session.run(0.3)
        other.run(0.3)
        for name in ("arm/J1.angle", "arm/J2.angle", "arm/J1.speed", "arm/J1.target"):
            assert session[name] == pytest.approx(other[name], abs=1e-6)


def test_renamed_things_keep_their_state(tmp_path: Path) -> None:
    """A document knows things by the name they were born with; so do owners and listeners."""
    file = bench_files(tmp_path)
    file.write_text(file.read_text().partition("[[agent]]")[0])
    document = Document.open(file)
    seen: list[float] = []
    with Session(file) as session:
        session.on_change("arm/J1.angle", seen.append)
        session.on_change("angle.angle", seen.append)
        session["arm/J1.target"] = 0.5
        session.take("arm/J1.target")
        session["arm/J1.kp"] = 11.0
        session.run(0.2)
        values = [session[f"arm/J1.{name}"] for name in ("angle", "speed", "target", "kp")]
        document.rename("part", "arm", "robot")
        document.rename("sensor", "angle", "wheel")
        edit(session, document)
        assert [session[f"robot/J1.{n}"] for n in ("angle", "speed", "target", "kp")] == values
        assert session.signals.owners == {"robot/J1.target": "user"}
        received = len(seen)
        session.step(5)
        assert len(seen) == received + 10
        with pytest.raises(LinkworkError, match=r"no signal named 'arm/J1\.angle'"):
            session["arm/J1.angle"]


def test_a_changed_line_of_the_file_counts_and_a_live_change_beside_it_stays(
    tmp_path: Path,
) -> None:
    """kp is edited in the part's file, kd was set live: the first is new, the second is kept."""
    file = bench_files(tmp_path)
    part = Document.open(tmp_path / "arm.toml")
    with Session(file) as session:
        session["arm/J1.kp"], session["arm/J1.kd"] = 10.0, 2.0
        session["arm/J2.kp"] = 12.0
        session.run(0.1)
        part.set_value(("joint", "J1", "drive", "kp"), 55.0)
        part.save()
        edit(session, Document.open(file))
        assert (session["arm/J1.kp"], session["arm/J1.kd"]) == (55.0, 2.0)
        assert session["arm/J2.kp"] == 12.0


def test_a_narrower_range_holds_targets_from_then_on(tmp_path: Path) -> None:
    """A joint that was wanted outside its new range is wanted at its end."""
    scene = bench()
    with Session(scene) as session:
        session["arm/J1.target"] = 1.2
        session.step()
        other = bench()
        part = arm()
        part.joints["J1"] = replace(part.joints["J1"], range=(-0.3, 0.3))
        other.parts.clear()
        other.place(part, at=Pose((0.0, 0.0, 0.2)))
        session.swap(other).result(timeout=60)
        session.process_inbox()
        assert session["arm/J1.target"] == 0.3


def test_a_new_sensor_reads_at_once_and_an_old_one_holds_its_reading(tmp_path: Path) -> None:
    """Neither shows 0 nor a value it would not have had."""
    with Session(bench().sensor("slow", "encoder", joint="arm/J1", period=1.0)) as session:
        session["arm/J1.target"] = 1.0
        session.run(0.5)
        other = bench().sensor("slow", "encoder", joint="arm/J1", period=1.0)
        other.sensor("fresh", "encoder", joint="arm/J1", period=1.0)
        session.swap(other).result(timeout=60)
        session.process_inbox()
        assert session["slow.angle"] == 0.0
        assert session["fresh.angle"] == session["arm/J1.angle"] > 0.3


def test_another_step_length_keeps_the_time(tmp_path: Path) -> None:
    """2 ms become 1 ms: the clock shows the same time, and waves go on without a jump."""
    file = bench_files(tmp_path)
    document = Document.open(file)
    with Session(file) as session:
        session.run(0.5)
        angle, target = session["arm/J1.angle"], session["arm/J1.target"]
        document.set_value(("step",), 0.001)
        edit(session, document)
        assert (session.state.step, session.time) == (500, 0.5)
        assert session["arm/J1.angle"] == angle
        session.step()
        assert session["arm/J1.target"] == pytest.approx(target, abs=0.01)
        session.run(0.5)
        assert session.time == pytest.approx(1.001)
        assert session["arm/J1.target"] == pytest.approx(
            math.radians(30) * math.sin(math.pi * 1.0), abs=1e-9
        )


def riding() -> Scene:
    """A box on a plate that slides on at half a metre a second."""
    table = Part("table").add(
        Element("rail", (Box((2.0, 0.1, 0.1)),), mass=9.0),
        Element("plate", (Box((0.4, 0.4, 0.1)),), mass=2.0, friction=1.0),
        Joint("J", "slider", "rail", "plate", at=Pose((0.0, 0.0, 0.2)), axis=(1.0, 0.0, 0.0),
              range=(-9.0, 9.0), max_speed=0.5),
    )  # fmt: skip
    scene = Scene("riding").place(table).place(box(), at=Pose((0.0, 0.0, 0.3)), base="free")
    return scene.engine("kinematic", owns=["table"]).engine("mujoco")


def test_what_rides_on_something_that_moves_feels_no_jolt() -> None:
    """The dynamic engine's memory begins with the speeds that the kinematic one has."""
    with Session(riding()) as session:
        session["table/J.target"] = 9.0
        session.run(0.5)
        assert session["box.x_speed"] == pytest.approx(0.5, abs=1e-3)
        session.swap(riding().place(arm(), at=Pose((0.0, 3.0, 0.2)))).result(timeout=60)
        for _ in range(5):
            session.step()
            assert session["box.x_speed"] == pytest.approx(0.5, abs=1e-3)
            assert session["box.z"] == pytest.approx(0.3, abs=1e-3)
        assert session.version == 2


# ---- faulty edits --------------------------------------------------------------------------


def faulty(kind: str) -> Scene:
    scene = bench()
    if kind == "agent":
        return scene.agent("wild", "wave", joint="arm/J1", amplitude=9.0)
    if kind == "signal":
        return scene.agent("wild", "wave", signal="arm/J1.nothing")
    if kind == "engine":
        return scene.engine("warp")
    if kind == "joint":
        return scene.sensor("eye", "encoder", joint="arm/J9")
    if kind == "program":
        return scene.agent("wild", "program", source="class Control(")
    scene.step = -1.0
    return scene


@pytest.mark.parametrize(
    ("kind", "expected_text"),
    [
        ("agent", "wave 'wild' goes from -9 to 9 rad"),
        ("signal", "no signal named 'arm/J1.nothing'"),
        ("engine", "no engine type named 'warp'"),
        ("joint", "no joint named 'arm/J9'"),
        ("program", "SyntaxError"),
        ("step", "step must be more than 0"),
    ],
)
def test_a_faulty_edit_leaves_the_old_world_running(kind: str, expected_text: str) -> None:
    """Every bit stays, the message says why, and the caller gets the error too."""
    with Session(program(bench(), "count", "def loop(self):\n    pass")) as session:
        session.step(10)
        before = session.state.hash()
        error = session.swap(faulty(kind)).exception(timeout=60)
        assert expected_text in str(error)
        session.process_inbox()
        assert (session.version, session.state.hash()) == (1, before)
        assert errors(session) == [f"the edit is not in use: {error}"]
        session.step(10)
        assert session.state.step == 20


def test_a_mistake_of_ours_in_compiling_leaves_the_old_world_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even an error that is not the user's does not end the session."""
    with Session(bench()) as session:
        monkeypatch.setattr(live_edit, "compile_scene", lambda scene, ids: 1 / 0)
        session.swap(bench()).exception(timeout=60)
        session.step()
        assert errors(session) == [
            "the edit is not in use: it cannot be compiled: ZeroDivisionError: division by zero."
        ]


def test_what_is_gone_takes_its_listeners_and_owners_along() -> None:
    """A script that listened to a removed box is told so; nobody owns what is not there."""
    scene = bench().place(box(), at=Pose((1.0, 0.0, 1.0)), base="free")
    scene.agent("wave", "wave", joint="arm/J2", amplitude=0.1)
    with Session(scene) as session:
        session.on_change("box.z", print)
        session.step(5)
        session.swap(bench()).result(timeout=60)
        session.process_inbox()
        warnings = [e for e in session.outbox.events if e.level == "warning"]
        assert [w.text for w in warnings] == [
            "the listener of box.z has ended: the signal no longer exists."
        ]
        assert session.signals.owners == {}
        session["arm/J2.target"] = 0.3
        session.step(5)


# ---- programs ------------------------------------------------------------------------------


def test_a_program_ends_in_the_old_world_and_begins_in_the_new(tmp_path: Path) -> None:
    """exit() still sees what it knew and may set it; init() sees the new world."""
    text = """
def init(self):
    self.log(f"init {self.memory('edits', 0):g} {self.signal('arm/J1.target').value}")
def exit(self):
    self.memory.edits += 1
    self.joint("J1").target = 0.25
"""
    with Session(program(bench(), "p", text, on="arm")) as session:
        session.step(3)
        session.swap(program(bench(), "p", text, on="arm")).result(timeout=60)
        session.process_inbox()
        logged = [event.text for event in session.outbox.events if event.source == "p"]
        assert logged == ["init 0 0.0", "init 1 0.25"]


def test_a_text_that_was_sent_stays_over_an_edit_and_a_newer_file_wins(tmp_path: Path) -> None:
    """An unsaved program is not lost by moving a part; saving the file takes over as ever."""
    file = bench_files(tmp_path)
    document = Document.open(file)
    good = (tmp_path / "follow.py").read_text()
    with Session(file, watch=False) as session:
        agent = session.cycle.agents[1]
        sent = good.replace("-angle", "0.5 * angle")
        session.send(ReloadProgram("follow", sent))
        session.step(5)
        document.add("part", BOX)
        edit(session, document)
        session.run(0.2)
        assert session["arm/J2.target"] == pytest.approx(0.5 * session["arm/J1.angle"])
        saved = good.replace("-angle", "0.25 * angle")
        (tmp_path / "follow.py").write_text(saved)
        document.undo()
        edit(session, document)
        session.run(0.2)
        assert session["arm/J2.target"] == pytest.approx(0.25 * session["arm/J1.angle"])
        assert agent is not session.cycle.agents[1]


def test_a_program_whose_init_fails_in_the_new_world_pauses_it() -> None:
    """The new scene is in use, nothing is lost, and a mended program goes on."""
    text = "def init(self):\n    self.joint('J2').target = 0.1"
    with Session(program(bench(), "p", text, on="arm")) as session:
        session.step(10)
        other = bench()
        other.parts.clear()
        part = arm()
        part.joints["elbow"] = replace(part.joints.pop("J2"), name="elbow")
        other.place(part, at=Pose((0.0, 0.0, 0.2)))
        session.swap(program(other, "p", text, on="arm")).result(timeout=60)
        session.process_inbox()
        assert (session.version, session.running) == (2, False)
        assert "no joint named 'J2'" in errors(session)[0]
        with pytest.raises(ProgramError, match="no joint named 'J2'"):
            session.step()
        source = session.cycle.agents[0].spec.params["source"].replace("J2", "elbow")
        session.send(ReloadProgram("p", source))
        session.step(5)
        assert session["arm/elbow.target"] == 0.1
        assert session.state.step == 15


# ---- in the background ---------------------------------------------------------------------


def test_the_old_world_runs_on_until_the_edit_is_compiled() -> None:
    """run() never waits for the compiler; the swap falls between two steps."""
    with Session(bench()) as session:
        session.run(0.1)
        versions: list[int] = []
        edited = bench().place(box(), at=Pose((1.0, 0.0, 1.0)), base="free")
        session.after_step.append(lambda: versions.append(session.version))
        session.after_step.append(lambda: session.swap(edited) if len(versions) == 1 else None)
        session.after_step.append(lambda: session.stop() if session.version == 2 else None)
        session.run()
        assert versions[0] == 1
        assert versions[-1] == 2
        assert session.state.step == 50 + len(versions)


def test_of_two_edits_the_later_one_counts() -> None:
    """Who edits faster than the compiler compiles sees the last edit."""
    with Session(bench()) as session:
        first = session.swap(bench().place(box("one"), at=Pose((1.0, 0.0, 1.0)), base="free"))
        second = session.swap(bench().place(box("two"), at=Pose((1.0, 0.0, 1.0)), base="free"))
        first.result(timeout=60)
        second.result(timeout=60)
        session.step()
        assert ("one.z" in session.signals, "two.z" in session.signals) == (False, True)
        assert session.version == 2
