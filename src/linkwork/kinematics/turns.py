"""Turns: values of joints as people write them, those of balls and free bodies among them."""

from __future__ import annotations

import numpy as np

from linkwork.kinematics.columns import coordinates_of
from linkwork.kinematics.kernels import FREE
from linkwork.spatial.kernels import quat_rotvec
from linkwork.world import World


def value_of(world: World, dof: int, q: np.ndarray) -> float:
    """Value of a degree of freedom [rad or m]; that of a turn is one of its rotation vector's.

    A ball's rotation vector is in the axes of its joint, as in postures. A free body's is in the
    world, as its place is.
    """
    at = int(coordinates_of(world)[dof])
    if at >= 0:
        return float(q[at])
    body = int(world.dof_body[dof])
    number = int(np.flatnonzero(world.joint_body == body)[0])
    is_free = world.kind[body] == FREE
    start = int(world.qadr[body]) + (3 if is_free else 0)
    turn = quat_rotvec(q[start : start + 4])
    if not is_free:
        turn = world.joints[number].at_to.inverse().rotate(turn)
    return float(turn[dof - int(world.vadr[body]) - (3 if is_free else 0)])
