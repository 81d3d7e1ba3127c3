"""Compiled errors of tasks and their rows: how each column changes what a task looks at.

An error points from what is to what is wanted, so that the wanted motion solves rows · x = error.
Positions and directions are in world axes. Both come out weighted; ``miss`` keeps the plain size.
``seen`` (24 numbers by task) holds the frame's pose, the goal's pose and what the rows need again.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import flat_kernel
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.layout_kernels import (
    ALIGN,
    BODY,
    CENTRE,
    COUNT,
    COUPLING,
    DISTANCE,
    EXTRA,
    FIRST,
    GAIN,
    KIND,
    LOCAL,
    LOCAL_OTHER,
    LOOK,
    MANY,
    MASK,
    OTHER,
    PIECE,
    PIECE_COUNT,
    POSE,
    POSTURE,
    ROW,
    SCALAR,
    SIDE,
    TARGET,
    TWIST,
    WEIGHT,
)
from linkwork.kinematics.twist_kernels import twist_error, twist_rows
from linkwork.spatial.kernels import compose, quat_rotvec, rotate

_U = np.uint64  # counters without sign: see linear_kernels


@flat_kernel
def _look(t, what, how, pose, seen, scratch):
    """Fills the poses of a task's frame and of its goal."""
    compose(pose[what[t, BODY]], how[t, LOCAL : LOCAL + 7], seen[t, 0:7])
    if what[t, OTHER] < 0:
        for k in range(7):
            seen[t, 7 + k] = how[t, TARGET + k]
    else:
        compose(pose[what[t, OTHER]], how[t, LOCAL_OTHER : LOCAL_OTHER + 7], scratch[0])
        compose(scratch[0], how[t, TARGET : TARGET + 7], seen[t, 7:14])


@flat_kernel
def _pose_error(t, what, how, seen, error, miss, scratch):
    """Position error, and the rotation vector that turns the frame into the goal."""
    r, mask = what[t, ROW], what[t, MASK]
    gain = how[t, GAIN]
    if mask & 1:
        x = seen[t, 7] - seen[t, 0]
        y = seen[t, 8] - seen[t, 1]
        z = seen[t, 9] - seen[t, 2]
        if mask & 4:
            x, y, z = _into(seen, t, x, y, z)
        miss[t, 0] = _size(x, y, z, how, t, WEIGHT)
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
            x, y, z = _into(seen, t, x, y, z)
        miss[t, 1] = _size(x, y, z, how, t, WEIGHT + 3)
        error[r] = gain * how[t, WEIGHT + 3] * x
        error[r + 1] = gain * how[t, WEIGHT + 4] * y
        error[r + 2] = gain * how[t, WEIGHT + 5] * z


@flat_kernel
def _size(x, y, z, how, t, first):
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
def _into(seen, t, x, y, z):
    """A vector in the goal's axes."""
    w, i, j, k = seen[t, 10], -seen[t, 11], -seen[t, 12], -seen[t, 13]
    tx = 2.0 * (j * z - k * y)
    ty = 2.0 * (k * x - i * z)
    tz = 2.0 * (i * y - j * x)
    return x + w * tx + j * tz - k * ty, y + w * ty + k * tx - i * tz, z + w * tz + i * ty - j * tx


@flat_kernel
def _pose_rows(t, what, how, support, col, scale, motion, seen, rows):
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
                x, y, z = _into(seen, t, x, y, z)
            rows[r, c] += f * w0 * x
            rows[r + _U(1), c] += f * w1 * y
            rows[r + _U(2), c] += f * w2 * z
            r += _U(3)
        if mask & 2:
            if mask & 4:
                ax, ay, az = _into(seen, t, ax, ay, az)
            rows[r, c] += f * w3 * ax
            rows[r + _U(1), c] += f * w4 * ay
            rows[r + _U(2), c] += f * w5 * az


@flat_kernel
def _look_error(t, what, how, seen, error, miss):
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
def _look_rows(t, what, how, support, col, scale, motion, seen, rows):
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


@flat_kernel
def _weigh(t, what, index, bodies, table, com, pose, moments):
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
def _centre_error(t, what, how, index, bodies, table, com, pose, moments, error, miss):
    """Centre of mass."""
    _weigh(t, what, index, bodies, table, com, pose, moments)
    inverse = 1.0 / moments[0, 0]
    x = how[t, TARGET] - moments[0, 1] * inverse
    y = how[t, TARGET + 1] - moments[0, 2] * inverse
    z = how[t, TARGET + 2] - moments[0, 3] * inverse
    miss[t, 0] = _size(x, y, z, how, t, WEIGHT)
    r, gain = what[t, ROW], how[t, GAIN]
    error[r] = gain * how[t, WEIGHT] * x
    error[r + 1] = gain * how[t, WEIGHT + 1] * y
    error[r + 2] = gain * how[t, WEIGHT + 2] * z


