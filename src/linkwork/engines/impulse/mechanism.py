"""Arrays of a mechanism that the kernels share, with the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.engines.impulse.body_kernels import INERTIA_INV, MASS_INV, TERMS
from linkwork.engines.impulse.elimination import EliminationPattern

PA, AXES_A, PB, AXES_B, PITCH, S, TURNS = 0, 3, 12, 15, 24, 25, 26
JOINT_COLUMNS = 28
#: Columns that change with time: S and TURNS.
ARCS = slice(S, TURNS + 2)
A, B, SIDES, KIND, RAIL_FIRST, RAIL_COUNT, MODE, SOFT_COUNT, SOFT_FIRST = (
    0,
    1,
    4,
    5,
    6,
    7,
    8,
    14,
    15,
)
FOLLOWER, LEADER, SIDE_OF, SIZE, POINT = 16, 18, 20, 24, 25
JOINT_INTEGERS = 26
#: Kinds in addition to those of the world's joints.
POINT_ON_PLANE, POINT_ON_CURVE, COUPLING, SPRING, TORSION_SPRING = 10, 11, 20, 21, 22
OFF, HARD, SOFT = 0, 1, 2

#: Columns of the frames of a joint in the world: points, axes by rows, and the curvature of a rail.
AT_A, ROWS_A, AT_B, ROWS_B, BEND = 0, 3, 12, 15, 24
FRAME_COLUMNS = 40


@dataclass
class Mechanism:
    """Arrays that the kernels share.

    Attributes:
        own: Bodies of the world, by row; the last row of ``bodies`` is the static body.
        principal_pose: Principal frame of each body, and its principal inertias (n×10).
        bodies, joint_ints, joint_reals, rail: See ``body_kernels``, and the columns above.
        pattern: Order of elimination.
        tree: Joint, first coordinate, first degree of freedom of each tree joint without a
            quaternion (n×3).
        coupled: Coupling, its end (0 follower, 1 leader) and coordinate of each coupled joint
            (n×3).
        turning: Bodies with ball or free joints.
        names: Name of each joint or loop.
        loops: Loop of each joint; −1 if it is of the tree.
        row_ints, row_reals: Soft rows, see ``joint_law_kernels``; those of springs are the last.
        springs: Soft row and spring of each row of a spring (n×2).
        row_slots: Slot of each soft row: its degree of freedom; springs follow.
        curves: Joint and loop of each point on a curve and each rail that closes a loop (n×2).
    """

    own: np.ndarray
    principal_pose: np.ndarray
    bodies: np.ndarray
    joint_ints: np.ndarray
    joint_reals: np.ndarray
    rail: np.ndarray
    pattern: EliminationPattern
    tree: np.ndarray
    coupled: np.ndarray
    turning: np.ndarray
    names: list[str]
    loops: np.ndarray
    row_ints: np.ndarray
    row_reals: np.ndarray
    springs: np.ndarray
    row_slots: np.ndarray
    curves: np.ndarray

    @property
    def laws(self) -> int:
        """Number of soft rows of joints, without those of springs."""
        return len(self.row_reals) - len(self.springs)


class TreeArrays(NamedTuple):
    """Constant arrays of the spanning tree; kernels take a plain tuple and build this view.

    Attributes:
        index, frame, rail: The tree of the world, see :attr:`linkwork.model.world.World.tree`.
        order: Body of each row of ``bodies``.
        inertia: Mass, center of mass and inertia of each body of the world (nb×13).
        principal_pose: Pose of the principal axes of each body, and its inertia about them.
        parent_dof: Degree of freedom above each one; −1 if none.
        dofs: Degrees of freedom of the mechanism.
        ball_bodies: Bodies whose joints have quaternions.
        last_dof: Last degree of freedom that moves each row of ``bodies``; −1 if none.
        loop_bodies: Rows of ``bodies`` that loops constrain.
        loops: Joints that close loops.
        loop_rows: Joint and row of each loop equation (m×2).
        origin: World point at which spatial vectors are expressed [m].
    """

    index: np.ndarray  # type: ignore[assignment]
    frame: np.ndarray
    rail: np.ndarray
    order: np.ndarray
    inertia: np.ndarray
    principal_pose: np.ndarray
    parent_dof: np.ndarray
    dofs: np.ndarray
    ball_bodies: np.ndarray
    last_dof: np.ndarray
    loop_bodies: np.ndarray
    loops: np.ndarray
    loop_rows: np.ndarray
    origin: np.ndarray


class TreeWorkspace(NamedTuple):
    """Arrays that the kernels of the spanning tree write; a view like :class:`TreeArrays`.

    Attributes:
        pose, motion, twist, rate, force, scratch: See ``dynamics.recursive.workspace``.
        composite: Composite inertia of each body (nb×10).
        mass: Mass matrix, factored in place as Lᵀ D L.
        inverse_diagonal: 1 / D.
        x: Joint velocities or accelerations.
        z: L⁻ᵀ Gᵀ, one row per loop equation.
        delassus: Z D⁻¹ Zᵀ, the Delassus matrix of the loops.
        factor, pivot: Its factor, with the inverse pivots.
        loop_force: Right-hand side of the loop equations, then their forces.
        step: Increment of the coordinates.
        row_scale: Squared length of each loop equation if it were parallel to the joint motions.
    """

    pose: np.ndarray
    motion: np.ndarray
    twist: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    scratch: np.ndarray
    composite: np.ndarray
    mass: np.ndarray
    inverse_diagonal: np.ndarray
    x: np.ndarray
    z: np.ndarray
    delassus: np.ndarray
    factor: np.ndarray
    pivot: np.ndarray
    loop_force: np.ndarray
    step: np.ndarray
    row_scale: np.ndarray


class Workspace(NamedTuple):
    """Arrays of the constraint equations that steps write.

    Attributes:
        jacobian: Constraint Jacobian J by joint and side (n×sides×6×6).
        inverse_mass_jacobian: M⁻¹ Jᵀ, of the same shape.
        delassus: Blocks of K = J M⁻¹ Jᵀ (blocks×6×6).
        factor: Factored blocks of K.
        first_pivot: Diagonal of K before elimination (n×6).
        diagonal: Compliance added to the diagonal of K (n×6).
        error: Residual of each row; also the right-hand side of a solve (n×6).
        impulse: Impulse of each row (n×6).
        total: Sum of the right-hand sides of a step (n×6).
        pivot: Inverse pivots; 0 for redundant rows (n×6).
    """

    jacobian: np.ndarray
    inverse_mass_jacobian: np.ndarray
    delassus: np.ndarray
    factor: np.ndarray
    first_pivot: np.ndarray
    diagonal: np.ndarray
    error: np.ndarray
    impulse: np.ndarray
    total: np.ndarray
    pivot: np.ndarray


def islands_of_bodies(mechanism: Mechanism) -> np.ndarray:
    """Returns the number of the connected island of each row of ``bodies``; −1 for the world."""
    last = len(mechanism.own)
    island = np.arange(last + 1)
    island[last] = -1
    for ints in mechanism.joint_ints:
        joined = [int(b) for b in ints[: ints[SIDES]] if b < last]
        for b in joined[1:]:
            island[island == island[b]] = island[joined[0]]
    numbers = {number: n for n, number in enumerate(np.unique(island[:last]).tolist())}
    return np.array([numbers[n] for n in island[:last].tolist()] + [-1], np.int64)


#: Length below which a body counts as a point [m].
_POINT_LENGTH = 1e-3


def shortest_body(mechanism: Mechanism) -> float:
    """Returns the length of the shortest body, as a rod of its mass and inertia: √(12 I/m) [m]."""
    bodies = mechanism.bodies[:-1]
    inertia = 1.0 / bodies[:, INERTIA_INV : INERTIA_INV + 3].min(axis=1)
    lengths = np.sqrt(12.0 * inertia * bodies[:, MASS_INV])
    return float(lengths[lengths > _POINT_LENGTH].min(initial=1.0))


def make_workspace(mechanism: Mechanism) -> Workspace:
    """Returns the arrays that steps write."""
    n = len(mechanism.joint_ints)
    blocks = len(mechanism.pattern.row_of)
    sides = int(mechanism.joint_ints[:, SIDES].max(initial=2))
    return Workspace(
        np.zeros((n, sides, 6, 6)), np.zeros((n, sides, 6, 6)),
        np.zeros((blocks, 6, 6)), np.zeros((blocks, 6, 6)),
        *(np.zeros((n, 6)) for _ in range(6)),
    )  # fmt: skip


def make_scratch() -> tuple[np.ndarray, ...]:
    """Returns temporary arrays: a joint frame, a rail pose, a rotation series, six by six."""
    return np.zeros(FRAME_COLUMNS), np.zeros((5, 9)), np.zeros((TERMS, 10)), np.zeros((12, 6))
