"""The plan of a walk: smooth motion of torso and feet, and load shares of the feet."""

import math

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.motion.walk import Walk


def numbers(walk: Walk, time: float) -> np.ndarray:
    """Returns all motions (3 rows: position, velocity, acceleration)."""
    stride = walk.at(time)
    return np.hstack([stride.torso, stride.feet[0], stride.feet[1]])


@pytest.mark.parametrize("first", ["right", "left"])
@pytest.mark.parametrize(("steps", "both"), [(2, 0.2), (3, 0.2), (6, 0.2), (6, 0.0)])
def test_it_begins_and_ends_at_rest_with_the_feet_side_by_side(
    steps: int, both: float, first: str
) -> None:
    """Both ends are at rest; the first and last step are half as long as the others."""
    walk = Walk(length=0.3, steps=steps, first=first, double_support=both)
    for time, at in ((0.0, 0.0), (walk.duration, walk.distance), (99.0, walk.distance)):
        stride = walk.at(time)
        np.testing.assert_allclose(stride.torso, [[0, at, 0], [0] * 3, [0] * 3], atol=1e-12)
        for foot in stride.feet:
            np.testing.assert_allclose(foot, [[0, at, 0], [0] * 3, [0] * 3], atol=1e-12)
        assert stride.shares == pytest.approx((0.5, 0.5))
    moved = walk.at(walk.period).feet[:, 0, 1]
    assert moved[0 if first == "right" else 1] == pytest.approx(0.3)


def test_velocities_and_accelerations_are_those_of_the_positions() -> None:
    """They agree with central differences, and accelerations are continuous."""
    walk, h = Walk(length=0.25, height=0.07, period=0.7, double_support=0.3, steps=5), 1e-5
    for time in np.linspace(0.01, walk.duration - 0.01, 331):
        before, here, after = (numbers(walk, time + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((after[:2] - before[:2]) / (2 * h), here[1:], atol=2e-3)
        assert np.abs(after[2] - before[2]).max() < 0.1


def test_while_a_foot_is_in_the_air_the_other_stands_and_takes_all() -> None:
    """A loaded foot does not move; the shares are continuous and sum to 1."""
    walk, last = Walk(double_support=0.3, steps=5), None
    for time in np.arange(0.0, walk.duration, 1e-3):
        stride = walk.at(time)
        assert sum(stride.shares) == pytest.approx(1.0)
        for share, foot in zip(stride.shares, stride.feet, strict=True):
            if share > 1e-9:
                assert foot[0, 2] < 1e-12
                assert np.abs(foot[1:]).max() < 1e-12
        if last is not None:
            assert abs(stride.shares[0] - last) < 0.05
        last = stride.shares[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"period": 0.0}, "period must be more than 0"),
        ({"steps": 1}, "steps must be 2 or more"),
        ({"steps": 10**9}, "at most 10000"),
        ({"double_support": 1.0}, "less than 1"),
        ({"height": -0.1}, "height must be 0 or more"),
        ({"length": math.nan}, "finite"),
        ({"first": "middle"}, "right or left"),
    ],
)
def test_what_is_no_walk_is_refused(wrong: dict, words: str) -> None:
    """The message states the allowed values."""
    with pytest.raises(LinkworkError, match=words):
        Walk(**wrong)
