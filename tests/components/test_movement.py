"""Movements: postures at times in a file, and the agent that plays them."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.components.agents.movement_player import MovementPlayer
from linkwork.core.errors import LinkworkError
from linkwork.model.scene.archive import pack
from linkwork.model.scene.movement import Track
from linkwork.session.messages import SwapScene
from linkwork.session.session import Session

HEAD = 'format = "linkwork/movement 1"\nname = "nod"\n'
NOD = (
    HEAD
    + """interpolation = "linear"

[[posture]]
time = 0.5
joints_deg = { J1 = 10, J2 = 0 }

[[posture]]
time_ms = 1500
joints_deg = { J1 = 30 }

[[posture]]
time = 2
joints_deg = { J2 = 60 }
joints = { J1 = 0.1 }
"""
)


def arm(folder: Path, text: str = NOD, **params: object) -> lw.Scene:
    """The gripper's arm, moved by joints that follow exactly, with a movement to play."""
    (folder / "nod.toml").write_text(text)
    scene = lw.Scene("s", step=0.01).place(lw.load_part("gripper/arm"), name="arm")
    scene.engine("kinematic")
    given = {"file": str(folder / "nod.toml"), "on": "arm", **params}
    return scene.agent("play", "movement", **given)


@pytest.mark.capability(171)
def test_a_movement_is_played_from_its_file(tmp_path: Path) -> None:
    """Each joint goes straight through the postures that name it, and stays in the last."""
    with Session(arm(tmp_path), watch=False) as session:
        for _ in range(250):
            session.step()
            t = session.time
            j1 = np.interp(t, [0.5, 1.5, 2.0], [math.radians(10), math.radians(30), 0.1])
            j2 = np.interp(t, [0.5, 2.0], [0.0, math.radians(60)])
            assert session["arm/J1.target"] == pytest.approx(j1, abs=1e-9)
            assert session["arm/J2.target"] == pytest.approx(j2, abs=1e-9)
        assert session["play.time"] == 2.0
        assert session.signals.owners["arm/J1.target"] == "play"
        assert "arm/J3.target" not in session.signals.owners


@pytest.mark.capability(171)
def test_start_speed_and_repeat(tmp_path: Path) -> None:
    """Begun at 1 s, twice as fast, the movement is over after one second and begins again."""
    scene = arm(tmp_path, start=1.0, speed=2.0, repeat=True)
    with Session(scene, watch=False) as session:
        session.step(99)
        assert "arm/J1.target" not in session.signals.owners
        for n in range(250):
            session.step()  # the first ends at 1 s
            t = (2.0 * 0.01 * n) % 2.0
            j1 = np.interp(t, [0.5, 1.5, 2.0], [math.radians(10), math.radians(30), 0.1])
            assert session["arm/J1.target"] == pytest.approx(j1, abs=1e-9)


def test_speed_is_a_signal(tmp_path: Path) -> None:
    """At speed 0 the posture is held, as the person who sets it wants."""
    with Session(arm(tmp_path), watch=False) as session:
        session.run(1.0)
        session["play.speed"] = 0.0
        session.step()
        held, now = session["arm/J1.target"], session["play.time"]
        session.run(1.0)
        assert (session["arm/J1.target"], session["play.time"]) == (held, now)
        session["play.speed"] = 0.5
        session.run(0.4)
        assert session["play.time"] == pytest.approx(now + 0.2, abs=0.006)


def test_a_ramp_leads_from_where_the_joints_are(tmp_path: Path) -> None:
    """(1 − s)·first + s·movement while s rises evenly."""
    scene = arm(tmp_path, ramp=0.4)
    with Session(scene, watch=False) as session:
        first = session["arm/J1.target"]
        for n in range(1, 61):
            session.step()
            s = min(n * 0.01 / 0.4, 1.0)
            wanted = first + s * (np.interp(n * 0.01, [0.5, 1.5], np.radians([10, 30])) - first)
            assert session["arm/J1.target"] == pytest.approx(wanted, abs=1e-9)


def test_a_recording_replays_what_was_played_whatever_the_file_says_now(tmp_path: Path) -> None:
    """The text that runs is recorded, not what its file says when the recording begins."""
    with Session(arm(tmp_path), watch=False) as session:
        session.run(0.6)
        (tmp_path / "nod.toml").write_text(HEAD + "# gone\n")
        session.record(tmp_path / "run.mcap")
        session.run(1.2)
        session.end_recording()
    result = lw.replay(tmp_path / "run.mcap")
    assert result.same, result.mismatch


