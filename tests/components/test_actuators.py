"""Actuators turn targets into affine efforts, within limits; the laws are closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from block_fixture import Rig
from linkwork.core.errors import (
    FormatError,
    LinkworkError,
    NameNotFound,
    Origin,
    SceneError,
    SignalError,
)
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.session.session import Session

HERE = Origin("robot.toml", 7)
BIAS, KP, KD, LOWEST, HIGHEST = range(5)
H = 0.002


def arm(**joint: object) -> Part:
    """A post that carries a link on a hinge J, and on a slider S, a ball B and a cylinder C."""
    link = (Box((0.1, 0.1, 0.1)),)
    return Part("arm").add(
        Element("post", link, mass=1.0),
        *(Element(name, link, mass=1.0) for name in ("link", "sled", "head", "rod")),
        Joint("J", "hinge", "post", "link", **joint),  # type: ignore[arg-type]
        Joint("S", "slider", "post", "sled"),
        Joint("B", "ball", "post", "head"),
        Joint("C", "cylindrical", "post", "rod"),
    )


def rig(type_name: str, joint: dict | None = None, **params: object) -> Rig:
    spec = Spec("actuator", type_name, "a", {"joint": "arm/J", **params}, HERE)
    return Rig(Scene("test", step=H).place(arm(**(joint or {}))), "actuator", [spec])


def effort(found: np.ndarray, dof: int, q: float, v: float) -> float:
    """What an engine makes of an affine effort."""
    bias, kp, kd, lowest, highest = found[:, dof]
    return float(np.clip(bias - kp * q - kd * v, lowest, highest))


# Servo


def test_servo_starts_by_holding_its_joint_where_it_stands() -> None:
    """After reset the target and setpoint are the joint's value and its full speed is allowed."""
    bench = rig("servo", {"value": 0.4, "max_speed": 3.0, "range": (-1.0, 1.0)})
    values = bench.values()
    assert values["arm/J.target"] == values["arm/J.setpoint"] == 0.4
    assert values["arm/J.target_speed"] == 3.0
    assert effort(bench.drive(), 0, 0.4, 0.0) == 0.0


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-9, 9), st.floats(0, 50), st.floats(0, 5))
def test_servo_is_a_spring_and_damper_to_its_target(
    target: float, q: float, v: float, kp: float, kd: float
) -> None:
    """Without speed limit the effort is kp (target − q) − kd v, cut at ±max_effort."""
    bench = rig("servo", kp=kp, kd=kd, max_effort=12.0)
    bench.signals.set("arm/J.target", target, "test")
    expected = min(max(kp * (target - q) - kd * v, -12.0), 12.0)
    assert effort(bench.drive(), 0, q, v) == pytest.approx(expected, abs=1e-9)


def test_servo_setpoint_ramps_at_the_wanted_speed() -> None:
    """Wanted speed 0.5 rad/s: after n steps the setpoint is 0.5·n·h, until it is there."""
    bench = rig("servo", {"max_speed": 2.0}, kp=100.0, kd=2.0)
    bench.signals.set("arm/J.target", 0.0105, "test")
    bench.signals.set("arm/J.target_speed", 0.5, "test")
    for step in range(1, 11):
        found = bench.drive(step)
        setpoint = 0.5 * step * H
        assert bench.values()["arm/J.setpoint"] == pytest.approx(setpoint, abs=1e-15)
        assert found[BIAS, 0] == pytest.approx(100.0 * setpoint + 2.0 * 0.5, rel=1e-12)
    for step in (11, 12):  # half a step is left, at whose end the setpoint rests
        assert bench.drive(step)[BIAS, 0] == pytest.approx(100.0 * 0.0105, rel=1e-12)
        assert bench.values()["arm/J.setpoint"] == 0.0105


def test_servo_whose_target_comes_in_stairs_is_not_kicked() -> None:
    """A target that moves by less than the speed allows in a step is held, not chased."""
    bench = rig("servo", {"max_speed": 5.0}, kp=10.0, kd=5.0)
    for step, target in enumerate([0.001, 0.001, 0.009, 0.009]):
        bench.signals.set("arm/J.target", target, "test")
        assert bench.drive(step)[BIAS, 0] == pytest.approx(10.0 * target, rel=1e-12)


