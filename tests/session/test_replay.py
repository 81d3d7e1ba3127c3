"""Recordings of sessions: they replay bit for bit, whatever happened, and say where they do not."""

import os
import resource
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from linkwork import Document, Session, replay
from linkwork.core.errors import FormatError, LinkworkError, ProgramError, RecordingError
from linkwork.geometry import Pose
from linkwork.model.scene import Scene
from linkwork.session import messages
from linkwork.session.messages import (
    ApplyPosture,
    FailedStep,
    GrabElement,
    ReleaseGrab,
    ReloadProgram,
    SetSignal,
    SwapScene,
)
from linkwork.session.recorder import Recorder
from linkwork.session.recording import Header, Recording, RecordingWriter
from session_scenes import bench, bench_files, box, program

LINKWORK = [sys.executable, "-m", "linkwork"]

# What the program keeps to itself is not in the state; a replay must lead it along all the same.
COUNTING = """
def init(self):
    self.calls = 0
    self.memory("sum", 0)
    self.joint("arm/J1").on_change(self.follow)
    self.every(0.1, self.shake)
def loop(self):
    self.calls += 1
def follow(self, angle):
    self.memory.sum += self.calls * angle
    self.joint("arm/J2").value = -angle
def shake(self):
    self.memory.sum += self.random.normal()
"""


def inboxes(path: Path) -> list[str]:
    with Recording.open(path) as recording:
        return [type(messages.decode_recorded(m)).__name__ for _, m in recording.inbox]


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with messages, resets, reloads, a changed file, failures, edits and other steps."""
    folder = tmp_path_factory.mktemp("eventful")
    scene = bench_files(folder)
    document = Document.open(scene)
    path = folder / "run.mcap"
    with Session(scene, record=path) as session:
        session.on_change("arm/J1.angle", lambda angle: None)  # no replay knows of it
        session.run(0.7)
        session["arm/J1.kp"] = 25.0
        session["arm/upper.mass"] = 0.6
        session.take("arm/J1.target")
        session["arm/J1.target"] = 0.3
        session.run(0.4)
        session.release()
        session.send(GrabElement("arm/lower", (0.3, 0.1, 0.6)))
        session.run(0.3)
        session.send(ReleaseGrab())
        session.reset()
        session.run(0.5)
        text = (folder / "follow.py").read_text()
        (folder / "follow.py").write_text(
            text.replace("-angle", "-angle / (self.memory.calls < 400)")
        )
        with pytest.raises(ProgramError):
            session.run(2.0)
        (folder / "follow.py").write_text(text.replace("-angle", "-0.5 * angle"))
        session.run(0.3)
        session.send(ReloadProgram("follow", "class Control:\n    def init(self):\n        1 / 0"))
        session.send(ReloadProgram("follow", text.replace("-angle", "-0.7 * angle")))
        box = {"name": "box", "part": "./box.toml", "base": "free"}
        document.add("part", {**box, "at": {"xyz": [0.3, 0.0, 0.8]}})
        session.swap(swapped(document), ids=document.ids).result(timeout=60)
        session.run(0.6)
        document.set_value(("step",), 0.001)
        document.add("part", {**box, "name": "box2", "at": {"xyz": [0.3, 0.0, 1.2]}})
        session.swap(swapped(document), ids=document.ids).result(timeout=60)
        session.run(0.4)
        document.undo()
        session.swap(swapped(document), ids=document.ids).result(timeout=60)
        session.run(0.3)
        session["world.gravity_z"] = -3.0
        session.process_inbox()  # a message after the last step
    return path


def swapped(document: Document) -> Scene:
    assert isinstance(document.content, Scene)
    return document.content


@pytest.mark.capability(156)
def test_an_eventful_run_replays_bit_for_bit_in_a_new_process(eventful: Path) -> None:
    """The files that it was made of may be gone: the recording has all that it needs."""
    for file in eventful.parent.glob("*.toml"):
        file.rename(file.with_suffix(".gone"))
    try:
        done = subprocess.run(
            [*LINKWORK, "replay", str(eventful), "--verify"],
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    finally:
        for file in eventful.parent.glob("*.gone"):
            file.rename(file.with_suffix(".toml"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Bit-identical" in done.stdout
    found = inboxes(eventful)
    kinds = """FailedStep GrabElement ReleaseGrab ReleaseSignals ReloadProgram ResetState SetSignal
        SwapScene TakeSignal"""
    assert sorted(set(found)) == kinds.split()
    assert found.count("ReloadProgram") == 4
    assert found.count("SwapScene") == 3
    with Recording.open(eventful) as recording:
        assert len(recording.segments) == 4
        assert any("ZeroDivisionError" in event.text for event in recording.events)


def test_a_replay_can_be_watched(eventful: Path) -> None:
    """The session that a replay leads has every signal, step by step."""
    heights: list[float] = []

    def look(session: Session) -> None:
        if "box.z" in session.signals:
            heights.append(session["box.z"])

    parts: list[float] = []
    result = replay(eventful, watch=look, progress=parts.append)
    assert result.same
    assert result.different_versions == []
    assert heights[0] == pytest.approx(0.8, abs=1e-3)
    assert min(heights) < 0.6
    assert parts == sorted(parts)
    assert 0.0 <= parts[-1] < 1.0


def rewritten(source: Path, target: Path, change: object) -> Path:
    """A copy of a recording whose inbox and hashes a function may change."""
    with Recording.open(source) as recording:
        header, files = recording.header, dict(recording.files)
        rows: list[tuple[int, int, str, object]] = []
        rows += [(step, 1, "inbox", data) for step, data in recording.inbox]
        rows += [(step, 0, "hash", digest) for step, digest in recording.hashes.items()]
        rows += [(step, 0, "keyframe", state) for step, state in recording.keyframes]
        rows.sort(key=lambda row: row[:2])
        with RecordingWriter(target, header, files) as recorder:
            recorder.first(recording.first_state)
            for step, _, kind, data in rows:
                changed = change(step, kind, data)  # type: ignore[operator]
                if changed is not None:
                    getattr(recorder, kind)(step, changed)
    return target


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with one message at 1.5 s."""
    path = tmp_path_factory.mktemp("plain") / "run.mcap"
    with Session(program(bench(), "count", COUNTING), record=path) as session:
        session.run(1.5)
        session["arm/J1.target"] = 0.4
        session.run(1.7)
    return path


