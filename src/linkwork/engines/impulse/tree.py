"""Joint coordinates for steps by forces: what ``tree_kernels`` read and write."""

from __future__ import annotations

import numpy as np

from linkwork.dynamics.branches import dof_above
from linkwork.dynamics.recursive import workspace
from linkwork.engines.impulse.joint_columns import HARD, MODE, A, B
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.principal import turned
from linkwork.world import World

#: Products for each joint, up to which coordinates of a tree are the cheaper way.
WORTH = 60


class Tree:
    """The coordinates of a mechanism's spanning tree, and the loops that are left to hold.

    Attributes:
        used: Whether they are; else all arrays are empty.
        arrays, room: The two tuples of ``tree_kernels``.
        q, v: Where joints stand and how they move.
    """

    def __init__(
        self, world: World, made: Mechanism, poses: np.ndarray, *, wanted: bool
    ) -> None:  # fmt: skip
        above = dof_above(world)
        mine = np.isin(world.dof_body, made.own)
        loops = np.flatnonzero(made.loops >= 0)
        rows = [(n, k) for n in loops for k in range(6) if made.whole[n, MODE + k] == HARD]
        self.used = wanted and _products(above, mine, len(rows)) <= WORTH * len(made.whole)
        self._made = made
        dofs = np.flatnonzero(mine)
        if not self.used:
            dofs, loops, rows = dofs[:0], loops[:0], []
        ends = np.unique(made.whole[loops][:, [A, B]])
        self._inert = np.zeros((world.nb, 13))
        index, frame, rail = world.tree
        origin = poses[made.own[0], :3].copy() if len(made.own) else np.zeros(3)
        frame = frame.copy()
        frame[world.parent == 0, :3] -= origin
        self.arrays = (
            index, frame, rail, made.own, self._inert, made.mount, above, dofs, made.turning,
            np.array([_last_dof(world, above, int(b)) for b in made.own], np.int64),
            ends[ends < len(made.own)], loops, np.array(rows, np.int64).reshape(-1, 2), origin,
        )  # fmt: skip
        nv, many = world.nv, len(rows)
        self.room = (
            *workspace(world), np.zeros((world.nb, 10)), np.zeros((nv, nv)), np.zeros(nv),
            np.zeros(nv), np.zeros((many, nv)), np.zeros((many, many)), np.zeros((many, many)),
            np.zeros(many), np.zeros(many), np.zeros(world.nq), np.zeros(many),
        )  # fmt: skip
        self.room[0][:] = poses  # of bodies that others own
        self.room[0][:, :3] -= origin
        self.q, self.v = (np.zeros(n if self.used else 0) for n in (world.nq, nv))
        self.weigh(world.mass)

    def weigh(self, mass: np.ndarray) -> None:
        """Takes masses [kg] over, and inertias as bodies are mounted with."""
        for b, mount in zip(self._made.own, self._made.mount, strict=True):
            axes = turned(mount[3:7])
            self._inert[b, 0], self._inert[b, 1:4] = mass[b], mount[:3]
            self._inert[b, 4:] = (axes * mount[7:10] @ axes.T).ravel()


def _products(above: np.ndarray, mine: np.ndarray, rows: int) -> int:
    """What it takes to factor M, along branches, and the matrix of loops."""
    depth = np.zeros(len(above), np.int64)
    for dof, up in enumerate(above):
        depth[dof] = 1 + (depth[up] if up >= 0 else 0)
    return int((depth[mine] ** 2).sum()) + rows**2 * int(mine.sum()) // 2 + rows**3 // 6


def _last_dof(world: World, above: np.ndarray, body: int) -> int:
    """The last degree of freedom that moves a body; −1 if none does."""
    while body > 0:
        own = np.flatnonzero(world.dof_body == body)
        if len(own):
            return int(own[-1])
        body = int(world.parent[body])
    return -1
