"""Search for a posture that satisfies tasks, from many starts, with loops kept closed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.kinematics import chain_kernels, solve_kernels
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.chain import Chain
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.forward import integrate
from linkwork.kinematics.memory_layout_kernels import open_tasks
from linkwork.kinematics.packed_tasks import PackedTask
from linkwork.kinematics.problem import IkProblem, TaskTargets, evaluate_tasks, pack
from linkwork.model.world import World

# Tuned on iiwa and Panda: damping weight and floor, iterations without progress, progress ratio.
_WEIGHT, _FLOOR, _MAX_STALLS, _PROGRESS = 3e-2, 1e-10, 2.0, 0.9
_SPREAD = 0.3
# Continues from the nearest posture found if the target is out of reach.
_RESTARTS = np.array([300.0, 12.0, 1.0, 1e-8, _SPREAD, 20.0, 1.0 - 1e-7])
_SETTLE_STEPS = np.array([300.0, 1.0, *_RESTARTS[2:]])


class PostureSearch:
    """Searches a problem, along its chain if it is one.

    Args:
        problem: The tasks.
        chain: The chain, if the problem is a full pose of it.
        tolerance: Errors [m, rad] at which that pose counts as reached.
        seed: Seed of the random starts.
    """

    def __init__(
        self, problem: IkProblem, chain: Chain | None, tolerance: tuple[float, float], seed: int
    ) -> None:
        self._problem, self._chain, self._near = problem, chain, tolerance
        self._seed = np.array([seed * 2654435761 % (1 << 63) or 1], np.uint64)
        self._made: dict[tuple[int, int], np.ndarray] = {}
        self._again = self._along(_RESTARTS)

    def settings(self, iterations: int, starts: int) -> np.ndarray:
        """Returns the settings of the kernels."""
        made = self._made.get((iterations, starts))
        if made is None:
            if iterations < 1 or starts < 1:
                raise LinkworkError("iterations and starts must be 1 or above.")
            made = np.array(
                [iterations, starts, _WEIGHT, _FLOOR, _SPREAD, _MAX_STALLS, _PROGRESS], np.float64
            )
            if self._chain is not None:
                made = self._along(made)
            self._made[iterations, starts] = made
        return made

    def _along(self, settings: np.ndarray) -> np.ndarray:
        """Returns the settings of the chain kernels."""
        return np.array([*settings[:4], *self._near, *settings[5:]])

    def run(self, q: np.ndarray, iterations: int, starts: int) -> np.ndarray:
        """Moves ``q``; returns reached, iterations, starts, and a pose's error, distance, angle."""
        if self._chain is not None:
            found = np.zeros((1, 6))
            self.run_poses(self._chain.target, q[None], found, iterations, starts)
            return found[0]
        found, settings = np.zeros(6), self.settings(iterations, starts)
        self._turn(settings, q, found)
        if not found[0]:
            steps, tried = found[1], found[2]
            self._turn(_RESTARTS, q, found)
            found[1:3] = found[1] + steps, tried
        return found

    def settle(self, q: np.ndarray, *, whole: bool = False) -> float:
        """Moves ``q`` from a nearby start to the target; returns the squared error.

        Args:
            q: Coordinates.
            whole: Whether to continue to the nearest posture if it is out of reach.
        """
        found = np.zeros(6)
        self._turn(_SETTLE_STEPS if whole else self.settings(40, 1), q, found)
        return float(found[3])

    def _turn(self, settings: np.ndarray, q: np.ndarray, found: np.ndarray) -> None:
        problem = self._problem
        solve_kernels.search(
            problem.ints, problem.reals, problem.work, self._seed, settings, q, found
        )

    def run_poses(
        self, poses: np.ndarray, q: np.ndarray, found: np.ndarray, iterations: int, starts: int
    ) -> None:
        """Moves each row of ``q`` (m×nq) along the chain to a row of ``poses`` (m×7)."""
        chain = self._chain
        assert chain is not None
        settings = self.settings(iterations, starts)
        values = q if chain.is_all else np.ascontiguousarray(q[:, chain.coordinates])
        chain_kernels.search_poses(
            chain.links, poses, chain.inverse_metric, self._seed, settings, self._again, chain.goal,
            chain.scratch, values, found,
        )  # fmt: skip
        if not chain.is_all:
            q[:, chain.coordinates] = values


_MAX_STEPS = 5  # ratio of short steps to iterations of a search
_CONVERGED = 1e-9  # [rad or m] step length of convergence
_SAME_POSTURE = 1e-4  # [rad or m] distance of equal postures
_ALLOWED_LOSS = 1.0 + 1e-6  # allowed growth of the squared error

#: Returns the motion of each degree of freedom in a short step of a problem's levels.
StepFunction = Callable[[IkProblem, np.ndarray], np.ndarray]


