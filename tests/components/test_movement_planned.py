"""Movements with planners: in files, on the command line, played by a robot."""

import csv
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from components.test_movement import ROBOT
from linkwork.components.actuators.fit_trial import simulate_response
from linkwork.components.actuators.smart_params import servo_models
from linkwork.components.agents.servo_limits import servo_limits
from linkwork.core.errors import LinkworkError
from linkwork.formats.toml.movement import movement_text
from linkwork.model.parts import Spec
from linkwork.model.world import compile_scene
from linkwork.motion.profiles import MotionLimits, MotorLosses, UnreachableWaypoint
from linkwork.motion.profiles.movement_profiles import plan_movement, time_optimal
from linkwork.session.session import Session

HEAD = 'format = "linkwork/movement 1"\nname = "nod"\nplanner = "acceleration"\n'
NOD = (
    HEAD
    + """max_speed_deg = 120
max_acceleration_deg = { J1 = 900 }
max_acceleration = 20

[[losses]]
joints = ["J1"]
inertia = 0.01
copper = 3

[[losses]]
inertia = 0.02
recuperation = 0.5

[[posture]]
time = 0
joints_deg = { J1 = 10, J2 = 0 }

[[posture]]
time_ms = 1000
joints_deg = { J1 = 40 }
speeds_deg = { J1 = 25 }

[[posture]]
time = 2
joints_deg = { J1 = 20, J2 = 60 }
planner = "cruise"
"""
)


def arm(folder: Path, text: str = NOD, **params: object) -> lw.Scene:
    (folder / "nod.toml").write_text(text)
    scene = lw.Scene("s", step=0.01).place(lw.load_part("gripper/arm"), name="arm")
    scene.engine("kinematic")
    given = {"file": str(folder / "nod.toml"), "on": "arm", **params}
    return scene.agent("play", "movement", **given)


def test_a_file_says_planner_limits_losses_and_speeds(tmp_path: Path) -> None:
    """All of it is read, and written so that it reads back the same."""
    (tmp_path / "nod.toml").write_text(NOD)
    made = lw.load_movement(tmp_path / "nod.toml")
    deg = math.radians
    assert made.planner == "acceleration"
    assert made.limits == {
        "J1": MotionLimits(deg(120), deg(900)),
        "J2": MotionLimits(deg(120), 20.0),
    }
    assert made.losses == {
        "J1": MotorLosses(0.01, copper=3.0), "J2": MotorLosses(0.02, recuperation=0.5),
    }  # fmt: skip
    assert made.postures[1].speeds == {"J1": deg(25)}
    assert [each.planner for each in made.postures] == ["", "", "cruise"]
    lw.save(made, tmp_path / "again.toml")
    assert lw.load_movement(tmp_path / "again.toml") == made


@pytest.mark.capability(165, 171)
def test_a_planned_movement_is_played(tmp_path: Path) -> None:
    """The target is the plan at every step; speeds are met, and nothing goes beyond its limits."""
    with Session(arm(tmp_path), watch=False) as session:
        variants = plan_movement(lw.load_movement(tmp_path / "nod.toml"))
        for _ in range(220):
            session.step()
            t = session.time
            for joint, way in variants.items():
                wanted = float(way.states(t)[0])
                assert session[f"arm/{joint}.target"] == pytest.approx(wanted, abs=1e-12)
    assert math.degrees(variants["J1"].states(1.0)[1]) == pytest.approx(25.0)
    for way in variants.values():
        assert math.degrees(way.peak_speed) <= 120.0
        low, high = way.extent()
        assert way.value(2.0) in (low, pytest.approx(math.radians(20)), high)


def test_a_joints_own_speed_limits_its_plan(tmp_path: Path) -> None:
    """max_speed of the part's joint holds too; refused before the first step, with the line."""
    part = lw.load_part("gripper/arm")
    own = part.joints["J1"].max_speed
    assert own is not None
    far = f"joints_deg = {{ J1 = {math.degrees(own) * 0.6:.3f} }}"
    text = HEAD + f"[[posture]]\ntime = 0\njoints = {{ J1 = 0 }}\n[[posture]]\ntime = 1\n{far}\n"
    with pytest.raises(
        UnreachableWaypoint, match=r"nod\.toml:7: J1 cannot go .* Nearest: there at 1\.2 s"
    ):
        Session(arm(tmp_path, text), watch=False)
    cruising = text.replace('"acceleration"', '"cruise"')
    with Session(arm(tmp_path, cruising), watch=False) as session:
        session.run(1.1)
        assert session["arm/J1.target"] == pytest.approx(own * 0.6, abs=1e-5)


