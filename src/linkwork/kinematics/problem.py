"""Inverse kinematics problem: tasks with their targets on a world, packed for the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Pose
from linkwork.kinematics import differential_kernels
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.memory_layout_kernels import (
    BODIES,
    BODY,
    CENTER_OF_MASS,
    COLUMN_RANGES,
    COLUMNS,
    COUNT,
    COUPLING,
    EXTRA,
    FIRST,
    KIND,
    LEVEL,
    LEVELS,
    MANY,
    MASK,
    NB,
    NQ,
    NV,
    ORDER,
    OTHER,
    POSTURE,
    RAILS,
    RANGE_COUNT,
    RANGE_FIRST,
    ROUND,
    ROW,
    ROWS,
    SIDE,
    SIZES,
    SUPPORT,
    TABLE,
    TASK_INTS,
    TASK_REALS,
    TASKS,
    WIDTH,
    open_rows,
    open_tasks,
    work_size,
)
from linkwork.kinematics.packed_tasks import PackedTask
from linkwork.kinematics.solutions import TaskError
from linkwork.kinematics.tasks import Task
from linkwork.model.world import World


@dataclass
class IkProblem:
    """Tasks on a world in kernel form.

    Attributes:
        world: The world.
        columns: The unknowns.
        ints: Integers: sizes, tree, columns, tasks.
        reals: Frames, ratios, ranges, targets and weights.
        params: The task parameters within ``reals``, one row per task.
        work: Workspace.
        rows: Number of rows of all tasks.
    """

    world: World
    columns: Columns
    ints: np.ndarray
    reals: np.ndarray
    params: np.ndarray
    work: np.ndarray
    rows: int


def pack(world: World, columns: Columns, packed: Sequence[PackedTask]) -> IkProblem:
    """Packs the tree, the columns and the tasks."""
    parent = world.parent
    width = max(world.nq + world.nv, world.nb, 1)
    indices = np.zeros((len(packed), TASK_INTS), np.int64)
    params = np.zeros((len(packed), TASK_REALS))
    support: list[tuple[int, int]] = []
    column_ranges: list[tuple[int, int]] = []
    bodies: list[int] = []
    table: list[np.ndarray] = []
    needed: set[int] = set()
    row = 0
    levels = sorted({each.level for each in packed})
    for t, each in enumerate(packed):
        params[t] = each.params
        indices[t, [KIND, BODY, OTHER, ROW, COUNT, MASK]] = (
            each.kind, each.body, each.other, row, each.rows, each.mask
        )  # fmt: skip
        indices[t, LEVEL] = levels.index(each.level)
        indices[t, SIDE] = each.side
        row += each.rows
        mine = _moving(columns, parent, each)
        if each.table is not None:
            indices[t, EXTRA] = len(table)
            table.append(np.concatenate([each.table, np.zeros(width - len(each.table))]))
        if each.kind == CENTER_OF_MASS:
            indices[t, FIRST], indices[t, MANY] = len(bodies), len(each.bodies)
            bodies += each.bodies
        else:
            indices[t, FIRST], indices[t, MANY] = len(support), len(mine)
            support += mine
        ranges = _index_ranges(sorted({int(columns.col[dof]) for dof, _ in mine}))
        indices[t, RANGE_FIRST], indices[t, RANGE_COUNT] = len(column_ranges), len(ranges)
        column_ranges += ranges
        for body in (each.body, each.other, *each.bodies):
            needed.update(_chain(parent, body))
    for body in columns.by_body:  # inequalities may involve any moving body
        needed.update(_chain(parent, body))
    # by depth, to avoid dependencies between consecutive bodies
    order = sorted(needed, key=lambda body: (len(_chain(parent, body)), body))
    kinds = world.kind[order] if order else np.zeros(0, np.int64)
    is_round = int(np.isin(kinds, [BALL, FREE]).any())
    sizes = np.zeros(SIZES, np.int64)
    n = len(columns.dof)
    for view, value in (
        (NB, world.nb), (NQ, world.nq), (NV, world.nv), (COLUMNS, n), (ORDER, len(order)),
        (TASKS, len(packed)), (ROWS, row), (SUPPORT, len(support)),
        (COLUMN_RANGES, len(column_ranges)), (TABLE, len(table)), (BODIES, len(bodies)),
        (RAILS, len(world.rail)), (WIDTH, width), (LEVELS, len(levels)), (ROUND, is_round),
    ):  # fmt: skip
        sizes[view] = value
    index, frame, rail = world.tree
    dof_counts = np.bincount(world.dof_body, minlength=world.nb) if world.nv else np.zeros(world.nb)
    integer_arrays = [
        sizes, index, order, world.dof_body, dof_counts, columns.col, columns.coordinate,
        columns.dof, indices, support, column_ranges, bodies,
    ]  # fmt: skip
    real_arrays = [
        frame, rail, columns.scale, columns.lo, columns.hi, columns.speed, columns.metric, params,
        np.array(table), world.com,
    ]  # fmt: skip
    ints = np.concatenate([np.asarray(each).astype(np.int64).ravel() for each in integer_arrays])
    reals = np.concatenate([np.asarray(each, float).ravel() for each in real_arrays])
    how_there = open_tasks.py_func(ints, reals)[1]
    return IkProblem(world, columns, ints, reals, how_there, np.zeros(work_size.py_func(ints)), row)


def _moving(columns: Columns, parent: np.ndarray, each: PackedTask) -> list[tuple[int, int]]:
    """Returns the degrees of freedom of a task, and their side (0 its frame, 1 its goal)."""
    if each.kind == POSTURE:
        return []
    if each.kind == COUPLING:
        assert each.table is not None
        return [(int(d), 0) for d in np.flatnonzero(each.table) if columns.col[d] >= 0]
    if each.kind == CENTER_OF_MASS:
        return [(d, 0) for body in each.bodies for d in columns.of_body(body)]
    own, others = _chain(parent, each.body), _chain(parent, each.other)
    sides = [(d, 0) for body in own if body not in others for d in columns.of_body(body)]
    sides += [(d, 1) for body in others if body not in own for d in columns.of_body(body)]
    return sorted(sides)


def _chain(parent: np.ndarray, body: int) -> list[int]:
    """Returns a body and its ancestors, without the world."""
    found = []
    while body > 0:
        found.append(body)
        body = int(parent[body])
    return found


def _index_ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """Returns ranges (first, past the last) that cover exactly these ascending numbers."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number:
            ranges[-1] = (ranges[-1][0], number + 1)
        else:
            ranges.append((number, number + 1))
    return ranges


