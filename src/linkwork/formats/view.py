"""Viewing: the pose of a camera or lamp that looks somewhere."""

from __future__ import annotations

import math

import numpy as np

from linkwork.spatial.pose import Pose, Vec3, quat_from_axis, quat_from_matrix

#: Turns our z up into the y up of formats that show things.
Y_UP = Pose(quat=quat_from_axis((1.0, 0.0, 0.0), -math.pi / 2.0))


def looking(xyz: Vec3, at: Vec3) -> Pose:
    """Pose of a frame at ``xyz`` that looks along its −z towards ``at``, y up as far as it goes."""
    back = np.subtract(xyz, at)
    length = float(np.linalg.norm(back))
    back = back / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return Pose.of(
        xyz, quat=quat_from_matrix(np.column_stack([right, np.cross(back, right), back]))
    )
