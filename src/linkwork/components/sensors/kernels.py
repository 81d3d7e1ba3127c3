"""Kernels of sensors: one call for all sensors of a type."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import kernel
from linkwork.core.state import CONTACT_COLUMNS
from linkwork.geometry.kernels import rotate, rotate_back

# splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_ULP = 2.0**-53


@kernel
def _uniform(key, draw):
    """The number of the stream ``key`` at position ``draw``, uniform in (0, 1]."""
    z = key + np.uint64(draw) * _GOLDEN
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    z = z ^ (z >> _S31)
    return (float(z >> _S11) + 1.0) * _ULP


@kernel
def gauss(key, step):
    """Two independent normally distributed numbers (Box and Muller 1958) for one step."""
    radius = math.sqrt(-2.0 * math.log(_uniform(key, 2 * step + 1)))
    angle = 2.0 * math.pi * _uniform(key, 2 * step + 2)
    return radius * math.cos(angle), radius * math.sin(angle)


@kernel
def read_encoders(step, now, data, where, form, keys):
    """Angle and speed of degrees of freedom.

    ``where``: reading, period, q, v. ``form``: noise, speed noise, offset, lowest value of the
    scale, resolution (0 for none), highest code (inf for none).
    """
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        angle, speed = data[where[n, 2]], data[where[n, 3]]
        if form[n, 0] > 0.0 or form[n, 1] > 0.0:
            a, b = gauss(keys[n], step)
            angle += form[n, 0] * a
            speed += form[n, 1] * b
        if form[n, 4] > 0.0:
            code = math.floor((angle - form[n, 3]) / form[n, 4] + 0.5)
            if form[n, 5] < np.inf:
                code = min(max(code, 0.0), form[n, 5])
            angle = form[n, 3] + code * form[n, 4]
        data[where[n, 0]] = angle + form[n, 2]
        data[where[n, 0] + 1] = speed


@kernel
def read_efforts(step, now, data, where, form, keys):
    """Efforts of degrees of freedom. ``where``: reading, period, effort. ``form``: noise."""
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        effort = data[where[n, 2]]
        if form[n, 0] > 0.0:
            effort += form[n, 0] * gauss(keys[n], step)[0]
        data[where[n, 0]] = effort


@kernel
def read_inclinometers(step, now, data, where, form, keys):
    """Tilts of frames about their own x and y.

    ``where``: reading, period, body's pose, gravity. ``form``: noise, quaternion of the frame in
    its body.
    """
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        g = where[n, 3]
        x, y, z = -data[g], -data[g + 1], -data[g + 2]
        if x == 0.0 and y == 0.0 and z == 0.0:
            z = 1.0
        body = where[n, 2] + 3
        x, y, z = rotate_back(data[body : body + 4], x, y, z)
        x, y, z = rotate_back(form[n, 1:5], x, y, z)
        tilt_x, tilt_y = math.atan2(y, z), math.atan2(-x, z)
        if form[n, 0] > 0.0:
            a, b = gauss(keys[n], step)
            tilt_x += form[n, 0] * a
            tilt_y += form[n, 0] * b
        data[where[n, 0]] = tilt_x
        data[where[n, 0] + 1] = tilt_y


@kernel
def read_contacts(step, now, data, where, form, keys):
    """Sums of normal forces, and whether there is a contact.

    ``where``: reading, period, contact table, its count, column (0 bodies, 2 elements) and index to
    match, column and index of the other one (index −1 for any). ``form``: noise.
    """
    whole = data.view(np.int64)
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        column, mine, other_column, other = where[n, 4], where[n, 5], where[n, 6], where[n, 7]
        force, touching = 0.0, 0.0
        for c in range(whole[where[n, 3]]):
            row = where[n, 2] + c * CONTACT_COLUMNS
            for side in range(2):
                other_cell = row + other_column + 1 - side
                if data[row + column + side] != mine or (other >= 0 and data[other_cell] != other):
                    continue
                force += data[row + 11]
                if data[row + 10] > 0.0 or data[row + 11] > 0.0:
                    touching = 1.0
        if form[n, 0] > 0.0:
            force += form[n, 0] * gauss(keys[n], step)[0]
        data[where[n, 0]] = force
        data[where[n, 0] + 1] = touching


@kernel
def read_feet(step, now, data, where, form, keys):
    """Forces at the corners of soles, their sum, and the center of pressure.

    A force F at (x, y) is distributed as F·(1 ± x/a)(1 ± y/b)/4 over the corners (±a, ±b): the sum
    and both moments are preserved.

    ``where``: reading, period, contact table, its count, body's pose, column (0 bodies, 2 elements)
    and index to match. ``form``: noise, a, b, range, position (3) and quaternion of the sole's
    frame in its body.
    """
    whole = data.view(np.int64)
    for n in range(where.shape[0]):
        if not now and step % where[n, 1] != 0:
            continue
        at, pose, column, mine = where[n, 0], where[n, 4], where[n, 5], where[n, 6]
        turn, sole = data[pose + 3 : pose + 7], form[n, 7:11]
        a, b, reach = form[n, 1], form[n, 2], form[n, 3]
        for k in range(4):
            data[at + k] = 0.0
        for c in range(whole[where[n, 3]]):
            row = where[n, 2] + c * CONTACT_COLUMNS
            for side in range(2):
                if data[row + column + side] != mine:
                    continue
                x, y, z = data[row + 7], data[row + 8], data[row + 9]
                x, y, z = rotate_back(turn, x, y, z)
                up = rotate_back(sole, x, y, z)[2]
                force = data[row + 11] * (up if side == 1 else -up)  # the normal is from a to b
                x, y, z = data[row + 4], data[row + 5], data[row + 6]
                x, y, z = rotate_back(turn, x - data[pose], y - data[pose + 1], z - data[pose + 2])
                x, y, z = rotate_back(sole, x - form[n, 4], y - form[n, 5], z - form[n, 6])
                for k in range(4):
                    along = 1.0 + (x if k < 2 else -x) / a
                    across = 1.0 + (y if k % 2 == 0 else -y) / b
                    data[at + k] += force * along * across / 4.0
        total, front, left = 0.0, 0.0, 0.0
        for k in range(4):
            force = data[at + k]
            if form[n, 0] > 0.0:
                pair = gauss(keys[n], 2 * step + k // 2)
                force += form[n, 0] * (pair[0] if k % 2 == 0 else pair[1])
            force = min(max(force, -reach), reach)
            data[at + k] = force
            total += force
            front += force if k < 2 else -force
            left += force if k % 2 == 0 else -force
        data[at + 4] = total
        data[at + 5] = a * front / total if total > 0.0 else 0.0
        data[at + 6] = b * left / total if total > 0.0 else 0.0


@kernel
def aim_rays(step, data, where, form, keys, aim):
    """Fills ``aim`` (n×7): each ray's start, direction (world axes) and noise.

    ``where``: reading, period, body's pose. ``form``: noise, start and direction in the body.
    """
    for n in range(where.shape[0]):
        a = where[n, 2]
        turn = data[a + 3 : a + 7]
        x, y, z = rotate(turn, form[n, 1], form[n, 2], form[n, 3])
        aim[n, 0], aim[n, 1], aim[n, 2] = data[a] + x, data[a + 1] + y, data[a + 2] + z
        aim[n, 3], aim[n, 4], aim[n, 5] = rotate(turn, form[n, 4], form[n, 5], form[n, 6])
        aim[n, 6] = form[n, 0] * gauss(keys[n], step)[0] if form[n, 0] > 0.0 else 0.0


@kernel
def aim_fan(pose, place, fan, start, directions):
    """Transforms a fan's start (3) and unit vectors (n×3, all in the body) to world axes."""
    x, y, z = rotate(pose[3:], place[0], place[1], place[2])
    start[0], start[1], start[2] = pose[0] + x, pose[1] + y, pose[2] + z
    for k in range(fan.shape[0]):
        x, y, z = rotate(pose[3:], fan[k, 0], fan[k, 1], fan[k, 2])
        directions[3 * k], directions[3 * k + 1], directions[3 * k + 2] = x, y, z


@kernel
def read_fan(step, key, noise, near, far, angles, distances, reading):
    """Fills a reading: nearest distance, its bearing, then each ray's distance.

    Rays without a hit within ``far`` read ``far``, hits nearer than ``near`` read 0.
    """
    count = angles.shape[0]
    nearest, bearing = far, 0.0
    a = b = 0.0
    for k in range(count):
        distance = distances[k]
        if noise > 0.0:
            if k % 2 == 0:
                a, b = gauss(key, step * ((count + 1) // 2) + k // 2)
            draw = a if k % 2 == 0 else b
        else:
            draw = 0.0
        if distance < 0.0 or distance >= far:
            distance = far
        elif distance < near:
            distance = 0.0
        else:
            distance = min(max(distance + noise * draw, 0.0), far)
        reading[2 + k] = distance
        if distance < nearest:
            nearest, bearing = distance, angles[k]
    reading[0], reading[1] = nearest, bearing