def test_a_servo_limits_the_plan(tmp_path: Path) -> None:
    """Speed and acceleration of the joint's smart servo, or of its model, hold too."""
    part = lw.load_part("gripper/arm")
    text = HEAD + "[[posture]]\ntime = 0\njoints = { J1 = 0 }\n"
    text += "[[posture]]\ntime = 0.5\njoints_deg = { J1 = 30 }\n"
    (tmp_path / "nod.toml").write_text(text)
    cube = math.degrees(servo_models()["PowerCube"].params["max_acceleration"])
    for drive, expected_text in (
        ({"max_acceleration": math.radians(200)}, "it needs 480°/s² where 200°/s² is allowed"),
        ({"max_speed": math.radians(100)}, "it needs 120°/s where 100°/s is allowed"),
        ({"model": "PowerCube"}, f"where {cube:.4g}°/s² is allowed"),
    ):
        servo = Spec("actuator", "smart_servo", params=drive)
        part.joints["J1"] = replace(part.joints["J1"], drive=servo, max_speed=None)
        scene = lw.Scene("s", step=0.01).place(part, name="arm")
        scene.agent("play", "movement", file=str(tmp_path / "nod.toml"), on="arm")
        with pytest.raises(UnreachableWaypoint, match=expected_text):
            Session(scene, watch=False)


@pytest.mark.capability(168)
def test_a_ready_servos_free_speed_limits_the_plan(tmp_path: Path) -> None:
    """Where nobody states a speed, what the motor does without load at its supply is the limit.

    The truth is a run: the servo alone, told to go far, gets as fast as the limit says.
    """
    part = lw.load_part("gripper/arm")
    model = servo_models()["AX-12"].params
    (tmp_path / "nod.toml").write_text(
        HEAD + "[[posture]]\ntime = 0\njoints = { J1 = 0 }\n"
        "[[posture]]\ntime = 0.3\njoints_deg = { J1 = 60 }\n"
    )
    for supply in (9.6, 12.0):
        servo = Spec("actuator", "smart_servo", params={"model": "AX-12", "supply": supply})
        part.joints["J1"] = replace(part.joints["J1"], drive=servo, max_speed=None)
        scene = lw.Scene("s", step=0.01).place(part, name="arm")
        run = simulate_response(np.full(3000, 1e3), {**model, "supply": supply}, inertia=1e-4)
        world = compile_scene(scene)
        found = servo_limits(world, world.single_dof("arm/J1"))
        assert found.speed == pytest.approx(run.speed[-1], rel=1e-3)
        rotor = model["rotor_inertia"] * model["gear"] ** 2
        assert found.acceleration < 1.01 * model["stall_effort"] / rotor * supply / 12.0
        assert found.acceleration > 0.9 * model["stall_effort"] / rotor * supply / 12.0
        scene.agent("play", "movement", file=str(tmp_path / "nod.toml"), on="arm")
        fastest = f"{math.degrees(run.speed[-1]):.0f}"[:2]
        with pytest.raises(
            UnreachableWaypoint, match=rf"{fastest}.*°/s.*by the free speed of its servo"
        ):
            Session(scene, watch=False)


def test_the_largest_effort_of_a_servo_or_its_joint_limits_the_plan() -> None:
    """The truth is a run: the servo alone, told to go far, takes off as hard as the limit says."""
    part = lw.load_part("gripper/arm")
    model = servo_models()["AX-12"].params | {"backlash": 0.0}
    for own, joint in ((0.2, None), (None, 0.2)):
        given = {"model": "AX-12"} | ({"max_effort": own} if own else {})
        servo = Spec("actuator", "smart_servo", params=given)
        part.joints["J1"] = replace(
            part.joints["J1"], drive=servo, max_speed=None, max_effort=joint
        )
        world = compile_scene(lw.Scene("s", step=0.01).place(part, name="arm"))
        found = servo_limits(world, world.single_dof("arm/J1"))
        run = simulate_response(np.full(4000, 1e4), {**model, "max_effort": 0.2}, inertia=1e-9)
        assert found.acceleration == pytest.approx(run.speed[1] / 2e-3, rel=0.01)
        assert found.speed == pytest.approx(run.speed[-1], rel=1e-3)


