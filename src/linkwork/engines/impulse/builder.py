"""Builds the flat arrays of the impulse engine from a world."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.body_kernels import BODY_COLUMNS, INERTIA_INV, MASS_INV, QN, RN, Q, R
from linkwork.engines.impulse.elimination import find_elimination_pattern
from linkwork.engines.impulse.frames import align_loop_axes, principal_frame
from linkwork.engines.impulse.joint_law_kernels import (
    FRICTION,
    HI,
    LO,
    PRESCRIBED,
    REST,
    RESTITUTION,
    ROTOR,
    ROW_COLUMNS,
    ROW_INTEGERS,
    STIFFNESS,
)
from linkwork.engines.impulse.joints import (
    FREE_ROWS_OF_KIND,
    JointArrays,
    JointRow,
    check_spring_lengths,
    set_block_sizes,
    spring_kind,
    spring_row,
)
from linkwork.engines.impulse.mechanism import (
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
    Mechanism,
)
from linkwork.kinematics.kernels import BALL, FIXED, FREE, RAIL
from linkwork.model.world import World


class MechanismBuilder:
    """Builds the arrays of a mechanism.

    Attributes:
        loose: Degrees of freedom without a force law in the scene (nv).
        acting: Those of them with damping or friction set at run time.
    """

    def __init__(
        self, world: World, owned: np.ndarray, poses: np.ndarray, prescribed: list[int],
        driven: list[int],
    ) -> None:  # fmt: skip
        self.world = world
        self.poses = poses
        self.own = np.flatnonzero(owned)
        self.row = {int(b): n for n, b in enumerate(self.own)}
        self.principal_pose = np.array([principal_frame(world, int(b)) for b in self.own]).reshape(
            -1, 10
        )
        self.prescribed, self.driven = set(prescribed), set(driven)
        self.acting = np.zeros(world.nv, bool)
        self.loose = np.array([self._is_free(dof) for dof in range(world.nv)], bool)
        self.loose &= owned[world.dof_body]
        self.loop_pose, flipped_loops = align_loop_axes(world, poses)
        self._joints = JointArrays(world, self.row, self.principal_pose, poses, self.loop_pose)
        self.flipped_loops = [
            n for n in flipped_loops if any(int(b) in self.row for b in world.loop_body[n])
        ]

    def build(self) -> Mechanism:
        """Returns all arrays."""
        world, last = self.world, len(self.own)
        found, spring_of = self._collect_joints()
        ends = [tuple(int(b) if b < last else -1 for b in w[: w[SIDES]]) for w, *_ in found]
        pattern = find_elimination_pattern(ends)
        place = {joint: n for n, joint in enumerate(pattern.order)}
        found = [found[n] for n in pattern.order]
        for joint_ints, *_ in found:
            if joint_ints[KIND] == COUPLING:
                joint_ints[[FOLLOWER, LEADER]] = (
                    place[joint_ints[FOLLOWER]],
                    place[joint_ints[LEADER]],
                )
        joint_ints = np.array([f[0] for f in found], np.int64).reshape(-1, JOINT_INTEGERS)
        joint_reals = np.array([f[1] for f in found]).reshape(-1, JOINT_COLUMNS)
        tree, coupled, row_ints, row_reals = [], [], [], []
        for n, (_, _, _, body, _loop) in enumerate(found):
            if joint_ints[n, KIND] == COUPLING:
                for end in range(2):
                    joint, row = joint_ints[n, FOLLOWER + 2 * end : FOLLOWER + 2 * end + 2]
                    carrier = found[joint][3]
                    place_of = FREE_ROWS_OF_KIND[int(world.kind[carrier])].index(int(row))
                    coupled.append((n, end, int(world.qadr[carrier]) + place_of))
            if body < 0:
                continue
            if world.kind[body] != BALL:
                tree.append((n, int(world.qadr[body]), int(world.vadr[body])))
            joint_ints[n, SOFT_FIRST] = len(row_reals)
            for place, row in enumerate(FREE_ROWS_OF_KIND[int(world.kind[body])]):
                dof = int(world.vadr[body]) + place
                if self._is_free(dof):
                    continue
                joint_ints[n, MODE + row] = SOFT
                at = int(world.qadr[body]) + place
                row_ints.append((n, row, dof, at, int(dof in self.prescribed) * PRESCRIBED))
                row_reals.append(self._law(dof, body))
            joint_ints[n, SOFT_COUNT] = len(row_reals) - joint_ints[n, SOFT_FIRST]
        spring_rows = []
        for n, joint in enumerate(pattern.order):
            if joint not in spring_of:
                continue
            spring = spring_of[joint]
            _kind, rows = spring_kind(world, spring)
            joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_COUNT] = len(row_reals), len(rows)
            for row in rows:
                spring_rows.append((len(row_reals), spring))
                row_ints.append((n, row, world.nv, 0, 0))
                row_reals.append(spring_row(world.spring_law[spring]))
        row_slots = [dof for _, _, dof, *_ in row_ints[: len(row_reals) - len(spring_rows)]]
        row_slots += [world.nv + k for k in range(len(spring_rows))]
        set_block_sizes(joint_ints)
        bodies = self._empty_bodies(last)
        self.set_masses(bodies, world.mass)
        return Mechanism(
            self.own,
            self.principal_pose.copy(),
            bodies,
            joint_ints,
            joint_reals,
            self._tracks(),
            pattern,
            np.array(tree, np.int64).reshape(-1, 3),
            np.array(coupled, np.int64).reshape(-1, 3),
            np.array([b for b in self.own if world.kind[b] in (BALL, FREE)], np.int64),
            [f[2] for f in found],
            np.array([f[4] for f in found], np.int64),
            np.array(row_ints, np.int64).reshape(-1, ROW_INTEGERS),
            np.array(row_reals).reshape(-1, ROW_COLUMNS),
            np.array(spring_rows, np.int64).reshape(-1, 2),
            np.array(row_slots, np.int64),
            np.array(
                [
                    (n, f[4])
                    for n, f in enumerate(found)
                    if f[4] >= 0 and f[0][KIND] in (POINT_ON_CURVE, RAIL)
                ],
                np.int64,
            ).reshape(-1, 2),
        )

    def _collect_joints(self) -> tuple[list[JointRow], dict[int, int]]:
        """Returns joints, loops, springs, couplings, with the spring of each row that is one."""
        world = self.world
        found: list[JointRow] = []
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
        check_spring_lengths(world, self.poses, springs)
        spring_of = {len(found) + k: n for k, n in enumerate(springs)}
        found += [self._joints.spring_joint(n) for n in springs]
        for n, (follows, leads) in enumerate(world.coupling_dof.tolist()):
            if int(world.dof_body[follows]) in self.row:
                found.append(self._joints.coupling(n, follows, leads, found))
        return found, spring_of

    @staticmethod
    def _empty_bodies(last: int) -> np.ndarray:
        """Returns the rows of bodies at the origin, with one for all static bodies."""
        bodies = np.zeros((last + 1, BODY_COLUMNS))
        bodies[:, Q] = 1.0
        bodies[:, [R, R + 4, R + 8]] = 1.0
        bodies[last, QN] = 1.0  # static bodies keep their pose in every look-ahead
        bodies[last, [RN, RN + 4, RN + 8]] = 1.0
        return bodies

    def set_masses(self, bodies: np.ndarray, mass: np.ndarray) -> None:
        """Sets inverse masses; inertias are proportional to the mass."""
        for n, b in enumerate(self.own):
            share = mass[b] / self.world.mass[b]
            bodies[n, MASS_INV] = 1.0 / mass[b]
            bodies[n, INERTIA_INV : INERTIA_INV + 3] = 1.0 / (share * self.principal_pose[n, 7:10])

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
        row[[LO, HI, STIFFNESS, REST, FRICTION, ROTOR]] = (
            world.dof_lo[dof], world.dof_hi[dof], world.stiffness[dof], world.rest[dof],
            world.friction[dof], world.armature[dof],
        )  # fmt: skip
        if world.kind[body] == BALL:
            row[LO], row[HI], row[REST] = -np.inf, np.inf, 0.0
        row[RESTITUTION] = world.restitution[dof]
        return row

    def _tracks(self) -> np.ndarray:
        """Returns the rails followed by the curves."""
        return np.concatenate([self.world.rail.reshape(-1, 3), self.world.track])
