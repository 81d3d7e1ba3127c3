"""Walk: motion of torso and feet with level torso and flat soles (Schwanen 2002 §5.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError

#: The feet, in the order of the joints of Schwanen 2002.
SIDES = ("right", "left")
#: Maximum number of steps of a walk.
MAX_STEPS = 10_000


@dataclass(frozen=True)
class WalkSample:
    """State at one time of a walk, relative to its start; y is forward, z up.

    Attributes:
        torso: Position [m], velocity [m/s] and acceleration [m/s²] (3×3).
        feet: The same of the right and the left foot (2×3×3).
        shares: Share of the ground reaction of each foot; the sum is 1.
    """

    torso: np.ndarray
    feet: np.ndarray
    shares: tuple[float, float]


@dataclass(frozen=True)
class Walk:
    """A straight walk that begins and ends at rest with the feet side by side.

    In each step one foot is lifted, moved and set down while the other stands. The first and the
    last step are half as long as the others. Torso and feet do not rotate, the torso keeps its
    height, and all accelerations are continuous. The torso accelerates in the first step, then
    moves at constant velocity, ``length`` per ``period``, and decelerates in the last step.

    Args:
        length: Distance of a foot ahead of the other when it is set down [m].
        height: Height to which a foot is lifted [m].
        period: Time of a step [s].
        double_support: Share of the period in which both feet stand, 0 to less than 1: half of it
            before the foot leaves, half after it is set down.
        steps: Number of steps, 2 to 10000.
        first: Foot that moves first, "right" or "left".

    Raises:
        LinkworkError: If a parameter is out of range; the message gives the allowed range.
    """

    length: float = 0.2
    height: float = 0.05
    period: float = 0.8
    double_support: float = 0.2
    steps: int = 6
    first: str = "right"

    def __post_init__(self) -> None:
        wrong = ""
        if not all(map(math.isfinite, (self.length, self.height, self.period))):
            wrong = "length, height and period must be finite numbers"
        elif not self.period > 0.0:
            wrong = f"period must be more than 0, not {self.period:g}"
        elif self.height < 0.0:
            wrong = f"height must be 0 or more, not {self.height:g}"
        elif not 0.0 <= self.double_support < 1.0:
            wrong = f"double_support must be from 0 to less than 1, not {self.double_support:g}"
        elif not 2 <= self.steps <= MAX_STEPS:
            wrong = f"steps must be 2 or more, at most {MAX_STEPS}, not {self.steps}"
        elif self.first not in SIDES:
            wrong = f"first must be {' or '.join(SIDES)}, not {self.first!r}"
        if wrong:
            raise LinkworkError(f"there is no such walk: {wrong}.")

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return self.steps * self.period

    @property
    def distance(self) -> float:
        """Distance [m]."""
        return (self.steps - 1) * self.length

    def swinging(self, step: int) -> int:
        """Returns which foot a step moves: 0 the right one, 1 the left one."""
        return (SIDES.index(self.first) + step) % 2

    def at(self, time: float) -> WalkSample:
        """Returns the state at ``time`` [s]; at rest before the start and after the end."""
        rests = not 0.0 < time < self.duration
        time = min(max(time, 0.0), self.duration)
        step = min(int(time / self.period), self.steps - 1)
        here = time - step * self.period
        feet = np.zeros((2, 3, 3))
        for foot in (0, 1):
            feet[foot, 0, 1] = self._stand(foot, step)
        foot = self.swinging(step)
        rest = 0.5 * self.double_support * self.period
        whole = self.period - 2.0 * rest
        part = min(max((here - rest) / whole, 0.0), 1.0)
        start, end = self._stand(foot, step), self._stand(foot, step + 1)
        feet[foot, :, 1] = _scaled(_smooth(part), end - start, whole)
        feet[foot, 0, 1] += start
        feet[foot, :, 2] = _scaled(_arc(part), self.height, whole)
        shares = (0.5, 0.5) if rests else self._shares(step, here, rest)
        return WalkSample(self._torso(time, step, here), feet, shares)

    def _stand(self, foot: int, step: int) -> float:
        """Returns the position of a foot before a step [m]."""
        moved = (step + (1 if foot == self.swinging(0) else 0)) // 2  # number of its previous steps
        if moved == 0:
            return 0.0
        last = 2 * moved - (1 if foot == self.swinging(0) else 0)  # index of that step, from 1
        return min(last, self.steps - 1) * self.length

    def _torso(self, time: float, step: int, here: float) -> np.ndarray:
        """Returns the torso's motion: velocity V·s(τ) in the first step, V, then V·(1 − s(τ))."""
        made = np.zeros((3, 3))
        speed, period = self.length / self.period, self.period
        if 0 < step < self.steps - 1:
            made[:2, 1] = (step - 0.5) * self.length + speed * here, speed
            return made
        x = here / period
        covered, share, rise = x**3 - 0.5 * x**4, x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x)
        if step == 0:
            made[:, 1] = speed * period * covered, speed * share, speed * rise / period
        else:
            start = (step - 0.5) * self.length
            made[:, 1] = (
                start + speed * period * (x - covered), speed * (1.0 - share),
                -speed * rise / period,
            )  # fmt: skip
        return made

    def _shares(self, step: int, here: float, rest: float) -> tuple[float, float]:
        """Returns the load shares of the feet, with a smooth transition while both stand."""
        stands = 1 - self.swinging(step)
        last = self.period - here
        if rest > 0.0 and here < rest:
            part = 0.5 + 0.5 * here / rest if step else here / rest
            taken = _smooth(part)[0] if step else 0.5 + 0.5 * _smooth(part)[0]
        elif rest > 0.0 and last < rest:
            if step < self.steps - 1:
                taken = _smooth(0.5 + 0.5 * last / rest)[0]
            else:
                taken = 0.5 + 0.5 * _smooth(last / rest)[0]
        else:
            taken = 1.0
        return (taken, 1.0 - taken) if stands == 0 else (1.0 - taken, taken)


def _scaled(shape: tuple[float, float, float], size: float, time: float) -> np.ndarray:
    """Returns position, velocity and acceleration of a shape scaled to ``size`` and ``time``."""
    return size * np.array([shape[0], shape[1] / time, shape[2] / time**2])


def _smooth(x: float) -> tuple[float, float, float]:
    """Returns 10x³ − 15x⁴ + 6x⁵: from 0 to 1 with zero velocity and acceleration at both ends."""
    y = 1.0 - x
    return (
        x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * x * x * y * y, 60.0 * x * y * (1.0 - 2.0 * x)
    )  # fmt: skip


def _arc(x: float) -> tuple[float, float, float]:
    """Returns 64x³(1 − x)³: up to 1 and down, with zero velocity and acceleration at both ends."""
    y = 1.0 - x
    return (
        64.0 * x**3 * y**3, 192.0 * x * x * y * y * (1.0 - 2.0 * x),
        384.0 * x * y * (1.0 - 5.0 * x * y),
    )  # fmt: skip
