"""``linkwork run`` and ``linkwork replay``: what they run, print, write and return."""

from __future__ import annotations

import csv
import io
import re
import socket
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from cli.test_cli import URDF
from command_line import linkwork
from linkwork.cli.scene_argument import part_on_ground
from linkwork.cli.screen import LiveDisplay, Screen, show_live
from linkwork.core.registry import ACTUATORS, SENSORS
from linkwork.formats import load_part
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import Box, Capsule, Cone, Cylinder, Element, Part, Shape, Sphere
from linkwork.model.world import compile_scene
from linkwork.session.session import Session
from part_fixture import ARM

FOLLOW = """
from linkwork import Control

class Follow(Control):
    def init(self):
        self.joint("J2").on_change(self.follow)
        self.joint("J2").target = 0.6

    def follow(self, angle):
        self.joint("J3").value = angle
"""

FOUR_BAR = """
format = "linkwork/part 1"
name = "bars"

[[element]]
name = "frame"
shape = { box = { size = [0.5, 0.02, 0.02] }, collide = false }
mass = 1
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def four_bar() -> str:
    """A part whose four bars close a loop."""
    text = FOUR_BAR
    for name, carrier, x, z, length in (
        ("crank", "frame", -0.2, 0.0, 0.1), ("rod", "crank", 0.0, 0.1, 0.4),
        ("rocker", "frame", 0.2, 0.0, 0.1),
    ):  # fmt: skip
        middle = f"[{length / 2}, 0, 0]" if name == "rod" else f"[0, 0, {length / 2}]"
        size = f"[{length}, 0.01, 0.01]" if name == "rod" else f"[0.01, 0.01, {length}]"
        text += (
            f'[[element]]\nname = "{name}"\nmass = 0.2\n'
            f"shape = {{ box = {{ size = {size} }}, at = {{ xyz = {middle} }}, collide = false }}\n"
            f'[[joint]]\nname = "{name}_joint"\ntype = "hinge"\nfrom = "{carrier}"\n'
            f'to = "{name}"\nat = {{ xyz = [{x}, 0, {z}] }}\naxis = [0, 1, 0]\n'
        )
    return text + (
        '[[anchor]]\nname = "rod_end"\non = "rod"\nat = { xyz = [0.4, 0, 0] }\n'
        '[[anchor]]\nname = "rocker_end"\non = "rocker"\nat = { xyz = [0, 0, 0.1] }\n'
        '[[loop]]\nname = "knot"\na = "rod_end"\nb = "rocker_end"\njoint = "ball"\n'
    )


# ---- what is run -----------------------------------------------------------------------------


def test_a_scene_runs_and_is_summed_up() -> None:
    """A run tells its time, its pace and its energy, and shows the signals asked for."""
    found = linkwork("run", "gripper/follow", "--for", 0.5, "--watch", "arm/*angle")
    assert found.code == 0, found.err
    assert re.search(r"^arm/J1.angle +\d+\.\d{3} +\d+\.\d{3} +° *$", found.out, re.MULTILINE)
    assert re.search(r"^0.50 s simulated in \d+\.\d\d s, .* times real time\.$", found.out, re.M)
    assert re.search(r"^Energy .* J after the first step, .* J at the end\.$", found.out, re.M)
    assert "\x1b" not in found.out + found.err


def test_the_largest_gap_of_the_whole_run_is_told(tmp_path: Path) -> None:
    """The gap in the summary is the largest of all steps, not the last one's."""
    (tmp_path / "bars.toml").write_text(four_bar())
    found = linkwork(
        "run", "bars.toml", "--for", 0.5, "--csv", "-", "--watch", "world.gap", "--rate", 500,
        "--set", "world.gravity_x=8",
    )  # fmt: skip
    assert found.code == 0, found.err
    rows = list(csv.reader(io.StringIO(found.out)))[1:]
    gaps = [float(row[1]) for row in rows]
    assert len(rows) == 251
    reported = re.search(r"Largest loop gap (\S+) m, of ", found.err)
    assert reported is not None
    assert float(reported[1]) == pytest.approx(max(gaps), rel=0.01)
    assert max(gaps) > gaps[-1] > 0.0
    assert "approximated: bars.toml:" in found.err


