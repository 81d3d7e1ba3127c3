"""Files that are damaged, foreign or hostile: read as far as they go, or refused in words."""

import os
import random
import struct
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import mcap.reader
import mcap.records
import mcap.stream_reader
import mcap.writer
import pytest

from effort import FULL, cases
from linkwork.core.errors import DamagedRecording, RecordingError
from linkwork.session.recording import Recording, RecordingWriter, mcap_format, repair
from linkwork.session.recording.checksums import CHECK
from recorded_run import (
    FILES,
    consume,
    header,
    numbers,
    outline,
    poses,
    record_ends,
    record_run,
    without_checksums,
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    record_run(path)
    return path


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
        (
            mcap_format.MAGIC + mcap_format.header_record("linkwork", ""),
            "ends before its first state",
        ),
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
    with RecordingWriter(path, replace(header(), format=3)) as recorder:
        recorder.first(numbers(0, outline()))
    with pytest.raises(
        RecordingError, match=r"has format 3; .* reads formats 1 to 2\. Update Linkwork"
    ):
        Recording.open(path)


def test_a_changed_byte_is_noticed(recorded: Path, tmp_path: Path) -> None:
    """A flipped bit is reported with byte and time; everything else is still read."""
    data = bytearray(recorded.read_bytes())
    place = data.index(b"set arm/J1 600")
    data[place] ^= 1
    path = tmp_path / "flipped.mcap"
    path.write_bytes(data)
    run = Recording.open(path)
    (found,) = run.damage
    assert found.start <= place < found.end
    assert (found.after, found.before) == (1.184, 1.2)
    assert found.text == "a message on 'inbox' is lost"
    assert run.problem == str(found)
    assert [step for step, _ in run.inbox] == [n for n in range(50, 1201, 50) if n != 600]
    with pytest.raises(DamagedRecording, match=r"flipped\.mcap: .* is damaged: bytes"):
        run.check()
    data[data.index(FILES["meshes/hand.stl"])] ^= 1
    path.write_bytes(data)
    run = Recording.open(path)
    assert "a recorded file is damaged, and its copy is used" in run.problem
    assert dict(run.files) == FILES
    data[data.rindex(FILES["meshes/hand.stl"])] ^= 1
    path.write_bytes(data)
    run = Recording.open(path)
    assert "a recorded file is lost" in run.problem
    assert run.files["parts/arm.toml"] == FILES["parts/arm.toml"]
    with pytest.raises(DamagedRecording, match=r"'meshes/hand\.stl' is lost"):
        dict(run.files)


def test_every_byte_is_covered(short_data: bytes, tmp_path: Path) -> None:
    """No flipped bit passes unnoticed, wherever it is, and repair keeps all but what it hit."""
    path = tmp_path / "flipped.mcap"
    dice = random.Random(5)
    whole = len(records_of(short_data))
    for place in range(0, len(short_data), 1 if FULL else 5):
        data = bytearray(short_data)
        data[place] ^= 1 << dice.randrange(8)
        path.write_bytes(data)
        try:
            run = Recording.open(path)
        except RecordingError:
            continue
        with run:
            assert run.problem, place
            if not run.damage:
                assert place >= len(short_data) - 8  # the last magic bytes: as if cut off
                continue
            lost = "no data are lost" not in run.problem
            with Recording.open(repair(path, overwrite=True)) as copy:
                assert copy.problem == ""
                assert copy.complete
                assert copy.events[-1].text.startswith("repaired copy")
                kept = len(records_of(copy.path.read_bytes()))
                assert kept >= whole - 1 if not lost else kept >= whole // 3


def records_of(data: bytes) -> list[int]:
    """Ends of the messages."""
    ends = record_ends(data)
    starts = [8, *ends[:-1]]
    return [end for start, end in zip(starts, ends, strict=True) if data[start] == 0x05]


def test_zeroed_runs_are_noticed(recorded: Path, tmp_path: Path) -> None:
    """Runs of zeros, as a failing disk leaves them, are reported; what is outside them is read."""
    whole = recorded.read_bytes()
    path = tmp_path / "zeros.mcap"
    dice = random.Random(6)
    refused = 0
    for _ in range(cases(300)):
        start = dice.randrange(len(whole))
        end = min(len(whole), start + dice.choice([1, 16, 512, 4096]))
        if not any(whole[start:end]):
            continue
        path.write_bytes(whole[:start] + bytes(end - start) + whole[end:])
        try:
            run = Recording.open(path)
        except RecordingError:
            refused += 1
            continue
        with run:
            assert run.problem
            assert run.damage or end == len(whole)
            consume(run)
    assert refused < cases(300) // 2


@pytest.mark.parametrize("place", [11, 15, 23])
def test_a_message_whose_time_does_not_fit_its_step_ends_the_reading(
    recorded: Path, tmp_path: Path, place: int
) -> None:
    """Without checksums (format 1), a changed step or time is detected and reading ends there."""
    data = bytearray(without_checksums(recorded.read_bytes()))
    start = data.index(b"set arm/J1 600") - 31
    data[start + place] ^= 4
    path = tmp_path / "late.mcap"
    path.write_bytes(data)
    run = Recording.open(path)
    assert not run.checked
    assert f"bytes {start} to {len(data)}, after 1.184 s: the time of a message" in run.problem
    assert run.damage
    assert [step for step, _ in run.inbox] == list(range(50, 600, 50))


def test_the_checksum_of_an_old_file_is_compared(recorded: Path, tmp_path: Path) -> None:
    """A closed recording of format 1 has one checksum for all; a changed byte shows in it."""
    path = tmp_path / "old.mcap"
    path.write_bytes(without_checksums(recorded.read_bytes()))
    closed = repair(path, overwrite=True)
    with Recording.open(closed) as run:
        assert (run.checked, run.complete, run.problem) == (False, True, "")
    data = bytearray(closed.read_bytes())
    data[data.index(b"set arm/J1 600")] ^= 1
    path.write_bytes(data)
    with Recording.open(path) as run:
        assert "checksum of the whole data differs" in run.problem
        assert run.damage


def test_a_recorded_file_cannot_climb_out_of_its_folder(recorded: Path, tmp_path: Path) -> None:
    """A recording from elsewhere cannot write over files outside the folder it is given."""
    plain = without_checksums(recorded.read_bytes())
    path = tmp_path / "evil.mcap"
    path.write_bytes(plain.replace(b"parts/arm.toml", b"../../arm.toml"))
    with pytest.raises(RecordingError, match="cannot be the name of a recorded file"):
        Recording.open(path)


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
    with RecordingWriter(path, header(world), {"scene.toml": b"# a scene"}) as recorder:
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
    opened, refusals = 0, []
    for number, mutant in enumerate(mutants(short_data, 500, seed)):
        path.write_bytes(mutant)
        try:
            run = Recording.open(path)
        except RecordingError as error:
            refusals.append(str(error))
            continue
        opened += 1
        with run:
            consume(run)
            if number % 10 == 0:
                with Recording.open(repair(path, overwrite=True)) as copy:
                    assert copy.complete
                    assert copy.last_step == run.last_step
    assert opened > 100
    assert refusals
    assert all(each.startswith(str(path)) for each in refusals)


def message(topic_number: int, payload: bytes) -> bytes:
    return mcap_format.record(
        mcap_format.MESSAGE, struct.pack("<HIQQ", topic_number, 0, 0, 0) + payload
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
        channels + mcap_format.record(mcap_format.ATTACHMENT, b"\xff" * 60),
        channels + mcap_format.record(mcap_format.CHANNEL, b"\xff" * 60),
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
    cut = next(end for end in record_ends(data)[100:] if data[end] == CHECK)
    path.write_bytes(data[:cut] + struct.pack("<BQ", mcap_format.ATTACHMENT, 5 * 2**30))
    os.truncate(path, 6 * 2**30)
    tracemalloc.start()
    run = Recording.open(path)
    consume(run)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6
    assert f"the last {6 * 2**30 - cut} bytes are lost" in run.problem
    assert repair(path).stat().st_size < 2 * len(data)
