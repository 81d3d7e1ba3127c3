"""Compiled linear algebra of small dense systems: factors of symmetric matrices.

Loops run along rows with four pivots at once, so that the compiler can vectorize them without
changing the order of any sum. Counters are unsigned: otherwise numba checks each index for negative
values, which prevents vectorization.

The wide functions work on rows padded to a multiple of four numbers and always process four at once
from a multiple of four on, without remainder loops. The values below the diagonal are then
undefined.
"""

from __future__ import annotations

import numpy as np

from linkwork.core.jit import flat_kernel

UINT = np.uint64


@flat_kernel
def factorize(a, size):
    """Factors the upper half of the symmetric ``a`` (n×n) in place, A = L D Lᵀ.

    The diagonal holds 1/D. Returns whether all of D is positive.
    """
    n, k = UINT(size), UINT(0)
    while k < n:
        end = k + UINT(4) if k + UINT(4) <= n else k + UINT(1)
        for p in range(k, end):
            d = a[p, p]
            if not d > 0.0:
                return False
            inverse = 1.0 / d
            a[p, p] = inverse
            for i in range(p + UINT(1), end):
                f = a[p, i] * inverse
                for j in range(i, n):
                    a[i, j] -= f * a[p, j]
        if end == k + UINT(4):
            k1, k2, k3 = k + UINT(1), k + UINT(2), k + UINT(3)
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
            for i in range(p + UINT(1), n):
                a[p, i] *= inverse
        k = end
    return True


@flat_kernel
def substitute_from(a, n, x, first):
    """Solves A y = x in place with the factor of :func:`factorize`; x is 0 before ``first``."""
    for k in range(UINT(first), UINT(n)):
        f = x[k]
        if f != 0.0:
            for j in range(k + UINT(1), UINT(n)):
                x[j] -= a[k, j] * f
    for k in range(first, n):
        x[k] *= a[k, k]
    for k in range(n - 1, -1, -1):
        s0, s1, s2, s3 = x[k], 0.0, 0.0, 0.0  # four independent sums
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
    """Solves A y = x in place with the factor of :func:`factorize`."""
    substitute_from(a, n, x, 0)


@flat_kernel
def substitute_four(a, n, x):
    """Solves A y = x in place for four right-hand sides ``x`` (n×4) at once."""
    for k in range(n):
        f0, f1, f2, f3 = x[k, 0], x[k, 1], x[k, 2], x[k, 3]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and f3 == 0.0:
            continue
        for j in range(UINT(k + 1), UINT(n)):
            f = a[UINT(k), j]
            x[j, 0] -= f * f0
            x[j, 1] -= f * f1
            x[j, 2] -= f * f2
            x[j, 3] -= f * f3
    for k in range(n):
        for c in range(4):
            x[k, c] *= a[k, k]
    for back in range(UINT(n)):
        k = UINT(n) - UINT(1) - back
        s0, s1, s2, s3 = x[k, 0], x[k, 1], x[k, 2], x[k, 3]
        j = UINT(n)
        while j > k + UINT(1):  # the latest value is used last, to avoid a dependency
            j -= UINT(1)
            f = a[k, j]
            s0 -= f * x[j, 0]
            s1 -= f * x[j, 1]
            s2 -= f * x[j, 2]
            s3 -= f * x[j, 3]
        x[k, 0], x[k, 1], x[k, 2], x[k, 3] = s0, s1, s2, s3


