"""The README stays one screen, and its statements hold."""

import importlib
import math
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
CODE = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_readme_is_one_screen() -> None:
    """Name, sentence, picture, two commands, ten lines, five bullets, one figure; no more."""
    assert len(README.splitlines()) <= 42
    assert len(re.findall(r"^#", README, re.MULTILINE)) == 1
    assert len(re.findall(r"^!\[", README, re.MULTILINE)) == 2
    assert len(re.findall(r"^make ", README, re.MULTILINE)) == 2
    assert len(re.findall(r"^- ", README, re.MULTILINE)) == 5
    assert README.count("**Measured:**") == 1
    assert len(CODE) == 1


def test_ten_lines_run_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code has ten lines; the tray stays level and the replay is the same bit for bit."""
    assert len([line for line in CODE[0].splitlines() if line.strip()]) == 10
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ten_lines.py").write_text(CODE[0])
    runpy.run_path("ten_lines.py")
    floor, tray, same = re.findall(r"[+-]\d\.\d+|True|False", capsys.readouterr().out)
    assert abs(float(floor)) > math.radians(9.9)
    assert abs(float(tray)) < math.radians(0.5)
    assert same == "True"


def test_figure_is_what_its_command_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gap and energy of the four-bar over ten seconds are those in the README."""
    claimed = re.search(r"closed to (\d\.\d+) nm and its energy to (\de-\d) of", README)
    assert claimed
    assert "`python benchmarks/loops.py --figure docs/pictures/loops.svg`" in README
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    ours, sections, linkages = (
        importlib.import_module(f"shared.{name}")
        for name in ("loops_ours", "loops_sections", "linkages")
    )
    linkage = linkages.four_bar()
    trace = ours.Engine(linkage).trace("default", 1e-3, 10.0)
    scale = max(motion.kinetic(linkage) for motion in trace)
    kept = sections.kept(linkage, trace, 10.0, scale)
    assert kept.ended
    assert 0.2 * float(claimed[1]) < 1e9 * kept.gap <= float(claimed[1])
    assert 0.2 * float(claimed[2]) < kept.swing <= float(claimed[2])
