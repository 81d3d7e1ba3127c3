"""Requirements for every registered engine on live parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.bench import bench, nudge, opened
from linkwork.core.registry import ENGINES
from linkwork.session.session import Session

BEFORE, AFTER = 45, 60

each_engine = pytest.mark.parametrize("type", ENGINES.names())


def changed(session: Session) -> dict[str, float]:
    """Sets another value for every live parameter: masses, friction, damping, gravity, gains."""
    made = {}
    for signal in session.signals:
        if signal.direction == "param":
            other = 1.5 * session[signal.name] + 0.03
            made[signal.name] = min(max(other, signal.lo), signal.hi)
    return made


@each_engine
def test_live_parameters_are_all_in_the_state(tmp_path: Path, type: str) -> None:
    """Changed, saved, restored: the same bits as without the restore."""
    scene = bench(tmp_path, "engine", type)
    with opened(scene) as session:
        nudge(session)
        session.step(BEFORE)
        values = changed(session)
        assert {"arm/upper.mass", "arm/J2.damping", "arm/J3.friction", "world.gravity_z"} <= {
            *values
        }
        for name, value in values.items():
            session[name] = value
        session.step(BEFORE)
        kept, saved = session.state.copy(), session.state.save()
        session.step(AFTER)
        end = session.state.copy()
        session.cycle.restore(kept)
        session.step(AFTER)
        assert session.state.same(end), session.state.difference(end)
    with opened(scene) as other:
        other.cycle.restore(saved)
        other.step(AFTER)
        assert other.state.same(end), other.state.difference(end)
    with opened(scene) as fresh:
        nudge(fresh)
        fresh.step(BEFORE)
        for name, value in values.items():
            fresh[name] = value
        fresh.step(BEFORE + AFTER)
        assert fresh.state.same(end), fresh.state.difference(end)


@each_engine
def test_a_parameter_has_no_past(tmp_path: Path, type: str) -> None:
    """Set repeatedly before a step, the result is that of setting it once."""
    ends = []
    for tries in ((1.0,), (3.0, 0.5, 1.0, 1.0)):
        with opened(bench(tmp_path, "engine", type)) as session:
            nudge(session)
            session.step(BEFORE)
            values = changed(session)
            for share in tries:
                for name, value in values.items():
                    signal = session.signals[name]
                    session[name] = min(max(share * value, signal.lo), signal.hi)
            session.step(AFTER)
            ends.append(session.state.copy())
    assert ends[1].same(ends[0]), ends[1].difference(ends[0])
