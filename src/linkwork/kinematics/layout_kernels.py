"""How a problem of inverse kinematics lies in memory: one row of whole numbers, one of reals.

A call with thirty arrays would cost more than an iteration. So everything that stays is packed
(:mod:`linkwork.kinematics.problem`), and these functions open the packs again as views. Where
anything lies is said here alone; Python opens the packs by their ``py_func``.

Columns are the unknowns: degrees of freedom that may move, a follower of a coupling counted with
its leader. ``col`` and ``scale`` say in which column and how strongly each degree of freedom goes.
"""

from __future__ import annotations

from linkwork.jit import flat_kernel
from linkwork.kinematics.box_kernels import SQUARES, VECTORS

#: Sizes at the front of the whole numbers.
NB, NQ, NV, COLUMNS, ORDER, TASKS, ROWS, SUPPORT, PIECES, TABLE, BODIES, RAILS = range(12)
WIDTH, LEVELS, ROUND = 12, 13, 14
SIZES = 16

#: Columns of ``what``, the whole numbers of a task.
KIND, BODY, OTHER, ROW, COUNT, FIRST, MANY, PIECE, PIECE_COUNT, LEVEL, EXTRA, MASK, SIDE = range(13)
WHAT = 16

#: Columns of ``how``, the reals of a task.
LOCAL, LOCAL_OTHER, TARGET, WEIGHT, GAIN, LM = 0, 7, 14, 21, 27, 28
NEAR, NEAR_TURN, SCALAR = 29, 30, 31
HOW = 32

#: Kinds of tasks.
POSE, TWIST, LOOK, CENTRE, POSTURE, COUPLING, DISTANCE, ALIGN = range(8)


@flat_kernel
def open_tree(ints, reals):
    """index, frame, rail, order (bodies that matter), body of each dof, dofs of each body."""
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
    """col, dofq, dof, scale, lo, hi, speed, mass.

    By degree of freedom: its column, its coordinate (−1 where it has none of its own), its factor.
    By column: the leading degree of freedom, its range, its speed, and the weight of its motion.
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
    """what, how, support (degree of freedom, side), pieces of columns, bodies, table, com."""
    nb, nv, n, nt = ints[NB], ints[NV], ints[COLUMNS], ints[TASKS]
    at = SIZES + 7 * nb + ints[ORDER] + 3 * nv + n
    what = ints[at : at + WHAT * nt].reshape(nt, WHAT)
    at += WHAT * nt
    support = ints[at : at + 2 * ints[SUPPORT]].reshape(ints[SUPPORT], 2)
    at += 2 * ints[SUPPORT]
    pieces = ints[at : at + 2 * ints[PIECES]].reshape(ints[PIECES], 2)
    at += 2 * ints[PIECES]
    bodies = ints[at : at + ints[BODIES]]
    at = 17 * nb + 3 * ints[RAILS] + nv + 4 * n
    how = reals[at : at + HOW * nt].reshape(nt, HOW)
    at += HOW * nt
    size = ints[TABLE] * ints[WIDTH]
    table = reals[at : at + size].reshape(ints[TABLE], ints[WIDTH])
    at += size
    com = reals[at : at + 3 * nb].reshape(nb, 3)
    return what, how, support, pieces, bodies, table, com


@flat_kernel
def open_places(ints, work):
    """pose, motion, seen, moments, scratch: what stands where, and what each task looks at."""
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
    """Where the rows begin: behind the places."""
    return 11 * ints[NB] + 6 * ints[NV] + 24 * ints[TASKS] + 35


@flat_kernel
def open_rows(ints, work):
    """Error (rows), rows (rows×columns), miss (tasks×2: position or value, angle)."""
    n, m, nt = ints[COLUMNS], ints[ROWS], ints[TASKS]
    at = _rows_at(ints)
    error = work[at : at + m]
    at += m
    rows = work[at : at + m * n].reshape(m, n)
    at += m * n
    return error, rows, work[at : at + 2 * nt].reshape(nt, 2)


@flat_kernel
def _system_at(ints):
    """Where the system begins: behind the rows."""
    return _rows_at(ints) + ints[ROWS] * (1 + ints[COLUMNS]) + 2 * ints[TASKS]


@flat_kernel
def open_system(ints, work):
    """hessian, squares and vectors of the box; slope, x, lo, hi (4×n); v (nv); two postures."""
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
    """Where the room of the few rows begins: behind the system."""
    n = ints[COLUMNS]
    return _system_at(ints) + (1 + SQUARES) * n * n + (VECTORS + 4) * n + ints[NV] + 2 * ints[NQ]


@flat_kernel
def open_span(ints, work):
    """What ``row_minimum`` works in: turned, bases, ways, gram, lines, shorts, four.

    The first three are columns×wide, the gram rows×wide, the lines 3×wide, where wide is the
    number of rows up to a multiple of four; the shorts are 8×columns, weight and pull the last two;
    four is rows×4. Where rows are not fewer than columns there are the shorts alone.
    """
    n, m = ints[COLUMNS], ints[ROWS]
    at = _span_at(ints)
    shorts = work[at : at + 8 * n].reshape(8, n)
    at += 8 * n
    few = m < n
    n, m = (n, m) if few else (0, 0)
    wide = (m + 3) // 4 * 4
    turned = work[at : at + n * wide].reshape(n, wide)
    at += n * wide
    bases = work[at : at + n * wide].reshape(n, wide)
    at += n * wide
    ways = work[at : at + n * wide].reshape(n, wide)
    at += n * wide
    gram = work[at : at + m * wide].reshape(m, wide)
    at += m * wide
    lines = work[at : at + 3 * wide].reshape(3, wide)
    at += 3 * wide
    return turned, bases, ways, gram, lines, shorts, work[at : at + 4 * m].reshape(m, 4)


@flat_kernel
def work_size(ints):
    """How many reals ``work`` has."""
    n, m = ints[COLUMNS], ints[ROWS]
    wide = (m + 3) // 4 * 4
    size = _span_at(ints) + 8 * n
    return size + (3 * n + m + 3) * wide + 4 * m if m < n else size
