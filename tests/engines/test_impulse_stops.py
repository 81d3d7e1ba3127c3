"""Many limits and friction at once: the active set is found, or the step is rejected."""

from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.model.parts import Joint, Part
from linkwork.session.session import Session
from mechanisms import bar, ground, scene_of


def links(count: int, **more: Any) -> Part:
    """Returns a chain, initially level, with a force law on each hinge."""
    part, before = Part("chain").add(ground()), "ground"
    for n in range(count):
        part.add(bar(f"bar{n}", 0.2, 0.3, wide=0.04, deep=0.05))
        at = Pose.of((0.2 if n else 0.0, 0, 0))
        part.add(Joint(f"J{n}", "hinge", before, f"bar{n}", at=at, axis=(0, 1, 0), **more))
        before = f"bar{n}"
    return part


@pytest.mark.capability(11)
@pytest.mark.parametrize(
    ("count", "order", "more"),
    [
        (20, 2, {"range": (-0.1, 0.1)}),
        (20, 2, {"range": (-0.05, 0.05), "friction": 0.02}),
        (10, 2, {"range": (-0.1, 0.1), "restitution": 0.5}),
        (10, 4, {"range": (-0.1, 0.1)}),
    ],
)
def test_no_stop_of_many_is_passed(count: int, order: int, more: dict[str, Any]) -> None:
    """Twenty limits that act and release within one step: none is passed, energy decreases."""
    with Session(scene_of(links(count, **more), order=order)) as session:
        state, far = session.state, more["range"][1]
        session.step()
        before = state.report.energy.sum()
        for _ in range(60):
            worst = 0.0
            for _ in range(20):
                session.step()
                worst = max(worst, float(np.abs(state.q).max()))
            assert worst <= far + 1e-9
            assert state.report.energy.sum() <= before + 1e-3
            before = state.report.energy.sum()
        assert np.abs(state.q).max() > 0.99 * far
        (account,) = session.report().accounts
        assert account.exceeded == 0
        assert account.gap <= account.allowed[0]


@pytest.mark.parametrize("count", [5, 10])
def test_a_chain_with_friction_only_loses_energy(count: int) -> None:
    """Joints that alternately stick and slip for a second."""
    with Session(scene_of(links(count, friction=0.05), order=2)) as session:
        session.step()
        before = session.state.report.energy.sum()
        for _ in range(100):
            session.step(10)
            now = session.state.report.energy.sum()
            assert now <= before + 1e-5
            before = now
        assert session.report().accounts[0].exceeded == 0
