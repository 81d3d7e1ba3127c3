"""Targets: what the tasks of a solver want, as its kernels read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.answers import Miss
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.problem import Problem, look_at, pack
from linkwork.kinematics.task_rows import Packed
from linkwork.kinematics.tasks import Task
from linkwork.spatial.pose import Pose
from linkwork.world import World


class Targets:
    """The tasks of a solver, packed: all of them, those of the first level, and loops alone.

    Args:
        world: The world.
        columns: What may move.
        tasks: The tasks that were given.
        packed: Those tasks for the kernels.
        closing: Tasks that keep loops closed; they have their numbers behind the others.

    Attributes:
        problem: All of them.
        first: Those of the first level, and loops.
        together: All that can be missed as one level, where lower ones can.
        loops: Tasks that keep loops closed.
        closing: Those alone, where there are some.
        has_levels: Whether there are others than those of the first level.
    """

    def __init__(
        self, world: World, columns: Columns, tasks: Sequence[Task], packed: Sequence[Packed],
        closing: Sequence[Packed],
    ) -> None:  # fmt: skip
        self._tasks, self._packed = tasks, [*packed, *closing]
        lowest = min(each.level for each in packed)
        everything = list(range(len(self._packed)))
        above = [n for n in everything if self._packed[n].level <= lowest]
        self.has_levels = len(above) < len(self._packed)
        self.problem = pack(world, columns, self._packed)
        self._packs = [(self.problem, everything)]
        self.first = self._pack(world, columns, above) if self.has_levels else self.problem
        counted = [n for n in everything if math.isfinite(self._packed[n].how[k.NEAR])]
        more = self.has_levels and not closing and counted and not set(counted) <= set(above)
        self.together = self._pack(world, columns, counted, flat=True) if more else None
        self.loops = closing
        self.closing = pack(world, columns, closing) if closing else None
        self._titles = [each.title for each in packed]
        self._places = [self._numbers(n, slice(k.TARGET, k.TARGET + 7)) for n in range(len(packed))]
        for number, each in enumerate(packed):
            if each.kind in (k.POSTURE, k.COUPLING):
                self._places[number] = []
        self._near = [
            (each.title, float(each.how[k.NEAR]), float(each.how[k.NEAR_TURN]))
            for each in self._packed
        ]

    def number(self, task: int | str) -> int:
        """Number of one of the given tasks."""
        titles = self._titles
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

    def aimed(self, task: int | str) -> int:
        """Number of a task that has a target."""
        number = self.number(task)
        if not self._places[number]:
            packed = self._packed[number]
            kind = type(self._tasks[number]).__name__
            raise LinkworkError(f"task {packed.title!r} has no target: it is a {kind}.")
        return number

    def aim(self, target: Pose, task: int | str) -> None:
        """Gives a task another target.

        Raises:
            LinkworkError: If it has none, or the new one is not finite.
        """
        places = self._places[0 if task == 0 and self._places[0] else self.aimed(task)]
        seven = (*target.xyz, *target.quat)
        if not math.isfinite(sum(seven)):
            title = self._titles[self.aimed(task)]
            raise LinkworkError(f"the target of task {title!r} is not finite.")
        for place in places:
            place[:] = seven

    def want(self, value: float, task: int | str) -> None:
        """Gives a task of a distance or coupling another value.

        Raises:
            LinkworkError: If it has none, or the new one is not finite.
        """
        number = self.number(task)
        packed = self._packed[number]
        if packed.kind not in (k.DISTANCE, k.COUPLING):
            kind = type(self._tasks[number]).__name__
            raise LinkworkError(
                f"task {packed.title!r} has no value: it is a {kind}.",
                hint="A DistanceTask or CouplingTask has one; others have a target (aim).",
            )
        if not math.isfinite(value):
            raise LinkworkError(f"the value of task {packed.title!r} is not finite.")
        for place in self._numbers(number, slice(k.SCALAR, k.SCALAR + 1)):
            place[:] = value

    def _pack(
        self, world: World, columns: Columns, which: list[int], *, flat: bool = False
    ) -> Problem:
        """Some of the tasks, as one level where they shall be."""
        chosen = [self._packed[n] for n in which]
        made = pack(world, columns, [replace(each, level=0) for each in chosen] if flat else chosen)
        self._packs.append((made, which))
        return made

    def _numbers(self, number: int, where: slice) -> list[np.ndarray]:
        """Numbers of a task in all packs that hold it, as views."""
        return [
            made.how[which.index(number), where] for made, which in self._packs if number in which
        ]

    def target(self, number: int) -> np.ndarray:
        """Seven numbers of a task's target, as they are."""
        return self._places[number][0].copy()

    def put(self, number: int, seven: np.ndarray) -> None:
        """Gives a task seven numbers as its target."""
        for place in self._places[number]:
            place[:] = seven

    def miss(self, number: int, distance: float, angle: float) -> Miss:
        """How far a task is from its target, and whether that is near enough."""
        title, near, near_turn = self._near[number]
        return Miss(title, distance, angle, distance <= near and angle <= near_turn)

    def misses(self, q: np.ndarray) -> list[Miss]:
        """How far each task is from its target at ``q``, loops last."""
        rows = look_at(self.problem, q)[2].tolist()
        return [self.miss(number, *row) for number, row in enumerate(rows)]

    def are_closed(self, q: np.ndarray) -> bool:
        """Whether the loops are closed at ``q``."""
        return all(miss.reached for miss in self.misses(q)[len(self._titles) :])
