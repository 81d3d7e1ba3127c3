"""Compiled quadratic programs in a box, in the space of the task rows if those are few.

min ½ xᵀD x − pᵀx + ½ ‖e − J x‖² within lo ≤ x ≤ hi, with D diagonal and positive. With the residual
y = e − J x every unknown between its bounds is u = D⁻¹ (p + Jᵀ y), and y solves G y = r with G = 1
+ J D⁻¹ Jᵀ: as many equations as rows, not as unknowns. An active bound removes one column from G, a
rank-one update of G⁻¹ (Sherman-Morrison). The method is the dual active set of ``box_kernels``; the
multiplier of a held unknown is positive while its u is beyond its bound.

Rows are padded with zeros to a multiple of four numbers: see ``linear_kernels``.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.kinematics.box_kernels import most_violated
from linkwork.kinematics.linear_kernels import (
    UINT,
    factorize_wide,
    substitute_four,
    substitute_wide,
)
from linkwork.kinematics.memory_layout_kernels import COUNT, RANGE_COUNT, RANGE_FIRST, ROW

_STIFF, _STIFFEST = 1e6, 1e9  # largest diagonals of G without, and with, refinement
_EXACT = 1e-12  # relative residual tolerance between the bounds
_PASSES = 3  # of iterative refinement


@inner_kernel
def _dot(a, b):
    """Returns a · b over a multiple of four numbers, in four independent sums."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j, width = UINT(0), UINT(b.shape[0])
    while j < width:
        j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
        s0 += a[j] * b[j]
        s1 += a[j1] * b[j1]
        s2 += a[j2] * b[j2]
        s3 += a[j3] * b[j3]
        j += UINT(4)
    return (s0 + s1) + (s2 + s3)


@inner_kernel
def _add(f, a, b):
    """Adds ``f`` a to b."""
    j, width = UINT(0), UINT(b.shape[0])
    while j < width:
        j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
        b[j], b[j1], b[j2], b[j3] = (
            b[j] + f * a[j], b[j1] + f * a[j1], b[j2] + f * a[j2], b[j3] + f * a[j3]
        )  # fmt: skip
        j += UINT(4)


@inner_kernel
def _add_four(f, a, c, b, first):
    """Adds four rows of ``a`` times their factors to b from ``first`` on."""
    f0, f1, f2, f3 = f
    c0, c1, c2, c3 = c
    j, width = first, UINT(b.shape[0])
    while j < width:
        j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
        s0 = (((b[j] + f0 * a[c0, j]) + f1 * a[c1, j]) + f2 * a[c2, j]) + f3 * a[c3, j]
        s1 = (((b[j1] + f0 * a[c0, j1]) + f1 * a[c1, j1]) + f2 * a[c2, j1]) + f3 * a[c3, j1]
        s2 = (((b[j2] + f0 * a[c0, j2]) + f1 * a[c1, j2]) + f2 * a[c2, j2]) + f3 * a[c3, j2]
        s3 = (((b[j3] + f0 * a[c0, j3]) + f1 * a[c1, j3]) + f2 * a[c2, j3]) + f3 * a[c3, j3]
        b[j], b[j1], b[j2], b[j3] = s0, s1, s2, s3
        j += UINT(4)


@flat_kernel
def _transpose(tasks, rows, transposed):
    """Computes ``transposed`` (columns×rows) of ``rows``.

    Columns without a task stay 0, as in ``rows``.
    """
    indices, _, _, column_ranges, _, _, _ = tasks
    for t in range(indices.shape[0]):
        for p in range(indices[t, RANGE_FIRST], indices[t, RANGE_FIRST] + indices[t, RANGE_COUNT]):
            low, high = UINT(column_ranges[p, 0]), UINT(column_ranges[p, 1])
            r, last = UINT(indices[t, ROW]), UINT(indices[t, ROW] + indices[t, COUNT])
            while r + UINT(3) <= last:
                r1, r2 = r + UINT(1), r + UINT(2)
                for c in range(low, high):
                    s0, s1, s2 = rows[r, c], rows[r1, c], rows[r2, c]
                    transposed[c, r], transposed[c, r1], transposed[c, r2] = s0, s1, s2
                r += UINT(3)
            while r < last:
                for c in range(low, high):
                    transposed[c, r] = rows[r, c]
                r += UINT(1)


@inner_kernel
def _add_products(transposed, c, f, first, last, gram):
    """Adds the products of four columns to rows of G, from the diagonal on."""
    c0, c1, c2, c3 = c
    f0, f1, f2, f3 = f
    for r in range(first, last):
        g0, g1 = f0 * transposed[c0, r], f1 * transposed[c1, r]
        g2, g3 = f2 * transposed[c2, r], f3 * transposed[c3, r]
        _add_four((g0, g1, g2, g3), transposed, c, gram[r], r & ~UINT(3))


