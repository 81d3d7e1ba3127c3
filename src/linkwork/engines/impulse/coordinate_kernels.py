"""Conversion between bodies and the state: poses, twists, joint coordinates, velocities."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import (
    L,
    Q,
    R,
    V,
    X,
    angular_velocity,
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.frame_kernels import coordinate, joint_frames, unwrap_angle
from linkwork.engines.impulse.mechanism import KIND, A, B, S
from linkwork.geometry.kernels import rotate, rotate_back
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FREE,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
)

#: Columns of a body's principal frame: center of mass (3), principal axes (4), inertia (3).
COM, AXES, INERTIA = 0, 3, 7


@inner_kernel
def set_body_pose(m, pose, b, body):
    """Sets a body's principal frame from the pose of body ``b`` of the world."""
    x, y, z = rotate(pose[b, 3:], m[COM], m[COM + 1], m[COM + 2])
    body[X], body[X + 1], body[X + 2] = pose[b, 0] + x, pose[b, 1] + y, pose[b, 2] + z
    pw, px, py, pz = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
    aw, ax, ay, az = m[AXES], m[AXES + 1], m[AXES + 2], m[AXES + 3]
    body[Q] = pw * aw - px * ax - py * ay - pz * az
    body[Q + 1] = pw * ax + px * aw + py * az - pz * ay
    body[Q + 2] = pw * ay - px * az + py * aw + pz * ax
    body[Q + 3] = pw * az + px * ay - py * ax + pz * aw
    rotation_matrix(body, Q, R)


@inner_kernel
def set_angular_momentum(m, wx, wy, wz, body):
    """Sets the angular momentum from an angular velocity."""
    for i in range(3):
        body[L + i] = 0.0
    for k in range(3):
        along = body[R + k] * wx + body[R + 3 + k] * wy + body[R + 6 + k] * wz
        for i in range(3):
            body[L + i] += body[R + 3 * i + k] * m[INERTIA + k] * along


@flat_kernel
def read_poses(own, principal_pose, pose, twist, bodies):
    """Reads bodies from poses and twists; ``principal_pose`` (n×10) are their principal frames."""
    for n in range(own.shape[0]):
        b, m, body = own[n], principal_pose[n], bodies[n]
        set_body_pose(m, pose, b, body)
        world_inverse_inertia(body)
        for i in range(3):
            body[V + i] = twist[b, i]
        set_angular_momentum(m, twist[b, 3], twist[b, 4], twist[b, 5], body)


@flat_kernel
def write_poses(own, principal_pose, bodies, pose, twist):
    """Writes poses and twists of the bodies."""
    for n in range(own.shape[0]):
        b, m, body = own[n], principal_pose[n], bodies[n]
        qw, qx, qy, qz = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
        aw, ax, ay, az = m[AXES], -m[AXES + 1], -m[AXES + 2], -m[AXES + 3]
        pose[b, 3] = qw * aw - qx * ax - qy * ay - qz * az
        pose[b, 4] = qw * ax + qx * aw + qy * az - qz * ay
        pose[b, 5] = qw * ay - qx * az + qy * aw + qz * ax
        pose[b, 6] = qw * az + qx * ay - qy * ax + qz * aw
        x, y, z = rotate(pose[b, 3:], m[COM], m[COM + 1], m[COM + 2])
        pose[b, 0], pose[b, 1], pose[b, 2] = body[X] - x, body[X + 1] - y, body[X + 2] - z
        wx, wy, wz = angular_velocity(body)
        for i in range(3):
            twist[b, i] = body[V + i]
        twist[b, 3], twist[b, 4], twist[b, 5] = wx, wy, wz


@flat_kernel
def _along(frame, k, x, y, z):
    return frame[k] * x + frame[k + 1] * y + frame[k + 2] * z


