"""Quadratic programs in a box: the minimum satisfies the Karush-Kuhn-Tucker conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.kinematics.box_kernels import SQUARES, VECTORS, box_minimum


def minimum(h: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray | None:
    """Returns the minimum, or None if H is not positive definite."""
    n = len(g)
    x, vectors, squares = np.full(n, np.nan), np.zeros((VECTORS, n)), np.zeros((SQUARES, n, n))
    upper = np.triu(h) + np.tril(np.full((n, n), np.nan), -1)  # its lower half is not read
    return x if box_minimum(upper, g, lo, hi, x, vectors, squares) else None


@settings(max_examples=cases(150), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1.0, 1e-4, 1e-8]))
def test_slopes_vanish_between_the_bounds_and_push_outwards_at_them(
    seed: int, n: int, damping: float
) -> None:
    """Also if H is nearly singular, bounds are infinite or equal, and nearly all are active."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(1, n + 1), n))
    h, g = rows.T @ rows + damping * np.eye(n), rows.T @ rng.normal(size=len(rows))
    lo, hi = -rng.exponential(0.1, n), rng.exponential(0.1, n)
    lo[rng.random(n) < 0.2], hi[rng.random(n) < 0.2] = -np.inf, np.inf
    same = (rng.random(n) < 0.2) & np.isfinite(hi)
    lo[same] = hi[same]
    x = minimum(h, g, lo, hi)
    assert x is not None
    assert (x >= lo - 1e-12).all()
    assert (x <= hi + 1e-12).all()
    slope, small = h @ x + g, 1e-9 * max(1.0, np.abs(g).max())
    inside = (x > lo + 1e-12) & (x < hi - 1e-12)
    assert np.abs(slope[inside]).max(initial=0.0) < small
    assert (slope[(x <= lo + 1e-12) & ~same] > -small).all()
    assert (slope[(x >= hi - 1e-12) & ~same] < small).all()


def test_a_corner_of_the_box_is_found() -> None:
    """With bounds on all sides each unknown is at the bound toward its minimum."""
    g = np.array([5.0, -3.0, 2.0])
    x = minimum(np.eye(3), g, np.full(3, -1.0), np.full(3, 1.0))
    assert x is not None
    assert x.tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize("worst", [-1.0, 0.0])
def test_what_has_no_minimum_is_told(worst: float) -> None:
    """H has a direction without positive curvature."""
    h = np.diag([1.0, 2.0, 3.0, 4.0, worst])
    assert minimum(h, np.ones(5), np.full(5, -1.0), np.full(5, 1.0)) is None