def evaluate_tasks(problem: IkProblem, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns errors of all tasks at ``q``, their rows and plain errors, as temporary views."""
    settings = np.zeros(k.SETTINGS)
    settings[k.EVALUATE_ONLY] = 1.0
    v = np.zeros(problem.world.nv)
    differential_kernels.step(problem.ints, problem.reals, problem.work, settings, q, v)
    return open_rows.py_func(problem.ints, problem.work)


def check_shape(q: np.ndarray, world: World) -> np.ndarray:
    """Returns a copy of the coordinates in kernel form."""
    made = np.array(q, dtype=np.float64)
    if made.shape != world.q0.shape:
        raise LinkworkError(f"q must have {world.nq} numbers, not shape {made.shape}.")
    if not math.isfinite(made.dot(made)) and not np.isfinite(made).all():  # fast check first
        raise LinkworkError("q holds numbers that are not finite.")
    return made


def check_poses(targets: Sequence[Pose] | np.ndarray) -> np.ndarray:
    """Returns the numbers of poses (n×7) with normalized quaternions."""
    rows = [t.array() if isinstance(t, Pose) else np.asarray(t, float) for t in targets]
    for n, row in enumerate(rows):
        if row.shape != (7,):
            raise LinkworkError(f"target {n} must be a pose or its 7 numbers, not {row.tolist()}.")
    made = np.array(rows).reshape(-1, 7)
    for n in np.flatnonzero(~np.isfinite(made).all(axis=1)):
        raise LinkworkError(f"target {n} is not finite: {made[n].tolist()}.")
    size = np.linalg.norm(made[:, 3:], axis=1)
    if (size < 1e-9).any():
        raise LinkworkError(f"the quaternion of target {int(np.argmin(size))} must not be zero.")
    off = np.abs(size - 1.0) > 1e-9
    made[off, 3:] /= size[off, None]
    return made


class TaskTargets:
    """The packed tasks of a solver: all of them, those of the first level, and loops alone.

    Args:
        world: The world.
        columns: The unknowns.
        tasks: The given tasks.
        packed: Those tasks, packed.
        closing: Tasks that keep loops closed; they follow the others.

    Attributes:
        problem: All of them.
        first: Those of the first level, and loops.
        together: All tasks with tolerances as one level, if lower levels have any.
        loops: Tasks that keep loops closed.
        closing: Those alone, if there are any.
        has_levels: Whether there are lower levels.
    """

    def __init__(
        self, world: World, columns: Columns, tasks: Sequence[Task], packed: Sequence[PackedTask],
        closing: Sequence[PackedTask],
    ) -> None:  # fmt: skip
        self._tasks, self._packed = tasks, [*packed, *closing]
        lowest = min(each.level for each in packed)
        everything = list(range(len(self._packed)))
        above = [n for n in everything if self._packed[n].level <= lowest]
        self.has_levels = len(above) < len(self._packed)
        self.problem = pack(world, columns, self._packed)
        self._packs = [(self.problem, everything)]
        self.first = self._pack(world, columns, above) if self.has_levels else self.problem
        counted = [
            n for n in everything if math.isfinite(self._packed[n].params[k.POSITION_TOLERANCE])
        ]
        more = self.has_levels and not closing and counted and not set(counted) <= set(above)
        self.together = self._pack(world, columns, counted, flat=True) if more else None
        self.loops = closing
        self.closing = pack(world, columns, closing) if closing else None
        self._titles = [each.title for each in packed]
        self._target_views = [
            self._numbers(n, slice(k.TARGET, k.TARGET + 7)) for n in range(len(packed))
        ]
        for number, each in enumerate(packed):
            if each.kind in (k.POSTURE, k.COUPLING):
                self._target_views[number] = []
        self._tolerances = [
            (
                each.title,
                float(each.params[k.POSITION_TOLERANCE]),
                float(each.params[k.ANGLE_TOLERANCE]),
            )
            for each in self._packed
        ]

    def number(self, task: int | str) -> int:
        """Returns the index of one of the given tasks."""
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

    def index_with_target(self, task: int | str) -> int:
        """Returns the index of a task that has a target."""
        number = self.number(task)
        if not self._target_views[number]:
            packed = self._packed[number]
            kind = type(self._tasks[number]).__name__
            raise LinkworkError(f"task {packed.title!r} has no target: it is a {kind}.")
        return number

    def set_target(self, target: Pose, task: int | str) -> None:
        """Sets the target of a task.

        Raises:
            LinkworkError: If it has none, or the new one is not finite.
        """
        views = self._target_views[
            0 if task == 0 and self._target_views[0] else self.index_with_target(task)
        ]
        seven = (*target.xyz, *target.quat)
        if not math.isfinite(sum(seven)):
            title = self._titles[self.index_with_target(task)]
            raise LinkworkError(f"the target of task {title!r} is not finite.")
        for view in views:
            view[:] = seven

    def set_value(self, value: float, task: int | str) -> None:
        """Sets the value of a distance or coupling task.

        Raises:
            LinkworkError: If it has none, or the new one is not finite.
        """
        number = self.number(task)
        packed = self._packed[number]
        if packed.kind not in (k.DISTANCE, k.COUPLING):
            kind = type(self._tasks[number]).__name__
            raise LinkworkError(
                f"task {packed.title!r} has no value: it is a {kind}.",
                hint="A DistanceTask or CouplingTask has one; others have a target (set_target).",
            )
        if not math.isfinite(value):
            raise LinkworkError(f"the value of task {packed.title!r} is not finite.")
        for view in self._numbers(number, slice(k.SCALAR, k.SCALAR + 1)):
            view[:] = value

    def _pack(
        self, world: World, columns: Columns, which: list[int], *, flat: bool = False
    ) -> IkProblem:
        """Packs some of the tasks, as one level if ``flat``."""
        chosen = [self._packed[n] for n in which]
        made = pack(world, columns, [replace(each, level=0) for each in chosen] if flat else chosen)
        self._packs.append((made, which))
        return made

    def _numbers(self, number: int, where: slice) -> list[np.ndarray]:
        """Returns views of a task's parameters in all packs that contain it."""
        return [
            made.params[which.index(number), where]
            for made, which in self._packs
            if number in which
        ]

    def target(self, number: int) -> np.ndarray:
        """Returns the seven numbers of a task's target."""
        return self._target_views[number][0].copy()

    def put(self, number: int, seven: np.ndarray) -> None:
        """Sets the seven numbers of a task's target."""
        for view in self._target_views[number]:
            view[:] = seven

    def miss(self, number: int, distance: float, angle: float) -> TaskError:
        """Returns the error of a task with its tolerance applied."""
        title, tolerance, angle_tolerance = self._tolerances[number]
        return TaskError(title, distance, angle, distance <= tolerance and angle <= angle_tolerance)

    def task_errors(self, q: np.ndarray) -> list[TaskError]:
        """Returns the error of each task at ``q``, loops last."""
        rows = evaluate_tasks(self.problem, q)[2].tolist()
        return [self.miss(number, *row) for number, row in enumerate(rows)]

    def are_closed(self, q: np.ndarray) -> bool:
        """Returns whether the loops are closed at ``q``."""
        return all(miss.reached for miss in self.task_errors(q)[len(self._titles) :])
