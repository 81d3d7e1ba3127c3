"""Solver: inverse kinematics of a set of tasks on a world."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics import tick_kernels
from linkwork.kinematics.answers import DAMPING, Answer, Answers, Damping, Miss, Tick
from linkwork.kinematics.chain import find_chain
from linkwork.kinematics.columns import Followers, find_columns
from linkwork.kinematics.descent import Descent
from linkwork.kinematics.forward import forward
from linkwork.kinematics.moving import find_moving, settle_postures
from linkwork.kinematics.problem import Problem, check_poses, check_shape, look_at
from linkwork.kinematics.search import Search
from linkwork.kinematics.targets import Targets
from linkwork.kinematics.task_rows import Packed, pack_task
from linkwork.kinematics.tasks import Task
from linkwork.spatial.pose import Pose
from linkwork.world import World

_SCHEMES = {"strict": 0, "nested": 1}

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
        joints: Joints that may move; if absent, all that carry a task's frame or that it names,
            and those of the same robots where a posture names none.
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
        wanted, closing = find_moving(world, packed, joints, first)
        self.columns = find_columns(world, wanted, limits=limits, metric=metric)
        if not len(self.columns.dof):
            raise LinkworkError(
                "no joint may move.", hint="Choose joints that carry the frames of the tasks."
            )
        self._followers = Followers(world)
        settle_postures(world, packed, self.columns)
        _count_postures(packed)
        self._targets = Targets(world, self.columns, self.tasks, packed, closing)
        self._problem = self._targets.problem
        self._chain = (
            None if closing else find_chain(world, self.columns, packed, self._problem.how)
        )
        near = packed[0].how[k.NEAR], packed[0].how[k.NEAR_TURN]
        self._search = Search(self._targets.first, self._chain, near, seed)
        self._seed = seed
        self._descent: Descent | None = None
        self._has_levels = int(self._problem.ints[k.LEVELS]) > 1
        self._settings, self._how = np.zeros(tick_kernels.SETTINGS), tuple[float, ...]()
        limited = bool(np.isfinite([*self.columns.lo, *self.columns.speed]).any())
        self._limits = (
            (tick_kernels.RANGES, tick_kernels.RANGES_AND_SPEEDS)
            if limited
            else (tick_kernels.UNLIMITED, tick_kernels.UNLIMITED)
        )

    @property
    def movable(self) -> list[str]:
        """Names of the degrees of freedom that may move, column by column."""
        return [self.world.dof_name(int(d)) for d in self.columns.dof]

    def aim(self, target: Pose | Sequence[float] | np.ndarray, task: int | str = 0) -> None:
        """Gives a task another target: a pose, or a place [m]."""
        self._targets.aim(target if isinstance(target, Pose) else Pose.of(target), task)

    def want(self, value: float, task: int | str = 0) -> None:
        """Gives a task of a distance or coupling another value."""
        self._targets.want(value, task)

    def solve(
        self, q: np.ndarray | None = None, *, iterations: int = 40, starts: int = 100
    ) -> Answer:
        """The posture that fulfils the tasks, or the nearest one that was found.

        Levenberg–Marquardt steps within the ranges from ``q``, and from random postures where that
        leads nowhere. Tasks of lower priority are then improved as far as the first one allows.
        Loops are followed from the start on while they stay closed, and closed in the answer.

        Args:
            q: Coordinates to start from; the world's if absent.
            iterations: Steps from each start.
            starts: Postures to start from, the first included.
        """
        world = self.world
        here = world.q0.copy() if q is None else check_shape(q, world)
        self._followers.put(here)
        if self._chain is not None:
            _, steps, tried, _, far, turn = self._search.run(here, iterations, starts).tolist()
            miss = self._targets.miss(0, far, turn)
            return Answer(here, miss.reached, [miss], int(steps), int(tried))
        if self._descent is None:
            self._descent = Descent(
                self.world, self.columns, self._targets, self._search, self._seed, self._short
            )
        steps, tried, reassembled = self._descent.run(here, iterations, starts)
        misses = self._targets.misses(here)
        reached = all(miss.reached for miss in misses)
        return Answer(here, reached, misses, steps, tried, reassembled)

    def _short(self, problem: Problem, q: np.ndarray) -> np.ndarray:
        """A short step of a problem's levels, in which rows count as constant."""
        v = np.zeros(len(self.columns.col))
        settings = np.zeros(tick_kernels.SETTINGS)
        settings[:] = (
            1.0, 1.0, 0.0, DAMPING[_DEFAULT.kind], _DEFAULT.value, _DEFAULT.edge,
            self._limits[False], 0.0, _SHORT,
        )  # fmt: skip
        tick_kernels.tick_levels(
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
    ) -> Answers:
        """Solves for many targets of one task in compiled loops; its own target stays as it was.

        As from ``solve``, what is out of reach gets the nearest posture that was found, with how
        far that misses.

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
        self._followers.put(made)
        number = self._targets.aimed(task)
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
        return Answers(made, found[:, 0] > 0, found[:, 1].astype(int), found[:, 4], found[:, 5])

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
            miss = answer.misses[number]
            found[n] = (
                answer.reached, answer.iterations, answer.starts, 0, miss.distance, miss.angle
            )  # fmt: skip

    def tick(
        self,
        q: np.ndarray,
        dt: float,
        *,
        damping: Damping | float = _DEFAULT,
        scheme: str = "strict",
        range_gain: float = 1.0,
        speeds: bool = True,
        stride: float = math.inf,
        fences: Fences = _NONE,
    ) -> Tick:
        """One step towards the targets, exactly within ranges and speeds.

        Args:
            q: Coordinates.
            dt: Length of the step [s].
            damping: Where λ comes from; a number is λ² itself.
            scheme: "strict" (Siciliano and Slotine) or "nested" (003 eq. 3.16).
            range_gain: Part of the way to the end of its range that a joint may go in one step.
            speeds: Whether the joints' greatest speeds count in this step.
            stride: How far a joint goes in it at most [rad or m].
            fences: What motion must not cross (see ``motion.avoidance``).
        """
        if not 0.0 < dt < math.inf:
            raise LinkworkError(f"dt must be finite and above 0 s, not {dt:g}.")
        if not 0.0 <= range_gain <= 1.0:
            raise LinkworkError(f"range_gain must be within 0 and 1, not {range_gain:g}.")
        if not stride > 0.0:
            raise LinkworkError(f"stride must be above 0, not {stride:g}.")
        if scheme not in _SCHEMES:
            raise not_found("scheme", scheme, list(_SCHEMES))
        if scheme == "nested" and len(fences[0]):
            raise LinkworkError(
                "the nested scheme of 003 knows no fences.", hint='Use scheme="strict".'
            )
        if isinstance(damping, Damping):
            kind, value, edge = DAMPING[damping.kind], damping.value, damping.edge
        else:
            kind, value, edge = DAMPING["constant"], Damping.checked(damping), 0.0
        here = check_shape(q, self.world)
        v = np.zeros(len(self.columns.col))
        how = (
            dt, range_gain, _SCHEMES[scheme], kind, value, edge,
            self._limits[speeds], 0.0, stride,
        )  # fmt: skip
        if how != self._how:  # most ticks are asked for as the one before
            self._settings[:] = self._how = how
        problem = self._problem
        arrays = problem.ints, problem.reals, problem.work, self._settings
        if self._has_levels or scheme == "nested" or len(fences[0]):
            used = tick_kernels.tick_levels(*arrays, *fences, here, v)
        else:
            used = tick_kernels.tick(*arrays, here, v)
        if used < 0.0:
            raise LinkworkError(
                "the tasks leave joints undetermined.", hint="Give a damping above 0."
            )
        return Tick(v, here, used)

    def misses(self, q: np.ndarray) -> list[Miss]:
        """How far each task is from its target at ``q``, loops included."""
        return self._targets.misses(check_shape(q, self.world))

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted Jacobian of all tasks below each other (003's J_AU) and their errors."""
        error, rows, _ = look_at(self._problem, check_shape(q, self.world))
        return rows.copy(), error.copy()


def _count_postures(packed: Sequence[Packed]) -> None:
    """Lets postures be missed where nothing comes before them or beside them."""
    lowest = min(each.level for each in packed)
    first = [each for each in packed if each.level == lowest]
    if all(each.kind == k.POSTURE for each in first):
        for each in first:
            each.how[k.NEAR] = min(each.how[k.NEAR], Task.near)


def solve(world: World, *tasks: Task, q: np.ndarray | None = None) -> Answer:
    """The posture that fulfils the tasks, from ``q``: one call for one question."""
    return Solver(world, tasks, q=q).solve(q)
