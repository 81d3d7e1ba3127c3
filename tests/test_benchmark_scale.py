"""What ``benchmarks/scale.py`` times against each other does the same."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.mark.parametrize("build", ["boxes", "chain"])
def test_engine_and_bare_loop_move_alike(build: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same state, both reach the same coordinates, with the same contacts."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    scale: Any = importlib.import_module("scale")
    pair = scale.SteppedTwice(getattr(scale, build)(6), 20)
    before = pair.data.qpos.copy()
    for _ in range(3):
        pair.ours(10)
        pair.bare(10)
    q_map = pair.engine.model.q_map
    mine = pair.cycle.state.q[q_map[:, 0]]
    np.testing.assert_allclose(pair.data.qpos[q_map[:, 1]], mine, rtol=0.0, atol=1e-9)
    assert np.abs(pair.data.qpos - before).max() > 1e-6
    assert pair.contacts() == (24 if build == "boxes" else 0)