@flat_kernel
def write_coordinates(mechanism, scratch, tree, row_ints, row_reals, h, q, v):
    """Writes coordinates and velocities of the spanning tree, ``h`` after the present ones.

    ``tree`` (n×3): joint, first coordinate, first degree of freedom. Full turns follow from the
    mean velocity; soft rows count their own.
    """
    bodies, joint_ints, joint_reals, rail = mechanism
    frame, ride, _, _ = scratch
    for n in range(tree.shape[0]):
        j, a, i = tree[n, 0], tree[n, 1], tree[n, 2]
        kind = joint_ints[j, KIND]
        joint_frames(bodies, joint_ints[j], joint_reals[j], rail, False, frame, ride)
        one, two = bodies[joint_ints[j, A]], bodies[joint_ints[j, B]]
        ax, ay, az = angular_velocity(one)
        bx, by, bz = angular_velocity(two)
        wx, wy, wz = bx - ax, by - ay, bz - az
        # velocity of the joint's point on b relative to a
        rx, ry, rz = frame[12] - two[X], frame[13] - two[X + 1], frame[14] - two[X + 2]
        ux = two[V] + by * rz - bz * ry
        uy = two[V + 1] + bz * rx - bx * rz
        uz = two[V + 2] + bx * ry - by * rx
        rx, ry, rz = frame[12] - one[X], frame[13] - one[X + 1], frame[14] - one[X + 2]
        ux -= one[V] + ay * rz - az * ry
        uy -= one[V + 1] + az * rx - ax * rz
        uz -= one[V + 2] + ax * ry - ay * rx
        if kind == HINGE or kind == SCREW:
            w = _along(frame, 9, wx, wy, wz)
            q[a] = coordinate(joint_ints[j], frame, 5, q[a] + 0.5 * h * (v[i] + w), joint_reals[j])
            v[i] = w
        elif kind == SLIDER:
            q[a] = coordinate(joint_ints[j], frame, 2, q[a], joint_reals[j])
            v[i] = _along(frame, 9, ux, uy, uz)
        elif kind == RAIL:
            q[a] = joint_reals[j, S]
            v[i] = _along(frame, 3, ux, uy, uz)
        elif kind == UNIVERSAL:
            for k in range(2):
                w = _along(frame, 15 if k else 9, wx, wy, wz)
                there = q[a + k] + 0.5 * h * (v[i + k] + w)
                q[a + k] = coordinate(joint_ints[j], frame, 4 + k, there, joint_reals[j])
                v[i + k] = w
        elif kind == CYLINDRICAL:
            q[a] = coordinate(joint_ints[j], frame, 2, q[a], joint_reals[j])
            v[i] = _along(frame, 9, ux, uy, uz)
            w = _along(frame, 9, wx, wy, wz)
            q[a + 1] = coordinate(
                joint_ints[j], frame, 5, q[a + 1] + 0.5 * h * (v[i + 1] + w), joint_reals[j]
            )
            v[i + 1] = w
        elif kind == PLANAR:
            for k in range(2):
                q[a + k] = coordinate(joint_ints[j], frame, k, q[a + k], joint_reals[j])
                v[i + k] = _along(frame, 3 + 3 * k, ux, uy, uz)
            w = _along(frame, 9, wx, wy, wz)
            q[a + 2] = coordinate(
                joint_ints[j], frame, 5, q[a + 2] + 0.5 * h * (v[i + 2] + w), joint_reals[j]
            )
            v[i + 2] = w
    for n in range(row_reals.shape[0]):
        j, a = row_ints[n, law.JOINT], row_ints[n, law.COORDINATE]
        if row_ints[n, law.ROW] >= 3 and joint_ints[j, KIND] != BALL:
            q[a] = unwrap_angle(q[a], row_reals[n, law.Q0] + row_reals[n, law.DISPLACEMENT])


@flat_kernel
def write_quaternions(which, index, frame_of, pose, twist, com, q, v):
    """Writes coordinates and velocities of the ball and free joints of the bodies ``which``."""
    for n in range(which.shape[0]):
        b = which[n]
        p, kind, a, i = index[b, 0], index[b, 1], index[b, 2], index[b, 3]
        # base = pose of the parent ∘ x0
        f = frame_of[b]
        pw, px, py, pz = pose[p, 3], pose[p, 4], pose[p, 5], pose[p, 6]
        w, x, y, z = f[3], f[4], f[5], f[6]
        ow = pw * w - px * x - py * y - pz * z
        ox = -(pw * x + px * w + py * z - pz * y)
        oy = -(pw * y - px * z + py * w + pz * x)
        oz = -(pw * z + px * y - py * x + pz * w)
        w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
        rw = ow * w - ox * x - oy * y - oz * z
        rx = ow * x + ox * w + oy * z - oz * y
        ry = ow * y - ox * z + oy * w + oz * x
        rz = ow * z + ox * y - oy * x + oz * w
        first = a + 3 if kind == FREE else a
        same = rw * q[first] + rx * q[first + 1] + ry * q[first + 2] + rz * q[first + 3]
        s = (1.0 if same >= 0.0 else -1.0) / math.sqrt(rw * rw + rx * rx + ry * ry + rz * rz)
        q[first], q[first + 1] = s * rw, s * rx
        q[first + 2], q[first + 3] = s * ry, s * rz
        wx = twist[b, 3] - (twist[p, 3] if kind == BALL else 0.0)
        wy = twist[b, 4] - (twist[p, 4] if kind == BALL else 0.0)
        wz = twist[b, 5] - (twist[p, 5] if kind == BALL else 0.0)
        last = i + 3 if kind == FREE else i
        v[last], v[last + 1], v[last + 2] = rotate_back(pose[b, 3:], wx, wy, wz)
        if kind == FREE:  # the parent is static
            cx, cy, cz = rotate(pose[b, 3:], com[b, 0], com[b, 1], com[b, 2])
            ux = twist[b, 0] - (twist[b, 4] * cz - twist[b, 5] * cy)
            uy = twist[b, 1] - (twist[b, 5] * cx - twist[b, 3] * cz)
            uz = twist[b, 2] - (twist[b, 3] * cy - twist[b, 4] * cx)
            gx, gy, gz = rotate(pose[p, 3:], f[0], f[1], f[2])
            dx = pose[b, 0] - pose[p, 0] - gx
            dy = pose[b, 1] - pose[p, 1] - gy
            dz = pose[b, 2] - pose[p, 2] - gz
            # rotate by the inverse of base
            tx, ty, tz = (
                2.0 * (oy * dz - oz * dy),
                2.0 * (oz * dx - ox * dz),
                2.0 * (ox * dy - oy * dx),
            )
            q[a] = dx + ow * tx + oy * tz - oz * ty
            q[a + 1] = dy + ow * ty + oz * tx - ox * tz
            q[a + 2] = dz + ow * tz + ox * ty - oy * tx
            tx, ty, tz = (
                2.0 * (oy * uz - oz * uy),
                2.0 * (oz * ux - ox * uz),
                2.0 * (ox * uy - oy * ux),
            )
            v[i] = ux + ow * tx + oy * tz - oz * ty
            v[i + 1] = uy + ow * ty + oz * tx - ox * tz
            v[i + 2] = uz + ow * tz + ox * ty - oy * tx
