"""Compiled damping of least squares near singular postures."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import array_kernel, flat_kernel, kernel
from linkwork.kinematics.frame_task_kernels import in_goal_axes
from linkwork.kinematics.linear_kernels import factorize, substitute
from linkwork.kinematics.memory_layout_kernels import (
    CENTER_OF_MASS,
    DAMPING,
    DAMPING_VALUE,
    DISTANCE,
    EDGE,
    FIRST,
    KIND,
    LEVEL,
    MANY,
    MASK,
    POSE,
    WEIGHT,
)

#: Kinds of damping.
CONSTANT, SMALLEST, ROBOTIX = 0, 1, 2


@flat_kernel
def posture_damping(settings, size):
    """Returns λ² for posture tasks only: the given value, or a negligible one.

    ``size`` is the sum of their squared weights.
    """
    return settings[DAMPING_VALUE] if settings[DAMPING] == CONSTANT else 1e-24 * size + 1e-300


@kernel
def smallest_singular(gram, n):
    """Returns the smallest singular value by inverse iteration on a Gram matrix.

    Only the upper half of ``gram`` is used; it is overwritten.
    """
    trace = 0.0
    for i in range(n):
        trace += gram[i, i]
    shift = 1e-14 * trace + 1e-300
    for i in range(n):
        gram[i, i] += shift
    x = np.empty(n)
    for i in range(n):
        x[i] = 1.0 + 0.37 * ((i * 7919) % 13) / 13.0 * (-1.0 if i % 2 else 1.0)
    if n == 0 or trace < 1e-280 or not factorize(gram, n):
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
def damping_from_gram(gram, n, width, settings, ignored):
    """Returns λ² of rows by their Gram matrix (upper half; overwritten) and squared error."""
    if settings[DAMPING] == ROBOTIX:
        total = 0.0
        for i in range(n):
            total += gram[i, i] * gram[i, i]
            for j in range(i + 1, n):
                total += 2.0 * gram[i, j] * gram[i, j]
        weight = settings[DAMPING_VALUE] / (1.0 + math.sqrt(total))
        return weight * weight
    size = ignored
    for i in range(n):
        size += gram[i, i]
    sigma = smallest_singular(gram, n)
    edge = settings[EDGE] * math.sqrt(size)
    floor = 1e-12 * size + 1e-300
    if sigma >= edge:
        return floor
    part = 1.0 - (sigma / edge) ** 2
    return floor + part * (
        settings[DAMPING_VALUE] * settings[DAMPING_VALUE] * size + 0.25 * math.sqrt(size * width)
    )


@array_kernel
def damping_from_rows(rows, m, error, settings, scratch, ignored):
    """Returns λ² for these rows: constant, smallest singular value, or RoboTiX thesis eq. 3.8.

    Constant: the value itself. Smallest (after Nakamura): with F = ‖J‖, the Frobenius norm, λ² =
    (λ₀² F² + ¼ F ‖e‖) (1 − (σ/(ε F))²) below the edge σ = ε F and zero above it. The term with the
    error prevents oscillation of an arm stretched toward an unreachable target, where the curvature
    of the error is of that size. Robotix: λ = k / (1 + ‖J Jᵀ‖), which hardly depends on the
    posture.

    F includes the motion removed from the rows (``ignored``, squared): by higher levels, and along
        axes without weight. Otherwise a single row would be regular however short. Postures have no
        rows here.
    """
    kind = settings[DAMPING]
    if kind == CONSTANT:
        return settings[DAMPING_VALUE]
    n = rows.shape[1]
    # axes without weight have neither rows nor errors
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
    width = 0.0
    for i in range(m):
        width += error[i] * error[i]
    return damping_from_gram(scratch, small, width, settings, ignored)


@flat_kernel
def ignored_motion_size(level, tree, columns, tasks, poses):
    """Returns the squared norm of the motion that tasks of a level (all if −1) ignore.

    For a level, columns are scaled by the metric as its rows are.
    """
    indices, params, _, _, _, _, _ = tasks
    total = 0.0
    for t in range(indices.shape[0]):
        if level >= 0 and indices[t, LEVEL] != level:
            continue
        kind = indices[t, KIND]
        if kind == POSE:
            if indices[t, MASK] & 1:
                total += _ignored_motion(t, 0, level, columns, tasks, poses)
            if indices[t, MASK] & 2:
                total += _ignored_motion(t, 3, level, columns, tasks, poses)
        elif kind == DISTANCE:
            total += _ignored_motion(t, -1, level, columns, tasks, poses)
        elif (
            kind == CENTER_OF_MASS
            and min(params[t, WEIGHT], params[t, WEIGHT + 1], params[t, WEIGHT + 2]) == 0.0
        ):
            total += _ignored_com_motion(t, level, tree, columns, tasks, poses)
    return total


@flat_kernel
def _ignored_motion(t, turn, level, columns, tasks, poses):
    """Returns the ignored motion of a position (``turn`` 0), a rotation (3) or a distance (−1)."""
    col, _, _, scale, _, _, _, metric = columns
    indices, params, support, _, _, _, _ = tasks
    _, motion, seen, _, _ = poses
    at = WEIGHT + max(turn, 0)
    w0, w1, w2 = params[t, at], params[t, at + 1], params[t, at + 2]
    most, total = max(w0, w1, w2), 0.0
    if turn >= 0 and min(w0, w1, w2) > 0.0:
        return total
    for s in range(indices[t, FIRST], indices[t, FIRST] + indices[t, MANY]):
        d = support[s, 0]
        x, y, z = motion[d, 3], motion[d, 4], motion[d, 5]
        if turn <= 0:
            on = 7 if turn < 0 and support[s, 1] != 0 else 0
            px, py, pz = seen[t, on], seen[t, on + 1], seen[t, on + 2]
            x, y, z = (
                motion[d, 0] + y * pz - z * py,
                motion[d, 1] + z * px - x * pz,
                motion[d, 2] + x * py - y * px,
            )
        if turn < 0:
            along = seen[t, 14] * x + seen[t, 15] * y + seen[t, 16] * z
            size = max(0.0, x * x + y * y + z * z - along * along)
        else:
            x, y, z = in_goal_axes(seen, t, x, y, z)
            size = 0.0
            if w0 == 0.0:
                size += x * x
            if w1 == 0.0:
                size += y * y
            if w2 == 0.0:
                size += z * z
        size *= scale[d] * scale[d]
        total += size / metric[col[d]] if level >= 0 else size
    return most * most * total


@flat_kernel
def _ignored_com_motion(t, level, tree, columns, tasks, poses):
    index, _, _, _, _, dofs_of = tree
    col, _, _, scale, _, _, _, metric = columns
    indices, params, _, _, bodies, _, _ = tasks
    _, motion, _, moments, _ = poses
    w0, w1, w2 = params[t, WEIGHT], params[t, WEIGHT + 1], params[t, WEIGHT + 2]
    most, total = max(w0, w1, w2), 0.0
    inverse = 1.0 / moments[0, 0]
    for k in range(indices[t, FIRST], indices[t, FIRST] + indices[t, MANY]):
        b = bodies[k]
        m = moments[b, 0] * inverse
        if m == 0.0:
            continue
        x, y, z = moments[b, 1] * inverse, moments[b, 2] * inverse, moments[b, 3] * inverse
        for d in range(index[b, 3], index[b, 3] + dofs_of[b]):
            if col[d] < 0:
                continue
            ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
            size = 0.0
            if w0 == 0.0:
                size += (m * motion[d, 0] + ay * z - az * y) ** 2
            if w1 == 0.0:
                size += (m * motion[d, 1] + az * x - ax * z) ** 2
            if w2 == 0.0:
                size += (m * motion[d, 2] + ax * y - ay * x) ** 2
            size *= scale[d] * scale[d]
            total += size / metric[col[d]] if level >= 0 else size
    return most * most * total
