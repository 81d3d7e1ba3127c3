"""What a smart servo is: its parameters, and the motor's constants that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from linkwork.actuators.drives import DriveParams, Gain
from linkwork.errors import SceneError
from linkwork.parts import Spec

Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Celsius = Annotated[float, msgspec.Meta(ge=-273.15, le=1e4)]


class SmartServoParams(DriveParams):
    """Parameters of ``SmartServo``. Efforts and speeds are those of the joint, behind the gears.

    Attributes:
        model: Ready data to start from, by name (``AX-12``); what is said beside it wins.
        file: A file of such data, as ``linkwork fit`` writes it.
        mode: What is commanded: ``position``, ``velocity`` or ``effort``.
        voltage: At which the next three were measured [V].
        stall_effort: Effort at standstill [N m or N].
        free_speed: Speed without load [rad/s or m/s].
        stall_current: Current at standstill [A].
        gear: Turns of the rotor per turn of the joint.
        rotor_inertia: Of the rotor itself [kg m²]; the joint feels it times gear².
        friction: Coulomb friction at the joint [N m or N].
        damping: Viscous friction at the joint [N m s/rad or N s/m].
        cogging: Largest cogging effort at the joint [N m or N].
        cogging_cycles: Its cycles per turn of the joint.
        backlash: Play of the gears, from tooth to tooth [rad or m].
        encoder: Where it sits: at the ``output`` or at the ``motor``, before the play.
        resolution: Distance between two codes of the encoder [rad or m]; 0 reads exactly.
        speed_filter: Time constant with which the speed is made of two readings [s].
        control_period: Of the inner loop [s], a whole multiple of the step; if it is shorter than
            the step, or 0, the loop's law is handed to the engine, which integrates it.
        loop: By which law a position is held: ``pid``, or ``compliance`` as in the AX-12.
        kp: Duty per missing angle [1/rad]; per missing speed [s/rad] in mode ``velocity``.
        ki: Duty per missing angle and time [1/(rad s)], or speed and time.
        kd: Duty per missing speed [s/rad].
        margin_cw: Error that is let be when the joint must turn back [rad].
        margin_ccw: The same when it must turn on [rad].
        slope_cw: Beyond the margin, error at which the duty is full, turning back [rad].
        slope_ccw: The same, turning on [rad].
        punch: Duty with which it begins beyond the margin.
        max_duty: Largest duty of the bridge: the torque limit of an AX-12.
        max_speed: Of the setpoint [rad/s or m/s], where the joint itself does not say less.
        max_acceleration: Of the setpoint [rad/s² or m/s²]; unlimited if absent.
        supply: Voltage of the supply without load [V]; ``voltage`` if absent.
        supply_resistance: Of supply and wires [Ω]; all servos of a robot draw through it.
        idle_current: Of the electronics [A].
        thermal_resistance: From winding to air [K/W].
        thermal_capacity: Of motor and housing [J/K]; without, the servo stays cool.
        ambient: Temperature of the air, and at first of the winding [°C].
        max_temperature: Above it the servo switches off, until it is disabled and enabled [°C].
    """

    model: str = ""
    file: str = ""
    mode: Literal["position", "velocity", "effort"] = "position"
    voltage: Positive = 12.0
    stall_effort: Positive = 1.5
    free_speed: Positive = 6.0
    stall_current: Positive = 1.5
    gear: Positive = 1.0
    rotor_inertia: Gain = 0.0
    friction: Gain = 0.0
    damping: Gain = 0.0
    cogging: Gain = 0.0
    cogging_cycles: Gain = 0.0
    backlash: Gain = 0.0
    encoder: Literal["output", "motor"] = "output"
    resolution: Gain = 0.0
    speed_filter: Gain = 0.0
    control_period: Gain = 0.0
    loop: Literal["pid", "compliance"] = "pid"
    kp: Gain = 5.0
    ki: Gain = 0.0
    kd: Gain = 0.0
    margin_cw: Gain = 0.0
    margin_ccw: Gain = 0.0
    slope_cw: Positive = 0.17
    slope_ccw: Positive = 0.17
    punch: Share = 0.0
    max_duty: Share = 1.0
    max_speed: Positive | None = None
    max_acceleration: Positive | None = None
    supply: Gain | None = None
    supply_resistance: Gain = 0.0
    idle_current: Gain = 0.0
    thermal_resistance: Positive = 10.0
    thermal_capacity: Gain = 0.0
    ambient: Celsius = 25.0
    max_temperature: Celsius = 80.0


_COMPLIANCE = ("margin_cw", "margin_ccw", "slope_cw", "slope_ccw", "punch")
_PID = ("kp", "ki", "kd")


def without_effect(params: Mapping[str, Any]) -> dict[str, str]:
    """Parameters that do nothing with the mode, the loop and others that are said, and why."""
    mode, loop = params.get("mode", "position"), params.get("loop", "pid")
    idle: dict[str, str]
    if mode == "effort":
        words = (*_PID, *_COMPLIANCE, "max_acceleration", "max_speed")
        idle = dict.fromkeys(words, "mode is effort")
    elif mode == "velocity":
        idle = dict.fromkeys((*_COMPLIANCE, "kd"), "mode is velocity, which takes kp and ki")
    elif loop == "compliance":
        words = "loop is compliance, which takes margin_cw, margin_ccw, slope_cw, slope_ccw, punch"
        idle = dict.fromkeys(_PID, words)
    else:
        idle = dict.fromkeys(_COMPLIANCE, "loop is pid, which takes kp, ki, kd")
    if mode != "position" and loop == "compliance":
        idle["loop"] = f"mode is {mode}, and compliance holds a position"
    pairs = (("cogging", "cogging_cycles"), ("max_temperature", "thermal_capacity"))
    return idle | {word: f"{other} is 0" for word, other in pairs if not params.get(other)}


def check_effect(spec: Spec, said: Mapping[str, Any]) -> None:
    """Refuses parameters that are said beside a model, are not 0 and do nothing.

    Args:
        spec: The servo, with the parameters of its model.
        said: Those that its own words say.

    Raises:
        SceneError: Naming the parameter, why, and its line.
    """
    for word, why in without_effect(spec.params).items():
        if said.get(word):
            raise SceneError(
                f"{spec.kind} {spec.name!r}: {word} does nothing here: {why}.",
                origin=spec.at(word),
                hint=f"Leave {word} out, or change the other.",
            )


@dataclass(frozen=True)
class Motor:
    """The motor seen at the joint.

    Attributes:
        constant: k, effort per current [N m/A] and voltage per speed [V s/rad].
        resistance: R of the winding [Ω].
        efficiency: Share of k·i that the gears pass on.
        inertia: Of the rotor, reflected [kg m² or kg].
    """

    constant: float
    resistance: float
    efficiency: float
    inertia: float


def motor_of(params: SmartServoParams, spec: Spec) -> Motor:
    """The motor that has the stated stall effort, free speed and stall current.

    At standstill η k i_s = τ_s + friction; without load η k i_0 = friction + damping ω_0 and
    V = R i_0 + k ω_0. With R = V/i_s these give k and η.

    Raises:
        SceneError: If no motor is like that: it would give more than it takes, or be off at once.
    """
    if params.thermal_capacity > 0.0 and params.max_temperature <= params.ambient:
        raise SceneError(
            f"{spec.kind} {spec.name!r}: its max_temperature of {params.max_temperature:g} °C is "
            f"not above ambient, {params.ambient:g} °C.",
            origin=spec.at("max_temperature"),
        )
    resistance = params.voltage / params.stall_current
    passed = (params.stall_effort + params.friction) / params.stall_current  # η k
    idle = (params.friction + params.damping * params.free_speed) / passed
    constant = (params.voltage - resistance * idle) / params.free_speed
    if constant <= 0.0 or passed > constant * (1.0 + 1e-9):
        raise SceneError(
            f"{spec.kind} {spec.name!r}: no motor has a stall effort of {params.stall_effort:g}, "
            f"a free speed of {params.free_speed:g} rad/s and a stall current of "
            f"{params.stall_current:g} A at {params.voltage:g} V with this friction: it would give "
            "more than it takes.",
            origin=spec.at("stall_effort"),
            hint="(stall_effort + friction) · free_speed must be below voltage · stall_current.",
        )
    inertia = params.rotor_inertia * params.gear**2
    return Motor(constant, resistance, min(passed / constant, 1.0), inertia)


def cycles_per_unit(params: SmartServoParams, *, angle: bool) -> float:
    """Phase of the cogging per radian (or metre) of the joint."""
    return params.cogging_cycles * (1.0 if angle else 2.0 * math.pi)
