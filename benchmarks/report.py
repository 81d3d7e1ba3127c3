"""What all benchmarks share: options, interleaved timing, a table and JSON rows."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


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


def side_by_side(
    ours: Callable[[int], object], peer: Callable[[int], object], *, steps: int, rounds: int
) -> tuple[float, float, float]:
    """Runs both in turn, ``steps`` each, ``rounds`` times.

    Returns:
        Median CPU time per step of ours and of the peer [µs], and the median of the ratios.
    """
    mine, theirs = [], []
    for _ in range(rounds):
        for call, times in ((ours, mine), (peer, theirs)):
            started = time.process_time()
            call(steps)
            times.append((time.process_time() - started) / steps * 1e6)
    ratios = [a / b for a, b in zip(mine, theirs, strict=True)]
    return statistics.median(mine), statistics.median(theirs), statistics.median(ratios)


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
