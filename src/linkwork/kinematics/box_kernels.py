"""Compiled quadratic programs in a box: ½ xᵀH x + gᵀx within lo ≤ x ≤ hi, exactly.

The dual active set method of Goldfarb and Idnani: from the unconstrained minimum, the most violated
bound is added, and bounds with a negative multiplier are released. H is factored once; each bound
costs one column of H⁻¹. The objective increases with every step, so the method terminates.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel
from linkwork.kinematics.linear_kernels import factorize, substitute_four, substitute_from

#: Vectors and matrices (n×n) of the workspace of :func:`box_minimum`.
VECTORS, SQUARES = 10, 4

_MISSED = 1e-13  # [rad or m] tolerance of a bound
_EXACT = 1e-12  # relative gradient tolerance between the bounds


@flat_kernel
def _project_held(z, directions, held, k, parts):
    """Projects ``z`` off the held unknowns; ``parts`` receives the share of each direction."""
    n = z.shape[0]
    for a in range(k):
        i = int(held[a])
        f = z[i] / directions[a, i]
        parts[a] = f
        if f != 0.0:
            for j in range(n):
                z[j] -= f * directions[a, j]
        z[i] = 0.0


@flat_kernel
def most_violated(lo, hi, x, side):
    """Returns the free unknown that is farthest beyond its bound; −1 if there is none."""
    most, which = _MISSED, -1
    for i in range(x.shape[0]):
        if side[i] == 0.0:
            far = max(lo[i] - x[i], x[i] - hi[i])
            if far > most:
                most, which = far, i
    return which


@flat_kernel
def _inverse_columns(p, lo, hi, x, known, factor, columns, four):
    """Computes column ``p`` of H⁻¹, and those of up to three more violated unknowns."""
    n = x.shape[0]
    for i in range(n):
        for c in range(4):
            four[i, c] = 0.0
    four[p, 0], known[p], count = 1.0, 1.0, 1
    for i in range(n):
        if count < 4 and known[i] == 0.0 and (x[i] < lo[i] or x[i] > hi[i]):
            four[i, count] = 1.0
            known[i] = 1.0 + count
            count += 1
    substitute_four(factor, n, four)
    for i in range(n):
        c = int(known[i]) - 1
        if c > 0 or (c == 0 and i == p):
            for j in range(n):
                columns[i, j] = four[j, c]
            known[i] = 1.0


@flat_kernel
def _release(drop, k, held, slope, columns, directions, shares, parts):
    """Removes a held unknown from the list, and recomputes the directions after it."""
    n = columns.shape[0]
    for a in range(drop, k - 1):
        held[a], slope[a] = held[a + 1], slope[a + 1]
    for a in range(drop, k - 1):
        i = int(held[a])
        for j in range(n):
            directions[a, j] = columns[i, j]
        _project_held(directions[a], directions, held, a, parts)
        for b in range(a):
            shares[a, b] = parts[b]


@flat_kernel
def _refine(h, g, lo, hi, x, factor, side, held, k, directions, z, parts):
    """Takes one Newton step between the bounds, which removes rounding errors."""
    n = x.shape[0]
    largest, left = 0.0, 0.0
    for i in range(n):
        z[i] = -g[i]
        largest = max(largest, abs(g[i]))
    for i in range(n):
        f, s0, s1 = x[i], h[i, i] * x[i], 0.0  # two independent sums
        for j in range(i + 1, n):
            z[j] -= h[i, j] * f
        for j in range(i + 1, n - 1, 2):
            s0 += h[i, j] * x[j]
            s1 += h[i, j + 1] * x[j + 1]
        if (n - i) % 2 == 0:
            s0 += h[i, n - 1] * x[n - 1]
        z[i] -= s0 + s1
    for i in range(n):
        if side[i] != 0.0:
            z[i] = 0.0
        left = max(left, abs(z[i]))
    if left <= _EXACT * largest:
        return False
    substitute_from(factor, n, z, 0)
    _project_held(z, directions, held, k, parts)
    for i in range(n):
        x[i] = min(max(x[i] + z[i], lo[i]), hi[i])
    return True


@flat_kernel
def box_minimum(h, g, lo, hi, x, vectors, squares):
    """Computes ``x`` that minimizes ½ xᵀH x + gᵀx within ``lo`` ≤ x ≤ ``hi``.

    Args:
        h: H (n×n), its upper half.
        g: Gradient at 0.
        lo: Lower bounds.
        hi: Upper bounds; equal to the lower ones for fixed unknowns.
        x: Receives the minimum.
        vectors: Workspace (VECTORS×n).
        squares: Workspace (SQUARES×n×n).

    Returns:
        Whether H was positive definite.
    """
    n = g.shape[0]
    side, slope, held, parts, z, known = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    )  # fmt: skip
    four = vectors[6:10].reshape(n, 4)
    factor, columns, directions, shares = squares[0], squares[1], squares[2], squares[3]
    for i in range(n):
        x[i] = -g[i]
        side[i] = known[i] = 0.0
        for j in range(i, n):
            factor[i, j] = h[i, j]
    if not factorize(factor, n):
        return False
    substitute_from(factor, n, x, 0)
    k = 0
    for _ in range(10 * n + 20):
        p = most_violated(lo, hi, x, side)
        if p < 0:
            break
        sign = -1.0 if x[p] < lo[p] else 1.0
        bound = lo[p] if sign < 0.0 else hi[p]
        if known[p] == 0.0:
            _inverse_columns(p, lo, hi, x, known, factor, columns, four)
        pushed, drop = 0.0, 0
        while drop >= 0:
            # the direction in which p moves and held unknowns do not; their multipliers change by
            # ``parts``
            for j in range(n):
                z[j] = columns[p, j]
            _project_held(z, directions, held, k, parts)
            for a in range(k):
                shares[k, a] = parts[a]
            for a in range(k - 1, -1, -1):
                for b in range(a + 1, k):
                    parts[a] -= shares[b, a] * parts[b]
            whole = (bound - x[p]) / z[p]
            part, drop = 1.0, -1
            for a in range(k):
                i = int(held[a])
                change = whole * parts[a]
                if lo[i] < hi[i] and side[i] * (slope[a] - part * change) > 0.0:
                    part, drop = min(part, max(0.0, slope[a] / change)), a
            step = part * whole
            for j in range(n):
                x[j] += step * z[j]
            for a in range(k):
                slope[a] -= step * parts[a]
            pushed += step
            if drop >= 0:
                side[int(held[drop])] = 0.0
                _release(drop, k, held, slope, columns, directions, shares, parts)
                k -= 1
        x[p] = bound
        held[k], side[p], slope[k] = p, sign, pushed
        for j in range(n):
            directions[k, j] = z[j]
        k += 1
    for _ in range(2):
        if k == 0 or not _refine(h, g, lo, hi, x, factor, side, held, k, directions, z, parts):
            break
    return True