def test_a_urdf_runs_by_itself(tmp_path: Path) -> None:
    """A URDF is put on the ground and runs; what it does not say is told."""
    (tmp_path / "pointer.urdf").write_text(URDF)
    found = linkwork("run", "pointer.urdf", "--for", 0.2, "--watch", "pointer/turn.angle")
    assert found.code == 0, found.err
    assert "note: elements that are not read: gazebo" in found.out
    assert "note: no joint has a drive" in found.out
    moved = linkwork(
        "run", "pointer.urdf", "--for", 1, "--engine", "kinematic",
        "--set", "pointer/turn.target_deg=30", "--watch", "pointer/turn.angle",
    )  # fmt: skip
    assert moved.code == 0, moved.err
    assert re.search(r"^pointer/turn.angle +30.000 +30.000 +°", moved.out, re.MULTILINE)
    assert "has a drive" not in moved.out


def lowest_by_points(shape: Shape, pose: Pose) -> float:
    """Height of the lowest of many points on a shape's surface."""
    angles = np.linspace(0.0, 2 * np.pi, 721)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
    match shape:
        case Box():
            corners = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
            points = corners * shape.size
        case Cylinder() | Cone():
            top = shape.top_radius if isinstance(shape, Cone) else shape.radius
            half = (0.0, 0.0, shape.length / 2)
            points = np.vstack([ring * shape.radius - half, ring * top + half])
        case Sphere() | Capsule():
            half = (0.0, 0.0, shape.length / 2 if isinstance(shape, Capsule) else 0.0)
            ball = np.vstack([
                ring * np.sin(t) + (0.0, 0.0, np.cos(t)) for t in np.linspace(0, np.pi, 361)
            ]) * shape.radius  # fmt: skip
            points = np.vstack([ball + half, ball - half])
        case _:
            raise AssertionError(shape)
    return float((points @ pose.matrix().T)[:, 2].min()) + pose.xyz[2]


@pytest.mark.parametrize(
    "shape",
    [
        Box(size=(0.3, 0.2, 0.1)),
        Sphere(radius=0.2),
        Capsule(radius=0.05, length=0.3),
        Cylinder(radius=0.1, length=0.3),
        Cone(radius=0.2, length=0.3, top_radius=0.05),
        Cone(radius=0.05, length=0.3, top_radius=0.2),
    ],
    ids=lambda shape: shape.kind,
)
@pytest.mark.parametrize("free", [True, False])
def test_a_part_alone_touches_the_ground(shape: Shape, free: bool) -> None:
    """A free part stands on its lowest point; a fixed one is only lifted out of the ground."""
    for height in (-0.4, 0.7):
        at = Pose.of((0.1, 0.2, height), rpy=(0.4, -0.7, 0.2))
        placed = Element("body", (shape.moved(at),), mass=1.0)
        part = Part("thing").add(placed)
        scene = part_on_ground(part, free=free)
        world = compile_scene(scene)
        where = forward(world, world.q0)[world.body("thing/body")]
        lowest = lowest_by_points(shape, at) + float(where[2])
        assert lowest == pytest.approx(0.0 if free or height < 0 else lowest, abs=1e-4)
        assert lowest > -1e-9
        assert scene.parts["thing"].base == ("free" if free else "fixed")


def test_a_free_part_stays_where_it_stands() -> None:
    """The tripod alone, put on its feet, sinks by less than a centimetre in a second."""
    found = linkwork("run", "tripod/tripod", "--free", "--for", 1, "--csv", "-", "--watch",
                     "tripod.z", "--rate", 10)  # fmt: skip
    assert found.code == 0, found.err
    heights = [float(row[1]) for row in list(csv.reader(io.StringIO(found.out)))[1:]]
    assert abs(heights[-1] - heights[0]) < 0.01
    assert linkwork("run", "tripod/level", "--free", "--for", 1).code == 1


