"""Adams-Bashforth-Moulton integration in tree coordinates: weights, applicability, arrays."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

from linkwork.dynamics.recursive import parent_dofs, workspace
from linkwork.engines.impulse.mechanism import (
    COUPLING,
    HARD,
    KIND,
    MODE,
    POINT_ON_CURVE,
    SOFT_COUNT,
    A,
    B,
    Mechanism,
)
from linkwork.geometry.pose import matrix_from_quat
from linkwork.kinematics.kernels import RAIL
from linkwork.model.world import World


def adams_weights(order: int) -> np.ndarray:
    """Returns the weights of the last rates, the newest first, for an order (2×order).

    The first row predicts a step by the polynomial through the last ``order − 1`` rates. The second
    row predicts the next rate by the same polynomial; its last number is the share of the
    prediction error that corrects the step. Both come from backward differences: a step is Σ γⱼ ∇ʲf
    with γⱼ + γⱼ₋₁/2 + … + γ₀/(j+1) = 1.
    """
    tree_workspace = order - 1
    gamma: list[Fraction] = []
    for j in range(order):
        gamma.append(1 - sum((gamma[i] / (j + 1 - i) for i in range(j)), Fraction(0)))
    weights = np.zeros((2, order))
    for m in range(tree_workspace):
        sign = (-1) ** m
        weights[0, m] = sum(gamma[j] * sign * comb(j, m) for j in range(m, tree_workspace))
        weights[1, m] = sign * comb(tree_workspace, m + 1)
    weights[1, tree_workspace] = gamma[tree_workspace]
    return weights


def non_ideal_joints(mechanism: Mechanism) -> list[str]:
    """Returns joints with a force law, curve or coupling, which Adams' rule does not support."""
    kinds = (COUPLING, POINT_ON_CURVE, RAIL)
    bad = np.isin(mechanism.joint_ints[:, KIND], kinds) | (mechanism.joint_ints[:, SOFT_COUNT] > 0)
    return [mechanism.names[n] for n in np.flatnonzero(bad)]


#: Multiplications per joint up to which tree coordinates are the cheaper method.
LARGEST_COST_RATIO = 60


class TreeCoordinates:
    """Coordinates of a mechanism's spanning tree, with the loops that remain as constraints.

    Attributes:
        used: Whether they are used; otherwise all arrays are empty.
        arrays, tree_workspace: The tuples of ``TreeArrays`` and ``TreeWorkspace``.
        q, v: Joint coordinates and velocities.
    """

    def __init__(
        self, world: World, mechanism: Mechanism, poses: np.ndarray, *, wanted: bool
    ) -> None:  # fmt: skip
        above = parent_dofs(world)
        owned = np.isin(world.dof_body, mechanism.own)
        loops = np.flatnonzero(mechanism.loops >= 0)
        rows = [
            (n, k) for n in loops for k in range(6) if mechanism.joint_ints[n, MODE + k] == HARD
        ]
        self.used = wanted and _products(above, owned, len(rows)) <= LARGEST_COST_RATIO * len(
            mechanism.joint_ints
        )
        self._mechanism = mechanism
        dofs = np.flatnonzero(owned)
        if not self.used:
            dofs, loops, rows = dofs[:0], loops[:0], []
        ends = np.unique(mechanism.joint_ints[loops][:, [A, B]])
        self._inert = np.zeros((world.nb, 13))
        index, frame, rail = world.tree
        origin = poses[mechanism.own[0], :3].copy() if len(mechanism.own) else np.zeros(3)
        frame = frame.copy()
        frame[world.parent == 0, :3] -= origin
        self.arrays = (
            index, frame, rail, mechanism.own, self._inert, mechanism.principal_pose, above, dofs,
            mechanism.turning,
            np.array([_last_dof(world, above, int(b)) for b in mechanism.own], np.int64),
            ends[ends < len(mechanism.own)], loops, np.array(rows, np.int64).reshape(-1, 2), origin,
        )  # fmt: skip
        nv, m = world.nv, len(rows)
        self.tree_workspace = (
            *workspace(world), np.zeros((world.nb, 10)), np.zeros((nv, nv)), np.zeros(nv),
            np.zeros(nv), np.zeros((m, nv)), np.zeros((m, m)), np.zeros((m, m)),
            np.zeros(m), np.zeros(m), np.zeros(world.nq), np.zeros(m),
        )  # fmt: skip
        pose = self.tree_workspace[0]
        pose[:] = poses  # poses of bodies of other engines
        pose[:, :3] -= origin
        self.q, self.v = (np.zeros(n if self.used else 0) for n in (world.nq, nv))
        self.set_masses(world.mass)

    def set_masses(self, mass: np.ndarray) -> None:
        """Sets the masses [kg] and the inertias about the body frames."""
        for b, principal_pose in zip(
            self._mechanism.own, self._mechanism.principal_pose, strict=True
        ):
            axes = matrix_from_quat(principal_pose[3:7])
            self._inert[b, 0], self._inert[b, 1:4] = mass[b], principal_pose[:3]
            self._inert[b, 4:] = (axes * principal_pose[7:10] @ axes.T).ravel()


def _products(parent_dof: np.ndarray, owned: np.ndarray, rows: int) -> int:
    """Returns the multiplications needed to factor M along its branches and the loop matrix."""
    depth = np.zeros(len(parent_dof), np.int64)
    for dof, up in enumerate(parent_dof):
        depth[dof] = 1 + (depth[up] if up >= 0 else 0)
    return int((depth[owned] ** 2).sum()) + rows**2 * int(owned.sum()) // 2 + rows**3 // 6


def _last_dof(world: World, parent_dof: np.ndarray, body: int) -> int:
    """Returns the last degree of freedom that moves a body; −1 if there is none."""
    for b in world.ancestors(body):
        own = np.flatnonzero(world.dof_body == b)
        if len(own):
            return int(own[-1])
    return -1
