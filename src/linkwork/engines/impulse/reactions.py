"""Reaction forces of joints, as values or as signals."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.body_kernels import R, X
from linkwork.engines.impulse.joint_law_kernels import JOINT
from linkwork.engines.impulse.mechanism import COUPLING, KIND, PB, B, Mechanism
from linkwork.engines.impulse.report_kernels import FORCE, FORCE_XYZ, MOMENT
from linkwork.geometry.kernels import quat_rotvec
from linkwork.model.blocks import SignalSpec
from linkwork.model.world import World


def joint_forces(
    world: World, mechanism: Mechanism, rows: np.ndarray, impulse: np.ndarray, h: float
) -> np.ndarray:
    """Returns the mean force of each joint and loop on its second body over a step.

    Rows J of a joint give its bodies the momentum Jᵀλ, so that the force is Jᵀλ / h.

    Args:
        world: The world.
        mechanism: The mechanism.
        rows: J of each joint (n×sides×6×6) after the step.
        impulse: λ of each joint along its rows (n×6), summed over the step [N s or N m s].
        h: The step [s].

    Returns:
        A row each: position [m], force [N], and the index of the joint, or the number of joints
        plus the index of the loop (n×7).
    """
    holds = mechanism.joint_ints[:, KIND] != COUPLING
    holds[mechanism.row_ints[mechanism.springs[:, 0], JOINT]] = False
    held = np.flatnonzero(holds)
    joint_index = {name: n for n, name in enumerate(world.joint_names)}
    found = np.zeros((len(held), 7))
    second = mechanism.bodies[mechanism.joint_ints[held, B]]
    turn = second[:, R : R + 9].reshape(-1, 3, 3)
    found[:, :3] = second[:, X : X + 3] + np.einsum(
        "nij,nj->ni", turn, mechanism.joint_reals[held, PB : PB + 3]
    )
    found[:, 3:6] = np.einsum("nki,nk->ni", rows[held, 1, :, :3], impulse[held]) / h
    found[:, 6] = [
        len(world.joint_names) + mechanism.loops[n]
        if mechanism.loops[n] >= 0
        else joint_index[mechanism.names[n]]
        for n in held
    ]
    return found


def dof_values(world: World, qaddr: np.ndarray, q: np.ndarray, balls: np.ndarray) -> np.ndarray:
    """Returns the value of each degree of freedom; for ball joints the rotation vector.

    Args:
        world: The world.
        qaddr: Coordinate of each degree of freedom.
        q: Coordinates.
        balls: Bodies with ball joints to convert.
    """
    values = q[qaddr]
    for b in balls:
        a, i = int(world.qadr[b]), int(world.vadr[b])
        values[i : i + 3] = quat_rotvec(q[a : a + 4])
    return values


def reaction_signals(mechanism: Mechanism, field: str) -> list[SignalSpec]:
    """Returns signals of force and moment of each joint and loop, from a ``field`` of the state."""
    springs = set(mechanism.row_ints[mechanism.springs[:, 0], JOINT].tolist())
    found = []
    for n, name in enumerate(mechanism.names):
        if mechanism.joint_ints[n, KIND] == COUPLING or n in springs:
            continue
        found.append(SignalSpec(f"{name}.force", field, (n, FORCE), "N", lo=0.0))
        for k, axis in enumerate("xyz"):
            found.append(SignalSpec(f"{name}.force_{axis}", field, (n, FORCE_XYZ + k), "N"))
        found.append(SignalSpec(f"{name}.moment", field, (n, MOMENT), "N m", lo=0.0))
    return found
