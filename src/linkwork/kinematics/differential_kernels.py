"""Compiled differential inverse kinematics: one step of all tasks within ranges and speeds."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import array_kernel, flat_kernel
from linkwork.kinematics.damping_kernels import (
    SMALLEST,
    damping_from_rows,
    ignored_motion_size,
    posture_damping,
)
from linkwork.kinematics.memory_layout_kernels import (
    DAMPING,
    EVALUATE_ONLY,
    LEVELS,
    LIMITED,
    NQ,
    RANGE_GAIN,
    ROUND,
    SCHEME,
    STEP,
    STRIDE,
    open_columns,
    open_poses,
    open_rows,
    open_span,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.priority_kernels import NESTED, nested_step, strict_step
from linkwork.kinematics.solve_kernels import advance, box_step, posture_weights
from linkwork.kinematics.task_kernels import task_errors, task_rows

#: Values of ``LIMITED``.
UNLIMITED, RANGES, RANGES_AND_SPEEDS = 0, 1, 2


@flat_kernel
def _bounds(columns, settings, q, lo, hi):
    """Computes the bounds of each column in this step."""
    col, dofq, dof, scale, range_lo, range_hi, speed, _ = columns
    dt, gain = settings[STEP], settings[RANGE_GAIN]
    for c in range(dof.shape[0]):
        hi[c] = settings[STRIDE]
    for d in range(col.shape[0]):  # the stride limits followers as well
        if col[d] >= 0 and abs(scale[d]) > 1.0:
            hi[col[d]] = min(hi[col[d]], settings[STRIDE] / abs(scale[d]))
    for c in range(dof.shape[0]):
        a, stride = dofq[dof[c]], hi[c]
        lo[c] = -stride
        if settings[LIMITED] == UNLIMITED:
            continue
        limit = min(speed[c] * dt, stride) if settings[LIMITED] == RANGES_AND_SPEEDS else stride
        lo[c], hi[c] = -limit, limit
        if a >= 0:
            lo[c] = max(gain * (range_lo[c] - q[a]), -limit)
            hi[c] = min(gain * (range_hi[c] - q[a]), limit)
        if lo[c] > hi[c]:  # out of range by more than one step
            if hi[c] < 0.0:
                lo[c] = hi[c] = -limit
            else:
                lo[c] = hi[c] = limit


@flat_kernel
def inequality_rows(tree, columns, motion, bodies, points, inequality):
    """Computes rows n · (motion of the point on a − motion of the point on b) by column.

    ``bodies`` (k×2) are a and b; ``points`` (k×9) the two points and the unit vector n, in the
    world.
    """
    index, _, _, _, _, dofs_of = tree
    col, _, _, scale, _, _, _, _ = columns
    for k in range(bodies.shape[0]):
        for c in range(inequality.shape[1]):
            inequality[k, c] = 0.0
        nx, ny, nz = points[k, 6], points[k, 7], points[k, 8]
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            px, py, pz = points[k, 3 * side], points[k, 3 * side + 1], points[k, 3 * side + 2]
            b = bodies[k, side]
            while b > 0:
                for d in range(index[b, 3], index[b, 3] + dofs_of[b]):
                    if col[d] >= 0:
                        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
                        x = motion[d, 0] + wy * pz - wz * py
                        y = motion[d, 1] + wz * px - wx * pz
                        z = motion[d, 2] + wx * py - wy * px
                        inequality[k, col[d]] += sign * scale[d] * (nx * x + ny * y + nz * z)
                b = index[b, 0]


@flat_kernel
def evaluate(ints, reals, work, q):
    """Computes poses, errors and rows of all tasks at ``q`` in ``work``."""
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks = open_tasks(ints, reals)
    poses, out = open_poses(ints, work), open_rows(ints, work)
    index, frame, rail, order, _, _ = tree
    pose, motion, _, _, scratch = poses
    place_bodies(index, frame, rail, order, q, pose, motion, scratch)
    task_errors(tree, columns, tasks, poses, out, q, ints[NQ])
    task_rows(tree, columns, tasks, poses, out)


@flat_kernel
def _integrate(ints, tree, columns, q, x, rates, dt, v, scratch):
    advance(tree, columns, ints[ROUND], q, x, rates, scratch)
    inverse = 1.0 / dt
    for d in range(v.shape[0]):
        v[d] = rates[d] * inverse


@flat_kernel
def _bound_gradient(out, x, lo, hi):
    """Returns the norm of the residual gradient along columns at their bounds."""
    error, rows, _ = out
    total = 0.0
    for c in range(x.shape[0]):
        if (x[c] > lo[c] and x[c] < hi[c]) or lo[c] == hi[c]:
            continue
        slope = 0.0
        for r in range(rows.shape[0]):
            if rows[r, c] != 0.0:
                left = error[r]
                for d in range(x.shape[0]):
                    left -= rows[r, d] * x[d]
                slope += rows[r, c] * left
        total += slope * slope
    return math.sqrt(total)


@flat_kernel
def step(ints, reals, work, settings, q, v):
    """Takes one step of one level, an exact quadratic program in a box; moves ``q``, fills ``v``.

    With ``EVALUATE_ONLY`` set it only computes poses, errors and rows in ``work``.

    Returns:
        λ² of the damping, or −1 if the equations cannot be solved.
    """
    evaluate(ints, reals, work, q)
    if settings[EVALUATE_ONLY] != 0.0:
        return 0.0
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, out = open_tasks(ints, reals), open_rows(ints, work)
    _, squares, _, line, rates, _ = open_system(ints, work)
    x, lo, hi = line[1], line[2], line[3]
    _, _, _, _, _, _, _, metric = columns
    error, rows, _ = out
    _, _, _, _, _, shorts, _ = open_span(ints, work)
    weight, pull = shorts[6], shorts[7]
    _, _, _, _, scratch = open_poses(ints, work)
    _bounds(columns, settings, q, lo, hi)
    damping = posture_weights(tree, columns, tasks, out, q, ints[NQ], weight, pull)
    if rows.shape[0] > 0:
        ignored = ignored_motion_size(-1, tree, columns, tasks, open_poses(ints, work))
        damping += damping_from_rows(rows, rows.shape[0], error, settings, squares[0], ignored)
    else:
        size = 0.0
        for c in range(x.shape[0]):
            size += weight[c]
        damping += posture_damping(settings, size)
    for c in range(x.shape[0]):
        weight[c] += damping * metric[c]
    if not box_step(ints, work, tasks, out):
        return -1.0
    if settings[DAMPING] == SMALLEST:
        # the residual at the bounds has curvature of this size: damp the other columns by it
        pressed = _bound_gradient(out, x, lo, hi)
        if pressed > 1e-9:
            for c in range(x.shape[0]):
                weight[c] += pressed * metric[c]
            box_step(ints, work, tasks, out)
    _integrate(ints, tree, columns, q, x, rates, settings[STEP], v, scratch)
    return damping


@array_kernel
def _level_step(
    ints, tree, columns, tasks, out, settings, q, lo, hi, poses, bodies, points, bounds, x
):  # fmt: skip
    """Computes the step ``x`` of several levels; allocates arrays."""
    _, motion, _, _, _ = poses
    nq = ints[NQ]
    ignored = np.empty(ints[LEVELS])
    for level in range(ints[LEVELS]):
        ignored[level] = ignored_motion_size(level, tree, columns, tasks, poses)
    if settings[SCHEME] == NESTED:
        return nested_step(ints, tree, columns, tasks, out, settings, q, nq, ignored, lo, hi, x)
    inequality = np.zeros((bodies.shape[0], x.shape[0]))
    inequality_rows(tree, columns, motion, bodies, points, inequality)
    return strict_step(
        ints, tree, columns, tasks, out, settings, q, nq, ignored, lo, hi, inequality, bounds, x
    )  # fmt: skip


@flat_kernel
def step_levels(ints, reals, work, settings, bodies, points, bounds, q, v):
    """Takes one step of several levels, or with inequalities; moves ``q``, fills ``v`` (nv).

    ``bodies``, ``points`` and ``bounds`` are inequalities n · motion ≥ bound
    (:func:`inequality_rows`).

    Returns:
        The largest λ² of the levels.
    """
    evaluate(ints, reals, work, q)
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, out = open_tasks(ints, reals), open_rows(ints, work)
    poses = open_poses(ints, work)
    _, _, _, line, rates, _ = open_system(ints, work)
    x, lo, hi = line[1], line[2], line[3]
    _, _, _, _, scratch = poses
    _bounds(columns, settings, q, lo, hi)
    damping = _level_step(
        ints, tree, columns, tasks, out, settings, q, lo, hi, poses, bodies, points, bounds, x
    )
    _integrate(ints, tree, columns, q, x, rates, settings[STEP], v, scratch)
    return damping
