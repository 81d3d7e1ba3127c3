"""Ellipsoids agree with singular values, and a workspace with the arm's reach."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics.test_inverse import BENT, WORLD
from linkwork.core.errors import LinkworkError
from linkwork.dynamics import crba
from linkwork.dynamics.measures import dynamic_manipulability
from linkwork.geometry import Pose
from linkwork.kinematics import jacobian
from linkwork.kinematics.measures import manipulability
from linkwork.kinematics.workspace import workspace
from linkwork.model.parts import Anchor, Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene


def planar() -> World:
    """Returns two links of 1 m and 0.5 m in the plane of x and z."""
    part = Part("p").add(Element("stand", mass=1.0))
    for n, (name, before) in enumerate((("upper", "stand"), ("lower", "upper"))):
        at = Pose((1.0 if n else 0.0, 0.0, 0.0))
        part.add(Element(name, (Box(size=(0.1, 0.1, 0.1), at=Pose((0.5, 0, 0))),), mass=2.0))
        part.add(Joint(f"j{n}", "hinge", before, name, at=at, axis=(0, -1, 0)))
    part.add(Anchor("tip", "lower", at=Pose((0.5, 0.0, 0.0))))
    return compile_scene(Scene("s").place(part, name="p", base="fixed"))


@pytest.mark.capability(113, 114)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_ellipsoid_is_the_singular_value_decomposition(seed: int) -> None:
    """Axes are U, lengths σ (RoboTiX thesis eq. 3.9–3.12); the figure is Yoshikawa's √det(J Jᵀ)."""
    q = np.random.default_rng(seed).uniform(WORLD.dof_lo, WORLD.dof_hi)
    rows = jacobian(WORLD, q, "a/tool")[:3]
    u, sigma, _ = np.linalg.svd(rows)
    made = manipulability(WORLD, q, "a/tool")
    np.testing.assert_allclose(made.lengths, sigma, atol=1e-7)
    np.testing.assert_allclose(made.jacobian, rows, atol=0.0)
    assert made.figure == pytest.approx(math.sqrt(max(np.linalg.det(rows @ rows.T), 0.0)), abs=1e-9)
    square = made.axes @ np.diag(made.lengths**2) @ made.axes.T
    np.testing.assert_allclose(square, u @ np.diag(sigma**2) @ u.T, atol=1e-9)
    force = manipulability(WORLD, q, "a/tool", kind="force")
    if sigma[-1] > 1e-3:
        np.testing.assert_allclose(force.lengths, 1.0 / sigma[::-1], rtol=1e-6)


@pytest.mark.capability(115)
def test_dynamic_and_impact_ellipsoids_follow_their_definitions() -> None:
    """J M⁻¹ for accelerations; the effective mass for impacts, against numpy."""
    rows, mass = jacobian(WORLD, BENT, "a/tool")[:3], crba(WORLD, BENT)
    dynamic = dynamic_manipulability(WORLD, BENT, "a/tool")
    sigma = np.linalg.svd(rows @ np.linalg.inv(mass), compute_uv=False)
    np.testing.assert_allclose(dynamic.lengths, sigma, rtol=1e-8)
    impact = dynamic_manipulability(WORLD, BENT, "a/tool", kind="impact")
    effective = np.linalg.inv(rows @ np.linalg.inv(mass) @ rows.T)
    for axis, length in zip(impact.axes.T, impact.lengths, strict=True):
        np.testing.assert_allclose(effective @ axis, length * axis, rtol=1e-6, atol=1e-9)


def test_a_planar_arm_has_yoshikawas_figure() -> None:
    """w = l₁ l₂ |sin q₂|, and no force is needed across its plane."""
    world = planar()
    for bend in (0.0, 0.3, 1.2, math.pi / 2):
        rows = manipulability(world, np.array([0.4, bend]), "p/tip")
        w = rows.lengths[0] * rows.lengths[1]
        assert w == pytest.approx(0.5 * abs(math.sin(bend)), abs=1e-8)
        assert rows.lengths[2] == pytest.approx(0.0, abs=1e-8)
    stretched = manipulability(world, np.zeros(2), "p/tip", kind="force")
    assert np.isinf(stretched.lengths[0])
    with pytest.raises(LinkworkError, match="force, velocity"):
        manipulability(world, np.zeros(2), "p/tip", kind="colour")


@pytest.mark.capability(127)
def test_the_workspace_of_a_planar_arm_is_a_ring() -> None:
    """Radii from 0.5 to 1.5 m are all covered; progress is reported by chunk."""
    reported: list[int] = []
    cloud = workspace(planar(), "p/tip", 25_000, progress=reported.append)
    radius = np.linalg.norm(cloud[:, [0, 2]], axis=1)
    assert reported == [10_000, 20_000, 25_000]
    assert np.abs(cloud[:, 1]).max() < 1e-12
    assert radius.min() == pytest.approx(0.5, abs=1e-3)
    assert radius.max() == pytest.approx(1.5, abs=1e-3)
    assert np.histogram(radius, bins=20, range=(0.5, 1.5))[0].min() > 200
    upper = workspace(planar(), "p/tip", 500, first="p/j1")
    center = np.linalg.norm(upper - (1.0, 0.0, 0.0), axis=1)
    np.testing.assert_allclose(center, 0.5, atol=1e-12)
