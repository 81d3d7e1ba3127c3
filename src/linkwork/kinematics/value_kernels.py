"""Compiled errors and rows of tasks of centres of mass, sums of joints, distances and postures."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import flat_kernel
from linkwork.kinematics.frame_kernels import counted_size
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.layout_kernels import (
    EXTRA,
    FIRST,
    GAIN,
    MANY,
    ROW,
    SCALAR,
    SIDE,
    TARGET,
    WEIGHT,
)
from linkwork.spatial.kernels import rotate

_U = np.uint64  # counters without sign: see linear_kernels


@flat_kernel
def weigh(t, what, index, bodies, table, com, pose, moments):
    """Fills ``moments``: mass and first moments of all that each body carries."""
    weight = table[what[t, EXTRA]]
    first, count = what[t, FIRST], what[t, MANY]
    for k in range(count):
        b = _U(bodies[first + k])
        x, y, z = rotate(pose[b, 3:], com[b, 0], com[b, 1], com[b, 2])
        m = weight[b]
        moments[b, 0] = m
        moments[b, 1] = m * (pose[b, 0] + x)
        moments[b, 2] = m * (pose[b, 1] + y)
        moments[b, 3] = m * (pose[b, 2] + z)
    for c in range(4):
        moments[0, c] = 0.0
    for k in range(count - 1, -1, -1):
        b = _U(bodies[first + k])
        p = _U(index[b, 0])
        for c in range(4):
            moments[p, c] += moments[b, c]


@flat_kernel
def centre_error(t, what, how, index, bodies, table, com, pose, moments, error, miss):
    """Centre of mass."""
    weigh(t, what, index, bodies, table, com, pose, moments)
    inverse = 1.0 / moments[0, 0]
    x = how[t, TARGET] - moments[0, 1] * inverse
    y = how[t, TARGET + 1] - moments[0, 2] * inverse
    z = how[t, TARGET + 2] - moments[0, 3] * inverse
    miss[t, 0] = counted_size(x, y, z, how, t, WEIGHT)
    r, gain = what[t, ROW], how[t, GAIN]
    error[r] = gain * how[t, WEIGHT] * x
    error[r + 1] = gain * how[t, WEIGHT + 1] * y
    error[r + 2] = gain * how[t, WEIGHT + 2] * z


@flat_kernel
def centre_rows(t, what, how, index, bodies, col, scale, motion, moments, rows, dofs_of):
    """J_G = Σ mᵢ Jᵢ / m (003 eq. 5.9), summed over what each body carries."""
    r = _U(what[t, ROW])
    w0, w1, w2 = how[t, WEIGHT], how[t, WEIGHT + 1], how[t, WEIGHT + 2]
    inverse = 1.0 / moments[0, 0]
    for k in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        b = _U(bodies[k])
        m = moments[b, 0] * inverse
        if m == 0.0:
            continue
        x, y, z = moments[b, 1] * inverse, moments[b, 2] * inverse, moments[b, 3] * inverse
        for d in range(_U(index[b, 3]), _U(index[b, 3] + dofs_of[b])):
            if col[d] < 0:
                continue
            c, f = _U(col[d]), scale[d]
            ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
            rows[r, c] += f * w0 * (m * motion[d, 0] + ay * z - az * y)
            rows[r + _U(1), c] += f * w1 * (m * motion[d, 1] + az * x - ax * z)
            rows[r + _U(2), c] += f * w2 * (m * motion[d, 2] + ax * y - ay * x)


@flat_kernel
def coupling_error(t, what, how, table, dofq, q, error, miss):
    """What a sum of joints lacks."""
    ratio = table[what[t, EXTRA]]
    value = how[t, SCALAR]
    for d in range(dofq.shape[0]):
        if ratio[d] != 0.0:
            value -= ratio[d] * q[dofq[d]]
    miss[t, 0] = abs(value)
    error[what[t, ROW]] = how[t, GAIN] * how[t, WEIGHT] * value


@flat_kernel
def coupling_rows(t, what, how, table, col, scale, rows):
    """How each column changes a sum of joints."""
    ratio = table[what[t, EXTRA]]
    for d in range(col.shape[0]):
        if ratio[d] != 0.0 and col[d] >= 0:
            rows[what[t, ROW], col[d]] += how[t, WEIGHT] * ratio[d] * scale[d]


@flat_kernel
def distance_error(t, what, how, seen, error, miss):
    """Wanted less found distance; what is far or near enough counts as nothing."""
    x, y, z = seen[t, 0] - seen[t, 7], seen[t, 1] - seen[t, 8], seen[t, 2] - seen[t, 9]
    d = math.sqrt(x * x + y * y + z * z)
    inverse = 1.0 / d if d > 1e-12 else 0.0
    value = how[t, SCALAR] - d
    if value * what[t, SIDE] < 0.0:
        value, inverse = 0.0, 0.0
    seen[t, 14], seen[t, 15], seen[t, 16] = x * inverse, y * inverse, z * inverse
    miss[t, 0] = abs(value)
    error[what[t, ROW]] = how[t, GAIN] * how[t, WEIGHT] * value


@flat_kernel
def distance_rows(t, what, how, support, col, scale, motion, seen, rows):
    """How each column changes a distance."""
    nx, ny, nz = seen[t, 14], seen[t, 15], seen[t, 16]
    r = what[t, ROW]
    for s in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        d = support[s, 0]
        at, f = (0, scale[d]) if support[s, 1] == 0 else (7, -scale[d])
        px, py, pz = seen[t, at], seen[t, at + 1], seen[t, at + 2]
        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
        x = motion[d, 0] + wy * pz - wz * py
        y = motion[d, 1] + wz * px - wx * pz
        z = motion[d, 2] + wx * py - wy * px
        rows[r, col[d]] += f * how[t, WEIGHT] * (nx * x + ny * y + nz * z)


@flat_kernel
def posture_error(index, q, wanted, b, k):
    """By how much degree of freedom ``k`` of body ``b`` is short of the coordinates ``wanted``."""
    kind, a = index[b, 1], index[b, 2]
    if kind == FREE and k < 3:
        return wanted[a + k] - q[a + k]
    if kind == BALL or kind == FREE:
        a, k = (a + 3, k - 3) if kind == FREE else (a, k)
        w, x, y, z = q[a], -q[a + 1], -q[a + 2], -q[a + 3]
        gw, gx, gy, gz = wanted[a], wanted[a + 1], wanted[a + 2], wanted[a + 3]
        tw = w * gw - x * gx - y * gy - z * gz
        tx = w * gx + x * gw + y * gz - z * gy
        ty = w * gy - x * gz + y * gw + z * gx
        tz = w * gz + x * gy - y * gx + z * gw
        sine = math.sqrt(tx * tx + ty * ty + tz * tz)
        if sine < 1e-12:
            f = 2.0 if tw >= 0.0 else -2.0
        else:
            angle = 2.0 * math.atan2(sine, tw)
            f = (angle - 2.0 * math.pi if angle > math.pi else angle) / sine
        return f * (tx if k == 0 else ty if k == 1 else tz)
    return wanted[a + k] - q[a + k]


@flat_kernel
def posture_miss(t, what, index, table, dof_body, q, miss, nq):
    """The widest of a posture's errors, also of joints that may not move."""
    row = table[what[t, EXTRA]]
    worst = 0.0
    for d in range(dof_body.shape[0]):
        if row[nq + d] > 0.0:
            b = dof_body[d]
            worst = max(worst, abs(posture_error(index, q, row, b, d - index[b, 3])))
    miss[t, 0] = worst
