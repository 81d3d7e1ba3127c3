"""Closed form of legs: exact for both knees; other geometries are rejected."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from kinematics.test_inverse import at
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.kinematics.leg import Leg, LegGeometry
from linkwork.model.parts import Anchor, Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

LEG = LegGeometry(thigh=0.35, shank=0.35, foot=0.10)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
STEPS = [(Z, 0.0), (Y, 0.0), (X, 0.0), (X, 0.35), (X, 0.3), (Y, 0.0)]


def apart(a: Pose, b: Pose) -> tuple[float, float]:
    """Returns distance [m] and angle [rad] of two poses."""
    half = np.linalg.norm(np.subtract(a.quat, b.quat)), np.linalg.norm(np.add(a.quat, b.quat))
    return math.dist(a.xyz, b.xyz), 2.0 * float(min(half))


@pytest.mark.capability(64, 65)
@settings(max_examples=cases(200), deadline=None)
@given(st.lists(st.floats(-3.1, 3.1), min_size=6, max_size=6), st.sampled_from(["human", "bird"]))
def test_the_closed_form_closes(angles: list[float], knee: str) -> None:
    """To 1e-12 m and rad at random postures, with either knee and all four other branches."""
    target = LEG.place(np.array(angles))
    for turned in (False, True):
        for over in (False, True):
            found = LEG.solve(target, knee=knee, turned=turned, over=over)
            assert found is not None
            assert found[3] <= 0.0 if knee == "human" else found[3] >= 0.0
            distance, angle = apart(LEG.place(found), target)
            # acos loses half the digits if the leg is stretched or folded
            slack = 1e-12 / max(1e-3, abs(math.sin(angles[3])))
            assert distance < slack
            assert angle < slack


@pytest.mark.capability(65)
def test_one_of_the_branches_is_the_posture_that_was_there() -> None:
    """With feet below the hip, the original angles are among the solutions."""
    for q in np.random.default_rng(3).uniform(-1.2, 1.2, (100, 6)):
        knee = "human" if q[3] < 0.0 else "bird"
        found = LEG.solve(LEG.place(q), knee=knee)
        same = [found, LEG.solve(LEG.place(q), knee=knee, turned=True)]
        assert min(np.abs(each - q).max() for each in same if each is not None) < 1e-9


def test_what_is_out_of_reach_has_no_posture() -> None:
    """Beyond the stretched leg there is no solution; an unknown knee is an error."""
    assert LEG.solve(Pose((0.0, 0.0, -0.9))) is None
    stretched = LEG.solve(Pose((0.0, 0.0, -0.8)))
    assert stretched is not None
    np.testing.assert_allclose(stretched, 0.0, atol=1e-7)
    with pytest.raises(LinkworkError, match="human"):
        LEG.solve(Pose((0.0, 0.0, -0.6)), knee="goat")


def legs(
    signs: list[float], *, axes: list | None = None, shift: float = 0.0, ends: bool = True
) -> World:
    """Returns a torso on a free base with one leg, whose axes may be reversed."""
    part = Part("biped").add(Element("torso", (Box(size=(0.3, 0.2, 0.4)),), mass=10.0))
    carrier = "torso"
    for n, (axis, below) in enumerate(STEPS):
        link = f"l{n + 1}"
        start = Pose((0.1, 0.02, -0.2)) if n == 0 else Pose((shift * (n == 1), 0.0, -below))
        part.add(Element(link, (Box(size=(0.05, 0.05, 0.05)),), mass=1.0))
        x, y, z = axes[n] if axes else axis
        turning = signs[n] * x, signs[n] * y, signs[n] * z
        within = (-2.0, 2.0) if ends else None
        part.add(Joint(f"q{n + 1}", "hinge", carrier, link, at=start, axis=turning, range=within))
        carrier = link
    part.add(Anchor("sole", carrier, Pose.of((0.01, 0.05, -0.08), rpy=(0.1, 0.0, 0.2))))
    return compile_scene(Scene("s").place(part, name="r", base="free", at=Pose((0, 0, 1.0))))


@pytest.mark.capability(64)
@pytest.mark.parametrize("signs", [[1.0] * 6, [-1, 1, -1, 1, -1, 1], [1, -1, 1, -1, 1, -1]])
def test_a_leg_of_a_world_is_solved_within_its_ranges(signs: list[float]) -> None:
    """For any direction of its axes and any torso pose, to 1e-11."""
    world = legs(signs)
    leg = Leg(world, "r/sole")
    assert leg.geometry.thigh == pytest.approx(0.35, abs=1e-12)
    assert leg.geometry.shank == pytest.approx(0.3, abs=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = world.q0.copy()
        q[:3] = rng.uniform(-1, 1, 3)
        turn = rng.normal(size=4)
        q[3:7] = turn / np.linalg.norm(turn)
        q[7:] = rng.uniform(-1.3, 1.3, 6)
        target = at(world, q, "r/sole")
        found = {knee: leg.solve(target, seed=q, knee=knee) for knee in ("human", "bird")}
        for each in found.values():
            if each is not None:
                assert max(apart(at(world, each, "r/sole"), target)) < 1e-10
                assert (np.abs(each[7:]) <= 2.0).all()
        assert min(np.abs(f - q).max() for f in found.values() if f is not None) < 1e-8


def test_a_leg_without_ends_is_solved() -> None:
    """Unlimited joints use the nearest full turn."""
    world = legs([1.0] * 6, ends=False)
    q = world.q0.copy()
    q[7:] = [0.1, -0.2, 0.5, -0.9, 0.3, 0.1 + 2 * np.pi]
    found = Leg(world, "r/sole").solve(at(world, q, "r/sole"), seed=q)
    assert found is not None
    np.testing.assert_allclose(found[7:], q[7:], atol=1e-9)


def test_a_human_like_knee_points_where_forward_is() -> None:
    """With forward = −y the other knee is the human one."""
    world = legs([1.0] * 6)
    q = world.q0.copy()
    q[7:] = [0.1, -0.2, 0.5, -0.9, 0.3, 0.1]
    target = at(world, q, "r/sole")
    as_is, other = Leg(world, "r/sole"), Leg(world, "r/sole", forward_=(0.0, -1.0, 0.0))
    human, bird = (leg.solve(target, seed=q) for leg in (as_is, other))
    assert human is not None
    assert bird is not None
    assert human[10] == pytest.approx(-0.9)
    assert bird[10] == pytest.approx(0.9)


def test_other_legs_are_refused_with_the_reason() -> None:
    """Five joints, a wrong axis, and hip axes that do not intersect."""
    with pytest.raises(LinkworkError, match="axis 4 is not parallel to x"):
        Leg(legs([1.0] * 6, axes=[Z, Y, X, Y, X, Y]), "r/sole")
    with pytest.raises(LinkworkError, match="hip miss each other by"):
        Leg(legs([1.0] * 6, shift=0.05), "r/sole")
    with pytest.raises(LinkworkError, match="six hinges are needed"):
        Leg(legs([1.0] * 6), "r/l4")
