"""Compiled inverse kinematics: normal equations of all tasks, and the search from many starts."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.box_kernels import box_minimum
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.layout_kernels import (
    COUNT,
    EXTRA,
    GAIN,
    KIND,
    LM,
    NEAR,
    NEAR_TURN,
    NQ,
    PIECE,
    PIECE_COUNT,
    POSTURE,
    ROUND,
    ROW,
    ROWS,
    open_columns,
    open_places,
    open_rows,
    open_span,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.row_box_kernels import row_minimum
from linkwork.kinematics.task_kernels import task_errors, task_rows
from linkwork.kinematics.value_kernels import posture_error
from linkwork.spatial.kernels import normalise, quat_mul, rotvec_quat

_U = np.uint64  # counters without sign: see linear_kernels


@inner_kernel
def _add_rows(rows, r0, several, i, low, high, hessian):
    """Adds what one, three or six rows at once give to row ``i`` of H, between two columns."""
    f0 = rows[r0, i]
    if several == 1:
        for j in range(low, high):
            hessian[i, j] += f0 * rows[r0, j]
        return
    r1, r2 = r0 + _U(1), r0 + _U(2)
    f1, f2 = rows[r1, i], rows[r2, i]
    if several == 3:
        for j in range(low, high):
            hessian[i, j] = ((hessian[i, j] + f0 * rows[r0, j]) + f1 * rows[r1, j]) + f2 * rows[
                r2, j
            ]
        return
    r3, r4, r5 = r0 + _U(3), r0 + _U(4), r0 + _U(5)
    f3, f4, f5 = rows[r3, i], rows[r4, i], rows[r5, i]
    for j in range(low, high):
        s = ((hessian[i, j] + f0 * rows[r0, j]) + f1 * rows[r1, j]) + f2 * rows[r2, j]
        hessian[i, j] = ((s + f3 * rows[r3, j]) + f4 * rows[r4, j]) + f5 * rows[r5, j]


@flat_kernel
def gather(tree, columns, tasks, out, q, nq, weight, pull):
    """Weights and pulls of postures, column by column: they couple none of them.

    A follower's error pulls at the column that it goes with.

    Returns:
        Damping that tasks ask for themselves (their ``lm`` times their squared error).
    """
    index, dof_body = tree[0], tree[4]
    col, scale, table = columns[0], columns[3], tasks[5]
    what, how, error = tasks[0], tasks[1], out[0]
    n, damping = weight.shape[0], 0.0
    for c in range(n):
        weight[c] = pull[c] = 0.0
    for t in range(what.shape[0]):
        if what[t, KIND] == POSTURE:
            row = table[what[t, EXTRA]]
            for d in range(col.shape[0]):
                w, c = row[nq + d], col[d]
                if w > 0.0 and c >= 0:
                    b = dof_body[d]
                    e = how[t, GAIN] * posture_error(index, q, row, b, d - index[b, 3])
                    weight[c] += (w * scale[d]) ** 2
                    pull[c] += w * w * scale[d] * e
                    damping += how[t, LM] * w * w * e * e
        for k in range(what[t, ROW], what[t, ROW] + what[t, COUNT]):
            damping += how[t, LM] * error[k] * error[k]
    return damping


@flat_kernel
def assemble(tasks, out, weight, pull, hessian, slope):
    """Fills the upper half of H = D + Σ (W J)ᵀ W J and the slope −p − Σ (W J)ᵀ W e at x = 0."""
    what, pieces = tasks[0], tasks[3]
    error, rows = out[0], out[1]
    n = slope.shape[0]
    for i in range(n):
        slope[i] = -pull[i]
        for j in range(i, n):
            hessian[i, j] = 0.0
        hessian[i, i] = weight[i]
    for t in range(what.shape[0]):
        first, last = what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]
        r, end = what[t, ROW], what[t, ROW] + what[t, COUNT]
        while r < end:
            several = 6 if r + 6 <= end else 3 if r + 3 <= end else 1
            for p in range(first, last):
                for i in range(pieces[p, 0], pieces[p, 1]):
                    for other in range(p, last):
                        low = i if other == p else pieces[other, 0]
                        high = pieces[other, 1]
                        _add_rows(rows, _U(r), several, _U(i), _U(low), _U(high), hessian)
                    for k in range(r, r + several):
                        slope[i] -= rows[k, i] * error[k]
            r += several


@flat_kernel
def step_within(ints, work, tasks, out):
    """Fills x of the system: the exact step within its box; returns whether there is one.

    It is sought among the rows where those are fewer than the columns, else among the columns.
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
    index, order = tree[0], tree[3]
    col, dofq, _, scale = columns[0], columns[1], columns[2], columns[3]
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
        normalise(made)
        for k in range(4):
            q[a + k] = made[k]


