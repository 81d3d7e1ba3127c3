"""Schwanen 2002 chapters 3 and 5: the leg of BARt-UH II, as printed and corrected."""

import math

import numpy as np
import pytest

from linkwork.geometry import Pose
from linkwork.kinematics.leg import LegGeometry

#: Lengths [m]: shank and foot are inferred, the thigh is assumed equal.
L2, L3, L4, A4 = 0.35, 0.35, 0.10, 0.05
LEG = LegGeometry(L2, L3, L4)
#: The same leg to the foot's center of mass.
CENTRE = LegGeometry(L2, L3, A4)
HALF, HIP = 0.10, 0.45 + L2  # half the leg distance, height of the hip


def foot(t: float) -> np.ndarray:
    """Returns the center of mass of the right foot while q₄ = (3π/4) sin 2πt (eq. 5.1)."""
    q = np.array([0, 0, 0, 0.75 * math.pi * math.sin(2 * math.pi * t), 0, 0])
    return np.add(CENTRE.place(q).xyz, (HALF, 0.0, HIP))


def test_eq_5_2_holds_with_the_lengths_of_the_errata() -> None:
    """x₄ = 0.1, y₄ = 0.4 sin q₄, z₄ = 0.45 − 0.4 cos q₄."""
    for t in np.linspace(0.0, 1.0, 41):
        q4 = 0.75 * math.pi * math.sin(2 * math.pi * t)
        wanted = 0.1, 0.4 * math.sin(q4), 0.45 - 0.4 * math.cos(q4)
        np.testing.assert_allclose(foot(t), wanted, atol=1e-14)


def test_the_values_of_figure_5_2() -> None:
    """The maximum of y is 0.4 m at t = 0.1161 s, 0.2828 at 0.25 s; z from 0.05 to 0.7328 m."""
    times = np.linspace(0.0, 0.25, 2501)
    path = np.array([foot(t) for t in times])
    assert times[path[:, 1].argmax()] == pytest.approx(0.1161, abs=1e-4)
    assert path[:, 1].max() == pytest.approx(0.4, abs=1e-6)
    assert path[-1, 1] == pytest.approx(0.2828, abs=1e-4)
    assert path[0, 2] == pytest.approx(0.05, abs=1e-12)
    assert path[:, 2].max() == pytest.approx(0.7328, abs=1e-4)
    speed = (foot(1e-6)[1] - foot(-1e-6)[1]) / 2e-6
    assert speed == pytest.approx(5.922, abs=1e-3)


def test_a_straight_leg_turns_about_z_without_moving_its_foot() -> None:
    """q₁ moves no center of mass while the leg is straight."""
    for angle in np.linspace(-2.0, 2.0, 9):
        turned = CENTRE.place(np.array([angle, 0, 0, 0, 0, 0]))
        np.testing.assert_allclose(turned.xyz, (0.0, 0.0, -L2 - L3 - A4), atol=1e-15)


@pytest.mark.capability(64)
def test_the_inverse_kinematics_with_flat_feet_is_the_corrected_one() -> None:
    """Eq. 3.10–3.13 with corrected signs, for flat feet as in the report.

    As printed, eq. 3.12 is 2π too large, and q₆ of eq. 3.10 has the wrong sign: a foot beside the
    hip is then missed by twice its offset.
    """
    for x, y, z in np.random.default_rng(2).uniform((-0.2, -0.2, -0.7), (0.2, 0.2, -0.5), (50, 3)):
        found = LEG.solve(Pose((x, y, z)), knee="human")
        assert found is not None
        ankle = x, y, z + L4
        length = math.hypot(*ankle)
        q6 = -math.atan(ankle[0] / ankle[2])
        q5 = math.asin(-ankle[1] / length)
        q5 += math.acos((L3**2 - L2**2 + length**2) / (2 * L3 * length))
        q4 = math.acos((L2**2 + L3**2 - length**2) / (2 * L2 * L3)) - math.pi
        np.testing.assert_allclose(found, [0.0, -q6, -q4 - q5, q4, q5, q6], atol=1e-12)
        printed = math.pi + math.acos((L3**2 + L2**2 - length**2) / (2 * L2 * L3))
        assert printed - found[3] == pytest.approx(2 * math.pi)
        wrong = found * [1, -1, 1, 1, 1, -1]
        assert math.dist(LEG.place(wrong).xyz, (x, y, z)) == pytest.approx(2 * abs(x), abs=1e-12)


@pytest.mark.capability(65)
def test_a_knee_points_forward_in_the_human_like_way_and_back_in_the_bird_like_one() -> None:
    """§2.2: q₄ is negative for a human-like gait, positive for a bird-like one; y is forward."""
    target = Pose((0.02, 0.05, -0.65))
    for knee, sign in (("human", 1.0), ("bird", -1.0)):
        found = LEG.solve(target, knee=knee)
        assert found is not None
        assert found[3] * sign < 0.0
        joint = LegGeometry(L2, 0.0).place(np.array([*found[:3], 0, 0, 0]))
        assert joint.xyz[1] * sign > 0.1
        assert math.dist(LEG.place(found).xyz, target.xyz) < 1e-14
