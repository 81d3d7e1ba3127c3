"""Joints held by forces, integrated by Adams' rule: orders, joints, unsupported features."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import EngineError
from linkwork.engines.impulse.adams import adams_weights
from linkwork.geometry import Pose
from linkwork.model.parts import Joint, Part
from linkwork.model.scene import Scene
from linkwork.session.messages import GrabElement
from linkwork.session.session import Session
from mechanisms import bar, centers, chain, four_bar, ground, ring, scene_of

STARTS: dict[str, dict[str, Any]] = {
    "hinge": {"speed": 2.0},
    "slider": {"speed": 0.3},
    "ball": {"speed": (2.0, -1.0, 3.0)},
    "universal": {"speed": (2.0, 1.5), "axis2": (0.0, 0.0, 1.0)},
    "cylindrical": {"speed": (0.3, 2.0)},
    "planar": {"speed": (0.2, 0.3, 2.0)},
    "screw": {"speed": 2.0, "pitch": 0.05},
    "fixed": {},
}
CASES = {"double pendulum of balls": lambda: chain(2, "ball"), "four-bar": four_bar}


def arm(kind: str) -> Part:
    """Returns a rotating bar, a bar on a joint of some kind, and another on a hinge."""
    part = Part("arm").add(
        ground(), bar("root", 0.2, 0.5), bar("one", 0.3, 0.5), bar("two", 0.2, 0.3, deep=0.05)
    )
    at = Pose.of((0.2, 0, 0), rpy=(0.2, 0.3, 0.1))
    return part.add(
        Joint("R", "hinge", "ground", "root", axis=(0, 0.8, 0.6), speed=-3.0),
        Joint("J", kind, "root", "one", at=at, axis=(0, 1, 0), **STARTS[kind]),
        Joint("K", "hinge", "one", "two", at=Pose.of((0.3, 0, 0)), axis=(0.6, 0.8, 0), value=0.4),
    )


def by_forces(part: Part, order: int = 6, **params: Any) -> Scene:
    return scene_of(part, method="forces", order=order, **params)


def after(case: str, step: float, order: int, **params: Any) -> np.ndarray:
    """Returns the poses of all bodies at eight times within 0.32 s."""
    scene = scene_of(CASES[case](), step=step, order=order, max_iterations=200, **params)
    with Session(scene) as session:
        found = []
        for _ in range(8):
            session.step(round(0.04 / step))
            found.append(centers(session))
        (account,) = session.report().accounts
        assert (account.halved, account.exceeded) == (0, 0)
        return np.array(found)


def test_weights_are_those_of_the_tables() -> None:
    """Adams and Bashforth's 3 steps: 23, −16, 5 of 12; Adams and Moulton add 3/8 of the error."""
    np.testing.assert_allclose(12.0 * adams_weights(4)[0], [23.0, -16.0, 5.0, 0.0], atol=1e-13)
    np.testing.assert_allclose(adams_weights(4)[1], [3.0, -3.0, 1.0, 3.0 / 8.0], atol=1e-15)


def swung(order: int, count: int) -> np.longdouble:
    """Returns the error after 2 s of x'' = −9 x for a number of steps, from exact first ones."""
    real, w = np.longdouble, np.longdouble(3.0)
    h, weights, room = real(2.0) / count, adams_weights(order), order - 1

    def exact(n: int) -> np.ndarray:
        return np.array([np.cos(w * h * n), -w * np.sin(w * h * n)], real)

    def rate(state: np.ndarray) -> np.ndarray:
        return np.array([state[1], -w * w * state[0]], real)

    rates, state = [rate(exact(n)) for n in range(room - 1, -1, -1)], exact(room - 1)
    for _ in range(count - room + 1):
        prediction_tolerance, rate_told = (
            sum(weights[k, j] * rates[j] for j in range(room)) for k in range(2)
        )
        state = state + h * prediction_tolerance
        found = rate(state)
        state = state + h * weights[1, room] * (found - rate_told)
        rates = [found, *rates[:-1]]
    return np.linalg.norm((state - exact(count)).astype(float))


@pytest.mark.parametrize("order", [4, 5, 6])
def test_the_rule_has_its_order_over_three_halvings(order: int) -> None:
    """Within 0.1 each, on a closed-form oscillation, in steps of 20 to 2.5 ms."""
    errors = [swung(order, 100 * 2**n) for n in range(4)]
    for coarse, fine in itertools.pairwise(errors):
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.1), errors


