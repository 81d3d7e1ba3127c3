"""Summary: how a run went, in a few lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.session.session import Session


class Summary:
    """Follows a session: time, energy, and how its joints held.

    Attributes:
        steps: Steps done meanwhile.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = session.time
        self._clock = time.perf_counter()
        self.steps = 0

    def after_step(self) -> None:
        """Counts a step."""
        self.steps += 1

    def lines(self) -> list[str]:
        """What there is to say at the end."""
        session = self._session
        simulated = session.time - self._began
        real = time.perf_counter() - self._clock
        times = f", {simulated / real:.1f} times real time" if real > 0.0 and simulated else ""
        return [f"{simulated:.2f} s simulated in {real:.2f} s{times}.", *session.report().lines()]
