"""Smart servos behave as their data sheets and closed forms say, and account for every joule."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_fixture import Rig
from linkwork.components.actuators import smart_kernels as cut
from linkwork.components.actuators.fit_trial import simulate_response
from linkwork.components.actuators.smart_params import (
    SmartServoParams,
    motor_constants,
    servo_models,
    with_model,
)
from linkwork.core.errors import LinkworkError, Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.formats import load_part
from linkwork.geometry import Pose
from linkwork.model.blocks import read_params
from linkwork.model.parts import Box, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.session.session import Session

HERE = Origin("robot.toml", 7)
H = 0.002
#: A servo without losses: k = 2 N m/A, R = 8 Ω, 12 V, 6 rad/s.
IDEAL = {"voltage": 12.0, "stall_effort": 3.0, "stall_current": 1.5, "free_speed": 6.0}
K, OHM = 2.0, 8.0
INERTIA = 0.5 * (0.2**2 + 0.05**2) / 12.0


def arm(names: str = "J", mass: float = 0.5, **joint: object) -> Part:
    """A post with links on level hinges, their centres of mass on the axes."""
    part = Part("arm").add(Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0))
    for n, name in enumerate(names):
        at = Pose((0.0, 0.0, 0.2 + 0.2 * n))
        part.add(
            Element(f"link{name}", (Box((0.2, 0.05, 0.05)),), mass=mass),
            Joint(name, "hinge", "post", f"link{name}", at=at, **joint),  # type: ignore[arg-type]
        )
    return part


def rig(joint: dict | None = None, **params: object) -> Rig:
    spec = Spec("actuator", "smart_servo", "a", {"joint": "arm/J", **IDEAL, **params}, HERE)
    return Rig(Scene("test", step=H).place(arm(**(joint or {}))), "actuator", [spec])


def session(
    engine: str = "mujoco", names: str = "J", step: float = H, joint: dict | None = None,
    **params: object,
) -> Session:  # fmt: skip
    scene = Scene("test", step=step).place(arm(names, **(joint or {}))).engine(engine)
    for name in names:
        scene.actuator(name, "smart_servo", joint=f"arm/{name}", **(IDEAL | params))
    return Session(scene)


def effort(bench: Rig, q: float, v: float, step: int = 0) -> float:
    """What an engine makes of the law when it starts and ends at ``q`` and ``v``."""
    bench.state.q[0], bench.state.v[0] = q, v
    bias, kp, kd, lowest, highest = bench.drive(step)[:, 0]
    return float(np.clip(bias - kp * q - kd * v, lowest, highest))


# Motor and gears


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_stall_effort_and_free_speed_are_those_of_the_data_sheet(
    friction: float, damping: float
) -> None:
    """At full duty the joint gets the line from stall effort to free speed, less friction."""
    given: dict[str, Any] = {**IDEAL, "stall_effort": 1.5, "friction": friction, "damping": damping}
    bench = rig(**given, kp=1e3)
    bench.signals.set("arm/J.target", 1e3, "test")
    left = lambda v: effort(bench, 0.0, v) - friction - damping * v  # noqa: E731
    assert left(6.0) == pytest.approx(0.0, abs=1e-9)
    assert left(0.0) == pytest.approx(1.5)
    assert left(3.0) == pytest.approx(0.5 * (left(2.0) + left(4.0)), rel=1e-9)


def test_the_torque_speed_line_moves_with_the_supply() -> None:
    """Half the voltage halves stall effort and free speed."""
    bench = rig(kp=1e3, supply=6.0)
    bench.signals.set("arm/J.target", 1e3, "test")
    assert effort(bench, 0.0, 0.0) == pytest.approx(1.5)
    assert effort(bench, 0.0, 3.0) == pytest.approx(0.0, abs=1e-12)


def test_motor_and_mujocos_dcmotor_run_up_alike() -> None:
    """With the same constant and resistance, 12 V and inertia, MuJoCo's own motor is as fast."""
    half = math.sqrt(6.0 * INERTIA) / 2.0  # of a cube of 1 kg with that inertia
    model: Any = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.0005" gravity="0 0 0" integrator="implicitfast"/><worldbody>'
        '<body><joint name="j" axis="0 0 1"/>'
        f'<geom type="box" mass="1" size="{half} {half} {half}"/></body></worldbody>'
        f'<actuator><dcmotor joint="j" motorconst="{K}" resistance="{OHM}"/></actuator></mujoco>'
    )
    data: Any = mujoco.MjData(model)
    data.ctrl[:] = 12.0
    made = simulate_response(np.full(60, 1e3), {**IDEAL, "kp": 1e3}, inertia=INERTIA, step=5e-4)
    for speed in made.speed:
        mujoco.mj_step(model, data)
        assert data.qvel[0] == pytest.approx(speed, rel=1e-3)
    assert made.speed[-1] > 5.0


