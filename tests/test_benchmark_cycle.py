"""The bare loop of ``benchmarks/cycle.py`` agrees with the session."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def test_bare_loop_starts_and_stands_as_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both start in the same state above the floor and end on eight contacts at one height."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    cycle: Any = importlib.import_module("cycle")
    with cycle.listening(tmp_path, 0) as session:
        bare = cycle.BareLoop(session)
        np.testing.assert_array_equal(bare.data.qpos, cycle.coordinates(session))
        assert bare.data.qpos[2] > 1.0
        session.step(400)
        bare.run(400)
        assert cycle.check_alike(session, bare).startswith("Both end on 8 contacts")
        np.testing.assert_array_equal(bare.readings, bare.readings.clip(-0.1, 0.1))
        bare.data.qpos[2] += 0.1
        with pytest.raises(SystemExit, match="do not compare"):
            cycle.check_alike(session, bare)