def test_a_smooth_track_is_the_monotone_cubic() -> None:
    """Evenly spaced, slopes are harmonic means, 0 where it turns; speed has no jump."""
    times, values = [0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 1.5, -0.5, -0.6]
    track = Track(times, values, "smooth")
    rises = np.diff(values)
    inner = [2 * a * b / (a + b) if a * b > 0 else 0.0 for a, b in pairwise(rises)]
    slopes = [0.0, *inner, 0.0]
    for n in range(4):  # Hermite's cubic at the middle of each piece
        middle = (values[n] + values[n + 1]) / 2 + (slopes[n] - slopes[n + 1]) / 8
        assert track.value(n + 0.5) == pytest.approx(middle, abs=1e-15)
    e = 1e-6
    for n, slope in enumerate(slopes[1:-1], start=1):
        assert (track.value(n) - track.value(n - e)) / e == pytest.approx(slope, abs=1e-5)
        assert (track.value(n + e) - track.value(n)) / e == pytest.approx(slope, abs=1e-5)
    found = [track.value(t) for t in np.linspace(0.0, 4.0, 401)]
    assert (min(found), max(found)) == (-0.6, 1.5)
    assert (track.value(-1.0), track.value(9.0)) == (0.0, -0.6)


def test_one_point_and_two_points_are_smooth_too() -> None:
    """A single posture is held; two are joined by 3s² − 2s³."""
    assert Track([1.0], [2.0], "smooth").value(0.0) == 2.0
    track = Track([0.0, 2.0], [1.0, 3.0], "smooth")
    for s in (0.0, 0.25, 0.5, 1.0):
        assert track.value(2.0 * s) == pytest.approx(1.0 + 2.0 * (3 * s**2 - 2 * s**3), abs=1e-15)


def test_python_and_file_say_the_same(tmp_path: Path) -> None:
    """A movement made in Python, saved and read again, is equal; angles stand in degrees."""
    pairs = [(0.0, {"a": math.radians(30), "b": 0.02}), (1.0, {"a": 0.1234567})]
    made = lw.Movement.of("m", pairs, interpolation="hold", angles=frozenset({"a"}))
    lw.save(made, tmp_path / "m.toml")
    text = (tmp_path / "m.toml").read_text()
    assert "joints_deg = { a = 30 }" in text
    read = lw.load_movement(tmp_path / "m.toml")
    assert read == made
    assert read.at(0.5) == {"a": math.radians(30), "b": 0.02}
    lw.save(read, tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_text() == text


@pytest.mark.capability(171)
def test_check_tells_what_a_movement_holds(tmp_path: Path) -> None:
    """`linkwork check` validates a movement's file and lists its joints."""
    done = linkwork("check", "bioloid/greet")
    assert done.code == 0, done.err
    assert "9 postures of 13 joints in 7 s, smooth" in done.out
    (tmp_path / "m.toml").write_text(NOD.replace("time_ms", "tme_ms"))
    done = linkwork("check", str(tmp_path / "m.toml"))
    assert done.code == 1
    assert "m.toml:" in done.err
    assert "time_ms" in done.err


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        (HEAD, "at least one posture"),
        (HEAD + "[[posture]]\njoints = { J1 = 0 }", "needs 'time'"),
        (HEAD + "[[posture]]\ntime = 0", "needs 'joints'"),
        (HEAD + "[[posture]]\ntime = 0\njoints = {}", "names no joint"),
        (HEAD + "[[posture]]\ntime = -1\njoints = { J1 = 0 }", "must be a number, 0 or more"),
        (HEAD + "interpolation = 'smoth'", "Did you mean 'smooth'?"),
        (
            NOD.replace("time_ms = 1500", "time = 0.4"),
            "nod.toml:9: movement 'nod': times must",
        ),
        (NOD.replace("joints = { J1", "joints = { J2"), "is given twice"),
        (NOD.replace("joints = { J1", "joints_mm = { J1"), "an angle in one posture and a length"),
        (NOD.replace("J2 = 60", "J22 = 60"), "nod.toml:13: there is no joint named 'J22'"),
        (
            NOD.replace("joints_deg = { J2", "joints_mm = { J3"),
            "J3 is an angle, but is given",
        ),
        (NOD.replace("movement 1", "movment 1"), "Did you mean 'linkwork/movement 1'?"),
        ('format = "linkwork/part 1"\nname = "p"\n', "holds no movement"),
    ],
)
def test_mistakes_name_their_place(tmp_path: Path, text: str, expected_text: str) -> None:
    """Whatever is wrong in the file or does not fit the robot is told before the first step."""
    with pytest.raises(LinkworkError) as caught:
        Session(arm(tmp_path, text), watch=False)
    assert expected_text in str(caught.value)


