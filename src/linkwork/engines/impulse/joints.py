"""Joints, loops, springs and couplings of a world as rows of integers and reals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from linkwork.core.errors import EngineError
from linkwork.engines.common.kernels import TORSION
from linkwork.engines.impulse.frames import axes_from_z
from linkwork.engines.impulse.joint_law_kernels import (
    DAMPING,
    HI,
    LO,
    REST,
    ROW_COLUMNS,
    STIFFNESS,
)
from linkwork.engines.impulse.mechanism import (
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
    SOFT,
    SOFT_COUNT,
    SPRING,
    TORSION_SPRING,
    A,
    B,
    S,
)
from linkwork.geometry.pose import matrix_from_quat
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
from linkwork.model.world import World

#: Length below which a spring has no direction [m].
MIN_LENGTH = 1e-9


def check_spring_lengths(world: World, poses: np.ndarray, which: Iterable[int]) -> None:
    """Rejects springs without a rest length whose ends coincide initially.

    Raises:
        EngineError: If there is one: the direction of its force is undefined.
    """
    for n in which:
        if world.spring_kind[n] == TORSION or not np.isnan(world.spring_law[n, 1]):
            continue
        ends = []
        for end in range(2):
            w, *xyz = poses[world.spring_body[n, end], 3:]
            point = world.spring_pose[n, end, :3]
            turn = 2.0 * np.cross(xyz, point)
            place = poses[world.spring_body[n, end], :3]
            ends.append(place + point + w * turn + np.cross(xyz, turn))
        if np.linalg.norm(ends[1] - ends[0]) < MIN_LENGTH:
            raise EngineError(
                f"spring {world.spring_names[n]!r} has no rest length, and its ends coincide.",
                origin=world.spring_origins[n],
                hint="Give it a rest [m]; rest = 0 pulls its ends together.",
            )


def spring_kind(world: World, n: int) -> tuple[int, tuple[int, ...]]:
    """Returns the joint kind of a spring, and the rows along which it acts.

    A torsion spring acts along the gradient of its angle. A spring with rest length 0 acts along
    all three directions, so that its length may pass through 0; any other acts along the line
    between its ends.
    """
    if world.spring_kind[n] == TORSION:
        return TORSION_SPRING, (5,)
    return (CYLINDRICAL, (0, 1, 2)) if world.spring_law[n, 1] == 0.0 else (SPRING, (2,))


def set_spring_rows(joint_ints: np.ndarray, rows: tuple[int, ...]) -> None:
    """Makes the rows of a spring soft, and all others inactive."""
    joint_ints[MODE : MODE + 6] = 0
    joint_ints[[MODE + row for row in rows]] = SOFT


def spring_row(law: np.ndarray) -> np.ndarray:
    """Returns a spring's soft row."""
    row = np.zeros(ROW_COLUMNS)
    row[LO], row[HI] = -np.inf, np.inf
    row[[STIFFNESS, REST, DAMPING]] = law
    return row


