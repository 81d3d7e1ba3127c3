"""Compiled damping of least squares: how much rows that are nearly singular are held back."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import array_kernel, flat_kernel, kernel
from linkwork.kinematics.linear_kernels import factorise, substitute

#: Where the damping comes from.
CONSTANT, SMALLEST, ROBOTIX = 0, 1, 2


@flat_kernel
def posture_damping(settings, size):
    """λ² where postures are all there is: what is given, else next to nothing.

    ``size`` is the sum of their squared weights.
    """
    return settings[4] if settings[3] == CONSTANT else 1e-24 * size + 1e-300


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
    if n == 0 or trace < 1e-280 or not factorise(gram, n):
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


@kernel
def damping_by(gram, n, wide, settings, lost):
    """λ² of rows by their Gram matrix (upper half; overwritten) and squared error."""
    if settings[3] == ROBOTIX:
        total = 0.0
        for i in range(n):
            total += gram[i, i] * gram[i, i]
            for j in range(i + 1, n):
                total += 2.0 * gram[i, j] * gram[i, j]
        weight = settings[4] / (1.0 + math.sqrt(total))
        return weight * weight
    size = lost
    for i in range(n):
        size += gram[i, i]
    sigma = smallest_singular(gram, n)
    edge = settings[5] * math.sqrt(size)
    floor = 1e-12 * size + 1e-300
    if sigma >= edge:
        return floor
    part = 1.0 - (sigma / edge) ** 2
    return floor + part * (settings[4] * settings[4] * size + 0.25 * math.sqrt(size * wide))


@array_kernel
def damping_of(rows, m, error, settings, scratch, lost):
    """λ² for these rows: given, from the smallest singular value, or by 003 eq. 3.8.

    Constant: the number itself. Smallest (after Nakamura): with F = ‖J‖, the Frobenius norm,
    λ² = (λ₀² F² + ¼ F ‖e‖) (1 − (σ/(ε F))²) below the edge σ = ε F and nothing above it. The part
    with the error keeps an arm quiet that is stretched out towards what it cannot reach: there the
    error's own curvature is as large. Robotix: λ = k / (1 + ‖J Jᵀ‖), which hardly depends on the
    posture.

    F counts what is in the rows and what is ``lost`` of them (its square): to higher levels, and
    along axes without weight. Without that, a single row would be regular however short.
    Postures have no rows here.
    """
    kind = settings[3]
    if kind == CONSTANT:
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
    if kept == 0:
        return 1e-300
    wide = 0.0
    for i in range(m):
        wide += error[i] * error[i]
    return damping_by(scratch, small, wide, settings, lost)
