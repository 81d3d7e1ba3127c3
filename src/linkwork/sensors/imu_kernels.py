"""Compiled accelerations of bodies, and what an IMU reads of them."""

from __future__ import annotations

from linkwork.jit import kernel
from linkwork.kinematics.kernels import forward_poses, forward_twists, integrate_coordinates
from linkwork.sensors.kernels import gauss
from linkwork.spatial.kernels import rotate, rotate_back

#: How far ahead and behind the twists are compared, for a speed of 1 rad/s or m/s [s].
_AHEAD = 1e-5


@kernel
def body_accelerations(
    index, frame, rail, com, kind, qadr, vadr, q, v, change, pose, moved, place, ahead, behind, out
):  # fmt: skip
    """Fills ``out`` (nb×6) with the time derivatives of the bodies' twists, world axes.

    ẍ = J(q) v̇ + J̇(q, v) v. The second term is the change of the twists J(q) v along the motion
    itself while v stays as it is, by a central difference over ±1e-5/(1 + max |v|) s: true for
    joints of every kind, to about 1e-10 of the term. ``change`` is v̇; ``moved`` (nq), ``place``
    (nb×7), ``ahead`` and ``behind`` (nb×6) are room to work in.
    """
    fastest = 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
    forward_twists(index, frame, rail, com, q, change, pose, out)
    if fastest == 0.0:
        return
    dt = _AHEAD / (1.0 + fastest)
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
    (3 and 3), place from the body's centre of mass (3), quaternion of the frame in its body.
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
