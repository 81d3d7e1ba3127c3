"""Efforts in the Mujoco engine: stiff servos, limits, friction, and their reports."""

import math
from typing import Any

import numpy as np
import pytest

from engine_scenes import G, H, arm, arm_inertia, cycle, effort, motor, move, servo
from linkwork.geometry import Pose
from linkwork.model.parts import Capsule, Element, Joint, Part, Plane
from linkwork.model.scene import Scene

WEIGHTLESS = (0.0, 0.0, 0.0)
KP, KD = 10.0, 0.3


@pytest.mark.capability(19)
def test_stiff_servo_is_quiet_where_one_computed_outside_diverges() -> None:
    """kp 10, kd 0.3 on a 50 g link at 2 ms: the same law as an external effort diverges."""
    inside = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(drive=servo(kp=KP, kd=KD))))
    inside.state.target[0] = 0.5
    highest = 0.0
    for _ in range(500):
        inside.move()
        highest = max(highest, float(inside.state.q[0]))
    assert inside.state.q[0] == pytest.approx(0.5, abs=1e-9)
    assert highest < 0.5 + 1e-9

    outside = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(drive=effort())))
    for _ in range(10):
        q, v = outside.state.q[0], outside.state.v[0]
        outside.state.target_effort[0] = KP * (0.5 - q) - KD * v
        outside.move()
    assert abs(outside.state.v[0]) > 1e4


def test_servo_follows_the_implicit_law_exactly() -> None:
    """Each step solves v' = v + h/I (kp (s − q − h v') − kd v'), to rounding."""
    ours = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(drive=servo(kp=KP, kd=KD))))
    ours.state.target[0] = 0.5
    q = v = 0.0
    per = H / arm_inertia()
    for _ in range(300):
        ours.move()
        v = (v + per * KP * (0.5 - q)) / (1.0 + per * (KD + H * KP))
        q += H * v
        assert ours.state.q[0] == pytest.approx(q, abs=1e-12)


@pytest.mark.parametrize("gains", [(10.0, 0.3, 0.1), (530.0, 50.0, 5.0), (6000.0, 0.5, 50.0)])
def test_stiff_servo_with_a_limit_does_not_chatter(gains: tuple[float, float, float]) -> None:
    """The limit applies at the end of the step, which avoids alternating saturation."""
    kp, kd, limit = gains
    ours = cycle(Scene("test").place(arm(drive=servo(kp=kp, kd=kd, max_effort=limit))))
    ours.state.target[0] = 0.5
    move(ours, 1500)
    assert abs(ours.state.v[0]) < 1e-6
    sag = 0.05 * G * 0.05 * math.cos(0.5) / kp
    assert ours.state.q[0] == pytest.approx(0.5 + sag, abs=0.02 * sag)


@pytest.mark.capability(20)
def test_saturated_motor_turns_by_its_largest_torque() -> None:
    """A saturated velocity motor accelerates by τ/I, then holds its velocity."""
    ours = cycle(
        Scene("test", gravity=WEIGHTLESS).place(arm(drive=motor(gain=5.0, max_effort=1e-3)))
    )
    ours.state.target_speed[0] = 2.0
    move(ours, 100)
    assert ours.state.v[0] == pytest.approx(1e-3 / arm_inertia() * 100 * H, rel=1e-9)
    assert ours.state.report.effort[0] == 1e-3
    move(ours, 400)
    assert ours.state.v[0] == pytest.approx(2.0, rel=1e-9)


def test_reported_effort_is_what_moved_the_joint() -> None:
    """I Δv/h equals the reported effort in every step of a stiff servo's response."""
    ours = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(drive=servo(kp=100.0, kd=1.0))))
    ours.state.target[0] = 0.5
    for _ in range(50):
        before = ours.state.v[0]
        ours.move()
        moved = arm_inertia() * (ours.state.v[0] - before) / H
        assert ours.state.report.effort[0] == pytest.approx(moved, rel=1e-9, abs=1e-12)


