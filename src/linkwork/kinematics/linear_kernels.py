"""Compiled linear algebra of small dense systems: factors of symmetric matrices.

Loops run along rows, and four pivots are taken at once, so that the compiler may take several
numbers at once without changing the order of any sum. Counters are without sign: numba would
otherwise look at each whether it counts from the end, and nothing could be taken at once.
"""

from __future__ import annotations

import numpy as np

from linkwork.jit import flat_kernel

_U = np.uint64


@flat_kernel
def factorise(a, size):
    """Overwrites the upper half of the symmetric ``a`` (n×n) with D and the rows of Lᵀ, A = L D Lᵀ.

    The diagonal keeps 1/D. Returns whether all of D is positive.
    """
    n, k = _U(size), _U(0)
    while k < n:
        end = k + _U(4) if k + _U(4) <= n else k + _U(1)
        for p in range(k, end):
            d = a[p, p]
            if not d > 0.0:
                return False
            inverse = 1.0 / d
            a[p, p] = inverse
            for i in range(p + _U(1), end):
                f = a[p, i] * inverse
                for j in range(i, n):
                    a[i, j] -= f * a[p, j]
        if end == k + _U(4):
            k1, k2, k3 = k + _U(1), k + _U(2), k + _U(3)
            d0, d1, d2, d3 = a[k, k], a[k1, k1], a[k2, k2], a[k3, k3]
            for i in range(end, n):
                f0, f1, f2, f3 = a[k, i] * d0, a[k1, i] * d1, a[k2, i] * d2, a[k3, i] * d3
                for j in range(i, n):
                    s = (a[i, j] - f0 * a[k, j]) - f1 * a[k1, j]
                    a[i, j] = (s - f2 * a[k2, j]) - f3 * a[k3, j]
        else:
            for i in range(end, n):
                f = a[k, i] * a[k, k]
                for j in range(i, n):
                    a[i, j] -= f * a[k, j]
        for p in range(k, end):
            inverse = a[p, p]
            for i in range(p + _U(1), n):
                a[p, i] *= inverse
        k = end
    return True


@flat_kernel
def substitute_from(a, n, x, first):
    """Solves A y = x in place with the factor of :func:`factorise`; x is 0 before ``first``."""
    for k in range(_U(first), _U(n)):
        f = x[k]
        if f != 0.0:
            for j in range(k + _U(1), _U(n)):
                x[j] -= a[k, j] * f
    for k in range(first, n):
        x[k] *= a[k, k]
    for k in range(n - 1, -1, -1):
        s0, s1, s2, s3 = x[k], 0.0, 0.0, 0.0  # four sums, none of which waits for another
        j = k + 1
        while j + 4 <= n:
            s0 -= a[k, j] * x[j]
            s1 -= a[k, j + 1] * x[j + 1]
            s2 -= a[k, j + 2] * x[j + 2]
            s3 -= a[k, j + 3] * x[j + 3]
            j += 4
        while j < n:
            s0 -= a[k, j] * x[j]
            j += 1
        x[k] = (s0 + s1) + (s2 + s3)


@flat_kernel
def substitute(a, n, x):
    """Solves A y = x in place with the factor of :func:`factorise`."""
    substitute_from(a, n, x, 0)


@flat_kernel
def substitute_four(a, n, x):
    """Solves A y = x in place for four right sides at once: ``x`` (n×4), side by side."""
    for k in range(n):
        f0, f1, f2, f3 = x[k, 0], x[k, 1], x[k, 2], x[k, 3]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and f3 == 0.0:
            continue
        for j in range(_U(k + 1), _U(n)):
            f = a[_U(k), j]
            x[j, 0] -= f * f0
            x[j, 1] -= f * f1
            x[j, 2] -= f * f2
            x[j, 3] -= f * f3
    for k in range(n):
        for c in range(4):
            x[k, c] *= a[k, k]
    for k in range(n - 1, -1, -1):
        s0, s1, s2, s3 = x[k, 0], x[k, 1], x[k, 2], x[k, 3]
        for j in range(k + 1, n):
            f = a[k, j]
            s0 -= f * x[j, 0]
            s1 -= f * x[j, 1]
            s2 -= f * x[j, 2]
            s3 -= f * x[j, 3]
        x[k, 0], x[k, 1], x[k, 2], x[k, 3] = s0, s1, s2, s3