#: Hard rows of each kind of joint: along x, y, z, about x, y, z of its frame (z is the axis).
HARD_ROWS_OF_KIND = {
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
#: Row of each degree of freedom of a joint.
FREE_ROWS_OF_KIND = {
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
JointRow = tuple[np.ndarray, np.ndarray, str, int, int]


class JointArrays:
    """Converts joints, loops, springs and couplings of a world to kernel arrays.

    Attributes:
        row: Row of each moving body; static bodies share the last one.
    """

    def __init__(
        self, world: World, row: dict[int, int], principal_pose: np.ndarray, poses: np.ndarray,
        loop_pose: np.ndarray,
    ) -> None:  # fmt: skip
        self.world, self.row, self.principal_pose = world, row, principal_pose
        self.poses, self.loop_pose = poses, loop_pose

    def _frame(self, body: int, point: np.ndarray, axes: np.ndarray) -> tuple[int, np.ndarray]:
        """Returns the row of a body, and a frame in its principal axes: point, axes by rows."""
        if body in self.row:
            principal_pose = self.principal_pose[self.row[body]]
            turn = matrix_from_quat(principal_pose[3:7]).T
            return self.row[body], np.concatenate(
                [turn @ (point - principal_pose[:3]), (turn @ axes).T.ravel()]
            )
        turn = matrix_from_quat(self.poses[body, 3:])
        at = self.poses[body, :3] + turn @ point
        return len(self.row), np.concatenate([at, (turn @ axes).T.ravel()])

    def _joint(
        self, kind: int, one: tuple[int, np.ndarray], two: tuple[int, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        joint_ints, joint_reals = np.zeros(JOINT_INTEGERS, np.int64), np.zeros(JOINT_COLUMNS)
        joint_ints[[A, B, SIDES, KIND]] = one[0], two[0], 2, kind
        joint_reals[PA : AXES_A + 9], joint_reals[PB : AXES_B + 9] = one[1], two[1]
        joint_ints[[MODE + row for row in HARD_ROWS_OF_KIND[kind]]] = HARD
        return joint_ints, joint_reals

    def tree_joint(self, b: int) -> JointRow:
        """Returns the joint of the tree that carries body ``b``."""
        world = self.world
        kind, parent = int(world.kind[b]), int(world.parent[b])
        second = world.axis2[b] if kind in (UNIVERSAL, PLANAR, RAIL) else None
        # a ball has no axis: its force laws act about the body axes
        axes = np.eye(3) if kind == BALL else axes_from_z(world.axis[b], second)
        turn = matrix_from_quat(world.x0[b, 3:])
        point = world.x0[b, :3] + turn @ world.pivot[b]
        joint_ints, joint_reals = self._joint(
            kind, self._frame(parent, point, turn @ axes), self._frame(b, world.pivot[b], axes)
        )
        joint_reals[PITCH] = world.pitch[b]
        joint_ints[[RAIL_FIRST, RAIL_COUNT]] = world.rail_first[b], world.rail_count[b]
        name = world.joint_names[int(np.flatnonzero(world.joint_body == b)[0])]
        return joint_ints, joint_reals, name, b, -1

    def coupling(self, n: int, follows: int, leads: int, found: list[JointRow]) -> JointRow:
        """Returns a coupling of two joints: one row over all of their bodies."""
        world = self.world
        joint_ints, joint_reals = np.zeros(JOINT_INTEGERS, np.int64), np.zeros(JOINT_COLUMNS)
        bodies: list[int] = []
        for end, dof in enumerate((follows, leads)):
            body, row = _row_of(world, dof)
            at = next(k for k, each in enumerate(found) if each[3] == body)
            joint_ints[FOLLOWER + 2 * end : FOLLOWER + 2 * end + 2] = at, row
            for half in range(2):
                other = int(found[at][0][half])
                if other not in bodies:
                    bodies.append(other)
                joint_ints[SIDE_OF + 2 * end + half] = bodies.index(other)
        joint_ints[: len(bodies)] = bodies
        joint_ints[[SIDES, KIND, MODE]] = len(bodies), COUPLING, HARD
        joint_reals[PITCH], joint_reals[S] = world.coupling_law[n]
        name = f"{world.dof_name(follows)} coupled to {world.dof_name(leads)}"
        return joint_ints, joint_reals, name, -1, -1

    def loop_joint(self, n: int) -> JointRow:
        """Returns the joint that closes a loop."""
        world = self.world
        kind = int(world.loop_kind[n])
        axes = np.eye(3)
        if kind != POINT_ON_CURVE:
            axes = axes_from_z(world.loop_axis[n], world.loop_axis2[n])
        frames = []
        for end in range(2):
            pose = self.loop_pose[n, end]
            turn = matrix_from_quat(pose[3:])
            frames.append(self._frame(int(world.loop_body[n, end]), pose[:3], turn @ axes))
        joint_ints, joint_reals = self._joint(kind, frames[0], frames[1])
        joint_reals[PITCH] = world.loop_pitch[n]
        joint_ints[[RAIL_FIRST, RAIL_COUNT]] = world.loop_rail[n]
        if kind == POINT_ON_CURVE:
            joint_ints[[RAIL_FIRST, RAIL_COUNT]] = world.loop_track[n]
            joint_ints[RAIL_FIRST] += len(world.rail)
        return joint_ints, joint_reals, world.loop_names[n], -1, n

    def spring_joint(self, n: int) -> JointRow:
        """Returns a spring as a joint without hard rows."""
        world = self.world
        kind, rows = spring_kind(world, n)
        axes = axes_from_z(world.spring_axis[n], None)
        frames = []
        for end in range(2):
            pose = world.spring_pose[n, end]
            frames.append(
                self._frame(
                    int(world.spring_body[n, end]), pose[:3], matrix_from_quat(pose[3:]) @ axes
                )
            )
        joint_ints, joint_reals = self._joint(kind, frames[0], frames[1])
        set_spring_rows(joint_ints, rows)
        return joint_ints, joint_reals, world.spring_names[n], -1, -1


def _row_of(world: World, dof: int) -> tuple[int, int]:
    """Returns the body of a degree of freedom, and its row in the joint."""
    body = int(world.dof_body[dof])
    return body, FREE_ROWS_OF_KIND[int(world.kind[body])][dof - int(world.vadr[body])]


def set_block_sizes(joint_ints: np.ndarray) -> None:
    """Sets the number of rows of each joint, and which have the fast point form."""
    for row in joint_ints:
        row[SIZE] = 1 + np.flatnonzero(row[MODE : MODE + 6])[-1]
        row[POINT] = int(row[KIND] in (BALL, HINGE, UNIVERSAL, FIXED))
        if row[KIND] in (BALL, HINGE) and not row[SOFT_COUNT]:
            row[POINT] = 2
