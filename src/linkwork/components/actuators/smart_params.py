"""Smart servo parameters, given one by one or by a named model."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from linkwork.components.actuators import DriveParams, Gain
from linkwork.core.errors import (
    FormatError,
    NameNotFound,
    Origin,
    SceneError,
    not_found,
    os_error_text,
)
from linkwork.core.value_types import split_unit
from linkwork.model.parts import Spec

Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Celsius = Annotated[float, msgspec.Meta(ge=-273.15, le=1e4)]


class SmartServoParams(DriveParams):
    """Parameters of ``SmartServo``. Efforts and speeds are those of the joint, after the gears.

    Attributes:
        model: Name of a model with default parameters (``AX-12``); other keys take precedence.
        file: A file of such data, as written by ``linkwork fit``.
        mode: Commanded quantity: ``position``, ``velocity`` or ``effort``.
        voltage: Voltage at which the next three were measured [V].
        stall_effort: Effort at standstill [N m or N].
        free_speed: Speed without load [rad/s or m/s].
        stall_current: Current at standstill [A].
        gear: Turns of the rotor per turn of the joint.
        rotor_inertia: Inertia of the rotor itself [kg m²]; at the joint it is multiplied by gear².
        friction: Coulomb friction at the joint [N m or N].
        damping: Viscous friction at the joint [N m s/rad or N s/m].
        cogging: Maximum cogging effort at the joint [N m or N].
        cogging_cycles: Its cycles per turn of the joint.
        backlash: Backlash of the gears, from tooth to tooth [rad or m].
        encoder: Position of the encoder: at the ``output`` or at the ``motor``, before the
            backlash.
        resolution: Distance between two codes of the encoder [rad or m]; 0 for exact readings.
        speed_filter: Time constant of the speed computed from two readings [s].
        control_period: Period of the inner loop [s], a whole multiple of the step; if it is shorter
            than the step, or 0, the control law is passed to the engine, which integrates it
            implicitly.
        loop: Position control law: ``pid``, or ``compliance`` as in the AX-12.
        kp: Duty per angle error [1/rad]; per speed error [s/rad] in mode ``velocity``.
        ki: Duty per angle error and time [1/(rad s)], or speed error and time.
        kd: Duty per speed error [s/rad].
        margin_cw: Tolerated error when the joint must turn to smaller angles [rad].
        margin_ccw: The same, to larger angles [rad].
        slope_cw: Error beyond the margin at which the duty is full, to smaller angles [rad].
        slope_ccw: The same, to larger angles [rad].
        punch: Initial duty beyond the margin.
        max_duty: Maximum duty of the bridge: the torque limit of an AX-12.
        max_speed: Maximum speed of the setpoint [rad/s or m/s], unless that of the joint is less.
        max_acceleration: Maximum acceleration of the setpoint [rad/s² or m/s²]; unlimited if
            absent.
        supply: Voltage of the supply without load [V]; ``voltage`` if absent.
        supply_resistance: Resistance of supply and wires [Ω], shared by all servos of a robot.
        idle_current: Current of the electronics [A].
        thermal_resistance: Thermal resistance from winding to air [K/W].
        thermal_capacity: Heat capacity of motor and housing [J/K]; without it, the servo does not
            heat up.
        ambient: Temperature of the air, and initially of the winding [°C].
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


def unused_params(params: Mapping[str, Any]) -> dict[str, str]:
    """Returns parameters without effect in the given mode and loop, with the reason."""
    mode, loop = params.get("mode", "position"), params.get("loop", "pid")
    idle: dict[str, str]
    if mode == "effort":
        words = (*_PID, *_COMPLIANCE, "max_acceleration", "max_speed")
        idle = dict.fromkeys(words, "mode is effort")
    elif mode == "velocity":
        idle = dict.fromkeys((*_COMPLIANCE, "kd"), "mode is velocity, which uses kp and ki")
    elif loop == "compliance":
        words = "loop is compliance, which uses margin_cw, margin_ccw, slope_cw, slope_ccw, punch"
        idle = dict.fromkeys(_PID, words)
    else:
        idle = dict.fromkeys(_COMPLIANCE, "loop is pid, which uses kp, ki, kd")
    if mode != "position" and loop == "compliance":
        idle["loop"] = f"mode is {mode}, and compliance holds a position"
    pairs = (("cogging", "cogging_cycles"), ("max_temperature", "thermal_capacity"))
    return idle | {word: f"{other} is 0" for word, other in pairs if not params.get(other)}


