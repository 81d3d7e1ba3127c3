"""Places on curves and rails that close loops, looked for where nothing is known of them."""

from __future__ import annotations

import numpy as np

from linkwork.kinematics.curve_kernels import nearest_of_all
from linkwork.kinematics.kernels import RAIL, from_axes
from linkwork.kinematics.rail_kernels import rail_pose
from linkwork.spatial.pose import Pose
from linkwork.world import World

#: How finely a rail is looked along [parts of its length].
_LOOKS = 400


def place_on(world: World, loop: int, pose: np.ndarray) -> float:
    """The place of a loop's curve or rail that is nearest to its second anchor."""
    ends = []
    for end, body in enumerate(world.loop_body[loop].tolist()):
        at = world.loop_pose[loop, end]
        there = Pose.of(pose[body, :3], quat=pose[body, 3:]) @ Pose.of(at[:3], quat=at[3:])
        ends.append(there)
    x, y, z = (ends[0].inverse() @ ends[1]).xyz
    if world.loop_kind[loop] != RAIL:
        first, count = world.loop_track[loop]
        return nearest_of_all(world.track, int(first), int(count), x, y, z, np.zeros(9))
    first, count = (int(n) for n in world.loop_rail[loop])
    total = float(world.rail[first : first + count, 0].sum())
    out, one, two = np.zeros(7), np.zeros(7), np.zeros(7)
    best, least = 0.0, np.inf
    for s in np.linspace(0.0, total, _LOOKS):
        rail_pose(world.rail, first, count, s, out, one, two)
        place = from_axes(world.loop_axis[loop], world.loop_axis2[loop], *out[:3])
        far = float(np.linalg.norm(np.subtract(place, (x, y, z))))
        if far < least:
            best, least = float(s), far
    return best