def test_the_rotor_is_felt_times_the_square_of_the_gear() -> None:
    """A constant effort accelerates link and reflected rotor together."""
    with session(mode="effort", gear=100.0, rotor_inertia=1e-7) as run:
        run["arm/J.target_effort"] = 0.1
        run.step(10)
        expected = 0.1 / (INERTIA + 1e-7 * 100.0**2)
        assert run["arm/J.speed"] == pytest.approx(expected * 10 * H, rel=1e-6)


def test_gears_lose_the_same_share_driving_and_hold_back_when_driven() -> None:
    """Of k·i the joint gets η when it drives; when it brakes the loss adds to it."""
    bench = rig(stall_effort=1.5, mode="effort")
    motor = bench.block.motors[0]
    assert motor.efficiency == pytest.approx(0.5)
    bench.state.target_effort[0] = 0.4
    assert effort(bench, 0.0, 0.5) == pytest.approx(0.4)
    assert effort(bench, 0.0, -0.5) == pytest.approx(0.8 + 0.4)
    assert effort(bench, 0.0, 0.0) == pytest.approx(0.4)


def test_friction_and_damping_become_the_joints() -> None:
    """A servo whose friction is larger than a push does not move; a larger push moves it."""
    with session(mode="effort", friction=0.2, damping=0.05, stall_effort=1.0) as run:
        assert run["arm/J.friction"] == pytest.approx(0.2)
        assert run["arm/J.damping"] == pytest.approx(0.05)
        run["arm/J.target_effort"] = 0.15
        run.step(200)
        assert abs(run["arm/J.speed"]) < 1e-3
        run["arm/J.target_effort"] = 0.35
        run.step(200)
        assert run["arm/J.speed"] > 0.1


def test_cogging_pulls_to_its_rest_angles() -> None:
    """Without current the joint feels −c sin(n q), and settles where that is 0."""
    bench = rig(mode="effort", cogging=0.05, cogging_cycles=40.0)
    for q in (0.01, 0.03, 0.07):
        assert effort(bench, q, 0.0) == pytest.approx(-0.05 * math.sin(40.0 * q), abs=1e-12)
    joint = {"value": 0.03, "damping": 0.02}
    with session(mode="effort", cogging=0.05, cogging_cycles=40.0, joint=joint) as run:
        run.step(500)
        assert run["arm/J.angle"] == pytest.approx(0.0, abs=1e-4)


def test_a_reversed_motor_crosses_the_play_before_the_joint_follows() -> None:
    """While the rotor crosses the backlash the joint gets nothing; then it is pushed again."""
    bench = rig(mode="effort", backlash=0.02, gear=100.0, rotor_inertia=1e-6)
    bench.state.target_effort[0] = 0.5
    for step in range(100):
        effort(bench, 0.0, 0.0, step)
    assert bench.values()["arm/J.play"] == pytest.approx(0.01)
    bench.state.target_effort[0] = -0.5
    got = [effort(bench, 0.0, 0.0, step) for step in range(100, 200)]
    crossing = [n for n, value in enumerate(got) if value == 0.0]
    assert crossing[0] == 0
    assert got[-1] == pytest.approx(-0.5)
    assert bench.values()["arm/J.play"] == pytest.approx(-0.01)
    # The rotor alone: J ω̇ = τ − k²/R ω, from rest over 0.02 rad.
    rate, most = K * K / OHM / 1e-2, 0.5 / (K * K / OHM)
    t = len(crossing) * H
    assert most * (t - (1.0 - math.exp(-rate * t)) / rate) == pytest.approx(0.02, rel=0.1)
    knock = min(got[len(crossing) :])
    assert knock < -0.6  # its momentum comes with it


def run_up(**given: object) -> Session:
    """An AX-12 without friction, about to run up the link in steps of 1 ms."""
    model = servo_models()["AX-12"].params
    return session(step=0.001, **{**model, "friction": 0.0, "damping": 0.0, **given})


