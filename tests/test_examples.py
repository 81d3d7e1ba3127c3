"""Every example runs as a user would run it, with the expected output."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))

#: Expected output of each example, by number.
SAYS = {
    "01": r"on Mars: the floor stands at \+10\.0°, the tray at [+-]0\.\d\d°",
    "02": r"the elbow by -?0\.0\d°\.",
    "03": r" 4\.0 s ",
    "04": r"Tray: within 0\.[0-4]\d° of level\.",
    "05": r"owned by 'sweep', not by 'user'(.|\n)*owner: user(.|\n)*owner: sweep",
    "06": r"14 of 14 dominoes lie(.|\n)*bit-identical: True",
    "07": r"shoulder at 0\.5\d\d rad(.|\n)*drives of joints, left out: elbow, shoulder",
    "08": r"pole at [+-]0\.00\d\d rad(.|\n)*numba loaded: False",
    "09": r"slipped by 0\.\d\d mm at most",
    "10": r"file as it was: True(.|\n)*version 3",
    "11": r"J1 at (29|30|31)°, J2 at (29|30|31)°",
    "12": r"Tray: within 0\.[0-6]\d° of level\.",
    "13": r"7\.0 s: the ball is [+-]\d % off, 1\.\d\d m ahead",
    "14": r"circle of (0\.9|1\.0)\d m, wanted 1\.00 m(.|\n)*circle of 0\.(4[89]|5[0-2]) m",
    "15": r"\d\d of 192 cells in 20 s(.|\n)*Touched anything: False",
    "16": r"rubber: \+0\.[34]\d m(.|\n)*ice: [+-]0\.0\d m(.|\n)*bit-identical: True",
    "17": r"peaucellier: \d+ cm, off a straight line by \d\.\de-1\d m(.|\n)*\de-1\d m on impulse",
    "18": r"reached in \d+ iterations(.|\n)*to hold it(.|\n)*not reached after",
    "19": r"169\.4°/s²(.|\n)*-90\.0° of -90°(.|\n)*it needs 11520°/s²(.|\n)*right_elbow: 0\.480 s",
    "20": r"J1 at \d+\.\d° of 25°(.|\n)*below 5°(.|\n)*Refused: signal 'arm/J1\.target' takes",
    "21": r"kp  4\.6: rises in 0\.\d+ s(.|\n)*kp 12\.0: rises in 0\.\d+ s(.|\n)*heat \d+\.\d\d J",
    "22": r"M22 = I_\{2\}(.|\n)*knee +[+-]\d+\.\d\d(.|\n)*lost in 5 s: \de-(0[7-9]|1\d) of it",
    "23": r"TCP part on 127\.0\.0\.1:\d+(.|\n)*bit-identical: True",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_shows_what_it_says(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The example ends without an error, with the expected output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert re.search(SAYS[path.name[:2]], capfd.readouterr().out)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_tells_how_to_run_it(path: Path) -> None:
    """30 to 120 lines, with the command in its docstring and an entry in docs/examples.md."""
    text = path.read_text()
    assert 30 <= len(text.splitlines()) <= 120
    assert f"python examples/{path.name}" in text.split('"""')[1]
    assert f"(../examples/{path.name})" in (ROOT / "docs" / "examples.md").read_text()


def test_examples_are_numbered_without_gaps() -> None:
    """01, 02, … in reading order."""
    assert [path.name[:2] for path in EXAMPLES] == [f"{n + 1:02}" for n in range(len(EXAMPLES))]


@pytest.mark.parametrize("role", ["run_planner", "run_robot"])
def test_three_computers_do_not_wait_for_ever(role: str) -> None:
    """Without its partner a program ends after its timeout, with a message."""
    path = next(each for each in EXAMPLES if each.name.startswith("23"))
    made = runpy.run_path(str(path))
    made[role].__globals__["TIMEOUT"] = 0.3
    with pytest.raises(TimeoutError):
        made[role]("127.0.0.1", "0")
