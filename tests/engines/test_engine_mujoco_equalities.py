"""Loops, couplings and screws in the Mujoco engine: soft, but as stiff as possible."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine_scenes import (
    SIDE,
    UP,
    Joint,
    arm_inertia,
    bar,
    block,
    cycle,
    four_bar,
    motor,
    move,
    ring,
    servo,
)
from linkwork.core.errors import EngineError
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Coupling, Element, Part, Spec
from linkwork.model.scene import Scene
from linkwork.session.cycle import Cycle

CRANK_ROCKER = (0.2, 0.5, 0.4, 0.45)
PARALLELOGRAM = (0.3, 0.5, 0.3, 0.5)


def largest_gap(ours: Cycle, seconds: float) -> float:
    worst = 0.0
    for _ in range(round(seconds / ours.h)):
        ours.move()
        worst = max(worst, float(ours.state.report.gap[0]))
    return worst


@pytest.mark.parametrize("joint", ["ball", "hinge"])
@pytest.mark.parametrize(("step", "allowed"), [(0.001, 3e-5), (0.002, 1.2e-4)])
def test_four_bar_stays_closed(joint: str, step: float, allowed: float) -> None:
    """A crank-rocker at up to 18 rad/s: the gap is below 0.03 mm at 1 ms, ∝ h²."""
    ours = cycle(four_bar(joint, CRANK_ROCKER, 1.0, step=step))
    assert 0.0 < largest_gap(ours, 3.0) < allowed


def test_four_bar_keeps_its_energy() -> None:
    """Without damping energy is constant within 4 % over 3 s."""
    ours = cycle(four_bar("hinge", CRANK_ROCKER, 1.0, step=0.001))
    ours.move()
    before = ours.state.report.energy.sum()
    move(ours, 3000)
    # the zero of potential energy is the height of the ground joint
    assert ours.state.report.energy.sum() == pytest.approx(before, rel=0.04)


def test_four_bar_moves_as_its_geometry_demands() -> None:
    """A driven crank moves the rocker by the closed form (Freudenstein) to 1e-3 rad."""
    scene = four_bar("hinge", CRANK_ROCKER, 1.0, step=0.001, gravity=(0.0, 0.0, 0.0))
    scene.actuator("turn", "motor", joint="bars/J1", gain=50.0)
    ours = cycle(scene)
    ours.state.target_speed[0] = 3.0
    crank, coupler, rocker, ground = CRANK_ROCKER
    for _ in range(20):
        move(ours, 150)
        theta, psi = ours.state.q[0], ours.state.q[2]
        end = np.array([crank * math.cos(theta), crank * math.sin(theta)])
        tip = np.array([ground + rocker * math.cos(psi), rocker * math.sin(psi)])
        assert np.linalg.norm(tip - end) == pytest.approx(coupler, abs=3e-4)
    assert ours.state.q[0] > 2.0 * math.pi


def test_parallelogram_with_a_redundant_tie_stays_closed() -> None:
    """With two redundant constraints the gap stays below a micrometer."""
    ours = cycle(four_bar("hinge", PARALLELOGRAM, 1.0))
    assert largest_gap(ours, 3.0) < 1e-6


@pytest.mark.parametrize(("step", "allowed"), [(0.001, 1e-3), (0.002, 5e-3)])
def test_ring_of_ten_bars_whips_and_stays_whole(step: float, allowed: float) -> None:
    """Hung at a corner it falls and whips at 150 rad/s without opening or diverging."""
    ours = cycle(ring(10, 1e-3, step=step))
    ours.move()
    before = ours.state.report.energy.sum()
    assert largest_gap(ours, 2.0) < allowed
    assert ours.state.report.energy.sum() < before


def test_fixed_loop_holds_like_a_weld() -> None:
    """A bridge of two arms with fixed tips carries its weight without a gap."""
    facing = Pose.of((0.6, 0.0, 0.0), rpy=(0.0, 0.0, math.pi))
    part = Part("bridge").add(
        Element("ground", mass=1.0),
        bar("left", 0.3, 0.5),
        bar("right", 0.3, 0.5),
        Joint("A", "hinge", "ground", "left", axis=SIDE),
        Joint("B", "hinge", "ground", "right", axis=SIDE, at=facing),
        Anchor("a", "left", Pose((0.3, 0.0, 0.0))),
        Anchor("b", "right", Pose.of((0.3, 0.0, 0.0), rpy=(0.0, 0.0, math.pi))),
    )
    part.close("a", "b", joint="fixed")
    ours = cycle(Scene("test").place(part))
    assert largest_gap(ours, 1.0) < 1e-4
    assert np.abs(ours.state.q).max() < 1e-3


def test_check_says_that_loops_are_soft_and_which_it_cannot_close() -> None:
    """Ball, hinge and fixed loops are soft; a slider loop is rejected by name."""
    ours = cycle(four_bar("hinge", CRANK_ROCKER, 1.0))
    assert [(f.level, f.about) for f in ours.findings if "loop" in f.text] == [
        ("approximated", "bars/loop1")
    ]
    with pytest.raises(EngineError, match=r"bars/loop1.*ball, hinge, fixed"):
        cycle(four_bar("slider", CRANK_ROCKER, 1.0))


def pair(**coupling: Any) -> Part:
    """Returns two links on a post, the second of which follows the first."""
    return Part("pair").add(
        Element("post", mass=1.0),
        bar("leads", 0.1, 0.05),
        bar("follows", 0.1, 0.05),
        Joint("L", "hinge", "post", "leads", axis=SIDE, drive=servo(kp=20.0, kd=0.5)),
        Joint("F", "hinge", "post", "follows", axis=SIDE, at=Pose((0.0, 0.3, 0.0))),
        Coupling("F", "L", **coupling),
    )


@pytest.mark.parametrize(("ratio", "offset"), [(1.0, 0.0), (-2.5, 0.3), (0.2, -0.1)])
def test_coupled_joint_follows_its_leader(ratio: float, offset: float) -> None:
    """value = ratio · leader + offset within 1e-4 rad while both move by a servo."""
    ours = cycle(Scene("test").place(pair(ratio=ratio, offset=offset)))
    assert ours.state.q[1] == pytest.approx(offset)
    for target in (0.4, -0.2):
        ours.state.target[0] = target
        for _ in range(200):
            ours.move()
            leads, follows = ours.state.q
            assert follows == pytest.approx(ratio * leads + offset, abs=1e-4)
    assert [f.about for f in ours.findings if "follows its leader" in f.text] == ["pair/F"]


@pytest.mark.parametrize("native", [False, True])
def test_coupling_by_a_polynomial_counts_from_zero(native: bool) -> None:
    """y = x² from x = 0.5: it starts at 0.25 and stays on it, also in a native model."""
    part = pair(ratio=0.0, mujoco={"polycoef": (1.0, 0.0, 0.0)})
    part.joints["L"] = replace(part.joints["L"], value=0.5)
    scene = Scene("test").place(part)
    scene.engines.append(Spec("engine", "mujoco", "", {"native": native}))
    ours = cycle(scene)
    assert ours.state.q.tolist() == [0.5, 0.25]
    assert ours.world.q0.tolist() == [0.5, 0.25]
    ours.state.target[0] = 0.8
    for _ in range(300):
        ours.move()
        leads, follows = ours.state.q
        assert follows == pytest.approx(leads**2, abs=0.03 if native else 1e-3)
    assert ours.state.q[0] == pytest.approx(0.8, abs=0.2)


def test_gear_reflects_inertia_by_its_ratio_squared() -> None:
    """A constant torque on the leader accelerates I + r² I."""
    part = pair(ratio=3.0)
    part.joints["L"] = Joint("L", "hinge", "post", "leads", axis=SIDE)
    scene = Scene("test", gravity=(0.0, 0.0, 0.0)).place(part)
    ours = cycle(scene.actuator("push", "effort", joint="pair/L"))
    ours.state.target_effort[0] = 1e-3
    move(ours, 250)
    inertia = arm_inertia() * (1.0 + 3.0**2)
    assert ours.state.v[0] == pytest.approx(1e-3 / inertia * 250 * ours.h, rel=1e-3)


def test_screw_advances_its_pitch_per_turn() -> None:
    """A nut driven for three turns rises by three pitches, exactly in its pose."""
    part = Part("press").add(
        Element("base", mass=1.0),
        block("nut", (0.1, 0.1, 0.02), 0.5),
        Joint("S", "screw", "base", "nut", axis=UP, pitch=0.01, drive=motor(gain=5.0)),
    )
    ours = cycle(Scene("test").place(part))
    ours.state.target_speed[0] = 2.0 * math.pi
    move(ours, 1500)
    turns = float(ours.state.q[0]) / (2.0 * math.pi)
    assert turns == pytest.approx(3.0, rel=1e-3)
    body = ours.world.body("press/nut")
    assert ours.state.pose[body, 2] == pytest.approx(0.01 * turns, abs=1e-12)
    assert ours.state.twist[body, 2] == pytest.approx(0.01, rel=1e-3)
    # lifting 0.5 kg by a pitch a turn takes m g p / 2π
    expected = 0.5 * 9.81 * 0.01 / (2.0 * math.pi)
    assert ours.state.report.effort[0] == pytest.approx(expected, rel=0.01)
    assert [f.level for f in ours.findings if "thread" in f.text] == ["approximated"]
