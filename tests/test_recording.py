"""Recordings: what a session wrote is read back, whatever happened to it or to its file."""

import csv
import io
import os
import random
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mcap.exceptions
import mcap.reader
import mcap.records
import mcap.stream_reader
import mcap.writer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.errors import LinkworkError, RecordingError
from linkwork.session.recording import (
    Header,
    Outline,
    Recorder,
    Recording,
    SignalColumn,
    container,
    export_csv,
    export_html,
    repair,
)
from linkwork.state import Layout, State

STEP = 0.002
FILES = {
    "scene.toml": b'format = "linkwork/scene 1"\n',
    "parts/arm.toml": "name = 'Ärmchen'\n".encode(),
    "meshes/hand.stl": bytes(range(256)) * 8,
    "empty.txt": b"",
}


def layout_of(joints: int, bodies: int) -> Layout:
    layout = Layout()
    layout.add("clock", 1, integer=True)
    layout.add("q", joints)
    layout.add("pose", bodies, 7)
    layout.add("turns", joints, integer=True)
    return layout


def outline(joints: int = 3, bodies: int = 2, *, step: float = STEP) -> Outline:
    return Outline(
        scene="scene.toml",
        world_hash="c0ffee",
        step=step,
        layout=tuple(layout_of(joints, bodies).fields.values()),
        signals=(SignalColumn("arm/J1.angle", "rad"), SignalColumn("arm/J2.angle", "rad")),
    )


def header(world: Outline | None = None) -> Header:
    return Header.of_run(
        world or outline(), seed=2**64 - 1, cpu="x86_64 avx2", command="linkwork run scene.toml"
    )


