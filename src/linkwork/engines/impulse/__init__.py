"""The impulse engine: joints and loops held to a stated tolerance."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from linkwork.core.errors import EngineError, listing
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.common import coordinate_of_dof, energy_arrays, owned_loops
from linkwork.engines.common.kernels import (
    add_energies,
    follow_speeds,
    follow_targets,
    grab_forces,
    loop_state,
    spring_state,
)
from linkwork.engines.constraint_report import ConstraintAccuracy, LoopMobility
from linkwork.engines.impulse import constraint_kernels as phases
from linkwork.engines.impulse import report_kernels as reports
from linkwork.engines.impulse.adams import non_ideal_joints
from linkwork.engines.impulse.assembly import InitialAssembly, displacements
from linkwork.engines.impulse.builder import MechanismBuilder
from linkwork.engines.impulse.coordinate_kernels import (
    read_poses,
    write_coordinates,
    write_poses,
    write_quaternions,
)
from linkwork.engines.impulse.findings import (
    assembly_findings,
    gap_text,
    joint_findings,
    limitations,
    origin_of,
)
from linkwork.engines.impulse.frames import nearest_curve_position
from linkwork.engines.impulse.joint_law_kernels import (
    DAMPING,
    DISPLACEMENT,
    DOF,
    FREE_COMPLIANCE,
    FRICTION,
    JOINT,
    PRESCRIBED,
    RATE,
    REST,
    ROW,
    ROW_MODE,
    STIFFNESS,
)  # fmt: skip
from linkwork.engines.impulse.mechanism import ARCS
from linkwork.engines.impulse.mobility import mobilities, shortest_loop_through
from linkwork.engines.impulse.projection_kernels import project_positions, write_efforts
from linkwork.engines.impulse.reactions import dof_values, joint_forces, reaction_signals
from linkwork.engines.impulse.report_kernels import (
    REACTION_COLUMNS,
    accumulate_accuracy,
    write_reactions,
)
from linkwork.engines.impulse.stepper import BODY_STATE, ROW_STATE, ImpulseParams, StepIntegrator
from linkwork.kinematics.kernels import BALL, forward_poses
from linkwork.model.blocks import SignalSpec, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

#: Column of the carried force in the row state.
_CARRIED = len(ROW_STATE) - 1


class Impulse(Engine):
    """Holds joints and loops by impulses, to a stated tolerance.

    Impulses before each step close every joint after the free motion of the step; impulses after it
    remove the velocities that would open joints.
    """

    type: ClassVar[str] = "impulse"

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, spec, name, owned)
        self.params = read_params(spec, ImpulseParams)
        self.prescribed = [world.single_dof(j, origin=spec.origin) for j in self.params.prescribed]
        self._loops = owned_loops(world, owned)
        self._dofs = self.owned_dofs
        self._qaddr = coordinate_of_dof(world)

    def check(self) -> list[Finding]:
        """Returns what this engine cannot do, or approximates, in this world."""
        found = super().check() + limitations(self.world, self.owned)
        if touching := self._colliding_parts(self.owned):
            text = "Impulse has no contacts: bodies pass through each other. Mujoco has contacts."
            found.append(Finding("approximated", listing(touching, most=4), text, self.spec.origin))
        return found

    def prepare(self, driven: list[int]) -> None:
        """Builds the arrays of the mechanism."""
        world = self.world
        poses = np.zeros((world.nb, 7))
        forward_poses(*world.tree, world.q0, poses)
        mine = [d for d in driven if self.owned[world.dof_body[d]]]
        self._builder = MechanismBuilder(world, self.owned, poses, self.prescribed, mine)
        self._lay_out()
        self.stepper.check(self.spec.origin)

    def _lay_out(self) -> None:
        self.mechanism = self._builder.build()
        self.stepper = StepIntegrator(self.world, self.mechanism, self.params, self._builder.poses)
        self._prepared_state = np.zeros(0)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """State of the bodies, last output, history of the last steps, accuracy.

        ``row_state`` has a row for each degree of freedom, then for each row of a spring; ``mass``
        and ``active_rows`` are those of the last step.
        """
        bodies, joints = len(self.mechanism.own), len(self.mechanism.joint_ints)
        return {
            "bodies": (bodies, 13),
            "last_output": (bodies, 13),
            **self.stepper.slots(),
            "curve_positions": (joints, 3),
            "row_state": (self.world.nv + len(self.mechanism.springs), len(ROW_STATE)),
            "mass": (bodies,),
            "active_rows": (self.world.nv,),
            "accuracy": (reports.ACCURACY_COLUMNS,),
            "reactions": (joints, REACTION_COLUMNS),
        }

    def signals(self) -> list[SignalSpec]:
        """``<joint>.force``, ``_x``, ``_y``, ``_z`` and ``<joint>.moment``."""
        return [*super().signals(), *reaction_signals(self.mechanism, self.field("reactions"))]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._body_state, self._last_output = self.slot("bodies"), self.slot("last_output")
        self._curve_positions, self._row_state = (
            self.slot("curve_positions"),
            self.slot("row_state"),
        )
        self._accuracy, self._reactions = self.slot("accuracy"), self.slot("reactions")
        self._wrench = np.zeros((len(self.mechanism.own) + 1, 6))
        self._q_next, self._v_next = state.q.copy(), state.v.copy()
        self._speed_driven = self.speed_driven(self.prescribed)
        turning = set(self._speed_driven.tolist())
        self._position_driven = np.array([d for d in self.prescribed if d not in turning], np.int64)
        fields = [
            state.layout.fields[self.field(slot.removeprefix("int:"))] for slot in self.slots()
        ]
        self._memory = state.data[fields[0].offset : fields[-1].offset + fields[-1].size]
        self._saved_memory: np.ndarray | None = None
        self._grabs = np.zeros((self.world.nb, 6))
        self._each_dof = np.arange(self.world.nv)
        self._grab_active = False
        world, report = self.world, state.report
        kind, body, _pose, axis, substeps, track = world.loop_arrays
        self._loop_arrays = kind, body, self._builder.loop_pose, axis, substeps, track
        self._springs = np.unique(self.mechanism.springs[:, 1])
        self._spring_arrays = (
            self._springs, *world.spring_arrays, state["param/spring"], state.pose, state.twist,
            world.com, report.spring,
        )  # fmt: skip
        self._drive = np.zeros(
            (5, world.nv + 1)
        )  # the last column is for springs, which have no drive
        self._drive[3, -1], self._drive[4, -1] = -np.inf, np.inf
        self._bind_rows()
        self._energies = energy_arrays(state, world, self.mechanism.own, self._dofs)

    def _bind_rows(self) -> None:
        """Binds the arrays that depend on which degrees of freedom have force laws."""
        rows = np.flatnonzero(self.mechanism.row_ints[:, ROW_MODE] == PRESCRIBED)
        self._prescribed_rows = np.column_stack([rows, self.mechanism.row_ints[rows, DOF]])
        bodies = np.unique(self.world.dof_body[self.mechanism.row_ints[: self.mechanism.laws, DOF]])
        self._balls = bodies[self.world.kind[bodies] == BALL]
        memory = {name: self.slot(name.rpartition(":")[2]) for name in self.stepper.slots()}
        self.stepper.bind(
            memory, self._body_state, self._curve_positions, self._row_state, self._drive,
            self._wrench,
        )  # fmt: skip
        self._changed = True

    def _save_memory(self) -> None:
        """Saves the engine's memory before it is adapted to outside changes."""
        if self._saved_memory is None:
            self._saved_memory = self._memory.copy()

    def reset(self) -> None:  # noqa: D102
        self.stepper.reset()
        self._last_output[:] = np.nan
        self._row_state[:] = 0.0
        self._accuracy[:] = 0.0
        self._reactions[:] = 0.0
        self.slot("mass")[:] = self.state["param/mass"][self.mechanism.own]
        self.slot("active_rows")[:] = 0.0
        self._prepared_state = np.zeros(0)

    def carry(self, before: Engine, dofs: list[tuple[int, int]]) -> None:  # noqa: D102
        if isinstance(before, Impulse):
            for there, here in dofs:
                self._row_state[here, _CARRIED] += before._row_state[there, _CARRIED]

    def assemble(self) -> list[Finding]:
        """Closes joints and loops that the scene leaves slightly open, and notes by how much."""
        mechanism = self.mechanism
        if not len(mechanism.joint_ints):
            return []
        self._read_bodies()
        before = mechanism.bodies[:-1, BODY_STATE].copy()
        self.stepper.stats[:] = 0.0
        start = InitialAssembly(
            self.world, self._builder, self.params, mechanism, self._dofs, self._qaddr,
            self.prescribed, self.state.q.copy(), self.state.v.copy(), self.state.step == 0,
        )  # fmt: skip
        start.close(self._close, self._read)
        moved, turned = displacements(before, mechanism.bodies[:-1, BODY_STATE])
        self._write_bodies(1.0, 0.0)
        self._after_closing()
        return [
            *assembly_findings(self.world, mechanism, moved, turned, self.spec.origin),
            *start.notes(self.state.q, self.state.v),
            *joint_findings(
                self.world,
                mechanism,
                self._builder.flipped_loops,
                int(self.stepper.stats[phases.REDUNDANT]),
            ),
        ]

    def _read(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns coordinates and velocities of the bodies, without ball and free joints."""
        q, v = self.state.q.copy(), self.state.v.copy()
        mechanism, stepper = self.mechanism, self.stepper
        write_coordinates(
            stepper.mechanism_arrays, stepper.scratch, mechanism.tree, mechanism.row_ints[:0],
            mechanism.row_reals[:0], 0.0, q, v,
        )  # fmt: skip
        return q, v

    def _close(self) -> None:
        """Closes all joints, and removes velocities that open them."""
        mechanism, stepper, stats = self.mechanism, self.stepper, self.stepper.stats
        diagonal = stepper.arrays.diagonal
        diagonal[mechanism.row_ints[:, JOINT], mechanism.row_ints[:, ROW]] = (
            FREE_COMPLIANCE  # free to move
        )
        found = project_positions(
            stepper.mechanism_arrays, stepper.pattern, stepper.workspace, stepper.scratch,
            mechanism.row_ints, mechanism.row_reals, 1e-13, 50, stats,
        )  # fmt: skip
        if found != phases.DONE and not stats[phases.GAP] <= self.params.gap:
            joint = int(stats[phases.GAP_JOINT])
            name, *others = shortest_loop_through(mechanism, joint)
            around = f", in a loop with {listing(others, most=20)}" if others else ""
            raise EngineError(
                f"{name} cannot be closed: it stays open by "
                f"{gap_text(mechanism, joint, stepper.arrays.error)}{around}.",
                origin=origin_of(self.world, mechanism, [name, *others]) or self.spec.origin,
                hint="These joints form a loop and contradict each other, or the gap is too far "
                "open.",
            )
        stepper.project_velocities(1.0)

    def _after_closing(self) -> None:
        self.state.report.energy[:] = 0.0
        self.state.report.acceleration[self._dofs] = 0.0

    def params_changed(self) -> None:
        """Applies masses, friction, damping and gravity.

        Joint arrays are rebuilt if a degree of freedom gets damping or friction, or loses it.
        """
        state = self.state
        acting = (state["param/damping"] != 0.0) | (state["param/joint_friction"] != 0.0)
        acting &= self._builder.loose
        if not np.array_equal(acting, self._builder.acting):
            self._builder.acting[:] = acting
            self._lay_out()
            self._bind_rows()
        mechanism, mass = self.mechanism, state["param/mass"]
        self._builder.set_masses(mechanism.bodies, mass)
        share = mass[mechanism.own] / self.world.mass[mechanism.own]
        mechanism.principal_pose[:, 7:10] = self._builder.principal_pose[:, 7:10] * share[:, None]
        self.stepper.set_masses(mass)
        self._wrench[:-1, :3] = mass[mechanism.own, None] * state["param/gravity"]
        self._wrench[:-1, 3:] = 0.0
        if laws := mechanism.laws:
            dofs = mechanism.row_ints[:laws, DOF]
            mechanism.row_reals[:laws, DAMPING] = state["param/damping"][dofs]
            mechanism.row_reals[:laws, FRICTION] = state["param/joint_friction"][dofs]
        rows, springs = mechanism.springs.T
        law = state["param/spring"][springs]
        (
            mechanism.row_reals[rows, STIFFNESS],
            mechanism.row_reals[rows, REST],
            mechanism.row_reals[rows, DAMPING],
        ) = law.T
        self._grab_active = self.stepper.grabbed = bool(state["param/grab"][:, 0].any())
        self._prepared_state = np.zeros(0)
        self._changed = True

    def _apply_changes(self) -> None:
        """Adapts the memory of the last step to changed masses and rows.

        Velocities are kept, so that angular momenta are scaled with the masses.
        """
        state, mechanism = self.state, self.mechanism
        self.stepper.check(self.spec.origin)
        before, mass = self.slot("mass"), state["param/mass"][mechanism.own]
        acted, acting = self.slot("active_rows"), self._builder.acting
        if not np.array_equal(before, mass):
            self._save_memory()
            self._body_state[:, -3:] *= (mass / before)[:, None]
            before[:] = mass
            self.stepper.clear_history()
        if not np.array_equal(acted, acting):
            self._save_memory()
            for dof in np.flatnonzero(acted != acting):
                self._row_state[dof] = 0.0
                self._row_state[dof, 0] = state.q[self._qaddr[dof]]
            acted[:] = acting
            self.stepper.clear_history()
        self._changed = False

    def _read_bodies(self) -> bool:
        """Reads the bodies from the state; returns whether the workspace holds their rows and K."""
        if self._changed:
            self._apply_changes()
        state, mechanism = self.state, self.mechanism
        own, bodies = mechanism.own, mechanism.bodies
        now = np.concatenate([state.pose[own], state.twist[own]], axis=1)
        if not np.array_equal(now, self._last_output):
            self._save_memory()
            read_poses(own, mechanism.principal_pose, state.pose, state.twist, bodies)
            self._body_state[:] = bodies[:-1, BODY_STATE]
            self.stepper.clear_history()
            self._read_curve_positions()
            self._row_state[:, 1:_CARRIED] = 0.0
            if not np.isnan(
                self._last_output
            ).any():  # bodies with carried impulses were moved from outside
                self._row_state[:, _CARRIED] = 0.0
            self._row_state[: self.world.nv, 0] = state.q[self._qaddr]
            self._row_state[self.world.nv :, 0] = state.report.spring[mechanism.springs[:, 1], 0]
            self._prepared_state = np.zeros(0)
        mechanism.joint_reals[:, ARCS] = self._curve_positions
        if len(mechanism.row_reals):
            mechanism.row_reals[:, ROW_STATE] = self._row_state[mechanism.row_slots]
            mechanism.row_reals[:, DISPLACEMENT] = 0.0
        if self._prepared_state.shape == self._body_state.shape and np.array_equal(
            self._prepared_state, self._body_state
        ):
            return True
        read_poses(own, mechanism.principal_pose, state.pose, state.twist, bodies)
        bodies[:-1, BODY_STATE] = self._body_state
        phases.refresh_rotations(bodies)
        return False

    def _read_curve_positions(self) -> None:
        """Sets arc lengths and screw angles from the coordinates."""
        self._curve_positions[:] = self.mechanism.joint_reals[:, ARCS]
        for n, a, _ in self.mechanism.tree:
            self._curve_positions[n, 0] = self.state.q[a]
        for n, end, a in self.mechanism.coupled:
            self._curve_positions[n, 1 + end] = self.state.q[a]
        for n, loop in self.mechanism.curves:
            self._curve_positions[n, 0] = nearest_curve_position(
                self.world, int(loop), self.state.pose
            )

    def advance(self, h: float) -> None:  # noqa: D102
        self._saved_memory = None
        fresh = self._read_bodies()
        if self._grab_active:
            self._apply_grabs()
        self._drive[:, :-1] = self.state.drive
        if self.prescribed:
            self._prescribe(h)
        self._prepared_state = np.zeros(0)
        self.stepper.enter(self.state.q, self.state.v)
        try:
            speed, substeps = self.stepper.take(h, fresh, self.state.step * h)
        except EngineError:
            if self._saved_memory is not None:
                self._memory[:], self._changed = self._saved_memory, True
            raise
        accumulate_accuracy(
            self.stepper.stats, speed, substeps, self.params.gap, self.params.speed_gap,
            self.state.step + 1, self._accuracy,
        )  # fmt: skip
        self._write_bodies(h, h)

    def joint_forces(self) -> np.ndarray:  # noqa: D102
        if not self.stepper.substep or not np.array_equal(self._prepared_state, self._body_state):
            return super().joint_forces()  # the present state is not the result of a step
        impulses, substep = self.stepper.impulses(), self.stepper.substep
        return joint_forces(
            self.world, self.mechanism, self.stepper.arrays.jacobian, impulses, substep
        )

    def mobilities(self) -> list[LoopMobility]:  # noqa: D102
        return mobilities(self.mechanism, self.stepper.arrays.jacobian)

    def accuracy(self) -> ConstraintAccuracy | None:
        """Returns the largest constraint errors since the start."""
        accuracy = self._accuracy
        return ConstraintAccuracy(
            engine=self.type,
            steps=int(accuracy[reports.STEPS]),
            gap=float(accuracy[reports.LARGEST_GAP]),
            joint=self.mechanism.names[int(accuracy[reports.JOINT])]
            if self.mechanism.names
            else "",
            step=int(accuracy[reports.STEP]),
            speed_gap=float(accuracy[reports.LARGEST_SPEED_GAP]),
            allowed=(self.params.gap, self.params.speed_gap),
            iterations=int(accuracy[reports.ALL_ITERATIONS]),
            halved=int(accuracy[reports.HALVED]),
            substeps=int(accuracy[reports.SUBSTEPS]),
            exceeded=int(accuracy[reports.EXCEEDED]),
            alone=self.params.solver == "anytime",
            rough=math.sqrt(accuracy[reports.ROUGHNESS] / (accuracy[reports.KINETIC_SUM] or 1.0)),
            smooth=not non_ideal_joints(self.mechanism),
            reduced=int(accuracy[reports.REDUCED_STEPS]),
            unresolved=int(accuracy[reports.UNRESOLVED_STEPS]),
            spring=self.mechanism.names[int(accuracy[reports.OSCILLATING_JOINT])]
            if accuracy[reports.HIGHEST_FREQUENCY]
            else "",
            stopped=int(accuracy[reports.STOPPED_STEPS]),
            direct=int(accuracy[reports.DIRECT_STEPS]),
            removed=(
                float(accuracy[reports.REMOVED_SUM]),
                float(accuracy[reports.LARGEST_ENERGY]),
            ),
            resolving=(
                int(accuracy[reports.RESOLVING_STEPS]),
                int(accuracy[reports.RESOLVING_SUBSTEPS]),
            ),
            frequency=float(accuracy[reports.HIGHEST_FREQUENCY]) / (2.0 * math.pi),
            oscillation=accuracy[reports.MOTION_SUM] / (accuracy[reports.SPRING_SUM] or 1.0),
        )

    def _apply_grabs(self) -> None:
        state, own = self.state, self.mechanism.own
        self._grabs[:] = 0.0
        grab_forces(
            state["param/grab"], state.pose, state.twist, self.world.com, self.owned, self._grabs
        )
        mass = state["param/mass"]
        self._wrench[:-1, :3] = mass[own, None] * state["param/gravity"] + self._grabs[own, :3]
        self._wrench[:-1, 3:] = self._grabs[own, 3:]

    def _prescribe(self, h: float) -> None:
        """Sets the velocities of prescribed joints for the step."""
        state, world = self.state, self.world
        limits = world.dof_lo, world.dof_hi, h, self._q_next, self._v_next
        follow_targets(
            self._position_driven, self._qaddr, state.q, state.target, state.target_speed, *limits
        )
        follow_speeds(
            self._speed_driven, self._qaddr, state.q, state.target_speed, world.dof_speed, *limits
        )
        rows, dofs = self._prescribed_rows.T
        at = self._qaddr[dofs]
        self.mechanism.row_reals[rows, RATE] = (self._q_next[at] - state.q[at]) / h

    def _write_bodies(self, h: float, passed: float) -> None:
        """Writes state and report of a step of length ``h``, ``passed`` after the old state."""
        state, mechanism, world = self.state, self.mechanism, self.world
        bodies = mechanism.bodies
        write_poses(mechanism.own, mechanism.principal_pose, bodies, state.pose, state.twist)
        before = state.v[self._dofs].copy()
        laws = mechanism.laws
        rows, row_reals = mechanism.row_ints[:laws], mechanism.row_reals[:laws]
        write_coordinates(
            self.stepper.mechanism_arrays, self.stepper.scratch, mechanism.tree, rows, row_reals,
            passed, state.q, state.v,
        )  # fmt: skip
        if len(mechanism.turning):
            write_quaternions(
                mechanism.turning, world.tree[0], world.tree[1], state.pose, state.twist, world.com,
                state.q, state.v,
            )  # fmt: skip
        state.report.acceleration[self._dofs] = (state.v[self._dofs] - before) / h
        state.report.effort[self._dofs] = 0.0
        if laws:
            substep = self.stepper.substep or h
            write_efforts(
                self.stepper.workspace, rows, row_reals, self._drive, self._each_dof,
                dof_values(world, self._qaddr, state.q, self._balls), state.v, substep,
                state.report.effort,
            )  # fmt: skip
        if self.stepper.substep:
            write_reactions(
                bodies, mechanism.joint_ints, mechanism.joint_reals, self.stepper.arrays.jacobian,
                self.stepper.impulses(), self.stepper.substep, self._reactions,
            )  # fmt: skip
        self._body_state[:] = bodies[:-1, BODY_STATE]
        own = mechanism.own
        self._last_output[:, :7], self._last_output[:, 7:] = state.pose[own], state.twist[own]
        self._curve_positions[:] = mechanism.joint_reals[:, ARCS]
        if len(mechanism.row_reals):
            now = mechanism.row_reals[:, ROW_STATE]
            now[:, 0] += mechanism.row_reals[:, DISPLACEMENT]
            self._row_state[mechanism.row_slots] = now
        self._prepared_state = self._body_state.copy()
        if len(self._loops):
            self.note_gap(loop_state(
                self._loops, *self._loop_arrays, state.pose, state.loop_q, state["loop_turns"],
            ))  # fmt: skip
        add_energies(*self._energies)
        if len(self._springs):
            state.report.energy[1] += spring_state(*self._spring_arrays)


__all__ = ["Impulse"]
