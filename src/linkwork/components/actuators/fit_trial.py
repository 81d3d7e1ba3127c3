"""Fit trial: the response of a servo with trial parameters against the measured one."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.components.actuators.smart_kernels import respond
from linkwork.components.actuators.smart_params import SmartServoParams, unused_params
from linkwork.components.actuators.smart_servo import SmartServo
from linkwork.core.errors import Origin, SceneError, not_found
from linkwork.core.state import Layout, State
from linkwork.model.blocks import add_blocks
from linkwork.model.parts import Box, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

#: Names of the fit for combinations of parameters.
COUPLED = {"slope": ("slope_cw", "slope_ccw"), "margin": ("margin_cw", "margin_ccw")}
#: Bounds of parameters that may be 0 or have a range of their own, in SI units.
_BOUNDS = {
    "backlash": (1e-4, 0.5), "cogging": (1e-4, 1e2), "damping": (1e-5, 1e2), "delay": (1e-4, 0.5),
    "friction": (1e-4, 1e2), "kd": (1e-4, 1e2), "ki": (1e-3, 1e3), "kp": (1e-2, 1e4),
    "margin": (1e-4, 0.5), "margin_ccw": (1e-4, 0.5), "margin_cw": (1e-4, 0.5),
    "max_duty": (0.05, 1.0), "punch": (1e-3, 1.0), "rotor_inertia": (1e-10, 1e-2),
    "slope": (1e-3, 3.0), "slope_ccw": (1e-3, 3.0), "slope_cw": (1e-3, 3.0),
    "speed_filter": (1e-4, 0.5), "supply_resistance": (1e-3, 1e2),
}  # fmt: skip
#: Parameters that are never 0: bounds are a hundredth and a hundred times the start.
_SCALED = (
    "free_speed", "gear", "inertia", "max_acceleration", "max_speed", "stall_current",
    "stall_effort", "supply", "voltage",
)  # fmt: skip
FITTABLE = sorted({*_BOUNDS, *_SCALED, "load"})


@dataclass(frozen=True)
class FitParameter:
    """A fitted parameter; the fit uses ``x``, its logarithm or a multiple of ``unit``.

    Attributes:
        name: Name of the parameter.
        first: Start value.
        low: Lowest value.
        high: Highest value.
        unit: Unit of x for a signed parameter; 0 for logarithms.
        from_zero: Whether it was 0, which has no logarithm.
    """

    name: str
    first: float
    low: float
    high: float
    unit: float = 0.0
    from_zero: bool = False

    def x(self, value: float) -> float:
        """The variable of the fit."""
        return value / self.unit if self.unit else math.log(value)

    def value(self, x: float) -> float:
        """The value of the parameter."""
        return self.unit * x if self.unit else math.exp(x)

    def width(self, x: float, spread: float) -> float:
        """The change of the parameter when x changes by ``spread``."""
        return (self.unit or math.exp(x)) * spread


def fit_parameter(name: str, given: float, params: dict[str, Any]) -> FitParameter:
    """A parameter to be fitted, starting at a given value.

    Raises:
        LinkworkError: If a servo has no such parameter, it cannot be fitted, or the start value is
            invalid.
    """
    if name == "load":
        most = float(params.get("stall_effort", SmartServoParams(joint="J").stall_effort))
        return FitParameter(name, given, min(-most, given), max(most, given), most)
    if name in _SCALED:
        if not given > 0.0:
            raise SceneError(f"{name} is fitted from a value above 0, not from {given:g}.")
        return FitParameter(name, given, given / 100.0, given * 100.0)
    if name not in _BOUNDS:
        raise not_found("fitted parameter", name, FITTABLE)
    low, high = _BOUNDS[name]
    if given < 0.0:
        raise SceneError(f"{name} is fitted from 0 or more, not from {given:g}.")
    if not given:
        return FitParameter(name, low, low, high, from_zero=True)
    return FitParameter(name, given, min(low, given), max(high, given))


@dataclass(frozen=True)
class Response:
    """The response of a servo.

    Attributes:
        time: Times [s], from one step on.
        angle: Angles [rad].
        speed: Speeds [rad/s].
        energy: Energy taken from the supply so far [J].
    """

    time: np.ndarray
    angle: np.ndarray
    speed: np.ndarray
    energy: np.ndarray


@lru_cache(maxsize=4)
def _flywheel_world(step: float) -> World:
    """Returns a world with one hinge, driven by the servo."""
    box = (Box((0.1, 0.1, 0.1)),)
    part = Part("bench").add(
        Element("post", box, mass=1.0),
        Element("wheel", box, mass=1.0),
        Joint("J", "hinge", "post", "wheel"),
    )
    return compile_scene(Scene("bench", step=step).place(part))


def simulate_response(
    targets: np.ndarray,
    params: dict[str, Any],
    *,
    inertia: float,
    step: float = 0.001,
    start: float = 0.0,
    load: float = 0.0,
    origin: Origin | None = None,
) -> Response:
    """Simulates a servo with ``params`` (in SI units) that turns a flywheel.

    Args:
        targets: Target angle in each step [rad].
        params: Parameters of ``smart_servo``.
        inertia: Inertia of the flywheel [kg m²], without the rotor's.
        step: Length of a step [s].
        start: Initial angle [rad].
        load: Constant load torque against the motion [N m].
        origin: Origin of the parameters, for messages.
    """
    world = _flywheel_world(step)
    idle = unused_params(params)
    used = {name: value for name, value in params.items() if name not in idle}
    spec = Spec(
        "actuator", "smart_servo", "servo", {**used, "joint": "bench/J"}, origin or Origin()
    )
    block = SmartServo(world, [spec])
    layout = Layout()
    layout.add_world(world.nq, world.nv, world.nb, 0, len(world.element_names), contacts=1)
    add_blocks(layout, [block])
    state = State(layout)
    block.bind(state)
    state.q[:] = start
    block.reset()
    own = block.params[0]
    wheel = np.array([inertia + block.motors[0].inertia, own.friction, own.damping, load])
    out = np.zeros((len(targets), 3))
    respond(step, np.asarray(targets, float), wheel, np.zeros(5), *block.tables, out)
    time = step * np.arange(1, len(targets) + 1)
    return Response(time, *out.T.copy())


#: Maximum distance of the servo from its first reading [rad].
_START = 0.005


class Trial:
    """The servo with trial parameters, compared with the measurement.

    A point x holds the scaled parameters, and last the initial position of the servo.

    Attributes:
        numbers: The fitted parameters.
        given: The point to start from.
        low: Lowest allowed x.
        high: Highest allowed x.
    """

    def __init__(
        self, time: np.ndarray, angle: np.ndarray, target: np.ndarray, params: dict[str, Any],
        names: list[str], test: dict[str, float], step: float,
    ) -> None:  # fmt: skip
        self.params, self.test, self.step = params, test, step
        self.time, self.angle = time - time[0], angle
        count = math.ceil(self.time[-1] / step) + 1
        rows = np.searchsorted(self.time, step * np.arange(count) + 1e-9, side="right") - 1
        self.targets = target[rows]
        self.numbers: list[FitParameter] = [
            fit_parameter(name, self._first(name), params) for name in names
        ]
        self.given = np.array([*(each.x(each.first) for each in self.numbers), 0.0])
        self.low = np.array([*(each.x(each.low) for each in self.numbers), -1.0])
        self.high = np.array([*(each.x(each.high) for each in self.numbers), 1.0])

    def _first(self, name: str) -> float:
        if name in self.test:
            return max(self.test[name], 1e-3) if name == "delay" else self.test[name]
        one = COUPLED.get(name, (name,))[0]
        given = self.params.get(one)
        if given is None:
            usual = SmartServoParams(joint="J")
            given = {
                "max_speed": self._fastest(), "max_acceleration": self._hardest(),
                "supply": self.params.get("voltage", usual.voltage),
            }.get(one, getattr(usual, one))  # fmt: skip
        if not isinstance(given, int | float):
            raise SceneError(f"{name} is not a parameter that can be fitted.")
        if name == "free_speed":
            given = max(given, self._fastest())
        return float(given)

    def _fastest(self) -> float:
        return max(float(np.abs(np.diff(self.angle) / np.diff(self.time)).max()), 1e-3)

    def _hardest(self) -> float:
        speed = np.diff(self.angle) / np.diff(self.time)
        return max(float(np.abs(np.diff(speed)).max() / np.diff(self.time).mean()), 1e-3)

    def split(
        self, x: np.ndarray, without: Collection[str] = ()
    ) -> tuple[dict[str, Any], dict[str, float]]:
        """Parameters of the servo, and of the test, with the trial values.

        Those in ``without`` keep their given values.
        """
        params, test = dict(self.params), dict(self.test)
        for tried, count in zip(self.numbers, x[:-1].tolist(), strict=True):
            name, value = tried.name, tried.value(count)
            if name in without:
                continue
            if name in test:
                test[name] = value
            for each in COUPLED.get(name, () if name in test else (name,)):
                params[each] = value
        return params, test

    def residual(self, x: np.ndarray, without: Collection[str] = ()) -> np.ndarray:
        """Simulated minus measured angle in each row [rad]; 1e3 if it cannot be simulated."""
        try:
            off = self.simulated(x, without) - self.angle
        except SceneError:  # an impossible motor
            return np.full(len(self.time), 1e3)
        return off if np.isfinite(off).all() else np.full(len(self.time), 1e3)

    def simulated(self, x: np.ndarray, without: Collection[str] = ()) -> np.ndarray:
        """The simulated angle in each row [rad].

        Raises:
            SceneError: If such a motor is impossible.
        """
        params, test = self.split(x, without)
        start = float(self.angle[0] + _START * x[-1])
        made = simulate_response(
            self.targets, params, inertia=test["inertia"], step=self.step,
            start=start, load=test["load"],
        )  # fmt: skip
        when = np.maximum(self.time - test["delay"], 0.0)
        time, angles = np.append(0.0, made.time), np.append(start, made.angle)
        return np.interp(when, time, angles)

    def cost(self, x: np.ndarray, without: Collection[str] = ()) -> float:
        """Sum of the squared residuals [rad²]."""
        residual = self.residual(x, without)
        return float(residual @ residual)

    def jacobian(self, x: np.ndarray, by: float = 0.01) -> np.ndarray:
        """Derivatives of the residuals with respect to each x, by central differences."""
        columns = []
        for n in range(len(x)):
            up, down = x.copy(), x.copy()
            up[n], down[n] = min(x[n] + by, self.high[n]), max(x[n] - by, self.low[n])
            columns.append((self.residual(up) - self.residual(down)) / (up[n] - down[n]))
        return np.array(columns).T
