"""Which numbers of a servo and its test can be fitted, between which bounds, on which scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from linkwork.actuators.smart_params import SmartServoParams
from linkwork.errors import SceneError, not_found

#: Names of the fit's own for what is not one parameter, or none of the servo.
TOGETHER = {"slope": ("slope_cw", "slope_ccw"), "margin": ("margin_cw", "margin_ccw")}
OF_THE_TEST = ("inertia", "delay", "load")
#: Lowest and highest value of what may be 0 or has a range of its own, in SI units.
_BOUNDS = {
    "backlash": (1e-4, 0.5), "cogging": (1e-4, 1e2), "damping": (1e-5, 1e2), "delay": (1e-4, 0.5),
    "friction": (1e-4, 1e2), "kd": (1e-4, 1e2), "ki": (1e-3, 1e3), "kp": (1e-2, 1e4),
    "margin": (1e-4, 0.5), "margin_ccw": (1e-4, 0.5), "margin_cw": (1e-4, 0.5),
    "max_duty": (0.05, 1.0), "punch": (1e-3, 1.0), "rotor_inertia": (1e-10, 1e-2),
    "slope": (1e-3, 3.0), "slope_ccw": (1e-3, 3.0), "slope_cw": (1e-3, 3.0),
    "speed_filter": (1e-4, 0.5), "supply_resistance": (1e-3, 1e2),
}  # fmt: skip
#: What is never 0: it goes from a hundredth to a hundred times of where it starts.
_SCALED = (
    "free_speed", "gear", "inertia", "max_acceleration", "max_speed", "stall_current",
    "stall_effort", "supply", "voltage",
)  # fmt: skip
FITTABLE = sorted({*_BOUNDS, *_SCALED, "load"})


@dataclass(frozen=True)
class Number:
    """A number that is fitted; the fit counts in ``x``, its logarithm or a multiple of ``unit``.

    Attributes:
        name: Of the parameter.
        first: Where it starts.
        low: Lowest value.
        high: Highest value.
        unit: What it is counted in, where it may have either sign; 0 for logarithms.
        from_zero: Whether it was 0, which no logarithm can say.
    """

    name: str
    first: float
    low: float
    high: float
    unit: float = 0.0
    from_zero: bool = False

    def x(self, value: float) -> float:
        """What the fit counts in."""
        return value / self.unit if self.unit else math.log(value)

    def value(self, x: float) -> float:
        """The number itself."""
        return self.unit * x if self.unit else math.exp(x)

    def width(self, x: float, spread: float) -> float:
        """How far the number goes where x goes as far as ``spread``."""
        return (self.unit or math.exp(x)) * spread


def number(name: str, given: float, params: dict[str, Any]) -> Number:
    """A number to be fitted that starts where it is given.

    Raises:
        LinkworkError: If a servo has none of this name, it cannot be fitted, or cannot start there.
    """
    if name == "load":
        most = float(params.get("stall_effort", SmartServoParams(joint="J").stall_effort))
        return Number(name, given, min(-most, given), max(most, given), most)
    if name in _SCALED:
        if not given > 0.0:
            raise SceneError(f"{name} is fitted from a value above 0, not from {given:g}.")
        return Number(name, given, given / 100.0, given * 100.0)
    if name not in _BOUNDS:
        raise not_found("fitted parameter", name, FITTABLE)
    low, high = _BOUNDS[name]
    if given < 0.0:
        raise SceneError(f"{name} is fitted from 0 or more, not from {given:g}.")
    if not given:
        return Number(name, low, low, high, from_zero=True)
    return Number(name, given, min(low, given), max(high, given))
