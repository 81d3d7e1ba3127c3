"""A recording as one page: what stands in it is what was recorded, and cannot be more than that."""

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from command_line import linkwork
from linkwork.core.errors import RecordingError
from linkwork.session.playback import Playback
from linkwork.session.recording import Recording
from linkwork.session.session import Session
from linkwork.studio.host import html_page as pages
from linkwork.studio.host.html_page import pack_counts, pack_floats, scale_of, write_page


def inflated(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def gathered(text: str, kind: str) -> np.ndarray:
    planes = np.frombuffer(inflated(text), np.uint8).reshape(4, -1)
    return np.frombuffer(planes.T.tobytes(), kind)


def counts(text: str, rows: int, scale: float) -> np.ndarray:
    """What the page's script makes of packed counts, rows along time."""
    folded = gathered(text, "<u4").reshape(-1, rows).astype(np.int64)
    steps = np.where(folded & 1, -((folded >> 1) + 1), folded >> 1)
    return steps.cumsum(axis=1).T * scale


def film_of(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with Session("gripper/follow", record=path) as session:
        session.run(0.8)
        session.log("</script><script>alert(1)</script><!--", level="mark", source="mark")
        session.run(0.7)
    return path


@pytest.mark.parametrize("largest", [1e-9, 1.0, 3e4, 1e12])
def test_packed_tables_come_back(largest: float) -> None:
    """Counts are true to half their unit, over the whole range; floats to the bit."""
    rng = np.random.default_rng(3)
    table = np.cumsum(rng.normal(size=(50, 6)), axis=0)
    table *= largest / np.abs(table).max()
    scale = scale_of(table)
    assert scale == pytest.approx(max(1e-6, largest / 2**29))
    back = counts(pack_counts(table, scale), 50, scale)
    assert np.abs(back - table).max() <= 0.5000001 * scale
    floats = gathered(pack_floats(table), "<f4").reshape(6, 50).T
    np.testing.assert_array_equal(floats, table.astype(np.float32))


@pytest.mark.capability(97)
def test_the_page_holds_the_recorded_poses_and_values(run: Path, tmp_path: Path) -> None:
    """Each picture's poses are those recorded, to a micrometre; values those of that step."""
    out = tmp_path / "run.html"
    with Recording.open(run) as recording:
        written = write_page(recording, out)
        text = out.read_text()
        (world,) = film_of(text)["worlds"]
        times = np.frombuffer(inflated(world["times"]), "<f8")
        assert written.pictures == len(times) == len(recording.frames) + 1
        assert written.size == out.stat().st_size
        table = counts(world["poses"], len(times), world["scale"])
        poses = np.tile(np.frombuffer(inflated(world["still"]), "<f4"), (len(times), 1))
        poses = poses.reshape(len(times), -1, 7)
        poses[:, world["moving"]] = table.reshape(len(times), -1, 7)
        np.testing.assert_allclose(poses[1:], recording.frames.stacked(), atol=1e-6)
        values = gathered(world["values"], "<f4").reshape(-1, len(times)).T
        names = [signal["name"] for signal in world["scene"]["signals"]]
        playback = Playback(recording)
        for row in (0, 7, len(times) - 1):
            assert playback.go(round(times[row] / recording.header.world.step))
            expected = [playback.live[name] for name in names]
            np.testing.assert_array_equal(values[row], np.array(expected, np.float32))
        playback.close()


def test_the_page_stands_alone_and_hostile_names(run: Path, tmp_path: Path) -> None:
    """Nothing is loaded from elsewhere, marks cannot end their element, no paths are told."""
    out = tmp_path / "run.html"
    with Recording.open(run) as recording:
        write_page(recording, out)
    text = out.read_text()
    film = film_of(text)
    assert film["worlds"][0]["scene"]["replay"]["marks"][0]["text"].startswith("</script>")
    assert text.count("<script") == text.count("</script") == 2
    assert not re.search(r'\b(src|href)="(?!data:)', text)
    assert str(run.parent) not in text
    assert str(Path(pages.__file__).parents[3]) not in text


def test_a_page_that_would_be_too_large_is_thinned_or_refused(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures are left out until the page fits; when too few would be left, it says so."""
    out = tmp_path / "run.html"
    with Recording.open(run) as recording:
        full = write_page(recording, out)
        monkeypatch.setattr(pages, "MAX_PAGE_BYTES", full.size - 1)
        thinned = write_page(recording, out)
        assert (thinned.pictures, thinned.every) == ((full.pictures + 1) // 2, 2)
        monkeypatch.setattr(pages, "MAX_PAGE_BYTES", 1000)
        with pytest.raises(RecordingError, match=r"run\.mcap is too long for a page"):
            write_page(recording, out)


def test_the_command_writes_a_page(run: Path, tmp_path: Path) -> None:
    """``linkwork replay --html`` writes it with the signals asked for, and never over a file."""
    out = tmp_path / "run.html"
    done = linkwork("replay", run, "--html", out, "--watch", "arm/*.speed")
    assert done.code == 0
    assert "It opens in any browser." in done.out
    (world,) = film_of(out.read_text())["worlds"]
    names = [signal["name"] for signal in world["scene"]["signals"]]
    assert names
    assert all(name.endswith(".speed") for name in names)
    again = linkwork("replay", run, "--html", out)
    assert again.code == 1
    assert "--overwrite" in again.err
    wrong = linkwork("replay", run, "--html", out, "--overwrite", "--watch", "arm/J9")
    assert wrong.code == 1
    assert "arm/J9" in wrong.err


def test_a_recording_is_not_for_the_terminal(run: Path) -> None:
    """``linkwork studio run.mcap --terminal`` says where a recording is looked at."""
    done = linkwork("studio", run, "--terminal")
    assert done.code == 1
    assert "linkwork replay" in done.err
