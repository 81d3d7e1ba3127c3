"""Axes of bodies and joints, and inertias about them."""

from __future__ import annotations

import numpy as np

from linkwork.world import World

#: Inertia about an axis that is at least counted, as a part of the largest: with less, rounding
#: opens joints faster than ``speed_gap`` allows.
THINNEST = 1e-6


def turned(quat: np.ndarray) -> np.ndarray:
    """Matrix of a quaternion."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quat_of(matrix: np.ndarray) -> np.ndarray:
    """Quaternion of a matrix."""
    m = matrix
    four = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [0.0, m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [0.0, 0.0, m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [0.0, 0.0, 0.0, m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    _values, vectors = np.linalg.eigh(four, UPLO="U")
    found = vectors[:, -1]
    return found if found[0] >= 0.0 else -found


def axes_about(z: np.ndarray, x: np.ndarray | None) -> np.ndarray:
    """Right-handed axes by columns, of which the third is ``z`` and the first near ``x``."""
    near = np.eye(3)[int(np.argmin(np.abs(z)))] if x is None else x
    level = near - z * (near @ z)
    level = level / np.linalg.norm(level)
    return np.column_stack([level, np.cross(z, level), z])


def principal(world: World, body: int) -> np.ndarray:
    """Centre of mass, principal axes as a quaternion and inertia about them, of a body."""
    tensor = world.inertia[body]
    most = float(np.trace(tensor))
    if np.abs(tensor - np.diag(np.diag(tensor))).max() <= 1e-14 * most:
        values, quat = np.diag(tensor).copy(), np.array([1.0, 0.0, 0.0, 0.0])
    else:
        values, vectors = np.linalg.eigh(tensor)
        if np.linalg.det(vectors) < 0.0:
            vectors[:, 0] *= -1.0
        quat = quat_of(vectors)
    values = np.maximum(values, THINNEST * values.max(initial=0.0))
    return np.concatenate([world.com[body], quat, values])


def thinned(world: World, body: int) -> float:
    """Least inertia of a body as a part of its largest, where it is counted as more; else 1."""
    values = np.linalg.eigvalsh(world.inertia[body])
    part = max(float(values[0] / values[-1]), 0.0)
    return part if part < (1.0 - 1e-6) * THINNEST else 1.0
