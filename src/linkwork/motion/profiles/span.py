"""Span: the motion between two waypoints in two segments of constant acceleration."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork.core.errors import Origin
from linkwork.model.scene.motion_limits import MotionLimits

#: A number, or an array.
Numbers = float | np.ndarray


@dataclass(frozen=True)
class Span:
    """From velocity ω1 to velocity ω2 in the time T over the distance D (Lima et al. §4.2).

    The velocity is linear to ωm at the switch s = tm − t1 and linear from there. Both together
    cover D if (s, ωm) is on the line L2, ωm = ω1 + h + αs, which is h above the line L1 from ω1 to
    ω2 (eqs 2 and 4); the accelerations are then α + h/s and α − h/(T − s). Each attribute is an
    array: one span or many at once.

    Attributes:
        distance: D = θ2 − θ1 [rad or m].
        first: ω1 [rad/s or m/s].
        last: ω2.
        time: T = t2 − t1 [s], above 0.
    """

    distance: np.ndarray
    first: np.ndarray
    last: np.ndarray
    time: np.ndarray

    @classmethod
    def of(cls, distance: Numbers, first: Numbers, last: Numbers, time: Numbers) -> Span:
        """Returns a span from numbers or arrays."""
        return cls(*(np.asarray(each, dtype=float) for each in (distance, first, last, time)))

    @property
    def area_excess(self) -> np.ndarray:
        """h: the offset of L2 from L1 (Lima et al. eq. 4)."""
        return 2.0 * self.distance / self.time - self.last - self.first

    @property
    def rise(self) -> np.ndarray:
        """Δ = ω2 − ω1."""
        return self.last - self.first

    @property
    def slope(self) -> np.ndarray:
        """α = Δ/T, the mean acceleration."""
        return self.rise / self.time

    def middle(self, switch: Numbers) -> np.ndarray:
        """Returns ωm on L2 at ``switch`` (Lima et al. eq. 2)."""
        return self.first + self.area_excess + self.slope * switch

    def accelerations(self, switch: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Returns a1 before and a2 after ``switch`` (Lima et al. eqs 7 and 8); both α if h = 0."""
        h, slope, rest = self.area_excess, self.slope, self.time - switch
        with np.errstate(divide="ignore", invalid="ignore"):
            before = np.where(h == 0.0, 0.0, np.divide(h, switch))
            after = np.where(h == 0.0, 0.0, np.divide(h, rest))
        return slope + before, slope - after

    def peak_acceleration(self, switch: Numbers) -> np.ndarray:
        """Returns the larger of |a1| and |a2|."""
        first, second = self.accelerations(switch)
        return np.maximum(np.abs(first), np.abs(second))

    def peak_speed(self, switch: Numbers) -> np.ndarray:
        """Returns the largest of |ω1|, |ωm| and |ω2|."""
        ends = np.maximum(np.abs(self.first), np.abs(self.last))
        return np.maximum(ends, np.abs(self.middle(switch)))

    def least_acceleration(self) -> np.ndarray:
        """Returns the least possible peak acceleration: (|h| + √(Δ² + h²))/T.

        It follows from eqs 9 to 11. One switch between +A and −A is optimal among all laws, not
        only those in two segments.
        """
        h = np.abs(self.area_excess)
        return (h + np.hypot(self.rise, h)) / self.time

    def window(self, limits: MotionLimits) -> tuple[np.ndarray, np.ndarray]:
        """Returns the switches within ``limits``: an interval, empty if its start is above its end.

        With σ = sign h, |a1| ≤ a requires s ≥ |h|/(a − σα) and |a2| ≤ a requires s ≤ T − |h|/(a +
        σα); |ωm| ≤ ω is an interval since ωm is linear in s.
        """
        h, slope, time = self.area_excess, self.slope, self.time
        sign, size = np.sign(h), np.abs(h)
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(size > 0.0, size / (limits.acceleration - sign * slope), 0.0)
            high = np.where(size > 0.0, time - size / (limits.acceleration + sign * slope), time)
        steep = np.abs(slope) > limits.acceleration * (1.0 + 1e-12)
        low, high = np.where(steep, np.inf, low), np.where(steep, -np.inf, high)
        if np.isfinite(limits.speed):
            start, top = self.first + h, limits.speed
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = (-top - start) / slope, (top - start) / slope
            flat, fits = slope == 0.0, np.abs(start) <= top * (1.0 + 1e-12)
            slow = np.where(flat, np.where(fits, 0.0, np.inf), np.minimum(*ends))
            fast = np.where(flat, np.where(fits, time, -np.inf), np.maximum(*ends))
            low, high = np.maximum(low, slow), np.minimum(high, fast)
            over = np.maximum(np.abs(self.first), np.abs(self.last)) > top * (1.0 + 1e-12)
            low, high = np.where(over, np.inf, low), np.where(over, -np.inf, high)
        # limits that are just met leave one switch, which rounding may invert
        torn = (low > high) & (low <= high + 1e-12 * time)
        middle = 0.5 * (np.where(torn, low, 0.0) + np.where(torn, high, 0.0))
        return np.where(torn, middle, low), np.where(torn, middle, high)


@dataclass(frozen=True)
class Waypoint:
    """A state at a time.

    Attributes:
        time: [s].
        position: [rad or m].
        speed: [rad/s or m/s].
        origin: Origin in the file.
    """

    time: float
    position: float
    speed: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)

    @property
    def state(self) -> tuple[float, float, float]:
        """Time, position and speed."""
        return self.time, self.position, self.speed


def span_of(start: Waypoint, end: Waypoint) -> Span:
    """Returns the span between two waypoints."""
    distance, time = end.position - start.position, end.time - start.time
    return Span.of(distance, start.speed, end.speed, time)
