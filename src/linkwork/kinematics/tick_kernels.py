"""Compiled differential inverse kinematics: one step of all tasks within ranges and speeds."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import array_kernel, flat_kernel
from linkwork.kinematics.damping_kernels import SMALLEST, damping_of, posture_damping
from linkwork.kinematics.layout_kernels import (
    LEVELS,
    NQ,
    ROUND,
    open_columns,
    open_places,
    open_rows,
    open_span,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.lost_kernels import lost_size
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.nested_kernels import nested_step
from linkwork.kinematics.priority_kernels import NESTED, strict_step
from linkwork.kinematics.solve_kernels import advance, gather, step_within
from linkwork.kinematics.task_kernels import task_errors, task_rows

#: Places in the settings of a tick.
STEP, RANGE_GAIN, SCHEME, DAMPING, DAMP, EDGE, LIMITED, LOOK_ONLY, STRIDE = range(9)
SETTINGS = 9

#: What counts in ``LIMITED``.
UNLIMITED, RANGES, RANGES_AND_SPEEDS = 0, 1, 2


@flat_kernel
def _bounds(columns, settings, q, lo, hi):
    """How far each column may go in this step."""
    dofq, dof, least, most, speed = columns[1], columns[2], columns[4], columns[5], columns[6]
    col, scale = columns[0], columns[3]
    dt, gain = settings[STEP], settings[RANGE_GAIN]
    for c in range(dof.shape[0]):
        hi[c] = settings[STRIDE]
    for d in range(col.shape[0]):  # a follower goes no farther than any other joint
        if col[d] >= 0 and abs(scale[d]) > 1.0:
            hi[col[d]] = min(hi[col[d]], settings[STRIDE] / abs(scale[d]))
    for c in range(dof.shape[0]):
        a, stride = dofq[dof[c]], hi[c]
        lo[c] = -stride
        if settings[LIMITED] == UNLIMITED:
            continue
        far = min(speed[c] * dt, stride) if settings[LIMITED] == RANGES_AND_SPEEDS else stride
        lo[c], hi[c] = -far, far
        if a >= 0:
            lo[c] = max(gain * (least[c] - q[a]), -far)
            hi[c] = min(gain * (most[c] - q[a]), far)
        if lo[c] > hi[c]:  # out of its range, and too far out to be back in one step
            if hi[c] < 0.0:
                lo[c] = hi[c] = -far
            else:
                lo[c] = hi[c] = far


@flat_kernel
def fence_rows(tree, columns, motion, bodies, points, fence):
    """Rows n · (motion of the point on a − motion of the point on b) by column.

    ``bodies`` (k×2) are a and b; ``points`` (k×9) the two points and the unit vector n, in world.
    """
    index, dofs_of = tree[0], tree[5]
    col, scale = columns[0], columns[3]
    for k in range(bodies.shape[0]):
        for c in range(fence.shape[1]):
            fence[k, c] = 0.0
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
                        fence[k, col[d]] += sign * scale[d] * (nx * x + ny * y + nz * z)
                b = index[b, 0]


@flat_kernel
def look(ints, reals, work, q):
    """Leaves poses, errors and rows of all tasks at ``q`` in ``work``."""
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks = open_tasks(ints, reals)
    places, out = open_places(ints, work), open_rows(ints, work)
    place_bodies(tree[0], tree[1], tree[2], tree[3], q, places[0], places[1], places[4])
    task_errors(tree, columns, tasks, places, out, q, ints[NQ])
    task_rows(tree, columns, tasks, places, out)


@flat_kernel
def _give(ints, tree, columns, q, x, rates, dt, v, scratch):
    advance(tree, columns, ints[ROUND], q, x, rates, scratch)
    inverse = 1.0 / dt
    for d in range(v.shape[0]):
        v[d] = rates[d] * inverse


@flat_kernel
def _pressed(out, x, lo, hi):
    """How strongly the errors that a step leaves press columns against their bounds."""
    error, rows = out[0], out[1]
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
def tick(ints, reals, work, settings, q, v):
    """One step of one level, an exact quadratic program in a box; moves ``q``, fills ``v`` (nv).

    With ``LOOK_ONLY`` set it only leaves poses, errors and rows in ``work``.

    Returns:
        λ² of the damping, or −1 if the equations cannot be solved.
    """
    look(ints, reals, work, q)
    if settings[LOOK_ONLY] != 0.0:
        return 0.0
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, out = open_tasks(ints, reals), open_rows(ints, work)
    _, squares, _, line, rates, _ = open_system(ints, work)
    x, mass, shorts = line[1], columns[7], open_span(ints, work)[5]
    weight, pull = shorts[6], shorts[7]
    _bounds(columns, settings, q, line[2], line[3])
    damping = gather(tree, columns, tasks, out, q, ints[NQ], weight, pull)
    if out[1].shape[0] > 0:
        lost = lost_size(-1, tree, columns, tasks, open_places(ints, work))
        damping += damping_of(out[1], out[1].shape[0], out[0], settings, squares[0], lost)
    else:
        size = 0.0
        for c in range(x.shape[0]):
            size += weight[c]
        damping += posture_damping(settings, size)
    for c in range(x.shape[0]):
        weight[c] += damping * mass[c]
    if not step_within(ints, work, tasks, out):
        return -1.0
    if settings[DAMPING] == SMALLEST:
        # what bounds leave of the errors curves as much: other columns must not chase it
        pressed = _pressed(out, x, line[2], line[3])
        if pressed > 1e-9:
            for c in range(x.shape[0]):
                weight[c] += pressed * mass[c]
            step_within(ints, work, tasks, out)
    _give(ints, tree, columns, q, x, rates, settings[STEP], v, open_places(ints, work)[4])
    return damping


@array_kernel
def _level_step(
    ints, tree, columns, tasks, out, settings, q, lo, hi, places, bodies, points, bounds, x
):  # fmt: skip
    """The step ``x`` of several levels; this part makes arrays of its own."""
    nq = ints[NQ]
    lost = np.empty(ints[LEVELS])
    for level in range(ints[LEVELS]):
        lost[level] = lost_size(level, tree, columns, tasks, places)
    if settings[SCHEME] == NESTED:
        return nested_step(ints, tree, columns, tasks, out, settings, q, nq, lost, lo, hi, x)
    fence = np.zeros((bodies.shape[0], x.shape[0]))
    fence_rows(tree, columns, places[1], bodies, points, fence)
    return strict_step(
        ints, tree, columns, tasks, out, settings, q, nq, lost, lo, hi, fence, bounds, x
    )  # fmt: skip


@flat_kernel
def tick_levels(ints, reals, work, settings, bodies, points, bounds, q, v):
    """One step of several levels, or within fences; moves ``q``, fills ``v`` (nv).

    ``bodies``, ``points`` and ``bounds`` are fences: n · motion ≥ bound (:func:`fence_rows`).

    Returns:
        The largest λ² of the levels.
    """
    look(ints, reals, work, q)
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, out = open_tasks(ints, reals), open_rows(ints, work)
    places = open_places(ints, work)
    _, _, _, line, rates, _ = open_system(ints, work)
    x, lo, hi = line[1], line[2], line[3]
    _bounds(columns, settings, q, lo, hi)
    damping = _level_step(
        ints, tree, columns, tasks, out, settings, q, lo, hi, places, bodies, points, bounds, x
    )
    _give(ints, tree, columns, q, x, rates, settings[STEP], v, places[4])
    return damping