def check_unused(spec: Spec, own: Mapping[str, Any]) -> None:
    """Refuses nonzero parameters beside a model that have no effect.

    Args:
        spec: The servo, with the parameters of its model.
        own: The parameters in its own table.

    Raises:
        SceneError: Naming the parameter, the reason, and its line.
    """
    for word, why in unused_params(spec.params).items():
        if own.get(word):
            raise SceneError(
                f"{spec.kind} {spec.name!r}: {word} has no effect here: {why}.",
                origin=spec.at(word),
                hint=f"Leave {word} out, or change the other.",
            )


@dataclass(frozen=True)
class MotorConstants:
    """Motor constants at the joint.

    Attributes:
        constant: k, effort per current [N m/A] and voltage per speed [V s/rad].
        resistance: R of the winding [Ω].
        efficiency: Fraction of k·i that the gears transmit.
        inertia: Reflected inertia of the rotor [kg m² or kg].
    """

    constant: float
    resistance: float
    efficiency: float
    inertia: float


def motor_constants(params: SmartServoParams, spec: Spec) -> MotorConstants:
    """The motor that has the stated stall effort, free speed and stall current.

    At standstill η k i_s = τ_s + friction; without load η k i_0 = friction + damping ω_0 and
    V = R i_0 + k ω_0. With R = V/i_s these give k and η.

    Raises:
        SceneError: If such a motor is impossible: it would deliver more power than it takes, or
            overheat at once.
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
    return MotorConstants(constant, resistance, min(passed / constant, 1.0), inertia)


def cycles_per_unit(params: SmartServoParams, *, angle: bool) -> float:
    """Phase of the cogging per radian (or meter) of the joint."""
    return params.cogging_cycles * (1.0 if angle else 2.0 * math.pi)


FORM = "linkwork/servo 1"
#: Maximum size of a file of servo data [byte].
MAX_BYTES = 2**20
FOLDER = Path(__file__).parent / "models"


@dataclass(frozen=True)
class ServoModel:
    """Data of one servo.

    Attributes:
        name: Its name, ``AX-12``.
        title: Description in one line.
        sources: Sources of the numbers, and which were chosen.
        params: Parameters of ``smart_servo``, in SI units.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    params: dict[str, Any]


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MB")
    return data.decode("utf-8")


def read_model(path: Path, *, origin: Origin | None = None) -> ServoModel:
    """Reads a file of servo data.

    Raises:
        FormatError: If it cannot be read, or is another kind of file.
    """
    try:
        table = tomllib.loads(_text(path))
    except (OSError, ValueError, RecursionError) as error:
        why = os_error_text(error)
        raise FormatError(
            f"file {str(path)!r} cannot be read: {why}.",
            origin=origin,
            hint="A relative path starts at the folder of the file that names it.",
        ) from None
    if table.get("format") != FORM or not isinstance(table.get("parameters"), dict):
        raise FormatError(
            f"file {str(path)!r} is not a servo: it has format = {table.get('format')!r}.",
            origin=origin,
            hint=f'A servo\'s file has format = "{FORM}" and has a table [parameters].',
        )
    params = {}
    for key, value in table["parameters"].items():
        name, scale = split_unit(key)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        params[name if number else key] = value * scale if number else value
    sources = table.get("sources", [])
    return ServoModel(str(table.get("name", path.stem)), str(table.get("title", "")),
                      tuple(map(str, sources)), params)  # fmt: skip


@cache
def servo_models() -> dict[str, ServoModel]:
    """The package's own servos, by name."""
    found = [read_model(path) for path in sorted(FOLDER.glob("*.toml"))]
    return {model.name: model for model in found}


def with_model(spec: Spec) -> Spec:
    """The spec with the parameters of its model or file; its own keys take precedence.

    Raises:
        NameNotFound: If there is no such model; the message lists the existing ones.
        FormatError: If the file cannot be used.
    """
    params: dict[str, Any] = {}
    name, file = spec.params.get("model"), spec.params.get("file")
    if isinstance(name, str) and name:
        params |= _named(name, spec).params
    if isinstance(file, str) and file:
        path = Path(spec.origin.file).parent / file if spec.origin.file else Path(file)
        params |= read_model(path, origin=spec.at("file")).params
    return replace(spec, params={**params, **spec.params})


def _named(name: str, spec: Spec) -> ServoModel:
    known = {model.lower(): model for model in servo_models()}
    if name.lower() not in known:
        missing: NameNotFound = not_found("servo", name, known.values(), origin=spec.at("model"))
        raise missing
    return servo_models()[known[name.lower()]]