@flat_kernel
def _fill_gram(tasks, transposed, inverse, gram):
    """Computes the upper half of G; returns the largest number on its diagonal."""
    indices, _, _, column_ranges, _, _, _ = tasks
    largest = 0.0
    for i in range(gram.shape[0]):
        for j in range(gram.shape[1]):
            gram[i, j] = 0.0
        gram[i, i] = 1.0
    for t in range(indices.shape[0]):
        first, last = UINT(indices[t, ROW]), UINT(indices[t, ROW] + indices[t, COUNT])
        # four columns at a time, also across gaps between ranges
        f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
        c0 = c1 = c2 = c3 = UINT(0)
        got = 0
        for p in range(indices[t, RANGE_FIRST], indices[t, RANGE_FIRST] + indices[t, RANGE_COUNT]):
            for c in range(UINT(column_ranges[p, 0]), UINT(column_ranges[p, 1])):
                f0, f1, f2, f3 = f1, f2, f3, inverse[c]
                c0, c1, c2, c3 = c1, c2, c3, c
                got += 1
                if got == 4:
                    _add_products(transposed, (c0, c1, c2, c3), (f0, f1, f2, f3), first, last, gram)
                    got, f0, f1, f2, f3 = 0, 0.0, 0.0, 0.0, 0.0
        if got > 0:
            _add_products(transposed, (c0, c1, c2, c3), (f0, f1, f2, f3), first, last, gram)
    for i in range(gram.shape[0]):
        largest = max(largest, gram[i, i])
    return largest


@flat_kernel
def _primal_from_dual(rows, transposed, y, pull, inverse, u):
    """Computes u = D⁻¹ (p + Jᵀ y), eight columns at a time."""
    n, m, c = UINT(u.shape[0]), UINT(rows.shape[0]), UINT(0)
    while c + UINT(8) <= n:
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for r in range(m):
            f = y[r]
            s0 += f * rows[r, c]
            s1 += f * rows[r, c + UINT(1)]
            s2 += f * rows[r, c + UINT(2)]
            s3 += f * rows[r, c + UINT(3)]
            s4 += f * rows[r, c + UINT(4)]
            s5 += f * rows[r, c + UINT(5)]
            s6 += f * rows[r, c + UINT(6)]
            s7 += f * rows[r, c + UINT(7)]
        u[c], u[c + UINT(1)], u[c + UINT(2)], u[c + UINT(3)] = s0, s1, s2, s3
        u[c + UINT(4)], u[c + UINT(5)], u[c + UINT(6)], u[c + UINT(7)] = s4, s5, s6, s7
        c += UINT(8)
    while c < n:
        u[c] = _dot(transposed[c], y)
        c += UINT(1)
    for c in range(n):
        u[c] = inverse[c] * (pull[c] + u[c])


@flat_kernel
def _multiply(transposed, x, out):
    """Computes ``out`` = J x."""
    n, c = UINT(x.shape[0]), UINT(0)
    for r in range(out.shape[0]):
        out[r] = 0.0
    while c + UINT(4) <= n:
        c1, c2, c3 = c + UINT(1), c + UINT(2), c + UINT(3)
        _add_four((x[c], x[c1], x[c2], x[c3]), transposed, (c, c1, c2, c3), out, UINT(0))
        c += UINT(4)
    while c < n:
        _add(x[c], transposed[c], out)
        c += UINT(1)


@flat_kernel
def _inverse_columns(p, lo, hi, u, known, factor, transposed, bases, four):
    """Computes G⁻¹ times the column of ``p``, and of up to three more violated unknowns."""
    m = factor.shape[0]
    count = 0
    for k in range(u.shape[0] + 1):
        i = p if k == 0 else k - 1
        if count < 4 and known[i] == 0.0 and (k == 0 or u[i] < lo[i] or u[i] > hi[i]):
            known[i] = 2.0 + count
            for r in range(m):
                four[r, count] = transposed[i, r]
            count += 1
    for c in range(count, 4):
        for r in range(m):
            four[r, c] = 0.0
    substitute_four(factor, m, four)
    for i in range(u.shape[0]):
        if known[i] >= 2.0:
            c = int(known[i]) - 2
            known[i] = 1.0
            for r in range(m):
                bases[i, r] = four[r, c]


@flat_kernel
def _held_direction(i, k, transposed, bases, directions, shares, w):
    """Computes ``w`` = G⁻¹ times the column of ``i``, without the first ``k`` held columns in G."""
    column = transposed[i]
    for r in range(w.shape[0]):
        w[r] = bases[i, r]
    for a in range(k):
        _add(shares[a] * _dot(directions[a], column), directions[a], w)


@flat_kernel
def _release(drop, k, held, weight, transposed, bases, directions, shares):
    """Removes a held unknown from the list, and recomputes the directions after it."""
    for a in range(drop, k - 1):
        held[a] = held[a + 1]
        i = int(held[a])
        _held_direction(i, a, transposed, bases, directions, shares, directions[a])
        shares[a] = 1.0 / (weight[i] - _dot(transposed[i], directions[a]))


