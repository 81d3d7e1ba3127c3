"""Joints, loops, springs and couplings of a world, as integers and numbers."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.joint_columns import (
    AXES_A,
    AXES_B,
    COUPLING,
    FOLLOWER,
    HARD,
    JOINT_COLUMNS,
    JOINT_INTEGERS,
    KIND,
    MODE,
    PA,
    PB,
    PITCH,
    POINT,
    POINT_ON_CURVE,
    POINT_ON_PLANE,
    RAIL_COUNT,
    RAIL_FIRST,
    SIDE_OF,
    SIDES,
    SIZE,
    SOFT_COUNT,
    SPRING,
    TORSION_SPRING,
    A,
    B,
    S,
)
from linkwork.engines.impulse.principal import axes_about, turned
from linkwork.engines.impulse.springs import free_all, spring_kind
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FIXED,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
)
from linkwork.world import World

#: Hard rows of each kind of joint: along x, y, z, about x, y, z of its frame (z is the axis).
HARD_ROWS = {
    FIXED: (0, 1, 2, 3, 4, 5),
    HINGE: (0, 1, 2, 3, 4),
    SLIDER: (0, 1, 3, 4, 5),
    BALL: (0, 1, 2),
    UNIVERSAL: (0, 1, 2, 3),
    CYLINDRICAL: (0, 1, 3, 4),
    SCREW: (0, 1, 2, 3, 4),
    PLANAR: (2, 3, 4),
    RAIL: (1, 2, 3, 4, 5),
    POINT_ON_PLANE: (2,),
    POINT_ON_CURVE: (1, 2),
    SPRING: (),
    TORSION_SPRING: (),
}
#: Row of each degree of freedom.
FREE_ROWS = {
    HINGE: (5,),
    SLIDER: (2,),
    BALL: (3, 4, 5),
    UNIVERSAL: (4, 5),
    CYLINDRICAL: (2, 5),
    SCREW: (5,),
    PLANAR: (0, 1, 5),
    RAIL: (0,),
}

#: Integers and numbers of a joint, its name, its body in the tree (or −1), its loop (or −1).
Found = tuple[np.ndarray, np.ndarray, str, int, int]


class Joints:
    """Makes joints, loops, springs and couplings of a world as the kernels have them.

    Attributes:
        row: Row of each body that moves; the one behind them is what does not.
    """

    def __init__(
        self, world: World, row: dict[int, int], mount: np.ndarray, poses: np.ndarray,
        loop_pose: np.ndarray,
    ) -> None:  # fmt: skip
        self.world, self.row, self.mount = world, row, mount
        self.poses, self.loop_pose = poses, loop_pose

    def _frame(self, body: int, point: np.ndarray, axes: np.ndarray) -> tuple[int, np.ndarray]:
        """Row of a body, and a frame of it in its principal axes: point, axes by rows."""
        if body in self.row:
            mount = self.mount[self.row[body]]
            turn = turned(mount[3:7]).T
            return self.row[body], np.concatenate(
                [turn @ (point - mount[:3]), (turn @ axes).T.ravel()]
            )
        turn = turned(self.poses[body, 3:])
        at = self.poses[body, :3] + turn @ point
        return len(self.row), np.concatenate([at, (turn @ axes).T.ravel()])

    def _joint(
        self, kind: int, one: tuple[int, np.ndarray], two: tuple[int, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        whole, number = np.zeros(JOINT_INTEGERS, np.int64), np.zeros(JOINT_COLUMNS)
        whole[[A, B, SIDES, KIND]] = one[0], two[0], 2, kind
        number[PA : AXES_A + 9], number[PB : AXES_B + 9] = one[1], two[1]
        whole[[MODE + row for row in HARD_ROWS[kind]]] = HARD
        return whole, number

    def tree_joint(self, b: int) -> Found:
        """A joint of the tree, which carries body ``b``."""
        world = self.world
        kind, parent = int(world.kind[b]), int(world.parent[b])
        second = world.axis2[b] if kind in (UNIVERSAL, PLANAR, RAIL) else None
        # a ball has no axis of its own: what acts about it is counted about its body's
        axes = np.eye(3) if kind == BALL else axes_about(world.axis[b], second)
        turn = turned(world.x0[b, 3:])
        point = world.x0[b, :3] + turn @ world.pivot[b]
        whole, number = self._joint(
            kind, self._frame(parent, point, turn @ axes), self._frame(b, world.pivot[b], axes)
        )
        number[PITCH] = world.pitch[b]
        whole[[RAIL_FIRST, RAIL_COUNT]] = world.rail_first[b], world.rail_count[b]
        name = world.joint_names[int(np.flatnonzero(world.joint_body == b)[0])]
        return whole, number, name, b, -1

    def coupling(self, n: int, follows: int, leads: int, found: list[Found]) -> Found:
        """A joint of two joints: one row over all of their bodies."""
        world = self.world
        whole, number = np.zeros(JOINT_INTEGERS, np.int64), np.zeros(JOINT_COLUMNS)
        bodies: list[int] = []
        for end, dof in enumerate((follows, leads)):
            body, row = _row_of(world, dof)
            at = next(k for k, each in enumerate(found) if each[3] == body)
            whole[FOLLOWER + 2 * end : FOLLOWER + 2 * end + 2] = at, row
            for half in range(2):
                other = int(found[at][0][half])
                if other not in bodies:
                    bodies.append(other)
                whole[SIDE_OF + 2 * end + half] = bodies.index(other)
        whole[: len(bodies)] = bodies
        whole[[SIDES, KIND, MODE]] = len(bodies), COUPLING, HARD
        number[PITCH], number[S] = world.coupling_law[n]
        name = f"{world.dof_name(follows)} coupled to {world.dof_name(leads)}"
        return whole, number, name, -1, -1

    def loop_joint(self, n: int) -> Found:
        """The joint that closes a loop."""
        world = self.world
        kind = int(world.loop_kind[n])
        axes = np.eye(3)
        if kind != POINT_ON_CURVE:
            axes = axes_about(world.loop_axis[n], world.loop_axis2[n])
        frames = []
        for end in range(2):
            pose = self.loop_pose[n, end]
            turn = turned(pose[3:])
            frames.append(self._frame(int(world.loop_body[n, end]), pose[:3], turn @ axes))
        whole, number = self._joint(kind, frames[0], frames[1])
        number[PITCH] = world.loop_pitch[n]
        whole[[RAIL_FIRST, RAIL_COUNT]] = world.loop_rail[n]
        if kind == POINT_ON_CURVE:
            whole[[RAIL_FIRST, RAIL_COUNT]] = world.loop_track[n]
            whole[RAIL_FIRST] += len(world.rail)
        return whole, number, world.loop_names[n], -1, n

    def spring_joint(self, n: int) -> Found:
        """A spring as a joint that holds nothing."""
        world = self.world
        kind, rows = spring_kind(world, n)
        axes = axes_about(world.spring_axis[n], None)
        frames = []
        for end in range(2):
            pose = world.spring_pose[n, end]
            frames.append(
                self._frame(int(world.spring_body[n, end]), pose[:3], turned(pose[3:]) @ axes)
            )
        whole, number = self._joint(kind, frames[0], frames[1])
        free_all(whole, rows)
        return whole, number, world.spring_names[n], -1, -1


def _row_of(world: World, dof: int) -> tuple[int, int]:
    """Body of a degree of freedom, and its row in the joint."""
    body = int(world.dof_body[dof])
    return body, FREE_ROWS[int(world.kind[body])][dof - int(world.vadr[body])]


def measure(whole: np.ndarray) -> None:
    """Fills in how many rows joints have, and which are solved by the short way."""
    for row in whole:
        row[SIZE] = 1 + np.flatnonzero(row[MODE : MODE + 6])[-1]
        row[POINT] = int(row[KIND] in (BALL, HINGE, UNIVERSAL, FIXED))
        if row[KIND] in (BALL, HINGE) and not row[SOFT_COUNT]:
            row[POINT] = 2