@pytest.mark.capability(10)
@pytest.mark.parametrize(
    ("case", "order", "step", "least", "most"),
    [
        ("double pendulum of balls", 4, 2e-3, 3.9, 4.1),
        ("double pendulum of balls", 5, 2e-3, 4.9, 5.1),
        ("double pendulum of balls", 6, 4e-3, 5.9, 6.6),
        ("four-bar", 4, 2e-3, 3.85, 4.1),
    ],
)
def test_steps_by_forces_have_the_order_they_are_called(
    case: str, order: int, step: float, least: float, most: float
) -> None:
    """Over two halvings of the step, against impulses with small steps.

    Within 0.1 where the first term of the error rules. With order 6, and in the four-bar, later
    terms still count at these steps, and shorter ones leave errors of gaps and rounding only.
    Over longer times errors cancel now and then, and one halving may show half an order more or
    less: the rule by itself is measured above.
    """
    truth = after(case, 1e-3, 6, gap=1e-13)
    errors = [
        np.linalg.norm(after(case, step / 2**n, order, method="forces", gap=1e-12) - truth)
        for n in range(3)
    ]
    for coarse, fine in itertools.pairwise(errors):
        assert least <= math.log2(coarse / fine) <= most, errors


@pytest.mark.parametrize("kind", STARTS)
def test_forces_hold_every_joint_as_impulses_do(kind: str) -> None:
    """Position and velocity after 0.3 s agree within the order's error."""
    with (
        Session(by_forces(arm(kind))) as ours,
        Session(scene_of(arm(kind), order=6, step=2e-3)) as theirs,
    ):
        ours.step(300)
        theirs.step(150)
        np.testing.assert_allclose(ours.state.pose, theirs.state.pose, atol=1e-7)
        np.testing.assert_allclose(ours.state.v, theirs.state.v, atol=1e-6)


@pytest.mark.capability(11)
def test_forces_keep_the_tolerance_and_tell_it() -> None:
    """A ring of hinges for a second: gaps and velocities as allowed, energy to 0.1 %."""
    with Session(by_forces(ring())) as session:
        session.step()
        first = session.state.report.energy.sum()
        session.step(999)
        (account,) = session.report().accounts
        assert account.gap <= 1e-10
        assert account.speed_gap <= 1e-9
        assert account.exceeded == 0
        energies = session.state.report.energy
        assert energies.sum() == pytest.approx(first, abs=1e-3 * energies[0])


def test_joint_forces_are_those_of_impulses() -> None:
    """Both methods report the same joint forces of a four-bar."""
    found = []
    for method, order in (("forces", 6), ("impulses", 2)):
        with Session(scene_of(four_bar(), method=method, order=order, step=2e-4)) as session:
            session.step(500)
            found.append(session.cycle.engines[0].joint_forces())
    np.testing.assert_allclose(found[0], found[1], atol=0.05)


def test_a_run_by_forces_that_is_gone_back_in_goes_the_same_way_again() -> None:
    """The history of steps is part of the state: bit-exact."""
    with Session(by_forces(chain(3, "ball"))) as session:
        session.step(50)
        kept = session.state.save()
        session.step(50)
        there = session.state.copy()
        session.cycle.restore(kept)
        session.step(50)
        np.testing.assert_array_equal(session.state.pose, there.pose)
        np.testing.assert_array_equal(session.state.v, there.v)


def test_a_hand_that_pulls_is_no_kink() -> None:
    """A pull that begins within a run moves a bar as it does by impulses."""
    ends = []
    for params in ({"method": "forces", "order": 6}, {"order": 2, "step": 1e-3}):
        with Session(scene_of(chain(2), **params)) as session:
            session.step(20)
            grab = GrabElement(
                "chain/bar1", (0.0, 0.1, 0.3), (0.2, 0.0, 0.0), stiffness=20.0, damping=1.0
            )
            session.send(grab)
            session.step(100)
            ends.append(centers(session))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


def test_what_forces_cannot_carry_is_refused() -> None:
    """Springs, drives, friction and limits along joints, and inconsistent settings."""
    part = Part("door").add(ground("frame"), bar("leaf", 0.8, 5.0))
    part.add(Joint("pin", "hinge", "frame", "leaf", axis=(0, 0, 1), damping=0.5))
    for scene, text in (
        (by_forces(part), "supports ideal joints only: door/pin"),
        (by_forces(four_bar(), order=2), "has the orders 4, 5 and 6"),
        (scene_of(four_bar(), order=5), "order = 5 is for"),
        (by_forces(four_bar(), solver="anytime"), "supports method"),
    ):
        with pytest.raises(EngineError, match=text):
            Session(scene)


@pytest.mark.parametrize("gap", [1e-10, 1e-3])
def test_a_step_too_long_for_forces_is_halved(gap: float) -> None:
    """At extreme velocity and step it continues in substeps, whatever gap is allowed."""
    with Session(by_forces(chain(2, value=-2.0), step=0.04, gap=gap)) as session:
        session.step(25)
        (account,) = session.report().accounts
        assert account.gap <= gap
        assert account.halved > 0
        assert np.linalg.norm(np.diff(centers(session)[1:], axis=0)) < 0.203
        assert session.state.report.energy.sum() == pytest.approx(0.6, abs=0.1)  # 0.58 at the start


def test_a_step_too_long_for_forces_is_called_that() -> None:
    """The message for a chain without loops does not mention loops."""
    scene = by_forces(chain(4, value=-1.0), step=0.04, on_gap="stop")
    with (
        pytest.raises(EngineError, match=r'steps of 40 ms are too long for method = "forces"'),
        Session(scene) as session,
    ):
        session.step(50)