def test_no_plan_replaces_the_robot(tmp_path: Path) -> None:
    """The robot that limits a movement, or holds it, is a source too."""
    robot, nod = tmp_path / "hum.toml", tmp_path / "nod.toml"
    assert linkwork("convert", "bioloid/humanoid", robot).code == 0
    assert linkwork("convert", "bioloid/neck", nod).code == 0
    before = robot.read_bytes()
    for words in (("plan", nod, "--robot", robot, "--out", robot),
                  ("convert", nod, robot, "--robot", robot)):  # fmt: skip
        done = linkwork(*words, "--overwrite")
        assert done.code == 1
        assert "is the source itself" in done.err
        assert robot.read_bytes() == before


def test_the_command_plans_within_a_robots_limits(tmp_path: Path) -> None:
    """--robot lists the limits and who sets them; --soonest keeps to them."""
    (tmp_path / "turn.toml").write_text(
        'format = "linkwork/movement 1"\nname = "turn"\nplanner = "cruise"\n'
        "max_acceleration_deg = 4000\n[[posture]]\ntime = 0\njoints_deg = { neck = -100 }\n"
        "[[posture]]\ntime = 9\njoints_deg = { neck = 100 }\n"
    )
    done = linkwork("plan", tmp_path / "turn.toml", "--robot", "bioloid/smart", "--soonest")
    assert done.code == 0, done.err
    row = next(line for line in done.out.splitlines() if line.startswith("neck "))
    assert " ".join(row.split()[1:]) == "281°/s the joint 4000°/s² the movement"
    words = ("--max-acceleration-deg", "900")
    reported = linkwork(
        "plan", tmp_path / "turn.toml", "--robot", "bioloid/smart", "--soonest", *words
    )
    row = next(line for line in reported.out.splitlines() if line.startswith("neck "))
    assert " ".join(row.split()[1:]) == "281°/s the joint 900°/s² --max-acceleration-deg"
    assert linkwork("plan", "bioloid/neck", "--robot", "gripper/arm").code == 1


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        (("acceleration", "acceleraton"), "Did you mean 'acceleration'?"),
        (('planner = "acceleration"', ""), "nod.toml:26: movement 'nod': a posture has"),
        (("time = 0\n", 'time = 0\nplanner = "fast"\n'), "must be one of acceleration, speed"),
        (("speeds_deg = { J1", "speeds_deg = { J2"), "J2 has a speed but no value"),
        (("speeds_deg", "speeds_mm"), "an angle in one posture and a length"),
        (("900", "0"), "must be above 0"),
        (("{ J1 = 900", "{ J7 = 900"), "there is no joint named 'J7'"),
        (('["J1"]', '["J9"]'), "nod.toml:9: there is no joint named 'J9'"),
        (("inertia = 0.01", "inertia = 0"), "'inertia' must be above 0"),
        (("= 120", "= 20"), "J1 cannot go from 10° at 0°/s to 40° at 25°/s"),
        (('planner = "acceleration"', 'planner = "acceleration"\ninterpolation = "smooth"'),
         "a planner and an interpolation"),
        (('planner = "acceleration"', 'planner = "jerk"'), "needs a maximum jerk. Give max_jerk."),
    ],
)  # fmt: skip
def test_mistakes_name_their_place(
    tmp_path: Path, change: tuple[str, str], expected_text: str
) -> None:
    """What is wrong with planning is told before the first step, with file and line."""
    with pytest.raises(LinkworkError) as caught:
        Session(arm(tmp_path, NOD.replace(*change, 1)), watch=False)
    assert expected_text in str(caught.value)
    assert "nod.toml" in str(caught.value)


@pytest.mark.capability(165)
def test_the_command_writes_ways_as_csv(tmp_path: Path) -> None:
    """`linkwork plan nod.toml --out nod.csv`: position, speed, acceleration of each joint."""
    file, out = tmp_path / "nod.toml", tmp_path / "nod.csv"
    file.write_text(NOD)
    done = linkwork("plan", file, "--out", out, "--rate", "50")
    assert done.code == 0, done.err
    assert "3 postures of 2 joints in 2 s, least acceleration. 101 rows written" in done.out
    rows = list(csv.reader(out.open()))
    heads = ["time [s]", "J1.target [rad]", "J1.speed [rad/s]", "J1.acceleration [rad/s²]"]
    assert rows[0][:4] == heads
    data = np.array(rows[1:], dtype=float)
    variants = plan_movement(lw.load_movement(file))
    np.testing.assert_array_equal(data[:, 1:4].T, variants["J1"].states(data[:, 0]))
    assert (data[0, 0], data[-1, 0]) == (0.0, 2.0)
    shown = linkwork("plan", file, "--out", "-", "--rate", "10")
    assert len(shown.out.splitlines()) == 22


