"""Clock: as fast as possible, in step with real time, or handed out step by step."""

from __future__ import annotations

import time

from linkwork.errors import SessionError

MODES = ("fast", "real", "lockstep")

#: Lateness that is no longer made up for [s].
GIVEN_UP = 1.0


class Clock:
    """Paces a session.

    Args:
        mode: "fast", "real" or "lockstep" (steps only as ``Advance`` messages hand them out).
        speed: Simulated seconds per real second, in mode "real".

    Attributes:
        lateness: How far behind real time the session is [s].
        lost: Real time given up so far because the machine was too slow [s].
        granted: Steps handed out and not yet taken.
    """

    def __init__(self, mode: str = "fast", speed: float = 1.0) -> None:
        if mode not in MODES:
            raise SessionError(f"there is no clock {mode!r}.", hint=f"Clocks: {', '.join(MODES)}.")
        if not speed > 0.0:
            raise SessionError(f"a clock's speed must be above 0, not {speed:g}.")
        self.mode = mode
        self.speed = speed
        self.lateness = 0.0
        self.lost = 0.0
        self.granted = 0
        self._start: tuple[float, float] | None = None

    def restart(self) -> None:
        """Forgets how far real time has come: after a pause or a jump."""
        self._start = None
        self.lateness = 0.0

    def pace(self, simulated: float) -> float:
        """How long to sleep before the step from time ``simulated`` [s]; keeps the lateness."""
        if self.mode != "real":
            return 0.0
        now = time.perf_counter()
        if self._start is None:
            self._start = (now, simulated)
        due = self._start[0] + (simulated - self._start[1]) / self.speed
        self.lateness = max(0.0, now - due)
        if self.lateness > GIVEN_UP:
            # Too slow for this machine: go on from here instead of racing after lost time.
            self._start = (now, simulated)
            self.lost += self.lateness
        return max(0.0, due - now)
