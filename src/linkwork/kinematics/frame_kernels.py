"""Compiled errors and rows of tasks that look at a frame: its pose, or where its axis points."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import flat_kernel
from linkwork.kinematics.layout_kernels import (
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
from linkwork.spatial.kernels import compose, quat_rotvec, rotate

_U = np.uint64  # counters without sign: see linear_kernels


@flat_kernel
def look_at_frames(t, what, how, pose, seen, scratch):
    """Fills the poses of a task's frame and of its goal."""
    compose(pose[what[t, BODY]], how[t, LOCAL : LOCAL + 7], seen[t, 0:7])
    if what[t, OTHER] < 0:
        for k in range(7):
            seen[t, 7 + k] = how[t, TARGET + k]
    else:
        compose(pose[what[t, OTHER]], how[t, LOCAL_OTHER : LOCAL_OTHER + 7], scratch[0])
        compose(scratch[0], how[t, TARGET : TARGET + 7], seen[t, 7:14])


@flat_kernel
def pose_error(t, what, how, seen, error, miss, scratch):
    """Position error, and the rotation vector that turns the frame into the goal."""
    r, mask = what[t, ROW], what[t, MASK]
    gain = how[t, GAIN]
    if mask & 1:
        x = seen[t, 7] - seen[t, 0]
        y = seen[t, 8] - seen[t, 1]
        z = seen[t, 9] - seen[t, 2]
        if mask & 4:
            x, y, z = into_goal(seen, t, x, y, z)
        miss[t, 0] = counted_size(x, y, z, how, t, WEIGHT)
        error[r] = gain * how[t, WEIGHT] * x
        error[r + 1] = gain * how[t, WEIGHT + 1] * y
        error[r + 2] = gain * how[t, WEIGHT + 2] * z
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
            x, y, z = into_goal(seen, t, x, y, z)
        miss[t, 1] = counted_size(x, y, z, how, t, WEIGHT + 3)
        error[r] = gain * how[t, WEIGHT + 3] * x
        error[r + 1] = gain * how[t, WEIGHT + 4] * y
        error[r + 2] = gain * how[t, WEIGHT + 5] * z


@flat_kernel
def counted_size(x, y, z, how, t, first):
    """Length of what counts of a vector: axes of no weight are free."""
    s = 0.0
    if how[t, first] > 0.0:
        s += x * x
    if how[t, first + 1] > 0.0:
        s += y * y
    if how[t, first + 2] > 0.0:
        s += z * z
    return math.sqrt(s)


@flat_kernel
def into_goal(seen, t, x, y, z):
    """A vector in the goal's axes."""
    w, i, j, k = seen[t, 10], -seen[t, 11], -seen[t, 12], -seen[t, 13]
    tx = 2.0 * (j * z - k * y)
    ty = 2.0 * (k * x - i * z)
    tz = 2.0 * (i * y - j * x)
    return x + w * tx + j * tz - k * ty, y + w * ty + k * tx - i * tz, z + w * tz + i * ty - j * tx


@flat_kernel
def pose_rows(t, what, how, support, col, scale, motion, seen, rows):
    """How each column moves and turns the frame, or its goal the other way."""
    mask = what[t, MASK]
    px, py, pz = seen[t, 0], seen[t, 1], seen[t, 2]
    first = _U(what[t, ROW])
    w0, w1, w2 = how[t, WEIGHT], how[t, WEIGHT + 1], how[t, WEIGHT + 2]
    w3, w4, w5 = how[t, WEIGHT + 3], how[t, WEIGHT + 4], how[t, WEIGHT + 5]
    for s in range(_U(what[t, FIRST]), _U(what[t, FIRST] + what[t, MANY])):
        d = _U(support[s, 0])
        c = _U(col[d])
        f = scale[d] if support[s, 1] == 0 else -scale[d]
        ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
        r = first
        if mask & 1:
            x = motion[d, 0] + ay * pz - az * py
            y = motion[d, 1] + az * px - ax * pz
            z = motion[d, 2] + ax * py - ay * px
            if mask & 4:
                x, y, z = into_goal(seen, t, x, y, z)
            rows[r, c] += f * w0 * x
            rows[r + _U(1), c] += f * w1 * y
            rows[r + _U(2), c] += f * w2 * z
            r += _U(3)
        if mask & 2:
            if mask & 4:
                ax, ay, az = into_goal(seen, t, ax, ay, az)
            rows[r, c] += f * w3 * ax
            rows[r + _U(1), c] += f * w4 * ay
            rows[r + _U(2), c] += f * w5 * az


@flat_kernel
def look_error(t, what, how, seen, error, miss):
    """The turn that brings the frame's x axis onto the line to the goal, or onto its x axis."""
    ax, ay, az = rotate(seen[t, 3:7], 1.0, 0.0, 0.0)
    if what[t, KIND] == ALIGN:
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
    elif cosine < 0.0:  # straight away from it: any axis across will do
        cx, cy, cz = rotate(seen[t, 3:7], 0.0, angle, 0.0)
    seen[t, 14], seen[t, 15], seen[t, 16] = ax, ay, az
    seen[t, 17], seen[t, 18], seen[t, 19], seen[t, 20] = dx, dy, dz, inverse
    miss[t, 1] = angle
    row, w = what[t, ROW], how[t, WEIGHT + 3] * how[t, GAIN]
    error[row], error[row + 1], error[row + 2] = w * cx, w * cy, w * cz


@flat_kernel
def look_rows(t, what, how, support, col, scale, motion, seen, rows):
    """How each column turns the axis against the line that it shall lie on."""
    ax, ay, az = seen[t, 14], seen[t, 15], seen[t, 16]
    dx, dy, dz, inverse = seen[t, 17], seen[t, 18], seen[t, 19], seen[t, 20]
    r = what[t, ROW]
    for s in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        d = support[s, 0]
        c = col[d]
        f = scale[d] * how[t, WEIGHT + 3]
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
