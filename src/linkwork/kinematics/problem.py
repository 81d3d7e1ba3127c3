"""Problem: tasks on a world, packed for the kernels (see ``layout_kernels``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import tick_kernels
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.layout_kernels import (
    BODIES,
    BODY,
    CENTRE,
    COLUMNS,
    COUNT,
    COUPLING,
    EXTRA,
    FIRST,
    HOW,
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
    PIECE,
    PIECE_COUNT,
    PIECES,
    POSTURE,
    RAILS,
    ROUND,
    ROW,
    ROWS,
    SIDE,
    SIZES,
    SUPPORT,
    TABLE,
    TASKS,
    WHAT,
    WIDTH,
    open_rows,
    open_tasks,
    work_size,
)
from linkwork.kinematics.task_rows import Packed
from linkwork.spatial.pose import Pose
from linkwork.world import World


@dataclass
class Problem:
    """Tasks on a world as the kernels read them.

    Attributes:
        world: The world.
        columns: What may move.
        ints: Whole numbers: sizes, tree, columns, tasks.
        reals: Frames, factors, ranges, targets and weights.
        how: The part of ``reals`` that holds the tasks' numbers, one row by task.
        work: Room for what is computed.
        rows: Rows of all tasks together.
    """

    world: World
    columns: Columns
    ints: np.ndarray
    reals: np.ndarray
    how: np.ndarray
    work: np.ndarray
    rows: int


def pack(world: World, columns: Columns, packed: Sequence[Packed]) -> Problem:
    """Lays the tree, the columns and the tasks behind each other."""
    parent = world.parent
    width = max(world.nq + world.nv, world.nb, 1)
    what = np.zeros((len(packed), WHAT), np.int64)
    how = np.zeros((len(packed), HOW))
    support: list[tuple[int, int]] = []
    pieces: list[tuple[int, int]] = []
    bodies: list[int] = []
    table: list[np.ndarray] = []
    needed: set[int] = set()
    row = 0
    levels = sorted({each.level for each in packed})
    for t, each in enumerate(packed):
        how[t] = each.how
        what[t, [KIND, BODY, OTHER, ROW, COUNT, MASK]] = (
            each.kind, each.body, each.other, row, each.rows, each.mask
        )  # fmt: skip
        what[t, LEVEL] = levels.index(each.level)
        what[t, SIDE] = each.side
        row += each.rows
        mine = _moving(columns, parent, each)
        if each.table is not None:
            what[t, EXTRA] = len(table)
            table.append(np.concatenate([each.table, np.zeros(width - len(each.table))]))
        if each.kind == CENTRE:
            what[t, FIRST], what[t, MANY] = len(bodies), len(each.bodies)
            bodies += each.bodies
        else:
            what[t, FIRST], what[t, MANY] = len(support), len(mine)
            support += mine
        runs = _runs(sorted({int(columns.col[dof]) for dof, _ in mine}))
        what[t, PIECE], what[t, PIECE_COUNT] = len(pieces), len(runs)
        pieces += runs
        for body in (each.body, each.other, *each.bodies):
            needed.update(_chain(parent, body))
    for body in columns.by_body:  # fences may stand at whatever moves, also where no task looks
        needed.update(_chain(parent, body))
    # by depth, so that a body seldom waits for the one just before it
    order = sorted(needed, key=lambda body: (len(_chain(parent, body)), body))
    kinds = world.kind[order] if order else np.zeros(0, np.int64)
    is_round = int(np.isin(kinds, [BALL, FREE]).any())
    sizes = np.zeros(SIZES, np.int64)
    n = len(columns.dof)
    for place, value in (
        (NB, world.nb), (NQ, world.nq), (NV, world.nv), (COLUMNS, n), (ORDER, len(order)),
        (TASKS, len(packed)), (ROWS, row), (SUPPORT, len(support)), (PIECES, len(pieces)),
        (TABLE, len(table)), (BODIES, len(bodies)), (RAILS, len(world.rail)), (WIDTH, width),
        (LEVELS, len(levels)), (ROUND, is_round),
    ):  # fmt: skip
        sizes[place] = value
    index, frame, rail = world.tree
    of = np.bincount(world.dof_body, minlength=world.nb) if world.nv else np.zeros(world.nb)
    whole = [
        sizes, index, order, world.dof_body, of, columns.col, columns.coordinate, columns.dof,
        what, support, pieces, bodies,
    ]  # fmt: skip
    real = [
        frame, rail, columns.scale, columns.lo, columns.hi, columns.speed, columns.metric, how,
        np.array(table), world.com,
    ]  # fmt: skip
    ints = np.concatenate([np.asarray(each).astype(np.int64).ravel() for each in whole])
    reals = np.concatenate([np.asarray(each, float).ravel() for each in real])
    how_there = open_tasks.py_func(ints, reals)[1]
    return Problem(world, columns, ints, reals, how_there, np.zeros(work_size.py_func(ints)), row)


def _moving(columns: Columns, parent: np.ndarray, each: Packed) -> list[tuple[int, int]]:
    """Degrees of freedom that move a task, and on which side (0 its frame, 1 its goal)."""
    if each.kind == POSTURE:
        return []
    if each.kind == COUPLING:
        assert each.table is not None
        return [(int(d), 0) for d in np.flatnonzero(each.table) if columns.col[d] >= 0]
    if each.kind == CENTRE:
        return [(d, 0) for body in each.bodies for d in columns.of_body(body)]
    own, others = _chain(parent, each.body), _chain(parent, each.other)
    sides = [(d, 0) for body in own if body not in others for d in columns.of_body(body)]
    sides += [(d, 1) for body in others if body not in own for d in columns.of_body(body)]
    return sorted(sides)


def _chain(parent: np.ndarray, body: int) -> list[int]:
    """A body and those that carry it, without the world."""
    found = []
    while body > 0:
        found.append(body)
        body = int(parent[body])
    return found


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Ranges (first, past the last) that cover exactly these ascending numbers."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def look_at(problem: Problem, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors of all tasks at ``q``, their rows, and how far each misses: views that do not last."""
    settings = np.zeros(tick_kernels.SETTINGS)
    settings[tick_kernels.LOOK_ONLY] = 1.0
    v = np.zeros(problem.world.nv)
    tick_kernels.tick(problem.ints, problem.reals, problem.work, settings, q, v)
    return open_rows.py_func(problem.ints, problem.work)


def check_shape(q: np.ndarray, world: World) -> np.ndarray:
    """A copy of the coordinates as the kernels need them."""
    made = np.array(q, dtype=np.float64)
    if made.shape != world.q0.shape:
        raise LinkworkError(f"q must have {world.nq} numbers, not shape {made.shape}.")
    if not math.isfinite(made.dot(made)) and not np.isfinite(made).all():  # the quickest way
        raise LinkworkError("q holds numbers that are not finite.")
    return made


def check_poses(targets: Sequence[Pose] | np.ndarray) -> np.ndarray:
    """The numbers of poses (n×7), their quaternions of length 1."""
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