@flat_kernel
def _refine(error, rows, weight, pull, lo, hi, x, k, span):
    """Takes one Newton step between the bounds, which removes rounding errors.

    With D small relative to J, errors of y are amplified in x. Returns whether there were any.
    """
    transposed, _, directions, gram, lines, shorts, _ = span
    u, inverse, side, against, shares = shorts[0], shorts[1], shorts[2], shorts[4], shorts[5]
    left, w = lines[1], lines[2]
    scale, most = 0.0, 0.0
    _multiply(transposed, x, left)
    for r in range(error.shape[0]):
        scale = max(scale, abs(error[r]))
        left[r] = error[r] - left[r]
    _primal_from_dual(rows, transposed, left, pull, inverse, u)
    for c in range(x.shape[0]):
        scale = max(scale, abs(pull[c]))
        u[c] = u[c] - x[c] if side[c] == 0.0 else 0.0
        against[c] = -weight[c] * u[c]
        most = max(most, abs(against[c]))
    if most <= _EXACT * scale:
        return False
    _multiply(transposed, u, left)
    for r in range(left.shape[0]):
        w[r] = left[r]
    substitute_wide(gram, w)
    for a in range(k):
        _add(shares[a] * _dot(directions[a], left), directions[a], w)
    _primal_from_dual(rows, transposed, w, against, inverse, u)
    for c in range(x.shape[0]):
        if side[c] == 0.0:
            x[c] = min(max(x[c] - u[c], lo[c]), hi[c])
    return True


@flat_kernel
def row_minimum(tasks, out, weight, pull, lo, hi, x, span):
    """Computes ``x`` that minimizes ½ xᵀD x − pᵀx + ½ ‖e − J x‖² within ``lo`` ≤ x ≤ ``hi``.

    Args:
        tasks: The tasks, as opened.
        out: Errors e and rows J, as opened.
        weight: The diagonal of D.
        pull: The linear term p.
        lo: Lower bounds.
        hi: Upper bounds; equal to the lower ones for fixed unknowns.
        x: Receives the minimum.
        span: Workspace, as opened.

    Returns:
        Whether it succeeded; false if D is negligible beside J, which then needs ``box_minimum``.
    """
    error, rows, _ = out
    transposed, bases, directions, gram, lines, shorts, four = span
    u, inverse, side = shorts[0], shorts[1], shorts[2]
    held, known, shares = shorts[3], shorts[4], shorts[5]
    y, w = lines[0], lines[2]
    n = x.shape[0]
    for c in range(n):
        if not weight[c] > 0.0:
            return False
        inverse[c] = 1.0 / weight[c]
        side[c] = known[c] = 0.0
        x[c] = inverse[c] * pull[c]
    _transpose(tasks, rows, transposed)
    stiff = _fill_gram(tasks, transposed, inverse, gram)
    if not (stiff < _STIFFEST and factorize_wide(gram)):
        return False
    _multiply(transposed, x, y)
    for r in range(error.shape[0]):
        y[r] = error[r] - y[r]
    substitute_wide(gram, y)
    k = 0
    for _ in range(10 * n + 20):
        _primal_from_dual(rows, transposed, y, pull, inverse, u)
        p = most_violated(lo, hi, u, side)
        if p < 0:
            for c in range(n):
                x[c] = min(max(u[c], lo[c]), hi[c])
                if side[c] != 0.0:
                    x[c] = lo[c] if side[c] < 0.0 else hi[c]
            for _ in range(_PASSES if k > 0 or stiff > _STIFF else 0):
                if not _refine(error, rows, weight, pull, lo, hi, x, k, span):
                    break
            return True
        sign = -1.0 if u[p] < lo[p] else 1.0
        bound = lo[p] if sign < 0.0 else hi[p]
        if known[p] == 0.0:
            _inverse_columns(p, lo, hi, u, known, gram, transposed, bases, four)
        at, drop, rest = u[p], 0, 1.0
        while drop >= 0:
            # p moves to its bound, y along ``w``, and u of the held unknowns with it
            _held_direction(p, k, transposed, bases, directions, shares, w)
            rest = weight[p] - _dot(transposed[p], w)
            if not rest > 0.0:
                return False
            whole = (at - bound) * weight[p] / rest
            part, drop = 1.0, -1
            for a in range(k):
                i = int(held[a])
                end = lo[i] if side[i] < 0.0 else hi[i]
                change = whole * inverse[i] * _dot(transposed[i], w)
                if lo[i] < hi[i] and side[i] * (u[i] + part * change - end) < 0.0:
                    part, drop = min(part, max(0.0, (end - u[i]) / change)), a
            _add(part * whole, w, y)
            if drop >= 0:
                at += part * (bound - at)
                side[int(held[drop])] = 0.0
                _release(drop, k, held, weight, transposed, bases, directions, shares)
                k -= 1
                _primal_from_dual(rows, transposed, y, pull, inverse, u)
        held[k], side[p], shares[k] = p, sign, 1.0 / rest
        for r in range(w.shape[0]):
            directions[k, r] = w[r]
        k += 1
    return False