def test_a_movement_beyond_the_range_of_a_servo_is_refused(tmp_path: Path) -> None:
    """A dynamic engine cannot follow it; the kinematic one does, and reports it."""
    scene = arm(tmp_path, NOD.replace("J2 = 60", "J2 = 600"))
    with Session(scene, watch=False) as session:
        session.run(2.0)
        assert session["arm/J2.angle"] == pytest.approx(math.radians(600.0))
        assert ("arm/J2", "range") in {(f.joint, f.limit) for f in session.report().limits}
    scene.engines.clear()
    with pytest.raises(LinkworkError, match=r"goes from 0 to 10\.472 rad"):
        Session(scene.engine("mujoco"), watch=False)


def test_a_movement_is_no_part_and_no_scene() -> None:
    """Loaded as one, it says what it is; in a kit it is listed as neither."""
    with pytest.raises(LinkworkError, match=r"this is a movement.*load_movement"):
        lw.load("bioloid/greet")
    with pytest.raises(LinkworkError, match="holds no movement"):
        lw.load_movement("gripper/arm")
    times = [p.time for p in lw.load_movement("bioloid/greet").postures]
    assert all(b > a for a, b in pairwise(times))


ROBOT = """<robot>
  <solids>
    <cuboid><ID value='0'/><pos x='0' y='0' z='0.2'/><size x='0.1' y='0.1' z='0.1'/>
      <mass value='1'/><desc Eng='Trunk'/></cuboid>
    <cuboid><ID value='1'/><pos x='0' y='0' z='0.05'/><size x='0.05' y='0.05' z='0.1'/>
      <mass value='0.2'/><desc Eng='Leg'/></cuboid>
  </solids>
  <articulations>
    <joint><ID value='7'/><pos x='0' y='0' z='0.12'/><axis x='0' y='1' z='0'/>
      <connect B1='0' B2='1'/><limits Min='-98' Max='32'/><type value='Hinge'/>
      <servo P='5' D='0.1'/><desc Eng='Left Knee'/></joint>
  </articulations>
  <movements>
    <movement><ID value='1'/><desc Pt='Chutar'/><desc Eng='Kick'/>
      <posture><time value='0'/><joint ID='7' value='0'/></posture>
      <posture><time value='1'/><joint ID='7' value='-60'/></posture>
    </movement>
    <movement><ID value='2'/>
      <posture><time value='0'/><joint ID='7' value='10'/></posture>
    </movement>
  </movements>
</robot>
"""


@pytest.mark.capability(157, 171)
def test_movements_of_a_humanoids_xml_are_played(tmp_path: Path) -> None:
    """The file that holds the robot holds its movements; the agent plays the one it names."""
    file = tmp_path / "kicker.xml"
    file.write_text(ROBOT)
    kick = lw.load_movement(file, "kick")
    assert kick.labels == {"en": "Kick", "pt": "Chutar"}
    assert (kick.duration, len(kick.joints())) == (1.0, 1)
    scene = lw.Scene("s", step=0.01).place(lw.load_part(file), name="robot")
    scene.engine("kinematic").agent("play", "movement", file=str(file), movement="kick")
    with Session(scene, watch=False) as session:
        session.step(50)
        target = session[f"robot/{kick.joints()[0]}.target"]
        assert target == pytest.approx(math.radians(-30), abs=1e-9)
    with pytest.raises(LinkworkError, match=r"holds 2 movements: kick, movement_2"):
        lw.load_movement(file)
    file.write_text(ROBOT.replace("<joint ID='7' value='-60'/>", "<joint ID='8' value='-60'/>"))
    with pytest.raises(LinkworkError, match=r"kicker\.xml:16: a posture names joint 8"):
        lw.load_movement(file, "kick")


def test_a_swap_plays_another_text_with_other_joints(tmp_path: Path) -> None:
    """The text of a swap in place of the archive's: the state has room for the joints it names."""
    scene = arm(tmp_path, ramp=0.1)
    one = HEAD + "[[posture]]\ntime = 0.5\njoints_deg = { J1 = 20 }\n"
    with Session(arm(tmp_path, ramp=0.1), watch=False) as session:
        session.send(SwapScene(pack(scene), {}, {"play": one}))
        for _ in range(30):
            session.step()
        (player,) = session.cycle.agents
        assert isinstance(player, MovementPlayer)
        assert player.source == one
        assert player.slot("first").shape == (1,)
        assert session["arm/J1.target"] == pytest.approx(math.radians(20))
