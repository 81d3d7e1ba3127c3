"""Recordings: what a session wrote is read back bit for bit, by us and by MCAP's own reader."""

import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import mcap.reader
import mcap.records
import mcap.stream_reader
import mcap.writer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import LinkworkError, RecordingError
from linkwork.session.recording import Recording, RecordingWriter
from linkwork.session.recording.header import slot_name
from recorded_run import FILES, header, numbers, outline, poses, record_run


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
    """The recorded layout leads to the numbers of each block, whole ones as such."""
    segment = Recording.open(recorded).segments[0]
    content = segment.keyframes[0][1]
    words = numbers(500, segment.world)
    assert segment.block("q", content).tobytes() == words[1:4].tobytes()
    assert segment.block("pose", content).tolist() == words[4:18].reshape(2, 7).tolist()
    assert segment.block("turns", content).tolist() == words.view(np.int64)[18:21].tolist()
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
    assert footer.summary_crc == zlib.crc32(checked)


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32 - 1), st.sampled_from("ihfskew"), st.binary(max_size=40)),
        max_size=30,
    ),
    st.sampled_from([0.002, 1 / 240, 1e-4, 0.1]),
    st.integers(0, 2**36),
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
    with RecordingWriter(path, header(world), step=start, overwrite=True) as recorder:
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


def test_a_session_cannot_record_nonsense(tmp_path: Path) -> None:
    """Calls that would spoil the file are refused and leave it sound."""
    path = tmp_path / "run.mcap"
    world = outline()
    for name in ["/etc/passwd", "../up.toml", "a//b", "a\\b", "", "a\0", "./a"]:
        with pytest.raises(RecordingError, match="cannot be the name of a recorded file"):
            RecordingWriter(path, header(), {name: b""})
    for step in [0.0, -1.0, float("nan"), float("inf"), 1e-12]:
        with pytest.raises(RecordingError, match="step of"):
            RecordingWriter(path, header(outline(step=step)))
    with pytest.raises(RecordingError, match="header cannot be recorded"):
        RecordingWriter(path, replace(header(), seed=2**64))
    with pytest.raises(RecordingError, match="cannot be the start"):
        RecordingWriter(path, header(), step=-1)
    assert not path.exists()
    recorder = RecordingWriter(path, header(), FILES)
    with pytest.raises(RecordingError, match="no first state yet"):
        recorder.inbox(1, b"")
    recorder.first(numbers(0, world))
    with pytest.raises(RecordingError, match="first state already"):
        recorder.first(numbers(0, world))
    recorder.inbox(5, b"five")
    with pytest.raises(RecordingError, match="at step 5 and cannot go back to 4"):
        recorder.inbox(4, b"four")
    with pytest.raises(RecordingError, match="a state of this world has 168 bytes, not 8"):
        recorder.keyframe(6, b"12345678")
    with pytest.raises(RecordingError, match="a frame of this world has 56 bytes, not 84"):
        recorder.frame(6, poses(1, 3))
    with pytest.raises(RecordingError, match="signals of this world has 16 bytes, not 8"):
        recorder.signals(6, [1.0])
    with pytest.raises(RecordingError, match="not 168"):
        recorder.segment(6, outline(4, 3), numbers(0, world), {"new": b"x"})
    with pytest.raises(RecordingError, match="cannot go back"):
        recorder.segment(4, world, numbers(0, world))
    recorder.frame(6, poses(1, 2))
    recorder.close()
    with pytest.raises(RecordingError, match="is closed"):
        recorder.inbox(7, b"")
    run = Recording.open(path)
    assert (run.problem, list(run.inbox), len(run.frames)) == ("", [(5, b"five")], 1)


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


def test_header_says_why_bits_may_differ() -> None:
    """Another version or processor is named; the same ones give no reason."""
    mine = header()
    assert mine.differences(header()) == []
    other = replace(mine, cpu="arm64", versions=mine.versions | {"numba": "0.1"})
    numba, processor = mine.differences(other)
    assert numba == f"numba {mine.versions['numba']} when recorded, 0.1 here"
    assert "arm64" in processor


def test_importing_recordings_is_light() -> None:
    """A viewer of recordings loads neither the compiler nor the physics."""
    code = "import sys, linkwork.session.recording; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "llvmlite", "mujoco"} & set(done.stdout.split())


def test_slots_of_earlier_recordings_have_their_present_names() -> None:
    """Those of buses were renamed; a state is read by the new names."""
    assert slot_name("bus/can0/fed") == "bus/can0/inputs"
    assert slot_name("bus/line/aside") == "bus/line/saved"
    assert slot_name("engine/0/arcs") == "engine/0/curve_positions"
    assert slot_name("agent/p/memory") == "agent/p/memory"
