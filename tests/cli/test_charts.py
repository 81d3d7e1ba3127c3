"""``linkwork charts`` and ``--tables``: three modes of a motion as pictures and numbers."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from linkwork.cli.app import app
from linkwork.cli.curves import Curve, in_characters, round_ticks, write_svg

SCENE = """\
format = "linkwork/scene 1"
name = "swing"
step = 0.004

[[part]]
name = "arm"
part = "./arm.toml"

[[engine]]
type = "mujoco"

[[agent]]
name = "swing"
type = "formula"
formulas = { "arm/elbow" = "0.4*sin(2*pi*t)" }

[[sensor]]
name = "tip"
type = "motion"
on = "arm/link"
"""
PART = """\
format = "linkwork/part 1"
name = "arm"

[[element]]
name = "base"
shape = { box = { size = [0.1, 0.1, 0.1] } }
mass = 1

[[element]]
name = "link"
shape = { box = { size = [0.02, 0.02, 0.2] }, at = { xyz = [0, 0, -0.1] } }
mass = 0.5

[[joint]]
name = "elbow"
type = "hinge"
from = "base"
to = "link"
axis = [1, 0, 0]
range_deg = [-90, 90]
max_effort = 20
drive = { type = "servo", kp = 20, kd = 1 }
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    (tmp_path / "arm.toml").write_text(PART)
    (tmp_path / "swing.toml").write_text(SCENE)
    return tmp_path / "swing.toml"


def rows_of(path: Path) -> list[dict[str, float]]:
    with path.open() as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


@pytest.mark.capability(80)
@pytest.mark.capability(84)
def test_one_command_draws_all_modes_of_any_arm(scene: Path, tmp_path: Path) -> None:
    """Pictures of positions, speeds, moments, wanted and actual, and the numbers behind them."""
    out = tmp_path / "charts"
    made = CliRunner().invoke(app, ["charts", str(scene), "--out", str(out), "--for", "0.5"])
    assert made.exit_code == 0, made.output
    page = (out / "index.html").read_text()
    words = ("position", "speed", "acceleration", "emulated-moment", "simulated-moment", "tracking")
    for name in [*(f"arm-elbow-{word}" for word in words), "tip-place", "tip-speed", "tip-turn"]:
        assert (out / f"{name}.svg").read_text().startswith("<svg")
        assert f"{name}.svg" in page
    moved = rows_of(out / "kinematic" / "joints.csv")
    speed, change = "arm/elbow.speed [rad/s]", "arm/elbow.acceleration [rad/s²]"
    for row in moved[1:]:
        assert row[change] == pytest.approx(-39.4784176 * row["arm/elbow.angle [rad]"], abs=1e-6)
    assert max(row[speed] for row in moved) == pytest.approx(2.513, abs=0.01)
    # a stick on a hinge: m g l sin q + (m l² + J) q̈, by hand
    efforts = rows_of(out / "emulation" / "efforts.csv")
    again = CliRunner().invoke(app, ["charts", str(scene), "--out", str(out), "--for", "0.5"])
    assert again.exit_code == 1
    assert "exists" in again.output
    turns, weighs = 0.5 * 0.1**2 + 0.5 * (0.02**2 + 0.2**2) / 12.0, 0.5 * 9.81 * 0.1
    for move, row in zip(moved[1:], efforts[1:], strict=True):
        wanted = turns * move[change] + weighs * math.sin(move["arm/elbow.angle [rad]"])
        assert row["arm/elbow.effort [N m]"] == pytest.approx(wanted, abs=1e-9)


def test_sensors_whose_files_would_have_one_name_get_a_number(scene: Path, tmp_path: Path) -> None:
    """A sensor called joints does not replace the joints' table, nor arm-tip that of arm/tip."""
    sensor = '\n[[sensor]]\nname = "{}"\ntype = "motion"\non = "{}"\n'
    part = scene.parent / "arm.toml"
    part.write_text(part.read_text() + sensor.format("tip", "link"))
    extra = (sensor.format(name, "arm/link") for name in ("joints", "arm-tip"))
    scene.write_text(scene.read_text() + "".join(extra))
    order = ["charts", str(scene), "--for", "0.02", "--out", str(tmp_path / "out")]
    made = CliRunner().invoke(app, order)
    assert made.exit_code == 0, made.output
    found = sorted(path.name for path in (tmp_path / "out" / "kinematic").iterdir())
    wanted = [
        "arm-tip-2.csv",
        "arm-tip.csv",
        "efforts.csv",
        "joints-2.csv",
        "joints.csv",
        "tip.csv",
    ]
    assert found == wanted
    assert "arm/elbow.angle" in (tmp_path / "out" / "kinematic" / "joints.csv").read_text()
    page = (tmp_path / "out" / "index.html").read_text()
    assert 'src="arm-tip-place.svg"' in page
    assert 'src="arm-tip-place-2.svg"' in page


