"""Compiled task priorities: damping, strict levels within a box, and 003's nested form."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import array_kernel, kernel
from linkwork.kinematics.layout_kernels import COUNT, EXTRA, GAIN, KIND, LEVEL, LEVELS, POSTURE, ROW
from linkwork.kinematics.linear_kernels import factorise, substitute
from linkwork.kinematics.task_kernels import posture_error

#: Ways to go about priorities.
STRICT, NESTED = 0, 1

#: Where the damping comes from.
CONSTANT, SMALLEST, ROBOTIX = 0, 1, 2

_DEPENDENT = 1e-9  # of a row's length: what is left of it counts as rounding


@kernel
def smallest_singular(gram, n):
    """Smallest singular value from the Gram matrix (upper half; overwritten), by inverse powers."""
    trace = 0.0
    for i in range(n):
        trace += gram[i, i]
    shift = 1e-14 * trace + 1e-300
    for i in range(n):
        gram[i, i] += shift
    x = np.empty(n)
    for i in range(n):
        x[i] = 1.0 + 0.37 * ((i * 7919) % 13) / 13.0 * (-1.0 if i % 2 else 1.0)
    if n == 0 or not factorise(gram, n):
        return 0.0
    value = 0.0
    for _ in range(12):
        size = 0.0
        for i in range(n):
            size += x[i] * x[i]
        inverse = 1.0 / math.sqrt(size)
        for i in range(n):
            x[i] *= inverse
        substitute(gram, n, x)
        size = 0.0
        for i in range(n):
            size += x[i] * x[i]
        value = 1.0 / math.sqrt(size)
    return math.sqrt(max(value - shift, 0.0))


@array_kernel
def damping_of(rows, m, error, settings, scratch):
    """λ² for these rows: given, from the smallest singular value, or by 003 eq. 3.8.

    Constant: the number itself. Smallest (after Nakamura): with F = ‖J‖, the Frobenius norm,
    λ² = (λ₀² F² + ¼ F ‖e‖) (1 − (σ/(ε F))²) below the edge σ = ε F and nothing above it. The part
    with the error keeps an arm quiet that is stretched out towards what it cannot reach: there the
    error's own curvature is as large. Robotix: λ = k / (1 + ‖J Jᵀ‖), which hardly depends on the
    posture.
    """
    kind = settings[3]
    if kind == CONSTANT or m == 0:
        return settings[4]
    n = rows.shape[1]
    # an axis without weight has neither row nor error, and makes no posture singular
    which, kept = np.empty(m, np.int64), 0
    for r in range(m):
        counts = error[r] != 0.0
        for c in range(n):
            counts = counts or rows[r, c] != 0.0
        if counts:
            which[kept] = r
            kept += 1
    small = min(kept, n)
    for i in range(small):
        for j in range(i, small):
            s = 0.0
            if kept <= n:
                for c in range(n):
                    s += rows[which[i], c] * rows[which[j], c]
            else:
                for k in range(kept):
                    s += rows[which[k], i] * rows[which[k], j]
            scratch[i, j] = s
    if kind == ROBOTIX:
        total = 0.0
        for i in range(small):
            total += scratch[i, i] * scratch[i, i]
            for j in range(i + 1, small):
                total += 2.0 * scratch[i, j] * scratch[i, j]
        weight = settings[4] / (1.0 + math.sqrt(total))
        return weight * weight
    size = 0.0
    for i in range(small):
        size += scratch[i, i]
    wide = 0.0
    for i in range(m):
        wide += error[i] * error[i]
    sigma = smallest_singular(scratch, small)
    edge = settings[5] * math.sqrt(size)
    floor = 1e-12 * size + 1e-300
    if sigma >= edge:
        return floor
    part = 1.0 - (sigma / edge) ** 2
    return floor + part * (settings[4] * settings[4] * size + 0.25 * math.sqrt(size * wide))


@kernel
def _gather(level, tree, columns, tasks, out, q, nq, inverse_root, jac, err):
    """Rows and errors of one level, in columns scaled by the metric; returns how many."""
    index, dof_body = tree[0], tree[4]
    dof, table = columns[2], tasks[5]
    what, how = tasks[0], tasks[1]
    error, rows, _ = out
    n = dof.shape[0]
    m = 0
    for t in range(what.shape[0]):
        if what[t, LEVEL] != level:
            continue
        if what[t, KIND] == POSTURE:
            row = table[what[t, EXTRA]]
            for c in range(n):
                d = dof[c]
                w = row[nq + d]
                if w > 0.0:
                    b = dof_body[d]
                    for j in range(n):
                        jac[m, j] = 0.0
                    jac[m, c] = w * inverse_root[c]
                    err[m] = w * how[t, GAIN] * posture_error(index, q, row, b, d - index[b, 3])
                    m += 1
            continue
        for r in range(what[t, ROW], what[t, ROW] + what[t, COUNT]):
            for c in range(n):
                jac[m, c] = 0.0
            _copy_row(tasks, t, r, rows, jac, m)
            for c in range(n):
                jac[m, c] *= inverse_root[c]
            err[m] = error[r]
            m += 1
    return m


@kernel
def _copy_row(tasks, t, r, rows, jac, m):
    what, pieces = tasks[0], tasks[3]
    for p in range(what[t, 7], what[t, 7] + what[t, 8]):
        for c in range(pieces[p, 0], pieces[p, 1]):
            jac[m, c] = rows[r, c]


@kernel
def _project(basis, count, vector):
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
def _add(basis, count, row, scale):
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
    _project(basis, count, basis[count])
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
def _damped(jac, m, err, basis, count, damping, x, origin, projected, gram, z, step):
    """The step off ``x`` that solves a level's rows across ``basis``, damped about ``origin``."""
    n = x.shape[0]
    for c in range(n):
        step[c] = x[c] - origin[c]
    _project(basis, count, step)
    for r in range(m):
        s = err[r]
        for c in range(n):
            s -= jac[r, c] * (x[c] - step[c])
            projected[r, c] = jac[r, c]
        z[r] = s
        _project(basis, count, projected[r])
    for i in range(m):
        for j in range(i, m):
            s = 0.0
            for c in range(n):
                s += projected[i, c] * projected[j, c]
            gram[i, j] = s
    trace = 0.0
    for i in range(m):
        trace += gram[i, i]
    for i in range(m):
        gram[i, i] += damping + 1e-13 * trace + 1e-300
    ok = factorise(gram, m)
    if not ok:
        for c in range(n):
            step[c] = 0.0
        return
    substitute(gram, m, z)
    for c in range(n):
        s = 0.0
        for r in range(m):
            s += projected[r, c] * z[r]
        step[c] = s - step[c]
    _project(basis, count, step)


