"""Springs between anchors: how long they are, how hard they pull, what energy they hold."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import kernel
from linkwork.spatial.kernels import compose, relative, rotate

#: Kinds of springs, and columns of what they say and of what is reported of them.
LINEAR, TORSION = 0, 1
STIFFNESS, REST, DAMPING = 0, 1, 2
LENGTH, FORCE = 0, 1


@kernel
def _speed(pose, twist, com, b, x, y, z):
    """Velocity of the world point x, y, z of a body, as three numbers."""
    cx, cy, cz = rotate(pose[b, 3:], com[b, 0], com[b, 1], com[b, 2])
    rx, ry, rz = x - pose[b, 0] - cx, y - pose[b, 1] - cy, z - pose[b, 2] - cz
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    return (
        twist[b, 0] + wy * rz - wz * ry,
        twist[b, 1] + wz * rx - wx * rz,
        twist[b, 2] + wx * ry - wy * rx,
    )


@kernel
def spring_state(which, kind, body, at, axis, law, pose, twist, com, report):
    """Fills in length or angle, and force or torque, of each listed spring; returns their energy.

    An angle is the twist about the axis, 2 atan2(u · a, w) of the quaternion (w, u) from one end to
    the other, whatever turns them aside; it counts full turns from what was reported last.
    """
    a, b, rel = np.empty(7), np.empty(7), np.empty(7)
    energy = 0.0
    for n in which:
        one, two = body[n, 0], body[n, 1]
        compose(pose[one], at[n, 0], a)
        compose(pose[two], at[n, 1], b)
        if kind[n] == LINEAR:
            dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            ax, ay, az = _speed(pose, twist, com, one, a[0], a[1], a[2])
            bx, by, bz = _speed(pose, twist, com, two, b[0], b[1], b[2])
            speed = 0.0
            if length > 1e-12:
                speed = (dx * (bx - ax) + dy * (by - ay) + dz * (bz - az)) / length
        else:
            relative(a, b, rel)
            x, y, z = axis[n, 0], axis[n, 1], axis[n, 2]
            w, ux, uy, uz = rel[3], rel[4], rel[5], rel[6]
            along = ux * x + uy * y + uz * z
            angle = 2.0 * math.atan2(along, w)
            turns = np.round((report[n, LENGTH] - angle) / (2.0 * math.pi))
            length = angle + 2.0 * math.pi * turns
            # it grows by (w² a + w u × a + (u · a) u) · ω / (w² + (u · a)²), seen from the first
            f = 1.0 / max(w * w + along * along, 1e-12)
            gx = f * (w * w * x + w * (uy * z - uz * y) + along * ux)
            gy = f * (w * w * y + w * (uz * x - ux * z) + along * uy)
            gz = f * (w * w * z + w * (ux * y - uy * x) + along * uz)
            x, y, z = rotate(a[3:], gx, gy, gz)
            speed = (
                x * (twist[two, 3] - twist[one, 3])
                + y * (twist[two, 4] - twist[one, 4])
                + z * (twist[two, 5] - twist[one, 5])
            )
        more = length - law[n, REST]
        report[n, LENGTH] = length
        report[n, FORCE] = law[n, STIFFNESS] * more + law[n, DAMPING] * speed
        energy += 0.5 * law[n, STIFFNESS] * more * more
    return energy
