"""Account: how well an engine has held its joints since the start."""

from __future__ import annotations

from dataclasses import dataclass


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
        return found
