"""Compiled forward kinematics: joint motion, poses, twists and Jacobians over flat arrays.

The pose of a body is parent ∘ x0 ∘ T(pivot) ∘ J(q) ∘ T(−pivot). Joint codes are those of
``parts.joint.JOINT_TYPES``. ``v`` of a ball is the angular velocity in body axes; that of a free
joint is the origin's velocity in the parent's axes, then the angular velocity in body axes.

``axis`` and ``axis2`` are perpendicular if both are used: the two axes of a universal joint, a
plane's normal and its x, a rail's up and its forward (``parts.joint.Joint.directions``).
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import flat_kernel, inner_kernel, kernel
from linkwork.geometry.kernels import (
    axis_quat,
    compose,
    normalize,
    quat_mul,
    rotate,
    rotvec_quat,
)
from linkwork.kinematics.curve_kernels import rail_curvature, rail_pose

FIXED, HINGE, SLIDER, BALL, UNIVERSAL = 0, 1, 2, 3, 4
CYLINDRICAL, SCREW, PLANAR, RAIL, FREE = 5, 6, 7, 8, 9


@flat_kernel
def from_axes(z, x, a, b, c):
    """Returns the vector a·x + b·(z × x) + c·z."""
    return (
        a * x[0] + b * (z[1] * x[2] - z[2] * x[1]) + c * z[0],
        a * x[1] + b * (z[2] * x[0] - z[0] * x[2]) + c * z[1],
        a * x[2] + b * (z[0] * x[1] - z[1] * x[0]) + c * z[2],
    )


@flat_kernel
def joint_pose(kind, q, a, axis, axis2, pitch, rail, first, count, out, s1, s2):
    """Computes ``out`` = J(q): the motion of one joint whose coordinates start at ``q[a]``."""
    out[0] = out[1] = out[2] = 0.0
    if kind == HINGE:
        axis_quat(axis[0], axis[1], axis[2], q[a], out[3:])
        return
    out[3] = 1.0
    out[4] = out[5] = out[6] = 0.0
    if kind == SLIDER:
        for k in range(3):
            out[k] = axis[k] * q[a]
    elif kind == BALL:
        for k in range(4):
            out[3 + k] = q[a + k]
        normalize(out[3:])
    elif kind == UNIVERSAL:
        axis_quat(axis[0], axis[1], axis[2], q[a], s1[3:])
        axis_quat(axis2[0], axis2[1], axis2[2], q[a + 1], s2[3:])
        quat_mul(s1[3:], s2[3:], out[3:])
    elif kind == CYLINDRICAL:
        axis_quat(axis[0], axis[1], axis[2], q[a + 1], out[3:])
        for k in range(3):
            out[k] = axis[k] * q[a]
    elif kind == SCREW:
        axis_quat(axis[0], axis[1], axis[2], q[a], out[3:])
        for k in range(3):
            out[k] = axis[k] * pitch * q[a]
    elif kind == PLANAR:
        axis_quat(axis[0], axis[1], axis[2], q[a + 2], out[3:])
        out[0], out[1], out[2] = from_axes(axis, axis2, q[a], q[a + 1], 0.0)
    elif kind == RAIL:
        rail_pose(rail, first, count, q[a], out, s1, s2)
        out[0], out[1], out[2] = from_axes(axis, axis2, out[0], out[1], out[2])
        out[4], out[5], out[6] = from_axes(axis, axis2, out[4], out[5], out[6])
    elif kind == FREE:
        for k in range(7):
            out[k] = q[a + k]
        normalize(out[3:])


@inner_kernel
def hinge_pose(p, frame, s, c, pose, b):
    """Computes the pose of a hinged body from sine and cosine of half its angle, in scalars."""
    # base = pose of the parent ∘ x0
    pw, px, py, pz = pose[p, 3], pose[p, 4], pose[p, 5], pose[p, 6]
    x, y, z = frame[b, 0], frame[b, 1], frame[b, 2]
    tx = 2.0 * (py * z - pz * y)
    ty = 2.0 * (pz * x - px * z)
    tz = 2.0 * (px * y - py * x)
    ox = pose[p, 0] + x + pw * tx + py * tz - pz * ty
    oy = pose[p, 1] + y + pw * ty + pz * tx - px * tz
    oz = pose[p, 2] + z + pw * tz + px * ty - py * tx
    w, x, y, z = frame[b, 3], frame[b, 4], frame[b, 5], frame[b, 6]
    bw = pw * w - px * x - py * y - pz * z
    bx = pw * x + px * w + py * z - pz * y
    by = pw * y - px * z + py * w + pz * x
    bz = pw * z + px * y - py * x + pz * w
    # rotation about the axis
    w, x, y, z = c, frame[b, 10] * s, frame[b, 11] * s, frame[b, 12] * s
    cw = bw * w - bx * x - by * y - bz * z
    cx = bw * x + bx * w + by * z - bz * y
    cy = bw * y - bx * z + by * w + bz * x
    cz = bw * z + bx * y - by * x + bz * w
    n = 1.0 / math.sqrt(cw * cw + cx * cx + cy * cy + cz * cz)
    cw, cx, cy, cz = cw * n, cx * n, cy * n, cz * n
    # the pivot is fixed: origin = base·pivot − rotated·pivot
    x, y, z = frame[b, 7], frame[b, 8], frame[b, 9]
    if x != 0.0 or y != 0.0 or z != 0.0:
        tx = 2.0 * (by * z - bz * y)
        ty = 2.0 * (bz * x - bx * z)
        tz = 2.0 * (bx * y - by * x)
        ox += bw * tx + by * tz - bz * ty
        oy += bw * ty + bz * tx - bx * tz
        oz += bw * tz + bx * ty - by * tx
        tx = 2.0 * (cy * z - cz * y)
        ty = 2.0 * (cz * x - cx * z)
        tz = 2.0 * (cx * y - cy * x)
        ox -= cw * tx + cy * tz - cz * ty
        oy -= cw * ty + cz * tx - cx * tz
        oz -= cw * tz + cx * ty - cy * tx
    pose[b, 0], pose[b, 1], pose[b, 2] = ox, oy, oz
    pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6] = cw, cx, cy, cz


@inner_kernel
def _free_pose(p, frame, q, a, pose, b):
    """Computes the pose of a free body, whose joint has no pivot, in scalars."""
    # base = pose of the parent ∘ x0
    pw, px, py, pz = pose[p, 3], pose[p, 4], pose[p, 5], pose[p, 6]
    x, y, z = frame[b, 0], frame[b, 1], frame[b, 2]
    tx = 2.0 * (py * z - pz * y)
    ty = 2.0 * (pz * x - px * z)
    tz = 2.0 * (px * y - py * x)
    ox = pose[p, 0] + (x + pw * tx + py * tz - pz * ty)
    oy = pose[p, 1] + (y + pw * ty + pz * tx - px * tz)
    oz = pose[p, 2] + (z + pw * tz + px * ty - py * tx)
    w, x, y, z = frame[b, 3], frame[b, 4], frame[b, 5], frame[b, 6]
    bw = pw * w - px * x - py * y - pz * z
    bx = pw * x + px * w + py * z - pz * y
    by = pw * y - px * z + py * w + pz * x
    bz = pw * z + px * y - py * x + pz * w
    # its position in the base
    x, y, z = q[a], q[a + 1], q[a + 2]
    tx = 2.0 * (by * z - bz * y)
    ty = 2.0 * (bz * x - bx * z)
    tz = 2.0 * (bx * y - by * x)
    pose[b, 0] = ox + (x + bw * tx + by * tz - bz * ty)
    pose[b, 1] = oy + (y + bw * ty + bz * tx - bx * tz)
    pose[b, 2] = oz + (z + bw * tz + bx * ty - by * tx)
    # its orientation
    w, x, y, z = q[a + 3], q[a + 4], q[a + 5], q[a + 6]
    length = math.sqrt(w * w + x * x + y * y + z * z)
    if length < 1e-300:
        w, x, y, z = 1.0, 0.0, 0.0, 0.0
    else:
        n = 1.0 / length
        w, x, y, z = w * n, x * n, y * n, z * n
    cw = bw * w - bx * x - by * y - bz * z
    cx = bw * x + bx * w + by * z - bz * y
    cy = bw * y - bx * z + by * w + bz * x
    cz = bw * z + bx * y - by * x + bz * w
    n = 1.0 / math.sqrt(cw * cw + cx * cx + cy * cy + cz * cz)
    pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6] = cw * n, cx * n, cy * n, cz * n


@flat_kernel
def _free_twist(p, frame, v, i, pose, twist, b):
    """Adds a free joint's own motion to the twist of its body, in scalars.

    Its velocities are those of the origin in the axes of the joint's frame at value 0, then the
    angular velocity in the axes of the body.
    """
    # axes of the joint's frame = those of the parent ∘ x0
    pw, px, py, pz = pose[p, 3], pose[p, 4], pose[p, 5], pose[p, 6]
    w, x, y, z = frame[b, 3], frame[b, 4], frame[b, 5], frame[b, 6]
    bw = pw * w - px * x - py * y - pz * z
    bx = pw * x + px * w + py * z - pz * y
    by = pw * y - px * z + py * w + pz * x
    bz = pw * z + px * y - py * x + pz * w
    x, y, z = v[i], v[i + 1], v[i + 2]
    tx = 2.0 * (by * z - bz * y)
    ty = 2.0 * (bz * x - bx * z)
    tz = 2.0 * (bx * y - by * x)
    twist[b, 0] += x + bw * tx + by * tz - bz * ty
    twist[b, 1] += y + bw * ty + bz * tx - bx * tz
    twist[b, 2] += z + bw * tz + bx * ty - by * tx
    w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
    ax, ay, az = v[i + 3], v[i + 4], v[i + 5]
    tx = 2.0 * (y * az - z * ay)
    ty = 2.0 * (z * ax - x * az)
    tz = 2.0 * (x * ay - y * ax)
    twist[b, 3] += ax + w * tx + y * tz - z * ty
    twist[b, 4] += ay + w * ty + z * tx - x * tz
    twist[b, 5] += az + w * tz + x * ty - y * tx


@flat_kernel
def _hinge_twist(frame, speed, pose, twist, b):
    """Adds a hinge's own motion to the twist of its body, in scalars."""
    w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
    ax, ay, az = frame[b, 10], frame[b, 11], frame[b, 12]
    tx = 2.0 * (y * az - z * ay)
    ty = 2.0 * (z * ax - x * az)
    tz = 2.0 * (x * ay - y * ax)
    wx = speed * (ax + w * tx + y * tz - z * ty)
    wy = speed * (ay + w * ty + z * tx - x * tz)
    wz = speed * (az + w * tz + x * ty - y * tx)
    px, py, pz = frame[b, 7], frame[b, 8], frame[b, 9]
    tx = 2.0 * (y * pz - z * py)
    ty = 2.0 * (z * px - x * pz)
    tz = 2.0 * (x * py - y * px)
    rx = -(px + w * tx + y * tz - z * ty)
    ry = -(py + w * ty + z * tx - x * tz)
    rz = -(pz + w * tz + x * ty - y * tx)
    twist[b, 0] += wy * rz - wz * ry
    twist[b, 1] += wz * rx - wx * rz
    twist[b, 2] += wx * ry - wy * rx
    twist[b, 3] += wx
    twist[b, 4] += wy
    twist[b, 5] += wz


