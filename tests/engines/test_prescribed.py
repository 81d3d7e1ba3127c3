"""Motion prescribed by agents: exact velocities, unique names, valid units."""

import dataclasses
import math
from pathlib import Path

import pytest

import linkwork as lw
from engine_scenes import SIDE, bar
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Coupling, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session


def gears() -> Part:
    """Returns three bars on one post, the second following the first and the third the second."""
    return Part("gears").add(
        Element("post", mass=1.0),
        *(bar(name, 0.2, mass) for name, mass in (("a", 0.5), ("b", 0.3), ("c", 0.2))),
        *(Joint(f"J{name}", "hinge", "post", name, axis=SIDE) for name in ("a", "b", "c")),
        Coupling("Jc", "Jb", ratio=-0.5),
        Coupling("Jb", "Ja", ratio=2.0, offset=0.1),
    )


@pytest.mark.capability(72)
def test_what_moves_a_leader_moves_its_followers_too() -> None:
    """The leader's drive moves three bars, and followers accelerate exactly."""
    scene = Scene("test", step=0.01, mode="emulation").place(gears()).engine("mujoco")
    scene.agent("swing", "formula", formulas={"gears/Ja": "0.4*sin(3*t)"})
    with Session(scene, watch=False) as session:
        world = session.world
        session.step(30)
        ratios, wanted = {"a": 1.0, "b": 2.0, "c": -1.0}, 0.0
        change = -3.6 * math.sin(3.0 * session.time)
        for name, ratio in ratios.items():
            assert session[f"gears/J{name}.acceleration"] == pytest.approx(ratio * change)
            body = world.body(f"gears/{name}")
            mass, (x, _, _), angle = (
                world.mass[body],
                world.com[body],
                session[f"gears/J{name}.angle"],
            )
            turns = world.inertia[body][1, 1] + mass * x * x
            wanted += ratio * (turns * ratio * change - mass * 9.81 * x * math.cos(angle))
        assert session["gears/Ja.effort"] == pytest.approx(wanted)
        assert abs(wanted) > 0.1
        assert session["gears/Jb.effort"] == session["gears/Jc.effort"] == 0.0


