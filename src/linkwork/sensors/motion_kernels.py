"""Compiled readings of places, turns and their derivatives."""

from __future__ import annotations

import math

from linkwork.dynamics.kernels import at_centre, move_bodies
from linkwork.jit import kernel
from linkwork.spatial.kernels import rotate


@kernel
def fill_accelerations(tree, order, inert, q, v, a, work, still, out):
    """Accelerations of all bodies (nb×6: centre of mass, angular), world axes."""
    pose, motion, twist, rate, _, scratch = work
    move_bodies(tree, order, still, q, v, a, pose, motion, twist, rate, scratch)
    for n in range(order.shape[0]):
        b = order[n]
        out[b, 0], out[b, 1], out[b, 2] = at_centre(inert, pose, twist, rate, b)[6:]
        out[b, 3], out[b, 4], out[b, 5] = rate[b, 3], rate[b, 4], rate[b, 5]


@kernel
def read_motions(step, now, data, where, form, accelerations):
    """Fills place and Cardan angles of points, their rates, and the rates of those.

    ``where``: reading, period, body's pose, its twist, body. ``form``: the point in its body and
    from its centre of mass (3 and 3), quaternion of the frame in its body. ``accelerations`` (nb×6)
    are those of the bodies' centres of mass.
    """
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        at, pose, twist, b = where[n, 0], where[n, 2], where[n, 3], where[n, 4]
        turn = data[pose + 3 : pose + 7]
        px, py, pz = rotate(turn, form[n, 0], form[n, 1], form[n, 2])
        rx, ry, rz = rotate(turn, form[n, 3], form[n, 4], form[n, 5])
        data[at], data[at + 1], data[at + 2] = (
            data[pose] + px,
            data[pose + 1] + py,
            (data[pose + 2] + pz),
        )
        wx, wy, wz = data[twist + 3], data[twist + 4], data[twist + 5]
        vx, vy, vz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
        data[at + 6], data[at + 7] = data[twist] + vx, data[twist + 1] + vy
        data[at + 8] = data[twist + 2] + vz
        ax, ay, az = accelerations[b, 3], accelerations[b, 4], accelerations[b, 5]
        data[at + 12] = accelerations[b, 0] + ay * rz - az * ry + wy * vz - wz * vy
        data[at + 13] = accelerations[b, 1] + az * rx - ax * rz + wz * vx - wx * vz
        data[at + 14] = accelerations[b, 2] + ax * ry - ay * rx + wx * vy - wy * vx
        # axes of the frame in the world
        f = form[n, 6:10]
        x0, x1, x2 = rotate(f, 1.0, 0.0, 0.0)
        y0, y1, y2 = rotate(f, 0.0, 1.0, 0.0)
        z0, z1, z2 = rotate(f, 0.0, 0.0, 1.0)
        x0, x1, x2 = rotate(turn, x0, x1, x2)
        y0, y1, y2 = rotate(turn, y0, y1, y2)
        z0, z1, z2 = rotate(turn, z0, z1, z2)
        phi = math.atan2(-z1, z2)  # 002 eq 3.9
        psi = math.asin(min(1.0, max(-1.0, z0)))
        theta = math.atan2(-y0, x0)
        s, c, sp, cp = math.sin(phi), math.cos(phi), math.sin(psi), math.cos(psi)
        data[at + 3], data[at + 4], data[at + 5] = phi, psi, theta
        if abs(cp) < 1e-9:  # φ and θ turn about one axis: their rates are not told apart
            for k in range(3):
                data[at + 9 + k] = data[at + 15 + k] = 0.0
            continue
        # ω = (φ̇ + sψ θ̇, cφ ψ̇ − sφ cψ θ̇, sφ ψ̇ + cφ cψ θ̇)
        dpsi, dtheta = c * wy + s * wz, (c * wz - s * wy) / cp
        dphi = wx - sp * dtheta
        data[at + 9], data[at + 10], data[at + 11] = dphi, dpsi, dtheta
        bx = ax - cp * dpsi * dtheta
        by = ay + s * dphi * dpsi - (-c * dphi * cp + s * sp * dpsi) * dtheta
        bz = az - c * dphi * dpsi + (s * dphi * cp + c * sp * dpsi) * dtheta
        ddpsi, ddtheta = c * by + s * bz, (c * bz - s * by) / cp
        data[at + 15], data[at + 16], data[at + 17] = bx - sp * ddtheta, ddpsi, ddtheta