def test_the_command_takes_another_planner_limits_and_the_soonest_times(tmp_path: Path) -> None:
    """--planner, --max-…-deg and --soonest; what cannot be met ends with code 1."""
    file = tmp_path / "nod.toml"
    file.write_text(NOD)
    for planner in ("speed", "energy", "cruise"):
        done = linkwork("plan", file, "--planner", planner)
        assert done.code == 0, done.err
    done = linkwork("plan", file, "--planner", "jerk", "--max-jerk-deg", "20000")
    assert done.code == 0, done.err
    assert "planner 'jerk'" in done.out
    done = linkwork("plan", file, "--max-acceleration-deg", "40")
    assert done.code == 1
    assert "nod.toml" in done.err
    assert "Nearest:" in done.err
    done = linkwork("plan", file, "--soonest")
    assert done.code == 0, done.err
    head, _, second = (line.split()[:3] for line in done.out.splitlines()[:3])
    assert dict(zip(head, second, strict=True)) == {"joint": "J2", "least": "0°", "most": "60°"}
    done = linkwork("plan", file, "--soonest", "--max-speed-deg", "20")
    assert "at 25°/s in any time: a wanted speed of 25°/s is above 20°/s" in done.err
    assert "1e-09" not in done.err
    for words, expected_text in [
        (["--rate", "0"], "--rate must be above 0"),
        (["--planner", "quick"], "there is no planner 'quick'"),
        (["--max-acceleration-deg", "-5"], "--max-acceleration-deg must be above 0, not -5."),
        (["--from", "0,0,0"], "--from and --to together"),
        (["--from", "0,0,0", "--to", "1,1,1"], "either a file or"),
    ]:
        done = linkwork("plan", file, *words)
        assert done.code == 1
        assert expected_text in done.err
    done = linkwork("plan", "--from", "0,0", "--to", "1,1,1")
    assert "expected angle,speed,time" in done.err
    done = linkwork("plan", "bioloid/greet")
    assert "has no planner" in done.err
    done = linkwork("plan", file, "--out", tmp_path / "no" / "where.csv")
    assert done.code == 1
    assert "cannot be written" in done.err


LIFT = (
    HEAD
    + """max_speed = 2
[[posture]]
time = 0
joints_deg = { J1 = 0 }
joints_mm = { lift = 0 }
[[posture]]
time = 1
joints_deg = { J1 = 30 }
joints_mm = { lift = 400 }
"""
)


def test_the_command_knows_metres_from_radians(tmp_path: Path) -> None:
    """Limits of angles are for joints that turn; what the file does not say is not made up."""
    file, out = tmp_path / "lift.toml", tmp_path / "lift.csv"
    file.write_text(LIFT)
    done = linkwork("plan", file, "--max-speed-deg", "90", "--out", out)
    assert done.code == 0, done.err  # 0.8 m/s would be 46°/s, and 1 rad/s 57°/s
    assert "0.4 m" in done.out
    assert "J1.speed [rad/s],J1.acceleration [rad/s²],lift.target [m]," in out.read_text()
    done = linkwork("plan", file, "--max-speed-deg", "61")
    assert done.code == 0, done.err
    assert "lift.toml" in linkwork("plan", file, "--max-speed-deg", "50").err

    file.write_text(LIFT.replace("joints_mm", "joints").replace("400", "0.4"))
    done = linkwork("plan", file, "--out", out, "--overwrite")
    assert done.code == 0, done.err
    assert "lift.target [rad or m],lift.speed [rad/s or m/s]" in out.read_text()
    done = linkwork("plan", file, "--max-speed-deg", "90")
    assert done.code == 1
    assert "does not say whether 'lift' is a hinge or a slider" in done.err


def test_a_movement_that_slides_is_saved_in_millimeters(tmp_path: Path) -> None:
    """So that whoever reads it again knows; values that millimetres would change are in metres."""
    file = tmp_path / "lift.toml"
    file.write_text(LIFT.replace("lift = 400", "lift = 100.1").replace("max_speed = 2", ""))
    movement = lw.load_movement(file)
    text = movement_text(movement)
    assert "joints_mm" in text
    file.write_text(text)
    again = lw.load_movement(file)
    assert again == movement
    assert (again.lengths, again.angles) == ({"lift"}, {"J1"})
    odd = replace(movement.postures[1], joints={"J1": 0.1, "lift": 1.0 / 3.0})
    file.write_text(movement_text(replace(movement, postures=(movement.postures[0], odd))))
    assert lw.load_movement(file).postures[1].joints["lift"] == 1.0 / 3.0


