"""Builds the flat arrays of the impulse engine from a world."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.body_kernels import BODY_COLUMNS, INERTIA_INV, MASS_INV, QN, RN, Q, R
from linkwork.engines.impulse.facing import face_loops
from linkwork.engines.impulse.joint_columns import (
    COUPLING,
    FOLLOWER,
    JOINT_COLUMNS,
    JOINT_INTEGERS,
    KIND,
    LEADER,
    MODE,
    POINT_ON_CURVE,
    SIDES,
    SOFT,
    SOFT_COUNT,
    SOFT_FIRST,
)
from linkwork.engines.impulse.joints import FREE_ROWS, Found, Joints, measure
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.order import find_pattern
from linkwork.engines.impulse.principal import principal
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
)
from linkwork.engines.impulse.springs import check_lengths, spring_kind, spring_law
from linkwork.kinematics.kernels import BALL, FIXED, FREE, RAIL
from linkwork.world import World


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
        self._joints = Joints(world, self.row, self.mount, poses, self.loop_pose)
        self.facing = [n for n in facing if any(int(b) in self.row for b in world.loop_body[n])]

    def build(self) -> Mechanism:
        """All arrays."""
        world, last = self.world, len(self.own)
        found: list[Found] = []
        for b in self.own:
            if world.kind[b] not in (FREE, FIXED):
                found.append(self._joints.tree_joint(int(b)))
        loops = [
            n for n in range(len(world.loop_names))
            if any(int(b) in self.row for b in world.loop_body[n])
        ]  # fmt: skip
        found += [self._joints.loop_joint(n) for n in loops]
        springs = [
            n for n in range(len(world.spring_names))
            if any(int(b) in self.row for b in world.spring_body[n])
        ]  # fmt: skip
        check_lengths(world, self.poses, springs)
        spring_of = {len(found) + k: n for k, n in enumerate(springs)}
        found += [self._joints.spring_joint(n) for n in springs]
        for n, (follows, leads) in enumerate(world.coupling_dof.tolist()):
            if int(world.dof_body[follows]) in self.row:
                found.append(self._joints.coupling(n, follows, leads, found))
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
        measure(whole)
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