@kernel
def forward_poses(index, frame, rail, q, pose):
    """Computes ``pose`` (nb×7) from the coordinates ``q``; row 0 is the world.

    ``index`` and ``frame`` are the arrays of :attr:`World.tree`.
    """
    work = np.empty((5, 7))
    joint, base, s1, s2, pin = work[0], work[1], work[2], work[3], work[4]
    pose[0, :] = 0.0
    pose[0, 3] = 1.0
    for b in range(1, index.shape[0]):
        kind = index[b, 1]
        if kind == HINGE:
            half = 0.5 * q[index[b, 2]]
            hinge_pose(index[b, 0], frame, math.sin(half), math.cos(half), pose, b)
            continue
        if kind == FIXED:
            compose(pose[index[b, 0]], frame[b, 0:7], pose[b])
            continue
        if kind == FREE:
            _free_pose(index[b, 0], frame, q, index[b, 2], pose, b)
            continue
        compose(pose[index[b, 0]], frame[b, 0:7], base)
        joint_pose(
            kind, q, index[b, 2], frame[b, 10:13], frame[b, 13:16], frame[b, 16],
            rail, index[b, 4], index[b, 5], joint, s1, s2,
        )  # fmt: skip
        # J about the pivot: position = pivot + p − R pivot
        px, py, pz = frame[b, 7], frame[b, 8], frame[b, 9]
        if px != 0.0 or py != 0.0 or pz != 0.0:
            x, y, z = rotate(joint[3:], px, py, pz)
            pin[:] = joint
            pin[0] += px - x
            pin[1] += py - y
            pin[2] += pz - z
            compose(base, pin, pose[b])
        else:
            compose(base, joint, pose[b])
        normalize(pose[b, 3:])