def test_reported_effort_holds_the_link_against_gravity() -> None:
    """At rest the effort is the weight's moment, for a servo, a spring or friction."""
    moment = -0.05 * G * 0.05
    variants: tuple[dict[str, Any], ...] = (
        {"drive": servo(kp=50.0, kd=0.3)},
        {"stiffness": 50.0, "damping": 0.1},
        {"friction": 0.05},
        {"drive": servo(kp=50.0, kd=0.3), "stiffness": 20.0, "rest": 0.1, "friction": 0.004},
    )
    for holding in variants:
        ours = cycle(Scene("test").place(arm(**holding)))
        move(ours, 2000)
        held = moment * math.cos(ours.state.q[0])
        assert ours.state.report.effort[0] == pytest.approx(held, rel=1e-3)


@pytest.mark.capability(20)
def test_joint_friction_holds_without_creeping() -> None:
    """Coulomb friction above the load holds a link: less than 0.01 degrees per second."""
    ours = cycle(Scene("test").place(arm(friction=0.03)))
    move(ours, 100)
    before = float(ours.state.q[0])
    move(ours, 500)
    assert abs(math.degrees(ours.state.q[0] - before)) < 0.01


@pytest.mark.capability(20)
def test_joint_friction_brakes_by_its_torque() -> None:
    """A free link decelerates by friction/I."""
    ours = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(friction=1e-4)))
    ours.state.v[0] = 10.0
    ours.refresh()
    move(ours, 100)
    assert ours.state.v[0] == pytest.approx(10.0 - 1e-4 / arm_inertia() * 100 * H, rel=1e-9)
    assert ours.state.report.effort[0] == pytest.approx(-1e-4, rel=1e-9)


@pytest.mark.parametrize("kp", [10.0, 100.0, 1000.0])
def test_stiff_servo_presses_as_hard_as_its_law_says(kp: float) -> None:
    """A 50 g link pressed on the floor carries servo and weight, without sinking in."""
    shape = Capsule(0.01, 0.18, at=Pose.of((0.1, 0.0, 0.0), rpy=(0.0, math.pi / 2.0, 0.0)))
    part = Part("arm").add(
        Element("post", mass=1.0),
        Element("link", (shape,), mass=0.05),
        Joint("J", "hinge", "post", "link", axis=(0.0, 1.0, 0.0), drive=servo(kp=kp, kd=0.03 * kp)),
    )
    scene = Scene("test").place(part, at=Pose((0.0, 0.0, 0.05)))
    ours = cycle(scene.add(Element("floor", (Plane(),))))
    ours.state.target[0] = 0.5
    move(ours, 1000)
    contacts = ours.contacts()
    q = float(ours.state.q[0])
    moments = contacts[:, 11] * contacts[:, 4]  # upward force times the lever along x
    weight = 0.05 * G * 0.1 * math.cos(q)
    assert moments.sum() == pytest.approx(kp * (0.5 - q) + weight, rel=1e-3)
    assert contacts[:, 10].max() < 1e-3
    assert np.abs(ours.state.v).max() < 1e-3


@pytest.mark.capability(20)
def test_stop_of_a_joint_holds_a_strong_motor() -> None:
    """3 N m press a 50 g link less than 0.1 degrees into its limit; impacts bounce little."""
    scene = Scene("test").place(arm(range=(-0.2, 0.2), drive=motor(gain=0.3, max_effort=3.0)))
    ours = cycle(scene)
    ours.state.target_speed[0] = 100.0
    move(ours, 300)
    assert 0.0 < math.degrees(ours.state.q[0] - 0.2) < 0.1
    assert abs(ours.state.v[0]) < 1e-9
    ours = cycle(Scene("test", gravity=WEIGHTLESS).place(arm(range=(-0.2, 0.2))))
    ours.state.v[0] = 5.0
    ours.refresh()
    move(ours, 50)
    assert -1.0 < ours.state.v[0] < 0.0


def test_drives_on_each_degree_of_freedom_of_a_joint() -> None:
    """The position and the angle of a cylindrical joint have their own servos."""
    part = Part("part").add(
        Element("post", mass=1.0),
        Element("rod", (Capsule(0.02, 0.2),), mass=0.5),
        Joint("C", "cylindrical", "post", "rod"),
    )
    scene = Scene("test", gravity=WEIGHTLESS).place(part)
    for dof, kp in (("position", 200.0), ("angle", 2.0)):
        scene.actuator(dof, "servo", joint=f"part/C.{dof}", kp=kp, kd=kp / 10.0)
    ours = cycle(scene)
    ours.state.target[:] = 0.1, -0.7
    move(ours, 1500)
    assert ours.state.q == pytest.approx([0.1, -0.7], abs=1e-6)
