"""Compiled quaternion and pose arithmetic over rows of arrays (numba, no allocation)."""

from __future__ import annotations

import math

from linkwork.core.jit import kernel


@kernel
def quat_mul(a, b, out):
    """``out`` = a ⊗ b for quaternions wxyz; ``out`` may be neither ``a`` nor ``b``."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@kernel
def rotate(q, x, y, z):
    """Returns the vector (x, y, z) rotated by the unit quaternion ``q``."""
    tx = 2.0 * (q[2] * z - q[3] * y)
    ty = 2.0 * (q[3] * x - q[1] * z)
    tz = 2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * tx + q[2] * tz - q[3] * ty,
        y + q[0] * ty + q[3] * tx - q[1] * tz,
        z + q[0] * tz + q[1] * ty - q[2] * tx,
    )


@kernel
def rotate_back(q, x, y, z):
    """Returns the vector (x, y, z) rotated by the inverse of ``q``."""
    tx = -2.0 * (q[2] * z - q[3] * y)
    ty = -2.0 * (q[3] * x - q[1] * z)
    tz = -2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * tx - q[2] * tz + q[3] * ty,
        y + q[0] * ty - q[3] * tx + q[1] * tz,
        z + q[0] * tz - q[1] * ty + q[2] * tx,
    )


@kernel
def axis_quat(ax, ay, az, angle, out):
    """``out`` = quaternion of a rotation by ``angle`` [rad] about a unit axis."""
    s = math.sin(0.5 * angle)
    out[0] = math.cos(0.5 * angle)
    out[1] = ax * s
    out[2] = ay * s
    out[3] = az * s


@kernel
def rotvec_quat(x, y, z, out):
    """``out`` = quaternion of the rotation vector (x, y, z) [rad]."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-8:
        s = 0.5 - angle * angle / 48.0
    else:
        s = math.sin(0.5 * angle) / angle
    out[0] = math.cos(0.5 * angle)
    out[1] = x * s
    out[2] = y * s
    out[3] = z * s


@kernel
def quat_rotvec(q):
    """Returns the rotation vector of ``q`` [rad], of length at most π."""
    s = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if s < 1e-12:
        sign = 2.0 if q[0] >= 0.0 else -2.0
        return q[1] * sign, q[2] * sign, q[3] * sign
    angle = 2.0 * math.atan2(s, q[0])
    if angle > math.pi:
        angle -= 2.0 * math.pi
    k = angle / s
    return q[1] * k, q[2] * k, q[3] * k


@kernel
def normalize(q):
    """Scales the quaternion ``q`` to length one in place."""
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n < 1e-300:
        q[0] = 1.0
        q[1] = q[2] = q[3] = 0.0
        return
    n = 1.0 / n
    q[0] *= n
    q[1] *= n
    q[2] *= n
    q[3] *= n


@kernel
def compose(a, b, out):
    """``out`` = a ∘ b for poses of seven numbers; ``out`` may be neither ``a`` nor ``b``."""
    x, y, z = rotate(a[3:], b[0], b[1], b[2])
    out[0] = a[0] + x
    out[1] = a[1] + y
    out[2] = a[2] + z
    quat_mul(a[3:], b[3:], out[3:])


@kernel
def relative(a, b, out):
    """``out`` = a⁻¹ ∘ b: the pose of ``b`` in ``a``."""
    x, y, z = rotate_back(a[3:], b[0] - a[0], b[1] - a[1], b[2] - a[2])
    out[0] = x
    out[1] = y
    out[2] = z
    out[3] = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]
    out[4] = a[3] * b[4] - a[4] * b[3] - a[5] * b[6] + a[6] * b[5]
    out[5] = a[3] * b[5] + a[4] * b[6] - a[5] * b[3] - a[6] * b[4]
    out[6] = a[3] * b[6] - a[4] * b[5] + a[5] * b[4] - a[6] * b[3]
