"""Compiled least squares of one priority level in the null space of the higher ones."""

from __future__ import annotations

import math

from linkwork.core.jit import kernel
from linkwork.kinematics.damping_kernels import (
    CONSTANT,
    damping_from_gram,
    damping_from_rows,
    posture_damping,
)
from linkwork.kinematics.linear_kernels import factorize, substitute
from linkwork.kinematics.memory_layout_kernels import (
    COUNT,
    DAMPING,
    EXTRA,
    GAIN,
    KIND,
    LEVEL,
    LM,
    POSTURE,
    RANGE_COUNT,
    RANGE_FIRST,
    ROW,
)
from linkwork.kinematics.value_task_kernels import posture_error

_DEPENDENT = 1e-9  # relative residual length below which a row is dependent


@kernel
def level_rows(level, tree, columns, tasks, out, q, nq, inverse_root, jac, err):
    """Computes rows and errors of one level, in columns scaled by the metric, postures last.

    Returns:
        The number of rows, the number of them that are not of postures, and the damping of the
        tasks themselves (``lm_damping`` times their squared error).
    """
    index, _, _, _, dof_body, _ = tree
    col, _, _, scale, _, _, _, _ = columns
    indices, params, _, _, _, table, _ = tasks
    error, rows, _ = out
    n = jac.shape[1]
    m, damping = 0, 0.0
    for t in range(indices.shape[0]):
        if indices[t, LEVEL] != level or indices[t, KIND] == POSTURE:
            continue
        for r in range(indices[t, ROW], indices[t, ROW] + indices[t, COUNT]):
            for c in range(n):
                jac[m, c] = 0.0
            _copy_row(tasks, t, r, rows, jac, m)
            for c in range(n):
                jac[m, c] *= inverse_root[c]
            err[m] = error[r]
            damping += params[t, LM] * err[m] * err[m]
            m += 1
    plain = m
    for t in range(indices.shape[0]):
        if indices[t, LEVEL] != level or indices[t, KIND] != POSTURE:
            continue
        row = table[indices[t, EXTRA]]
        for d in range(col.shape[0]):
            w, c, b = row[nq + d], col[d], dof_body[d]
            if w > 0.0 and c >= 0:
                for j in range(n):
                    jac[m, j] = 0.0
                jac[m, c] = w * scale[d] * inverse_root[c]
                err[m] = w * params[t, GAIN] * posture_error(index, q, row, b, d - index[b, 3])
                damping += params[t, LM] * err[m] * err[m]
                m += 1
    return m, plain, damping


@kernel
def _copy_row(tasks, t, r, rows, jac, m):
    indices, _, _, column_ranges, _, _, _ = tasks
    for p in range(indices[t, RANGE_FIRST], indices[t, RANGE_FIRST] + indices[t, RANGE_COUNT]):
        for c in range(column_ranges[p, 0], column_ranges[p, 1]):
            jac[m, c] = rows[r, c]


@kernel
def level_damping(rows, m, plain, err, settings, gram, ignored):
    """Returns λ² of a level by its rows, of which the first ``plain`` are not of postures."""
    if plain > 0:
        return damping_from_rows(rows, plain, err, settings, gram, ignored)
    return posture_damping(settings, largest_row_norm(rows, m) * m)


@kernel
def squared_norm(rows, m):
    """Returns the sum of squares of the first rows."""
    size = 0.0
    for r in range(m):
        for c in range(rows.shape[1]):
            size += rows[r, c] * rows[r, c]
    return size


@kernel
def _moves_all_columns(jac, m):
    """Returns whether rows of postures involve each column."""
    for c in range(jac.shape[1]):
        moves = False
        for r in range(m):
            moves = moves or jac[r, c] != 0.0
        if not moves:
            return False
    return True


@kernel
def damping_below(jac, projected, m, plain, err, settings, span, reduced, gram, ignored):
    """Returns λ² of a level with its rows ``projected`` across the higher ones.

    A posture of all columns is never singular: its rows are lost or kept entirely. A partial one
    may require a motion in which its joints hardly take part, and is damped by the span of its
    rows.
    """
    if plain > 0:
        ignored += squared_norm(jac, plain) - squared_norm(projected, plain)
        return damping_from_rows(projected, plain, err, settings, gram, ignored)
    if settings[DAMPING] == CONSTANT or _moves_all_columns(jac, m):
        return posture_damping(settings, largest_row_norm(projected, m) * m)
    size, k = largest_row_norm(jac, m), 0
    for r in range(m):
        k = add_row(span, k, projected[r], size)
    if k == 0:
        return posture_damping(settings, size)
    _reduce(projected, m, span, k, reduced, gram)
    width = 0.0
    for r in range(m):
        width += err[r] * err[r]
    return damping_from_gram(
        gram, k, width, settings, squared_norm(jac, m) - squared_norm(projected, m)
    )


@kernel
def _reduce(projected, m, span, k, reduced, gram):
    """Computes rows in the basis ``span`` of their span, and half of their Gram matrix."""
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
def largest_row_norm(rows, m):
    """Returns the squared length of the longest of the first rows."""
    most = 0.0
    for r in range(m):
        size = 0.0
        for c in range(rows.shape[1]):
            size += rows[r, c] * rows[r, c]
        most = max(most, size)
    return most


@kernel
def project(basis, count, vector):
    """Projects ``vector`` off the first rows of ``basis``, twice against rounding."""
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
    """Adds the independent part of ``row`` to the orthonormal rows; returns their number.

    ``scale`` is the squared length of the longest row beside it: a row that is negligible relative
    to it counts as dependent.
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
    """Computes the step from ``x`` that solves a level across ``basis``, damped about ``origin``.

    It is computed in an orthonormal basis ``span`` of the projected rows, which avoids divisions by
    pivots that are singular by construction.
    """
    n = x.shape[0]
    for c in range(n):
        step[c] = x[c] - origin[c]
    project(basis, count, step)
    size = largest_row_norm(jac, m)
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
    if not factorize(gram, k):
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
