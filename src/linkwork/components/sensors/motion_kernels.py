"""Kernels of motion sensors: poses, twists, accelerations."""

from __future__ import annotations

import math

from linkwork.components.sensors.kernels import gauss
from linkwork.core.jit import kernel
from linkwork.dynamics.kernels import body_motions, center_of_mass_motion
from linkwork.geometry.kernels import rotate, rotate_back
from linkwork.kinematics.kernels import forward_poses, forward_twists, integrate_coordinates


@kernel
def fill_accelerations(tree, order, inert, q, v, a, work, still, out):
    """Accelerations of all bodies (nb×6: center of mass, angular), world axes."""
    pose, motion, twist, rate, _, scratch = work
    body_motions(tree, order, still, q, v, a, pose, motion, twist, rate, scratch)
    for n in range(order.shape[0]):
        b = order[n]
        out[b, 0], out[b, 1], out[b, 2] = center_of_mass_motion(inert, pose, twist, rate, b)[6:]
        out[b, 3], out[b, 4], out[b, 5] = rate[b, 3], rate[b, 4], rate[b, 5]


@kernel
def read_motions(step, now, data, where, form, accelerations):
    """Computes position and Cardan angles of points, with first and second derivatives.

    ``where``: reading, period, body's pose, its twist, body. ``form``: the point in its body and
    from its center of mass (3 and 3), quaternion of the frame in its body. ``accelerations`` (nb×6)
    are those of the bodies' centers of mass.
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
        phi = math.atan2(-z1, z2)  # Schwanen 2002 eq. 3.9
        psi = math.asin(min(1.0, max(-1.0, z0)))
        theta = math.atan2(-y0, x0)
        s, c, sp, cp = math.sin(phi), math.cos(phi), math.sin(psi), math.cos(psi)
        data[at + 3], data[at + 4], data[at + 5] = phi, psi, theta
        if abs(cp) < 1e-9:  # φ and θ rotate about one axis: their rates cannot be separated
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


#: Time difference for comparing twists, at a speed of 1 rad/s or m/s [s].
_FINITE_STEP = 1e-5


@kernel
def body_accelerations(
    index, frame, rail, com, kind, qadr, vadr, q, v, change, pose, moved, place, ahead, behind, out
):  # fmt: skip
    """Fills ``out`` (nb×6) with the time derivatives of the bodies' twists, world axes.

    ẍ = J(q) v̇ + J̇(q, v) v. The second term is the change of the twists J(q) v along the motion
    itself at constant v, by a central difference over ±1e-5/(1 + max |v|) s: valid for joints of
    every kind, to about 1e-10 of the term. ``change`` is v̇; ``moved`` (nq), ``place`` (nb×7),
    ``ahead`` and ``behind`` (nb×6) are scratch.
    """
    fastest = 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
    forward_twists(index, frame, rail, com, q, change, pose, out)
    if fastest == 0.0:
        return
    dt = _FINITE_STEP / (1.0 + fastest)
    integrate_coordinates(kind, qadr, vadr, q, v, dt, moved)
    forward_poses(index, frame, rail, moved, place)
    forward_twists(index, frame, rail, com, moved, v, place, ahead)
    integrate_coordinates(kind, qadr, vadr, q, v, -dt, moved)
    forward_poses(index, frame, rail, moved, place)
    forward_twists(index, frame, rail, com, moved, v, place, behind)
    for b in range(out.shape[0]):
        for k in range(6):
            out[b, k] += (ahead[b, k] - behind[b, k]) / (2.0 * dt)


@kernel
def read_imus(step, now, data, where, form, keys, acceleration):
    """Specific forces and angular velocities in the frames of the sensors.

    ``where``: reading, period, body's pose, its twist, gravity, walk of the biases, body.
    ``form``: noise of accelerometer and gyroscope, their walks in one period, their ranges, biases
    (3 and 3), position from the body's center of mass (3), quaternion of the frame in its body.
    """
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        turn = data[where[n, 2] + 3 : where[n, 2] + 7]
        twist = data[where[n, 3] : where[n, 3] + 6]
        gravity, walk = where[n, 4], where[n, 5]
        change = acceleration[where[n, 6]]
        rx, ry, rz = rotate(turn, form[n, 12], form[n, 13], form[n, 14])
        wx, wy, wz = twist[3], twist[4], twist[5]
        vx, vy, vz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
        ax = change[0] + change[4] * rz - change[5] * ry + wy * vz - wz * vy - data[gravity]
        ay = change[1] + change[5] * rx - change[3] * rz + wz * vx - wx * vz - data[gravity + 1]
        az = change[2] + change[3] * ry - change[4] * rx + wx * vy - wy * vx - data[gravity + 2]
        ax, ay, az = rotate_back(turn, ax, ay, az)
        ax, ay, az = rotate_back(form[n, 15:19], ax, ay, az)
        wx, wy, wz = rotate_back(turn, wx, wy, wz)
        wx, wy, wz = rotate_back(form[n, 15:19], wx, wy, wz)
        at = where[n, 0]
        data[at], data[at + 1], data[at + 2] = ax, ay, az
        data[at + 3], data[at + 4], data[at + 5] = wx, wy, wz
        for k in range(3):
            one, two = form[n, 0], form[n, 1]
            if one > 0.0 or two > 0.0:
                a, b = gauss(keys[n], 8 * step + k)
                data[at + k] += one * a
                data[at + 3 + k] += two * b
            if (form[n, 2] > 0.0 or form[n, 3] > 0.0) and step > 0 and not now:
                a, b = gauss(keys[n], 8 * step + 3 + k)
                data[walk + k] += form[n, 2] * a
                data[walk + 3 + k] += form[n, 3] * b
        for k in range(6):
            reach = form[n, 4 + k // 3]
            value = data[at + k] + form[n, 6 + k] + data[walk + k]
            data[at + k] = min(max(value, -reach), reach)
