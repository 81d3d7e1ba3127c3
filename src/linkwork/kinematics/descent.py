"""Descent: from a start to the posture that tasks of all levels want, loops closed throughout."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.forward import integrate
from linkwork.kinematics.layout_kernels import open_tasks
from linkwork.kinematics.problem import Problem, look_at, pack
from linkwork.kinematics.search import Search
from linkwork.kinematics.targets import Targets
from linkwork.kinematics.task_rows import Packed
from linkwork.world import World

_LONG = 5  # times as many short steps as a search has
_STILL = 1e-9  # [rad or m] a step that leads nowhere
_SAME = 1e-4  # [rad or m] two postures that are one
_WORSE = 1.0 + 1e-6  # of the squared error: what a search stops at

#: A short step of a problem's levels from coordinates: the motion of each degree of freedom.
Step = Callable[[Problem, np.ndarray], np.ndarray]


class Descent:
    """Brings coordinates to what all levels of a solver want.

    Args:
        world: The world.
        columns: What may move.
        targets: The tasks.
        search: Search of those of the first level.
        seed: Of random starts.
        step: Short steps.
    """

    def __init__(
        self, world: World, columns: Columns, targets: Targets, search: Search, seed: int,
        step: Step,
    ) -> None:  # fmt: skip
        self._world, self._columns, self._targets = world, columns, targets
        self._search, self._step = search, step
        together = targets.together
        self._together = Search(together, None, (0.0, 0.0), seed) if together else None
        self._loops = None
        if targets.closing is not None:
            self._loops = Search(targets.closing, None, (0.0, 0.0), seed)
            table = np.concatenate([np.zeros(world.nq), columns.col >= 0])
            there = Packed(k.POSTURE, 0, table=table)
            there.how[k.GAIN] = 1.0
            self._way = pack(world, columns, [*targets.loops, there])

    def run(self, q: np.ndarray, iterations: int, starts: int) -> tuple[int, int, bool]:
        """Moves ``q``; tells iterations, starts, and whether loops are put together otherwise."""
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
        """Moves ``q`` on for the lower levels; the first one has the last word, and loses nothing.

        ``found`` is what a search told.
        """
        before = q.copy()
        self._walk(self._targets.problem, q, iterations)
        if self._search.settle(q, whole=not found[0]) > _WORSE * found[3] and not found[0]:
            q[:] = before

    def _walk(self, problem: Problem, q: np.ndarray, iterations: int) -> int:
        """Moves ``q`` in short steps until it stands still; tells how many they were."""
        for count in range(_LONG * iterations):
            step = self._step(problem, q)
            if float(np.abs(step).max()) < _STILL:
                return count
            q[:] = integrate(self._world, q, step, 1.0)
        return _LONG * iterations

    def _run_closed(
        self, loops: Search, q: np.ndarray, iterations: int, starts: int
    ) -> tuple[int, int, bool]:
        """As ``run``, where there are loops: first on a way on which they stay closed."""
        targets = self._targets
        loops.settle(q)
        start = q.copy()
        steps = self._walk(targets.problem, q, iterations)
        loops.settle(q)
        if self._is_reached(q):
            return steps, 1, False
        other = start.copy()
        found = self._search.run(other, iterations, starts)
        self._unwind(other, start)
        loops.settle(other)
        self._walk(targets.problem, other, iterations)
        loops.settle(other)
        steps, tried = steps + int(found[1]), int(found[2])
        same = targets.are_closed(start) and self._leads(loops, start, other, iterations)
        if self._is_reached(other) or not targets.are_closed(q):
            q[:] = other
            return steps, tried, not same
        if same and targets.are_closed(other) and self._error(other) * _WORSE < self._error(q):
            q[:] = other
        return steps, tried, False

    def _unwind(self, q: np.ndarray, start: np.ndarray) -> None:
        """Takes whole turns out of joints that turn endlessly."""
        columns, turn = self._columns, 2.0 * math.pi
        counts = np.bincount(columns.col[columns.col >= 0], minlength=len(columns.dof))
        for c, dof in enumerate(columns.dof.tolist()):
            at = int(columns.coordinate[dof])
            endless = math.isinf(columns.hi[c]) and math.isinf(columns.lo[c])
            if at >= 0 and endless and counts[c] == 1 and self._world.dof_is_angle(dof):
                q[at] -= turn * round((q[at] - start[at]) / turn)

    def _leads(self, loops: Search, start: np.ndarray, end: np.ndarray, iterations: int) -> bool:
        """Whether a way was found from one posture to another on which loops stay closed."""
        open_tasks.py_func(self._way.ints, self._way.reals)[5][0, : self._world.nq] = end
        q = start.copy()
        self._walk(self._way, q, iterations)
        loops.settle(q)
        return bool(look_at(self._way, q)[2][-1, 0] < _SAME)

    def _is_reached(self, q: np.ndarray) -> bool:
        return all(miss.reached for miss in self._targets.misses(q))

    def _error(self, q: np.ndarray) -> float:
        error = look_at(self._targets.first, q)[0]
        return float(error @ error)
