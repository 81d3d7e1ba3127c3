"""The Kinematic engine: joints follow their targets exactly, without reaction."""

import math

import numpy as np
import pytest

from engine_scenes import SIDE, UP, arm, block, cycle, effort, four_bar, loose, motor, move, servo
from linkwork.geometry import Pose
from linkwork.model.parts import Coupling, Element, Joint, Part, RailPiece, Sphere
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session


def kinematic(part: Part, **more: object) -> Cycle:
    return cycle(Scene("test", **more).place(part).engine("kinematic"))  # type: ignore[arg-type]


def test_joint_moves_to_its_target_at_its_speed() -> None:
    """It moves by target_speed·h a step, arrives exactly, and stops."""
    ours = kinematic(arm(max_speed=2.0))
    ours.state.target[0], ours.state.target_speed[0] = 0.5, 1.0
    for step in range(1, 250):
        ours.move()
        assert ours.state.q[0] == pytest.approx(step * ours.h, abs=1e-12)
        assert ours.state.v[0] == pytest.approx(1.0, abs=1e-9)
    move(ours, 2)
    assert (ours.state.q[0], ours.state.v[0]) == (0.5, 0.0)


def test_target_beyond_the_range_ends_at_the_stop() -> None:
    """The range limits any target."""
    ours = kinematic(arm(range=(-0.3, 0.3)))
    ours.state.target[0] = 2.0
    move(ours, 3)
    assert ours.state.q[0] == 0.3


def test_poses_and_twists_fit_the_joints() -> None:
    """The link's center moves on its circle, and its twist is ω × r."""
    ours = kinematic(arm(max_speed=2.0))
    ours.state.target[0] = 3.0
    body = ours.world.body("arm/link")
    for _ in range(100):
        ours.move()
        angle, speed = ours.state.q[0], ours.state.v[0]
        turned = Pose.of(quat=ours.state.pose[body, 3:]).rotate((1.0, 0.0, 0.0))
        assert turned == pytest.approx((math.cos(angle), 0.0, -math.sin(angle)), abs=1e-12)
        velocity = -0.05 * speed * np.array([math.sin(angle), 0.0, math.cos(angle)])
        assert ours.state.twist[body, :3] == pytest.approx(velocity, abs=1e-12)
        assert ours.state.twist[body, 3:] == pytest.approx((0.0, speed, 0.0), abs=1e-12)


def test_acceleration_is_the_change_of_speed() -> None:
    """The first step from rest reports v/h, uniform motion 0."""
    ours = kinematic(arm(max_speed=2.0))
    ours.state.target[0] = 3.0
    ours.move()
    assert ours.state.report.acceleration[0] == pytest.approx(2.0 / ours.h)
    ours.move()
    assert ours.state.report.acceleration[0] == pytest.approx(0.0, abs=1e-6)
    assert ours.state.report.effort[0] == 0.0


@pytest.mark.capability(5)
def test_servo_on_a_kinematic_joint_sets_where_it_goes() -> None:
    """A servo has the same signals on either engine; here the joint follows exactly."""
    scene = Scene("test").place(arm(max_speed=1.0, drive=servo(kp=10.0, kd=0.3)))
    with Session(scene.engine("kinematic")) as session:
        session["arm/J.target"] = 0.4
        session.step(100)
        assert session["arm/J.angle"] == pytest.approx(0.2)
        session.step(150)
        assert session["arm/J.angle"] == 0.4


def test_motor_turns_a_kinematic_joint_at_its_signed_speed() -> None:
    """A wheel rotates in both directions without limit; a slider stops at its range."""
    with Session(Scene("test").place(arm(drive=motor())).engine("kinematic")) as session:
        session.step(10)
        assert session["arm/J.angle"] == 0.0
        session["arm/J.target_speed"] = -3.0
        session.step(1500)
        assert session["arm/J.angle"] == pytest.approx(-9.0)
        assert session["arm/J.speed"] == pytest.approx(-3.0)
        session["arm/J.target_speed"] = 1.0
        session.step(500)
        assert session["arm/J.angle"] == pytest.approx(-8.0)
    ours = kinematic(arm(range=(-0.1, 0.1), max_speed=2.0, drive=motor()))
    ours.state.target_speed[0] = 5.0
    ours.move()
    assert ours.state.v[0] == pytest.approx(2.0)
    move(ours, 100)
    assert (ours.state.q[0], ours.state.v[0]) == (0.1, 0.0)


def test_effort_on_a_kinematic_joint_is_found_to_have_no_effect() -> None:
    """The joint stays; check gives the reason and a remedy."""
    ours = kinematic(arm(drive=effort()))
    ours.state.target_effort[0] = 100.0
    move(ours, 10)
    assert ours.state.q[0] == 0.0
    (found,) = ours.findings
    assert (found.level, found.about) == ("approximated", "arm/J")
    assert "no effect" in found.text
    assert "servo" in found.text


