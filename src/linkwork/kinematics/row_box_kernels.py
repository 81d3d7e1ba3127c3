"""Compiled quadratic programs in a box, solved among the rows of the tasks where those are few.

min ½ xᵀD x − pᵀx + ½ ‖e − J x‖² within lo ≤ x ≤ hi, with D diagonal and above 0. With the residual
y = e − J x every unknown between its bounds is u = D⁻¹ (p + Jᵀ y), and y solves G y = right with
G = 1 + J D⁻¹ Jᵀ over those: as many equations as rows, not as unknowns. A bound that is taken up
takes one column out of G, which is one more product of a vector with itself in G⁻¹ (Sherman and
Morrison). Otherwise it is the dual active set of ``box_kernels``; a held unknown pushes the right
way as long as its u is beyond its bound.

Rows have room for a multiple of four numbers, zeros behind the last: see ``linear_kernels``.
"""

from __future__ import annotations

import numpy as np

from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.box_kernels import most_missed
from linkwork.kinematics.layout_kernels import COUNT, PIECE, PIECE_COUNT, ROW
from linkwork.kinematics.linear_kernels import factorise_wide, substitute_four, substitute_wide

_U = np.uint64  # counters without sign: see linear_kernels

_STIFF, _STIFFEST = 1e6, 1e9  # largest numbers in G that lose nothing, and that can be mended
_EXACT = 1e-12  # part of the largest error or pull that may be left between the bounds
_PASSES = 3  # that take the rounding out