@flat_kernel
def factorize_wide(a):
    """Is :func:`factorize` for ``a`` (n×w) with w a multiple of four, at least n."""
    n, w, k = UINT(a.shape[0]), UINT(a.shape[1]), UINT(0)
    while k < n:
        end = min(k + UINT(4), n)
        for p in range(k, end):
            d = a[p, p]
            if not d > 0.0:
                return False
            inverse = 1.0 / d
            a[p, p] = inverse
            for i in range(p + UINT(1), end):
                f, j = a[p, i] * inverse, k
                while j < w:
                    j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
                    s0, s1 = a[i, j] - f * a[p, j], a[i, j1] - f * a[p, j1]
                    s2, s3 = a[i, j2] - f * a[p, j2], a[i, j3] - f * a[p, j3]
                    a[i, j], a[i, j1], a[i, j2], a[i, j3] = s0, s1, s2, s3
                    j += UINT(4)
        if end < n:
            k1, k2, k3 = k + UINT(1), k + UINT(2), k + UINT(3)
            d0, d1, d2, d3 = a[k, k], a[k1, k1], a[k2, k2], a[k3, k3]
            for i in range(end, n):
                f0, f1, f2, f3 = a[k, i] * d0, a[k1, i] * d1, a[k2, i] * d2, a[k3, i] * d3
                j = i & ~UINT(3)
                while j < w:
                    j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
                    s0 = ((a[i, j] - f0 * a[k, j]) - f1 * a[k1, j]) - f2 * a[k2, j]
                    s1 = ((a[i, j1] - f0 * a[k, j1]) - f1 * a[k1, j1]) - f2 * a[k2, j1]
                    s2 = ((a[i, j2] - f0 * a[k, j2]) - f1 * a[k1, j2]) - f2 * a[k2, j2]
                    s3 = ((a[i, j3] - f0 * a[k, j3]) - f1 * a[k1, j3]) - f2 * a[k2, j3]
                    s0, s1 = s0 - f3 * a[k3, j], s1 - f3 * a[k3, j1]
                    s2, s3 = s2 - f3 * a[k3, j2], s3 - f3 * a[k3, j3]
                    a[i, j], a[i, j1], a[i, j2], a[i, j3] = s0, s1, s2, s3
                    j += UINT(4)
        for p in range(k, end):
            inverse = a[p, p]
            for i in range(p + UINT(1), n):
                a[p, i] *= inverse
        k = end
    return True


@flat_kernel
def substitute_wide(a, x):
    """Solves A y = x in place with the factor of :func:`factorize_wide`; x is padded with 0."""
    n, w, k = UINT(a.shape[0]), UINT(a.shape[1]), UINT(0)
    while k < n:
        end = min(k + UINT(4), n)
        for p in range(k, end):
            f = x[p]
            for j in range(p + UINT(1), end):
                x[j] -= a[p, j] * f
        if end < n:
            k1, k2, k3 = k + UINT(1), k + UINT(2), k + UINT(3)
            f0, f1, f2, f3, j = x[k], x[k1], x[k2], x[k3], end
            while j < w:
                j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
                s0 = ((x[j] - f0 * a[k, j]) - f1 * a[k1, j]) - f2 * a[k2, j]
                s1 = ((x[j1] - f0 * a[k, j1]) - f1 * a[k1, j1]) - f2 * a[k2, j1]
                s2 = ((x[j2] - f0 * a[k, j2]) - f1 * a[k1, j2]) - f2 * a[k2, j2]
                s3 = ((x[j3] - f0 * a[k, j3]) - f1 * a[k1, j3]) - f2 * a[k2, j3]
                s0, s1 = s0 - f3 * a[k3, j], s1 - f3 * a[k3, j1]
                s2, s3 = s2 - f3 * a[k3, j2], s3 - f3 * a[k3, j3]
                x[j], x[j1], x[j2], x[j3] = s0, s1, s2, s3
                j += UINT(4)
        k = end
    for p in range(n):
        x[p] *= a[p, p]
    for back in range(n):
        p = n - UINT(1) - back
        s0, s1, s2, s3 = x[p], 0.0, 0.0, 0.0
        j = (p & ~UINT(3)) + UINT(4)
        end = min(j, n)
        while j < w:
            j1, j2, j3 = j + UINT(1), j + UINT(2), j + UINT(3)
            s0, s1 = s0 - a[p, j] * x[j], s1 - a[p, j1] * x[j1]
            s2, s3 = s2 - a[p, j2] * x[j2], s3 - a[p, j3] * x[j3]
            j += UINT(4)
        s = (s0 + s1) + (s2 + s3)
        while end > p + UINT(1):  # the latest value is used last, to avoid a dependency
            end -= UINT(1)
            s -= a[p, end] * x[end]
        x[p] = s