@kernel
def _weakest(jac, m, err, damping, x, origin, rows, held, first, count, basis, top, gram, work):
    """Which held bound pulls the wrong way (its multiplier is negative); −1 if none does."""
    n = x.shape[0]
    slope, multiplier = work[0], work[1]
    for c in range(n):
        slope[c] = damping * (x[c] - origin[c])
    for r in range(m):
        s = -err[r]
        for c in range(n):
            s += jac[r, c] * x[c]
        for c in range(n):
            slope[c] += jac[r, c] * s
    _project(basis, top, slope)
    k = count - first
    for i in range(k):
        a = rows[held[first + i]]
        for c in range(n):
            work[2 + i, c] = a[c]
        _project(basis, top, work[2 + i])
    for i in range(k):
        s = 0.0
        for c in range(n):
            s += work[2 + i, c] * slope[c]
        multiplier[i] = s
        for j in range(i, k):
            s = 0.0
            for c in range(n):
                s += work[2 + i, c] * work[2 + j, c]
            gram[i, j] = s
        gram[i, i] *= 1.0 + 1e-13
    if not factorise(gram, k):
        return -1
    substitute(gram, k, multiplier)
    worst, which = -1e-12, -1
    for i in range(k):
        if multiplier[i] < worst:
            worst, which = multiplier[i], first + i
    return which


