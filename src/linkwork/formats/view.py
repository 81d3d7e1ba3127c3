"""Viewing: the pose of a camera or lamp that looks somewhere."""

from __future__ import annotations

import numpy as np

from linkwork.spatial.pose import Pose, Vec3


def looking(xyz: Vec3, at: Vec3) -> Pose:
    """Pose of a frame at ``xyz`` that looks along its −z towards ``at``, y up as far as it goes."""
    back = np.subtract(xyz, at)
    length = float(np.linalg.norm(back))
    back = back / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return Pose.of(xyz, quat=_quat(np.column_stack([right, np.cross(back, right), back])))


def _quat(m: np.ndarray) -> tuple[float, float, float, float]:
    """Quaternion wxyz of a rotation matrix, from its largest component."""
    symmetric = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], 0.0, 0.0, 0.0],
            [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0.0, 0.0],
            [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0.0],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], np.trace(m)],
        ]
    )
    _, vectors = np.linalg.eigh(symmetric)
    x, y, z, w = vectors[:, -1].tolist()
    return (w, x, y, z)
