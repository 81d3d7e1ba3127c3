"""Compiled levels: the rows of one priority, and their least squares across those above it."""

from __future__ import annotations

import math

from linkwork.jit import kernel
from linkwork.kinematics.damping_kernels import CONSTANT, damping_by, damping_of, posture_damping
from linkwork.kinematics.layout_kernels import (
    COUNT,
    EXTRA,
    GAIN,
    KIND,
    LEVEL,
    LM,
    PIECE,
    PIECE_COUNT,
    POSTURE,
    ROW,
)
from linkwork.kinematics.linear_kernels import factorise, substitute
from linkwork.kinematics.value_kernels import posture_error

_DEPENDENT = 1e-9  # of a row's length: what is left of it counts as rounding


@kernel
def level_rows(level, tree, columns, tasks, out, q, nq, inverse_root, jac, err):
    """Rows and errors of one level, in columns scaled by the metric, those of postures last.

    Returns:
        How many there are, how many of them are no posture's, and the damping that tasks ask for
        themselves (their ``lm`` times their squared error).
    """
    index, dof_body = tree[0], tree[4]
    col, scale, table = columns[0], columns[3], tasks[5]
    what, how = tasks[0], tasks[1]
    error, rows, _ = out
    n = jac.shape[1]
    m, damping = 0, 0.0
    for t in range(what.shape[0]):
        if what[t, LEVEL] != level or what[t, KIND] == POSTURE:
            continue
        for r in range(what[t, ROW], what[t, ROW] + what[t, COUNT]):
            for c in range(n):
                jac[m, c] = 0.0
            _copy_row(tasks, t, r, rows, jac, m)
            for c in range(n):
                jac[m, c] *= inverse_root[c]
            err[m] = error[r]
            damping += how[t, LM] * err[m] * err[m]
            m += 1
    plain = m
    for t in range(what.shape[0]):
        if what[t, LEVEL] != level or what[t, KIND] != POSTURE:
            continue
        row = table[what[t, EXTRA]]
        for d in range(col.shape[0]):
            w, c, b = row[nq + d], col[d], dof_body[d]
            if w > 0.0 and c >= 0:
                for j in range(n):
                    jac[m, j] = 0.0
                jac[m, c] = w * scale[d] * inverse_root[c]
                err[m] = w * how[t, GAIN] * posture_error(index, q, row, b, d - index[b, 3])
                damping += how[t, LM] * err[m] * err[m]
                m += 1
    return m, plain, damping


@kernel
def _copy_row(tasks, t, r, rows, jac, m):
    what, pieces = tasks[0], tasks[3]
    for p in range(what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]):
        for c in range(pieces[p, 0], pieces[p, 1]):
            jac[m, c] = rows[r, c]


@kernel
def level_damping(rows, m, plain, err, settings, gram, lost):
    """λ² of a level: by its rows, of which the first ``plain`` are no posture's."""
    if plain > 0:
        return damping_of(rows, plain, err, settings, gram, lost)
    return posture_damping(settings, longest(rows, m) * m)


@kernel
def size_of(rows, m):
    """Sum of the squares of the first rows."""
    size = 0.0
    for r in range(m):
        for c in range(rows.shape[1]):
            size += rows[r, c] * rows[r, c]
    return size


@kernel
def _speaks_of_all(jac, m):
    """Whether rows of postures move each column."""
    for c in range(jac.shape[1]):
        moves = False
        for r in range(m):
            moves = moves or jac[r, c] != 0.0
        if not moves:
            return False
    return True