def numbers(step: int, world: Outline) -> np.ndarray:
    """A state that no other step has, with a NaN whose bits count."""
    data = np.random.default_rng(step).normal(size=world.state_bytes // 8)
    data.view(np.int64)[0] = step
    data.view(np.uint64)[1] = 0x7FF8_0000_0000_0000 + step
    return data


def poses(step: int, bodies: int) -> np.ndarray:
    return np.random.default_rng(step + 10**6).normal(size=(bodies, 7)).astype(np.float32)


def record_run(path: Path, *, close: bool = True) -> Recorder:
    """A run of 2.4 s whose scene is edited at step 700."""
    small, large = outline(), outline(joints=4, bodies=3)
    recorder = Recorder(path, header(small), FILES)
    recorder.first(numbers(0, small))
    world = small
    for step in range(1, 1201):
        if step == 700:
            recorder.event(step, "info", "a part was added", "studio")
            world = large
            edited = FILES | {"scene.toml": b"# edited\n"}
            recorder.segment(step, world, numbers(step, world), edited)
        if step % 50 == 0:
            recorder.inbox(step, b"set arm/J1 %d" % step)
        if step % 16 == 0:
            recorder.frame(step, poses(step, 3 if world is large else 2))
        if step % 20 == 0:
            recorder.signals(step, [step * 0.1, -step])
        if step % 500 == 0:
            recorder.hash(step, f"{step:032x}")
            recorder.keyframe(step, numbers(step, world))
    recorder.event(1200, "warning", "das Ende: ∎ \ud800", "control.py")
    if close:
        recorder.close()
    return recorder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    record_run(path)
    return path


def test_everything_recorded_is_read_back(recorded: Path) -> None:
    """Header, files, states, inbox, hashes, frames, signals, events: bit for bit, in order."""
    run = Recording.open(recorded)
    assert run.complete
    assert run.problem == ""
    assert run.header.seed == 2**64 - 1
    assert run.header.cpu == "x86_64 avx2"
    assert run.header.world == outline()
    assert set(run.header.versions) == {"python", "linkwork", "numpy", "numba", "mujoco"}
    assert dict(run.files) == FILES
    assert run.first_state == numbers(0, outline()).tobytes()
    assert list(run.inbox) == [(step, b"set arm/J1 %d" % step) for step in range(50, 1201, 50)]
    assert run.hashes == {500: f"{500:032x}", 1000: f"{1000:032x}"}
    assert (run.first_step, run.last_step, run.duration) == (0, 1200, 2.4)
    assert [(each.step, each.level, each.source) for each in run.events] == [
        (700, "info", "studio"),
        (1200, "warning", "control.py"),
    ]
    assert run.events[0].time == 1.4
    assert run.events[1].text == "das Ende: ∎ \\ud800"
    assert [step for step, _ in run.keyframes] == [500, 1000]
    assert run.keyframes[1][1] == numbers(1000, outline(4, 3)).tobytes()
    run.check()


def test_each_world_has_its_own_segment(recorded: Path) -> None:
    """After a live edit, files, layout, states and frames are those of the new world."""
    run = Recording.open(recorded)
    before, after = run.segments
    assert (before.first_step, before.last_step) == (0, 700)
    assert (after.first_step, after.last_step, after.first_time) == (700, 1200, 1.4)
    assert after.world == outline(4, 3)
    assert dict(before.files) == FILES
    assert dict(after.files) == FILES | {"scene.toml": b"# edited\n"}
    assert after.first_state == numbers(700, outline(4, 3)).tobytes()
    assert [step for step, _ in before.keyframes] == [500]
    assert before.hashes == {500: f"{500:032x}"}
    assert [step for step, _ in after.inbox] == list(range(700, 1201, 50))
    assert before.frames.stacked().shape == (43, 2, 7)
    assert after.frames.stacked().shape == (32, 3, 7)
    with pytest.raises(RecordingError, match="one segment at a time"):
        run.frames.stacked()


def test_frames_and_signals_are_read_by_time(recorded: Path) -> None:
    """A viewer finds the frame of a moment; values are the float32 and float64 written."""
    run = Recording.open(recorded)
    frames = run.frames
    assert frames.steps.tolist() == list(range(16, 1201, 16))
    assert frames.times[:2].tolist() == [0.032, 0.064]
    assert frames.at(0.0) == -1
    assert frames.at(0.064) == 1
    assert frames.at(0.0639) == 0
    assert frames.at(1e300) == len(frames) - 1
    assert np.array_equal(frames[-1], poses(1200, 3))
    assert [each.tolist() for each in frames[:2]] == [poses(16, 2).tolist(), poses(32, 2).tolist()]
    table = run.segments[0].signals.stacked()
    steps = np.arange(20, 700, 20)
    assert np.array_equal(table, np.column_stack([steps * 0.1, -steps]))


def test_blocks_of_a_state_are_found_by_name(recorded: Path) -> None:
    """The recorded layout leads to the same numbers as the state's own."""
    segment = Recording.open(recorded).segments[0]
    state = numbers(500, segment.world)
    own = State.__new__(State)  # only its views: this world is smaller than a compiled one
    own.data = state
    content = segment.keyframes[0][1]
    for name, field in segment.layout.items():
        found = segment.block(name, content)
        assert found.dtype == (np.int64 if field.integer else np.float64)
        assert found.tobytes() == own._view(field).tobytes()
    assert segment.block("clock", content).tolist() == [500]
    with pytest.raises(LinkworkError, match="Available blocks: clock, pose, q, turns"):
        segment.block("speed_of_light", content)


def test_the_standard_library_reads_it(recorded: Path) -> None:
    """MCAP's own reader finds the same messages and files, and agrees with the checksums."""
    run = Recording.open(recorded)
    with recorded.open("rb") as file:
        reader = mcap.reader.make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "linkwork"
        summary = reader.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        messages = list(reader.iter_messages(log_time_order=False))
        attachments = {each.name: each.data for each in reader.iter_attachments()}
    assert summary.statistics.message_count == len(messages)
    assert summary.statistics.message_end_time == 2_400_000_000
    inbox = [each for _, channel, each in messages if channel.topic == "inbox"]
    assert [(each.sequence, each.data) for each in inbox] == list(run.inbox)
    assert all(each.log_time == each.sequence * 2_000_000 for _, _, each in messages)
    assert attachments == FILES | {"scene.toml": b"# edited\n"}
    with recorded.open("rb") as file:
        records = list(mcap.stream_reader.StreamReader(file, validate_crcs=True).records)
    (end,) = [each for each in records if isinstance(each, mcap.records.DataEnd)]
    assert end.data_section_crc != 0
    assert isinstance(records[-1], mcap.records.Footer)
    rest = recorded.read_bytes()
    footer = records[-1]
    checked = rest[footer.summary_start : -12]
    assert footer.summary_crc == __import__("zlib").crc32(checked)


@given(
    st.lists(
        st.tuples(st.integers(0, 3 * 2**31), st.sampled_from("ihfskew"), st.binary(max_size=40)),
        max_size=30,
    ),
    st.sampled_from([0.002, 1 / 240, 1e-4, 0.1]),
    st.integers(0, 2**40),
)
def test_any_sequence_of_calls_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[tuple[int, str, bytes]],
    duration: float,
    start: int,
) -> None:
    """Whatever is recorded in whatever order, also beyond 2³² steps, comes back as it went in."""
    path = tmp_path_factory.getbasetemp() / "any.mcap"
    world = outline(step=duration)
    step, expected = start, []
    with Recorder(path, header(world), step=start, overwrite=True) as recorder:
        recorder.first(numbers(start, world))
        for gap, kind, content in calls:
            step += gap
            if kind == "i":
                recorder.inbox(step, content)
            elif kind == "h":
                recorder.hash(step, content.hex())
            elif kind == "f":
                recorder.frame(step, poses(step, 2))
            elif kind == "s":
                recorder.signals(step, np.array([step, 1.0]))
            elif kind == "k":
                recorder.keyframe(step, numbers(step, world))
            elif kind == "e":
                recorder.event(step, "info", content.hex())
            else:
                recorder.segment(step, world, numbers(step, world), {"a": content})
            expected.append((step, kind, content))
    with Recording.open(path) as run:
        assert run.problem == ""
        assert run.last_step == step
        assert list(run.inbox) == [(at, content) for at, kind, content in expected if kind == "i"]
        assert run.hashes == {at: content.hex() for at, kind, content in expected if kind == "h"}
        assert run.frames.steps.tolist() == [at for at, kind, _ in expected if kind == "f"]
        assert [at for at, _ in run.keyframes] == [at for at, kind, _ in expected if kind == "k"]
        assert [(each.step, each.text) for each in run.events] == [
            (at, content.hex()) for at, kind, content in expected if kind == "e"
        ]
        assert [dict(each.files) for each in run.segments[1:]] == [
            {"a": content} for _, kind, content in expected if kind == "w"
        ]