def speed_after(steps: int, **given: object) -> float:
    with run_up(**given) as run:
        run["arm/J.target"] = 1.0
        run.step(steps)
        return run["arm/J.speed"]


def test_play_that_vanishes_is_none() -> None:
    """With a smaller and smaller backlash a servo runs up as with none."""
    plain = speed_after(10, backlash=0.0)
    assert plain > math.radians(60.0)
    for backlash in (1e-5, 1e-9, 1e-12):
        assert speed_after(10, backlash=backlash) == pytest.approx(plain, rel=1e-3)


@pytest.mark.parametrize("backlash", [1e-9, 1e-3, 0.00524, 0.05])
def test_play_makes_no_energy(backlash: float) -> None:
    """Link and rotor never have more kinetic energy than the motor put into its shaft."""
    model = servo_models()["AX-12"].params
    reflected = model["rotor_inertia"] * model["gear"] ** 2
    with run_up(backlash=backlash) as run:
        for step in range(600):
            run["arm/J.target"] = 0.5 if step % 200 < 100 else -0.5
            run.step()
            memory, v = run.state["actuator/smart_servo/memory"][0], run["arm/J.speed"]
            rotor = memory[cut.ROTOR] if memory[cut.SIDE] == 0.0 else v
            kinetic = 0.5 * (INERTIA * v**2 + reflected * rotor**2)
            assert kinetic <= run["arm/J.shaft_work"] * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("backlash", [1e-9, 1e-3])
def test_a_servo_with_play_keeps_its_largest_effort(backlash: float) -> None:
    """The joint gets as fast as that effort lets it; only in the play do the gears lose nothing."""
    plain = speed_after(40, backlash=0.0, max_effort=0.1)
    got = speed_after(40, backlash=backlash, max_effort=0.1)
    assert got == pytest.approx(plain, rel=0.15)


# Inner loop


@pytest.mark.parametrize("error", [-0.5, -0.12, -0.04, -0.01, 0.0, 0.015, 0.06, 0.2, 0.5])
def test_compliance_is_the_curve_of_the_ax_12(error: float) -> None:
    """Nothing within the margin, then from punch to full duty over the slope; each way its own."""
    bench = rig(
        loop="compliance", kp=0.0, margin_cw=0.02, margin_ccw=0.01, slope_cw=0.2, slope_ccw=0.1,
        punch=0.05,
    )  # fmt: skip
    bench.signals.set("arm/J.target", error, "test")
    margin, slope = (0.02, 0.2) if error < 0 else (0.01, 0.1)
    beyond = abs(error) - margin
    duty = min(0.05 + 0.95 * beyond / slope, 1.0) if beyond > 0 else 0.0
    assert effort(bench, 0.0, 0.0) == pytest.approx(math.copysign(3.0 * duty, error), abs=1e-12)


def test_pid_is_its_formula() -> None:
    """Duty kp·e + ki∫e + kd·(ṡ − v), within the bridge's reach."""
    bench = rig(kp=0.8, ki=2.0, kd=0.05, max_duty=0.6)
    bench.signals.set("arm/J.target", 0.25, "test")
    for step in range(3):
        got = effort(bench, 0.0, 0.4, step)
        duty = 0.8 * 0.25 - 0.05 * 0.4 + 2.0 * 0.25 * (step + 1) * H
        assert got == pytest.approx(K * (12.0 * duty - K * 0.4) / OHM, rel=1e-9)
    bench.signals.set("arm/J.target", 9.0, "test")
    assert effort(bench, 0.0, 0.4) == pytest.approx(K * (12.0 * 0.6 - K * 0.4) / OHM)


def test_encoder_is_quantised_and_the_loop_ticks_at_its_period() -> None:
    """Readings are whole codes; between two ticks the duty is held."""
    bench = rig(kp=1.0, resolution=0.01, control_period=5 * H)
    duties = []
    for step in range(15):
        effort(bench, 0.0037 * step, 0.0, step)
        code = bench.values()["arm/J.measured"] / 0.01
        assert code == pytest.approx(round(code), abs=1e-9)
        duties.append(bench.values()["arm/J.duty"])
    assert len(set(duties[0:5])) == len(set(duties[5:10])) == len(set(duties[10:15])) == 1
    assert duties[5] == pytest.approx(-0.02)
    assert duties[10] == pytest.approx(-0.04)


