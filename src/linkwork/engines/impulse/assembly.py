"""Initial assembly: closes a mechanism from its initial pose, keeping the given joint values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import EngineError
from linkwork.core.value_types import format_value
from linkwork.engines.impulse import constraint_kernels as phases
from linkwork.engines.impulse.body_kernels import L, Q, V
from linkwork.engines.impulse.builder import MechanismBuilder
from linkwork.engines.impulse.coordinate_kernels import write_coordinates
from linkwork.engines.impulse.joint_law_kernels import (
    DOF,
    FREE_COMPLIANCE,
    JOINT,
    RATE,
    ROW,
    TARGET,
)
from linkwork.engines.impulse.mechanism import COUPLING, KIND, Mechanism
from linkwork.engines.impulse.projection_kernels import project_positions
from linkwork.engines.impulse.report_kernels import largest_constraint_velocity
from linkwork.engines.impulse.stepper import BODY_STATE, ImpulseParams, StepIntegrator
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.world import Finding, World

#: Tolerance within which a value or velocity counts as the given one.
EQUAL = 1e-9
#: Half the angle of the random rotations of :meth:`AssemblySolver.perturb` [rad].
_PERTURBATION = 0.05


def out_of_range(world: World, dofs: np.ndarray, values: np.ndarray) -> dict[int, float]:
    """Returns the degrees of freedom with values [rad or m] out of range, and the nearer limit."""
    ends = np.clip(values, world.dof_lo[dofs], world.dof_hi[dofs])
    beyond = np.abs(values - ends) > EQUAL
    return dict(zip(dofs[beyond].tolist(), ends[beyond].tolist(), strict=True))


def single_dofs(world: World, dofs: np.ndarray) -> np.ndarray:
    """Returns those degrees of freedom that have a coordinate of their own."""
    return dofs[~np.isin(world.kind[world.dof_body[dofs]], (BALL, FREE))]


def dofs_to_keep(
    world: World, mine: set[int], driven: set[int], prescribed: list[int], first: bool
) -> list[set[int]]:
    """Returns sets of joints that should keep their values, from the largest set to the smallest.

    At the start: joints with a value, a drive or an entry in the posture; then those with a drive
    or an entry in the posture; those of the posture; and the prescribed ones.
    """
    named, valued = set(), set()
    if first:
        posture = world.scene.postures.get(world.scene.start or "", {})
        named = {world.single_dof(name) for name in posture} & mine
        for joint, b in zip(world.joints, world.joint_body.tolist(), strict=True):
            valued |= {int(world.vadr[b]) + n for n, value in enumerate(joint.values) if value}
    must = set(prescribed) & mine
    tiers: list[set[int]] = []
    for tier in (valued & mine | driven | named | must, driven | named | must, named | must, must):
        if tier and tier not in tiers:
            tiers.append(tier)
    return tiers


class AssemblySolver:
    """A copy of a mechanism in which some joints are held while the others close."""

    def __init__(
        self, world: World, builder: MechanismBuilder, params: ImpulseParams, mechanism: Mechanism,
        dofs: list[int],
    ) -> None:  # fmt: skip
        owned = np.zeros(world.nb, bool)
        owned[mechanism.own] = True
        again = MechanismBuilder(world, owned, builder.poses, dofs, sorted(builder.driven))
        self.world, self.gap = world, params.gap
        self.mechanism = again.build()
        self.stepper = StepIntegrator(world, self.mechanism, params, builder.poses)
        self.mechanism.bodies[:] = mechanism.bodies
        self.mechanism.joint_reals[:] = mechanism.joint_reals
        laws = self.mechanism.laws
        self._dofs = self.mechanism.row_ints[:laws, DOF]
        self._at = self.mechanism.row_ints[:, JOINT], self.mechanism.row_ints[:, ROW]

    def perturb(self) -> None:
        """Rotates every body by a small angle, to leave singular configurations."""
        bodies = self.mechanism.bodies
        n = np.arange(1.0, len(bodies))
        half = _PERTURBATION * np.column_stack([np.sin(n), np.cos(2.0 * n), np.sin(3.0 * n + 1.0)])
        w, xyz = bodies[:-1, Q].copy(), bodies[:-1, Q + 1 : Q + 4].copy()
        bodies[:-1, Q] = w - np.sum(half * xyz, axis=1)
        bodies[:-1, Q + 1 : Q + 4] = xyz + w[:, None] * half + np.cross(half, xyz)
        bodies[:-1, Q : Q + 4] /= np.linalg.norm(bodies[:-1, Q : Q + 4], axis=1)[:, None]
        phases.refresh_rotations(bodies)

    def place(self, values: dict[int, float], qaddr: np.ndarray, q: np.ndarray) -> bool:
        """Closes all joints with those of ``values`` held; returns whether that succeeded.

        ``q`` receives the coordinates.
        """
        mechanism, stepper = self.mechanism, self.stepper
        diagonal = stepper.arrays.diagonal
        diagonal[self._at] = FREE_COMPLIANCE
        for n, dof in enumerate(self._dofs.tolist()):
            if dof in values:
                diagonal[mechanism.row_ints[n, JOINT], mechanism.row_ints[n, ROW]] = 0.0
                mechanism.row_reals[n, TARGET] = values[dof]
        stepper.stats[:] = 0.0
        done = project_positions(
            stepper.mechanism_arrays, stepper.pattern, stepper.workspace, stepper.scratch,
            mechanism.row_ints, mechanism.row_reals, 1e-13, 50, stepper.stats,
        )  # fmt: skip
        now, speeds = q.copy(), np.zeros(self.world.nv)
        self._read(now, speeds)
        held = all(abs(now[qaddr[dof]] - value) <= EQUAL for dof, value in values.items())
        q[:] = now
        return held and (done == phases.DONE or bool(stepper.stats[phases.GAP] <= self.gap))

    def move(self, speeds: dict[int, float], qaddr: np.ndarray, q: np.ndarray) -> bool:
        """Removes velocities that open joints, keeping the velocities of the held joints."""
        mechanism, stepper = self.mechanism, self.stepper
        here = {dof: float(q[qaddr[dof]]) for dof in speeds}
        if not self.place(here, qaddr, q):
            return False
        for n, dof in enumerate(self._dofs.tolist()):
            mechanism.row_reals[n, RATE] = speeds.get(dof, 0.0)
        for _ in range(3):
            stepper.project_velocities(1.0)
        found = np.zeros(self.world.nv)
        self._read(q.copy(), found)
        scale = max(1.0, *(abs(speed) for speed in speeds.values()))
        kept = all(abs(found[dof] - speed) <= EQUAL * scale for dof, speed in speeds.items())
        return (
            kept
            and largest_constraint_velocity(
                mechanism.bodies, mechanism.joint_ints, stepper.arrays.jacobian
            )
            <= EQUAL * scale
        )

    def _read(self, q: np.ndarray, v: np.ndarray) -> None:
        """Fills coordinates, in the branch of the given ones, and velocities."""
        mechanism, stepper = self.mechanism, self.stepper
        write_coordinates(
            stepper.mechanism_arrays, stepper.scratch, mechanism.tree, mechanism.row_ints[:0],
            mechanism.row_reals[:0], 0.0, q, v,
        )  # fmt: skip

    def give(self, mechanism: Mechanism) -> None:
        """Copies the poses and velocities of the bodies to the mechanism itself."""
        mechanism.bodies[:-1, BODY_STATE] = self.mechanism.bodies[:-1, BODY_STATE]
        mechanism.joint_reals[:] = self.mechanism.joint_reals
        phases.refresh_rotations(mechanism.bodies)


#: Given values that change by more than this [rad or m] are reported one by one.
_LARGE = 0.02


@dataclass
class InitialAssembly:
    """Closes a mechanism from its initial pose.

    Attributes:
        world, builder, params, mechanism: The mechanism.
        dofs: The degrees of freedom of the engine.
        qaddr: Coordinate of each degree of freedom.
        prescribed: Those that follow targets exactly.
        q, v: The given coordinates and velocities.
        first: Whether a run begins, as opposed to continuing after an edit.
    """

    world: World
    builder: MechanismBuilder
    params: ImpulseParams
    mechanism: Mechanism
    dofs: np.ndarray
    qaddr: np.ndarray
    prescribed: list[int]
    q: np.ndarray
    v: np.ndarray
    first: bool

    def close(
        self, plain: Callable[[], None], read: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> None:
        """Closes all joints, keeping the given values if possible.

        Args:
            plain: Closes all joints with the least mass-weighted displacement, and removes
                velocities that open them.
            read: Returns the coordinates and velocities of the bodies.

        Raises:
            EngineError: If a joint stays out of its range.
        """
        world, mechanism = self.world, self.mechanism
        singles = single_dofs(world, self.dofs)
        constrained = bool(
            (mechanism.loops >= 0).any() or (mechanism.joint_ints[:, KIND] == COUPLING).any()
        )
        mine = set(singles.tolist())
        self._tiers = dofs_to_keep(
            world, mine, set(self.builder.driven) & mine, self.prescribed, self.first
        )
        self._speeds = {int(d): float(self.v[d]) for d in singles if self.first and self.v[d]}
        self._ends = out_of_range(world, singles, self.q[self.qaddr[singles]])
        start_bodies, joint_reals = mechanism.bodies.copy(), mechanism.joint_reals.copy()
        plain()
        q, v = read()
        self._ends |= out_of_range(world, singles, q[self.qaddr[singles]])
        changed = bool(self._ends) or (constrained and not self._kept(q))
        if changed:
            self._place(start_bodies, joint_reals, singles, constrained)
            q, v = read()
        if constrained and not self._goes(v):
            mechanism.bodies[:, V : L + 3] = start_bodies[:, V : L + 3]
            self._move(q)
            changed = True
        if changed:
            plain()

    def _goes(self, v: np.ndarray) -> bool:
        return all(abs(v[d] - s) <= EQUAL * max(1.0, abs(s)) for d, s in self._speeds.items())

    def _kept(self, q: np.ndarray) -> bool:
        dofs = self._tiers[0] if self._tiers else ()
        return all(abs(q[self.qaddr[d]] - self.q[self.qaddr[d]]) <= EQUAL for d in dofs)

    def _place(
        self,
        start_bodies: np.ndarray,
        joint_reals: np.ndarray,
        singles: np.ndarray,
        constrained: bool,
    ) -> None:
        """Closes the joints with as many given values kept as possible."""
        world, mechanism = self.world, self.mechanism
        closed = mechanism.bodies.copy(), mechanism.joint_reals.copy()
        mechanism.bodies[:], mechanism.joint_reals[:] = start_bodies, joint_reals
        all_dofs = [] if constrained else [set(singles.tolist())]
        for tier in [*all_dofs, *self._tiers, *([set()] if self._ends else [])]:
            ends, perturbed = dict(self._ends), False
            for _ in range(4):
                values = {d: float(self.q[self.qaddr[d]]) for d in tier} | ends
                holder = AssemblySolver(world, self.builder, self.params, mechanism, sorted(values))
                q = self.q.copy()
                if perturbed:
                    holder.perturb()
                if not holder.place(values, self.qaddr, q):
                    if perturbed:
                        break
                    perturbed = True
                    continue
                newly_out = out_of_range(world, singles, q[self.qaddr[singles]])
                if not newly_out:
                    holder.give(mechanism)
                    return
                ends |= newly_out
        mechanism.bodies[:], mechanism.joint_reals[:] = closed
        for dof, end in self._ends.items():
            self._refuse(dof, end)

    def _refuse(self, dof: int, end: float) -> None:
        world = self.world
        unit = "rad" if world.dof_is_angle(dof) else "m"
        place, lo, hi = (
            format_value(float(x), unit)
            for x in (self.q[self.qaddr[dof]], world.dof_lo[dof], world.dof_hi[dof])
        )
        joint = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
        raise EngineError(
            f"{world.dof_name(dof)} is at {place}, out of its range {lo} to {hi}, and with it "
            f"at {format_value(end, unit)} the joints around it cannot be closed.",
            origin=world.joints[joint].origin,
            hint="Give it a value within its range, and the others consistent values.",
        )

    def _move(self, q: np.ndarray) -> None:
        """Sets the given velocities of bodies, if joints can stay closed with them."""
        mechanism, speeds = self.mechanism, self._speeds
        still = {d: 0.0 for d in self.prescribed if d not in speeds}
        for wanted in (speeds | still, speeds):
            holder = AssemblySolver(
                self.world, self.builder, self.params, mechanism, sorted(wanted)
            )
            if holder.move(wanted, self.qaddr, q.copy()):
                holder.give(mechanism)
                return

    def notes(self, q: np.ndarray, v: np.ndarray) -> list[Finding]:
        """Returns notes about given values that the initial state ``q``, ``v`` does not have."""
        found: list[Finding] = []
        named: set[int] = set().union(*self._tiers[1:])
        for dof in sorted(named.union(self._ends, *self._tiers[:1])):
            now, given = float(q[self.qaddr[dof]]), float(self.q[self.qaddr[dof]])
            threshold = 1e-6 if dof in named or dof in self._ends else _LARGE
            if abs(now - given) > threshold:
                why = "the limit of its range" if dof in self._ends else "to close all joints"
                found.append(self._note(dof, now, given, "", why))
        for dof, given in self._speeds.items():
            if abs(v[dof] - given) > 1e-6 * max(1.0, abs(given)):
                why = "because joints would open otherwise"
                found.append(self._note(dof, float(v[dof]), given, "/s", why))
        return found

    def _note(self, dof: int, now: float, given: float, per: str, why: str) -> Finding:
        world = self.world
        unit = ("rad" if world.dof_is_angle(dof) else "m") + per
        joint = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
        text = f"starts at {format_value(now, unit)} instead of {format_value(given, unit)}, {why}."
        return Finding("note", world.dof_name(dof), text, world.joints[joint].origin)


def displacements(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the displacements of the centers of mass [m] and the rotation angles [rad] of bodies.

    Args:
        before: Position and attitude of each body in its first columns (n×7 or more).
        after: The same later.
    """
    moved = np.linalg.norm(after[:, :3] - before[:, :3], axis=1)
    one, two = before[:, 3:7], after[:, 3:7]
    # |a − b| and |a + b| are 2 sin and 2 cos of a quarter of the angle, or vice versa
    apart, along = np.linalg.norm(two - one, axis=1), np.linalg.norm(two + one, axis=1)
    return moved, 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
