"""A recording is believed only when it is whole: no changed byte passes unnoticed anywhere."""

import random
import re
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


def test_a_damaged_header_is_read_from_its_copy(run: Path, tmp_path: Path) -> None:
    """One bit, or its checksum too; the repaired copy is whole. Without both nothing is shown."""
    whole, path = run.read_bytes(), tmp_path / "bad.mcap"
    first, second = whole.index(b"world_hash"), whole.rindex(b"world_hash")
    assert first != second
    for start, stop in ((first + 3, first + 4), (first - 120, first + 40)):
        data = bytearray(whole)
        data[start:stop] = bytes(stop - start)
        path.write_bytes(data)
        with Recording.open(path) as recording, Recording.open(run) as before:
            assert recording.damage
            assert recording.header == before.header
            assert dict(recording.files) == dict(before.files)
            assert recording.last_step == before.last_step
        found = linkwork("replay", "bad.mcap", "--verify")
        assert found.code == 5
        assert "Bit-identical, where it is intact: 1100 steps" in found.out
        assert linkwork("replay", "bad.mcap", "--repair", "good.mcap", "--overwrite").code == 5
        assert linkwork("replay", "good.mcap", "--verify").code == 0
        with Recording.open("good.mcap") as recording, Recording.open(run) as before:
            assert dict(recording.files) == dict(before.files)
    data = bytearray(whole)
    data[first + 3] ^= 1
    data[second + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedRecording, match=r"description of its world is lost, so nothing"):
        Recording.open(path)
    assert linkwork("replay", "bad.mcap", "--verify").code == 5


def test_copies_of_another_recording_are_not_used(run: Path, tmp_path: Path) -> None:
    """One recording behind another: the first is read, with the note; the code is 5."""
    with lw.Session("gripper/follow", record=tmp_path / "other.mcap") as session:
        session.run(0.2)
    other = (tmp_path / "other.mcap").read_bytes()
    path = tmp_path / "both.mcap"
    path.write_bytes(run.read_bytes() + other)
    found = linkwork("replay", "both.mcap", "--verify")
    assert found.code == 5
    assert f"{len(other)} bytes after its end are left out; no data are lost" in found.out
    assert not lw.replay(path).same
    data = bytearray(path.read_bytes())
    data[data.index(b"world_hash") + 3] ^= 1
    path.write_bytes(data)
    with Recording.open(path) as recording:
        assert recording.header.world.scene == "level"


def test_a_lost_world_after_an_edit_is_read_from_its_copy(tmp_path: Path) -> None:
    """Everything after the edit is kept; without copies the lost messages are one damage."""
    path = tmp_path / "edited.mcap"
    with lw.Session("gripper/follow", record=path) as session:
        session.run(1.2)
        session.swap(session.world.scene, ids=session.world.ids).result()
        session.run(1.2)
    data = bytearray(path.read_bytes())
    place = data.index(b"world_hash", data.index(b"world_hash") + 1)
    data[place + 3] ^= 1
    path.write_bytes(data)
    with Recording.open(path) as recording:
        assert len(recording.segments) == 2
        assert [each.text for each in recording.damage] == [
            "the description of a world is damaged, and its copy is used; no data are lost"
        ]
    assert linkwork("replay", path, "--verify").out.count("Damaged:") == 1
    while (place := data.find(b"world_hash", place + 1)) >= 0:
        data[place + 3] ^= 1
    path.write_bytes(data)
    found = linkwork("replay", path)
    assert found.code == 5
    assert found.out.count("Damaged:") == 3  # the world, its messages, the copies
    assert "everything else is intact" in found.out
    assert "before and after" not in found.out


