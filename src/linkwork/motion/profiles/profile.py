"""Profile: a value over time in segments of constant jerk."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Profile:
    """Position over time, with velocity and acceleration.

    Before its first time it rests at its first value, after its last at its last.

    Attributes:
        times: n + 1 ascending times [s].
        positions: n + 1 values at those times [rad or m].
        speeds: n + 1 velocities.
        accelerations: n accelerations at the start of each segment.
        jerks: n jerks.
    """

    times: np.ndarray
    positions: np.ndarray
    speeds: np.ndarray
    accelerations: np.ndarray
    jerks: np.ndarray

    @classmethod
    def of_phases(
        cls,
        time: float,
        position: float,
        speed: float,
        phases: Iterable[Sequence[float]],
        end: tuple[float, float, float] | None = None,
    ) -> Profile:
        """Returns a profile from its first state and segments (duration, acceleration[, jerk]).

        Segments of zero duration are omitted. ``end`` is the last state (time, position, speed),
        free of accumulated rounding.
        """
        times, positions, speeds = [time], [position], [speed]
        accelerations: list[float] = []
        jerks: list[float] = []
        for duration, a, *more in phases:
            then = times[-1] + duration
            if then <= times[-1]:
                continue
            j = more[0] if more else 0.0
            accelerations.append(a)
            jerks.append(j)
            x, v = positions[-1], speeds[-1]
            positions.append(x + duration * (v + duration * (a / 2.0 + duration * j / 6.0)))
            speeds.append(v + duration * (a + duration * j / 2.0))
            times.append(then)
        if end is not None and accelerations:
            times[-1], positions[-1], speeds[-1] = end
        made = (times, positions, speeds, accelerations, jerks)
        return cls(*(np.array(each, dtype=float) for each in made))

    @classmethod
    def joined(cls, profiles: Sequence[Profile]) -> Profile:
        """Returns consecutive profiles as one, each starting where the one before ends."""
        last = profiles[-1]
        ends = ("times", "positions", "speeds")
        rows = [
            np.concatenate([*(getattr(p, name)[:-1] for p in profiles), getattr(last, name)[-1:]])
            for name in ends
        ]
        rest = [
            np.concatenate([getattr(p, name) for p in profiles])
            for name in ("accelerations", "jerks")
        ]
        return cls(*rows, *rest)

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1] - self.times[0])

    def states(self, time: float | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns position, velocity and acceleration at one or many times.

        Where the acceleration jumps it is that of the following segment, at the last time that of
        the last segment.
        """
        t = np.asarray(time, dtype=float)
        if not len(self.jerks):
            return np.full(t.shape, self.positions[0]), np.zeros(t.shape), np.zeros(t.shape)
        n = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.jerks) - 1)
        dt = np.clip(t, self.times[0], self.times[-1]) - self.times[n]
        x, v, a, j = self.positions[n], self.speeds[n], self.accelerations[n], self.jerks[n]
        inside = (t >= self.times[0]) & (t <= self.times[-1])
        return (
            x + dt * (v + dt * (a / 2.0 + dt * j / 6.0)),
            np.where(inside, v + dt * (a + dt * j / 2.0), 0.0),
            np.where(inside, a + dt * j, 0.0),
        )

    @cached_property
    def _lists(self) -> tuple[list[float], ...]:
        rows = self.times, self.positions, self.speeds, self.accelerations, self.jerks
        return tuple(row.tolist() for row in rows)

    def value(self, time: float) -> float:
        """Returns the position at one time, fast."""
        times, positions, speeds, accelerations, jerks = self._lists
        n = bisect_right(times, time) - 1
        if n < 0:
            return positions[0]
        if n >= len(jerks):
            return positions[-1]
        dt = time - times[n]
        a, j = accelerations[n], jerks[n]
        return positions[n] + dt * (speeds[n] + dt * (a / 2.0 + dt * j / 6.0))

    def motion(self, time: float) -> tuple[float, float, float]:
        """Returns position, velocity and acceleration at one time, fast.

        Where the acceleration jumps it is that of the following segment; at the last time and
        outside the times both are 0.
        """
        times, _, speeds, accelerations, jerks = self._lists
        n = bisect_right(times, time) - 1
        if n < 0 or n >= len(jerks):
            return self.value(time), 0.0, 0.0
        dt, a, j = time - times[n], accelerations[n], jerks[n]
        return self.value(time), speeds[n] + dt * (a + dt * j / 2.0), a + dt * j

    def sampled(self, period: float) -> np.ndarray:
        """Returns times every ``period`` [s] from the first on, including the last."""
        many = int(np.floor(self.duration / period * (1.0 + 1e-12)))
        times = self.times[0] + period * np.arange(many + 1)
        return (
            times
            if times[-1] >= self.times[-1] - 1e-9 * period
            else np.append(times, self.times[-1])
        )

    @cached_property
    def _turning(self) -> np.ndarray:
        """Returns times of possible extrema: knots, and zeros of velocity or acceleration."""
        found = [self.times]
        for n in range(len(self.jerks)):
            a, j, v = self.accelerations[n], self.jerks[n], self.speeds[n]
            roots = np.roots([j / 2.0, a, v])
            more = [*roots[np.isreal(roots)].real, *([-a / j] if j else [])]
            dt = np.array(more, dtype=float)
            found.append(self.times[n] + dt[(dt > 0.0) & (dt < self.times[n + 1] - self.times[n])])
        return np.concatenate(found)

    def extent(self) -> tuple[float, float]:
        """Returns the lowest and highest value."""
        values = self.states(self._turning)[0]
        return float(values.min()), float(values.max())

    @property
    def peak_speed(self) -> float:
        """Returns the largest |velocity|, ends included."""
        if not len(self.jerks):
            return 0.0
        return float(np.abs(np.append(self.states(self._turning)[1], self.speeds)).max())

    @property
    def peak_acceleration(self) -> float:
        """Returns the largest |acceleration|."""
        if not len(self.jerks):
            return 0.0
        ends = self.accelerations + self.jerks * np.diff(self.times)
        return float(np.abs(np.append(self.accelerations, ends)).max())

    @property
    def peak_jerk(self) -> float:
        """Returns the largest |jerk| within the segments."""
        return float(np.abs(self.jerks).max()) if len(self.jerks) else 0.0
