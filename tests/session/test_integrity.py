"""A recording is believed only when it is whole: no changed byte passes unnoticed anywhere."""

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import linkwork as lw
from command_line import linkwork
from effort import cases
from linkwork.core.errors import DamagedRecording, RecordingError
from linkwork.session.recording import Recording, repair
from linkwork.session.recording.mcap_format import DATA_END
from linkwork.studio.host.html_page import write_page
from recorded_run import record_ends, without_checksums


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with messages, events, an edit and keyframes."""
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with lw.Session("tripod/level", record=path) as session:
        session.run(1.1)
        session["world.gravity_z"] = -3.71
        session.log("half", level="mark", source="test")
        session.run(1.1)
    return path


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def flips(data: bytes, count: int) -> list[bytes]:
    dice = random.Random(17)
    found = []
    for _ in range(count):
        copy = bytearray(data)
        copy[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        found.append(bytes(copy))
    return found


def zeroed(data: bytes, count: int) -> list[bytes]:
    dice = random.Random(18)
    found = []
    while len(found) < count:
        start, size = dice.randrange(len(data)), dice.choice([4, 64, 512, 4096, 20_000])
        if any(data[start : start + size]):
            found.append(
                data[:start] + bytes(len(data[start : start + size])) + data[start + size :]
            )
    return found


@pytest.mark.capability(89, 97)
def test_no_flipped_bit_passes_unnoticed(run: Path, tmp_path: Path) -> None:
    """1 000 single-bit flips and 300 zeroed runs (a tenth per commit): opening reports each."""
    data = run.read_bytes()
    path = tmp_path / "damaged.mcap"
    refused = 0
    for number, damaged in enumerate([*flips(data, cases(1000)), *zeroed(data, cases(300))]):
        path.write_bytes(damaged)
        try:
            with Recording.open(path) as recording:
                assert recording.damage, number
                assert all(0 <= d.start <= d.end <= len(data) for d in recording.damage)
        except RecordingError:
            refused += 1
    assert refused < cases(1300) // 3


def test_no_damage_behind_the_data_passes_unnoticed(run: Path, tmp_path: Path) -> None:
    """Each byte from the end of the data on: changed or zeroed, up to the last magic bytes."""
    data, path = run.read_bytes(), tmp_path / "damaged.mcap"
    end = data.rindex(struct.pack("<BQ", DATA_END, 4))

    def is_found(damaged: bytes) -> bool:
        path.write_bytes(damaged)
        with Recording.open(path) as recording:
            return bool(recording.damage)

    for place in range(end, len(data)):
        assert is_found(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]), place
    for start, stop in ((end + 9, end + 13), (end + 40, len(data)), (len(data) - 8, len(data))):
        assert is_found(data[:start] + bytes(stop - start) + data[stop:]), (start, stop)


def test_a_summary_that_is_cut_off_is_no_damage(run: Path, tmp_path: Path) -> None:
    """As a process leaves it that is killed while it closes the file; nothing is lost."""
    data, path = run.read_bytes(), tmp_path / "cut.mcap"
    end = data.rindex(struct.pack("<BQ", DATA_END, 4))
    for stop in range(end + 13, len(data), 37):
        path.write_bytes(data[:stop])
        with Recording.open(path) as recording:
            assert not recording.damage, stop
            assert not recording.complete
            assert "cut off" in recording.problem


@pytest.mark.capability(156)
def test_no_damaged_recording_verifies(run: Path, tmp_path: Path) -> None:
    """A replay of a damaged recording is never called the same, and its copy opens whole."""
    data = run.read_bytes()
    path = tmp_path / "damaged.mcap"
    assert lw.replay(run).same
    for damaged in [*flips(data, 8), *zeroed(data, 4)]:
        path.write_bytes(damaged)
        try:
            assert not lw.replay(path).same
            with Recording.open(repair(path, overwrite=True)) as copy:
                assert copy.problem == ""
        except RecordingError:
            pass


def test_the_command_line_ends_with_code_5(run: Path, tmp_path: Path) -> None:
    """Looking, verifying, exporting: damage is printed with byte and time, and the code is 5."""
    data = bytearray(run.read_bytes())
    with Recording.open(run) as recording:
        place = recording._index.series["frame"].starts[60]
    data[place + 5] ^= 8
    (tmp_path / "bad.mcap").write_bytes(data)
    looked = linkwork("replay", "bad.mcap")
    assert looked.code == 5
    assert "Damaged: bytes" in looked.out
    assert "between 0.9" in looked.out
    assert "a message on 'frame' is lost" in looked.out
    verified = linkwork("replay", "bad.mcap", "--verify")
    assert verified.code == 5
    assert "Bit-identical, where it is intact: 1100 steps" in verified.out
    page = linkwork("replay", "bad.mcap", "--html", "bad.html")
    assert page.code == 5
    assert "is lost" in (tmp_path / "bad.html").read_text(encoding="utf-8")
    repaired = linkwork("replay", "bad.mcap", "--repair", "good.mcap")
    assert repaired.code == 5
    assert linkwork("replay", "good.mcap").code == 0
    assert "repaired copy" in linkwork("replay", "good.mcap", "--events").out


def test_a_lost_header_refuses_with_code_5(run: Path, tmp_path: Path) -> None:
    """Nothing can be shown without the description of the world: that is damage, too."""
    data = bytearray(run.read_bytes())
    data[data.index(b"world_hash") + 3] ^= 1
    path = tmp_path / "bad.mcap"
    path.write_bytes(data)
    with pytest.raises(DamagedRecording, match="nothing in it can be shown"):
        Recording.open(path)
    assert linkwork("replay", "bad.mcap", "--verify").code == 5


def test_what_comes_after_a_lost_first_state_is_shown(run: Path, tmp_path: Path) -> None:
    """The first intact keyframe takes the place of a damaged first state."""
    with Recording.open(run) as recording:
        place = recording._index.series["state"].starts[0]
    data = bytearray(run.read_bytes())
    data[place + 100] ^= 1
    path = tmp_path / "bad.mcap"
    path.write_bytes(data)
    with Recording.open(path) as recording:
        assert recording.first_step == 500
        assert recording.last_step == 1100
        write_page(recording, tmp_path / "page.html")


def test_a_recording_of_before_is_not_checked_and_says_so(run: Path, tmp_path: Path) -> None:
    """Format 1 has no checksums of records; it still replays bit for bit."""
    path = tmp_path / "old.mcap"
    path.write_bytes(without_checksums(run.read_bytes()))
    found = linkwork("replay", "old.mcap", "--verify")
    assert found.code == 0
    assert "not checked" in found.out
    assert "Bit-identical: 1100 steps" in found.out


def test_removed_checksums_are_damage(run: Path, tmp_path: Path) -> None:
    """A recording that should have checksums does not pass as one of before."""
    path = tmp_path / "stripped.mcap"
    stripped = without_checksums(run.read_bytes())
    path.write_bytes(stripped.replace(b"\xa6format\x01", b"\xa6format\x02"))
    with pytest.raises(DamagedRecording, match="no checksums"):
        Recording.open(path)
    assert linkwork("replay", "stripped.mcap", "--verify").code == 5


def test_a_recording_of_before_is_damaged_where_no_record_is(run: Path, tmp_path: Path) -> None:
    """That is not a file that was cut off; no verification calls it the same."""
    data = bytearray(without_checksums(run.read_bytes()))
    place = next(end for end in record_ends(bytes(data) + bytes(8)) if end > len(data) // 2)
    data[place] = 0xEE
    (tmp_path / "old.mcap").write_bytes(data)
    with Recording.open(tmp_path / "old.mcap") as recording:
        assert [each.start for each in recording.damage] == [place]
    assert linkwork("replay", "old.mcap", "--verify").code == 5


def test_without_a_hash_nothing_is_verified(tmp_path: Path) -> None:
    """A recording that was cut before its first hash is not called bit-identical."""
    with lw.Session("gripper/follow", record=tmp_path / "run.mcap") as session:
        session.run(0.4)
    with Recording.open(tmp_path / "run.mcap") as recording:
        place = recording._index.series["hash"].starts[0]
    path = tmp_path / "cut.mcap"
    path.write_bytes((tmp_path / "run.mcap").read_bytes()[: place - 40])
    result = lw.replay(path)
    assert (result.mismatch, result.compared, result.same) == ("", 0, False)
    found = linkwork("replay", "cut.mcap", "--verify")
    assert found.code == 3
    assert "Not verified: the recording holds no hash" in found.out


def test_an_event_that_does_not_come_again_is_found_out(tmp_path: Path) -> None:
    """Events that programs log in a step are compared, too."""
    (tmp_path / "clock.py").write_text(
        "import time\nfrom linkwork import Control\nclass Clock(Control):\n    def init(self):\n"
        "        self.after(0.5, lambda: self.log(f'it is {time.time_ns()}'))\n"
    )
    made = linkwork(
        "run", "gripper/arm", "--for", 1, "--program", "clock.py", "--record", "run.mcap"
    )
    assert made.code == 0
    found = linkwork("replay", "run.mcap", "--verify")
    assert found.code == 3
    assert "the event 'it is" in found.out


def test_a_full_disk_ends_with_a_code_and_says_what_is_kept(tmp_path: Path) -> None:
    """The run goes on to its end; code and last line report that its recording did not."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
    (tmp_path / "run.py").write_text(
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        + limit
        + "import sys\nfrom linkwork.cli import main\n"
        "sys.argv = ['linkwork', 'run', 'gripper/arm', '--for', '30', '--record', 'full.mcap']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert "full.mcap ends here: File too large. Its first 400000 bytes are kept" in " ".join(
        done.stderr.split()
    )
    assert "s of the run" in done.stderr
    with Recording.open(tmp_path / "full.mcap") as recording:
        assert not recording.damage
        assert recording.duration > 1.0
