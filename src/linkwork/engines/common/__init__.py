"""Shared code of engines: indices of joints, dofs, loops."""

from __future__ import annotations

import numpy as np

from linkwork.core.state import State
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.world import World


def owned_loops(world: World, owned: np.ndarray) -> np.ndarray:
    """Returns the loops that close on an owned body."""
    return np.flatnonzero(owned[world.loop_body].any(axis=1))


def coordinate_of_dof(world: World) -> np.ndarray:
    """Returns the coordinate of each degree of freedom (a quaternion's first for balls)."""
    address = np.zeros(world.nv, np.int64)
    for b in range(1, world.nb):
        first, count = int(world.vadr[b]), 0
        for i in range(first, world.nv):
            if world.dof_body[i] != b:
                break
            count += 1
        for k in range(count):
            turning = world.kind[b] == BALL or (world.kind[b] == FREE and k >= 3)
            offset = (3 if world.kind[b] == FREE else 0) if turning else k
            address[first + k] = world.qadr[b] + offset
    return address


def joint_springs(world: World) -> np.ndarray:
    """Returns the springs of joints by degree of freedom (nv×4).

    Stiffness, rest, first coordinate of a ball's quaternion or −1, and which of its axes.
    """
    laws = np.column_stack([world.stiffness, world.rest, -np.ones(world.nv), np.zeros(world.nv)])
    for dof, b in enumerate(world.dof_body.tolist()):
        if world.kind[b] == BALL:
            laws[dof, 2:] = world.qadr[b], dof - world.vadr[b]
    return np.ascontiguousarray(laws)


def energy_arrays(
    state: State, world: World, bodies: np.ndarray, dofs: np.ndarray,
    rotors: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Returns the arguments of :func:`~linkwork.engines.common.kernels.add_energies`.

    Args:
        state: The state; its arrays are bound, not copied.
        world: The world.
        bodies: Bodies that are counted.
        dofs: Degrees of freedom whose springs and rotors are counted.
        rotors: Inertia that moves with each degree of freedom; that of the joints if absent.
    """
    return (
        bodies, state.pose, state.twist, state["param/mass"], world.mass, world.com, world.inertia,
        state["param/gravity"], dofs, coordinate_of_dof(world), state.q, state.v,
        joint_springs(world), world.armature if rotors is None else rotors, state.report.energy,
    )  # fmt: skip


def owned_coordinates(world: World, owned: np.ndarray) -> np.ndarray:
    """Returns the coordinates of the bodies of a mask, in order."""
    found: list[int] = []
    for b in np.flatnonzero(owned).tolist():
        count = int(np.count_nonzero(world.dof_body == b))
        count += 1 if world.kind[b] in (BALL, FREE) else 0
        found += range(int(world.qadr[b]), int(world.qadr[b]) + count)
    return np.array(found, np.int64)