def test_a_flipped_bit_in_the_first_bytes_is_damage(run: Path, tmp_path: Path) -> None:
    """Not "this is not a recording": it is read and can be repaired."""
    for place in range(8):
        data = bytearray(run.read_bytes())
        data[place] ^= 1 << place
        (tmp_path / "bad.mcap").write_bytes(data)
        found = linkwork("replay", "bad.mcap")
        assert found.code == 5, place
        assert "no data are lost" in found.out
    assert linkwork("replay", "bad.mcap", "--repair", "good.mcap").code == 5
    assert lw.replay("good.mcap").same


def test_a_cut_recording_says_so_in_python(run: Path, tmp_path: Path) -> None:
    """Also its repaired copy; a cut before the first state is damage with code 5."""
    data = run.read_bytes()
    with Recording.open(run) as recording:
        first = recording._index.series["state"].starts[0]
    Path("cut.mcap").write_bytes(data[: len(data) * 3 // 4])
    result = lw.replay("cut.mcap")
    assert result.same
    assert any("the file is cut off" in note for note in result.notes)
    repair("cut.mcap", "copy.mcap")
    result = lw.replay("copy.mcap")
    assert result.same
    assert [each.text for each in result.missing] == ["the file is cut off; what follows is lost"]
    assert any("it is a repaired copy" in note for note in result.notes)
    assert "after 2.000 s" in linkwork("replay", "copy.mcap").out
    for stop in (first + 8, 200, 30, 8):
        Path("cut.mcap").write_bytes(data[:stop])
        assert linkwork("replay", "cut.mcap").code == 5, stop


def test_a_lost_input_makes_the_rest_incomparable(run: Path, tmp_path: Path) -> None:
    """Neither the damaged recording nor its repaired copy is called different, or the same."""
    with Recording.open(run) as recording:
        place = recording._index.series["inbox"].starts[0]
    data = bytearray(run.read_bytes())
    data[place + 4] ^= 1
    Path("bad.mcap").write_bytes(data)
    assert linkwork("replay", "bad.mcap", "--repair", "good.mcap").code == 5
    for name, code in (("bad.mcap", 5), ("good.mcap", 3)):
        found = linkwork("replay", name, "--verify")
        assert found.code == code
        text = " ".join(found.out.split())
        assert re.search(r"Not comparable from 1\.\d+ s on: an input is missing there\.", text)
        assert "Not the same" not in text
        result = lw.replay(name)
        assert result.incomparable
        assert not result.same
        assert result.steps < result.recorded == 1100
    looked = linkwork("replay", "good.mcap")
    assert looked.code == 0
    text = " ".join(looked.out.split())
    assert "it is a repaired copy, which lacks parts of the original: bytes" in text
    assert "between 1." in text
    page = linkwork("replay", "bad.mcap", "--html", "bad.html", "--watch", "world.energy")
    assert page.code == 5
    assert "only poses are shown" in " ".join(page.out.split())
    page = linkwork("replay", "good.mcap", "--html", "good.html", "--watch", "world.energy")
    assert "only poses are shown" in " ".join(page.out.split())


def test_a_damaged_summary_is_not_a_killed_session(run: Path, tmp_path: Path) -> None:
    """Its recorder closed it."""
    data = bytearray(run.read_bytes())
    end = data.rindex(struct.pack("<BQ", DATA_END, 4))
    for place in (end, end + 2, end + 60, len(data) - 20):
        changed = bytearray(data)
        changed[place] ^= 4
        Path("bad.mcap").write_bytes(changed)
        found = linkwork("replay", "bad.mcap")
        assert found.code == 5, place
        assert "killed" not in found.out, place


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
        assert len(recording.damage) == 2  # the state, and the messages that need it
    found = linkwork("replay", "bad.mcap", "--verify")
    assert found.code == 5
    assert found.out.count("Damaged:") == 2
    assert "Bit-identical, where it is intact: 600 of 1100 steps" in found.out
    repair(path, "good.mcap")
    found = linkwork("replay", "good.mcap", "--verify")
    assert found.code == 0
    assert "Bit-identical, where it is intact: 600 of 1100 steps" in found.out
    with Recording.open(path) as recording:
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
