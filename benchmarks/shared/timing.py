"""CPU times of calls that take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

from shared.rows import Row

Times = dict[str, list[float]]
#: Units of time, in microseconds.
_UNITS = {"ns": 1e-3, "µs": 1.0, "ms": 1e3}


def in_turn(calls: Mapping[str, Callable[[int], object]], *, steps: int, rounds: int) -> Times:
    """Runs all calls in turn, ``steps`` each, ``rounds`` times, so that noise affects all alike.

    Returns:
        CPU time per step of each call in each round [µs].
    """
    times: Times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.process_time()
            call(steps)
            times[name].append((time.process_time() - started) / steps * 1e6)
    return times


def compare(
    times: Times, name: str, ours: str, peer: str, peer_name: str, *, unit: str = "µs",
    note: str = "",
) -> Row:  # fmt: skip
    """A row of the medians of two calls."""
    mine, other = (statistics.median(times[each]) / _UNITS[unit] for each in (ours, peer))
    return Row(name, unit, mine, other, peer_name, note=note)
