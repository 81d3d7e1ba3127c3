"""Frames of a scene graph: rigid poses out of matrices that may also scale and shear."""

from __future__ import annotations

import math

import numpy as np

from linkwork.spatial.pose import Pose


def rigid(matrix: np.ndarray) -> Pose | None:
    """The pose nearest to a 4×4 placement, without its scale, shear and mirroring.

    The rotation is U·Vᵀ of the singular value decomposition, turned right-handed. None if the
    placement flattens or is not finite: nothing has a direction then.
    """
    if not np.isfinite(matrix).all():
        return None
    u, values, v = np.linalg.svd(matrix[:3, :3])
    if not values[2] > 1e-9 * values[0]:
        return None
    if np.linalg.det(u @ v) < 0:
        u[:, 2] = -u[:, 2]
    return Pose.of(matrix[:3, 3].tolist(), quat=_quat(u @ v))


def _quat(r: np.ndarray) -> tuple[float, float, float, float]:
    """The quaternion wxyz of a rotation, from its largest component (Shepperd)."""
    squares = [
        1.0 + r[0, 0] + r[1, 1] + r[2, 2],
        1.0 + r[0, 0] - r[1, 1] - r[2, 2],
        1.0 - r[0, 0] + r[1, 1] - r[2, 2],
        1.0 - r[0, 0] - r[1, 1] + r[2, 2],
    ]
    largest = int(np.argmax(squares))
    root = 2.0 * math.sqrt(squares[largest])
    x, y, z = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    rows = [
        (squares[0], x, y, z),
        (x, squares[1], xy, xz),
        (y, xy, squares[2], yz),
        (z, xz, yz, squares[3]),
    ]
    w, qx, qy, qz = (float(c) / root for c in rows[largest])
    return (w, qx, qy, qz)
