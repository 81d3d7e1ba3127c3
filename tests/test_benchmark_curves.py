"""Cost against error in the benchmark of loops."""

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


class Fragile:
    """An engine that fails from its third run on."""

    name, settings = "fragile", ["only"]

    def __init__(self) -> None:
        self.runs = 0

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        self.runs += 1
        return (0.0, None) if self.runs > 2 else (0.01, np.zeros(3))


def test_a_breakdown_costs_infinitely_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the measurement; with frequent failures there is no cost at an error."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    curves: Any = importlib.import_module("shared.curves")
    point = curves.Point(Fragile(), "only", 100, 1e-4)
    point.again()
    point.again()
    assert point.times == [0.01, 0.01]
    assert curves.cost_at([point], 1e-3) == (0.01, "only")
    point.again()
    point.again()
    assert point.times[2:] == [math.inf, math.inf]
    assert curves.cost_at([point], 1e-3) is None