def test_a_changed_message_is_reported_with_where_it_shows(plain: Path, tmp_path: Path) -> None:
    """A target that is not the recorded one: the next hash differs, in this block by so much."""

    def change(step: int, kind: str, data: bytes) -> bytes:
        return messages.encode(SetSignal("arm/J1.target", 0.4001)) if kind == "inbox" else data

    path = rewritten(plain, tmp_path / "tampered.mcap", change)
    done = subprocess.run(
        [*LINKWORK, "replay", str(path), "--verify"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 3, done.stdout + done.stderr
    logged = " ".join(done.stdout.split())
    assert "Not the same" in logged
    assert "at 2.000 s (step 1000), after they agreed at step 500: q differs by up to" in logged


@pytest.mark.parametrize(
    ("kind", "value", "expected_text"),
    [
        (
            "inbox",
            messages.encode(SetSignal("arm/J9.target", 0.4)),
            "at 1.500 s (step 750): SetSignal is refused",
        ),
        ("inbox", messages.encode(SetSignal("arm/J1.target", 9.0)), "not 9"),
        ("inbox", b"garbage", "at 1.500 s (step 750): this is not a recorded message"),
        ("inbox", messages.encode(SwapScene(b"")), "does not hold the edited scene"),
        ("inbox", None, "step 500: q differs"),
        (
            "inbox",
            messages.encode(ReloadProgram("count", "class Control:\n def loop(s): 1/0")),
            "fails here",
        ),
        ("hash", "00" * 16, "at 1.000 s (step 500), after they agreed at step 0"),
    ],
)
def test_what_was_tampered_with_is_told_by_step(
    plain: Path, tmp_path: Path, kind: str, value: object, expected_text: str
) -> None:
    """A message that is refused, none at all, missing or fatal here; a hash that never was."""

    def change(step: int, found: str, data: object) -> object:
        return value if found == kind else data

    result = replay(rewritten(plain, tmp_path / "tampered.mcap", change), trust=True)
    assert not result.same
    assert expected_text in result.mismatch


def test_what_is_recorded_at_no_step_is_no_success(plain: Path, tmp_path: Path) -> None:
    """A world that no message opens: its states cannot be compared."""
    with Recording.open(plain) as recording:
        files, world = dict(recording.files), recording.header.world
        states = dict(recording.keyframes)
        with RecordingWriter(tmp_path / "more.mcap", recording.header, files) as recorder:
            recorder.first(recording.first_state)
            recorder.hash(500, recording.hashes[500])
            recorder.segment(600, world, recording.first_state, files)
            recorder.keyframe(700, states[1000])
    result = replay(tmp_path / "more.mcap", trust=True)
    assert not result.same
    assert "(step 700): what is recorded there belongs to no simulated step" in result.mismatch


LOGGING = """
def init(self):
    self.after(0.5, lambda: self.log("now"))
"""


@pytest.mark.parametrize("shift", [0, 1])
def test_an_event_belongs_to_its_step(tmp_path: Path, shift: int) -> None:
    """The same event at another step is a difference."""
    path, other = tmp_path / "run.mcap", tmp_path / "other.mcap"
    with Session(program(bench(), "logs", LOGGING), record=path) as session:
        session.run(1.0)
    with Recording.open(path) as recording:
        (event,) = [each for each in recording.events if each.simulated]
        with RecordingWriter(other, recording.header, dict(recording.files)) as recorder:
            recorder.first(recording.first_state)
            recorder.event(
                event.step + shift, event.level, event.text, event.source, simulated=True
            )
            recorder.hash(500, recording.hashes[500])
    result = replay(other, trust=True)
    assert result.same == (shift == 0), result.mismatch
    assert not shift or f"recorded is 'now' at step {event.step + 1}" in result.mismatch


def test_a_slow_replay_is_no_difference(tmp_path: Path) -> None:
    """A program that stands still here is named, but that is no event of the run."""
    slow = """
def loop(self):
    import os, time
    if self.time < 0.001 and "SLOW" in os.environ:
        time.sleep(1.5)
"""
    path = tmp_path / "run.mcap"
    with Session(program(bench(), "slow", slow), record=path) as session:
        session.run(0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLOW", "1")
        result = replay(path, trust=True)
    assert result.same, result.mismatch


def check(path: Path) -> None:
    with Recording.open(path) as recording:
        if recording.problem:
            raise RecordingError(recording.problem)
        recording.check()


def test_flipped_bits_are_noticed_and_never_end_in_a_traceback(plain: Path, tmp_path: Path) -> None:
    """A bit changed anywhere: the checksum tells, and a replay does what it still can."""
    data = plain.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(data), 12).tolist():
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        path = tmp_path / f"{place}.mcap"
        path.write_bytes(broken)
        with pytest.raises(RecordingError):
            check(path)
        with suppress(LinkworkError):
            replay(path)


def test_another_scene_in_the_recording_is_noticed(plain: Path, tmp_path: Path) -> None:
    """A rotor of the archived scene made heavier by hand: the first hash differs."""
    with Recording.open(plain) as recording:
        files = dict(recording.files)
        scene = msgspec.msgpack.decode(files["scene.archive"])
        scene["scene"]["parts"]["arm"]["part"]["joints"]["J1"]["armature"] = 0.001
        files["scene.archive"] = msgspec.msgpack.encode(scene)
        with RecordingWriter(tmp_path / "other.mcap", recording.header, files) as recorder:
            recorder.first(recording.first_state)
            for step, digest in recording.hashes.items():
                recorder.hash(step, digest)
    assert "after they agreed at step 0" in replay(tmp_path / "other.mcap").mismatch


def test_a_recording_without_a_scene_cannot_be_replayed(plain: Path, tmp_path: Path) -> None:
    """The error says what is missing."""
    with Recording.open(plain) as recording:
        header: Header = recording.header
        with RecordingWriter(tmp_path / "bare.mcap", header) as recorder:
            recorder.first(recording.first_state)
    with pytest.raises(RecordingError, match="holds no scene"):
        replay(tmp_path / "bare.mcap")
    with pytest.raises(LinkworkError):
        replay(tmp_path / "nowhere.mcap")


# ---- what is recorded ----------------------------------------------------------------------


def test_listeners_of_the_scene_write_without_the_inbox(plain: Path) -> None:
    """A program that follows sets a joint in each step; the recording has the script's message."""
    assert inboxes(plain) == ["SetSignal"]


def test_what_a_scripts_listener_sets_is_recorded(tmp_path: Path) -> None:
    """No replay has the script: what it set stands in the recording, by step."""
    path = tmp_path / "run.mcap"
    with Session(bench().engine("kinematic"), record=path) as session:

        def follow(angle: float) -> None:
            session["arm/J2.target"] = angle
            session.write("arm/J1.damping", 1.0 + angle, "script")

        session.on_change("arm/J1.angle", follow)
        session["arm/J1.target"] = 0.05
        session.run(1.1)
        session.forget("user")
    assert inboxes(path).count("SetSignal") == 1 + 2 * 7
    assert replay(path).same


def test_a_step_that_failed_leads_programs_along_in_the_replay(tmp_path: Path) -> None:
    """One program counted in a step that another spoilt: the replay counts it too."""
    path = tmp_path / "run.mcap"
    scene = program(bench(), "count", COUNTING)
    program(scene, "faulty", "def loop(self):\n    1 / (self.time < 0.5)")
    with Session(scene, record=path) as session:
        session["arm/J1.target"] = 0.8
        with pytest.raises(ProgramError):
            session.run(3.0)
        session.send(ReloadProgram("faulty", "class Control: pass"))
        session.run(1.6)
    assert inboxes(path) == ["SetSignal", "FailedStep", "ReloadProgram"]
    result = replay(path)
    assert result.same, result.mismatch
    assert result.compared == 3


def test_the_text_that_runs_is_recorded_not_what_the_file_says_later(tmp_path: Path) -> None:
    """The file changes after the session has read it and before it is recorded."""
    file = bench_files(tmp_path)
    path = tmp_path / "run.mcap"
    text = (tmp_path / "follow.py").read_text()
    with pytest.MonkeyPatch.context() as patch:

        def late(*args: Any, **options: Any) -> object:
            (tmp_path / "follow.py").write_text("something else\n")
            return Recorder(*args, **options)

        patch.setattr("linkwork.session.session.Recorder", late)
        with Session(file, record=path, watch=False) as session:
            session.run(1.2)
    assert replay(path).same
    with Recording.open(path) as recording:
        archive = recording.files["scene.archive"]
    assert text.encode() in archive


def test_meshes_and_programs_are_kept_once_however_often_the_scene_is_edited(
    tmp_path: Path,
) -> None:
    """Ten edits of a scene with a program of 200 kB do not make ten copies."""
    file = bench_files(tmp_path)
    program_file = tmp_path / "follow.py"
    rng = np.random.default_rng(1)
    program_file.write_text(program_file.read_text() + f"# {rng.bytes(100_000).hex()}\n")
    path = tmp_path / "run.mcap"
    document = Document.open(file)
    with Session(file, record=path, watch=False) as session:
        for n in range(10):
            document.set_value(("gravity",), [0.0, 0.0, -9.0 - n / 10])
            session.swap(swapped(document), ids=document.ids).result(timeout=60)
            session.step(5)
        assert session.version == 11
    with Recording.open(path) as recording:
        blob = b"".join(recording.segments[-1].files.values())
        assert program_file.read_bytes() in blob
    assert path.stat().st_size < 1_000_000
    assert replay(path).same


def test_programs_may_do_something_in_their_exit(tmp_path: Path) -> None:
    """The last hash is that of the last step, whatever exit() writes to the memory."""
    path = tmp_path / "run.mcap"
    text = "def init(self):\n    self.memory('n', 0)\ndef exit(self):\n    self.memory.n = 7"
    with Session(program(bench(), "p", text), record=path) as session:
        session.run(0.5)
    result = replay(path)
    assert (result.same, result.compared) == (True, 1)


# ---- disks and deaths ----------------------------------------------------------------------


def test_a_full_disk_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    """One warning; the run is as without it; what was written before replays."""
    path = tmp_path / "run.mcap"
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with Session(program(bench(), "count", COUNTING), record=path) as session:
            session["arm/J1.target"] = 0.4
            session.run(2.2)
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 1000, old[1]))
            session.run(4.0)
            warnings = [e for e in session.outbox.events if e.level == "warning"]
            end = session.state.hash()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert [w.source for w in warnings] == ["recording"]
    assert "the recording" in warnings[0].text
    assert "File too large" in warnings[0].text
    with Session(program(bench(), "count", COUNTING)) as session:
        session["arm/J1.target"] = 0.4
        session.run(2.2)
        session.run(4.0)
        assert session.state.hash() == end
    result = replay(path)
    assert result.same
    assert result.steps >= 1000