def record_ends(data: bytes) -> list[int]:
    """Where each record ends, found by walking the bytes of an undamaged file."""
    ends, place = [], 8
    while place < len(data) - 8:
        (length,) = struct.unpack_from("<Q", data, place + 1)
        place += 9 + length
        ends.append(place)
    return ends


def what_stands_before(data: bytes, cut: int) -> dict[str, list[tuple[int, bytes]]]:
    """Messages that are whole before a cut, by topic, as MCAP's own reader sees them."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    topics: dict[int, str] = {}
    whole = max((end for end in record_ends(data) if end <= cut), default=8)
    stream = mcap.stream_reader.StreamReader(io.BytesIO(data[:whole]))
    try:
        for each in stream.records:
            if isinstance(each, mcap.records.Channel):
                topics[each.id] = each.topic
            elif isinstance(each, mcap.records.Message):
                found.setdefault(topics[each.channel_id], []).append((each.sequence, each.data))
    except mcap.exceptions.McapError:
        pass
    return found


def test_a_cut_file_is_read_up_to_the_cut(recorded: Path, tmp_path: Path) -> None:
    """Cut at 200 random places, it still gives every message that is whole before the cut."""
    data = recorded.read_bytes()
    dice = random.Random(1)
    path = tmp_path / "cut.mcap"
    opened = 0
    for cut in [*(dice.randrange(len(data)) for _ in range(200)), len(data) - 1, 9, 8, 7, 1, 0]:
        path.write_bytes(data[:cut])
        before = what_stands_before(data, cut)
        if "state" not in before:
            with pytest.raises(RecordingError, match=r"cut\.mcap"):
                Recording.open(path)
            continue
        opened += 1
        with Recording.open(path) as run:
            assert not run.complete
            assert run.problem
            assert list(run.inbox) == before.get("inbox", [])
            assert [step for step, _ in run.keyframes] + [0] + [700] * (len(run.segments) - 1) == [
                *sorted({500, 1000} & {step for step, _ in before["state"]}),
                0,
            ] + [700] * (len(before["state"]) > 2 and (700 in dict(before["state"])))
            assert [each.tobytes() for each in run.frames] == [
                content for _, content in before.get("frame", [])
            ]
            assert len(run.events) == len(before.get("event", []))
            assert [step for step in run.hashes] == [step for step, _ in before.get("hash", [])]
            consume(run)
    assert opened > 100


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\x05" + b"\xff" * 100, bytes(range(256)) * 9])
def test_garbage_behind_is_left_out(recorded: Path, tmp_path: Path, tail: bytes) -> None:
    """Zeros, a lying length or noise behind the last whole record does no harm."""
    data = recorded.read_bytes()
    for cut, complete in [(record_ends(data)[60], False), (len(data), True)]:
        path = tmp_path / "tail.mcap"
        path.write_bytes(data[:cut] + tail)
        run = Recording.open(path)
        assert run.complete == complete
        assert str(len(tail)) in run.problem
        assert list(run.inbox) == what_stands_before(data, cut)["inbox"]


def test_a_repaired_copy_is_closed_and_holds_all_that_was_whole(
    recorded: Path, tmp_path: Path
) -> None:
    """The copy of a cut file opens everywhere, and the cut file is not changed."""
    data = recorded.read_bytes()
    dice = random.Random(2)
    start = next(end for end in record_ends(data) if "state" in what_stands_before(data, end))
    for cut in [*(dice.randrange(start, len(data)) for _ in range(30)), len(data)]:
        path = tmp_path / "cut.mcap"
        path.write_bytes(data[:cut])
        copy = repair(path, overwrite=True)
        assert copy == tmp_path / "cut.repaired.mcap"
        assert path.read_bytes() == data[:cut]
        with Recording.open(copy) as run, Recording.open(path) as torn:
            assert run.complete
            assert run.problem == ""
            run.check()
            assert run.last_step == torn.last_step
            assert list(run.inbox) == list(torn.inbox)
        with copy.open("rb") as file:
            reader = mcap.reader.make_reader(file, validate_crcs=True)
            summary = reader.get_summary()
            assert summary is not None
            assert summary.statistics is not None
            assert summary.statistics.message_count == len(list(reader.iter_messages()))
            assert {each.name for each in reader.iter_attachments()} >= set(FILES)
    assert copy.read_bytes() == data, "the copy of a closed recording is the recording"
    with pytest.raises(RecordingError, match="there is something of that name"):
        repair(path)


def test_a_changed_byte_is_noticed(recorded: Path, tmp_path: Path) -> None:
    """A flipped bit in a payload that still reads well fails the check of the checksum."""
    data = bytearray(recorded.read_bytes())
    data[data.index(b"set arm/J1 600")] ^= 1
    path = tmp_path / "flipped.mcap"
    path.write_bytes(data)
    run = Recording.open(path)
    assert run.problem == ""
    with pytest.raises(RecordingError, match=r"flipped\.mcap: bytes .* were changed"):
        run.check()
    data[data.index(FILES["meshes/hand.stl"])] ^= 1
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"'meshes/hand\.stl' is damaged"):
        dict(Recording.open(path).files)


CHILD = """
import sys, time
import numpy as np
sys.path.insert(0, {tests!r})
from test_recording import *
from linkwork.session.recording import Recorder
world = outline()
recorder = Recorder({path!r}, header(world), FILES)
recorder.first(numbers(0, world))
for step in range(1, 10**6):
    recorder.inbox(step, b"%d" % step)
    recorder.frame(step, poses(0, 2))
    print(step, flush=True)
    time.sleep({pause})
