"""Compiled errors and rows of tasks of a frame: its pose, or the direction of its axis."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.geometry.kernels import compose, quat_rotvec, rotate
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.memory_layout_kernels import (
    ALIGN,
    BODY,
    FIRST,
    GAIN,
    KIND,
    LOCAL,
    LOCAL_OTHER,
    MANY,
    MASK,
    OTHER,
    ROW,
    TARGET,
    WEIGHT,
)


@flat_kernel
def fill_task_frames(t, indices, params, pose, seen, scratch):
    """Computes the poses of a task's frame and of its goal."""
    compose(pose[indices[t, BODY]], params[t, LOCAL : LOCAL + 7], seen[t, 0:7])
    if indices[t, OTHER] < 0:
        for k in range(7):
            seen[t, 7 + k] = params[t, TARGET + k]
    else:
        compose(pose[indices[t, OTHER]], params[t, LOCAL_OTHER : LOCAL_OTHER + 7], scratch[0])
        compose(scratch[0], params[t, TARGET : TARGET + 7], seen[t, 7:14])


@flat_kernel
def pose_error(t, indices, params, seen, error, miss, scratch):
    """Computes the position error and the rotation vector from frame to goal."""
    r, mask = indices[t, ROW], indices[t, MASK]
    gain = params[t, GAIN]
    if mask & 1:
        x = seen[t, 7] - seen[t, 0]
        y = seen[t, 8] - seen[t, 1]
        z = seen[t, 9] - seen[t, 2]
        if mask & 4:
            x, y, z = in_goal_axes(seen, t, x, y, z)
        miss[t, 0] = weighted_size(x, y, z, params, t, WEIGHT)
        error[r] = gain * params[t, WEIGHT] * x
        error[r + 1] = gain * params[t, WEIGHT + 1] * y
        error[r + 2] = gain * params[t, WEIGHT + 2] * z
        r += 3
    if mask & 2:
        turn = scratch[0]
        gw, gx, gy, gz = seen[t, 10], seen[t, 11], seen[t, 12], seen[t, 13]
        w, x, y, z = seen[t, 3], -seen[t, 4], -seen[t, 5], -seen[t, 6]
        turn[0] = gw * w - gx * x - gy * y - gz * z
        turn[1] = gw * x + gx * w + gy * z - gz * y
        turn[2] = gw * y - gx * z + gy * w + gz * x
        turn[3] = gw * z + gx * y - gy * x + gz * w
        x, y, z = quat_rotvec(turn)
        if mask & 4:
            x, y, z = in_goal_axes(seen, t, x, y, z)
        miss[t, 1] = weighted_size(x, y, z, params, t, WEIGHT + 3)
        error[r] = gain * params[t, WEIGHT + 3] * x
        error[r + 1] = gain * params[t, WEIGHT + 4] * y
        error[r + 2] = gain * params[t, WEIGHT + 5] * z


@flat_kernel
def weighted_size(x, y, z, params, t, first):
    """Returns the norm of a vector without its axes of zero weight."""
    s = 0.0
    if params[t, first] > 0.0:
        s += x * x
    if params[t, first + 1] > 0.0:
        s += y * y
    if params[t, first + 2] > 0.0:
        s += z * z
    return math.sqrt(s)


@flat_kernel
def in_goal_axes(seen, t, x, y, z):
    """Returns a vector in the goal's axes."""
    w, i, j, k = seen[t, 10], -seen[t, 11], -seen[t, 12], -seen[t, 13]
    tx = 2.0 * (j * z - k * y)
    ty = 2.0 * (k * x - i * z)
    tz = 2.0 * (i * y - j * x)
    return x + w * tx + j * tz - k * ty, y + w * ty + k * tx - i * tz, z + w * tz + i * ty - j * tx


