"""How far bodies were moved and turned."""

from __future__ import annotations

import numpy as np


def far_moved(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ways of centres of mass [m] and angles of turns [rad] of bodies.

    Args:
        before: Place and attitude of each body, the first of its numbers (n×7 or more).
        after: The same later.
    """
    moved = np.linalg.norm(after[:, :3] - before[:, :3], axis=1)
    one, two = before[:, 3:7], after[:, 3:7]
    # |a − b| and |a + b| are 2 sin and 2 cos of a quarter of the turn, or the other way round
    apart, along = np.linalg.norm(two - one, axis=1), np.linalg.norm(two + one, axis=1)
    return moved, 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
