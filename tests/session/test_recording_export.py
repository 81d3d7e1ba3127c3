"""Recordings as tables and pages."""

import csv
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError, RecordingError
from linkwork.session.recording import (
    Recording,
    RecordingWriter,
    SignalColumn,
    export_csv,
    export_html,
)
from recorded_run import (
    header,
    numbers,
    outline,
    record_run,
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    record_run(path)
    return path


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
    assert "pose[1,6]" in path.read_text().splitlines()[0]


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
    with pytest.raises(LinkworkError, match=r"Did you mean 'arm/J2\.angle'"):
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
    with RecordingWriter(path, header(world)) as recorder:
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