@kernel
def damping_below(jac, projected, m, plain, err, settings, span, reduced, gram, lost):
    """λ² of a level across those above it, which leave ``projected`` of its rows.

    A posture of all columns is never singular: its rows are lost or kept whole. One that names
    some may want a motion in which those hardly take part, and is damped by what its rows span.
    """
    if plain > 0:
        lost += size_of(jac, plain) - size_of(projected, plain)
        return damping_of(projected, plain, err, settings, gram, lost)
    if settings[3] == CONSTANT or _speaks_of_all(jac, m):
        return posture_damping(settings, longest(projected, m) * m)
    size, k = longest(jac, m), 0
    for r in range(m):
        k = add_row(span, k, projected[r], size)
    if k == 0:
        return posture_damping(settings, size)
    _reduce(projected, m, span, k, reduced, gram)
    wide = 0.0
    for r in range(m):
        wide += err[r] * err[r]
    return damping_by(gram, k, wide, settings, size_of(jac, m) - size_of(projected, m))


@kernel
def _reduce(projected, m, span, k, reduced, gram):
    """Rows in the basis ``span`` of what they span, and the upper half of their Gram matrix."""
    for r in range(m):
        for i in range(k):
            s = 0.0
            for c in range(projected.shape[1]):
                s += projected[r, c] * span[i, c]
            reduced[r, i] = s
    for i in range(k):
        for j in range(i, k):
            s = 0.0
            for r in range(m):
                s += reduced[r, i] * reduced[r, j]
            gram[i, j] = s


@kernel
def longest(rows, m):
    """Squared length of the longest of the first rows."""
    most = 0.0
    for r in range(m):
        size = 0.0
        for c in range(rows.shape[1]):
            size += rows[r, c] * rows[r, c]
        most = max(most, size)
    return most


@kernel
def project(basis, count, vector):
    """Takes from ``vector`` what the first rows of ``basis`` span, twice for the rounding."""
    n = vector.shape[0]
    for _ in range(2):
        for k in range(count):
            s = 0.0
            for c in range(n):
                s += basis[k, c] * vector[c]
            for c in range(n):
                vector[c] -= s * basis[k, c]


@kernel
def add_row(basis, count, row, scale):
    """Adds what is new in ``row`` to the orthonormal rows; returns how many there are.

    ``scale`` is the squared length of the longest row beside it: what is as nothing to that is
    rounding, even where the whole row is.
    """
    n = row.shape[0]
    if count >= n:
        return count
    before = 0.0
    for c in range(n):
        before += row[c] * row[c]
        basis[count, c] = row[c]
    if before == 0.0:
        return count
    project(basis, count, basis[count])
    after = 0.0
    for c in range(n):
        after += basis[count, c] * basis[count, c]
    if after <= _DEPENDENT * _DEPENDENT * max(before, scale):
        return count
    inverse = 1.0 / math.sqrt(after)
    for c in range(n):
        basis[count, c] *= inverse
    return count + 1


@kernel
def damped_step(
    jac, m, err, basis, count, damping, x, origin, projected, span, reduced, gram, z, step
):  # fmt: skip
    """The step off ``x`` that solves a level's rows across ``basis``, damped about ``origin``.

    It is sought among what the projected rows span (an orthonormal basis of theirs, ``span``), so
    that nothing has to be divided by what is singular by construction.
    """
    n = x.shape[0]
    for c in range(n):
        step[c] = x[c] - origin[c]
    project(basis, count, step)
    size = longest(jac, m)
    k = 0
    for r in range(m):
        s = err[r]
        for c in range(n):
            s -= jac[r, c] * (x[c] - step[c])
            projected[r, c] = jac[r, c]
        z[r] = s
        project(basis, count, projected[r])
        k = add_row(span, k, projected[r], size)
    _reduce(projected, m, span, k, reduced, gram)
    trace = 0.0
    for i in range(k):
        trace += gram[i, i]
    right = gram[n]
    for i in range(k):
        gram[i, i] += damping + 1e-15 * trace + 1e-300
        s = 0.0
        for r in range(m):
            s += reduced[r, i] * z[r]
        right[i] = s
    if not factorise(gram, k):
        for c in range(n):
            step[c] = 0.0
        return
    substitute(gram, k, right)
    for c in range(n):
        s = 0.0
        for i in range(k):
            s += right[i] * span[i, c]
        step[c] = s - step[c]
    project(basis, count, step)
