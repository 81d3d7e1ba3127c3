"""Forces of joints: what holds each joint and loop together."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.body_kernels import R, X
from linkwork.engines.impulse.joint_columns import COUPLING, KIND, PB, B
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.row_kernels import JOINT
from linkwork.spatial.kernels import quat_rotvec
from linkwork.world import World


def joint_forces(
    world: World, made: Mechanism, rows: np.ndarray, impulse: np.ndarray, h: float
) -> np.ndarray:
    """The force that each joint and loop puts on its second body, on average over a step.

    Rows J of a joint give its bodies the momentum Jᵀλ, so that the force is Jᵀλ / h.

    Args:
        world: The world.
        made: The mechanism.
        rows: J of each joint (n×sides×6×6), as bodies stand after the step.
        impulse: λ of each joint along its rows (n×6), summed over the step [N s or N m s].
        h: The step [s].

    Returns:
        A row each: place [m], force [N], and the number of the joint, or of joints plus that of
        the loop (n×7).
    """
    holds = made.whole[:, KIND] != COUPLING
    holds[made.soft_whole[made.springs[:, 0], JOINT]] = False
    held = np.flatnonzero(holds)
    number = {name: n for n, name in enumerate(world.joint_names)}
    found = np.zeros((len(held), 7))
    second = made.bodies[made.whole[held, B]]
    turn = second[:, R : R + 9].reshape(-1, 3, 3)
    found[:, :3] = second[:, X : X + 3] + np.einsum(
        "nij,nj->ni", turn, made.number[held, PB : PB + 3]
    )
    found[:, 3:6] = np.einsum("nki,nk->ni", rows[held, 1, :, :3], impulse[held]) / h
    found[:, 6] = [
        len(world.joint_names) + made.loops[n] if made.loops[n] >= 0 else number[made.names[n]]
        for n in held
    ]
    return found


def joint_values(world: World, qaddr: np.ndarray, q: np.ndarray, balls: np.ndarray) -> np.ndarray:
    """The value of each degree of freedom, of ball joints the numbers of their rotation vector.

    Args:
        world: The world.
        qaddr: Coordinate of each degree of freedom.
        q: Coordinates.
        balls: Bodies whose ball joints count.
    """
    values = q[qaddr]
    for b in balls:
        a, i = int(world.qadr[b]), int(world.vadr[b])
        values[i : i + 3] = quat_rotvec(q[a : a + 4])
    return values