def test_coupled_joints_follow_exactly() -> None:
    """A follower of a follower obeys both laws in the same step, with its velocity."""
    part = Part("gears").add(
        Element("post", mass=1.0),
        *(block(name, (0.1, 0.1, 0.02), 0.1) for name in ("a", "b", "c")),
        *(Joint(f"J{name}", "hinge", "post", name) for name in ("a", "b", "c")),
        Coupling("Jc", "Jb", ratio=-0.5),
        Coupling("Jb", "Ja", ratio=2.0, offset=0.1),
    )
    ours = kinematic(part)
    ours.state.target[0], ours.state.target_speed[0] = 1.0, 1.0
    for _ in range(50):
        ours.move()
        a, b, c = ours.state.q
        assert b == pytest.approx(2.0 * a + 0.1, abs=1e-15)
        assert c == pytest.approx(-0.5 * b, abs=1e-15)
        assert ours.state.v == pytest.approx([1.0, 2.0, -1.0])


def test_wagon_follows_a_bent_rail() -> None:
    """After half a circle of rail the wagon is beside its start, facing back."""
    radius = 0.5
    part = Part("railway").add(
        Element("ground", mass=1.0),
        block("wagon", (0.1, 0.05, 0.05), 1.0),
        Joint("R", "rail", "ground", "wagon", rail=(RailPiece(math.pi * radius, math.pi),)),
    )
    ours = kinematic(part)
    ours.state.target[0], ours.state.target_speed[0] = math.pi * radius, 1.0
    move(ours, 900)
    row = ours.state.pose[ours.world.body("railway/wagon")]
    assert row[:3] == pytest.approx((0.0, 2.0 * radius, 0.0), abs=1e-9)
    forward = Pose.of(quat=row[3:]).rotate((1.0, 0.0, 0.0))
    assert forward == pytest.approx((-1.0, 0.0, 0.0), abs=1e-9)


def test_open_loop_is_reported_with_its_gap() -> None:
    """Kinematic closes no loops: this and the gap are reported."""
    ours = cycle(four_bar("hinge", (0.2, 0.5, 0.4, 0.45), 1.0).engine("kinematic"))
    assert [(f.level, f.about) for f in ours.findings] == [("approximated", "bars/loop1")]
    ours.move()
    assert ours.state.report.gap[0] < 1e-12
    ours.state.target[2] += 0.1  # the rocker alone: its tip moves by 2 sin(0.05) · 0.4
    ours.move()
    assert ours.state.report.gap[0] == pytest.approx(0.8 * math.sin(0.05), rel=1e-9)


def test_loop_hinge_counts_turns() -> None:
    """The coordinate of a closing hinge continues past half a turn."""
    ours = cycle(four_bar("hinge", (0.2, 0.5, 0.4, 0.45), 1.0).engine("kinematic"))
    ours.move()
    before = ours.state.loop_q[0]
    ours.state.target[2] += 10.0
    ours.state.target_speed[:] = 5.0
    move(ours, 1100)
    assert ours.state.loop_q[0] - before == pytest.approx(10.0, abs=1e-9)


def test_loose_bodies_stay_where_they_are() -> None:
    """Free bodies neither fall nor keep their initial velocity."""
    stone = loose("stone", Sphere(0.1), velocity=(1.0, 0.0, 0.0))
    ours = cycle(Scene("test").place(stone, base="free").engine("kinematic"))
    move(ours, 10)
    assert ours.state.q[:3].tolist() == [0.0, 0.0, 0.0]
    assert not ours.state.twist.any()
    assert ours.findings == []


def test_restored_state_goes_on_bit_for_bit() -> None:
    """The engine has no variables outside the state."""

    def build() -> Cycle:
        part = arm(max_speed=1.0, drive=servo(kp=1.0, kd=1.0))
        ours = kinematic(part)
        ours.state.target[0] = 2.0
        return ours

    ours = build()
    move(ours, 50)
    middle = ours.state.copy()
    move(ours, 50)
    other = build()
    other.restore(middle)
    move(other, 50)
    assert other.state.difference(ours.state) == ""


def test_planar_and_universal_joints_follow_each_degree_of_freedom() -> None:
    """Every degree of freedom has its own target."""
    part = Part("stage").add(
        Element("base", mass=1.0),
        block("table", (0.1, 0.1, 0.02), 1.0),
        block("head", (0.1, 0.1, 0.02), 1.0),
        Joint("P", "planar", "base", "table"),
        Joint("U", "universal", "table", "head", axis=UP, axis2=SIDE),
    )
    ours = kinematic(part)
    ours.state.target[:] = 0.1, -0.2, 0.3, 0.4, -0.5
    move(ours, 2)
    assert ours.state.q == pytest.approx([0.1, -0.2, 0.3, 0.4, -0.5], abs=0.0)