@inner_kernel
def _dot(a, b):
    """Product a · b over a multiple of four numbers, in four sums that do not wait for another."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j, width = _U(0), _U(b.shape[0])
    while j < width:
        j1, j2, j3 = j + _U(1), j + _U(2), j + _U(3)
        s0 += a[j] * b[j]
        s1 += a[j1] * b[j1]
        s2 += a[j2] * b[j2]
        s3 += a[j3] * b[j3]
        j += _U(4)
    return (s0 + s1) + (s2 + s3)


@inner_kernel
def _add(f, a, b):
    """Adds ``f`` a to b."""
    j, width = _U(0), _U(b.shape[0])
    while j < width:
        j1, j2, j3 = j + _U(1), j + _U(2), j + _U(3)
        b[j], b[j1], b[j2], b[j3] = (
            b[j] + f * a[j], b[j1] + f * a[j1], b[j2] + f * a[j2], b[j3] + f * a[j3]
        )  # fmt: skip
        j += _U(4)


@inner_kernel
def _add_four(f, a, c, b, first):
    """Adds four rows of ``a`` times their factors to b from ``first`` on."""
    f0, f1, f2, f3 = f
    c0, c1, c2, c3 = c
    j, width = first, _U(b.shape[0])
    while j < width:
        j1, j2, j3 = j + _U(1), j + _U(2), j + _U(3)
        s0 = (((b[j] + f0 * a[c0, j]) + f1 * a[c1, j]) + f2 * a[c2, j]) + f3 * a[c3, j]
        s1 = (((b[j1] + f0 * a[c0, j1]) + f1 * a[c1, j1]) + f2 * a[c2, j1]) + f3 * a[c3, j1]
        s2 = (((b[j2] + f0 * a[c0, j2]) + f1 * a[c1, j2]) + f2 * a[c2, j2]) + f3 * a[c3, j2]
        s3 = (((b[j3] + f0 * a[c0, j3]) + f1 * a[c1, j3]) + f2 * a[c2, j3]) + f3 * a[c3, j3]
        b[j], b[j1], b[j2], b[j3] = s0, s1, s2, s3
        j += _U(4)


@flat_kernel
def _turn(tasks, rows, turned):
    """``turned`` (columns×rows): what each column does to all rows, side by side.

    Where no task has anything to do with a column it is and stays 0, as in ``rows``.
    """
    what, pieces = tasks[0], tasks[3]
    for t in range(what.shape[0]):
        for p in range(what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]):
            low, high = _U(pieces[p, 0]), _U(pieces[p, 1])
            r, last = _U(what[t, ROW]), _U(what[t, ROW] + what[t, COUNT])
            while r + _U(3) <= last:
                r1, r2 = r + _U(1), r + _U(2)
                for c in range(low, high):
                    s0, s1, s2 = rows[r, c], rows[r1, c], rows[r2, c]
                    turned[c, r], turned[c, r1], turned[c, r2] = s0, s1, s2
                r += _U(3)
            while r < last:
                for c in range(low, high):
                    turned[c, r] = rows[r, c]
                r += _U(1)


@inner_kernel
def _add_products(turned, c, f, first, last, gram):
    """Adds what four columns give to some rows of G, from the diagonal on."""
    c0, c1, c2, c3 = c
    f0, f1, f2, f3 = f
    for r in range(first, last):
        g0, g1 = f0 * turned[c0, r], f1 * turned[c1, r]
        g2, g3 = f2 * turned[c2, r], f3 * turned[c3, r]
        _add_four((g0, g1, g2, g3), turned, c, gram[r], r & ~_U(3))


@flat_kernel
def _fill_gram(tasks, turned, inverse, gram):
    """The upper half of G; returns the largest number on its diagonal."""
    what, pieces = tasks[0], tasks[3]
    largest = 0.0
    for i in range(gram.shape[0]):
        for j in range(gram.shape[1]):
            gram[i, j] = 0.0
        gram[i, i] = 1.0
    for t in range(what.shape[0]):
        first, last = _U(what[t, ROW]), _U(what[t, ROW] + what[t, COUNT])
        # four columns at a time, also across the gaps between pieces
        f0, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
        c0 = c1 = c2 = c3 = _U(0)
        got = 0
        for p in range(what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]):
            for c in range(_U(pieces[p, 0]), _U(pieces[p, 1])):
                f0, f1, f2, f3 = f1, f2, f3, inverse[c]
                c0, c1, c2, c3 = c1, c2, c3, c
                got += 1
                if got == 4:
                    _add_products(turned, (c0, c1, c2, c3), (f0, f1, f2, f3), first, last, gram)
                    got, f0, f1, f2, f3 = 0, 0.0, 0.0, 0.0, 0.0
        if got > 0:
            _add_products(turned, (c0, c1, c2, c3), (f0, f1, f2, f3), first, last, gram)
    for i in range(gram.shape[0]):
        largest = max(largest, gram[i, i])
    return largest


@flat_kernel
def _reach(rows, turned, y, pull, inverse, u):
    """What D⁻¹ (p + Jᵀ y) is: eight columns at a time, the last few one by one."""
    n, m, c = _U(u.shape[0]), _U(rows.shape[0]), _U(0)
    while c + _U(8) <= n:
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for r in range(m):
            f = y[r]
            s0 += f * rows[r, c]
            s1 += f * rows[r, c + _U(1)]
            s2 += f * rows[r, c + _U(2)]
            s3 += f * rows[r, c + _U(3)]
            s4 += f * rows[r, c + _U(4)]
            s5 += f * rows[r, c + _U(5)]
            s6 += f * rows[r, c + _U(6)]
            s7 += f * rows[r, c + _U(7)]
        u[c], u[c + _U(1)], u[c + _U(2)], u[c + _U(3)] = s0, s1, s2, s3
        u[c + _U(4)], u[c + _U(5)], u[c + _U(6)], u[c + _U(7)] = s4, s5, s6, s7
        c += _U(8)
    while c < n:
        u[c] = _dot(turned[c], y)
        c += _U(1)
    for c in range(n):
        u[c] = inverse[c] * (pull[c] + u[c])


@flat_kernel
def _multiply(turned, x, out):
    """Fills ``out`` = J x."""
    n, c = _U(x.shape[0]), _U(0)
    for r in range(out.shape[0]):
        out[r] = 0.0
    while c + _U(4) <= n:
        c1, c2, c3 = c + _U(1), c + _U(2), c + _U(3)
        _add_four((x[c], x[c1], x[c2], x[c3]), turned, (c, c1, c2, c3), out, _U(0))
        c += _U(4)
    while c < n:
        _add(x[c], turned[c], out)
        c += _U(1)


@flat_kernel
def _open(p, lo, hi, u, known, factor, turned, bases, four):
    """G⁻¹ times the column of ``p``, and with it those of up to three more beyond their bounds."""
    m = factor.shape[0]
    count = 0
    for k in range(u.shape[0] + 1):
        i = p if k == 0 else k - 1
        if count < 4 and known[i] == 0.0 and (k == 0 or u[i] < lo[i] or u[i] > hi[i]):
            known[i] = 2.0 + count
            for r in range(m):
                four[r, count] = turned[i, r]
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
def _way(i, k, turned, bases, ways, shares, w):
    """Fills ``w`` = G⁻¹ times the column of ``i``, the first ``k`` of the held taken out of G."""
    column = turned[i]
    for r in range(w.shape[0]):
        w[r] = bases[i, r]
    for a in range(k):
        _add(shares[a] * _dot(ways[a], column), ways[a], w)


@flat_kernel
def _let_go(drop, k, held, weight, turned, bases, ways, shares):
    """Takes one of the held out of the list; ways behind it are made anew."""
    for a in range(drop, k - 1):
        held[a] = held[a + 1]
        i = int(held[a])
        _way(i, a, turned, bases, ways, shares, ways[a])
        shares[a] = 1.0 / (weight[i] - _dot(turned[i], ways[a]))


@flat_kernel
def _refine(error, rows, weight, pull, lo, hi, x, k, span):
    """One Newton step between the bounds with the slopes as they are: takes the rounding out.

    With D as small as it may be beside J, what is lost in y is seen in x. Returns whether there was
    any to speak of.
    """
    turned, _, ways, gram, lines, shorts, _ = span
    u, inverse, side, shares, against = shorts[0], shorts[1], shorts[2], shorts[5], shorts[4]
    left, w = lines[1], lines[2]
    scale, most = 0.0, 0.0
    _multiply(turned, x, left)
    for r in range(error.shape[0]):
        scale = max(scale, abs(error[r]))
        left[r] = error[r] - left[r]
    _reach(rows, turned, left, pull, inverse, u)
    for c in range(x.shape[0]):
        scale = max(scale, abs(pull[c]))
        u[c] = u[c] - x[c] if side[c] == 0.0 else 0.0
        against[c] = -weight[c] * u[c]
        most = max(most, abs(against[c]))
    if most <= _EXACT * scale:
        return False
    _multiply(turned, u, left)
    for r in range(left.shape[0]):
        w[r] = left[r]
    substitute_wide(gram, w)
    for a in range(k):
        _add(shares[a] * _dot(ways[a], left), ways[a], w)
    _reach(rows, turned, w, against, inverse, u)
    for c in range(x.shape[0]):
        if side[c] == 0.0:
            x[c] = min(max(x[c] - u[c], lo[c]), hi[c])
    return True


@flat_kernel
def row_minimum(tasks, out, weight, pull, lo, hi, x, span):
    """Fills ``x`` that minimises ½ xᵀD x − pᵀx + ½ ‖e − J x‖² within ``lo`` ≤ x ≤ ``hi``.

    Args:
        tasks: The tasks, as opened.
        out: Errors e and rows J, as opened.
        weight: The diagonal of D.
        pull: The slope p.
        lo: Lower bounds.
        hi: Upper bounds; equal to the lower one where an unknown is given.
        x: Takes the minimum.
        span: Room to work in, as opened.

    Returns:
        Whether it did; not where D is as nothing beside J, which then wants ``box_minimum``.
    """
    turned, bases, ways, gram, lines, shorts, four = span
    u, inverse, side, held, known, shares = (
        shorts[0], shorts[1], shorts[2], shorts[3], shorts[4], shorts[5]
    )  # fmt: skip
    y, w = lines[0], lines[2]
    error, rows = out[0], out[1]
    n = x.shape[0]
    for c in range(n):
        if not weight[c] > 0.0:
            return False
        inverse[c] = 1.0 / weight[c]
        side[c] = known[c] = 0.0
        x[c] = inverse[c] * pull[c]
    _turn(tasks, rows, turned)
    stiff = _fill_gram(tasks, turned, inverse, gram)
    if not (stiff < _STIFFEST and factorise_wide(gram)):
        return False
    _multiply(turned, x, y)
    for r in range(error.shape[0]):
        y[r] = error[r] - y[r]
    substitute_wide(gram, y)
    k = 0
    for _ in range(10 * n + 20):
        _reach(rows, turned, y, pull, inverse, u)
        p = most_missed(lo, hi, u, side)
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
            _open(p, lo, hi, u, known, gram, turned, bases, four)
        at, drop, rest = u[p], 0, 1.0
        while drop >= 0:
            # p goes from where it is to its bound; y goes along ``w``, and with it u of the held
            _way(p, k, turned, bases, ways, shares, w)
            rest = weight[p] - _dot(turned[p], w)
            if not rest > 0.0:
                return False
            whole = (at - bound) * weight[p] / rest
            part, drop = 1.0, -1
            for a in range(k):
                i = int(held[a])
                end = lo[i] if side[i] < 0.0 else hi[i]
                change = whole * inverse[i] * _dot(turned[i], w)
                if lo[i] < hi[i] and side[i] * (u[i] + part * change - end) < 0.0:
                    part, drop = min(part, max(0.0, (end - u[i]) / change)), a
            _add(part * whole, w, y)
            if drop >= 0:
                at += part * (bound - at)
                side[int(held[drop])] = 0.0
                _let_go(drop, k, held, weight, turned, bases, ways, shares)
                k -= 1
                _reach(rows, turned, y, pull, inverse, u)
        held[k], side[p], shares[k] = p, sign, 1.0 / rest
        for r in range(w.shape[0]):
            ways[k, r] = w[r]
        k += 1
    return False
