"""CPU time against error of runs of one simulated second."""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shared.linkages import Motion

#: Short runs are repeated until they take this long together [s].
LEAST = 4e-3


class Peer(Protocol):
    """An engine with a linkage in it."""

    name: str
    settings: list[str]

    def load(self, case: str) -> bool:
        """Builds a case; false if the engine cannot."""
        ...

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        """Runs one second in ``count`` steps; returns CPU time [s] and centers of mass [m]."""
        ...

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        """Poses and velocities of the bodies, every 10 ms."""
        ...

    def close(self) -> None:
        """Ends its process, if it has one."""
        ...


@dataclass
class Point:
    """A setting and a number of steps, with its error [m] and its CPU time in each round [s]."""

    peer: Peer
    setting: str
    count: int
    error: float
    times: list[float] = field(default_factory=list)

    @property
    def cost(self) -> float:
        return statistics.median(self.times)

    def again(self) -> None:
        """Measures once more; the cost is infinite if the run fails."""
        spent, runs = 0.0, 0
        while spent < LEAST:
            took, centers = self.peer.run(self.setting, self.count)
            if centers is None:
                self.times.append(math.inf)
                return
            spent += took
            runs += 1
        self.times.append(spent / runs)


def sweep(peer: Peer, reference: np.ndarray, counts: list[int], most: float) -> list[Point]:
    """Runs all settings with smaller and smaller steps.

    A setting ends when a run would take more than ``most`` [s] or the error no longer decreases.
    """
    found: list[Point] = []
    for setting in peer.settings:
        best, stale = math.inf, 0
        for count in counts:
            spent, centers = peer.run(setting, count)
            if centers is not None:
                error = float(np.abs(centers - reference).max())
                if math.isfinite(error) and error < 1.0:
                    found.append(Point(peer, setting, count, max(error, 1e-12), [spent]))
                stale = 0 if error < 0.84 * best else stale + 1
                best = min(best, error)
                if stale >= 4 or best < 1e-8:
                    break
            if spent * 1.6 > most:
                break
    return found


def useful(points: list[Point]) -> list[Point]:
    """Points that cost at most three times as much as any better one of the same engine."""
    kept = []
    for p in points:
        rest = [o for o in points if o.peer is p.peer and o.error <= p.error]
        if p.error < 0.1 and all(p.cost <= 3.0 * o.cost for o in rest):
            kept.append(p)
    return kept


def cost_at(points: list[Point], level: float) -> tuple[float, str] | None:
    """CPU time at an error [s] and the cheapest setting; None if the error is not reached.

    The time is interpolated between points, linearly in log-log.
    """
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
