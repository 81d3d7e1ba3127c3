"""Visum §5: closed chains obey their geometry, here the two famous straight lines."""

import math

import numpy as np
import pytest

import linkwork as lw
from mechanism_reference import from_watts_curve, place


@pytest.mark.capability(10, 15)
def test_watts_point_stays_on_its_curve() -> None:
    """The coupler's midpoint is on Watt's sextic to 1e-9 m, through the whole figure eight."""
    rocker, half, height = 0.24, 0.08, 0.36
    apart = math.hypot(rocker, half)
    along = np.array([rocker, -half]) / apart  # from pivot to pivot
    with lw.Session("mechanisms/watt") as session:
        positions = []
        for _ in range(300):
            session.step(7)
            x, y, z = place(session, "linkage/pen")
            point = np.array([x, z - height])
            own = np.array([point @ along, point[1] * along[0] - point[0] * along[1]])
            if np.hypot(*own) > 0.01:  # at its crossing the curve has no slope
                assert from_watts_curve(own, rocker, half, apart) < 1e-9
            assert abs(y) < 1e-9
            assert session["world.gap"] < 1e-9
            positions.append(z - height)
        assert max(positions) > 0.15  # both loops of the eight
        assert min(positions) < -0.15


@pytest.mark.capability(10, 15)
def test_peaucelliers_point_goes_exactly_straight() -> None:
    """It is at x = (L² − s²) / 2r to 1e-9 m, over a stroke of 0.38 m."""
    with lw.Session("mechanisms/peaucellier") as session:
        heights = []
        for _ in range(300):
            session.step(10)
            x, y, z = place(session, "cell/pen")
            assert x == pytest.approx((0.26**2 - 0.12**2) / 0.2, abs=1e-9)
            assert abs(y) < 1e-9
            heights.append(z)
        assert np.ptp(heights) > 0.38
