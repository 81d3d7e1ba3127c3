"""Compiled forward kinematics with the motion of each degree of freedom at the world origin.

The column of a degree of freedom is the twist of its body for unit velocity: velocity of the body
point at the world's origin, then angular velocity, both in world axes (Featherstone's spatial
vectors). At one common point columns of different bodies can be added directly.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.geometry.kernels import compose, normalize, rotate
from linkwork.kinematics.kernels import (
    CYLINDRICAL,
    FIXED,
    FREE,
    HINGE,
    PLANAR,
    UNIVERSAL,
    count_dofs,
    dof_motion,
    hinge_pose,
    joint_pose,
)
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.trig_kernels import sine_cosine


@flat_kernel
def _body_pose(index, frame, rail, q, b, pose, scratch):
    """Computes the pose of body ``b``, not on a hinge, from its parent's; ``scratch`` is 5×7."""
    kind = index[b, 1]
    if kind == FIXED:
        compose(pose[index[b, 0]], frame[b, 0:7], pose[b])
        return
    joint, base, s1, s2, pin = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    compose(pose[index[b, 0]], frame[b, 0:7], base)
    joint_pose(
        kind, q, index[b, 2], frame[b, 10:13], frame[b, 13:16], frame[b, 16],
        rail, index[b, 4], index[b, 5], joint, s1, s2,
    )  # fmt: skip
    px, py, pz = frame[b, 7], frame[b, 8], frame[b, 9]
    x, y, z = rotate(joint[3:], px, py, pz)
    for k in range(7):
        pin[k] = joint[k]
    pin[0] += px - x
    pin[1] += py - y
    pin[2] += pz - z
    compose(base, pin, pose[b])
    normalize(pose[b, 3:])


@inner_kernel
def _place_hinge(index, frame, q, b, pose, motion):
    """Computes pose and column of a body on a hinge."""
    s, c = sine_cosine(0.5 * q[UINT(index[b, 2])])
    hinge_pose(UINT(index[b, 0]), frame, s, c, pose, b)
    w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
    ax, ay, az = frame[b, 10], frame[b, 11], frame[b, 12]
    tx = 2.0 * (y * az - z * ay)
    ty = 2.0 * (z * ax - x * az)
    tz = 2.0 * (x * ay - y * ax)
    ax += w * tx + y * tz - z * ty
    ay += w * ty + z * tx - x * tz
    az += w * tz + x * ty - y * tx
    rx, ry, rz = frame[b, 7], frame[b, 8], frame[b, 9]
    if rx != 0.0 or ry != 0.0 or rz != 0.0:
        tx = 2.0 * (y * rz - z * ry)
        ty = 2.0 * (z * rx - x * rz)
        tz = 2.0 * (x * ry - y * rx)
        rx += w * tx + y * tz - z * ty
        ry += w * ty + z * tx - x * tz
        rz += w * tz + x * ty - y * tx
    rx, ry, rz = rx + pose[b, 0], ry + pose[b, 1], rz + pose[b, 2]
    i = UINT(index[b, 3])
    motion[i, 0] = ry * az - rz * ay
    motion[i, 1] = rz * ax - rx * az
    motion[i, 2] = rx * ay - ry * ax
    motion[i, 3], motion[i, 4], motion[i, 5] = ax, ay, az


@flat_kernel
def _columns(index, frame, rail, q, b, pose, motion, scratch):
    """Computes rows of ``motion`` (nv×6) for the degrees of freedom of a body with a known pose."""
    kind, i = index[b, 1], index[b, 3]
    n = count_dofs(kind)
    if n == 0:
        return
    base = scratch[1]
    compose(pose[index[b, 0]], frame[b, 0:7], base)
    for k in range(n):
        unit = motion[i + k]
        dof_motion(
            kind, q, index[b, 2], k, frame[b, 10:13], frame[b, 13:16], frame[b, 16],
            rail, index[b, 4], index[b, 5], frame[b, 7:10], base, pose[b], unit,
        )  # fmt: skip
        unit[0] += pose[b, 1] * unit[5] - pose[b, 2] * unit[4]
        unit[1] += pose[b, 2] * unit[3] - pose[b, 0] * unit[5]
        unit[2] += pose[b, 0] * unit[4] - pose[b, 1] * unit[3]


@flat_kernel
def place_bodies(index, frame, rail, order, q, pose, motion, scratch):
    """Computes ``pose`` (nb×7) and ``motion`` (nv×6) for the bodies of ``order``, parents first."""
    for k in range(7):
        pose[0, k] = 1.0 if k == 3 else 0.0
    for n in range(order.shape[0]):
        b = order[n]
        if index[b, 1] == HINGE:
            _place_hinge(index, frame, q, UINT(b), pose, motion)
        else:
            _body_pose(index, frame, rail, q, b, pose, scratch)
            _columns(index, frame, rail, q, b, pose, motion, scratch)


@flat_kernel
def is_fixed_in_parent(kind, k):
    """Returns whether the column of degree of freedom ``k`` is fixed in the parent.

    If both hold (a hinge), either gives the same rate of change.
    """
    if kind == FREE:
        return k < 3
    if kind == PLANAR:
        return k < 2
    return (kind == CYLINDRICAL or kind == UNIVERSAL) and k == 0