def test_servo_setpoint_ramps_down_as_it_ramps_up() -> None:
    """A target below is reached at minus the wanted speed."""
    bench = rig("servo", {"max_speed": 2.0, "value": 1.0})
    bench.signals.set("arm/J.target", -5.0, "test")
    bench.drive()
    assert bench.values()["arm/J.setpoint"] == pytest.approx(1.0 - 2.0 * H)


def test_servo_jump_of_the_target_is_no_kick() -> None:
    """An unlimited servo whose target jumps does not differentiate the jump."""
    bench = rig("servo", kp=10.0, kd=5.0)
    bench.signals.set("arm/J.target", 1.0, "test")
    assert bench.drive()[BIAS, 0] == 10.0


@pytest.mark.capability(20)
def test_servo_stays_within_range_and_speed_of_its_joint() -> None:
    """Numbers that reach the state unchecked are held to the joint's range and speed."""
    bench = rig("servo", {"range": (-0.5, 0.5), "max_speed": 1.0})
    bench.state.target[0], bench.state.target_speed[0] = 2.0, 1e6
    bench.drive()
    assert bench.values()["arm/J.setpoint"] == pytest.approx(1.0 * H)
    for step in range(400):
        bench.drive(step)
    assert bench.values()["arm/J.setpoint"] == 0.5
    bench.state.target[0], bench.state.target_speed[0] = -2.0, -1.0
    bench.drive()
    assert bench.values()["arm/J.setpoint"] == 0.5


def test_servo_signals_carry_the_joints_limits_and_units() -> None:
    """Inputs refuse what the joint cannot do; gains refuse what is no gain."""
    bench = rig("servo", {"range": (-0.5, 0.5), "max_speed": 1.0, "max_effort": 8.0})
    signals = bench.signals
    assert (signals["arm/J.target"].lo, signals["arm/J.target"].hi) == (-0.5, 0.5)
    assert signals["arm/J.target"].direction == "input"
    assert signals["arm/J.setpoint"].direction == "output"
    assert signals["arm/J.kp"].unit == "N m/rad"
    assert signals["arm/J.kd"].unit == "N m s/rad"
    assert signals["arm/J.kp"].direction == "param"
    for name, value in [("target", 0.6), ("target_speed", 1.1), ("target_speed", -0.1), ("kp", -1)]:
        with pytest.raises(SignalError, match="takes"):
            signals.set(f"arm/J.{name}", value, "test")


def test_gains_and_limit_can_be_changed_while_running() -> None:
    """The next step uses the new numbers."""
    bench = rig("servo", {"max_effort": 8.0}, kp=10.0, kd=1.0)
    assert bench.drive()[:, 0].tolist() == [0.0, 10.0, 1.0, -8.0, 8.0]
    bench.signals.set("arm/J.kp", 30.0, "test")
    bench.signals.set("arm/J.kd", 2.0, "test")
    bench.signals.set("arm/J.max_effort", 5.0, "test")
    assert bench.drive()[:, 0].tolist() == [0.0, 30.0, 2.0, -5.0, 5.0]


def test_max_effort_is_the_actuators_or_the_joints_or_none() -> None:
    """What the actuator says wins over what the joint says."""
    for joint, params, limit in [({}, {}, math.inf), ({"max_effort": 8.0}, {}, 8.0),
                                 ({"max_effort": 8.0}, {"max_effort": 3.0}, 3.0)]:  # fmt: skip
        for type_name in ("servo", "motor", "effort"):
            found = rig(type_name, joint, **params).drive()
            assert found[[LOWEST, HIGHEST], 0].tolist() == [-limit, limit]


def test_servo_remembers_everything_in_the_state() -> None:
    """A restored copy of the state goes on exactly as the first run did."""
    bench = rig("servo", {"max_speed": 2.0})
    bench.signals.set("arm/J.target", 1.0, "test")
    bench.drive()
    kept = bench.state.copy()
    first = [bench.drive(step).copy() for step in range(5)]
    bench.state.restore(kept)
    again = [bench.drive(step).copy() for step in range(5)]
    assert np.array_equal(first, again)