def test_a_motor_side_encoder_does_not_see_the_play() -> None:
    """It reads the rotor: the joint's angle and the play between them."""
    for where, seen in (("output", 0.0), ("motor", 0.01)):
        bench = rig(mode="position", kp=5.0, backlash=0.02, encoder=where, max_duty=0.2)
        bench.signals.set("arm/J.target", 1.0, "test")
        for step in range(50):
            effort(bench, 0.0, 0.0, step)
        assert bench.values()["arm/J.measured"] == pytest.approx(seen)


@pytest.mark.parametrize(("to", "speed", "most"), [(1.0, 2.0, 8.0), (-0.3, 5.0, 3.0), (2.0, 1, 50)])
def test_setpoint_keeps_speed_and_acceleration_and_arrives_at_rest(
    to: float, speed: float, most: float
) -> None:
    """The time is that of the trapezoid, no limit is passed, and there is no overshoot."""
    bench = rig({"max_speed": speed}, max_acceleration=most)
    bench.signals.set("arm/J.target", to, "test")
    way = [0.0]
    for step in range(2500):
        bench.drive(step)
        way.append(bench.values()["arm/J.setpoint"])
    rate = np.diff(way) / H
    assert np.abs(rate).max() <= speed * (1 + 1e-9)
    assert np.abs(np.diff(rate)).max() <= 2.0 * most * H
    assert np.abs(way).max() <= abs(to) * (1 + 1e-12)
    assert way[-1] == to
    far, ramp = abs(to), speed**2 / most
    time = 2 * math.sqrt(far / most) if far < ramp else far / speed + speed / most
    assert np.flatnonzero(np.array(way) == to)[0] * H == pytest.approx(time, abs=4 * H, rel=0.02)


@pytest.mark.capability(19)
def test_velocity_mode_turns_at_the_wanted_speed_up_to_what_the_supply_allows() -> None:
    """The loop holds a reachable speed; an unreachable one ends at the free speed."""
    with session(mode="velocity", kp=0.3, ki=1.0, max_acceleration=20.0) as run:
        run["arm/J.target_speed"] = -2.0
        run.step(1000)
        assert run["arm/J.speed"] == pytest.approx(-2.0, rel=1e-3)
        run["arm/J.target_speed"] = 20.0
        run.step(2000)
        assert run["arm/J.speed"] == pytest.approx(6.0, rel=1e-3)


# Supply and heat


def test_servos_of_a_robot_share_its_supply() -> None:
    """Two stalled servos at full duty: V = S/(1 + 2 r/R), and the currents add up."""
    scene = Scene("test", step=H).place(arm("JK"))
    specs = [
        Spec("actuator", "smart_servo", name,
             {"joint": f"arm/{name}", **IDEAL, "kp": 1e3, "supply_resistance": 0.5}, HERE)
        for name in "JK"
    ]  # fmt: skip
    bench = Rig(scene, "actuator", specs)
    for name in "JK":
        bench.signals.set(f"arm/{name}.target", 1.0, "test")
    bench.drive()
    volts = 12.0 / (1.0 + 2.0 * 0.5 / OHM)
    assert bench.values()["arm/J.voltage"] == pytest.approx(volts, rel=1e-12)
    bench.block.meter()
    values = bench.values()
    assert values["arm/J.current"] == pytest.approx(volts / OHM)
    assert values["arm.current"] == pytest.approx(2.0 * volts / OHM)
    assert values["arm.voltage"] == pytest.approx(12.0 - 0.5 * values["arm.current"])


def test_a_stalled_servo_warms_up_and_switches_off() -> None:
    """Temperature follows its first-order law; above the limit it is limp until re-enabled."""
    given = {"thermal_resistance": 8.0, "thermal_capacity": 0.5, "max_temperature": 60.0}
    bench = rig(kp=0.5, **given)  # type: ignore[arg-type]
    bench.signals.set("arm/J.target", 0.5, "test")
    temperature, step = 25.0, 0
    while bench.values()["arm/J.fault"] == 0.0:
        bench.drive(step)
        bench.block.meter()
        step += 1
        # an independent integration: P = U²/R(T) with U = 3 V
        power = 9.0 / (OHM * (1.0 + 0.0039 * (temperature - 25.0)))
        temperature += H * (power - (temperature - 25.0) / 8.0) / 0.5
        if step > 20000:
            break
    assert step > 20000  # 9 W/8 Ω · 8 K/W = 9 K: never too hot
    assert bench.values()["arm/J.temperature"] == pytest.approx(temperature, rel=1e-9)
    bench.signals.set("arm/J.kp", 2.0, "test")
    while bench.values()["arm/J.fault"] == 0.0:
        bench.drive(step)
        bench.block.meter()
    assert bench.values()["arm/J.temperature"] > 60.0
    assert not bench.drive(step).any()
    bench.signals.set("arm/J.enabled", 0.0, "test")
    bench.drive(step)
    bench.state["actuator/smart_servo/memory"][0, 9] = 30.0
    bench.signals.set("arm/J.enabled", 1.0, "test")
    assert bench.drive(step)[:, 0].any()


