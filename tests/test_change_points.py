"""Change points: where bars lie in line a mechanism can go on in two ways, and gains nothing."""

import math

import numpy as np
import pytest

from linkwork.parts import Anchor, Joint, Loop, Part
from linkwork.scene import Scene
from linkwork.session.session import Session
from linkwork.spatial import Pose
from mechanisms import bar, ground, scene_of

AXIS = (0.0, 1.0, 0.0)


def parallelogram(start: float, *, loop: str = "hinge", speed: float = 0.0) -> Part:
    """Arms of 0.2 m on a base of 0.4 m with a coupler as long, which fold flat at 0 and π."""
    part = Part("para").add(ground(), bar("a", 0.2, 0.3), bar("b", 0.4, 0.3), bar("c", 0.2, 0.3))
    part.add(
        Joint("A", "hinge", "ground", "a", axis=AXIS, value=start, speed=speed),
        Joint("B", "hinge", "a", "b", at=Pose.of((0.2, 0, 0)), axis=AXIS, value=-start,
              speed=-speed),
        Joint("D", "hinge", "ground", "c", at=Pose.of((0.4, 0, 0)), axis=AXIS, value=start,
              speed=speed),
        Anchor("end", "b", Pose.of((0.4, 0, 0))),
        Anchor("tip", "c", Pose.of((0.2, 0, 0))),
        Loop("C", "end", "tip", loop, axis=AXIS),
    )  # fmt: skip
    return part


def slider_crank(start: float) -> Part:
    """Crank and rod of one length: at ±π/2 the slider is over the shaft, and may stay there."""
    part = Part("press").add(ground(), bar("crank", 0.3, 0.3), bar("rod", 0.3, 0.3), ground("ram"))
    part.add(
        Joint("A", "hinge", "ground", "crank", axis=AXIS, value=start),
        Joint("B", "hinge", "crank", "rod", at=Pose.of((0.3, 0, 0)), axis=AXIS, value=-2 * start),
        Joint("S", "slider", "ground", "ram", axis=(1, 0, 0), value=0.6 * math.cos(start)),
        Anchor("end", "rod", Pose.of((0.3, 0, 0))),
        Anchor("pin", "ram"),
        Loop("C", "end", "pin", "ball"),
    )
    return part


def swing(scene: Scene, seconds: float) -> tuple[float, Session]:
    """How far the energy went from its first value, as a part of the largest kinetic energy."""
    with Session(scene) as session:
        session.step()
        first, most, off = session.state.report.energy.sum(), 0.0, 0.0
        for _ in range(round(seconds / scene.step)):
            session.step()
            most = max(most, float(session.state.report.energy[0]))
            off = max(off, abs(session.state.report.energy.sum() - first))
        return off / most, session


@pytest.mark.capability(11)
@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("loop", ["hinge", "ball", "cylindrical"])
def test_a_parallelogram_keeps_its_energy_where_it_is_flat(loop: str, order: int) -> None:
    """From many starts, whichever way it goes on: as a parallelogram, or crossed."""
    for start in (-2.8, -2.0, -1.3, -0.6, -0.3):
        off, session = swing(scene_of(parallelogram(start, loop=loop), order=order), 1.0)
        assert off < 1e-3, (start, off)
        a, _, c = session.state.q
        way = np.array([0.4 + 0.2 * (math.cos(c) - math.cos(a)), 0.2 * (math.sin(c) - math.sin(a))])
        assert np.linalg.norm(way) == pytest.approx(0.4, abs=1e-9)


def test_a_flat_parallelogram_starts_with_a_speed() -> None:
    """Exactly at the change point, where joints leave two ways open."""
    off, _session = swing(scene_of(parallelogram(0.0, speed=8.0)), 1.0)
    assert off < 1e-3


@pytest.mark.parametrize("order", [2, 4])
def test_a_slider_crank_with_equal_arms_keeps_its_energy(order: int) -> None:
    for start in (-0.5, -1.0, -0.2):
        off, _session = swing(scene_of(slider_crank(start), order=order), 1.5)
        assert off < 1e-3, (start, off)
