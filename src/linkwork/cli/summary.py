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
        found = [f"{simulated:.2f} s simulated in {real:.2f} s{times}."]
        report = session.report()
        if session.world.loop_names:
            where = f", of {report.loop} at {report.time:.3f} s" if report.loop else ""
            found.append(f"Largest loop gap {report.gap:.2e} m{where}.")
        first, last = report.energy
        if first or last:  # an engine without forces has none to tell
            found.append(
                f"Energy {first:.4g} J after the first step, {report.drift:.2g} J from it at most, "
                f"{last:.4g} J at the end."
            )
        for account in report.accounts:
            found += account.lines(session.cycle.h)
        return found
