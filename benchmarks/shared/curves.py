"""Cost against error: what a run of one simulated second costs, and how wrong it ends."""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shared.linkages import Motion

#: Short runs are repeated until they take so long [s].
LEAST = 4e-3


class Rival(Protocol):
    """An engine with a linkage in it."""

    name: str
    settings: list[str]

    def load(self, case: str) -> bool:
        """Builds a case; false if it cannot."""
        ...

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """Runs a second in so many steps, from the start: CPU time [s], centres of mass."""
        ...

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Where bodies are, every 10 ms."""
        ...

    def close(self) -> None:
        """Lets it end."""
        ...


@dataclass
class Point:
    """A setting and a number of steps: how wrong it is and what it cost in each round."""

    rival: Rival
    setting: str
    count: int
    error: float
    times: list[float] = field(default_factory=list)

    @property
    def cost(self) -> float:
        return statistics.median(self.times)

    def again(self) -> None:
        """Measures once more; a breakdown costs infinitely much."""
        spent, runs = 0.0, 0
        while spent < LEAST:
            took, centres = self.rival.run(self.setting, self.count)
            if centres is None:
                self.times.append(math.inf)
                return
            spent += took
            runs += 1
        self.times.append(spent / runs)


def sweep(rival: Rival, reference: np.ndarray, counts: list[int], most: float) -> list[Point]:
    """Runs all settings with ever smaller steps, until they cost too much or gain nothing."""
    found: list[Point] = []
    for setting in rival.settings:
        best, stale = math.inf, 0
        for count in counts:
            spent, centres = rival.run(setting, count)
            if centres is not None:
                error = float(np.abs(centres - reference).max())
                if math.isfinite(error) and error < 1.0:
                    found.append(Point(rival, setting, count, max(error, 1e-12), [spent]))
                stale = 0 if error < 0.84 * best else stale + 1
                best = min(best, error)
                if stale >= 4 or best < 1e-8:
                    break
            if spent * 1.6 > most:
                break
    return found


def worthy(points: list[Point]) -> list[Point]:
    """Those that may matter at some error: not much dearer than a better one of their engine."""
    kept = []
    for p in points:
        rest = [o for o in points if o.rival is p.rival and o.error <= p.error]
        if p.error < 0.1 and all(p.cost <= 3.0 * o.cost for o in rest):
            kept.append(p)
    return kept


def cost_at(points: list[Point], level: float) -> tuple[float, str] | None:
    """CPU time that an error costs [s], between points in log-log, and by which setting."""
    best: tuple[float, str] | None = None
    for setting in dict.fromkeys(p.setting for p in points):
        whole = (p for p in points if p.setting == setting and math.isfinite(p.cost))
        mine = sorted(whole, key=lambda p: p.count)
        found = [p.cost for p in mine if p.error <= level]
        for a, b in itertools.pairwise(mine):
            if b.error <= level < a.error:
                part = math.log(a.error / level) / math.log(a.error / b.error)
                found.append(a.cost * (b.cost / a.cost) ** part)
        if found and (best is None or min(found) < best[0]):
            best = min(found), setting
    return best