@flat_kernel
def dof_motion(kind, q, a, k, axis, axis2, pitch, rail, first, count, pivot, parent_x0, pose, out):
    """Computes ``out``, the twist of a body for unit velocity of its degree of freedom ``k``.

    Six numbers in world axes: velocity of the body frame's origin, then angular velocity.
    ``parent_x0`` is the world pose of the joint's frame at value 0, ``pose`` the body's world pose.
    """
    qb = pose[3:]
    qp = parent_x0[3:]
    for i in range(6):
        out[i] = 0.0
    ax = ay = az = 0.0
    ex, ey, ez = 1.0 * (k % 3 == 0), 1.0 * (k % 3 == 1), 1.0 * (k % 3 == 2)
    turning = False
    if kind == HINGE or kind == SCREW:
        ax, ay, az = rotate(qb, axis[0], axis[1], axis[2])
        turning = True
        if kind == SCREW:
            out[0], out[1], out[2] = ax * pitch, ay * pitch, az * pitch
    elif kind == SLIDER:
        out[0], out[1], out[2] = rotate(qp, axis[0], axis[1], axis[2])
    elif kind == BALL:
        ax, ay, az = rotate(qb, ex, ey, ez)
        turning = True
    elif kind == UNIVERSAL:
        if k == 0:
            ax, ay, az = rotate(qp, axis[0], axis[1], axis[2])
        else:
            ax, ay, az = rotate(qb, axis2[0], axis2[1], axis2[2])
        turning = True
    elif kind == CYLINDRICAL:
        if k == 0:
            out[0], out[1], out[2] = rotate(qp, axis[0], axis[1], axis[2])
        else:
            ax, ay, az = rotate(qb, axis[0], axis[1], axis[2])
            turning = True
    elif kind == PLANAR:
        if k < 2:
            x, y, z = from_axes(axis, axis2, ex, ey, 0.0)
            out[0], out[1], out[2] = rotate(qp, x, y, z)
        else:
            ax, ay, az = rotate(qb, axis[0], axis[1], axis[2])
            turning = True
    elif kind == RAIL:
        turn, climb = rail_curvature(rail, first, count, q[a])
        out[0], out[1], out[2] = rotate(qb, axis2[0], axis2[1], axis2[2])
        x, y, z = from_axes(axis, axis2, 0.0, -climb, turn)
        ax, ay, az = rotate(qb, x, y, z)
        turning = True
    elif kind == FREE:
        if k < 3:
            out[0], out[1], out[2] = rotate(qp, ex, ey, ez)
        else:
            out[3], out[4], out[5] = rotate(qb, ex, ey, ez)
    if turning:
        # velocity of the origin = ω × (origin − pivot)
        rx, ry, rz = rotate(qb, -pivot[0], -pivot[1], -pivot[2])
        out[0] += ay * rz - az * ry
        out[1] += az * rx - ax * rz
        out[2] += ax * ry - ay * rx
        out[3], out[4], out[5] = ax, ay, az


