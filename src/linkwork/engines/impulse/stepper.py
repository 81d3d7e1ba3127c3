"""Time stepping of the impulse engine, with its parameters."""

from __future__ import annotations

import math
from typing import Annotated, Literal, NoReturn

import msgspec
import numpy as np

from linkwork.core.errors import EngineError, Origin, listing
from linkwork.engines.impulse import constraint_kernels as phases
from linkwork.engines.impulse.adams import TreeCoordinates, adams_weights, non_ideal_joints
from linkwork.engines.impulse.adams_kernels import adams_step
from linkwork.engines.impulse.anytime_kernels import sequential_step
from linkwork.engines.impulse.body_kernels import XN, L, Q, V, X
from linkwork.engines.impulse.energy_kernels import drifts_in_energy, save_step_start
from linkwork.engines.impulse.findings import closing_hint, gap_text
from linkwork.engines.impulse.force_kernels import (
    RATE_COLUMNS,
    STATE_COLUMNS,
    constrained_acceleration,
)
from linkwork.engines.impulse.joint_law_kernels import (
    CARRIED_FORCE,
    DISPLACEMENT,
    DRIVE,
    Q0,
    SLIP,
    STOP,
)
from linkwork.engines.impulse.mechanism import (
    ARCS,
    Mechanism,
    make_scratch,
    make_workspace,
    shortest_body,
)
from linkwork.engines.impulse.mobility import shortest_loop_through
from linkwork.engines.impulse.projection_kernels import (
    project_positions_near,
    project_velocities,
)
from linkwork.engines.impulse.report_kernels import largest_constraint_velocity
from linkwork.engines.impulse.spring_resolution import (
    MAX_ENERGY_DRIFT,
    MAX_ENERGY_DRIFT_ORDER_2,
    SpringResolution,
)
from linkwork.engines.impulse.step_kernels import extrapolated_step
from linkwork.engines.impulse.tree_projection_kernels import write_bodies
from linkwork.model.world import World

Tolerance = Annotated[float, msgspec.Meta(gt=0.0, le=0.1)]
#: Rounding error of a mechanism of one meter [m].
LEAST_GAP = 1e-14
Gap = Annotated[float, msgspec.Meta(ge=LEAST_GAP, le=0.1)]


class ImpulseParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``Impulse``.

    Attributes:
        owns: Parts that it moves; all remaining ones if absent.
        gap: Largest allowed gap of a joint or loop after a step [m or rad].
        speed_gap: Largest allowed velocity of a gap [m/s or rad/s].
        order: Order of the time integration; 5 with forces only. The anytime solver has order 2.
        method: "impulses" at the ends of steps with free motion between, or "forces" throughout,
            for mechanisms of ideal joints and orders from 4 on.
        prediction_tolerance: With forces, largest allowed prediction error of bodies or joints [m
            or rad] before a step is subdivided; a corrector removes most of it.
        solver: All impulses at once ("direct"), or joint by joint ("anytime").
        max_iterations: Iterations after which a step counts as not closed; with the anytime solver,
            maximum number of sweeps.
        on_gap: Treatment of a step that does not close: "halve" subdivides it, "stop" ends the run.
        prescribed: Joints that follow their targets exactly.
    """

    owns: list[str] | None = None
    gap: Gap = 1e-10
    speed_gap: Tolerance = 1e-9
    order: Literal[2, 4, 5, 6] = 4
    method: Literal["impulses", "forces"] = "impulses"
    prediction_tolerance: Tolerance = 1e-4
    solver: Literal["direct", "anytime"] = "direct"
    max_iterations: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50
    on_gap: Literal["halve", "stop"] = "halve"
    prescribed: list[str] = []


#: Maximum number of substeps of a step.
_MAX_SUBSTEPS = 1024
#: Maximum number of iterations if the anytime solver solves a step directly.
_DIRECT_ITERATIONS = 50
#: Maximum number of velocity projections after a step.
_MAX_VELOCITY_PROJECTIONS = 6
#: Share of the gap allowed for a single row: three of them form a distance.
ROW_SHARE_OF_GAP = 0.57
#: Largest gap that the anytime solver leaves: relative to the shortest body, and as an angle [rad].
_MOST_OPEN, _MOST_OPEN_ANGLE = 0.04, 0.07
#: Columns of a body that form its state.
BODY_STATE = np.r_[X : X + 3, Q : Q + 4, V : V + 3, L : L + 3]
#: Columns of a soft row that are its state.
ROW_STATE = np.array([Q0, DRIVE, SLIP, STOP, CARRIED_FORCE])


class StepIntegrator:
    """Takes steps of a mechanism.

    Attributes:
        mechanism_arrays, pattern, workspace, scratch: Kernel tuples, see ``constraint_kernels``.
        arrays: The workspace by name.
        tree: Tree coordinates, which the method "forces" uses where they are cheaper.
        stats: Statistics of the last step.
        substep: Time over which impulses were last summed [s]; 0 before any step.
        grabbed: Whether bodies are grabbed.
    """

    def __init__(
        self, world: World, mechanism: Mechanism, params: ImpulseParams, poses: np.ndarray
    ) -> None:  # fmt: skip
        self.mechanism, self.params = mechanism, params
        pattern = mechanism.pattern
        self.pattern = (
            pattern.columns, pattern.row_of, pattern.updates, pattern.update_of, pattern.pairs
        )  # fmt: skip
        self.mechanism_arrays = (
            mechanism.bodies,
            mechanism.joint_ints,
            mechanism.joint_reals,
            mechanism.rail,
        )
        self.arrays, self.scratch = make_workspace(mechanism), make_scratch()
        # kernels take plain tuples: a NamedTuple costs three times as much per call
        self.workspace = tuple(self.arrays)
        self.stats = np.zeros(phases.STEP_STATS_COLUMNS)
        self.mean = np.zeros((len(mechanism.bodies), 12))
        self.start = mechanism.row_reals.copy()
        self.store = (
            *(
                each.copy()
                for each in (
                    self.arrays.jacobian,
                    self.arrays.delassus,
                    self.arrays.factor,
                    self.arrays.diagonal,
                    self.arrays.pivot,
                )
            ),
            mechanism.joint_reals[:, ARCS].copy(),
        )  # fmt: skip
        self.substep, self.grabbed = 0.0, False
        self._most_open = max(params.gap, _MOST_OPEN * shortest_body(mechanism)), _MOST_OPEN_ANGLE
        self._by_forces, self._sequential = params.method == "forces", params.solver == "anytime"
        single_step = self._by_forces or self._sequential
        self._substeps = 1 if single_step else params.order // 2
        kernel_tuples = self.mechanism_arrays, self.pattern, self.workspace, self.scratch
        self.springs = SpringResolution(mechanism, params, kernel_tuples, self._substeps)
        self._row_gap = ROW_SHARE_OF_GAP * params.gap
        if not self._by_forces:
            least = (1e-4 if params.order == 2 else 1e-5) * world.scene.step**2
            self._row_gap = min(self._row_gap, max(least, 0.5 * LEAST_GAP))
        self._max_energy_drift = 0.0
        if not non_ideal_joints(mechanism):
            self._max_energy_drift = (
                MAX_ENERGY_DRIFT_ORDER_2 if params.order == 2 else MAX_ENERGY_DRIFT
            )
        self._rate_count = params.order - 1 if self._by_forces else 0
        alone = self._by_forces and not non_ideal_joints(mechanism)
        self.tree = TreeCoordinates(world, mechanism, poses, wanted=alone)
        bodies, joints = len(mechanism.own), len(self.tree.q) + len(self.tree.v)
        self.weights = adams_weights(params.order)
        self.work = np.zeros((8, joints or STATE_COLUMNS * bodies))
        self.rates = np.zeros((bodies + 1, RATE_COLUMNS))
        self._changes, self._unread_stats = np.zeros(STATE_COLUMNS * bodies), self.stats.copy()

    def check(self, origin: Origin | None) -> None:
        """Rejects inconsistent settings, and joints that the method "forces" does not support."""
        params, wrong = self.params, ""
        if self._by_forces and params.order == 2:
            wrong = 'method = "forces" has the orders 4, 5 and 6'
        elif self._by_forces and params.solver == "anytime":
            wrong = 'solver = "anytime" supports method = "impulses" only'
        elif params.solver == "anytime" and params.on_gap == "stop":
            wrong = 'on_gap = "stop" is for solver = "direct"; "anytime" always has a result'
        elif params.order == 5 and not self._by_forces:
            wrong = 'order = 5 is for method = "forces"; impulses have the orders 2, 4 and 6'
        if wrong:
            raise EngineError(f"{wrong}.", origin=origin)
        if self._by_forces and (names := non_ideal_joints(self.mechanism)):
            raise EngineError(
                f'method = "forces" supports ideal joints only: {listing(names, most=4)} has a '
                "force law (a drive, spring, friction or limit), or is a rail, curve or coupling.",
                origin=origin,
                hint='Remove "method": impulses support all joints.',
            )

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Returns the history of the last steps."""
        joints, bodies = len(self.mechanism.joint_ints), len(self.mechanism.own)
        return {
            "impulse_history": (3, 4, joints, 6),
            "int:history_length": (3,),
            **self.springs.slots(),
            "rates": (self._rate_count, self.work.shape[1]),
            "last_wrench": (bodies + 1 if self._by_forces else 0, 6),
        }

    def bind(
        self, memory: dict[str, np.ndarray], body_state: np.ndarray, curve_positions: np.ndarray,
        substeps: np.ndarray, drive: np.ndarray, wrench: np.ndarray,
    ) -> None:  # fmt: skip
        """Binds the slots of the state, the initial state of steps, and the forces."""
        self.history, self.history_length = memory["impulse_history"], memory["int:history_length"]
        self.springs.bind(memory, drive)
        self._rate_history, self._last_wrench = memory["rates"], memory["last_wrench"]
        self._body_state, self._curve_positions, self._row_state = (
            body_state,
            curve_positions,
            substeps,
        )
        self.drive, self.wrench = drive, wrench
        memory_of = (
            self.history[: self._substeps],
            self.history_length,
            self._rate_history,
            self._last_wrench,
            memory["energy_gain"],
        )
        self._saved_history = [(each, each.copy()) for each in memory_of if each.size]

    def clear_workspace(self) -> None:
        """Clears errors and impulses of a failed step, which may be NaN, and the history."""
        for each in (self.arrays.error, self.arrays.impulse, self.arrays.total):
            each[:] = 0.0
        self.history_length[:] = 0

    def clear_history(self) -> None:
        """Clears the history after a discontinuity."""
        self.history_length[:] = 0

    def reset(self) -> None:
        """Resets to the start of a run."""
        self.history[:] = 0.0
        self._rate_history[:] = 0.0
        self._last_wrench[:] = 0.0
        self.history_length[:] = 0
        self.springs.reset()
        self.substep = 0.0

    def set_masses(self, mass: np.ndarray) -> None:
        """Sets the masses of the world's bodies [kg] in the tree."""
        self.tree.set_masses(mass)

    def enter(self, q: np.ndarray, v: np.ndarray) -> None:
        """Sets joint coordinates and velocities."""
        if self.tree.used:
            self.tree.q[:], self.tree.v[:] = q, v

    def impulses(self) -> np.ndarray:
        """Returns the impulse of each row, summed over :attr:`substep`; J is in the workspace."""
        if self.tree.used and self.substep:
            constrained_acceleration(
                self.mechanism_arrays, self.pattern, self.workspace, self.scratch, self.wrench,
                self.rates, self._changes, self._unread_stats,
            )  # fmt: skip
            np.multiply(self.arrays.error, self.substep, out=self.arrays.impulse)
        return self.arrays.impulse

    def take(self, h: float, fresh: bool, now: float) -> tuple[float, int]:
        """Takes a step, subdivided if necessary; returns the largest gap velocity and the substeps.

        Raises:
            EngineError: If it cannot be taken; the history is unchanged.
        """
        self.stats[:] = 0.0
        for each, body_state in self._saved_history:
            np.copyto(body_state, each)
        self._from = self.tree.q.copy(), self.tree.v.copy()
        count, same = self.springs.plan(h, fresh, self.stats)
        if not same:  # the history is one of steps of another length
            self.history_length[:] = 0
        done, speed, measured = phases.DONE, math.inf, True
        for _ in range(count):
            done = self._step(h / count, fresh, share=1.0 / count, measured=measured)
            speed = self._project_velocities(h / count) if done == phases.DONE else math.inf
            fresh, measured = True, False
            if not speed < math.inf:
                return self._substep(h, now, done)
        self.substep = h / (count * self._substeps)
        self.stats[phases.SPRING_SUBSTEPS] = count
        return speed, 1

    def _step(
        self, h: float, fresh: bool, *, share: float = 1.0, measured: bool = False
    ) -> int:  # fmt: skip
        """Takes a step, or a share of one, with that share of the allowed energy change.

        ``measured`` if its springs have been.
        """
        springs, last = self.springs, share * _MAX_SUBSTEPS <= 1.0
        if not springs.active:
            return self._bare_step(h, fresh, share, reduced=False, unresolved=False)
        if not measured:
            springs.measure(h, fresh, self.stats)
        reduced, unresolved = springs.choose(h, self.stats)
        balanced = springs.balanced and not self.grabbed  # the work of a grab is unknown
        if balanced:
            springs.begin()
        done = self._bare_step(h, True, share, reduced=reduced, unresolved=unresolved)
        if done == phases.DONE and unresolved and self._sequential:
            springs.note_motion(self.stats)
        if done != phases.DONE or not balanced:
            return done
        order_2 = reduced or self._substeps == 1
        fine = springs.end(self.wrench, h, share, last, order_2, unresolved, self.stats)
        return phases.DONE if fine else phases.TOO_COARSE

    def _bare_step(
        self, h: float, fresh: bool, share: float, *, reduced: bool, unresolved: bool
    ) -> int:  # fmt: skip
        """Takes a step with the kernel of the method."""
        mechanism, params = self.mechanism, self.params
        # the work of a grab is unknown; the finest substep is accepted
        max_energy_drift = (
            0.0 if share * _MAX_SUBSTEPS <= 1.0 or self.grabbed else share * self._max_energy_drift
        )
        self.stats[phases.EVENTS], self._energy_drifted = 0.0, False
        if self._by_forces:
            if not np.array_equal(
                self._last_wrench, self.wrench
            ):  # not smooth: the history does not apply
                self._last_wrench[:] = self.wrench
                self.history_length[:] = 0
            tree = self.tree
            save_step_start(mechanism.bodies)
            done, self._opening = adams_step(
                self.mechanism_arrays, self.pattern, self.workspace, self.scratch, tree.arrays,
                tree.tree_workspace, self.wrench, self._rate_history, self.history_length,
                self.weights, self.work, self.rates, tree.q, tree.v, h, self._row_gap,
                ROW_SHARE_OF_GAP * params.speed_gap, params.prediction_tolerance,
                params.max_iterations, self.stats,
            )  # fmt: skip
            if tree.used and done == phases.DONE:
                write_bodies(
                    self.mechanism_arrays, tree.arrays, tree.tree_workspace, tree.q, tree.v
                )
            if (
                done == phases.DONE
                and max_energy_drift
                and drifts_in_energy(mechanism.bodies, self.wrench, h, max_energy_drift)
            ):
                self.history_length[:], self._energy_drifted = 0, True
                return phases.TOO_COARSE
            return done
        if self._sequential:
            return self._sequential_step(h, unresolved)
        return extrapolated_step(
            self.mechanism_arrays, self.pattern, self.workspace, self.scratch, mechanism.row_ints,
            mechanism.row_reals, self.drive, self.wrench, self.history, self.history_length,
            self.mean, self.start, self.store, h, params.order, self._row_gap,
            params.max_iterations, max_energy_drift, reduced, fresh, self.stats,
        )  # fmt: skip

    def _sequential_step(self, h: float, unresolved: bool) -> int:
        """Takes a step joint by joint; a driven mechanism that it would stop is solved directly."""
        mechanism, params = self.mechanism, self.params
        driven = bool(self.drive[:3].any())
        start, gain = self._save() if driven else (), self.springs.islands[4].copy()
        gap = ROW_SHARE_OF_GAP * params.gap
        done = sequential_step(
            self.mechanism_arrays, self.pattern, self.workspace, self.scratch, mechanism.row_ints,
            mechanism.row_reals, self.drive, self.wrench, h, gap,
            ROW_SHARE_OF_GAP * params.speed_gap, params.max_iterations, self.springs.islands,
            self._most_open, unresolved, self.stats,
        )  # fmt: skip
        if done == phases.DONE:
            self.springs.note_removed(self.stats)
        if done != phases.DONE or not driven or not self.stats[phases.STOPPED]:
            return done
        stopped = self._save()
        self._restore(start)
        self.springs.islands[4][:] = gain
        self.history_length[:] = 0
        direct = extrapolated_step(
            self.mechanism_arrays, self.pattern, self.workspace, self.scratch, mechanism.row_ints,
            mechanism.row_reals, self.drive, self.wrench, self.history, self.history_length,
            self.mean, self.start, self.store, h, 2, gap, _DIRECT_ITERATIONS, 0.0, False, False,
            self.stats,
        )  # fmt: skip
        self.history_length[:] = 0
        if direct == phases.DONE:
            self.stats[[phases.STOPPED, phases.SOLVED_DIRECTLY]] = 0.0, 1.0
        else:
            self._restore(stopped)
        return phases.DONE

    def project_velocities(self, h: float) -> None:
        """Removes velocities that open joints."""
        project_velocities(
            self.mechanism_arrays, self.pattern, self.workspace, self.mechanism.row_ints,
            self.mechanism.row_reals, h, False,
        )  # fmt: skip

    def _project_velocities(self, h: float) -> float:
        """Returns the largest velocity that opens a joint; removes it if it is too large."""
        mechanism, params = self.mechanism, self.params
        if self.tree.used:
            return self._opening
        speed = largest_constraint_velocity(
            mechanism.bodies, mechanism.joint_ints, self.arrays.jacobian
        )
        for count in range(_MAX_VELOCITY_PROJECTIONS):
            if not params.speed_gap < speed < math.inf or self._sequential:
                break
            if count >= _MAX_VELOCITY_PROJECTIONS // 2 and not self._by_forces:
                # redundant rows: their velocities are as large as the gaps that are left
                self._close_gaps(0.01 * self._row_gap)
            self.project_velocities(h / self._substeps)
            speed = largest_constraint_velocity(
                mechanism.bodies, mechanism.joint_ints, self.arrays.jacobian
            )
        return speed

    def _close_gaps(self, gap: float) -> None:
        """Moves bodies until all gaps are within ``gap``, which is as good as exact."""
        self.mechanism.bodies[:, XN : XN + 3] = 0.0  # corrections add up rotations there
        project_positions_near(
            self.mechanism_arrays, self.pattern, self.workspace, self.scratch,
            max(gap, 0.5 * LEAST_GAP), self.params.max_iterations, self._unread_stats,
        )  # fmt: skip

    def _substep(self, h: float, now: float, done: int) -> tuple[float, int]:
        """Takes a step that did not close in substeps, or stops; returns as :meth:`take`.

        A substep that does not close is halved; after two of one size the next is twice as long.
        """
        mechanism = self.mechanism
        if self.params.on_gap == "stop":
            self._give_up(h, now, done)
        for each, saved in self._saved_history:
            np.copyto(each, saved)
        mechanism.bodies[:-1, BODY_STATE] = self._body_state
        mechanism.joint_reals[:, ARCS] = self._curve_positions
        mechanism.row_reals[:, ROW_STATE] = self._row_state[mechanism.row_slots]
        mechanism.row_reals[:, DISPLACEMENT] = 0.0
        self.tree.q[:], self.tree.v[:] = self._from
        at, size, count, speed, fresh = 0, _MAX_SUBSTEPS // 2, 0, math.inf, False
        here = self._save()
        while at < _MAX_SUBSTEPS:
            if not fresh:
                self._restore(here)
                self.clear_workspace()
            substep = h * size / _MAX_SUBSTEPS
            done = self._step(substep, fresh, share=size / _MAX_SUBSTEPS)
            speed = self._project_velocities(substep) if done == phases.DONE else math.inf
            fresh = speed < math.inf
            if not fresh and size == 1:
                self._give_up(h, now, done)
            if not fresh:
                size //= 2
                continue
            self.substep = substep / self._substeps
            at, count = at + size, count + 1
            here = self._save()
            if size < _MAX_SUBSTEPS // 2 and at % (2 * size) == 0:
                size *= 2
                self.history_length[:] = 0
        self.history_length[:] = 0
        return speed, count

    def _save(self) -> tuple[np.ndarray, ...]:
        """Returns a copy of the state."""
        mechanism, tree = self.mechanism, self.tree
        return (
            mechanism.bodies[:-1, BODY_STATE],
            mechanism.joint_reals.copy(),
            mechanism.row_reals.copy(),
            tree.q.copy(),
            tree.v.copy(),
        )

    def _restore(self, there: tuple[np.ndarray, ...]) -> None:
        """Restores a copy of the state."""
        mechanism, tree = self.mechanism, self.tree
        (
            mechanism.bodies[:-1, BODY_STATE],
            mechanism.joint_reals[:],
            mechanism.row_reals[:],
            tree.q[:],
            tree.v[:],
        ) = there
        phases.refresh_rotations(mechanism.bodies)

    def _give_up(self, h: float, now: float, done: int) -> NoReturn:
        """Ends the run with the joint that does not close, or the other reason."""
        stats = self.stats
        for each, body_state in self._saved_history:
            np.copyto(each, body_state)
        joint = int(stats[phases.GAP_JOINT])
        name, *others = shortest_loop_through(self.mechanism, joint)
        substeps = 1 if self.params.on_gap == "stop" else _MAX_SUBSTEPS
        tried = f", also in substeps of {1e3 * h / substeps:.2g} ms too" if substeps > 1 else ""
        if done == phases.TOO_COARSE and (self._energy_drifted or not self._by_forces):
            raise EngineError(
                f"steps of {1e3 * h:.3g} ms are too long at {now:.3f} s: the energy changes by "
                f"more than a share of {self._max_energy_drift:.1g} without any work.",
                hint='Use a smaller step, or on_gap = "halve", which subdivides such steps.',
            )
        if done == phases.TOO_COARSE:
            raise EngineError(
                f'steps of {1e3 * h:.3g} ms are too long for method = "forces" at {now:.3f} s: '
                f"the prediction error is {stats[phases.PREDICTION_ERROR]:.3g}{tried}.",
                hint='Use a smaller step, a larger "prediction_tolerance", or remove "method": '
                "impulses allow longer steps.",
            )
        if done == phases.UNSETTLED:
            raise EngineError(
                f"{name} does not settle at {now:.3f} s: its limit, its friction or the limit of "
                f"its drive alternates between two states{tried}.",
                hint="Use a smaller step, or look for contradicting limits.",
            )
        loop = f" in a loop with {listing(others, most=6)}" if others else ""
        gap = np.nan_to_num(stats[phases.GAP], nan=np.inf)
        wrong = f"it is open by {gap_text(self.mechanism, joint, self.arrays.error)}"
        if gap <= self.params.gap:
            wrong = "its constraint force grows without bound"
        raise EngineError(
            f"{name}{loop} cannot be closed at {now:.3f} s: {wrong} "
            f"after {self.params.max_iterations} iterations{tried}.",
            hint=closing_hint(
                self.mechanism, [name, *others], self.arrays.first_pivot, self.arrays.pivot
            ),
        )
