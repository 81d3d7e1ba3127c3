"""Summary: how a run went, in a few lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.session.session import Session


class Summary:
    """Follows a session: time, energy, and the largest gap of its loops.

    Attributes:
        gap: Largest distance by which a loop was open after any step [m].
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = session.time
        self._clock = time.perf_counter()
        self._energy = 0.0
        self._steps = 0
        self.gap = 0.0

    def after_step(self) -> None:
        """Looks at the last step."""
        report = self._session.state.report
        if not self._steps:
            self._energy = float(report.energy.sum())
        self._steps += 1
        gap = float(report.gap[0])
        if gap > self.gap:
            self.gap = gap

    def lines(self) -> list[str]:
        """What there is to say at the end."""
        session = self._session
        simulated = session.time - self._began
        real = time.perf_counter() - self._clock
        times = f", {simulated / real:.1f} times real time" if real > 0.0 and simulated else ""
        found = [f"{simulated:.2f} s simulated in {real:.2f} s{times}."]
        if session.world.loop_names:
            found.append(f"Largest loop gap {self.gap:.2e} m.")
        first, last = self._energy, float(session.state.report.energy.sum())
        if first or last:  # an engine without forces has none to tell
            found.append(f"Energy {first:.4g} J after the first step, {last:.4g} J at the end.")
        return found