@flat_kernel
def count_dofs(kind):
    """Returns the degrees of freedom of a joint kind."""
    if kind == HINGE or kind == SLIDER or kind == SCREW or kind == RAIL:
        return 1
    if kind == BALL or kind == PLANAR:
        return 3
    if kind == UNIVERSAL or kind == CYLINDRICAL:
        return 2
    if kind == FREE:
        return 6
    return 0


@kernel
def forward_twists(index, frame, rail, com, q, v, pose, twist):
    """Computes ``twist`` (nb×6: velocity of the center of mass, angular velocity, world axes)."""
    base, unit = np.empty(7), np.empty(6)
    twist[0, :] = 0.0
    for b in range(1, index.shape[0]):
        p = index[b, 0]
        kind = index[b, 1]
        # the parent's motion at this body's origin (twist rows still refer to origins)
        dx, dy, dz = pose[b, 0] - pose[p, 0], pose[b, 1] - pose[p, 1], pose[b, 2] - pose[p, 2]
        wx, wy, wz = twist[p, 3], twist[p, 4], twist[p, 5]
        twist[b, 0] = twist[p, 0] + wy * dz - wz * dy
        twist[b, 1] = twist[p, 1] + wz * dx - wx * dz
        twist[b, 2] = twist[p, 2] + wx * dy - wy * dx
        twist[b, 3], twist[b, 4], twist[b, 5] = wx, wy, wz
        if kind == HINGE:
            _hinge_twist(frame, v[index[b, 3]], pose, twist, b)
            continue
        if kind == FREE:
            _free_twist(p, frame, v, index[b, 3], pose, twist, b)
            continue
        n = count_dofs(kind)
        if n == 0:
            continue
        compose(pose[p], frame[b, 0:7], base)
        for k in range(n):
            speed = v[index[b, 3] + k]
            if speed == 0.0:
                continue
            dof_motion(
                kind, q, index[b, 2], k, frame[b, 10:13], frame[b, 13:16], frame[b, 16],
                rail, index[b, 4], index[b, 5], frame[b, 7:10], base, pose[b], unit,
            )  # fmt: skip
            for i in range(6):
                twist[b, i] += unit[i] * speed
    for b in range(1, index.shape[0]):
        w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
        cx, cy, cz = com[b, 0], com[b, 1], com[b, 2]
        tx = 2.0 * (y * cz - z * cy)
        ty = 2.0 * (z * cx - x * cz)
        tz = 2.0 * (x * cy - y * cx)
        rx = cx + w * tx + y * tz - z * ty
        ry = cy + w * ty + z * tx - x * tz
        rz = cz + w * tz + x * ty - y * tx
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        twist[b, 0] += wy * rz - wz * ry
        twist[b, 1] += wz * rx - wx * rz
        twist[b, 2] += wx * ry - wy * rx