@inner_kernel
def _copy(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i]


@flat_kernel
def chance(seed):
    """A number in [0, 1) from the state ``seed`` (one uint64), xorshift64*."""
    x = seed[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    seed[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@flat_kernel
def throw(tree, columns, is_round, start, seed, spread, q, x, v, scratch):
    """A random posture within the ranges, about ``start`` where there are none.

    ``spread`` is how far [m] and, as a turn, [rad] a free or endless joint is thrown.
    """
    _, dofq, dof, _, lo, hi, _, _ = columns
    index, dof_body = tree[0], tree[4]
    _copy(start, q)
    for c in range(dof.shape[0]):
        d = dof[c]
        u = chance(seed)
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
def is_reached(how, miss):
    """Whether every task is as near as it should be."""
    for t in range(how.shape[0]):
        if miss[t, 0] > how[t, NEAR] or miss[t, 1] > how[t, NEAR_TURN]:
            return False
    return True


@flat_kernel
def _cost(tree, columns, tasks, out, q, nq):
    """Sum of the squared weighted errors."""
    index, dof_body = tree[0], tree[4]
    col, table = columns[0], tasks[5]
    what = tasks[0]
    error = out[0]
    total = 0.0
    for r in range(error.shape[0]):
        total += error[r] * error[r]
    for t in range(what.shape[0]):
        if what[t, KIND] == POSTURE:
            row = table[what[t, EXTRA]]
            for d in range(col.shape[0]):
                if row[nq + d] > 0.0 and col[d] >= 0:
                    b = dof_body[d]
                    e = row[nq + d] * posture_error(index, q, row, b, d - index[b, 3])
                    total += e * e
    return total


@flat_kernel
def search(ints, reals, work, seed, settings, q, found):
    """Moves ``q`` until all tasks are reached; starts anew where it does not come nearer.

    Levenberg–Marquardt with Sugihara's damping μ = w ‖e‖² + floor, each step exactly within the
    ranges. ``settings``: iterations, starts, w, floor, spread, patience. ``found``: reached (0/1),
    iterations, starts, squared error.
    """
    tree, columns, tasks = (
        open_tree(ints, reals),
        open_columns(ints, reals),
        open_tasks(ints, reals),
    )
    places, out = open_places(ints, work), open_rows(ints, work)
    _, _, _, line, v, postures = open_system(ints, work)
    x, lo, hi, scratch = line[1], line[2], line[3], places[4]
    shorts = open_span(ints, work)[5]
    weight, pull = shorts[6], shorts[7]
    index, frame, rail, order = tree[0], tree[1], tree[2], tree[3]
    dofq, dof, least, most, mass = columns[1], columns[2], columns[4], columns[5], columns[7]
    how, miss, is_round, nq = tasks[1], out[2], ints[ROUND], ints[NQ]
    n = x.shape[0]
    iterations, starts = int(settings[0]), int(settings[1])
    start, best = postures[0], postures[1]
    _copy(q, start)
    _copy(q, best)
    best_cost = np.inf
    total = 0
    for attempt in range(starts):
        if attempt > 0:
            throw(tree, columns, is_round, start, seed, settings[4], q, x, v, scratch)
        else:
            for c in range(n):
                a = dofq[dof[c]]
                if a >= 0:
                    q[a] = min(max(q[a], least[c]), most[c])
        before, waited = np.inf, 0
        for _ in range(iterations):
            total += 1
            place_bodies(index, frame, rail, order, q, places[0], places[1], scratch)
            task_errors(tree, columns, tasks, places, out, q, nq)
            cost = _cost(tree, columns, tasks, out, q, nq)
            if cost < best_cost:
                best_cost = cost
                _copy(q, best)
            if is_reached(how, miss):
                found[0], found[1], found[2], found[3] = 1.0, total, attempt + 1, cost
                return
            if cost > settings[6] * before:
                waited += 1
                if waited >= settings[5]:
                    break
            else:
                waited = 0
            before = min(before, cost)
            task_rows(tree, columns, tasks, places, out)
            damping = gather(tree, columns, tasks, out, q, nq, weight, pull)
            damping += settings[2] * cost + settings[3]
            for c in range(n):
                weight[c] += damping * mass[c]
                a = dofq[dof[c]]
                lo[c], hi[c] = -np.inf, np.inf
                if a >= 0:
                    lo[c], hi[c] = least[c] - q[a], most[c] - q[a]
            if not step_within(ints, work, tasks, out):
                break
            advance(tree, columns, is_round, q, x, v, scratch)
    _copy(best, q)
    found[0], found[1], found[2], found[3] = 0.0, total, starts, best_cost