def test_block_drives_each_joint_with_its_own_numbers_and_no_other() -> None:
    """A hinge, a slider and the turn of a cylindrical joint in one block."""
    specs = [
        Spec("actuator", "servo", name, {"joint": f"arm/{name}", "kp": kp, "max_effort": 1.0})
        for name, kp in (("C.angle", 3.0), ("J", 1.0), ("S", 2.0))
    ]
    bench = Rig(Scene("test", step=H).place(arm()), "actuator", specs)
    dofs = [bench.world.single_dof(f"arm/{name}") for name in ("C.angle", "J", "S")]
    assert bench.block.dofs == dofs
    found = bench.drive()
    expected = np.zeros(bench.world.nv)
    expected[dofs] = 3.0, 1.0, 2.0
    assert np.array_equal(found[KP], expected)
    assert np.array_equal(found[HIGHEST], (expected > 0.0).astype(float))
    assert bench.signals["arm/S.kp"].unit == "N/m"
    assert "arm/C.angle.target" in bench.signals


# Motor and effort


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_motor_pulls_towards_its_speed(wanted: float, v: float) -> None:
    """Effort gain·(w − v) cut at ±max_effort, w within ±max_speed, whatever the angle."""
    bench = rig("motor", {"max_speed": 10.0}, gain=0.5, max_effort=4.0)
    assert bench.values()["arm/J.target_speed"] == 0.0
    bench.state.target_speed[0] = wanted
    w = min(max(wanted, -10.0), 10.0)
    expected = min(max(0.5 * (w - v), -4.0), 4.0)
    assert effort(bench.drive(), 0, 123.0, v) == pytest.approx(expected, abs=1e-12)
    assert bench.signals["arm/J.target_speed"].lo == -10.0


def test_effort_is_passed_on_within_its_limit() -> None:
    """Target effort in, the same effort out, whatever the joint does."""
    bench = rig("effort", max_effort=4.0)
    for wanted, expected in [(0.0, 0.0), (3.0, 3.0), (-3.5, -3.5), (9.0, 4.0), (-9.0, -4.0)]:
        bench.state.target_effort[0] = wanted
        assert effort(bench.drive(), 0, 1.0, -5.0) == expected
    assert bench.signals["arm/J.target_effort"].hi == 4.0
    assert bench.signals["arm/J.target_effort"].unit == "N m"


# Mistakes

MISTAKES = [
    ("servo", {"joint": "arm/K"}, NameNotFound, "there is no joint named 'arm/K'"),
    ("servo", {"joint": "arm/B"}, SceneError, "cannot drive 'arm/B': it is a ball joint"),
    ("motor", {"joint": "arm/B.rx"}, SceneError, "cannot drive 'arm/B.rx': it is a ball joint"),
    ("effort", {"joint": "loose"}, SceneError, "cannot drive 'loose': it is a free joint"),
    ("servo", {"joint": "arm/C"}, NameNotFound, "Name one: arm/C.position, arm/C.angle."),
    ("servo", {"kp": -1.0}, FormatError, "kp must be a number from 0 to"),
    ("servo", {"kd": math.nan}, FormatError, "kd must be a finite number"),
    ("servo", {"max_effort": math.inf}, FormatError, "max_effort must be a finite number"),
    ("servo", {"gain": 1.0}, FormatError, "has no key 'gain'"),
    ("motor", {"gane": 1.0}, FormatError, "Did you mean 'gain'?"),
    ("effort", {"kp": 1.0}, FormatError, "Available keys: joint, max_effort"),
]


@pytest.mark.parametrize(("type_name", "params", "error", "expected_text"), MISTAKES)
def test_a_mistake_is_told_with_its_place(
    type_name: str, params: dict, error: type[LinkworkError], expected_text: str
) -> None:
    """The message names file and line, what was found and what is allowed."""
    spec = Spec("actuator", type_name, "a", {"joint": "arm/J", **params}, HERE)
    loose = Part("loose").add(Element("stone", (Box((0.1, 0.1, 0.1)),), mass=1.0))
    with pytest.raises(error) as caught:
        Rig(Scene("test").place(arm()).place(loose, base="free"), "actuator", [spec])
    assert str(caught.value).startswith("robot.toml:7: ")
    assert expected_text in str(caught.value)