def test_the_soonest_times_leave_nothing_over(tmp_path: Path) -> None:
    """Each step is as short as its slowest joint allows; a little faster is refused."""
    (tmp_path / "nod.toml").write_text(NOD)
    quick = time_optimal(lw.load_movement(tmp_path / "nod.toml"))
    times = [each.time for each in quick.postures]
    assert all(b > a for a, b in pairwise(times))
    plan_movement(quick)
    for n in (1, 2):
        less = 0.002 * (times[n] - times[n - 1])
        hurried = tuple(
            replace(each, time=each.time - less * (k >= n)) for k, each in enumerate(quick.postures)
        )
        with pytest.raises(UnreachableWaypoint):
            plan_movement(replace(quick, postures=hurried))


XML = (
    ROBOT.partition("    <movement>")[0]
    + """\
    <movement><ID value='1'/><desc Eng='Kick'/>
      <planner value='acceleration'/><speed Max='281'/><acceleration Max='1400'/>
      <posture><time value='3'/><joint ID='7' value='0' speed='20'/></posture>
      <posture><time value='4'/><planner value='speed'/>
        <joint ID='7' value='27' speed='30'/></posture>
    </movement>
  </movements>
</robot>
"""
)


@pytest.mark.parametrize("words", [("--planner", "speed"), ("--soonest",), ("--out", "w.csv")])
def test_words_for_a_movement_are_not_passed_over_without_one(words: tuple[str, ...]) -> None:
    """Neither Lima's table nor a comparison listens to them, and they say so."""
    for before in ((), ("--from", "0,20,3", "--to", "27,30,4")):
        found = linkwork("plan", *before, *words)
        assert found.code != 0
        assert f"{words[0]} is for a movement" in found.err


@pytest.mark.capability(157, 171)
def test_the_documents_xml_says_planner_limits_and_speeds(tmp_path: Path) -> None:
    """004's worked example in its own language, planned as Table 1's row of least speed."""
    file = tmp_path / "kicker.xml"
    file.write_text(XML.replace("Max='1400'", "Max='200'"))
    kick = lw.load_movement(file, "kick")
    (way,) = plan_movement(kick).values()
    np.testing.assert_allclose(way.times, [3.0, 3.0211, 4.0], atol=5e-5)
    np.testing.assert_allclose(np.degrees(way.speeds), [20.0, 24.211, 30.0], atol=5e-4)
    lw.save(kick, tmp_path / "kick.toml")
    assert lw.load_movement(tmp_path / "kick.toml") == kick
    file.write_text(XML.replace("value='speed'", "value='sped'"))
    with pytest.raises(LinkworkError, match=r"kicker\.xml:\d+: .*there is no planner 'sped'"):
        lw.load_movement(file, "kick")


@pytest.mark.capability(168)
def test_the_neck_follows_the_references_with_the_least_acceleration() -> None:
    """[0, 45, 90, −45, −90]° (Lima et al. figure 17): there at each time, the servo within 4° of
    it.
    """
    movement = lw.load_movement("bioloid/neck")
    positions = [math.degrees(each.joints["neck"]) for each in movement.postures]
    np.testing.assert_allclose(positions, [0, 45, 90, -45, -90], atol=1e-12)
    way = plan_movement(movement)["neck"]
    assert math.degrees(way.peak_speed) < 281.0
    with Session("bioloid/look", watch=False) as session:
        worst = 0.0
        while session.time < 6.5:
            session.step()
            t = session.time
            target = session["robot/neck.target"]
            assert target == pytest.approx(way.value(t), abs=1e-9)
            worst = max(worst, abs(target - session["robot/neck.angle"]))
        assert math.degrees(session["robot/neck.angle"]) == pytest.approx(-90.0, abs=1.0)
    assert math.degrees(worst) < 4.0


def test_check_tells_how_a_movement_is_planned(tmp_path: Path) -> None:
    """`linkwork check` names the planner, and refuses what limits do not allow."""
    done = linkwork("check", "bioloid/neck")
    assert done.code == 0, done.err
    assert "5 postures of 1 joint in 6 s, least acceleration" in done.out
    (tmp_path / "nod.toml").write_text(NOD.replace("= 120", "= 20"))
    done = linkwork("check", tmp_path / "nod.toml")
    assert done.code == 1
    assert "Nearest: 20°/s there." in done.err
