"""Span: the way between two states at two times in two pieces of constant acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.scene.planning import Limits

#: A number, or many of them at once.
Numbers = float | np.ndarray


@dataclass(frozen=True)
class Span:
    """From speed ω1 to speed ω2 in the time T, covering the way D (004 §4.2).

    The speed is a line to ωm at the switch s = tm − t1 and another from there. Both together cover
    D if (s, ωm) lies on the line L2, ωm = ω1 + h + αs, which runs h above the line L1 from ω1 to
    ω2 (eqs 2 and 4); the accelerations are then α + h/s and α − h/(T − s). Each attribute is an
    array: one span or many at once.

    Attributes:
        way: D = θ2 − θ1 [rad or m].
        first: ω1 [rad/s or m/s].
        last: ω2.
        time: T = t2 − t1 [s], above 0.
    """

    way: np.ndarray
    first: np.ndarray
    last: np.ndarray
    time: np.ndarray

    @classmethod
    def of(cls, way: Numbers, first: Numbers, last: Numbers, time: Numbers) -> Span:
        """A span from numbers or arrays."""
        return cls(*(np.asarray(each, dtype=float) for each in (way, first, last, time)))

    @property
    def bulge(self) -> np.ndarray:
        """h: how far L2 runs above L1 (004 eq. 4)."""
        return 2.0 * self.way / self.time - self.last - self.first

    @property
    def rise(self) -> np.ndarray:
        """Δ = ω2 − ω1."""
        return self.last - self.first

    @property
    def slope(self) -> np.ndarray:
        """α = Δ/T, the mean acceleration."""
        return self.rise / self.time

    def middle(self, switch: Numbers) -> np.ndarray:
        """ωm on L2 at ``switch`` (004 eq. 2)."""
        return self.first + self.bulge + self.slope * switch

    def accelerations(self, switch: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """a1 before and a2 after ``switch`` (004 eqs 7 and 8); both α where h = 0."""
        h, slope, rest = self.bulge, self.slope, self.time - switch
        with np.errstate(divide="ignore", invalid="ignore"):
            before = np.where(h == 0.0, 0.0, np.divide(h, switch))
            after = np.where(h == 0.0, 0.0, np.divide(h, rest))
        return slope + before, slope - after

    def peak_acceleration(self, switch: Numbers) -> np.ndarray:
        """The larger of |a1| and |a2|."""
        first, second = self.accelerations(switch)
        return np.maximum(np.abs(first), np.abs(second))

    def peak_speed(self, switch: Numbers) -> np.ndarray:
        """The largest of |ω1|, |ωm| and |ω2|."""
        ends = np.maximum(np.abs(self.first), np.abs(self.last))
        return np.maximum(ends, np.abs(self.middle(switch)))

    def least_acceleration(self) -> np.ndarray:
        """The peak no way through these states can do without: (|h| + √(Δ² + h²))/T.

        It follows from eqs 9 to 11. A law of one switch between +A and −A is what the least peak
        of all laws takes, not only of those in two pieces.
        """
        h = np.abs(self.bulge)
        return (h + np.hypot(self.rise, h)) / self.time

    def window(self, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
        """The switches within ``limits``: an interval, empty where its beginning is above its end.

        With σ = sign h, |a1| ≤ a asks for s ≥ |h|/(a − σα) and |a2| ≤ a for
        s ≤ T − |h|/(a + σα); |ωm| ≤ ω is an interval since ωm is linear in s.
        """
        h, slope, time = self.bulge, self.slope, self.time
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
        # Limits that are just met leave one switch, which rounding may tear apart.
        torn = (low > high) & (low <= high + 1e-12 * time)
        middle = 0.5 * (np.where(torn, low, 0.0) + np.where(torn, high, 0.0))
        return np.where(torn, middle, low), np.where(torn, middle, high)
