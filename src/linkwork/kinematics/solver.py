"""Solver: inverse kinematics of a set of tasks on a world."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import chain_kernels, solve_kernels, tick_kernels
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.answers import DAMPING, Answer, Answers, Damping, Miss, Tick
from linkwork.kinematics.chain import find_chain, goal_of, pose_of
from linkwork.kinematics.columns import choose, couple, find_columns
from linkwork.kinematics.forward import forward, integrate
from linkwork.kinematics.loops import loop_tasks
from linkwork.kinematics.problem import check_poses, check_shape, pack
from linkwork.kinematics.task_rows import pack_task
from linkwork.kinematics.tasks import Task
from linkwork.spatial.pose import Pose
from linkwork.world import World

_SCHEMES = {"strict": 0, "nested": 1}

# Measured on iiwa and Panda: damping weight and floor, steps without progress, what progress is.
_WEIGHT, _FLOOR, _PATIENCE, _PROGRESS = 3e-2, 1e-10, 2.0, 0.9
_SPREAD = 0.3
_SHORT = 0.1  # the longest step [rad or m] in which rows count as constant

_DEFAULT = Damping()

_NONE = np.zeros((0, 2), np.int64), np.zeros((0, 9)), np.zeros(0)

#: Fences of a tick: bodies (k×2), points and unit vectors (k×9), least motion along them (k).
Fences = tuple[np.ndarray, np.ndarray, np.ndarray]


class Solver:
    """Moves joints so that tasks are fulfilled: at once (``solve``) or step by step (``tick``).

    Loops of the world that the tasks' chains belong to are kept closed, before everything else;
    joints that follow others by couplings go with them.

    Args:
        world: The world.
        tasks: What to achieve.
        q: Coordinates that give targets left out in tasks; those of the start if absent.
        joints: Joints that may move; all that carry a task's frame if absent.
        first: Only this joint and what it carries may move (the active sub-chain).
        limits: Whether ranges and speeds count.
        metric: Weight of each degree of freedom's motion (nv): the heavier, the less it moves.
        seed: Of the random starts.
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
        if not tasks:
            raise LinkworkError("there is no task to solve.", hint="Give at least one.")
        self.world = world
        self.tasks = list(tasks)
        here = world.q0 if q is None else check_shape(q, world)
        pose = forward(world, here)
        packed = [pack_task(task, world, pose, here) for task in tasks]
        bodies = [b for each in packed for b in (each.body, each.other, *each.bodies)]
        if any(each.kind in (k.POSTURE, k.COUPLING) for each in packed):
            bodies += range(1, world.nb)
        closing = loop_tasks(world, bodies)
        bodies += [b for each in closing for b in (each.body, each.other)]
        wanted = choose(world, bodies, joints, first)
        self.columns = find_columns(world, wanted, limits=limits, metric=metric)
        if not len(self.columns.dof):
            raise LinkworkError(
                "no joint may move.", hint="Choose joints that carry the frames of the tasks."
            )
        self._packed = [*packed, *closing]
        self._problem = pack(world, self.columns, self._packed)
        lowest = min(each.level for each in packed)
        above = [each for each in self._packed if each.level <= lowest]
        self._above = [n for n, each in enumerate(self._packed) if each.level <= lowest]
        self._has_levels = len(above) < len(self._packed)
        self._first = pack(world, self.columns, above) if self._has_levels else self._problem
        self._chain = None if closing else find_chain(world, self.columns, packed)
        self._seed = np.array([seed * 2654435761 % (1 << 63) or 1], np.uint64)

    @property
    def movable(self) -> list[str]:
        """Names of the degrees of freedom that may move, column by column."""
        return [self.world.dof_name(int(d)) for d in self.columns.dof]

    def _number(self, task: int | str) -> int:
        """Number of one of the solver's own tasks; loops have theirs behind them."""
        titles = [each.title for each in self._packed[: len(self.tasks)]]
        if not isinstance(task, str):
            if not 0 <= task < len(titles):
                raise LinkworkError(
                    f"there is no task {task}.",
                    hint=f"They are 0 to {len(titles) - 1}: {', '.join(titles)}.",
                )
            return int(task)
        if task not in titles:
            raise not_found("task", task, titles)
        return titles.index(task)

    def aim(self, target: Pose | Sequence[float] | np.ndarray, task: int | str = 0) -> None:
        """Gives a task another target: a pose, or a place [m]."""
        pose = target if isinstance(target, Pose) else Pose.of(target)
        number = self._aimed(task)
        if not np.isfinite(pose.array()).all():
            raise LinkworkError(f"the target of task {self._packed[number].title!r} is not finite.")
        self._aim(number, pose.array())

    def _aimed(self, task: int | str) -> int:
        """Number of a task that has a target."""
        number = self._number(task)
        packed = self._packed[number]
        if packed.kind in (k.POSTURE, k.COUPLING):
            raise LinkworkError(
                f"task {packed.title!r} has no target: it is a {type(self.tasks[number]).__name__}."
            )
        return number

    def _aim(self, number: int, seven: np.ndarray) -> None:
        for problem, at in ((self._problem, number), (self._first, self._place(number))):
            if at >= 0:
                problem.how[at, k.TARGET : k.TARGET + 7] = seven

    def _place(self, number: int) -> int:
        """Number of a task among those of the first level; −1 if it is not there."""
        if not self._has_levels:
            return number
        return self._above.index(number) if number in self._above else -1

    def want(self, value: float, task: int | str = 0) -> None:
        """Gives a task of a distance or coupling another value."""
        number = self._number(task)
        packed = self._packed[number]
        if packed.kind not in (k.DISTANCE, k.COUPLING):
            raise LinkworkError(
                f"task {packed.title!r} has no value: it is a {type(self.tasks[number]).__name__}.",
                hint="A DistanceTask or CouplingTask has one; others have a target (aim).",
            )
        if not math.isfinite(value):
            raise LinkworkError(f"the value of task {packed.title!r} is not finite.")
        for problem, at in ((self._problem, number), (self._first, self._place(number))):
            if at >= 0:
                problem.how[at, k.SCALAR] = value

    def _settings(self, iterations: int, starts: int) -> np.ndarray:
        if iterations < 1 or starts < 1:
            raise LinkworkError("iterations and starts must be 1 or above.")
        return np.array(
            [iterations, starts, _WEIGHT, _FLOOR, _SPREAD, _PATIENCE, _PROGRESS], np.float64
        )

    def solve(
        self, q: np.ndarray | None = None, *, iterations: int = 40, starts: int = 100
    ) -> Answer:
        """The posture that fulfils the tasks, or the nearest one that was found.

        Levenberg–Marquardt steps within the ranges from ``q``, and from random postures where that
        leads nowhere. Tasks of lower priority are then improved as far as the first one allows.

        Args:
            q: Coordinates to start from; the world's if absent.
            iterations: Steps from each start.
            starts: Postures to start from, the first included.
        """
        world = self.world
        here = world.q0.copy() if q is None else check_shape(q, world)
        couple(world, here)
        if self._chain is not None:
            found = self._along_chain(here, iterations, starts)
        else:
            found = self._search(here, iterations, starts)
        if self._has_levels:
            self._improve(here, iterations)
        elif self._chain is not None:
            miss = self._miss(0, found[4], found[5])
            return Answer(here, miss.reached, [miss], int(found[1]), int(found[2]))
        misses = self.misses(here)
        reached = all(miss.reached for miss in misses)
        return Answer(here, reached, misses, int(found[1]), int(found[2]))

    def _improve(self, q: np.ndarray, iterations: int) -> None:
        """Moves ``q`` on for the lower levels, in short steps; the first one has the last word."""
        for _ in range(iterations):
            step = self.tick(q, 1.0, speeds=False).v
            far = float(np.abs(step).max())
            if far < 1e-9:
                break
            q[:] = integrate(self.world, q, step * min(1.0, _SHORT / far), 1.0)
        first, settings = self._first, self._settings(40, 1)
        solve_kernels.search(
            first.ints, first.reals, first.work, self._seed, settings, q, np.zeros(4)
        )  # fmt: skip

    def _miss(self, number: int, distance: float, angle: float) -> Miss:
        how = self._problem.how[number]
        near = distance <= how[k.NEAR] and angle <= how[k.NEAR_TURN]
        return Miss(self._packed[number].title, float(distance), float(angle), bool(near))

    def _search(self, q: np.ndarray, iterations: int, starts: int) -> np.ndarray:
        first, found = self._first, np.zeros(4)
        settings = self._settings(iterations, starts)
        solve_kernels.search(
            first.ints, first.reals, first.work, self._seed, settings, q, found
        )  # fmt: skip
        if not found[0]:  # out of reach: from the nearest posture on to the nearest there is
            again = np.zeros(4)
            settings = np.array([300.0, 12.0, 1.0, 1e-8, _SPREAD, 20.0, 1.0 - 1e-7])
            solve_kernels.search(
                first.ints, first.reals, first.work, self._seed, settings, q, again
            )  # fmt: skip
            found[1] += again[1]
        return found

    def _along_chain(self, q: np.ndarray, iterations: int, starts: int) -> np.ndarray:
        chain, how = self._chain, self._problem.how[0]
        assert chain is not None
        found = np.zeros(6)
        goal = goal_of(pose_of(how[k.TARGET : k.TARGET + 7]))
        values = q[chain.coordinates]
        settings = self._chain_settings(iterations, starts)
        arguments = (chain.links, goal, chain.easy, self._seed)
        chain_kernels.search_chain(*arguments, settings, chain.scratch, values, found)
        if not found[0]:
            again = np.zeros(6)
            settings[[0, 1, 2, 3, 6, 7]] = 300.0, 12.0, 1.0, 1e-8, 20.0, 1.0 - 1e-7
            chain_kernels.search_chain(*arguments, settings, chain.scratch, values, again)
            found[1] += again[1]
            found[4:] = again[4:]
        q[chain.coordinates] = values
        return found

    def _chain_settings(self, iterations: int, starts: int) -> np.ndarray:
        how = self._problem.how[0]
        made = self._settings(iterations, starts)
        return np.array([*made[:4], how[k.NEAR], how[k.NEAR_TURN], _PATIENCE, _PROGRESS])

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
    ) -> Answers:
        """Solves for many targets of one task in compiled loops; its own target stays as it was.

        Args:
            targets: Poses, or their numbers (n×7).
            q: Coordinates to start from (nq, or n×nq); the world's if absent.
            task: Which task they are for.
            iterations: Steps from each start.
            starts: Postures to start from.
            progress: Is told how many are done.
            chunk: Targets between two tellings.
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
        for row in made[: len(made) if np.ndim(start) > 1 else 1]:
            couple(self.world, row)
        made[:] = made if np.ndim(start) > 1 else made[:1]
        number = self._aimed(task)
        found = np.zeros((len(wanted), 6))
        own = self._problem.how[number, k.TARGET : k.TARGET + 7].copy()
        try:
            for at in range(0, len(wanted), chunk):
                part = slice(at, min(at + chunk, len(wanted)))
                self._solve_part(number, wanted[part], made[part], found[part], iterations, starts)
                if progress is not None:
                    progress(part.stop)
        finally:
            self._aim(number, own)
        return Answers(made, found[:, 0] > 0, found[:, 1].astype(int), found[:, 4], found[:, 5])

    def _solve_part(
        self, number: int, wanted: np.ndarray, q: np.ndarray, found: np.ndarray, iterations: int,
        starts: int,
    ) -> None:  # fmt: skip
        if self._chain is not None:
            goals = np.array([goal_of(pose_of(row)) for row in wanted])
            values = np.ascontiguousarray(q[:, self._chain.coordinates])
            settings = self._chain_settings(iterations, starts)
            chain_kernels.search_chain_many(
                self._chain.links, goals, self._chain.easy, self._seed, settings,
                self._chain.scratch, values, found,
            )  # fmt: skip
            q[:, self._chain.coordinates] = values
            return
        for n in range(len(wanted)):
            self._aim(number, wanted[n])
            answer = self.solve(q[n], iterations=iterations, starts=starts)
            q[n] = answer.q
            miss = answer.misses[number]
            found[n] = (
                answer.reached,
                answer.iterations,
                answer.starts,
                0,
                miss.distance,
                miss.angle,
            )

    def tick(
        self,
        q: np.ndarray,
        dt: float,
        *,
        damping: Damping | float = _DEFAULT,
        scheme: str = "strict",
        range_gain: float = 1.0,
        speeds: bool = True,
        fences: Fences = _NONE,
    ) -> Tick:
        """One step towards the targets, exactly within ranges and speeds.

        Args:
            q: Coordinates.
            dt: Length of the step [s].
            damping: Where λ comes from; a number is λ² itself.
            scheme: "strict" (Siciliano and Slotine) or "nested" (003 eq. 3.16).
            range_gain: Part of the way to the end of its range that a joint may go in one step.
            speeds: Whether ranges and speeds count in this step.
            fences: What motion must not cross (see ``motion.avoidance``).
        """
        if not 0.0 < dt < math.inf:
            raise LinkworkError(f"dt must be finite and above 0 s, not {dt:g}.")
        if not 0.0 <= range_gain <= 1.0:
            raise LinkworkError(f"range_gain must be within 0 and 1, not {range_gain:g}.")
        if scheme not in _SCHEMES:
            raise not_found("scheme", scheme, list(_SCHEMES))
        if scheme == "nested" and len(fences[0]):
            raise LinkworkError(
                "the nested scheme of 003 knows no fences.", hint='Use scheme="strict".'
            )
        chosen = (
            Damping("constant", float(damping)) if not isinstance(damping, Damping) else damping
        )
        here = check_shape(q, self.world)
        v = np.zeros(self.world.nv)
        limited = float(bool(np.isfinite([*self.columns.lo, *self.columns.speed]).any()))
        settings = np.array(
            [
                dt if speeds else 1e9, range_gain, _SCHEMES[scheme], DAMPING[chosen.kind],
                chosen.value, chosen.edge, limited, 0.0,
            ]
        )  # fmt: skip
        problem = self._problem
        arrays = problem.ints, problem.reals, problem.work, settings
        if len(fences[0]) or problem.ints[k.LEVELS] > 1 or scheme == "nested":
            used = tick_kernels.tick_levels(*arrays, *fences, here, v)
        else:
            used = tick_kernels.tick(*arrays, here, v)
        if used < 0.0:
            raise LinkworkError(
                "the tasks leave joints undetermined.", hint="Give a damping above 0."
            )
        return Tick(v if speeds else v * (1e9 / dt), here, used)

    def misses(self, q: np.ndarray) -> list[Miss]:
        """How far each task is from its target at ``q``, loops included."""
        self.rows(q)
        problem = self._problem
        _, _, miss = k.open_rows.py_func(problem.ints, problem.work)
        return [self._miss(number, *row) for number, row in enumerate(miss)]

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted Jacobian of all tasks below each other (003's J_AU) and their errors."""
        problem = self._problem
        here = check_shape(q, self.world)
        settings = np.zeros(tick_kernels.SETTINGS)
        settings[tick_kernels.LOOK_ONLY] = 1.0
        v = np.zeros(self.world.nv)
        tick_kernels.tick(problem.ints, problem.reals, problem.work, settings, here, v)
        error, rows, _ = k.open_rows.py_func(problem.ints, problem.work)
        return rows.copy(), error.copy()


def solve(world: World, *tasks: Task, q: np.ndarray | None = None) -> Answer:
    """The posture that fulfils the tasks, from ``q``: one call for one question."""
    return Solver(world, tasks, q=q).solve(q)