"""


@pytest.mark.parametrize("pause", [0.002, 0.0])
def test_a_killed_session_loses_at_most_a_second(tmp_path: Path, pause: float) -> None:
    """SIGKILL in real time or as fast as possible: all but the last simulated second is there."""
    path = tmp_path / "killed.mcap"
    code = CHILD.format(tests=str(Path(__file__).parent), path=str(path), pause=pause)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout as lines:
        for line in lines:
            if int(line) == 1234:
                child.send_signal(signal.SIGKILL)
                break
        reached = max([1234, *(int(line) for line in lines if line.endswith("\n"))])
    assert child.wait() == -signal.SIGKILL
    run = Recording.open(path)
    assert not run.complete
    assert run.last_step >= reached - 1 / STEP
    assert [step for step, _ in run.inbox] == list(range(1, len(run.inbox) + 1))
    assert len(run.inbox) >= reached - 1 / STEP
    assert len(Recording.open(repair(path)).inbox) == len(run.inbox)


def test_a_session_that_hangs_has_its_records_on_disk(tmp_path: Path) -> None:
    """What was recorded reaches the file without any further call."""
    path = tmp_path / "hangs.mcap"
    recorder = record_run(path, close=False)
    size = -1
    while recorder._journal._waiting or path.stat().st_size != size:
        size = path.stat().st_size
        time.sleep(0.05)
    run = Recording.open(path)
    assert run.last_step == 1200
    assert len(run.events) == 2
    assert not run.complete
    recorder.close()
    assert Recording.open(path).complete


def test_a_recorder_that_nobody_closed_is_closed_at_exit(tmp_path: Path) -> None:
    """A program that ends by itself, even by an error, leaves a closed recording."""
    path = tmp_path / "left.mcap"
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from test_recording import *\nrecord_run(Path({str(path)!r}), close=False)\n"
        "pid = os.fork()\n"
        "sys.exit(0) if pid == 0 else os.waitpid(pid, 0)\n"
        "raise KeyboardInterrupt"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr
    run = Recording.open(path)
    assert run.complete
    assert run.problem == ""
    run.check()


def test_a_full_disk_stops_the_recording_and_nothing_else(tmp_path: Path) -> None:
    """The session goes on, ``failed`` says why, and what was written before can be read."""
    path = tmp_path / "full.mcap"
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_recording import *
world = outline()
recorder = Recorder({str(path)!r}, header(world), FILES)
recorder.first(numbers(0, world))
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
for step in range(1, 5000):
    recorder.inbox(step, b"x" * 20)
print(recorder.failed)
recorder.close()
recorder.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "full.mcap ends here: File too large. Its first 20000 bytes" in done.stdout
    run = Recording.open(path)
    assert not run.complete
    assert len(run.inbox) > 100
    assert dict(run.files) == FILES


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("no/such/folder/a.mcap", "there is no folder"),
        ("taken.mcap", "there is a file of that name"),
        ("folder", "it is not a file"),
        ("pipe", "it is not a file"),
        ("taken.mcap/a.mcap", "Not a directory"),
        ("a\0b", "null"),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str, complaint: str) -> None:
    """The recorder refuses at once, with the reason, and touches nothing."""
    (tmp_path / "taken.mcap").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match=complaint):
        Recorder(tmp_path / name, header(), FILES)
    assert (tmp_path / "taken.mcap").read_bytes() == b"precious"


def test_an_overwritten_recording_stays_whole_for_its_reader(tmp_path: Path) -> None:
    """Who looks at the old file goes on seeing it."""
    path = tmp_path / "run.mcap"
    record_run(path)
    old = Recording.open(path)
    with Recorder(path, header(), FILES, overwrite=True) as recorder:
        recorder.first(numbers(7, outline()))
    assert np.array_equal(old.frames[-1], poses(1200, 3))
    assert Recording.open(path).first_state == numbers(7, outline()).tobytes()


def test_a_session_cannot_record_nonsense(tmp_path: Path) -> None:
    """Calls that would spoil the file are refused and leave it sound."""
    path = tmp_path / "run.mcap"
    world = outline()
    for name in ["/etc/passwd", "../up.toml", "a//b", "a\\b", "", "a\0", "./a"]:
        with pytest.raises(RecordingError, match="cannot be the name of a recorded file"):
            Recorder(path, header(), {name: b""})
    for step in [0.0, -1.0, float("nan"), float("inf"), 1e-12]:
        with pytest.raises(RecordingError, match="step of"):
            Recorder(path, header(outline(step=step)))
    with pytest.raises(RecordingError, match="header cannot be recorded"):
        Recorder(path, replace(header(), seed=2**64))
    with pytest.raises(RecordingError, match="cannot be the start"):
        Recorder(path, header(), step=-1)
    assert not path.exists()
    recorder = Recorder(path, header(), FILES)
    with pytest.raises(RecordingError, match="no first state yet"):
        recorder.inbox(1, b"")
    recorder.first(numbers(0, world))
    with pytest.raises(RecordingError, match="first state already"):
        recorder.first(numbers(0, world))
    recorder.inbox(5, b"five")
    with pytest.raises(RecordingError, match="at step 5 and cannot go back to 4"):
        recorder.inbox(4, b"four")
    with pytest.raises(RecordingError, match="a state of this world has 184 bytes, not 8"):
        recorder.keyframe(6, b"12345678")
    with pytest.raises(RecordingError, match="a frame of this world has 56 bytes, not 84"):
        recorder.frame(6, poses(1, 3))
    with pytest.raises(RecordingError, match="signals of this world has 16 bytes, not 8"):
        recorder.signals(6, [1.0])
    with pytest.raises(RecordingError, match="not 184"):
        recorder.segment(6, outline(4, 3), numbers(0, world), {"new": b"x"})
    with pytest.raises(RecordingError, match="cannot go back"):
        recorder.segment(4, world, numbers(0, world))
    recorder.frame(6, poses(1, 2))
    recorder.close()
    with pytest.raises(RecordingError, match="is closed"):
        recorder.inbox(7, b"")
    run = Recording.open(path)
    assert (run.problem, list(run.inbox), len(run.frames)) == ("", [(5, b"five")], 1)


def write_foreign(path: Path, *, chunking: bool, profile: str) -> None:
    with path.open("wb") as file:
        writer = mcap.writer.Writer(
            file, use_chunking=chunking, compression=mcap.writer.CompressionType.NONE
        )
        writer.start(profile=profile, library="other")
        schema = writer.register_schema("tf", "ros2msg", b"")
        channel = writer.register_channel("/tf", "cdr", schema)
        for time_ in range(10):
            writer.add_message(channel, time_, b"data", time_)
        writer.finish()


@pytest.mark.parametrize("chunking", [True, False])
def test_a_foreign_mcap_file_is_refused(tmp_path: Path, chunking: bool) -> None:
    """The error says what the file is and what it lacks."""
    path = tmp_path / "robot.mcap"
    write_foreign(path, chunking=chunking, profile="ros2")
    with pytest.raises(RecordingError, match=r"robot\.mcap: .* profile is 'ros2'.* lacks .*header"):
        Recording.open(path)
    write_foreign(path, chunking=True, profile="linkwork")
    with pytest.raises(RecordingError, match="rewritten in chunks"):
        Recording.open(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a zip file", r"starts with b'PK.x03.x04 a z'"),
        (b"\x89MCAP0\r\n", "ends before its first state"),
        (b"\x89MC", "not a recording"),
        (container.MAGIC + container.header_record("linkwork", ""), "ends before its first state"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    """Empty, foreign or cut before anything: a sentence, not a traceback."""
    path = tmp_path / "what.mcap"
    path.write_bytes(content)
    for use in (Recording.open, repair):
        with pytest.raises(RecordingError, match=rf"what\.mcap: .*{complaint}"):
            use(path)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """Missing files, folders and pipes."""
    os.mkfifo(tmp_path / "pipe")
    for name, complaint in [("none.mcap", "No such file"), (".", "not a file"), ("pipe", "not a")]:
        with pytest.raises(RecordingError, match=complaint):
            Recording.open(tmp_path / name)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """The error names both versions."""
    path = tmp_path / "new.mcap"
    with Recorder(path, replace(header(), format=2)) as recorder:
        recorder.first(numbers(0, outline()))
    with pytest.raises(RecordingError, match=r"has format 2; .* reads format 1\. Update Linkwork"):
        Recording.open(path)


def consume(run: Recording) -> None:
    """Reads everything; each property may refuse by itself, but only with its own error."""
    parts = [
        lambda: list(run.inbox),
        lambda: run.hashes,
        lambda: run.events,
        lambda: run.duration,
        lambda: [run.frames.times, list(run.frames)],
        lambda: list(run.keyframes),
        run.check,
        lambda: [run.header.differences(header()), run.layout, run.first_state],
        *(lambda each=each: dict(each.files) for each in run.segments),
        *(lambda each=each: [each.signals.stacked(), each.hashes] for each in run.segments),
        *(
            lambda each=each: [each.block(name, each.first_state) for name in each.layout]
            for each in run.segments
        ),
    ]
    for part in parts:
        try:
            part()
        except RecordingError as error:
            assert str(error)


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Damaged copies: flipped, overwritten, cut out, doubled, swapped, lying lengths."""
    dice = random.Random(seed)
    ends = [8, *record_ends(data)]
    wild = [0, 1, 21, 22, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            place = dice.randrange(len(mutant))
            kind = dice.randrange(8)
            if kind == 0:
                mutant[place] ^= 1 << dice.randrange(8)
            elif kind == 1:
                mutant[place : place + 8] = struct.pack("<Q", dice.choice(wild))
            elif kind == 2:
                del mutant[place : place + dice.randrange(1, 64)]
            elif kind == 3:
                mutant[place:place] = dice.randbytes(dice.randrange(1, 64))
            elif kind == 4:  # the length of a record lies
                struct.pack_into(
                    "<Q",
                    mutant,
                    min(dice.choice(ends) + 1, len(mutant) - 8),
                    dice.choice([*wild, dice.randrange(2000)]),
                )
            elif kind == 5:  # a record is gone
                first = dice.randrange(len(ends) - 1)
                del mutant[ends[first] : ends[first + 1]]
            elif kind == 6:  # a record stands twice, or elsewhere
                first = dice.randrange(len(ends) - 1)
                target = dice.choice(ends)
                mutant[target:target] = data[ends[first] : ends[first + 1]]
            else:
                mutant[place : place + 4] = dice.randbytes(4)
            if len(mutant) < 16:
                break
        yield bytes(mutant)


@pytest.fixture(scope="module")
def short_data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A recording with something of everything, mostly structure."""
    path = tmp_path_factory.mktemp("short") / "run.mcap"
    world = outline()
    with Recorder(path, header(world), {"scene.toml": b"# a scene"}) as recorder:
        recorder.first(numbers(0, world))
        for step in range(1, 4):
            recorder.inbox(step, b"set")
            recorder.signals(step, [1.0, 2.0])
            recorder.hash(step, "ab" * 16)
            recorder.event(step, "info", "text", "test")
            recorder.frame(step, poses(step, 2))
            recorder.keyframe(step, numbers(step, world))
            recorder.segment(step, world, numbers(step, world), {"scene.toml": b"#%d" % step})
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_read_or_refused(short_data: bytes, tmp_path: Path, seed: int) -> None:
    """Of 2 000 damaged files, each is read as far as it goes or refused with a sentence."""
    path = tmp_path / "damaged.mcap"
    opened = 0
    for number, mutant in enumerate(mutants(short_data, 500, seed)):
        path.write_bytes(mutant)
        try:
            run = Recording.open(path)
        except RecordingError as error:
            assert str(error).startswith(str(path))
            continue
        opened += 1
        with run:
            consume(run)
            if number % 10 == 0:
                with Recording.open(repair(path, overwrite=True)) as copy:
                    assert copy.complete
                    assert copy.last_step == run.last_step
    assert 100 < opened < 500


def message(topic_number: int, payload: bytes) -> bytes:
    return container.record(
        container.MESSAGE, struct.pack("<HIQQ", topic_number, 0, 0, 0) + payload
    )


def test_lying_lengths_cost_no_memory(recorded: Path, tmp_path: Path) -> None:
    """Whatever a length claims, reading takes no more memory than the file has bytes."""
    data = recorded.read_bytes()
    ends = record_ends(data)
    channels = data[: ends[8]]
    layout = b"\xdd\xff\xff\xff\xff"
    liars = [
        channels + message(1, layout),
        channels + message(1, b"\xdf\xff\xff\xff\xff"),
        channels + message(1, b"\x81\xa6header\x81\xa5world\x81\xa6layout" + layout),
        channels + message(1, b"\xc6\xff\xff\xff\xff"),
        channels + message(1, b"\x91" * 100_000),
        channels + container.record(container.ATTACHMENT, b"\xff" * 60),
        channels + container.record(container.CHANNEL, b"\xff" * 60),
    ]
    for place in [8, *ends[:-1]]:
        for length in (2**32 - 1, 2**40, 2**63, 2**64 - 1):
            liars.append(data[: place + 1] + struct.pack("<Q", length) + data[place + 9 :])
    path = tmp_path / "liar.mcap"
    for liar in liars[:40] + liars[40::25]:
        path.write_bytes(liar)
        tracemalloc.start()
        try:
            with Recording.open(path) as run:
                consume(run)
        except RecordingError:
            pass
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < 4e6


def test_a_hole_of_gigabytes_costs_no_memory(recorded: Path, tmp_path: Path) -> None:
    """A sparse file whose record really has five gigabytes is not read into memory."""
    path = tmp_path / "sparse.mcap"
    data = recorded.read_bytes()
    cut = record_ends(data)[100]
    path.write_bytes(data[:cut] + struct.pack("<BQ", container.ATTACHMENT, 5 * 2**30))
    os.truncate(path, 6 * 2**30)
    tracemalloc.start()
    run = Recording.open(path)
    consume(run)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6
    assert "claims to have 5368709120 bytes" in run.problem
    assert repair(path).stat().st_size < 2 * len(data)


def test_files_are_extracted_where_they_belong(recorded: Path, tmp_path: Path) -> None:
    """A replay finds the sources as they were, in folders as they were."""
    files = Recording.open(recorded).files
    written = files.extract(tmp_path / "sources")
    assert {each.relative_to(tmp_path / "sources").as_posix() for each in written} == set(FILES)
    for name, content in FILES.items():
        assert (tmp_path / "sources" / name).read_bytes() == content
    (tmp_path / "taken").write_text("")
    with pytest.raises(RecordingError, match="cannot be written"):
        files.extract(tmp_path / "taken")


def test_a_recorded_file_cannot_climb_out_of_its_folder(recorded: Path, tmp_path: Path) -> None:
    """A recording from elsewhere cannot write over files outside the folder it is given."""
    data = recorded.read_bytes().replace(b"parts/arm.toml", b"../../arm.toml")
    path = tmp_path / "evil.mcap"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="cannot be the name of a recorded file"):
        Recording.open(path)


def test_header_says_why_bits_may_differ() -> None:
    """Another version or processor is named; the same ones give no reason."""
    mine = header()
    assert mine.differences(header()) == []
    other = replace(mine, cpu="arm64", versions=mine.versions | {"numba": "0.1"})
    numba, processor = mine.differences(other)
    assert numba == f"numba {mine.versions['numba']} when recorded, 0.1 here"
    assert "arm64" in processor


def test_states_are_exported_with_all_digits(recorded: Path, tmp_path: Path) -> None:
    """A line per keyframe; the numbers read back equal, also across an edit."""
    run = Recording.open(recorded)
    path = tmp_path / "states.csv"
    assert export_csv(run, path, fields=["q", "turns"]) == 4
    rows = list(csv.DictReader(path.open()))
    assert [row["step"] for row in rows] == ["0", "500", "700", "1000"]
    assert [row["segment"] for row in rows] == ["0", "0", "1", "1"]
    assert [row["time"] for row in rows] == ["0.0", "1.0", "1.4", "2.0"]
    last = numbers(1000, outline(4, 3))
    assert [float(rows[3][f"q[{place}]"]) for place in range(1, 4)] == last[2:5].tolist()
    assert [int(rows[3][f"turns[{n}]"]) for n in range(4)] == last.view(np.int64)[-4:].tolist()
    assert rows[0]["q[3]"] == ""
    export_csv(run, path, fields=["pose"])
    assert list(csv.DictReader(path.open()))[0]["pose[1,6]"] != ""


def test_signals_are_exported(recorded: Path, tmp_path: Path) -> None:
    """A line per reading, a column per signal, all or the chosen ones."""
    run = Recording.open(recorded)
    path = tmp_path / "signals.csv"
    assert export_csv(run, path) == 60
    rows = list(csv.DictReader(path.open()))
    assert list(rows[0]) == ["segment", "step", "time", "arm/J1.angle", "arm/J2.angle"]
    assert [float(row["arm/J1.angle"]) for row in rows] == [s * 0.1 for s in range(20, 1201, 20)]
    export_csv(run, path, signals=["arm/J2.angle"])
    assert path.read_text().splitlines()[1] == "0,20,0.04,-20.0"
    with pytest.raises(LinkworkError, match="Did you mean 'arm/J2.angle'"):
        export_csv(run, path, signals=["arm/J2.angel"])
    with pytest.raises(LinkworkError, match="no block named 'speed'"):
        export_csv(run, path, fields=["speed"])
    with pytest.raises(RecordingError, match="two files"):
        export_csv(run, path, fields=["q"], signals=["arm/J2.angle"])
    with pytest.raises(RecordingError, match="cannot write"):
        export_csv(run, tmp_path / "none" / "a.csv")


def test_a_page_shows_the_run(recorded: Path, tmp_path: Path) -> None:
    """One file without scripts or links: run, events and a curve per signal, well formed."""
    path = tmp_path / "run.html"
    export_html(Recording.open(recorded), path)
    text = path.read_text()
    assert "linkwork run scene.toml" in text
    assert "a part was added" in text
    curves = [ElementTree.fromstring(each) for each in text.split("\n") if "<figure>" in each]
    assert [each[0].text for each in curves[:2]] == [
        "arm/J1.angle [rad]: 2 to 68",
        "arm/J2.angle [rad]: -680 to -20",
    ]
    points = [point.split(",") for point in curves[0][1][0].attrib["points"].split()]
    assert len(points) == 34
    assert points[0] == ["0.0", "152.0"], "the lowest value stands at the lower left"
    assert points[-1] == ["720.0", "8.0"]
    assert "http" not in text
    assert "<script" not in text


def test_a_page_stands_hostile_content(tmp_path: Path) -> None:
    """Names and events are text, never markup; wild numbers leave gaps; long runs are thinned."""
    path = tmp_path / "run.mcap"
    world = replace(
        outline(),
        scene="<script>alert(1)</script>",
        signals=tuple(SignalColumn(f"<b>{n}") for n in range(4)),
    )
    with Recorder(path, header(world)) as recorder:
        recorder.first(numbers(0, world))
        recorder.event(0, "info", "</table><script>", "<i>")
        for step in range(20_000):
            wild = [np.nan, np.inf, 1.7e308, -1.7e308][step % 4] if step % 1000 < 4 else 1.0
            recorder.signals(step, [np.sin(step / 100), np.nan, wild, 5.0])
    page = tmp_path / "run.html"
    export_html(Recording.open(path), page)
    text = page.read_text()
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;b&gt;1: no finite values." in text
    assert "nan" not in text
    assert "inf" not in text.replace("info", "")
    curves = [ElementTree.fromstring(each) for each in text.split("\n") if "<figure>" in each]
    (sine,) = curves[0][1]
    points = [[float(x) for x in each.split(",")] for each in sine.attrib["points"].split()]
    assert len(points) < 3000
    assert min(y for _, y in points) == 8.0
    assert max(y for _, y in points) == 152.0
    assert [x for x, _ in points] == sorted(x for x, _ in points)