def test_two_actuators_on_one_joint_are_refused_with_both_places() -> None:
    """The message names both and where each was said."""
    specs = [
        Spec("actuator", "servo", "one", {"joint": "arm/J"}, Origin("robot.toml", 3)),
        Spec("actuator", "servo", "two", {"joint": "J"}, Origin("robot.toml", 9), scope="arm"),
    ]
    with pytest.raises(SceneError) as caught:
        Rig(Scene("test").place(arm()), "actuator", specs)
    message = str(caught.value)
    assert message.startswith("robot.toml:9: joint 'arm/J' has two actuators")
    assert "servo 'one' (robot.toml:3) and servo 'two' (robot.toml:9)" in message


# In a session


def running(type_name: str, mass: float = 0.05, **settings: object) -> Session:
    """An arm on a level hinge, its centre of mass on the axis: inertia m (a² + b²)/12."""
    joint = {k: settings.pop(k) for k in ("max_speed", "max_effort", "range") if k in settings}
    part = Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.05, 0.05)),), mass=mass),
        Joint("J", "hinge", "post", "link", at=Pose((0.0, 0.0, 0.2)), **joint),  # type: ignore[arg-type]
    )
    scene = Scene("test", step=H).place(part).engine("mujoco")
    return Session(scene.actuator("drive", type_name, joint="arm/J", **settings))


INERTIA = (0.2**2 + 0.05**2) / 12.0  # of 1 kg


@pytest.mark.capability(19)
def test_servo_goes_to_the_wanted_angle_at_the_wanted_speed_within_its_torque() -> None:
    """Wanted angle and speed in, actual angle and speed out, never more than the largest torque."""
    with running("servo", kp=10.0, kd=0.3, max_effort=0.05, max_speed=3.0) as session:
        session["arm/J.target"], session["arm/J.target_speed"] = 1.0, 0.5
        for step in range(1, 1201):
            session.step()
            assert abs(session["arm/J.effort"]) <= 0.05 + 1e-12
            if 100 <= step <= 900:
                assert session["arm/J.speed"] == pytest.approx(0.5, rel=1e-3)
                assert session["arm/J.angle"] == pytest.approx(0.5 * step * H, abs=2e-3)
        assert session["arm/J.angle"] == pytest.approx(1.0, abs=1e-6)
        assert session["arm/J.speed"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.capability(19, 20)
def test_servo_that_is_too_weak_accelerates_with_its_largest_torque() -> None:
    """Far from its target a saturated servo turns the arm by ½ (τ/I) t²."""
    with running("servo", mass=1.0, kp=1e4, kd=0.0, max_effort=0.01) as session:
        session["arm/J.target"] = 3.0
        session.step(500)
        assert session["arm/J.effort"] == pytest.approx(0.01)
        angle = 0.5 * 0.01 / INERTIA * (500 * H) ** 2
        assert session["arm/J.angle"] == pytest.approx(angle, rel=5e-3)


def test_stiff_servo_on_a_light_link_is_quiet() -> None:
    """kp 10, kd 0.3 on 50 g at 2 ms jumps to its target without overshoot and stays."""
    with running("servo", kp=10.0, kd=0.3) as session:
        session["arm/J.target"] = 0.5
        highest = 0.0
        for _ in range(1000):
            session.step()
            highest = max(highest, session["arm/J.angle"])
        assert highest < 0.5 + 1e-9
        assert session["arm/J.angle"] == pytest.approx(0.5, abs=1e-6)


def test_motor_reaches_its_speed_as_a_first_order_lag() -> None:
    """v = w (1 − e^(−t gain/I)), in either direction."""
    with running("motor", mass=1.0, gain=0.01) as session:
        session["arm/J.target_speed"] = -2.0
        session.step(200)
        expected = -2.0 * (1.0 - math.exp(-200 * H * 0.01 / INERTIA))
        assert session["arm/J.speed"] == pytest.approx(expected, rel=5e-3)
        session.step(3000)
        assert session["arm/J.speed"] == pytest.approx(-2.0, rel=1e-3)


def test_effort_accelerates_by_torque_over_inertia() -> None:
    """v = τ t / I."""
    with running("effort", mass=1.0) as session:
        session["arm/J.target_effort"] = 0.02
        session.step(100)
        assert session["arm/J.speed"] == pytest.approx(0.02 / INERTIA * 100 * H, rel=1e-6)