@pytest.mark.capability(160)
def test_a_script_drives_a_part(tmp_path: Path) -> None:
    """A control program given on the command line moves the joints of a part."""
    (tmp_path / "follow.py").write_text(FOLLOW)
    found = linkwork(
        "run", "gripper/arm", "--program", "follow.py", "--on", "arm", "--for", 1,
        "--csv", "-", "--watch", "arm/J2.angle", "--watch", "arm/J3.angle",
    )  # fmt: skip
    assert found.code == 0, found.err
    first, *_, last = list(csv.reader(io.StringIO(found.out)))[1:]
    assert float(first[1]) == float(first[2]) == pytest.approx(np.radians(10))
    assert float(last[1]) == pytest.approx(0.6, abs=0.02)
    assert float(last[2]) == pytest.approx(float(last[1]), abs=0.02)


def test_a_program_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A missing program, a wrong part and a text that is no program end before the run, code 1."""
    (tmp_path / "follow.py").write_text(FOLLOW)
    (tmp_path / "none.py").write_text("x = 1")
    (tmp_path / "broken.py").write_text("def (")
    for words, reported in (
        (("missing.py",), "'missing.py' does not exist"),
        ((tmp_path,), "is a folder"),
        (("follow.py", "--on", "leg"), "there is no part named 'leg'. Available parts: arm."),
        (("follow.py", "--period", "0.003"), "not a whole multiple"),
        (("none.py",), "none.py: program 'none' defines no class"),
        (("broken.py",), "broken.py:1:"),
    ):
        found = linkwork("run", "gripper/arm", "--for", 1, "--program", *words)
        assert found.code == 1, words
        assert reported in found.err
        assert "simulated" not in found.out


def test_a_program_that_fails_ends_the_run(tmp_path: Path) -> None:
    """A failure in the midst names the program's line, keeps the recording, and gives code 4."""
    (tmp_path / "boom.py").write_text(
        "from linkwork import Control\nclass Boom(Control):\n    def loop(self):\n"
        "        if self.time > 0.2:\n            self.joint('J9').target = 1\n"
    )
    found = linkwork(
        "run", "gripper/arm", "--for", 1, "--program", "boom.py", "--record", "boom.mcap"
    )
    assert found.code == 4
    assert found.err.startswith("error: boom.py:5: program 'boom': there is no joint named 'J9'")
    assert found.err.count("error:") == 1
    assert "0.20 s simulated" in found.out
    again = linkwork("replay", "boom.mcap", "--events")
    assert again.code == 0, again.err
    assert re.search(r"0\.20\d s +error: boom.py:5:", again.out)


