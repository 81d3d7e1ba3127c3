"""Account: how well an engine has held its joints since the start."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: How rough steps are that are called coarse, and that a better step would be; where something
#: acts along joints, targets that jump and stops are rough with any step.
_COARSE, _FINE, _COARSE_DRIVEN = 5e-4, 1e-4, 5e-2
#: The part of all steps that may be taken in pieces before the step is called coarse.
_OFTEN = 0.05


@dataclass(frozen=True)
class Account:
    """How well an engine has held its joints since the start.

    Attributes:
        engine: Type of the engine.
        steps: Steps that it has made.
        gap: Widest gap of a joint or loop after any step [m or rad].
        joint: Name of the joint or loop that had it.
        step: Step after which it was there.
        speed_gap: Largest speed with which one was opening after any step [m/s or rad/s].
        allowed: What gap and speed were allowed.
        iterations: Corrections of all joints (or of single ones, if joint by joint).
        halved: Steps that had to be taken in pieces.
        pieces: How many pieces those were.
        exceeded: Steps after which a gap or a speed was larger than allowed.
        alone: Whether joints are corrected one by one.
        rough: How far the steps of which one is combined differ, as a part of all speeds, on the
            mean of energies; 0 where none are combined.
        smooth: Whether joints alone hold and nothing acts along them: ``rough`` then goes down
            with the cube of the step.
    """

    engine: str
    steps: int
    gap: float
    joint: str
    step: int
    speed_gap: float
    allowed: tuple[float, float]
    iterations: int
    halved: int
    pieces: int
    exceeded: int
    alone: bool
    rough: float = 0.0
    smooth: bool = False

    def hint(self, h: float) -> str:
        """Says that the step is coarse for the motion there was and what to try, or nothing."""
        if self.rough > (_COARSE if self.smooth else _COARSE_DRIVEN):
            better = h * math.cbrt(_FINE / self.rough) if self.smooth else 0.5 * h
            why = f"the steps that one is combined from differ by {100 * self.rough:.2g} % in speed"
        elif self.halved > _OFTEN * self.steps:
            better = h * self.halved / self.pieces
            why = f"{self.halved} of {self.steps} had to be taken in pieces"
        else:
            return ""
        return (
            f"Steps of {1e3 * h:g} ms are coarse for this motion, as {why}: try {_round(better)}."
        )

    def lines(self, h: float) -> list[str]:
        """What there is to say of it; ``h`` is the time step [s]."""
        if not self.steps:
            return []
        where = f" ({self.joint}, at {self.step * h:.3f} s)" if self.joint else ""
        each = "corrections of single joints" if self.alone else "iterations"
        halves = ""
        if self.halved:
            were = "1 step was" if self.halved == 1 else f"{self.halved} steps were"
            halves = f"; {were} taken in {self.pieces} pieces"
        found = [
            f"Widest gap of all joints {self.gap:.1e}{where}, opening at most "
            f"{self.speed_gap:.1e} per s [m or rad].",
            f"{self.iterations / self.steps:.2f} {each} a step{halves}.",
        ]
        if self.exceeded:
            gap, speed = self.allowed
            found.append(
                f"After {self.exceeded} of {self.steps} steps a joint was open by more than "
                f"{gap:g}, or opening faster than {speed:g}."
            )
        if hint := self.hint(h):
            found.append(hint)
        return found


def _round(h: float) -> str:
    """A step of 1, 2 or 5 times a power of ten that is no longer, in words."""
    power = 10.0 ** math.floor(math.log10(1.000001 * h))
    return f"{1e3 * max(k * power for k in (1, 2, 5) if k * power <= 1.000001 * h):g} ms"
