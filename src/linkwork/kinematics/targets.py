"""Targets: what the tasks of a solver want, as its kernels read it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.answers import Miss
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.problem import pack
from linkwork.kinematics.task_rows import Packed
from linkwork.kinematics.tasks import Task
from linkwork.spatial.pose import Pose
from linkwork.world import World


class Targets:
    """The tasks of a solver, packed: all of them, and those of the first level alone.

    Args:
        world: The world.
        columns: What may move.
        tasks: The tasks that were given.
        packed: Those tasks for the kernels.
        closing: Tasks that keep loops closed; they have their numbers behind the others.

    Attributes:
        problem: All of them.
        first: Those of the first level.
        has_levels: Whether there are others.
    """

    def __init__(
        self, world: World, columns: Columns, tasks: Sequence[Task], packed: Sequence[Packed],
        closing: Sequence[Packed],
    ) -> None:  # fmt: skip
        self._tasks, self._packed = tasks, [*packed, *closing]
        lowest = min(each.level for each in packed)
        self._above = [n for n, each in enumerate(self._packed) if each.level <= lowest]
        self.has_levels = len(self._above) < len(self._packed)
        self.problem = pack(world, columns, self._packed)
        above = [self._packed[n] for n in self._above]
        self.first = pack(world, columns, above) if self.has_levels else self.problem
        self._near = [(each.title, *each.how[[k.NEAR, k.NEAR_TURN]]) for each in self._packed]

    def number(self, task: int | str) -> int:
        """Number of one of the given tasks."""
        titles = [each.title for each in self._packed[: len(self._tasks)]]
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
        packed = self._packed[number]
        if packed.kind in (k.POSTURE, k.COUPLING):
            kind = type(self._tasks[number]).__name__
            raise LinkworkError(f"task {packed.title!r} has no target: it is a {kind}.")
        return number

    def aim(self, target: Pose, task: int | str) -> None:
        """Gives a task another target.

        Raises:
            LinkworkError: If it has none, or the new one is not finite.
        """
        number, seven = self.aimed(task), target.array()
        if not math.isfinite(seven @ seven) and not np.isfinite(seven).all():
            raise LinkworkError(f"the target of task {self._packed[number].title!r} is not finite.")
        self.put(number, slice(k.TARGET, k.TARGET + 7), seven)

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
        self.put(number, slice(k.SCALAR, k.SCALAR + 1), value)

    def put(self, number: int, where: slice, values: np.ndarray | float) -> None:
        """Writes numbers of a task into all packs that hold it."""
        self.problem.how[number, where] = values
        if self.has_levels and number in self._above:
            self.first.how[self._above.index(number), where] = values

    def miss(self, number: int, distance: float, angle: float) -> Miss:
        """How far a task is from its target, and whether that is near enough."""
        title, near, near_turn = self._near[number]
        return Miss(title, distance, angle, bool(distance <= near and angle <= near_turn))
