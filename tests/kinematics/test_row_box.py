"""Quadratic programs solved in the row space of few tasks: the minimum is that of the box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import cases
from linkwork.kinematics.dual_box_kernels import row_minimum
from linkwork.kinematics.memory_layout_kernels import (
    COUNT,
    RANGE_COUNT,
    RANGE_FIRST,
    ROW,
    TASK_INTS,
)

Tasks = list[tuple[int, list[tuple[int, int]]]]


def minimum(
    tasks: Tasks, rows: np.ndarray, error: np.ndarray, weight: np.ndarray, pull: np.ndarray,
    lo: np.ndarray, hi: np.ndarray,
) -> np.ndarray | None:  # fmt: skip
    """Returns the minimum, or None if the row method fails; tasks are rows and columns."""
    (m, n), what, fragments = rows.shape, np.zeros((len(tasks), TASK_INTS), np.int64), []
    at = 0
    for t, (count, runs) in enumerate(tasks):
        what[t, [ROW, COUNT, RANGE_FIRST, RANGE_COUNT]] = at, count, len(fragments), len(runs)
        at, fragments = at + count, fragments + runs
    flat, numbers = np.zeros((0, 3)), np.zeros((0, 2), np.int64)
    packed = what, flat, numbers, np.array(fragments), np.zeros(0, np.int64), flat, flat
    wide = (m + 3) // 4 * 4
    sizes = (n, wide), (n, wide), (n, wide), (m, wide), (3, wide), (8, n), (m, 4)
    span = tuple(np.zeros(size) for size in sizes)
    x = np.full(n, np.nan)
    out = error, rows, np.zeros((len(tasks), 2))
    return x if row_minimum(packed, out, weight, pull, lo, hi, x, span) else None


def problem(rng: np.random.Generator, n: int) -> tuple[Tasks, np.ndarray]:
    """Returns tasks that involve some ranges of columns each, and their rows."""
    tasks, parts = [], []
    for count in rng.choice([1, 2, 3, 6], rng.integers(1, 5)):
        if sum(each[0] for each in tasks) + count >= n:
            break
        known = rng.random(n) < 0.6
        known[rng.integers(n)] = True
        edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
        tasks.append((int(count), [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]))
        parts.append(rng.normal(size=(count, n)) * known)
    return tasks, np.concatenate(parts) if parts else np.zeros((0, n))


@settings(max_examples=cases(150), deadline=None)
@given(st.integers(0, 10**6), st.integers(7, 40), st.sampled_from([1.0, 1e-4, 1e-7]))
def test_slopes_vanish_between_the_bounds_and_push_outwards_at_them(
    seed: int, n: int, damping: float
) -> None:
    """Also with infinite or equal bounds, nearly all active, and with postures."""
    rng = np.random.default_rng(seed)
    tasks, rows = problem(rng, n)
    error, weight = rng.normal(size=len(rows)), np.full(n, damping)
    weight[rng.random(n) < 0.3] += 0.5
    pull = rng.normal(size=n) * weight
    lo, hi = -rng.exponential(0.1, n), rng.exponential(0.1, n)
    lo[rng.random(n) < 0.2], hi[rng.random(n) < 0.2] = -np.inf, np.inf
    same = (rng.random(n) < 0.2) & np.isfinite(hi)
    lo[same] = hi[same]
    x = minimum(tasks, rows, error, weight, pull, lo, hi)
    assert x is not None
    assert (x >= lo).all()
    assert (x <= hi).all()
    slope = weight * x - pull - rows.T @ (error - rows @ x)
    small = 1e-9 * max(1.0, np.abs(pull + rows.T @ error).max())
    inside = (x > lo + 1e-12) & (x < hi - 1e-12)
    assert np.abs(slope[inside]).max(initial=0.0) < small
    assert (slope[(x <= lo + 1e-12) & ~same] > -small).all()
    assert (slope[(x >= hi - 1e-12) & ~same] < small).all()


def test_without_bounds_it_is_the_damped_least_squares() -> None:
    """The closed form x = (D + JᵀJ)⁻¹ (p + Jᵀe), to rounding."""
    rng = np.random.default_rng(5)
    rows, error, weight = rng.normal(size=(6, 9)), rng.normal(size=6), rng.uniform(0.1, 1.0, 9)
    pull, far = rng.normal(size=9), np.full(9, np.inf)
    x = minimum([(6, [(0, 9)])], rows, error, weight, pull, -far, far)
    assert x is not None
    known = np.linalg.solve(np.diag(weight) + rows.T @ rows, pull + rows.T @ error)
    assert x == pytest.approx(known, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("weight", [0.0, -1.0, 1e-12, np.nan])
def test_what_is_hardly_damped_is_left_to_the_columns(weight: float) -> None:
    """With negligible damping the row method fails for a redundant arm."""
    rows, bounds = np.ones((1, 3)), np.ones(3)
    weights = np.array([1.0, weight, 1.0])
    assert minimum([(1, [(0, 3)])], rows, np.ones(1), weights, np.zeros(3), -bounds, bounds) is None
