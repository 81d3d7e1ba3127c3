"""Loops whose anchors look at each other: their axes point against each other, and may."""

from __future__ import annotations

import numpy as np

from linkwork.kinematics.kernels import CYLINDRICAL, HINGE, PLANAR, SCREW
from linkwork.spatial.pose import Pose
from linkwork.world import World

#: Joints that are the same about an axis and about its opposite.
_TWO_WAYS = (HINGE, CYLINDRICAL, SCREW, PLANAR)


def face_loops(world: World, poses: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Turns second anchors of loops by half a turn whose axis points against that of the first.

    A hinge between two surfaces that face each other has such axes. It has no direction: taken the
    other way round it is the same joint, and nothing has to move by half a turn to close it.

    Args:
        world: The world.
        poses: Where its bodies stand at the start (n×7).

    Returns:
        Poses of all loops' anchors in their bodies (n×2×7), and which loops were turned.
    """
    turned, which = world.loop_pose.copy(), []
    for n, kind in enumerate(world.loop_kind.tolist()):
        if kind not in _TWO_WAYS:
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