@kernel
def strict_step(ints, tree, columns, tasks, out, settings, q, nq, lo, hi, fence, bounds, x):
    """Levels in order, each as well as the higher ones, the ranges and the fences allow.

    The recursion of Siciliano and Slotine, q̇ₖ = q̇ₖ₋₁ + (Jₖ Nₖ₋₁)⁺ (eₖ − Jₖ q̇ₖ₋₁), with N from an
    orthonormal basis of all higher rows, so that damping disturbs none of them. Within a level
    bounds are held and let go one at a time (a primal active set), which ends at the exact least
    squares. Fences that standing still would break come before all levels.

    Returns:
        The largest λ² of the levels.
    """
    n = x.shape[0]
    metric = columns[7]
    root, inverse_root = np.empty(n), np.empty(n)
    for c in range(n):
        root[c] = math.sqrt(metric[c])
        inverse_root[c] = 1.0 / root[c]
    most = max(n + out[0].shape[0] + tasks[0].shape[0] * n, 2 * n + fence.shape[0])
    jac, err = np.empty((most, n)), np.empty(most)
    projected, gram = np.empty((most, n)), np.empty((max(most, n + 1), max(most, n + 1)))
    z, step, origin = np.empty(most), np.empty(n), np.empty(n)
    basis, work = np.zeros((n + 1, n)), np.empty((n + 4, n))
    # bounds and fences as rows a · y ≥ b in scaled columns y
    k = fence.shape[0]
    rows, least = np.zeros((2 * n + k, n)), np.empty(2 * n + k)
    for c in range(n):
        rows[c, c], least[c] = 1.0, lo[c] * root[c]
        rows[n + c, c], least[n + c] = -1.0, -hi[c] * root[c]
    for i in range(k):
        least[2 * n + i] = bounds[i]
        for c in range(n):
            rows[2 * n + i, c] = fence[i, c] * inverse_root[c]
    closed, broken = np.zeros(2 * n + k, np.bool_), np.zeros(2 * n + k, np.bool_)
    held = np.zeros(n + 1, np.int64)
    for c in range(n):
        x[c] = 0.0
    count, largest, damping = 0, 0.0, 0.0
    # what is broken already: a level of its own, before all others
    levels = ints[LEVELS]
    for level in range(-1, levels):
        m = 0
        if level < 0:
            for i in range(2 * n + k):
                if least[i] > 0.0:
                    for c in range(n):
                        jac[m, c] = rows[i, c]
                    err[m] = least[i]
                    closed[i] = broken[i] = True  # it is a task now
                    m += 1
            damping = 1e-12
        else:
            m = _gather(level, tree, columns, tasks, out, q, nq, inverse_root, jac, err)
        if m == 0:
            continue
        if level >= 0:
            for r in range(m):
                for c in range(n):
                    projected[r, c] = jac[r, c]
                _project(basis, count, projected[r])
            damping = damping_of(projected, m, err, settings, gram)
            largest = max(largest, damping)
        for c in range(n):
            origin[c] = x[c]
        holding, top = 0, count
        for _ in range(6 * n + 20):
            _damped(
                jac, m, err, basis, count, damping, x, origin, projected, gram, z, step
            )  # fmt: skip
            part, stop = 1.0, -1
            for i in range(2 * n + k):
                if closed[i]:
                    continue
                speed = 0.0
                for c in range(n):
                    speed += rows[i, c] * step[c]
                if speed < -1e-14:
                    room = -least[i]
                    for c in range(n):
                        room += rows[i, c] * x[c]
                    if room + part * speed < 0.0:
                        part, stop = max(0.0, -room / speed), i
            for c in range(n):
                x[c] += part * step[c]
            if stop >= 0:
                grown = _add(basis, count, rows[stop], 0.0)
                closed[stop] = True
                if grown > count and holding < n:
                    held[holding] = stop
                    holding += 1
                    count = grown
                continue
            if holding == 0:
                break
            which = _weakest(
                jac, m, err, damping, x, origin, rows, held, 0, holding, basis, top, gram, work
            )  # fmt: skip
            if which < 0:
                break
            closed[held[which]] = False
            for i in range(which, holding - 1):
                held[i] = held[i + 1]
            holding -= 1
            count = top
            for i in range(holding):
                count = _add(basis, count, rows[held[i]], 0.0)
        # the level's rows join the basis; bounds that it leaned on are open again for the next
        count = top
        closed[:] = broken
        scale = 0.0
        for r in range(m):
            size = 0.0
            for c in range(n):
                size += jac[r, c] * jac[r, c]
            scale = max(scale, size)
        for r in range(m):
            count = _add(basis, count, jac[r], scale)
        if count >= n:
            break
    for c in range(n):
        x[c] *= inverse_root[c]
    return largest


@kernel
def nested_step(ints, tree, columns, tasks, out, settings, q, nq, lo, hi, x):
    """003 eq. 3.16 as printed: q̇ = J⁺v + N (J₁⁺v₁ + N₁ (…)), from the last level inwards.

    The first level is kept, but each lower one loses to the one above it also where it need not.
    The step is shortened as a whole where it would leave the box.
    """
    n = x.shape[0]
    metric = columns[7]
    inverse_root = np.empty(n)
    for c in range(n):
        inverse_root[c] = 1.0 / math.sqrt(metric[c])
        x[c] = 0.0
    most = n + out[0].shape[0] + tasks[0].shape[0] * n
    jac, err, z = np.empty((most, n)), np.empty(most), np.empty(most)
    gram = np.empty((max(most, n), max(most, n)))
    largest = 0.0
    for level in range(ints[LEVELS] - 1, -1, -1):
        m = _gather(level, tree, columns, tasks, out, q, nq, inverse_root, jac, err)
        damping = damping_of(jac, m, err, settings, gram)
        largest = max(largest, damping)
        trace = 0.0
        for i in range(m):
            s = err[i]
            for c in range(n):
                s -= jac[i, c] * x[c]
            z[i] = s
            for j in range(i, m):
                s = 0.0
                for c in range(n):
                    s += jac[i, c] * jac[j, c]
                gram[i, j] = s
            trace += gram[i, i]
        for i in range(m):
            gram[i, i] += damping + 1e-13 * trace + 1e-300
        if not factorise(gram, m):
            continue
        substitute(gram, m, z)
        for c in range(n):
            for r in range(m):
                x[c] += jac[r, c] * z[r]
    part = 1.0
    for c in range(n):
        x[c] *= inverse_root[c]
        if x[c] > hi[c] and x[c] > 0.0:
            part = min(part, max(hi[c], 0.0) / x[c])
        elif x[c] < lo[c] and x[c] < 0.0:
            part = min(part, min(lo[c], 0.0) / x[c])
    for c in range(n):
        x[c] *= part
    return largest
