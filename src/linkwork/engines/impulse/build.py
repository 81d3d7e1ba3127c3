"""Builds the flat arrays of the impulse engine from a world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.engines.impulse.body_kernels import (
    BODY_COLUMNS,
    INERTIA_INV,
    MASS_INV,
    QN,
    RN,
    TERMS,
    Q,
    R,
)
from linkwork.engines.impulse.facing import face_loops
from linkwork.engines.impulse.joint_columns import (
    AXES_A,
    AXES_B,
    COUPLING,
    FOLLOWER,
    FRAME_COLUMNS,
    HARD,
    JOINT_COLUMNS,
    JOINT_INTEGERS,
    KIND,
    LEADER,
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
    SOFT_FIRST,
    SPRING,
    TORSION_SPRING,
    A,
    B,
    S,
)
from linkwork.engines.impulse.order import Pattern, find_pattern
from linkwork.engines.impulse.row_kernels import (
    BOUNCE,
    HI,
    LO,
    PRESCRIBED,
    REST,
    ROTOR,
    ROW_COLUMNS,
    ROW_INTEGERS,
    RUB,
    STIFF,
)  # fmt: skip
from linkwork.engines.impulse.springs import check_lengths, free_all, spring_kind, spring_law
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FIXED,
    FREE,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
)  # fmt: skip
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
#: Inertia about an axis that is at least counted, as a part of the largest: with less, rounding
#: opens joints faster than ``speed_gap`` allows.
THINNEST = 1e-6


#: Integers and numbers of a joint, its name, its body in the tree (or −1), its loop (or −1).
Found = tuple[np.ndarray, np.ndarray, str, int, int]


@dataclass
class Mechanism:
    """The arrays that the kernels share.

    Attributes:
        own: Bodies of the world, by row; the last row of ``bodies`` is what does not move.
        mount: Where each body has its principal axes, and its inertia about them (n×10).
        bodies, whole, number, rail: See ``body_kernels`` and ``joint_columns``.
        pattern: Order of elimination.
        tree: Joint, first coordinate, first degree of freedom of each joint of the tree that keeps
            neither quaternion (n×3).
        coupled: Coupling, its end (0 follows, 1 leads) and coordinate of each joint that is coupled
            (n×3).
        turning: Bodies with ball or free joints.
        names: Name of each joint or loop.
        soft_whole, soft: Soft rows, see ``row_kernels``; those of springs are the last.
        springs: Soft row and spring of each row of a spring (n×2).
        rooms: Where each soft row is kept: its degree of freedom, springs after all of them.
        curves: Joint and loop of each point on a curve and each rail that closes a loop (n×2).
    """

    own: np.ndarray
    mount: np.ndarray
    bodies: np.ndarray
    whole: np.ndarray
    number: np.ndarray
    rail: np.ndarray
    pattern: Pattern
    tree: np.ndarray
    coupled: np.ndarray
    turning: np.ndarray
    names: list[str]
    loops: np.ndarray
    soft_whole: np.ndarray
    soft: np.ndarray
    springs: np.ndarray
    rooms: np.ndarray
    curves: np.ndarray

    @property
    def laws(self) -> int:
        """How many soft rows belong to joints, and not to springs."""
        return len(self.soft) - len(self.springs)


def turned(quat: np.ndarray) -> np.ndarray:
    """Matrix of a quaternion."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quat_of(matrix: np.ndarray) -> np.ndarray:
    """Quaternion of a matrix."""
    m = matrix
    four = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [0.0, m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [0.0, 0.0, m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [0.0, 0.0, 0.0, m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    _values, vectors = np.linalg.eigh(four, UPLO="U")
    found = vectors[:, -1]
    return found if found[0] >= 0.0 else -found


def axes_about(z: np.ndarray, x: np.ndarray | None) -> np.ndarray:
    """Right-handed axes by columns, of which the third is ``z`` and the first near ``x``."""
    near = np.eye(3)[int(np.argmin(np.abs(z)))] if x is None else x
    level = near - z * (near @ z)
    level = level / np.linalg.norm(level)
    return np.column_stack([level, np.cross(z, level), z])


def principal(world: World, body: int) -> np.ndarray:
    """Centre of mass, principal axes as a quaternion and inertia about them, of a body."""
    tensor = world.inertia[body]
    most = float(np.trace(tensor))
    if np.abs(tensor - np.diag(np.diag(tensor))).max() <= 1e-14 * most:
        values, quat = np.diag(tensor).copy(), np.array([1.0, 0.0, 0.0, 0.0])
    else:
        values, vectors = np.linalg.eigh(tensor)
        if np.linalg.det(vectors) < 0.0:
            vectors[:, 0] *= -1.0
        quat = quat_of(vectors)
    values = np.maximum(values, THINNEST * values.max(initial=0.0))
    return np.concatenate([world.com[body], quat, values])


def thinned(world: World, body: int) -> float:
    """Least inertia of a body as a part of its largest, where it is counted as more; else 1."""
    values = np.linalg.eigvalsh(world.inertia[body])
    part = max(float(values[0] / values[-1]), 0.0)
    return part if part < (1.0 - 1e-6) * THINNEST else 1.0


class Builder:
    """Puts the arrays of a mechanism together.

    Attributes:
        loose: Degrees of freedom along which nothing acts as the scene has it (nv).
        acting: Those of them that are damped or rub while it runs.
    """

    def __init__(
        self, world: World, owned: np.ndarray, poses: np.ndarray, prescribed: list[int],
        driven: list[int],
    ) -> None:  # fmt: skip
        self.world = world
        self.poses = poses
        self.own = np.flatnonzero(owned)
        self.row = {int(b): n for n, b in enumerate(self.own)}
        self.mount = np.array([principal(world, int(b)) for b in self.own]).reshape(-1, 10)
        self.prescribed, self.driven = set(prescribed), set(driven)
        self.acting = np.zeros(world.nv, bool)
        self.loose = np.array([self._is_free(dof) for dof in range(world.nv)], bool)
        self.loose &= owned[world.dof_body]
        self.loop_pose, facing = face_loops(world, poses)
        self.facing = [n for n in facing if any(int(b) in self.row for b in world.loop_body[n])]

    def build(self) -> Mechanism:
        """All arrays."""
        world, last = self.world, len(self.own)
        found: list[Found] = []
        for b in self.own:
            if world.kind[b] not in (FREE, FIXED):
                found.append(self._tree_joint(int(b)))
        loops = [
            n for n in range(len(world.loop_names))
            if any(int(b) in self.row for b in world.loop_body[n])
        ]  # fmt: skip
        found += [self._loop_joint(n) for n in loops]
        springs = [
            n for n in range(len(world.spring_names))
            if any(int(b) in self.row for b in world.spring_body[n])
        ]  # fmt: skip
        check_lengths(world, self.poses, springs)
        spring_of = {len(found) + k: n for k, n in enumerate(springs)}
        found += [self._spring_joint(n) for n in springs]
        for n, (follows, leads) in enumerate(world.coupling_dof.tolist()):
            if int(world.dof_body[follows]) in self.row:
                found.append(self._coupling(n, follows, leads, found))
        ends = [tuple(int(b) if b < last else -1 for b in w[: w[SIDES]]) for w, *_ in found]
        pattern = find_pattern(ends)
        place = {joint: n for n, joint in enumerate(pattern.order)}
        found = [found[n] for n in pattern.order]
        for whole, *_ in found:
            if whole[KIND] == COUPLING:
                whole[[FOLLOWER, LEADER]] = place[whole[FOLLOWER]], place[whole[LEADER]]
        whole = np.array([f[0] for f in found], np.int64).reshape(-1, JOINT_INTEGERS)
        number = np.array([f[1] for f in found]).reshape(-1, JOINT_COLUMNS)
        tree, coupled, soft_whole, soft = [], [], [], []
        for n, (_, _, _, body, _loop) in enumerate(found):
            if whole[n, KIND] == COUPLING:
                for end in range(2):
                    joint, row = whole[n, FOLLOWER + 2 * end : FOLLOWER + 2 * end + 2]
                    carrier = found[joint][3]
                    place_of = FREE_ROWS[int(world.kind[carrier])].index(int(row))
                    coupled.append((n, end, int(world.qadr[carrier]) + place_of))
            if body < 0:
                continue
            if world.kind[body] != BALL:
                tree.append((n, int(world.qadr[body]), int(world.vadr[body])))
            whole[n, SOFT_FIRST] = len(soft)
            for place, row in enumerate(FREE_ROWS[int(world.kind[body])]):
                dof = int(world.vadr[body]) + place
                if self._is_free(dof):
                    continue
                whole[n, MODE + row] = SOFT
                at = int(world.qadr[body]) + place
                soft_whole.append((n, row, dof, at, int(dof in self.prescribed) * PRESCRIBED))
                soft.append(self._law(dof, body))
            whole[n, SOFT_COUNT] = len(soft) - whole[n, SOFT_FIRST]
        spring_rows = []
        for n, joint in enumerate(pattern.order):
            if joint not in spring_of:
                continue
            spring = spring_of[joint]
            _kind, rows = spring_kind(world, spring)
            whole[n, SOFT_FIRST], whole[n, SOFT_COUNT] = len(soft), len(rows)
            for row in rows:
                spring_rows.append((len(soft), spring))
                soft_whole.append((n, row, world.nv, 0, 0))
                soft.append(spring_law(world.spring_law[spring]))
        rooms = [dof for _, _, dof, *_ in soft_whole[: len(soft) - len(spring_rows)]]
        rooms += [world.nv + k for k in range(len(spring_rows))]
        _measure(whole)
        bodies = np.zeros((last + 1, BODY_COLUMNS))
        bodies[:, Q] = 1.0
        bodies[:, [R, R + 4, R + 8]] = 1.0
        bodies[last, QN] = 1.0  # what does not move is there after every look-ahead
        bodies[last, [RN, RN + 4, RN + 8]] = 1.0
        self.weigh(bodies, world.mass)
        return Mechanism(
            self.own, self.mount.copy(), bodies, whole, number, self._tracks(), pattern,
            np.array(tree, np.int64).reshape(-1, 3), np.array(coupled, np.int64).reshape(-1, 3),
            np.array([b for b in self.own if world.kind[b] in (BALL, FREE)], np.int64),
            [f[2] for f in found], np.array([f[4] for f in found], np.int64),
            np.array(soft_whole, np.int64).reshape(-1, ROW_INTEGERS),
            np.array(soft).reshape(-1, ROW_COLUMNS),
            np.array(spring_rows, np.int64).reshape(-1, 2), np.array(rooms, np.int64),
            np.array(
                [(n, f[4]) for n, f in enumerate(found)
                 if f[4] >= 0 and f[0][KIND] in (POINT_ON_CURVE, RAIL)], np.int64,
            ).reshape(-1, 2),
        )  # fmt: skip

    def weigh(self, bodies: np.ndarray, mass: np.ndarray) -> None:
        """Fills in inverse masses; inertias grow with the mass."""
        for n, b in enumerate(self.own):
            share = mass[b] / self.world.mass[b]
            bodies[n, MASS_INV] = 1.0 / mass[b]
            bodies[n, INERTIA_INV : INERTIA_INV + 3] = 1.0 / (share * self.mount[n, 7:10])

    def _is_free(self, dof: int) -> bool:
        world = self.world
        return (
            dof not in self.driven
            and dof not in self.prescribed
            and not (world.damping[dof] or world.friction[dof] or self.acting[dof])
            and not (world.stiffness[dof] or world.armature[dof])
            and np.isinf(world.dof_lo[dof])
            and np.isinf(world.dof_hi[dof])
        )

    def _law(self, dof: int, body: int) -> np.ndarray:
        world, row = self.world, np.zeros(ROW_COLUMNS)
        row[[LO, HI, STIFF, REST, RUB, ROTOR]] = (
            world.dof_lo[dof], world.dof_hi[dof], world.stiffness[dof], world.rest[dof],
            world.friction[dof], world.armature[dof],
        )  # fmt: skip
        if world.kind[body] == BALL:
            row[LO], row[HI], row[REST] = -np.inf, np.inf, 0.0
        row[BOUNCE] = world.restitution[dof]
        return row

    def _tracks(self) -> np.ndarray:
        """Rails, and behind them curves."""
        return np.concatenate([self.world.rail.reshape(-1, 3), self.world.track])

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
        return len(self.own), np.concatenate([at, (turn @ axes).T.ravel()])

    def _joint(
        self, kind: int, one: tuple[int, np.ndarray], two: tuple[int, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        whole, number = np.zeros(JOINT_INTEGERS, np.int64), np.zeros(JOINT_COLUMNS)
        whole[[A, B, SIDES, KIND]] = one[0], two[0], 2, kind
        number[PA : AXES_A + 9], number[PB : AXES_B + 9] = one[1], two[1]
        whole[[MODE + row for row in HARD_ROWS[kind]]] = HARD
        return whole, number

    def _tree_joint(self, b: int) -> Found:
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

    def _coupling(self, n: int, follows: int, leads: int, found: list[Found]) -> Found:
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

    def _loop_joint(self, n: int) -> Found:
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

    def _spring_joint(self, n: int) -> Found:
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


def _measure(whole: np.ndarray) -> None:
    """Fills in how many rows joints have, and which are solved by the short way."""
    for row in whole:
        row[SIZE] = 1 + np.flatnonzero(row[MODE : MODE + 6])[-1]
        row[POINT] = int(row[KIND] in (BALL, HINGE, UNIVERSAL, FIXED))
        if row[KIND] in (BALL, HINGE) and not row[SOFT_COUNT]:
            row[POINT] = 2


def make_desk(mechanism: Mechanism) -> tuple[np.ndarray, ...]:
    """Arrays that steps write to, see ``step_kernels``."""
    n = len(mechanism.whole)
    blocks = len(mechanism.pattern.row_of)
    sides = int(mechanism.whole[:, SIDES].max(initial=2))
    return (
        np.zeros((n, sides, 6, 6)), np.zeros((n, sides, 6, 6)),
        np.zeros((blocks, 6, 6)), np.zeros((blocks, 6, 6)),
        *(np.zeros((n, 6)) for _ in range(6)),
    )  # fmt: skip


def make_scratch() -> tuple[np.ndarray, ...]:
    """Arrays whose contents nobody keeps."""
    return np.zeros(FRAME_COLUMNS), np.zeros((5, 9)), np.zeros((TERMS, 10)), np.zeros((12, 6))
