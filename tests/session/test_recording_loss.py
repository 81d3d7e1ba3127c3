"""Recordings of sessions that were killed, hung, or ran out of disk, and their repair."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import mcap.reader
import mcap.records
import mcap.stream_reader
import mcap.writer
import numpy as np
import pytest

from linkwork.core.errors import RecordingError
from linkwork.session.recording import Recording, RecordingWriter, repair
from linkwork.session.recording.checksums import CHECK
from recorded_run import (
    FILES,
    STEP,
    consume,
    header,
    numbers,
    outline,
    poses,
    record_ends,
    record_run,
    what_stands_before,
)

# A session in a process of its own. It imports nothing that takes long.
CHILD = """
import os, resource, sys, time
import numpy as np
from linkwork.session.recording import Header, RecordedWorld, RecordingWriter
from linkwork.core.state import Field
layout = (Field("q", (3,), 0), Field("pose", (2, 7), 3))
world = RecordedWorld(scene="s", world_hash="0", step={step}, layout=layout)
recorder = RecordingWriter({path!r}, Header.of_run(world, seed=1, cpu=""), {{"s": b"source"}})
recorder.first(np.arange(17.0))
{then}
"""

STEP_AND_TELL = """
for step in range(1, 10**6):
    recorder.inbox(step, b"%d" % step)
    recorder.frame(step, np.zeros((2, 7)))
    print(step, flush=True)
    time.sleep({pause})
"""

FILL_THE_DISK = """
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
for step in range(1, 5000):
    recorder.inbox(step, b"x" * 20)
print(recorder.failed)
recorder.close()
recorder.close()
"""

# The child's child ends first, and must not write into the file that it shares.
LEAVE = """
recorder.inbox(1, b"one")
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
raise KeyboardInterrupt
"""


def command(path: Path, then: str) -> list[str]:
    return [sys.executable, "-c", CHILD.format(path=str(path), step=STEP, then=then)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    record_run(path)
    return path


def test_a_cut_file_is_read_up_to_the_cut(recorded: Path, tmp_path: Path) -> None:
    """Cut at 200 random places or behind any record, it gives each message before the cut."""
    data = recorded.read_bytes()
    dice = random.Random(1)
    path = tmp_path / "cut.mcap"
    opened = 0
    cuts = [dice.randrange(len(data)) for _ in range(200)]
    for cut in [*cuts, *record_ends(data)[:-1], len(data) - 1, 9, 8, 7, 1, 0]:
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
            states = [step for step, _ in run.keyframes]
            states += [segment.first_step for segment in run.segments]
            assert sorted(states) == [step for step, _ in before["state"]]
            assert [each.tobytes() for each in run.frames] == [
                content for _, content in before.get("frame", [])
            ]
            assert len(run.events) == len(before.get("event", []))
            assert list(run.hashes) == [step for step, _ in before.get("hash", [])]
            consume(run)
    assert opened > 100


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\x05" + b"\xff" * 100, bytes(range(256)) * 9])
def test_garbage_behind_is_left_out(recorded: Path, tmp_path: Path, tail: bytes) -> None:
    """Zeros, a lying length or noise behind the last whole record does no harm."""
    data = recorded.read_bytes()
    middle = next(end for end in record_ends(data)[60:] if data[end] == CHECK)
    for cut, complete in [(middle, False), (len(data), True)]:
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
    path, copy = tmp_path / "cut.mcap", tmp_path / "cut.repaired.mcap"
    edited = data.index(b"set arm/J1 700") - 31  # before it stands the new world's first state
    cuts = [dice.randrange(start, len(data)) for _ in range(30)]
    for cut in [*cuts, edited - 1, edited, len(data)]:
        path.write_bytes(data[:cut])
        assert repair(path, overwrite=True) == copy
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


@pytest.mark.parametrize("pause", [0.002, 0.0])
def test_a_killed_session_loses_at_most_a_second(tmp_path: Path, pause: float) -> None:
    """SIGKILL in real time or as fast as possible: all but the last simulated second is there."""
    path = tmp_path / "killed.mcap"
    code = command(path, STEP_AND_TELL.format(pause=pause))
    child = subprocess.Popen(code, stdout=subprocess.PIPE, text=True)
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
    run = Recording.open(path)
    for _ in range(400):
        if len(run.events) == 2:
            break
        time.sleep(0.05)
        run = Recording.open(path)
    assert len(run.events) == 2
    assert run.last_step == 1200
    assert not run.complete
    recorder.close()
    assert Recording.open(path).complete


def test_a_recorder_that_nobody_closed_is_closed_at_exit(tmp_path: Path) -> None:
    """A program that ends by itself, even by an error, leaves a closed recording."""
    path = tmp_path / "left.mcap"
    done = subprocess.run(command(path, LEAVE), capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr
    run = Recording.open(path)
    assert run.complete
    assert run.problem == ""
    run.check()


def test_a_full_disk_stops_the_recording_and_nothing_else(tmp_path: Path) -> None:
    """The session goes on, ``failed`` says why, and what was written before can be read."""
    path = tmp_path / "full.mcap"
    code = command(path, FILL_THE_DISK)
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "full.mcap ends here: File too large. Its first 20000 bytes" in done.stdout
    run = Recording.open(path)
    assert not run.complete
    assert len(run.inbox) > 100
    assert dict(run.files) == {"s": b"source"}


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
        RecordingWriter(tmp_path / name, header(), FILES)
    assert (tmp_path / "taken.mcap").read_bytes() == b"precious"


def test_an_overwritten_recording_stays_whole_for_its_reader(tmp_path: Path) -> None:
    """Who looks at the old file goes on seeing it."""
    path = tmp_path / "run.mcap"
    record_run(path)
    old = Recording.open(path)
    with RecordingWriter(path, header(), FILES, overwrite=True, fsync=True) as recorder:
        recorder.first(numbers(7, outline()))
    assert np.array_equal(old.frames[-1], poses(1200, 3))
    assert Recording.open(path).first_state == numbers(7, outline()).tobytes()
