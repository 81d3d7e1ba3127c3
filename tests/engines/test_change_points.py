"""Change points: with bars in line a mechanism can continue in two ways, without energy gain."""

import math

import numpy as np
import pytest

from linkwork.core.errors import EngineError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Loop, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from mechanisms import bar, ground, scene_of

AXIS = (0.0, 1.0, 0.0)


def parallelogram(start: float, *, loop: str = "hinge", speed: float = 0.0) -> Part:
    """Returns arms of 0.2 m on a base and a coupler of 0.4 m, which are flat at 0 and π."""
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


def slider_crank(start: float, *, speed: float = 0.0, ram: float = 1.0) -> Part:
    """Returns crank and rod of equal length: at ±π/2 the slider is over the shaft."""
    heavy = Element("ram", (Box(size=(0.1, 0.1, 0.1), collide=False),), mass=ram)
    part = Part("press").add(ground(), bar("crank", 0.3, 0.3), bar("rod", 0.3, 0.3), heavy)
    part.add(
        Joint("A", "hinge", "ground", "crank", axis=AXIS, value=start, speed=speed),
        Joint("B", "hinge", "crank", "rod", at=Pose.of((0.3, 0, 0)), axis=AXIS, value=-2 * start,
              speed=-2 * speed),
        Joint("S", "slider", "ground", "ram", axis=(1, 0, 0), value=0.6 * math.cos(start),
              speed=-0.6 * math.sin(start) * speed),
        Anchor("end", "rod", Pose.of((0.3, 0, 0))),
        Anchor("pin", "ram"),
        Loop("C", "end", "pin", "ball"),
    )  # fmt: skip
    return part


def crank_time(start: float, speed: float, ram: float, turned: float) -> float:
    """Returns the time of a crank angle by energy: ∫ dθ / ω, I(θ) ω² / 2 + U(θ) constant."""
    length, mass, wide = 0.3, 0.3, 0.02
    thick = mass * (length**2 + wide**2) / 12

    def inertia(angle: np.ndarray) -> np.ndarray:
        s2, c2 = np.sin(angle) ** 2, np.cos(angle) ** 2
        bars = 2 * thick + mass * length**2 * (0.25 + 2.25 * s2 + 0.25 * c2)
        return bars + ram * (2 * length) ** 2 * s2

    def height(angle: np.ndarray) -> np.ndarray:
        return -mass * 9.81 * length * np.sin(angle)

    first = np.array([start])
    energy = float((0.5 * inertia(first) * speed**2 + height(first))[0])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(start, start + turned, 4000)
    half = 0.5 * np.diff(edges)
    angles = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    slow = np.sqrt(0.5 * inertia(angles) / (energy - height(angles)))
    return float((half[:, None] * weights * slow).sum())


def swing(scene: Scene, seconds: float) -> tuple[float, Session]:
    """Returns the largest energy error relative to the largest kinetic energy."""
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
    """From many starts, whether it continues as a parallelogram or crossed."""
    for start in (-2.8, -2.0, -1.3, -0.6, -0.3):
        off, session = swing(scene_of(parallelogram(start, loop=loop), order=order), 1.0)
        assert off < 1e-3, (start, off)
        a, _, c = session.state.q
        way = np.array([0.4 + 0.2 * (math.cos(c) - math.cos(a)), 0.2 * (math.sin(c) - math.sin(a))])
        assert np.linalg.norm(way) == pytest.approx(0.4, abs=1e-9)


def test_a_flat_parallelogram_starts_with_a_speed() -> None:
    """Exactly at the change point, where two motions are possible."""
    off, _session = swing(scene_of(parallelogram(0.0, speed=8.0)), 1.0)
    assert off < 1e-3


@pytest.mark.parametrize("order", [2, 4])
def test_a_slider_crank_with_equal_arms_keeps_its_energy(order: int) -> None:
    for start in (-0.5, -1.0, -0.2):
        off, _session = swing(scene_of(slider_crank(start), order=order), 1.5)
        assert off < 1e-3, (start, off)


@pytest.mark.capability(11)
@pytest.mark.parametrize(("order", "most"), [(2, 0.03), (4, 2e-3), (6, 2e-3)])
def test_a_heavy_ram_turns_round_without_a_loss(order: int, most: float) -> None:
    """With crank and rod in line, the crank carries all energy for about a step."""
    for ram, speed in ((50.0, 3.0), (10.0, 10.0), (50.0, 10.0)):
        scene = scene_of(slider_crank(-0.5, ram=ram, speed=speed), order=order)
        off, session = swing(scene, 3.0)
        assert off < most, (ram, speed, off)
        (account,) = session.report().accounts
        assert account.halved > 0
        assert account.exceeded == 0


@pytest.mark.parametrize("order", [4, 6])
def test_a_heavy_ram_turns_round_by_forces_too(order: int) -> None:
    """Without a loop check, the energy check applies as well."""
    for ram, speed in ((50.0, 3.0), (50.0, 10.0)):
        scene = scene_of(slider_crank(-0.5, ram=ram, speed=speed), order=order, method="forces")
        off, _session = swing(scene, 3.0)
        assert off < 1e-2, (ram, speed, off)


def test_a_heavy_ram_goes_as_its_energy_says() -> None:
    """On time after many turns: with a velocity, the continuation is unique."""
    start, speed, ram, turned = -0.5, 3.0, 50.0, 0.0
    with Session(scene_of(slider_crank(start, speed=speed, ram=ram))) as session:
        for _ in range(6):
            session.step(500)
            turned = float(session.state.q[0]) - start
            assert session.time == pytest.approx(crank_time(start, speed, ram, turned), abs=1e-3)
        assert turned > 2 * math.pi


def test_a_step_that_strays_ends_a_run_that_asks_for_it() -> None:
    scene = scene_of(slider_crank(-0.5, ram=50.0, speed=10.0), on_gap="stop")
    with Session(scene) as session, pytest.raises(EngineError, match=r"energy changes by"):
        session.step(100)
