"""Compiled errors and rows of scalar tasks: centers of mass, couplings, distances, postures."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.geometry.kernels import rotate
from linkwork.kinematics.frame_task_kernels import weighted_size
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.memory_layout_kernels import (
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


@flat_kernel
def fill_moments(t, indices, index, bodies, table, com, pose, moments):
    """Computes ``moments``: mass and first moments of the subtree of each body."""
    weight = table[indices[t, EXTRA]]
    first, count = indices[t, FIRST], indices[t, MANY]
    for k in range(count):
        b = UINT(bodies[first + k])
        x, y, z = rotate(pose[b, 3:], com[b, 0], com[b, 1], com[b, 2])
        m = weight[b]
        moments[b, 0] = m
        moments[b, 1] = m * (pose[b, 0] + x)
        moments[b, 2] = m * (pose[b, 1] + y)
        moments[b, 3] = m * (pose[b, 2] + z)
    for c in range(4):
        moments[0, c] = 0.0
    for k in range(count - 1, -1, -1):
        b = UINT(bodies[first + k])
        p = UINT(index[b, 0])
        for c in range(4):
            moments[p, c] += moments[b, c]


@flat_kernel
def com_error(t, indices, params, index, bodies, table, com, pose, moments, error, miss):
    """Computes the error of the center of mass."""
    fill_moments(t, indices, index, bodies, table, com, pose, moments)
    inverse = 1.0 / moments[0, 0]
    x = params[t, TARGET] - moments[0, 1] * inverse
    y = params[t, TARGET + 1] - moments[0, 2] * inverse
    z = params[t, TARGET + 2] - moments[0, 3] * inverse
    miss[t, 0] = weighted_size(x, y, z, params, t, WEIGHT)
    r, gain = indices[t, ROW], params[t, GAIN]
    error[r] = gain * params[t, WEIGHT] * x
    error[r + 1] = gain * params[t, WEIGHT + 1] * y
    error[r + 2] = gain * params[t, WEIGHT + 2] * z


@flat_kernel
def com_rows(t, indices, params, index, bodies, col, scale, motion, moments, rows, dofs_of):
    """Computes J_G = Σ mᵢ Jᵢ / m (RoboTiX thesis eq. 5.9), summed over subtrees."""
    r = UINT(indices[t, ROW])
    w0, w1, w2 = params[t, WEIGHT], params[t, WEIGHT + 1], params[t, WEIGHT + 2]
    inverse = 1.0 / moments[0, 0]
    for k in range(indices[t, FIRST], indices[t, FIRST] + indices[t, MANY]):
        b = UINT(bodies[k])
        m = moments[b, 0] * inverse
        if m == 0.0:
            continue
        x, y, z = moments[b, 1] * inverse, moments[b, 2] * inverse, moments[b, 3] * inverse
        for d in range(UINT(index[b, 3]), UINT(index[b, 3] + dofs_of[b])):
            if col[d] < 0:
                continue
            c, f = UINT(col[d]), scale[d]
            ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
            rows[r, c] += f * w0 * (m * motion[d, 0] + ay * z - az * y)
            rows[r + UINT(1), c] += f * w1 * (m * motion[d, 1] + az * x - ax * z)
            rows[r + UINT(2), c] += f * w2 * (m * motion[d, 2] + ax * y - ay * x)


@flat_kernel
def coupling_error(t, indices, params, table, dofq, q, error, miss):
    """Computes the error of a sum of joints."""
    ratio = table[indices[t, EXTRA]]
    value = params[t, SCALAR]
    for d in range(dofq.shape[0]):
        if ratio[d] != 0.0:
            value -= ratio[d] * q[dofq[d]]
    miss[t, 0] = abs(value)
    error[indices[t, ROW]] = params[t, GAIN] * params[t, WEIGHT] * value


@flat_kernel
def coupling_rows(t, indices, params, table, col, scale, rows):
    """Computes the rows of a sum of joints."""
    ratio = table[indices[t, EXTRA]]
    for d in range(col.shape[0]):
        if ratio[d] != 0.0 and col[d] >= 0:
            rows[indices[t, ROW], col[d]] += params[t, WEIGHT] * ratio[d] * scale[d]


@flat_kernel
def distance_error(t, indices, params, seen, error, miss):
    """Computes wanted minus actual distance; 0 if an inequality holds."""
    x, y, z = seen[t, 0] - seen[t, 7], seen[t, 1] - seen[t, 8], seen[t, 2] - seen[t, 9]
    d = math.sqrt(x * x + y * y + z * z)
    inverse = 1.0 / d if d > 1e-12 else 0.0
    value = params[t, SCALAR] - d
    if value * indices[t, SIDE] < 0.0:
        value, inverse = 0.0, 0.0
    seen[t, 14], seen[t, 15], seen[t, 16] = x * inverse, y * inverse, z * inverse
    miss[t, 0] = abs(value)
    error[indices[t, ROW]] = params[t, GAIN] * params[t, WEIGHT] * value


@flat_kernel
def distance_rows(t, indices, params, support, col, scale, motion, seen, rows):
    """Computes the rows of a distance."""
    nx, ny, nz = seen[t, 14], seen[t, 15], seen[t, 16]
    r = indices[t, ROW]
    for s in range(indices[t, FIRST], indices[t, FIRST] + indices[t, MANY]):
        d = support[s, 0]
        at, f = (0, scale[d]) if support[s, 1] == 0 else (7, -scale[d])
        px, py, pz = seen[t, at], seen[t, at + 1], seen[t, at + 2]
        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
        x = motion[d, 0] + wy * pz - wz * py
        y = motion[d, 1] + wz * px - wx * pz
        z = motion[d, 2] + wx * py - wy * px
        rows[r, col[d]] += f * params[t, WEIGHT] * (nx * x + ny * y + nz * z)


@flat_kernel
def posture_error(index, q, wanted, b, k):
    """Returns the error of degree of freedom ``k`` of body ``b`` from ``wanted``."""
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
def posture_max_error(t, indices, index, table, dof_body, q, miss, nq):
    """Computes the largest error of a posture, including fixed joints."""
    row = table[indices[t, EXTRA]]
    worst = 0.0
    for d in range(dof_body.shape[0]):
        if row[nq + d] > 0.0:
            b = dof_body[d]
            worst = max(worst, abs(posture_error(index, q, row, b, d - index[b, 3])))
    miss[t, 0] = worst
