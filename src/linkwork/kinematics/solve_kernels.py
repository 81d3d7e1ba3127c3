"""Compiled inverse kinematics: normal equations of all tasks, search from many starts."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.geometry.kernels import normalize, quat_mul, rotvec_quat
from linkwork.kinematics.box_kernels import box_minimum
from linkwork.kinematics.dual_box_kernels import row_minimum
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.memory_layout_kernels import (
    ANGLE_TOLERANCE,
    COST_DAMPING,
    COUNT,
    DAMPING_FLOOR,
    EXTRA,
    GAIN,
    KIND,
    LM,
    MAX_ITERATIONS,
    MAX_STALLS,
    NQ,
    POSITION_TOLERANCE,
    POSTURE,
    PROGRESS,
    RANGE_COUNT,
    RANGE_FIRST,
    ROUND,
    ROW,
    ROWS,
    SPREAD,
    STARTS,
    open_columns,
    open_poses,
    open_rows,
    open_span,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.task_kernels import task_errors, task_rows
from linkwork.kinematics.value_task_kernels import posture_error


@inner_kernel
def _add_rows(rows, r0, several, i, low, high, hessian):
    """Adds the products of one, three or six rows to row ``i`` of H, between two columns."""
    f0 = rows[r0, i]
    if several == 1:
        for j in range(low, high):
            hessian[i, j] += f0 * rows[r0, j]
        return
    r1, r2 = r0 + UINT(1), r0 + UINT(2)
    f1, f2 = rows[r1, i], rows[r2, i]
    if several == 3:
        for j in range(low, high):
            hessian[i, j] = ((hessian[i, j] + f0 * rows[r0, j]) + f1 * rows[r1, j]) + f2 * rows[
                r2, j
            ]
        return
    r3, r4, r5 = r0 + UINT(3), r0 + UINT(4), r0 + UINT(5)
    f3, f4, f5 = rows[r3, i], rows[r4, i], rows[r5, i]
    for j in range(low, high):
        s = ((hessian[i, j] + f0 * rows[r0, j]) + f1 * rows[r1, j]) + f2 * rows[r2, j]
        hessian[i, j] = ((s + f3 * rows[r3, j]) + f4 * rows[r4, j]) + f5 * rows[r5, j]


@flat_kernel
def posture_weights(tree, columns, tasks, out, q, nq, weight, pull):
    """Computes diagonal weights and linear terms of postures, which couple no columns.

    A follower's error acts on its leader's column.

    Returns:
        Damping of the tasks themselves (``lm_damping`` times their squared error).
    """
    index, _, _, _, dof_body, _ = tree
    col, _, _, scale, _, _, _, _ = columns
    indices, params, _, _, _, table, _ = tasks
    error, _, _ = out
    n, damping = weight.shape[0], 0.0
    for c in range(n):
        weight[c] = pull[c] = 0.0
    for t in range(indices.shape[0]):
        if indices[t, KIND] == POSTURE:
            row = table[indices[t, EXTRA]]
            for d in range(col.shape[0]):
                w, c = row[nq + d], col[d]
                if w > 0.0 and c >= 0:
                    b = dof_body[d]
                    e = params[t, GAIN] * posture_error(index, q, row, b, d - index[b, 3])
                    weight[c] += (w * scale[d]) ** 2
                    pull[c] += w * w * scale[d] * e
                    damping += params[t, LM] * w * w * e * e
        for k in range(indices[t, ROW], indices[t, ROW] + indices[t, COUNT]):
            damping += params[t, LM] * error[k] * error[k]
    return damping


@flat_kernel
def assemble(tasks, out, weight, pull, hessian, slope):
    """Computes the upper half of H = D + Σ (W J)ᵀ W J and the slope −p − Σ (W J)ᵀ W e at x = 0."""
    indices, _, _, column_ranges, _, _, _ = tasks
    error, rows, _ = out
    n = slope.shape[0]
    for i in range(n):
        slope[i] = -pull[i]
        for j in range(i, n):
            hessian[i, j] = 0.0
        hessian[i, i] = weight[i]
    for t in range(indices.shape[0]):
        first, last = (
            indices[t, RANGE_FIRST],
            indices[t, RANGE_FIRST] + indices[t, RANGE_COUNT],
        )
        r, end = indices[t, ROW], indices[t, ROW] + indices[t, COUNT]
        while r < end:
            several = 6 if r + 6 <= end else 3 if r + 3 <= end else 1
            for p in range(first, last):
                for i in range(column_ranges[p, 0], column_ranges[p, 1]):
                    for other in range(p, last):
                        low = i if other == p else column_ranges[other, 0]
                        high = column_ranges[other, 1]
                        _add_rows(rows, UINT(r), several, UINT(i), UINT(low), UINT(high), hessian)
                    for k in range(r, r + several):
                        slope[i] -= rows[k, i] * error[k]
            r += several


@flat_kernel
def box_step(ints, work, tasks, out):
    """Computes x of the system, the exact step within its box; returns whether there is one.

    It is solved in the space of the rows if they are fewer than the columns.
    """
    hessian, squares, vectors, line, _, _ = open_system(ints, work)
    slope, x, lo, hi = line[0], line[1], line[2], line[3]
    span = open_span(ints, work)
    weight, pull = span[5][6], span[5][7]
    if ints[ROWS] < x.shape[0] and row_minimum(tasks, out, weight, pull, lo, hi, x, span):
        return True
    assemble(tasks, out, weight, pull, hessian, slope)
    return box_minimum(hessian, slope, lo, hi, x, vectors, squares)


@flat_kernel
def advance(tree, columns, is_round, q, x, v, scratch):
    """Moves the coordinates by the step ``x`` of the columns."""
    index, _, _, order, _, _ = tree
    col, dofq, _, scale, _, _, _, _ = columns
    for d in range(col.shape[0]):
        v[d] = scale[d] * x[col[d]] if col[d] >= 0 else 0.0
        if dofq[d] >= 0:
            q[dofq[d]] += v[d]
    if is_round == 0:
        return
    turn, made = scratch[0, 0:4], scratch[1, 0:4]
    for n in range(order.shape[0]):
        b = order[n]
        kind = index[b, 1]
        if kind != BALL and kind != FREE:
            continue
        a, i = index[b, 2], index[b, 3]
        if kind == FREE:
            a, i = a + 3, i + 3
        rotvec_quat(v[i], v[i + 1], v[i + 2], turn)
        quat_mul(q[a : a + 4], turn, made)
        normalize(made)
        for k in range(4):
            q[a + k] = made[k]


@inner_kernel
def _copy(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i]


@flat_kernel
def uniform_random(seed):
    """Returns a number in [0, 1) from the state ``seed`` (one uint64), xorshift64*."""
    x = seed[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    seed[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@flat_kernel
def random_posture(tree, columns, is_round, start, seed, spread, q, x, v, scratch):
    """Computes a random posture within the ranges, about ``start`` for unlimited joints.

    ``spread`` is the range [m], and angle [rad], of unlimited joints.
    """
    index, _, _, _, dof_body, _ = tree
    _, dofq, dof, _, lo, hi, _, _ = columns
    _copy(start, q)
    for c in range(dof.shape[0]):
        d = dof[c]
        u = uniform_random(seed)
        b = dof_body[d]
        kind = index[b, 1]
        if kind == BALL or kind == FREE:
            x[c] = (2.0 * u - 1.0) * spread * (1.0 if kind == FREE else math.pi)
        elif hi[c] - lo[c] < 1e3:
            x[c] = lo[c] + u * (hi[c] - lo[c]) - start[dofq[d]]
        else:
            x[c] = (2.0 * u - 1.0) * math.pi
    advance(tree, columns, is_round, q, x, v, scratch)


@flat_kernel
def is_reached(params, miss):
    """Returns whether every task is within its tolerances."""
    for t in range(params.shape[0]):
        if miss[t, 0] > params[t, POSITION_TOLERANCE] or miss[t, 1] > params[t, ANGLE_TOLERANCE]:
            return False
    return True


@flat_kernel
def _cost(tree, columns, tasks, out, q, nq):
    """Returns the sum of the squared weighted errors."""
    index, _, _, _, dof_body, _ = tree
    col, _, _, _, _, _, _, _ = columns
    indices, _, _, _, _, table, _ = tasks
    error, _, _ = out
    total = 0.0
    for r in range(error.shape[0]):
        total += error[r] * error[r]
    for t in range(indices.shape[0]):
        if indices[t, KIND] == POSTURE:
            row = table[indices[t, EXTRA]]
            for d in range(col.shape[0]):
                if row[nq + d] > 0.0 and col[d] >= 0:
                    b = dof_body[d]
                    e = row[nq + d] * posture_error(index, q, row, b, d - index[b, 3])
                    total += e * e
    return total


@flat_kernel
def search(ints, reals, work, seed, settings, q, found):
    """Moves ``q`` until all tasks are reached; restarts if there is no progress.

    Levenberg–Marquardt with Sugihara's damping μ = w ‖e‖² + floor, each step exactly within the
    ranges. ``settings`` as in ``memory_layout_kernels``. ``found``: reached (0/1), iterations,
    starts, squared error.
    """
    tree, columns, tasks = (
        open_tree(ints, reals),
        open_columns(ints, reals),
        open_tasks(ints, reals),
    )
    poses, out = open_poses(ints, work), open_rows(ints, work)
    _, _, _, line, v, postures = open_system(ints, work)
    x, lo, hi = line[1], line[2], line[3]
    _, _, _, _, _, shorts, _ = open_span(ints, work)
    weight, pull = shorts[6], shorts[7]
    index, frame, rail, order, _, _ = tree
    _, dofq, dof, _, range_lo, range_hi, _, metric = columns
    _, params, _, _, _, _, _ = tasks
    pose, motion, _, _, scratch = poses
    _, _, miss = out
    is_round, nq, n = ints[ROUND], ints[NQ], x.shape[0]
    iterations, starts = int(settings[MAX_ITERATIONS]), int(settings[STARTS])
    start, best = postures[0], postures[1]
    _copy(q, start)
    _copy(q, best)
    best_cost = np.inf
    total = 0
    for attempt in range(starts):
        if attempt > 0:
            random_posture(tree, columns, is_round, start, seed, settings[SPREAD], q, x, v, scratch)
        else:
            for c in range(n):
                a = dofq[dof[c]]
                if a >= 0:
                    q[a] = min(max(q[a], range_lo[c]), range_hi[c])
        before, waited = np.inf, 0
        for _ in range(iterations):
            total += 1
            place_bodies(index, frame, rail, order, q, pose, motion, scratch)
            task_errors(tree, columns, tasks, poses, out, q, nq)
            cost = _cost(tree, columns, tasks, out, q, nq)
            if cost < best_cost:
                best_cost = cost
                _copy(q, best)
            if is_reached(params, miss):
                found[0], found[1], found[2], found[3] = 1.0, total, attempt + 1, cost
                return
            if cost > settings[PROGRESS] * before:
                waited += 1
                if waited >= settings[MAX_STALLS]:
                    break
            else:
                waited = 0
            before = min(before, cost)
            task_rows(tree, columns, tasks, poses, out)
            damping = posture_weights(tree, columns, tasks, out, q, nq, weight, pull)
            damping += settings[COST_DAMPING] * cost + settings[DAMPING_FLOOR]
            for c in range(n):
                weight[c] += damping * metric[c]
                a = dofq[dof[c]]
                lo[c], hi[c] = -np.inf, np.inf
                if a >= 0:
                    lo[c], hi[c] = range_lo[c] - q[a], range_hi[c] - q[a]
            if not box_step(ints, work, tasks, out):
                break
            advance(tree, columns, is_round, q, x, v, scratch)
    _copy(best, q)
    found[0], found[1], found[2], found[3] = 0.0, total, starts, best_cost