@flat_kernel
def _centre_rows(t, what, how, index, bodies, col, scale, motion, moments, rows, dofs_of):
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
def _coupling_error(t, what, how, table, dofq, q, error, miss):
    ratio = table[what[t, EXTRA]]
    value = how[t, SCALAR]
    for d in range(dofq.shape[0]):
        if ratio[d] != 0.0:
            value -= ratio[d] * q[dofq[d]]
    miss[t, 0] = abs(value)
    error[what[t, ROW]] = how[t, GAIN] * how[t, WEIGHT] * value


@flat_kernel
def _coupling_rows(t, what, how, table, col, scale, rows):
    ratio = table[what[t, EXTRA]]
    for d in range(col.shape[0]):
        if ratio[d] != 0.0 and col[d] >= 0:
            rows[what[t, ROW], col[d]] += how[t, WEIGHT] * ratio[d] * scale[d]


@flat_kernel
def _distance_error(t, what, how, seen, error, miss):
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
def _distance_rows(t, what, how, support, col, scale, motion, seen, rows):
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
def _posture_miss(t, what, index, table, dof, dof_body, q, miss, nq):
    row = table[what[t, EXTRA]]
    worst = 0.0
    for c in range(dof.shape[0]):
        d = dof[c]
        if row[nq + d] > 0.0:
            b = dof_body[d]
            worst = max(worst, abs(posture_error(index, q, row, b, d - index[b, 3])))
    miss[t, 0] = worst


@flat_kernel
def task_errors(tree, columns, tasks, places, out, q, nq):
    """Fills ``error`` and ``miss`` of all tasks; poses are those of ``q``."""
    index, dof_body = tree[0], tree[4]
    dofq, dof = columns[1], columns[2]
    what, how, _, _, bodies, table, com = tasks
    pose, _, seen, moments, scratch = places
    error, _, miss = out
    for t in range(what.shape[0]):
        miss[t, 0] = miss[t, 1] = 0.0
        kind = what[t, KIND]
        if kind == CENTRE:
            _centre_error(t, what, how, index, bodies, table, com, pose, moments, error, miss)
        elif kind == POSTURE:
            _posture_miss(t, what, index, table, dof, dof_body, q, miss, nq)
        elif kind == COUPLING:
            _coupling_error(t, what, how, table, dofq, q, error, miss)
        else:
            _look(t, what, how, pose, seen, scratch)
            if kind == POSE:
                _pose_error(t, what, how, seen, error, miss, scratch)
            elif kind == TWIST:
                twist_error(t, what, how, seen, error, miss, scratch)
            elif kind == LOOK or kind == ALIGN:
                _look_error(t, what, how, seen, error, miss)
            elif kind == DISTANCE:
                _distance_error(t, what, how, seen, error, miss)


@flat_kernel
def task_rows(tree, columns, tasks, places, out):
    """Fills ``rows`` of all tasks; :func:`task_errors` was called before."""
    index, dofs_of = tree[0], tree[5]
    col, scale = columns[0], columns[3]
    what, how, support, pieces, bodies, table, com = tasks
    pose, motion, seen, moments, scratch = places
    rows = out[1]
    centres = 0
    for t in range(what.shape[0]):
        centres += what[t, KIND] == CENTRE
    for t in range(what.shape[0]):
        first = _U(what[t, ROW])
        for r in range(first, first + _U(what[t, COUNT])):
            for p in range(what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]):
                for c in range(_U(pieces[p, 0]), _U(pieces[p, 1])):
                    rows[r, c] = 0.0
        kind = what[t, KIND]
        if kind == POSE:
            _pose_rows(t, what, how, support, col, scale, motion, seen, rows)
        elif kind == TWIST:
            twist_rows(t, what, how, support, col, scale, motion, seen, rows, scratch)
        elif kind == LOOK or kind == ALIGN:
            _look_rows(t, what, how, support, col, scale, motion, seen, rows)
        elif kind == CENTRE:
            if centres > 1:  # the moments there are those of the last
                _weigh(t, what, index, bodies, table, com, pose, moments)
            _centre_rows(
                t, what, how, index, bodies, col, scale, motion, moments, rows, dofs_of
            )  # fmt: skip
        elif kind == COUPLING:
            _coupling_rows(t, what, how, table, col, scale, rows)
        elif kind == DISTANCE:
            _distance_rows(t, what, how, support, col, scale, motion, seen, rows)