@kernel
def point_jacobian(index, frame, rail, q, pose, body, px, py, pz, out):
    """Computes ``out`` (6×nv): velocity of the point p of ``body``, angular velocity."""
    base, unit = np.empty(7), np.empty(6)
    out[:, :] = 0.0
    b = body
    while b > 0:
        kind = index[b, 1]
        n = count_dofs(kind)
        if n > 0:
            compose(pose[index[b, 0]], frame[b, 0:7], base)
            dx, dy, dz = px - pose[b, 0], py - pose[b, 1], pz - pose[b, 2]
            for k in range(n):
                dof_motion(
                    kind, q, index[b, 2], k, frame[b, 10:13], frame[b, 13:16], frame[b, 16],
                    rail, index[b, 4], index[b, 5], frame[b, 7:10], base, pose[b], unit,
                )  # fmt: skip
                i = index[b, 3] + k
                out[0, i] = unit[0] + unit[4] * dz - unit[5] * dy
                out[1, i] = unit[1] + unit[5] * dx - unit[3] * dz
                out[2, i] = unit[2] + unit[3] * dy - unit[4] * dx
                out[3, i], out[4, i], out[5, i] = unit[3], unit[4], unit[5]
        b = index[b, 0]


@kernel
def integrate_coordinates(kind, qadr, vadr, q, v, h, out):
    """Computes ``out`` = q moved by v for the time ``h``, quaternions along their geodesics."""
    turn, result = np.empty(4), np.empty(4)
    out[:] = q
    for b in range(1, kind.shape[0]):
        n = count_dofs(kind[b])
        a, i = qadr[b], vadr[b]
        if kind[b] == BALL or kind[b] == FREE:
            if kind[b] == FREE:
                for k in range(3):
                    out[a + k] = q[a + k] + h * v[i + k]
                a += 3
                i += 3
            rotvec_quat(h * v[i], h * v[i + 1], h * v[i + 2], turn)
            quat_mul(q[a : a + 4], turn, result)
            normalize(result)
            out[a : a + 4] = result
        else:
            for k in range(n):
                out[a + k] = q[a + k] + h * v[i + k]
