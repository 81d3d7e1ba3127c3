"""Compiled priorities in 003's nested form."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import kernel
from linkwork.kinematics.layout_kernels import LEVELS
from linkwork.kinematics.level_kernels import damped_step, level_damping, level_rows


@kernel
def nested_step(ints, tree, columns, tasks, out, settings, q, nq, lost, lo, hi, x):
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
    most = out[0].shape[0] + tasks[0].shape[0] * columns[0].shape[0]
    jac, err, z = np.empty((most, n)), np.empty(most), np.empty(most)
    projected, span, reduced = np.empty((most, n)), np.empty((n + 1, n)), np.empty((most, n))
    gram, step = np.empty((max(most, n + 1), max(most, n + 1))), np.empty(n)
    largest = 0.0
    for level in range(ints[LEVELS] - 1, -1, -1):
        m, plain, damping = level_rows(
            level, tree, columns, tasks, out, q, nq, inverse_root, jac, err
        )  # fmt: skip
        damping += level_damping(jac, m, plain, err, settings, gram, lost[level])
        largest = max(largest, damping)
        damped_step(
            jac, m, err, span, 0, damping, x, x, projected, span, reduced, gram, z, step
        )  # fmt: skip
        for c in range(n):
            x[c] += step[c]
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