EVERYTHING: dict[str, Any] = {
    "stall_effort": 2.0, "friction": 0.05, "damping": 0.02, "gear": 200.0, "rotor_inertia": 1e-7,
    "cogging": 0.02, "cogging_cycles": 60.0, "backlash": 0.005, "resolution": 0.002,
    "control_period": 0.004, "kp": 6.0, "kd": 0.1, "ki": 1.0, "supply_resistance": 0.4,
    "idle_current": 0.05, "thermal_resistance": 6.0, "thermal_capacity": 20.0,
    "max_acceleration": 40.0,
}  # fmt: skip


@pytest.mark.capability(20, 88, 167)
@pytest.mark.parametrize("engine", ["mujoco", "impulse"])
def test_energy_of_the_electrical_model_closes(engine: str) -> None:
    """What the supply gives is heat, shaft work and standby, to 1e-9, with all effects on."""
    with session(engine, "JK", **EVERYTHING) as run:
        own = {"energy": 0.0, "gross": 0.0, "heat": 0.0}
        for step in range(800):
            if step % 200 == 0:
                run["arm/J.target"], run["arm/K.target"] = ((0.8, -0.5), (-0.6, 0.4))[
                    step // 200 % 2
                ]
            run.step()
            power = run["arm/J.power"] - 0.05 * run["arm/J.voltage"]
            own["energy"] += H * run["arm/J.power"]
            own["gross"] += H * (max(power, 0.0) + 0.05 * run["arm/J.voltage"])
            assert abs(run["arm/J.duty"]) <= 1.0
        for name in ("arm/J", "arm/K", "arm"):
            meters = ("heat", "shaft_work", "standby_energy")
            total = sum(run[f"{name}.{meter}"] for meter in meters)
            assert run[f"{name}.energy"] == pytest.approx(total, rel=1e-9, abs=1e-9)
            assert run[f"{name}.energy_gross"] > run[f"{name}.energy"] > 0.0
            assert run[f"{name}.work_gross"] > run[f"{name}.work"]
        assert run["arm/J.energy"] == pytest.approx(own["energy"], rel=1e-9)
        assert run["arm/J.energy_gross"] == pytest.approx(own["gross"], rel=1e-9)
        for meter in ("energy", "energy_gross", "work", "work_gross", "heat"):
            both = run[f"arm/J.{meter}"] + run[f"arm/K.{meter}"]
            assert run[f"arm.{meter}"] == pytest.approx(both, rel=1e-12)


@pytest.mark.capability(167)
@pytest.mark.parametrize("engine", ["mujoco", "impulse"])
def test_what_the_motor_gives_is_what_the_arm_gets(engine: str) -> None:
    """Without friction the work is the kinetic energy of link and rotor; braking gives it back."""
    ideal: dict[str, Any] = {
        "gear": 100.0,
        "rotor_inertia": 1e-7,
        "kp": 0.4,
        "max_acceleration": 20.0,
    }
    with session(engine, step=2e-4, mode="velocity", **ideal) as run:
        run["arm/J.target_speed"] = 4.0
        run.step(2000)
        moving = 0.5 * (INERTIA + 1e-3) * run["arm/J.speed"] ** 2
        assert run["arm/J.work"] == pytest.approx(moving, rel=0.02)
        assert run["arm/J.shaft_work"] == pytest.approx(run["arm/J.work"], rel=1e-9)
        spent = run["arm/J.work_gross"]
        assert spent == pytest.approx(run["arm/J.work"], rel=1e-3)
        run["arm/J.target_speed"] = 0.0
        run.step(3000)
        assert run["arm/J.work"] == pytest.approx(0.0, abs=0.02 * moving)
        assert run["arm/J.work_gross"] == pytest.approx(spent, rel=0.02)


