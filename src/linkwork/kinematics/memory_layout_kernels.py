"""Memory layout of an inverse kinematics problem: one array of integers, one of reals.

A call with thirty arrays would cost more than an iteration. So all constant data are packed
(:mod:`linkwork.kinematics.problem`), and these functions return views of them. The layout is
defined only here; Python code uses their ``py_func``.

Columns are the unknowns: degrees of freedom that may move, followers of a coupling together with
their leader. ``col`` and ``scale`` are the column and the ratio of each degree of freedom.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel
from linkwork.kinematics.box_kernels import SQUARES, VECTORS

#: Sizes at the start of the integers.
NB, NQ, NV, COLUMNS, ORDER, TASKS, ROWS, SUPPORT, COLUMN_RANGES, TABLE, BODIES, RAILS = range(12)
WIDTH, LEVELS, ROUND = 12, 13, 14
SIZES = 16

#: Columns of ``indices``, the integers of a task.
KIND, BODY, OTHER, ROW, COUNT, FIRST, MANY, RANGE_FIRST, RANGE_COUNT, LEVEL, EXTRA, MASK, SIDE = (
    range(13)
)
TASK_INTS = 16

#: Columns of ``params``, the reals of a task.
LOCAL, LOCAL_OTHER, TARGET, WEIGHT, GAIN, LM = 0, 7, 14, 21, 27, 28
POSITION_TOLERANCE, ANGLE_TOLERANCE, SCALAR = 29, 30, 31
TASK_REALS = 32

#: Kinds of tasks.
POSE, TWIST, LOOK, CENTER_OF_MASS, POSTURE, COUPLING, DISTANCE, ALIGN = range(8)

#: Settings of a differential step.
STEP, RANGE_GAIN, SCHEME, DAMPING, DAMPING_VALUE, EDGE, LIMITED, EVALUATE_ONLY, STRIDE = range(9)
SETTINGS = 9

#: Settings of a search: maximum iterations of one start, starts, damping μ = w ‖e‖² + floor, spread
#: of random starts, iterations without progress, and the share of the cost that counts as progress.
#: A search along one chain has two tolerances [m, rad] in place of the spread.
MAX_ITERATIONS, STARTS, COST_DAMPING, DAMPING_FLOOR, SPREAD, MAX_STALLS, PROGRESS = range(7)
CHAIN_TOLERANCE, CHAIN_ANGLE_TOLERANCE, CHAIN_MAX_STALLS, CHAIN_PROGRESS = range(4, 8)


@flat_kernel
def open_tree(ints, reals):
    """Returns index, frame, rail, order (relevant bodies), body of each dof, dofs of each body."""
    nb, nr, nv = ints[NB], ints[RAILS], ints[NV]
    at = SIZES
    index = ints[at : at + 6 * nb].reshape(nb, 6)
    at += 6 * nb
    order = ints[at : at + ints[ORDER]]
    at += ints[ORDER]
    dof_body, dofs_of = ints[at : at + nv], ints[at + nv : at + nv + nb]
    frame = reals[: 17 * nb].reshape(nb, 17)
    rail = reals[17 * nb : 17 * nb + 3 * nr].reshape(nr, 3)
    return index, frame, rail, order, dof_body, dofs_of


@flat_kernel
def open_columns(ints, reals):
    """Returns col, dofq, dof, scale, lo, hi, speed, metric.

    By degree of freedom: its column, its coordinate (−1 if it has none of its own), its ratio. By
    column: the leading degree of freedom, its range, its velocity limit, and the weight of its
    motion.
    """
    nv, n = ints[NV], ints[COLUMNS]
    at = SIZES + 7 * ints[NB] + ints[ORDER] + nv
    col = ints[at : at + nv]
    dofq = ints[at + nv : at + 2 * nv]
    dof = ints[at + 2 * nv : at + 2 * nv + n]
    at = 17 * ints[NB] + 3 * ints[RAILS]
    scale = reals[at : at + nv]
    at += nv
    lo, hi = reals[at : at + n], reals[at + n : at + 2 * n]
    speed, mass = reals[at + 2 * n : at + 3 * n], reals[at + 3 * n : at + 4 * n]
    return col, dofq, dof, scale, lo, hi, speed, mass


@flat_kernel
def open_tasks(ints, reals):
    """Returns indices, params, support (dof, side), column_ranges, bodies, table, com."""
    nb, nv, n, nt = ints[NB], ints[NV], ints[COLUMNS], ints[TASKS]
    at = SIZES + 7 * nb + ints[ORDER] + 3 * nv + n
    indices = ints[at : at + TASK_INTS * nt].reshape(nt, TASK_INTS)
    at += TASK_INTS * nt
    support = ints[at : at + 2 * ints[SUPPORT]].reshape(ints[SUPPORT], 2)
    at += 2 * ints[SUPPORT]
    column_ranges = ints[at : at + 2 * ints[COLUMN_RANGES]].reshape(ints[COLUMN_RANGES], 2)
    at += 2 * ints[COLUMN_RANGES]
    bodies = ints[at : at + ints[BODIES]]
    at = 17 * nb + 3 * ints[RAILS] + nv + 4 * n
    params = reals[at : at + TASK_REALS * nt].reshape(nt, TASK_REALS)
    at += TASK_REALS * nt
    size = ints[TABLE] * ints[WIDTH]
    table = reals[at : at + size].reshape(ints[TABLE], ints[WIDTH])
    at += size
    com = reals[at : at + 3 * nb].reshape(nb, 3)
    return indices, params, support, column_ranges, bodies, table, com


@flat_kernel
def open_poses(ints, work):
    """Returns pose, motion, seen (frame and goal of each task), moments, scratch."""
    nb, nv, nt = ints[NB], ints[NV], ints[TASKS]
    at = 0
    pose = work[at : at + 7 * nb].reshape(nb, 7)
    at += 7 * nb
    motion = work[at : at + 6 * nv].reshape(nv, 6)
    at += 6 * nv
    seen = work[at : at + 24 * nt].reshape(nt, 24)
    at += 24 * nt
    moments = work[at : at + 4 * nb].reshape(nb, 4)
    at += 4 * nb
    scratch = work[at : at + 35].reshape(5, 7)
    return pose, motion, seen, moments, scratch


@flat_kernel
def _rows_at(ints):
    """Returns the offset of the rows, after the poses."""
    return 11 * ints[NB] + 6 * ints[NV] + 24 * ints[TASKS] + 35


@flat_kernel
def open_rows(ints, work):
    """Returns error (rows), rows (rows×columns), miss (tasks×2: position or value, angle)."""
    n, m, nt = ints[COLUMNS], ints[ROWS], ints[TASKS]
    at = _rows_at(ints)
    error = work[at : at + m]
    at += m
    rows = work[at : at + m * n].reshape(m, n)
    at += m * n
    return error, rows, work[at : at + 2 * nt].reshape(nt, 2)


@flat_kernel
def _system_at(ints):
    """Returns the offset of the system, after the rows."""
    return _rows_at(ints) + ints[ROWS] * (1 + ints[COLUMNS]) + 2 * ints[TASKS]


@flat_kernel
def open_system(ints, work):
    """Returns hessian, squares, vectors of the box; slope, x, lo, hi (4×n); v; two postures."""
    n, nv, nq = ints[COLUMNS], ints[NV], ints[NQ]
    at = _system_at(ints)
    hessian = work[at : at + n * n].reshape(n, n)
    at += n * n
    squares = work[at : at + SQUARES * n * n].reshape(SQUARES, n, n)
    at += SQUARES * n * n
    vectors = work[at : at + VECTORS * n].reshape(VECTORS, n)
    at += VECTORS * n
    line = work[at : at + 4 * n].reshape(4, n)
    at += 4 * n
    rates = work[at : at + nv]
    at += nv
    return hessian, squares, vectors, line, rates, work[at : at + 2 * nq].reshape(2, nq)


@flat_kernel
def _span_at(ints):
    """Returns the offset of the workspace of ``row_minimum``, after the system."""
    n = ints[COLUMNS]
    return _system_at(ints) + (1 + SQUARES) * n * n + (VECTORS + 4) * n + ints[NV] + 2 * ints[NQ]


@flat_kernel
def open_span(ints, work):
    """Returns transposed, bases, directions, gram, lines, shorts, four of ``row_minimum``.

    The first three are columns×width, the gram rows×width, the lines 3×width, where width is the
    number of rows rounded up to a multiple of four; the shorts are 8×columns, weight and pull the
    last two; four is rows×4. If there are no fewer rows than columns, only the shorts are not
    empty.
    """
    n, m = ints[COLUMNS], ints[ROWS]
    at = _span_at(ints)
    shorts = work[at : at + 8 * n].reshape(8, n)
    at += 8 * n
    few = m < n
    n, m = (n, m) if few else (0, 0)
    width = (m + 3) // 4 * 4
    transposed = work[at : at + n * width].reshape(n, width)
    at += n * width
    bases = work[at : at + n * width].reshape(n, width)
    at += n * width
    directions = work[at : at + n * width].reshape(n, width)
    at += n * width
    gram = work[at : at + m * width].reshape(m, width)
    at += m * width
    lines = work[at : at + 3 * width].reshape(3, width)
    at += 3 * width
    return transposed, bases, directions, gram, lines, shorts, work[at : at + 4 * m].reshape(m, 4)


@flat_kernel
def work_size(ints):
    """Returns the number of reals of ``work``."""
    n, m = ints[COLUMNS], ints[ROWS]
    width = (m + 3) // 4 * 4
    size = _span_at(ints) + 8 * n
    return size + (3 * n + m + 3) * width + 4 * m if m < n else size