TELLING = """\
import os, struct
from linkwork import Control


class Tell(Control):
    def init(self):
        self.file = os.open(os.environ["STEP_FILE"], os.O_WRONLY | os.O_CREAT)

    def loop(self):
        os.pwrite(self.file, struct.pack("d", self.time), 0)
"""


def test_a_killed_run_loses_at_most_its_last_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``linkwork run --record`` and SIGKILL: the rest of the recording replays and verifies."""
    file = bench_files(tmp_path)
    (tmp_path / "tell.py").write_text(TELLING)
    file.write_text(
        file.read_text() + '[[agent]]\nname = "tell"\ntype = "program"\nfile = "tell.py"\n'
    )
    path, reported = tmp_path / "run.mcap", tmp_path / "time"
    monkeypatch.setenv("STEP_FILE", str(reported))
    run = subprocess.Popen(
        [*LINKWORK, "run", str(file), "--record", str(path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (reported.exists() and reported.stat().st_size == 8 and now(reported) > 4.3):
            assert run.poll() is None
            time.sleep(0.01)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    reached = now(reported)
    with Recording.open(path) as recording:
        assert not recording.complete
        assert reached - recording.duration < 1.0 + 0.01
    result = replay(path)
    assert result.same, result.mismatch
    assert result.compared >= 4


def now(file: Path) -> float:
    return struct.unpack("d", file.read_bytes())[0]


def test_a_recorded_posture_and_box_on_the_ground(tmp_path: Path) -> None:
    """Contacts, postures and a free body replay too."""
    path = tmp_path / "run.mcap"
    scene = bench().place(box(), at=Pose((1.0, 0.0, 0.3)), base="free")
    scene.sensor("touch", "contact", on="box/cube")
    scene.postures["up"] = {"arm/J1": -0.5}
    with Session(scene, record=path) as session:
        session.run(0.5)
        session.send(ApplyPosture("up"))
        session.run(0.6)
        assert session["touch.force"] == pytest.approx(0.3 * 9.81, rel=0.05)
    assert replay(path).same
    with pytest.raises(FormatError):
        messages.checked(FailedStep())