def test_engines_agree_on_a_step() -> None:
    """The same servo makes the same step on MuJoCo and on Impulse."""
    variants = []
    for engine in ("mujoco", "impulse"):
        with session(engine, step=0.001, **{**EVERYTHING, "cogging": 0.0}) as run:
            run["arm/J.target"] = 0.8
            way = []
            for _ in range(60):
                run.step(10)
                way.append(run["arm/J.angle"])
        variants.append(way)
    assert np.abs(np.subtract(*variants)).max() < 0.01
    assert variants[0][-1] == pytest.approx(0.8, abs=0.01)


def test_kinematic_moves_the_joint_and_the_meter_runs() -> None:
    """Where joints follow their targets anyway the servo only accounts."""
    with session("kinematic", idle_current=0.1, joint={"max_speed": 1.0}) as run:
        run["arm/J.target"] = 0.1
        run.step(100)
        assert run["arm/J.angle"] == pytest.approx(0.1)
        assert run["arm/J.standby_energy"] == pytest.approx(0.1 * 12.0 * 0.2)


@pytest.mark.capability(75)
def test_gains_limits_and_loads_change_while_it_runs() -> None:
    """A stiffer gain leaves less error under a load; a heavier load leaves more."""
    joint = {"axis": (0.0, 1.0, 0.0), "value": 0.0}
    part = Part("arm").add(
        Element("post", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Element("link", (Box((0.2, 0.05, 0.05), at=Pose((0.1, 0, 0))),), mass=0.2),
        Joint("J", "hinge", "post", "link", at=Pose((0.0, 0.0, 0.5)), **joint),  # type: ignore[arg-type]
    )
    scene = Scene("test", step=H).place(part).engine("mujoco")
    with Session(scene.actuator("J", "smart_servo", joint="arm/J", **IDEAL, kp=2.0)) as run:
        sags = []
        for name, value in (("arm/J.kp", 2.0), ("arm/J.kp", 8.0), ("arm/link.mass", 0.4),
                            ("arm/J.max_effort", 0.1)):  # fmt: skip
            run[name] = value
            run.step(1500)
            sags.append(run["arm/J.angle"])
        load = 0.2 * 9.81 * 0.1
        assert sags[0] == pytest.approx(load / (3.0 * 2.0), rel=0.02)
        assert sags[1] == pytest.approx(load / (3.0 * 8.0), rel=0.02)
        assert sags[2] == pytest.approx(2 * load / (3.0 * 8.0), rel=0.02)
        assert sags[3] > 0.5  # too weak to hold it


# Data and mistakes


def test_ready_data_has_sources_and_is_possible() -> None:
    """The AX-12, a PowerCube and an XM430 are there, each with sources and a motor that can be."""
    models = servo_models()
    assert {"AX-12", "PowerCube", "XM430-W350"} <= set(models)
    for name, model in models.items():
        assert model.title
        assert model.sources
        spec = Spec("actuator", "smart_servo", name, {"joint": "J", **model.params})
        params = SmartServoParams(joint="J", **model.params)
        motor = motor_constants(params, spec)
        assert 0.2 < motor.efficiency <= 1.0
        passed = motor.efficiency * motor.constant * params.stall_current
        assert passed == pytest.approx(params.stall_effort + params.friction)


def test_a_part_names_ready_data_or_a_file_of_its_own(tmp_path: Path) -> None:
    """The drive's own words win over the file's, the file's over the model's."""
    (tmp_path / "mine.toml").write_text(
        'format = "linkwork/servo 1"\nname = "mine"\n[parameters]\nresolution_deg = 1\nkp = 3\n'
    )
    (tmp_path / "arm.toml").write_text(
        'format = "linkwork/part 1"\nname = "arm"\n'
        '[[element]]\nname = "a"\nmass = 1\nshape = { box = { size = [0.1, 0.1, 0.1] } }\n'
        '[[element]]\nname = "b"\nmass = 1\nshape = { box = { size = [0.1, 0.1, 0.1] } }\n'
        '[[joint]]\nname = "J"\ntype = "hinge"\nfrom = "a"\nto = "b"\n'
        'drive = { type = "smart_servo", model = "ax-12", file = "mine.toml", punch = 0.1 }\n'
    )
    with Session(Scene("test").place(load_part(tmp_path / "arm.toml"))) as run:
        (block,) = run.cycle.actuators
        params = block.params[0]  # type: ignore[attr-defined]
    assert (params.gear, params.punch) == (254, 0.1)
    assert params.resolution == pytest.approx(math.radians(1.0))


MISTAKES = [
    ({"model": "AX-13"}, "there is no servo named 'AX-13'"),
    ({"file": "none.toml"}, "none.toml' cannot be read"),
    ({"stall_effort": 4.0}, "more than it takes"),
    ({"control_period": 0.005}, "not a whole multiple"),
    ({"mode": "torque"}, "mode"),
    (
        {"model": "AX-12", "kp": 4.0},
        "kp has no effect here: loop is compliance, which uses margin_cw",
    ),
    (
        {"model": "XM430-W350", "slope_cw": 0.1},
        "slope_cw has no effect here: loop is pid, which uses",
    ),
    (
        {"mode": "velocity", "kd": 1.0},
        "kd has no effect here: mode is velocity, which uses kp and ki",
    ),
    (
        {"mode": "effort", "max_acceleration": 1.0},
        "max_acceleration has no effect here: mode is effort",
    ),
    ({"cogging": 0.1}, "cogging has no effect here: cogging_cycles is 0"),
    ({"max_temperature": 60.0}, "max_temperature has no effect here: thermal_capacity is 0"),
    ({"thermal_capacity": 1.0, "max_temperature": 20.0}, "not above ambient"),
]


def test_only_gains_that_do_something_can_be_changed_while_it_runs() -> None:
    """An AX-12 has margins and slopes, not kp; with the loop pid it is the other way round."""
    held, pid = rig(loop="compliance").signals, rig(kp=4.0).signals
    turning = rig(mode="velocity").signals
    for word, compliant in (("kp", False), ("slope_cw", True), ("punch", True), ("ki", False)):
        assert (f"arm/J.{word}" in held) == compliant
        assert (f"arm/J.{word}" in pid) == (not compliant)
    assert "arm/J.ki" in turning
    assert "arm/J.kd" not in turning


@pytest.mark.parametrize(("params", "expected_text"), MISTAKES)
def test_a_mistake_is_told_with_its_place(params: dict, expected_text: str) -> None:
    """The message names file and line, and what is wrong."""
    with pytest.raises(LinkworkError) as caught:
        rig(**params)
    assert str(caught.value).startswith("robot.toml:7: ")
    assert expected_text in str(caught.value)


@pytest.mark.capability(157)
@pytest.mark.parametrize("engine", ["mujoco", "impulse", "lagrange"])
@pytest.mark.parametrize("excess", [0.2, 0.6, 0.9, 1.15])
def test_a_stalled_ax_12_holds_within_the_friction_of_its_gears(engine: str, excess: float) -> None:
    """Loads from η τ_m to (2 − η) τ_m neither lift nor lower the arm; it does not creep.

    ``excess`` is the load's place in that band, and of the joint's own friction beside it: a load
    above both goes down.
    """
    spec = with_model(Spec("actuator", "smart_servo", params={"model": "AX-12"}))
    params = read_params(replace(spec, params={**spec.params, "joint": "J"}), SmartServoParams)
    motor = motor_constants(params, spec)
    strongest = motor.constant * params.voltage / motor.resistance
    lost = (1.0 - motor.efficiency) * strongest
    load = strongest - lost + params.friction + 2.0 * lost * excess
    if excess > 1.0:
        load = strongest + lost + params.friction + 0.2
    length = 0.2
    link = Element("link", (Box((0.02, 0.02, 0.02), at=Pose((length, 0.0, 0.0))),),
                   mass=load / (9.81 * length))  # fmt: skip
    drive = Spec("drive", "smart_servo", params={"model": "AX-12", "thermal_capacity": 0.0,
                                                 "supply_resistance": 0.0})  # fmt: skip
    part = Part("arm").add(
        Element("post", mass=1.0), link,
        Joint("J", "hinge", "post", "link", axis=(0.0, -1.0, 0.0), drive=drive),
    )  # fmt: skip
    with Session(Scene("s", step=0.002).place(part).engine(engine), watch=False) as run:
        run["arm/J.target"] = 1.0  # the error saturates the bridge
        run.run(0.3)
        before = run["arm/J.angle"]
        run.run(2.0)
        moved = run["arm/J.angle"] - before
    if excess < 1.0:
        assert abs(math.degrees(moved)) < 1e-3
        assert abs(math.degrees(before)) < 0.1
    else:
        assert math.degrees(moved) < -5.0
