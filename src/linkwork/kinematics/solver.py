"""Solver: inverse kinematics of a set of tasks on a world."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Pose
from linkwork.kinematics import differential_kernels
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.chain import find_chain
from linkwork.kinematics.columns import MimicJoints, find_columns
from linkwork.kinematics.forward import forward
from linkwork.kinematics.loop_closure import find_movable, restrict_postures
from linkwork.kinematics.packed_tasks import PackedTask, pack_task
from linkwork.kinematics.priority_kernels import NESTED, STRICT
from linkwork.kinematics.problem import (
    IkProblem,
    TaskTargets,
    check_poses,
    check_shape,
    evaluate_tasks,
)
from linkwork.kinematics.search import PostureSearch, PriorityDescent
from linkwork.kinematics.solutions import (
    DAMPING,
    Damping,
    IkSolution,
    IkSolutions,
    IkStep,
    TaskError,
)
from linkwork.kinematics.tasks import Task
from linkwork.model.world import World

_SCHEMES = {"strict": STRICT, "nested": NESTED}

_SHORT_STEP = 0.1  # largest step [rad or m] in which rows count as constant

_DEFAULT = Damping()

_NONE = np.zeros((0, 2), np.int64), np.zeros((0, 9)), np.zeros(0)

#: Inequalities of a step: bodies (k×2), points and unit vectors (k×9), least motion along them (k).
Inequalities = tuple[np.ndarray, np.ndarray, np.ndarray]


class Solver:
    """Moves joints to satisfy tasks: completely (``solve``) or step by step (``step``).

    Loops of the tasks' chains are kept closed with the highest priority; joints that are coupled to
    others follow them.

    Args:
        world: The world.
        tasks: The tasks.
        q: Coordinates that provide omitted targets; the initial ones if absent.
        joints: Joints that may move; if absent, all that carry a task's frame or that it names, and
            those of the same robots if a posture names none.
        first: Only this joint and what it carries may move (the active sub-chain).
        limits: Whether to apply ranges and velocity limits.
        metric: Weight of each degree of freedom's motion (nv): larger weights move less.
        seed: Seed of the random starts.
    """

    def __init__(
        self,
        world: World,
        tasks: Sequence[Task],
        *,
        q: np.ndarray | None = None,
        joints: Sequence[str] | None = None,
        first: str = "",
        limits: bool = True,
        metric: np.ndarray | None = None,
        seed: int = 1,
    ) -> None:
        if not isinstance(world, World):
            raise LinkworkError(
                f"a solver needs a world, not {type(world).__name__}.",
                hint="compile_scene(Scene(...).place(part)) makes one.",
            )
        if not tasks:
            raise LinkworkError("there is no task to solve.", hint="Give at least one.")
        self.world = world
        self.tasks = list(tasks)
        here = world.q0 if q is None else check_shape(q, world)
        pose = forward(world, here)
        packed = [pack_task(task, world, pose, here) for task in tasks]
        wanted, closing = find_movable(world, packed, joints, first)
        self.columns = find_columns(world, wanted, limits=limits, metric=metric)
        if not len(self.columns.dof):
            raise LinkworkError(
                "no joint may move.", hint="Choose joints that carry the frames of the tasks."
            )
        self._followers = MimicJoints(world)
        restrict_postures(world, packed, self.columns)
        _count_postures(packed)
        self._targets = TaskTargets(world, self.columns, self.tasks, packed, closing)
        self._problem = self._targets.problem
        self._chain = (
            None if closing else find_chain(world, self.columns, packed, self._problem.params)
        )
        near = packed[0].params[k.POSITION_TOLERANCE], packed[0].params[k.ANGLE_TOLERANCE]
        self._search = PostureSearch(self._targets.first, self._chain, near, seed)
        self._seed = seed
        self._descent: PriorityDescent | None = None
        self._has_levels = int(self._problem.ints[k.LEVELS]) > 1
        self._settings, self._last_settings = np.zeros(k.SETTINGS), tuple[float, ...]()
        limited = bool(np.isfinite([*self.columns.lo, *self.columns.speed]).any())
        self._limits = (
            (differential_kernels.RANGES, differential_kernels.RANGES_AND_SPEEDS)
            if limited
            else (differential_kernels.UNLIMITED, differential_kernels.UNLIMITED)
        )

    @property
    def movable(self) -> list[str]:
        """Names of the degrees of freedom that may move, by column."""
        return [self.world.dof_name(int(d)) for d in self.columns.dof]

    def set_target(self, target: Pose | Sequence[float] | np.ndarray, task: int | str = 0) -> None:
        """Sets the target of a task: a pose, or a position [m]."""
        self._targets.set_target(target if isinstance(target, Pose) else Pose.of(target), task)

    def set_value(self, value: float, task: int | str = 0) -> None:
        """Sets the value of a distance or coupling task."""
        self._targets.set_value(value, task)

    def solve(
        self, q: np.ndarray | None = None, *, iterations: int = 40, starts: int = 100
    ) -> IkSolution:
        """Returns the posture that satisfies the tasks, or the nearest one found.

        Takes Levenberg–Marquardt steps within the ranges from ``q``, and from random postures if
        those fail. Tasks of lower priority are then improved as far as the first one allows. Loops
        are followed from the start while they stay closed, and are closed in the result.

        Args:
            q: Coordinates to start from; the world's if absent.
            iterations: Maximum number of steps from each start.
            starts: Maximum number of start postures, including the first.
        """
        world = self.world
        here = world.q0.copy() if q is None else check_shape(q, world)
        self._followers.put(here)
        if self._chain is not None:
            _, steps, tried, _, far, turn = self._search.run(here, iterations, starts).tolist()
            miss = self._targets.miss(0, far, turn)
            return IkSolution(here, miss.reached, [miss], int(steps), int(tried))
        if self._descent is None:
            self._descent = PriorityDescent(
                self.world, self.columns, self._targets, self._search, self._seed, self._short
            )
        steps, tried, changed_assembly = self._descent.run(here, iterations, starts)
        task_errors = self._targets.task_errors(here)
        reached = all(miss.reached for miss in task_errors)
        return IkSolution(here, reached, task_errors, steps, tried, changed_assembly)

    def _short(self, problem: IkProblem, q: np.ndarray) -> np.ndarray:
        """Takes a short step of a problem's levels, in which rows count as constant."""
        v = np.zeros(len(self.columns.col))
        settings = np.zeros(k.SETTINGS)
        settings[:] = (
            1.0, 1.0, 0.0, DAMPING[_DEFAULT.kind], _DEFAULT.value, _DEFAULT.edge,
            self._limits[False], 0.0, _SHORT_STEP,
        )  # fmt: skip
        differential_kernels.step_levels(
            problem.ints, problem.reals, problem.work, settings, *_NONE, q.copy(), v
        )
        return v

    def solve_many(
        self,
        targets: Sequence[Pose] | np.ndarray,
        *,
        q: np.ndarray | None = None,
        task: int | str = 0,
        iterations: int = 40,
        starts: int = 100,
        progress: Callable[[int], object] | None = None,
        chunk: int = 1000,
    ) -> IkSolutions:
        """Solves for many targets of one task in compiled loops; its own target is unchanged.

        As with ``solve``, unreachable targets get the nearest posture found, with its errors.

        Args:
            targets: Poses, or their numbers (n×7).
            q: Coordinates to start from (nq, or n×nq); the world's if absent.
            task: The task.
            iterations: Maximum number of steps from each start.
            starts: Maximum number of start postures.
            progress: Called with the number of finished targets.
            chunk: Targets between two calls of ``progress``.
        """
        wanted = check_poses(targets)
        if chunk < 1:
            raise LinkworkError(f"chunk must be 1 or above, not {chunk}.")
        start = self.world.q0 if q is None else np.asarray(q, float)
        if start.shape not in ((self.world.nq,), (len(wanted), self.world.nq)):
            raise LinkworkError(
                f"q must have {self.world.nq} numbers, or {len(wanted)} rows of them, not shape "
                f"{start.shape}."
            )
        if not np.isfinite(start).all():
            raise LinkworkError("q holds numbers that are not finite.")
        made = np.ascontiguousarray(np.broadcast_to(start, (len(wanted), self.world.nq))).copy()
        self._followers.put(made)
        number = self._targets.index_with_target(task)
        found = np.zeros((len(wanted), 6))
        own = self._targets.target(number)
        try:
            for at in range(0, len(wanted), chunk):
                part = slice(at, min(at + chunk, len(wanted)))
                self._solve_part(number, wanted[part], made[part], found[part], iterations, starts)
                if progress is not None:
                    progress(part.stop)
        finally:
            self._targets.put(number, own)
        return IkSolutions(made, found[:, 0] > 0, found[:, 1].astype(int), found[:, 4], found[:, 5])

    def _solve_part(
        self, number: int, wanted: np.ndarray, q: np.ndarray, found: np.ndarray, iterations: int,
        starts: int,
    ) -> None:  # fmt: skip
        if self._chain is not None:
            self._search.run_poses(wanted, q, found, iterations, starts)
            return
        for n in range(len(wanted)):
            self._targets.put(number, wanted[n])
            answer = self.solve(q[n], iterations=iterations, starts=starts)
            q[n] = answer.q
            miss = answer.task_errors[number]
            found[n] = (
                answer.reached, answer.iterations, answer.starts, 0, miss.distance, miss.angle
            )  # fmt: skip

    def step(
        self,
        q: np.ndarray,
        dt: float,
        *,
        damping: Damping | float = _DEFAULT,
        scheme: str = "strict",
        range_gain: float = 1.0,
        speeds: bool = True,
        stride: float = math.inf,
        inequalities: Inequalities = _NONE,
    ) -> IkStep:
        """Takes one step toward the targets, exactly within ranges and velocity limits.

        Args:
            q: Coordinates.
            dt: Time step [s].
            damping: Damping; a number is λ² itself.
            scheme: "strict" (Siciliano and Slotine) or "nested" (RoboTiX thesis eq. 3.16).
            range_gain: Largest share of the distance to the end of its range that a joint may move.
            speeds: Whether to apply the joints' velocity limits.
            stride: Largest motion of a joint [rad or m].
            inequalities: Inequality constraints of the motion (see ``motion.avoidance``).
        """
        if not 0.0 < dt < math.inf:
            raise LinkworkError(f"dt must be finite and above 0 s, not {dt:g}.")
        if not 0.0 <= range_gain <= 1.0:
            raise LinkworkError(f"range_gain must be within 0 and 1, not {range_gain:g}.")
        if not stride > 0.0:
            raise LinkworkError(f"stride must be above 0, not {stride:g}.")
        if scheme not in _SCHEMES:
            raise not_found("scheme", scheme, list(_SCHEMES))
        if scheme == "nested" and len(inequalities[0]):
            raise LinkworkError(
                "the nested scheme supports no inequalities.", hint='Use scheme="strict".'
            )
        if isinstance(damping, Damping):
            kind, value, edge = DAMPING[damping.kind], damping.value, damping.edge
        else:
            kind, value, edge = DAMPING["constant"], Damping.checked(damping), 0.0
        here = check_shape(q, self.world)
        v = np.zeros(len(self.columns.col))
        settings = (
            dt, range_gain, _SCHEMES[scheme], kind, value, edge,
            self._limits[speeds], 0.0, stride,
        )  # fmt: skip
        if settings != self._last_settings:  # settings rarely change between steps
            self._settings[:] = self._last_settings = settings
        problem = self._problem
        arrays = problem.ints, problem.reals, problem.work, self._settings
        if self._has_levels or scheme == "nested" or len(inequalities[0]):
            used = differential_kernels.step_levels(*arrays, *inequalities, here, v)
        else:
            used = differential_kernels.step(*arrays, here, v)
        if used < 0.0:
            raise LinkworkError(
                "the tasks leave joints undetermined.", hint="Give a damping above 0."
            )
        return IkStep(v, here, used)

    def task_errors(self, q: np.ndarray) -> list[TaskError]:
        """Returns the error of each task at ``q``, loops included."""
        return self._targets.task_errors(check_shape(q, self.world))

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the stacked weighted Jacobian of all tasks (J_AU in RoboTiX), and errors."""
        error, rows, _ = evaluate_tasks(self._problem, check_shape(q, self.world))
        return rows.copy(), error.copy()


def _count_postures(packed: Sequence[PackedTask]) -> None:
    """Gives postures a finite tolerance if there are no other tasks of the first level."""
    lowest = min(each.level for each in packed)
    first = [each for each in packed if each.level == lowest]
    if all(each.kind == k.POSTURE for each in first):
        for each in first:
            each.params[k.POSITION_TOLERANCE] = min(
                each.params[k.POSITION_TOLERANCE], Task.tolerance
            )


def solve(world: World, *tasks: Task, q: np.ndarray | None = None) -> IkSolution:
    """Returns the posture that satisfies the tasks, starting from ``q``."""
    return Solver(world, tasks, q=q).solve(q)
