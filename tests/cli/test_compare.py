"""``linkwork compare``: what it says where nothing can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.core.errors import FormatError
from linkwork.session.mujoco_comparison import MujocoComparison

PENDULUM = """
<mujoco><option timestep="0.0001"/><worldbody><body><joint axis="0 1 0"/>
<geom size="0.1" pos="0.2 0 0"/></body></worldbody>{more}</mujoco>
"""


def comparison(folder: Path, more: str = "") -> MujocoComparison:
    path = folder / "model.xml"
    path.write_text(PENDULUM.format(more=more))
    return MujocoComparison(path)


def test_a_run_without_a_step_does_not_agree(tmp_path: Path) -> None:
    """A model that is unstable in MuJoCo from the first step was not compared."""
    start = '<keyframe><key qvel="1e12"/></keyframe>'
    (run,) = comparison(tmp_path, start).run(0.01, 0)
    assert run.unstable
    assert not run.agrees


def test_a_run_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    """More steps than fit into memory are refused with the longest duration."""
    with pytest.raises(FormatError, match="at most 100000000 numbers") as raised:
        next(iter(comparison(tmp_path).run(1e6, 0)))
    assert "10000 s" in (raised.value.hint or "")