@pytest.mark.capability(71)
def test_a_foot_that_is_moved_by_hand_has_the_speed_it_moves_with() -> None:
    """Although the other foot has a formula; at rest its velocity is known again."""
    with Session(lw.load_scene("bart_uh/feet"), watch=False) as session:
        session.step(20)
        h = session.cycle.h
        names = {
            "left_state.z": "left_state.z_speed",
            "robot/left_knee.angle": "robot/left_knee.speed",
        }
        for n in range(6):
            before = {name: session[name] for name in names}
            session["legs.left_sole_z"] = 1e-4 * (n + 1)
            session.step()
            for name, speed in names.items():
                rate = (session[name] - before[name]) / h
                assert session[speed] == pytest.approx(rate, abs=2e-3)
        assert session["left_state.z_speed"] == pytest.approx(0.05, abs=2e-3)
        session.step(3)
        assert session["left_state.z_speed"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.capability(84)
def test_a_motion_table_is_of_the_element_not_of_what_it_is_fixed_to() -> None:
    """It has the element's own center of mass, not that of the whole body."""
    part = Part("wheel").add(
        Element("post", mass=1.0), bar("spoke", 0.2, 0.5), bar("rim", 0.4, 2.0),
        Joint("J", "hinge", "post", "spoke", axis=(0.0, 0.0, 1.0)),
        Joint("W", "fixed", "spoke", "rim", at=Pose((0.2, 0.1, 0.0))),
    )  # fmt: skip
    scene = Scene("test", step=0.01, mode="kinematic").place(part).engine("mujoco")
    scene.agent("turn", "formula", formulas={"wheel/J": "2*t"})
    for name in ("spoke", "rim"):
        scene.sensor(name, "motion", on=f"wheel/{name}")
    with Session(scene, watch=False) as session:
        session.step(20)
        c, s = math.cos(0.4), math.sin(0.4)
        for name, (x, y) in {"spoke": (0.1, 0.0), "rim": (0.4, 0.1)}.items():
            at = c * x - s * y, s * x + c * y
            assert session[f"{name}.x"] == pytest.approx(at[0])
            assert session[f"{name}.y"] == pytest.approx(at[1])
            assert session[f"{name}.x_speed"] == pytest.approx(-2.0 * at[1])
            assert session[f"{name}.y_acceleration"] == pytest.approx(-4.0 * at[1])


@pytest.mark.parametrize(
    ("joint", "words"),
    [("torso/phi", "torso is 5° out of level"), ("robot/left_ankle_x", "left sole is 5° out of")],
)
def test_a_walk_begins_with_torso_and_soles_level(joint: str, words: str) -> None:
    """The message states the deviation."""
    scene = lw.load_scene("bart_uh/walk")
    posture = scene.postures[scene.start]
    posture[joint] = posture.get(joint, 0.0) + math.radians(5.0)
    with pytest.raises(LinkworkError, match=words):
        Session(scene, watch=False)


def test_a_long_walk_is_tried_as_fast_as_a_short_one() -> None:
    """A carriage range that ends before the walk is detected."""
    scene = lw.load_scene("bart_uh/walk")
    agent = next(a for a in scene.agents if a.type == "walk")
    agent.params["steps"] = 10_000
    with pytest.raises(LinkworkError, match=r"torso/y leaves its range"):
        Session(scene, watch=False)


def two_arms() -> Scene:
    """Returns two parts with a joint of the same name."""
    scene = Scene("test", mode="kinematic").engine("mujoco")
    for name in ("one", "two"):
        part = Part("arm").add(
            Element("post", mass=1.0), bar("link", 0.2, 0.1),
            Joint("J", "hinge", "post", "link", axis=SIDE),
        )  # fmt: skip
        scene.place(part, name=name)
    return scene


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["one/J", "one/J.target"], r"'one/J' and 'one/J\.target' both set 'one/J\.target'"),
        (["J"], "2 joints are named 'J': one/J, two/J"),
        (["K"], "no signal named 'K'"),
    ],
)
def test_a_name_means_one_joint_and_no_joint_has_two(names: list[str], words: str) -> None:
    """The message names both joints, or the candidates."""
    scene = two_arms().agent("swing", "formula", formulas=dict.fromkeys(names, "t"))
    with pytest.raises(LinkworkError, match=words):
        Session(scene, watch=False)


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("one/J [mm]", r"'one/J' is given in m; 'one/J\.target' is in rad"),
        ("one/J [N m]", "given in N m"),
        ("one/J [deg],one/J.angle [rad]", "both set"),
    ],
)
def test_a_column_has_the_unit_of_what_it_sets(heading: str, words: str, tmp_path: Path) -> None:
    """A hinge does not accept millimeters."""
    file = tmp_path / "table.csv"
    file.write_text(f"time,{heading}\n0{',0' * len(heading.split(','))}\n")
    scene = two_arms().agent("play", "table", file=str(file))
    with pytest.raises(LinkworkError, match=words):
        Session(scene, watch=False)


@pytest.mark.parametrize(
    ("mode", "falls"), [("", True), ("simulation", True), ("kinematic", False)]
)
def test_a_walk_that_nothing_holds_says_that_it_will_fall(mode: str, falls: bool) -> None:
    """On its own feet it has no balance; carried as in the kit it is fine."""
    scene = lw.load_scene("bart_uh/upright")
    scene = dataclasses.replace(scene, mode=mode)
    scene.agent("walk", "walk", on="robot", feet=["right_sole", "left_sole"], length=0.1)
    with Session(scene, watch=False) as session:
        shown = [f.text for f in session.cycle.findings if f.about == "walk 'walk'"]
    assert bool(shown) == falls
    assert all("it will fall" in text for text in shown)
    with Session(lw.load_scene("bart_uh/walk"), watch=False) as session:
        assert not [f for f in session.cycle.findings if "it will fall" in f.text]