class PriorityDescent:
    """Improves coordinates for all levels of a solver.

    Args:
        world: The world.
        columns: The unknowns.
        targets: The tasks.
        search: Search for the first level.
        seed: Seed of random starts.
        step: Takes short steps.
    """

    def __init__(
        self,
        world: World,
        columns: Columns,
        targets: TaskTargets,
        search: PostureSearch,
        seed: int,
        step: StepFunction,
    ) -> None:
        self._world, self._columns, self._targets = world, columns, targets
        self._search, self._step = search, step
        together = targets.together
        self._together = PostureSearch(together, None, (0.0, 0.0), seed) if together else None
        self._loops = None
        if targets.closing is not None:
            self._loops = PostureSearch(targets.closing, None, (0.0, 0.0), seed)
            table = np.concatenate([np.zeros(world.nq), columns.col >= 0])
            there = PackedTask(k.POSTURE, 0, table=table)
            there.params[k.GAIN] = 1.0
            self._path_tasks = pack(world, columns, [*targets.loops, there])

    def run(self, q: np.ndarray, iterations: int, starts: int) -> tuple[int, int, bool]:
        """Moves ``q``; returns iterations, starts, and whether the assembly of loops changed."""
        if self._loops is not None:
            return self._run_closed(self._loops, q, iterations, starts)
        here = q.copy()
        found = self._search.run(q, iterations, starts)
        if self._targets.has_levels:
            self._improve(q, found, iterations)
            if self._together is not None and found[0] and not self._is_reached(q):
                there = self._together.run(here, iterations, starts)
                self._improve(here, there, iterations)
                if self._is_reached(here):
                    q[:] = here
        return int(found[1]), int(found[2]), False

    def _improve(self, q: np.ndarray, found: np.ndarray, iterations: int) -> None:
        """Moves ``q`` for the lower levels, without loss for the first one.

        ``found`` is the result of a search.
        """
        before = q.copy()
        self._short_steps(self._targets.problem, q, iterations)
        if self._search.settle(q, whole=not found[0]) > _ALLOWED_LOSS * found[3] and not found[0]:
            q[:] = before

    def _short_steps(self, problem: IkProblem, q: np.ndarray, iterations: int) -> int:
        """Moves ``q`` in short steps until it converges; returns their number."""
        for count in range(_MAX_STEPS * iterations):
            step = self._step(problem, q)
            if float(np.abs(step).max()) < _CONVERGED:
                return count
            q[:] = integrate(self._world, q, step, 1.0)
        return _MAX_STEPS * iterations

    def _run_closed(
        self, loops: PostureSearch, q: np.ndarray, iterations: int, starts: int
    ) -> tuple[int, int, bool]:
        """Is ``run`` with loops: first along a path on which they stay closed."""
        targets = self._targets
        loops.settle(q)
        start = q.copy()
        steps = self._short_steps(targets.problem, q, iterations)
        loops.settle(q)
        if self._is_reached(q):
            return steps, 1, False
        other = start.copy()
        found = self._search.run(other, iterations, starts)
        self._remove_full_turns(other, start)
        loops.settle(other)
        self._short_steps(targets.problem, other, iterations)
        loops.settle(other)
        steps, tried = steps + int(found[1]), int(found[2])
        same = targets.are_closed(start) and self._connects(loops, start, other, iterations)
        if self._is_reached(other) or not targets.are_closed(q):
            q[:] = other
            return steps, tried, not same
        if (
            same
            and targets.are_closed(other)
            and self._error(other) * _ALLOWED_LOSS < self._error(q)
        ):
            q[:] = other
        return steps, tried, False

    def _remove_full_turns(self, q: np.ndarray, start: np.ndarray) -> None:
        """Removes full turns of unlimited joints."""
        columns, turn = self._columns, 2.0 * math.pi
        counts = np.bincount(columns.col[columns.col >= 0], minlength=len(columns.dof))
        for c, dof in enumerate(columns.dof.tolist()):
            at = int(columns.coordinate[dof])
            endless = math.isinf(columns.hi[c]) and math.isinf(columns.lo[c])
            if at >= 0 and endless and counts[c] == 1 and self._world.dof_is_angle(dof):
                q[at] -= turn * round((q[at] - start[at]) / turn)

    def _connects(
        self, loops: PostureSearch, start: np.ndarray, end: np.ndarray, iterations: int
    ) -> bool:
        """Returns whether a path between two postures was found on which loops stay closed."""
        path = self._path_tasks
        open_tasks.py_func(path.ints, path.reals)[5][0, : self._world.nq] = end
        q = start.copy()
        self._short_steps(path, q, iterations)
        loops.settle(q)
        return bool(evaluate_tasks(self._path_tasks, q)[2][-1, 0] < _SAME_POSTURE)

    def _is_reached(self, q: np.ndarray) -> bool:
        return all(miss.reached for miss in self._targets.task_errors(q))

    def _error(self, q: np.ndarray) -> float:
        error = evaluate_tasks(self._targets.first, q)[0]
        return float(error @ error)
