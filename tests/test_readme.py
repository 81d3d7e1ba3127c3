"""The README stays one screen, and what it says is so."""

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
    assert len(re.findall(r"^!\[", README, re.MULTILINE)) == 1
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


def test_figure_is_what_its_command_measures(capsys: pytest.CaptureFixture[str]) -> None:
    """The tray's worst tilt, measured over ten seconds, is what the README says of a minute."""
    claimed = re.search(r"within (\d\.\d\d)° of level", README)
    command = re.search(r"`python (examples/\S+) 60`", README)
    assert claimed
    assert command
    runpy.run_path(str(ROOT / command[1]))["main"](10.0)
    measured = re.search(r"within (\d\.\d\d)° of level", capsys.readouterr().out)
    assert measured
    assert float(measured[1]) <= float(claimed[1]) <= float(measured[1]) + 0.03
