"""Moves the hexapod's platform: wanted pose in, six leg lengths out, in closed form."""

from math import cos, pi, radians, sin

import numpy as np

from linkwork import Control

HEIGHT = 0.30  # height of the upper joints above the feet, at rest [m]
FEET, JOINTS, HALF = 0.22, 0.14, radians(14)  # radii [m], half of each pair's distance
WAYS = (  # x, y, z [m] and roll, pitch, yaw [rad]: amplitude, frequency [Hz]
    (0.04, 0.25), (0.04, 0.20), (0.02, 0.50), (0.15, 0.30), (0.15, 0.35), (0.25, 0.15),
)  # fmt: skip


def corners(radius, middle):
    """Six points on a circle, in pairs."""
    pairs = [2 * pi * n / 3 + side * middle for n in range(3) for side in (-1, 1)]
    return np.array([(radius * cos(a), radius * sin(a), 0.0) for a in pairs])


FOOT, JOINT = corners(FEET, HALF), corners(JOINTS, pi / 3 - HALF)


class Hexapod(Control):
    def init(self):
        self.legs = [self.joint(f"leg{n}/stroke") for n in range(1, 7)]
        self.rest = lengths((0, 0, 0), np.eye(3))

    def loop(self):
        place, turn = wanted(self.time)
        for leg, length, rest in zip(self.legs, lengths(place, turn), self.rest, strict=True):
            leg.target = length - rest


def wanted(time):
    """Position and rotation of the platform, from rest, each coordinate at its own frequency."""
    begin = min(time / 4, 1.0) ** 2 * (3 - 2 * min(time / 4, 1.0))
    x, y, z, roll, pitch, yaw = (begin * a * sin(2 * pi * f * time) for a, f in WAYS)
    (cr, sr), (cp, sp), (cy, sy) = ((cos(a), sin(a)) for a in (roll, pitch, yaw))
    about_x = np.array([(1, 0, 0), (0, cr, -sr), (0, sr, cr)])
    about_y = np.array([(cp, 0, sp), (0, 1, 0), (-sp, 0, cp)])
    about_z = np.array([(cy, -sy, 0), (sy, cy, 0), (0, 0, 1)])
    return (x, y, z), about_z @ about_y @ about_x


def lengths(place, turn):
    """Length of each leg: |p + R b - a| [m]."""
    tops = np.array(place) + (0, 0, HEIGHT) + JOINT @ turn.T
    return np.linalg.norm(tops - FOOT, axis=1)
