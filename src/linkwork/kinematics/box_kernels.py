"""Compiled quadratic programs in a box: ½ xᵀH x + gᵀx within lo ≤ x ≤ hi, exactly.

The dual active set of Goldfarb and Idnani: from the minimum without bounds, the bound that is
missed most is taken up, and those that then push the wrong way are let go. H is factorised once;
what a bound costs is one column of H⁻¹. The value rises with every step, so nothing goes round.
"""

from __future__ import annotations

from linkwork.jit import flat_kernel
from linkwork.kinematics.linear_kernels import factorise, substitute_four, substitute_from

#: Vectors and squares (n×n) that :func:`box_minimum` works in.
VECTORS, SQUARES = 10, 4

_MISSED = 1e-13  # [rad or m] beyond a bound that counts
_EXACT = 1e-12  # part of the largest slope that may be left between the bounds


@flat_kernel
def _sweep(z, ways, held, k, parts):
    """Takes from ``z`` what moves held unknowns; ``parts`` keeps how much of each way that was."""
    n = z.shape[0]
    for a in range(k):
        i = int(held[a])
        f = z[i] / ways[a, i]
        parts[a] = f
        if f != 0.0:
            for j in range(n):
                z[j] -= f * ways[a, j]
        z[i] = 0.0


@flat_kernel
def most_missed(lo, hi, x, side):
    """The free unknown that is farthest beyond its bound; −1 if none is."""
    most, which = _MISSED, -1
    for i in range(x.shape[0]):
        if side[i] == 0.0:
            far = max(lo[i] - x[i], x[i] - hi[i])
            if far > most:
                most, which = far, i
    return which


@flat_kernel
def _open(p, lo, hi, x, known, factor, columns, four):
    """Column ``p`` of H⁻¹, and with it those of up to three more that are beyond their bounds."""
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
def _let_go(drop, k, held, slope, columns, ways, shares, parts):
    """Takes one of the held out of the list; ways behind it are made anew."""
    n = columns.shape[0]
    for a in range(drop, k - 1):
        held[a], slope[a] = held[a + 1], slope[a + 1]
    for a in range(drop, k - 1):
        i = int(held[a])
        for j in range(n):
            ways[a, j] = columns[i, j]
        _sweep(ways[a], ways, held, a, parts)
        for b in range(a):
            shares[a, b] = parts[b]


@flat_kernel
def _refine(h, g, lo, hi, x, factor, side, held, k, ways, z, parts):
    """One Newton step between the bounds with the slopes as they are: takes the rounding out."""
    n = x.shape[0]
    largest, left = 0.0, 0.0
    for i in range(n):
        z[i] = -g[i]
        largest = max(largest, abs(g[i]))
    for i in range(n):
        f, s0, s1 = x[i], h[i, i] * x[i], 0.0  # two sums, neither of which waits for the other
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
    _sweep(z, ways, held, k, parts)
    for i in range(n):
        x[i] = min(max(x[i] + z[i], lo[i]), hi[i])
    return True


@flat_kernel
def box_minimum(h, g, lo, hi, x, vectors, squares):
    """Fills ``x`` that minimises ½ xᵀH x + gᵀx within ``lo`` ≤ x ≤ ``hi``.

    Args:
        h: H (n×n), its upper half.
        g: Slope at 0.
        lo: Lower bounds.
        hi: Upper bounds; equal to the lower one where an unknown is given.
        x: Takes the minimum.
        vectors: Room (VECTORS×n).
        squares: Room (SQUARES×n×n).

    Returns:
        Whether H was positive definite.
    """
    n = g.shape[0]
    side, slope, held, parts, z, known = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    )  # fmt: skip
    four = vectors[6:10].reshape(n, 4)
    factor, columns, ways, shares = squares[0], squares[1], squares[2], squares[3]
    for i in range(n):
        x[i] = -g[i]
        side[i] = known[i] = 0.0
        for j in range(i, n):
            factor[i, j] = h[i, j]
    if not factorise(factor, n):
        return False
    substitute_from(factor, n, x, 0)
    k = 0
    for _ in range(10 * n + 20):
        p = most_missed(lo, hi, x, side)
        if p < 0:
            break
        sign = -1.0 if x[p] < lo[p] else 1.0
        bound = lo[p] if sign < 0.0 else hi[p]
        if known[p] == 0.0:
            _open(p, lo, hi, x, known, factor, columns, four)
        pushed, drop = 0.0, 0
        while drop >= 0:
            # the way on which p moves and the held do not; the slopes of the held go by ``parts``
            for j in range(n):
                z[j] = columns[p, j]
            _sweep(z, ways, held, k, parts)
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
                _let_go(drop, k, held, slope, columns, ways, shares, parts)
                k -= 1
        x[p] = bound
        held[k], side[p], slope[k] = p, sign, pushed
        for j in range(n):
            ways[k, j] = z[j]
        k += 1
    for _ in range(2):
        if k == 0 or not _refine(h, g, lo, hi, x, factor, side, held, k, ways, z, parts):
            break
    return True
