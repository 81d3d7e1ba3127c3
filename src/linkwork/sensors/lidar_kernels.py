"""Compiled fans of rays: where they point, and what is read of the distances."""

from __future__ import annotations

from linkwork.jit import kernel
from linkwork.sensors.kernels import gauss
from linkwork.spatial.kernels import rotate


@kernel
def aim_fan(pose, place, fan, start, directions):
    """Brings a fan's start (3) and unit vectors (n×3, all in the body) into world axes."""
    x, y, z = rotate(pose[3:], place[0], place[1], place[2])
    start[0], start[1], start[2] = pose[0] + x, pose[1] + y, pose[2] + z
    for k in range(fan.shape[0]):
        x, y, z = rotate(pose[3:], fan[k, 0], fan[k, 1], fan[k, 2])
        directions[3 * k], directions[3 * k + 1], directions[3 * k + 2] = x, y, z


@kernel
def read_fan(step, key, noise, near, far, angles, distances, reading):
    """Fills a reading: nearest distance, its bearing, then each ray's distance.

    What is not hit within ``far`` reads ``far``, what is nearer than ``near`` reads 0.
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
