"""What all benchmarks share: options, interleaved timing, a table and JSON rows."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

Times = dict[str, list[float]]


@dataclass
class Row:
    """One comparison: CPU time of ours and the peer [µs], and their ratio."""

    name: str
    ours: float
    peer: float
    peer_name: str
    ratio: float


def options(description: str) -> argparse.Namespace:
    """Reads ``--quick`` and ``--json``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    return parser.parse_args()


def in_turn(calls: Mapping[str, Callable[[int], object]], *, steps: int, rounds: int) -> Times:
    """Runs all calls in turn, ``steps`` each, ``rounds`` times, so that all see the same machine.

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


def compare(times: Times, name: str, ours: str, peer: str, peer_name: str) -> Row:
    """One row: medians of both, and the median of the ratios round by round."""
    ratios = [a / b for a, b in zip(times[ours], times[peer], strict=True)]
    median = statistics.median
    return Row(name, median(times[ours]), median(times[peer]), peer_name, median(ratios))


def show(rows: list[Row], *, as_json: bool, unit: str = "µs") -> None:
    """Prints rows as a table or as JSON."""
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        print(
            f"{row.name:<{width}}  ours {row.ours:9.2f} {unit}   {row.peer_name} "
            f"{row.peer:9.2f} {unit}   ratio {row.ratio:5.2f}"
        )
