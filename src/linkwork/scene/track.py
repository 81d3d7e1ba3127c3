"""Track: one value over time through given points."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

#: How a value goes from one point to the next.
INTERPOLATIONS = ("linear", "smooth", "hold")


class Course(Protocol):
    """A value over time, however it is made."""

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        ...

    def extent(self) -> tuple[float, float]:
        """Lowest and highest value."""
        ...


class Track:
    """A value that reaches ``values`` at ``times``.

    Before the first time it is the first value, after the last time the last. Between, "linear"
    goes evenly; "hold" keeps each value until the next time; "smooth" has no jump in speed, rests
    at the first and the last point and never goes beyond its two neighbours: the cubic whose
    slopes are weighted harmonic means of the neighbouring ones, 0 at every turning point (Fritsch
    and Butland 1984).

    Args:
        times: Rising times [s].
        values: As many values.
        interpolation: One of :data:`INTERPOLATIONS`.
    """

    def __init__(
        self, times: Sequence[float], values: Sequence[float], interpolation: str = "linear"
    ) -> None:
        self.times, self.values = tuple(times), tuple(values)
        self._hold = interpolation == "hold"
        self._slopes = _slopes(self.times, self.values) if interpolation == "smooth" else None

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        times, values = self.times, self.values
        n = bisect_right(times, time)
        if n == 0:
            return values[0]
        if n == len(times) or self._hold:
            return values[n - 1]
        width = times[n] - times[n - 1]
        share, rise = (time - times[n - 1]) / width, values[n] - values[n - 1]
        if self._slopes is None:
            return values[n - 1] + share * rise
        m0, m1 = self._slopes[n - 1] * width, self._slopes[n] * width
        bend = share * (3.0 * rise - 2.0 * m0 - m1 + share * (m0 + m1 - 2.0 * rise))
        return values[n - 1] + share * (m0 + bend)

    def extent(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return min(self.values), max(self.values)


def _slopes(times: tuple[float, ...], values: tuple[float, ...]) -> list[float]:
    """Slope at each point: 0 at the ends and wherever the value turns back."""
    widths = [b - a for a, b in pairwise(times)]
    rises = [(b - a) / w for (a, b), w in zip(pairwise(values), widths, strict=True)]
    slopes = [0.0]
    for (w0, w1), (d0, d1) in zip(pairwise(widths), pairwise(rises), strict=True):
        if d0 * d1 <= 0.0:
            slopes.append(0.0)
            continue
        a, b = 2.0 * w1 + w0, w1 + 2.0 * w0
        slopes.append((a + b) / (a / d0 + b / d1))
    return [*slopes, 0.0] if rises else slopes
