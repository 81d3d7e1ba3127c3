"""Frames that a mechanism is built from."""

from __future__ import annotations

import numpy as np

from linkwork.geometry.pose import Pose
from linkwork.kinematics.curve_kernels import nearest_global, rail_pose
from linkwork.kinematics.kernels import CYLINDRICAL, HINGE, PLANAR, RAIL, SCREW, from_axes
from linkwork.model.world import World

#: Joints that are invariant when their axis is reversed.
_SYMMETRIC_KINDS = (HINGE, CYLINDRICAL, SCREW, PLANAR)


def align_loop_axes(world: World, poses: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Flips second loop anchors whose axis is opposite to that of the first.

    A hinge between two surfaces that face each other has such axes. It has no direction, so
    reversing one axis gives the same joint, and nothing has to rotate by π to close it.

    Args:
        world: The world.
        poses: Initial poses of its bodies (n×7).

    Returns:
        Poses of all loop anchors in their bodies (n×2×7), and the flipped loops.
    """
    turned, which = world.loop_pose.copy(), []
    for n, kind in enumerate(world.loop_kind.tolist()):
        if kind not in _SYMMETRIC_KINDS:
            continue
        ends = []
        for end, body in enumerate(world.loop_body[n].tolist()):
            there = Pose.of(poses[body, :3], quat=poses[body, 3:])
            at = world.loop_pose[n, end]
            ends.append((there @ Pose.of(at[:3], quat=at[3:])).rotate(world.loop_axis[n]))
        if np.dot(ends[0], ends[1]) < 0.0:
            x, y, z = world.loop_axis2[n]  # at right angles to the axis
            at = turned[n, 1]
            half = Pose.of(at[:3], quat=at[3:]) @ Pose.of(quat=(0.0, x, y, z))
            turned[n, 1] = half.array()
            which.append(n)
    return turned, which


#: Number of samples along a rail.
_SAMPLES = 400


def nearest_curve_position(world: World, loop: int, pose: np.ndarray) -> float:
    """Returns the position on a loop's curve or rail nearest to its second anchor."""
    ends = []
    for end, body in enumerate(world.loop_body[loop].tolist()):
        at = world.loop_pose[loop, end]
        there = Pose.of(pose[body, :3], quat=pose[body, 3:]) @ Pose.of(at[:3], quat=at[3:])
        ends.append(there)
    x, y, z = (ends[0].inverse() @ ends[1]).xyz
    if world.loop_kind[loop] != RAIL:
        first, count = world.loop_track[loop]
        return nearest_global(world.track, int(first), int(count), x, y, z, np.zeros(9))
    first, count = (int(n) for n in world.loop_rail[loop])
    total = float(world.rail[first : first + count, 0].sum())
    out, one, two = np.zeros(7), np.zeros(7), np.zeros(7)
    best, least = 0.0, np.inf
    for s in np.linspace(0.0, total, _SAMPLES):
        rail_pose(world.rail, first, count, s, out, one, two)
        place = from_axes(world.loop_axis[loop], world.loop_axis2[loop], *out[:3])
        far = float(np.linalg.norm(np.subtract(place, (x, y, z))))
        if far < least:
            best, least = float(s), far
    return best


#: Minimum ratio of principal inertias: below it, rounding opens joints faster than ``speed_gap``
#: allows.
MIN_INERTIA_RATIO = 1e-6


def quat_of_matrix(matrix: np.ndarray) -> np.ndarray:
    """Returns the quaternion of a rotation matrix, by an eigenvalue problem."""
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


def axes_from_z(z: np.ndarray, x: np.ndarray | None) -> np.ndarray:
    """Returns right-handed axes by columns with the given z, and x as near to ``x`` as possible."""
    near = np.eye(3)[int(np.argmin(np.abs(z)))] if x is None else x
    level = near - z * (near @ z)
    level = level / np.linalg.norm(level)
    return np.column_stack([level, np.cross(z, level), z])


def principal_frame(world: World, body: int) -> np.ndarray:
    """Returns center of mass, principal axes as a quaternion and principal inertias of a body."""
    tensor = world.inertia[body]
    most = float(np.trace(tensor))
    if np.abs(tensor - np.diag(np.diag(tensor))).max() <= 1e-14 * most:
        values, quat = np.diag(tensor).copy(), np.array([1.0, 0.0, 0.0, 0.0])
    else:
        values, vectors = np.linalg.eigh(tensor)
        if np.linalg.det(vectors) < 0.0:
            vectors[:, 0] *= -1.0
        quat = quat_of_matrix(vectors)
    values = np.maximum(values, MIN_INERTIA_RATIO * values.max(initial=0.0))
    return np.concatenate([world.com[body], quat, values])


def inertia_ratio(world: World, body: int) -> float:
    """Returns the ratio of least to largest inertia if below the minimum ratio, otherwise 1."""
    values = np.linalg.eigvalsh(world.inertia[body])
    part = max(float(values[0] / values[-1]), 0.0)
    return part if part < (1.0 - 1e-6) * MIN_INERTIA_RATIO else 1.0
