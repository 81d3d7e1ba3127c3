"""Compiled forces on joints and contact points, as they are at one instant."""

from __future__ import annotations

import math

from linkwork.jit import kernel
from linkwork.spatial.kernels import rotate

#: Columns of a joint's law: spring, rest, stop's spring and damper, lowest, highest, compliance,
#: its damper.
SPRING, REST, STOP, STOP_DAMP, LO, HI, COMPLY, COMPLY_DAMP = range(8)
LAW_COLUMNS = 8

#: Columns of a contact point's grip: whether it grips, where, and which plane.
GRIP_COLUMNS = 5

#: Speed at which friction of joints has grown to most of its size [rad/s or m/s].
CREEP = 0.02


@kernel
def drive_effort(drive, i, x, speed):
    """Affine effort of a drive within its limits."""
    return min(max(drive[0, i] - drive[1, i] * x - drive[2, i] * speed, drive[3, i]), drive[4, i])


@kernel
def joint_efforts(dofs, qaddr, laws, damping, friction, drive, q, v, rotor, effort, pull):
    """Fills ``effort`` of each degree of freedom, and ``pull`` (nv) of rotors on compliant ones.

    ``rotor`` (2×nv) holds value and speed of rotors.
    """
    for n in range(dofs.shape[0]):
        i = dofs[n]
        x, speed, law = q[qaddr[i]], v[i], laws[i]
        made = -damping[i] * speed - friction[i] * math.tanh(speed / CREEP)
        if law[SPRING] > 0.0:
            made -= law[SPRING] * (x - law[REST])
        if x < law[LO]:
            made += max(0.0, law[STOP] * (law[LO] - x) - law[STOP_DAMP] * speed)
        elif x > law[HI]:
            made += min(0.0, law[STOP] * (law[HI] - x) - law[STOP_DAMP] * speed)
        if law[COMPLY] > 0.0:
            twist = law[COMPLY] * (rotor[0, i] - x) + law[COMPLY_DAMP] * (rotor[1, i] - speed)
            pull[i] = drive_effort(drive, i, rotor[0, i], rotor[1, i]) - twist
            made += twist
        else:
            made += drive_effort(drive, i, x, speed)
        effort[i] = made


@kernel
def touch(point, planes, pose, twist, out):
    """How a contact point stands to the nearest plane.

    ``twist`` is seen at the world's origin. ``out``: place (3), velocity (3), depth; returns the
    plane's number, or −1 where the point is above all.
    """
    b = int(point[0])
    x, y, z = rotate(pose[b, 3:], point[1], point[2], point[3])
    x, y, z = x + pose[b, 0], y + pose[b, 1], z + pose[b, 2]
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    out[0], out[1], out[2] = x, y, z
    out[3] = twist[b, 0] + wy * z - wz * y
    out[4] = twist[b, 1] + wz * x - wx * z
    out[5] = twist[b, 2] + wx * y - wy * x
    found = -1
    deepest = 0.0
    for n in range(planes.shape[0]):
        plane = planes[n]
        depth = (plane[3] - x) * plane[0] + (plane[4] - y) * plane[1] + (plane[5] - z) * plane[2]
        if depth > deepest:
            found, deepest = n, depth
    out[6] = deepest
    return found


@kernel
def contact_force(point, planes, number, grip, k, d, rub, at, out):
    """Force on a contact point: spring and damper that never pull (002 eq. 4.7), Coulomb along.

    ``at`` is what :func:`touch` filled. Along the ground a spring holds it to where it grips, up to
    ``rub`` times the normal force. ``out``: force (3), normal force, whether it slides.
    """
    plane = planes[number]
    nx, ny, nz = plane[0], plane[1], plane[2]
    sink = -(at[3] * nx + at[4] * ny + at[5] * nz)
    normal = max(0.0, k * at[6] + d * sink)
    gx, gy, gz = 0.0, 0.0, 0.0
    if grip[0] > 0.0 and int(grip[4]) == number:
        gx, gy, gz = grip[1] - at[0], grip[2] - at[1], grip[3] - at[2]
    vx, vy, vz = at[3] + sink * nx, at[4] + sink * ny, at[5] + sink * nz
    along = gx * nx + gy * ny + gz * nz
    fx = k * (gx - along * nx) - d * vx
    fy = k * (gy - along * ny) - d * vy
    fz = k * (gz - along * nz) - d * vz
    size = math.sqrt(fx * fx + fy * fy + fz * fz)
    out[4] = 0.0
    if size > rub * normal:
        share = rub * normal / size
        fx, fy, fz = fx * share, fy * share, fz * share
        out[4] = 1.0
    out[0], out[1], out[2] = fx + normal * nx, fy + normal * ny, fz + normal * nz
    out[3] = normal


@kernel
def push(force, b, x, y, z, fx, fy, fz):
    """Takes a force at a world point from what moves body ``b``."""
    force[b, 0] -= fx
    force[b, 1] -= fy
    force[b, 2] -= fz
    force[b, 3] -= y * fz - z * fy
    force[b, 4] -= z * fx - x * fz
    force[b, 5] -= x * fy - y * fx