def test_a_run_without_its_bus_does_not_begin(tmp_path: Path) -> None:
    """A port that another has: code 4, the bus by its name, and what to do; nothing has run."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        (tmp_path / "cell.toml").write_text(
            ARM.format(more="").replace("port = 0", f"port = {number}")
        )
        found = linkwork("run", "cell.toml", "--for", 0.1)
        assert found.code == 4
        assert "error: part: it cannot be served: the TCP part cannot listen on" in found.err
        assert f"127.0.0.1:{number}" in found.err
        assert "error: bus 'part' cannot be served." in found.err
        assert "simulated" not in found.out
        assert linkwork("run", "cell.toml", "--for", 0.1, "--no-buses").code == 0


# ---- values, tables, files -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--set", "arm/J1.target=9"], "takes -0.698132 to 1.309 rad, not 9"),
        (["--set", "arm/J1.target=nan"], "finite numbers"),
        (["--set", "arm/J1.angle=0"], "is measured"),
        (["--set", "arm/J1.goal=0"], "there is no signal named 'arm/J1.goal'"),
        (["--set", "arm/J1.target"], "SIGNAL=NUMBER, not 'arm/J1.target'"),
        (["--set", "arm/J1.target=up"], "SIGNAL=NUMBER, not 'arm/J1.target=up'"),
        (["--watch", "arm/J9.angle"], "linkwork check gripper/arm --signals"),
        (["--watch", "*J9*"], "there is no signal named '*J9*'"),
        (["--engine", "steam"], "engine types: emulation, impulse, kinematic, lagrange, mujoco"),
        (["--csv", "nowhere/x.csv"], "nowhere/x.csv cannot be written"),
        (["--csv", "."], ". is a folder"),
        (["--record", "nowhere/x.mcap"], "nowhere"),
        (["--record", "."], ". is a folder"),
        (["--csv", "/dev/full", "--overwrite"], "/dev/full cannot be written: No space left"),
        (["--link", "taken.txt"], "taken.txt exists and is not a link file"),
        (["--link", "nowhere/link"], "nowhere/link cannot be written"),
    ],
)
def test_options_that_cannot_be_followed_are_told(
    tmp_path: Path, words: list[str], reported: str
) -> None:
    """Unknown signals, values out of range and places that cannot be written: one line, code 1."""
    (tmp_path / "taken.txt").write_text("mine")
    record = [] if "--record" in words else ["--record", "run.mcap"]
    found = linkwork("run", "gripper/arm", "--for", 0.1, *words, *record)
    assert found.code == 1, found
    assert found.err.startswith("error: ")
    assert reported in found.err
    assert (tmp_path / "taken.txt").read_text() == "mine"
    if "/dev/full" not in words:  # which is found out in the midst of the run
        assert not (tmp_path / "run.mcap").exists()


def test_the_table_holds_all_digits(tmp_path: Path) -> None:
    """A CSV file begins before the first step, has the rate asked for, and reads back exactly."""
    found = linkwork("run", "gripper/arm", "--for", 0.1, "--csv", "arm.csv", "--rate", 100)
    assert found.code == 0, found.err
    assert "Wrote 11 rows to arm.csv." in found.out
    with (tmp_path / "arm.csv").open() as file:
        heading, *rows = csv.reader(file)
    assert heading == ["time [s]", *(f"arm/J{n}.angle [rad]" for n in (1, 2, 3))]
    scene = part_on_ground(load_part("gripper/arm"))
    with Session(scene, watch=False) as session:
        for number, row in enumerate(rows):
            session.step(5 if number else 0)
            assert [float(cell) for cell in row[1:]] == session.state.q.tolist()
            assert float(row[0]) == pytest.approx(session.time)


def test_existing_files_are_replaced_only_when_told(tmp_path: Path) -> None:
    """A recording or table that exists stays as it is, unless --overwrite is given."""
    for name in ("run.mcap", "run.csv"):
        (tmp_path / name).write_text("precious")
    for option, name in (("--record", "run.mcap"), ("--csv", "run.csv")):
        found = linkwork("run", "gripper/arm", "--for", 0.1, option, name)
        assert found.code == 1
        assert f"{name} exists. Give --overwrite to replace it." in found.err
        assert (tmp_path / name).read_text() == "precious"
        assert linkwork("run", "gripper/arm", "--for", 0.1, option, name, "--overwrite").code == 0
        assert (tmp_path / name).read_bytes() != b"precious"


def test_quiet_says_nothing() -> None:
    """With --quiet only errors are printed."""
    found = linkwork("run", "gripper/follow", "--for", 0.1, "--quiet", "--watch", "arm/*")
    assert (found.code, found.out, found.err) == (0, "", "")


# ---- replay ----------------------------------------------------------------------------------


@pytest.mark.capability(156)
def test_a_recorded_run_replays_bit_for_bit(tmp_path: Path) -> None:
    """A run with values set at its start comes out the same again, and gives its signals anew."""
    made = linkwork(
        "run", "gripper/arm", "--for", 1.5, "--record", "run.mcap", "--set", "arm/J1.target=0.5",
        "--csv", "run.csv", "--rate", 4,
    )  # fmt: skip
    assert made.code == 0, made.err
    assert "linkwork replay run.mcap --verify" in made.out
    found = linkwork("replay", "run.mcap", "--verify")
    assert found.code == 0, found.err
    assert "1.500 s, 750 steps of 0.002 s, 1 messages in" in found.out
    assert "Bit-identical: 750 steps; 2 hashes, 1 keyframes, 93 snapshots and 0 events" in found.out
    words = ("replay", "run.mcap", "--csv", "again.csv", "--watch", "arm/*.angle", "--rate", 4)
    assert linkwork(*words).code == 0
    assert linkwork(*words).code == 1  # it exists now
    ran, again = ((tmp_path / name).read_text().splitlines() for name in ("run.csv", "again.csv"))
    assert again[0] == ran[0]
    assert again[2:] == ran[2:]  # the first rows are of step 0 and of step 1


def test_coordinates_are_written_by_default(tmp_path: Path) -> None:
    """``replay --csv`` alone writes the coordinates of each second."""
    linkwork("run", "gripper/arm", "--for", 1.2, "--record", "run.mcap")
    found = linkwork("replay", "run.mcap", "--csv", "q.csv")
    assert found.code == 0, found.err
    rows = list(csv.reader((tmp_path / "q.csv").open()))
    assert rows[0] == ["segment", "step", "time", "q[0]", "q[1]", "q[2]"]
    assert [row[1] for row in rows[1:]] == ["0", "500"]


def test_a_run_that_is_not_repeatable_is_found_out(tmp_path: Path) -> None:
    """A program that looks at the wall clock replays differently: code 3, and where."""
    (tmp_path / "moody.py").write_text(
        "import time\nfrom linkwork import Control\nclass Moody(Control):\n    def loop(self):\n"
        "        self.joint('J2').target = (time.time_ns() % 100_000) * 1e-6\n"
    )
    made = linkwork(
        "run", "gripper/arm", "--for", 1.2, "--program", "moody.py", "--record", "run.mcap"
    )
    assert made.code == 0, made.err
    found = linkwork("replay", "run.mcap", "--verify")
    assert found.code == 3
    assert (
        "Not the same: at 0.016 s (step 8): the recorded value of arm/J2.target differs"
        in found.out
    )


def test_a_recording_that_was_cut_off_is_mended(tmp_path: Path) -> None:
    """What a killed run left is told as such, and a whole copy can be written."""
    linkwork("run", "gripper/arm", "--for", 2.2, "--record", "run.mcap")
    whole = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    found = linkwork("replay", "cut.mcap", "--repair", "mended.mcap")
    assert found.code == 0, found.err
    assert "note: It was not closed" in found.out
    mended = linkwork("replay", "mended.mcap", "--verify")
    assert mended.code == 0, mended.err
    assert "not closed" not in mended.out
    assert "Bit-identical" in mended.out


# ---- the live display ------------------------------------------------------------------------


class Terminal(Screen):
    """A screen of 24 lines that is a text."""

    def __init__(self) -> None:
        self.text = io.StringIO()
        Console.__init__(
            self, file=self.text, force_terminal=True, width=80, height=24, highlight=False,
            markup=False, emoji=False, color_system=None,
        )  # fmt: skip


def test_the_display_shows_signals_time_and_progress() -> None:
    """On a terminal a table of signals, the time and a bar are drawn; long tables are cut."""
    screen = Terminal()
    with (
        Session("tripod/level", watch=False) as session,
        show_live(screen, session, [], 2.0) as draw,
    ):
        session.step(500)
        draw(session.time)
    shown = screen.text.getvalue()
    assert "tripod/leg1/hip.angle" in shown
    assert "level  1.00 of 2 s" in shown
    assert "━" in shown
    with Session("tripod/level", watch=False) as session:
        everything = [signal.name for signal in session.signals]
        screen = Terminal()
        screen.print(LiveDisplay(session, everything, None, 24).renderable())
    assert f"… and {len(everything) - 14} more; pick with --watch" in screen.text.getvalue()
    assert screen.text.getvalue().count("\n") < 24


def test_the_display_tells_a_pause_and_a_late_clock() -> None:
    """A session that stands still, or cannot keep up, is shown as such."""
    with Session("gripper/follow", watch=False) as session:
        display = LiveDisplay(session, [], None, 24)
        session.running = False
        session.clock.lateness = 2.0
        screen = Terminal()
        screen.print(display.renderable())
    assert "paused" in screen.text.getvalue()
    assert "2.0 s late" in screen.text.getvalue()


# ---- warmup ----------------------------------------------------------------------------------


def test_warmup_runs_one_of_each() -> None:
    """What is compiled ahead includes every sensor and actuator of the package."""
    from linkwork.cli.warmup_cases import one_of_each

    built_in = one_of_each()
    package = "linkwork."
    for registry, specs in ((SENSORS, built_in.sensors), (ACTUATORS, built_in.actuators)):
        ours = {n for n in registry.names() if registry.get(n).__module__.startswith(package)}
        assert ours <= {spec.type for spec in specs}
    found = linkwork("warmup")
    assert found.code == 0, found.err
    assert "ready after" in found.out