@flat_kernel
def pose_rows(t, indices, params, support, col, scale, motion, seen, rows):
    """Computes the motion of the frame by column, negative for columns that move the goal."""
    mask = indices[t, MASK]
    px, py, pz = seen[t, 0], seen[t, 1], seen[t, 2]
    first = UINT(indices[t, ROW])
    w0, w1, w2 = params[t, WEIGHT], params[t, WEIGHT + 1], params[t, WEIGHT + 2]
    w3, w4, w5 = params[t, WEIGHT + 3], params[t, WEIGHT + 4], params[t, WEIGHT + 5]
    for s in range(UINT(indices[t, FIRST]), UINT(indices[t, FIRST] + indices[t, MANY])):
        d = UINT(support[s, 0])
        c = UINT(col[d])
        f = scale[d] if support[s, 1] == 0 else -scale[d]
        ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
        r = first
        if mask & 1:
            x = motion[d, 0] + ay * pz - az * py
            y = motion[d, 1] + az * px - ax * pz
            z = motion[d, 2] + ax * py - ay * px
            if mask & 4:
                x, y, z = in_goal_axes(seen, t, x, y, z)
            rows[r, c] += f * w0 * x
            rows[r + UINT(1), c] += f * w1 * y
            rows[r + UINT(2), c] += f * w2 * z
            r += UINT(3)
        if mask & 2:
            if mask & 4:
                ax, ay, az = in_goal_axes(seen, t, ax, ay, az)
            rows[r, c] += f * w3 * ax
            rows[r + UINT(1), c] += f * w4 * ay
            rows[r + UINT(2), c] += f * w5 * az


@flat_kernel
def look_error(t, indices, params, seen, error, miss):
    """Computes the rotation of the frame's x axis to the line to the goal, or to its x axis."""
    ax, ay, az = rotate(seen[t, 3:7], 1.0, 0.0, 0.0)
    if indices[t, KIND] == ALIGN:
        r, inverse = 1.0, 0.0
        dx, dy, dz = rotate(seen[t, 10:14], 1.0, 0.0, 0.0)
    else:
        dx, dy, dz = seen[t, 7] - seen[t, 0], seen[t, 8] - seen[t, 1], seen[t, 9] - seen[t, 2]
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        inverse = 1.0 / r if r > 1e-9 else 0.0
        dx, dy, dz = dx * inverse, dy * inverse, dz * inverse
    cx, cy, cz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
    sine = math.sqrt(cx * cx + cy * cy + cz * cz)
    cosine = ax * dx + ay * dy + az * dz
    angle = math.atan2(sine, cosine) if r > 1e-9 else 0.0
    if sine > 1e-9:
        f = angle / sine
        cx, cy, cz = cx * f, cy * f, cz * f
    elif cosine < 0.0:  # opposite: any perpendicular axis
        cx, cy, cz = rotate(seen[t, 3:7], 0.0, angle, 0.0)
    seen[t, 14], seen[t, 15], seen[t, 16] = ax, ay, az
    seen[t, 17], seen[t, 18], seen[t, 19], seen[t, 20] = dx, dy, dz, inverse
    miss[t, 1] = angle
    row, w = indices[t, ROW], params[t, WEIGHT + 3] * params[t, GAIN]
    error[row], error[row + 1], error[row + 2] = w * cx, w * cy, w * cz


@flat_kernel
def look_rows(t, indices, params, support, col, scale, motion, seen, rows):
    """Computes the rotation of the axis relative to its target line by column."""
    ax, ay, az = seen[t, 14], seen[t, 15], seen[t, 16]
    dx, dy, dz, inverse = seen[t, 17], seen[t, 18], seen[t, 19], seen[t, 20]
    r = indices[t, ROW]
    for s in range(indices[t, FIRST], indices[t, FIRST] + indices[t, MANY]):
        d = support[s, 0]
        c = col[d]
        f = scale[d] * params[t, WEIGHT + 3]
        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
        at = 0 if support[s, 1] == 0 else 7
        px, py, pz = seen[t, at], seen[t, at + 1], seen[t, at + 2]
        vx = (motion[d, 0] + wy * pz - wz * py) * inverse
        vy = (motion[d, 1] + wz * px - wx * pz) * inverse
        vz = (motion[d, 2] + wx * py - wy * px) * inverse
        x, y, z = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
        if at == 0:
            along = ax * wx + ay * wy + az * wz
            x, y, z = x + wx - ax * along, y + wy - ay * along, z + wz - az * along
        else:
            along = dx * wx + dy * wy + dz * wz if inverse == 0.0 else 0.0
            turns = 1.0 if inverse == 0.0 else 0.0
            x, y, z = -x - turns * wx, -y - turns * wy, -z - turns * wz
            x, y, z = x + dx * along, y + dy * along, z + dz * along
        rows[r, c] += f * x
        rows[r + 1, c] += f * y
        rows[r + 2, c] += f * z