@pytest.mark.capability(84)
def test_tables_of_a_run_can_be_played_again(scene: Path, tmp_path: Path) -> None:
    """A written table is played by the agent ``table`` and gives the same motion."""
    out = tmp_path / "out"
    order = ["run", str(scene), "--for", "0.5", "--mode", "kinematic", "--rate", "250", "-q"]
    made = CliRunner().invoke(app, [*order, "--tables", str(out)])
    assert made.exit_code == 0, made.output
    text = scene.read_text()
    start = text.index('type = "formula"')
    end = text.index("[[sensor]]")
    table = 'type = "table"\nfile = "out/joints.csv"\ncolumns = ["arm/elbow.angle"]\n\n'
    scene.write_text(text[:start] + table + text[end:])
    again = CliRunner().invoke(app, [*order, "--tables", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    first, second = (rows_of(tmp_path / f / "joints.csv") for f in ("out", "again"))
    for one, two in zip(first, second, strict=True):
        assert two["arm/elbow.angle [rad]"] == pytest.approx(one["arm/elbow.angle [rad]"], abs=1e-9)
    # without columns, what was measured is in the way
    scene.write_text(scene.read_text().replace('columns = ["arm/elbow.angle"]\n', ""))
    bad = CliRunner().invoke(app, [*order, "--tables", str(tmp_path / "no")])
    assert bad.exit_code == 1
    assert "'arm/elbow.speed' is measured" in bad.output


def test_labels_of_the_axis_have_room(tmp_path: Path) -> None:
    """The longest begins inside the picture, also with its unit and an exponent."""
    curve = Curve("drive", np.array([0.0, 1.0]), np.array([-5.44e-08, 1.7635e-07]))
    write_svg(tmp_path / "a.svg", "moment", [curve], " N m")
    drawn = (tmp_path / "a.svg").read_text()
    labels = re.findall(r'<text x="(\d+)" [^>]*text-anchor="end">([^<]+)<', drawn)
    assert any("e-07 N m" in text for _, text in labels)
    assert all(int(x) >= 8 * len(text) for x, text in labels)


@pytest.mark.parametrize(
    ("lowest", "highest", "wanted"),
    [
        (0.0, 10.0, [0, 2, 4, 6, 8, 10]),
        (-0.37, 0.81, [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8]),
        (0.0, 5.12, [0, 1, 2, 3, 4, 5]),
        (-848.2, 848.2, [-500, 0, 500]),
        (1e-7, 9e-7, [2e-7, 4e-7, 6e-7, 8e-7]),
    ],
)
def test_ticks_are_round(lowest: float, highest: float, wanted: list[float]) -> None:
    """Multiples of 1, 2 or 5 times a power of ten, within the interval."""
    assert round_ticks(lowest, highest) == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_any_interval_has_two_to_six_round_ticks(seed: int) -> None:
    """Steps are 1, 2 or 5 · 10ⁿ."""
    rng = np.random.default_rng(seed)
    lowest = float(rng.normal() * 10.0 ** rng.uniform(-3, 4))
    highest = lowest + float(10.0 ** rng.uniform(-3, 4))
    found = round_ticks(lowest, highest)
    assert 2 <= len(found) <= 6
    assert lowest - 1e-6 <= found[0]
    assert found[-1] <= highest + 1e-6
    digits = f"{found[1] - found[0]:.6e}"
    assert digits.split("e")[0] in ("1.000000", "2.000000", "5.000000")


def test_pictures_have_round_ticks(tmp_path: Path) -> None:
    """In the SVG file and on the terminal."""
    time = np.linspace(0.0, 0.73, 50)
    curves = [Curve("angle", time, 47.3 * np.sin(9.0 * time))]
    write_svg(tmp_path / "c.svg", "t", curves, "°")
    labels = re.findall(r">(-?[0-9.]+)(?:°| s)?</text>", (tmp_path / "c.svg").read_text())
    assert labels == ["-40", "-20", "0", "20", "40", "0", "0.2", "0.4", "0.6"]
    text = in_characters(curves, "°")
    numbers = [line.split("│")[0].strip() for line in text if "│" in line]
    assert [n for n in numbers if n] == ["40", "20", "0", "-20", "-40"]
