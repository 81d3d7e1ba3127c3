"""Pulls the crawler along the floor by its arm: reach, put down, pull, lift (Visum, section 6).

The hand stays vertical while the tip moves along a rectangle, positioned by two links.
"""

from itertools import pairwise
from math import acos, atan2, hypot, pi

from linkwork import Control

UPPER, LOWER, HAND = 0.15, 0.13, 0.06  # lengths of the arm's links [m]
FLOOR = 0.13 - 0.014  # below the shoulder, with the tip's rubber on it [m]
PRESS, LIFT = 0.006, 0.035  # depth of the tip in the floor, height above it [m]
NEAR, WIDE = 0.10, 0.23  # distances of the tip in front of the shoulder [m]

#: Corners of the tip's path, with their times [s].
CORNERS = [
    (0.0, WIDE, LIFT),
    (0.3, WIDE, -PRESS),
    (1.3, NEAR, -PRESS),
    (1.6, NEAR, LIFT),
    (2.0, WIDE, LIFT),
]


class Crawl(Control):
    def init(self):
        self.arm = [self.joint(name) for name in ("shoulder", "elbow", "wrist")]

    def loop(self):
        for joint, angle in zip(self.arm, bent(*tip(self.time % CORNERS[-1][0])), strict=True):
            joint.target = angle


def tip(time):
    """Position of the tip, in front of the shoulder and above the floor [m]."""
    for (t0, x0, z0), (t1, x1, z1) in pairwise(CORNERS):
        if time < t1:
            part = (time - t0) / (t1 - t0)
            return x0 + part * (x1 - x0), z0 + part * (z1 - z0)
    return CORNERS[-1][1:]


def bent(x, z):
    """Angles of shoulder, elbow and wrist for a position of the tip, the hand pointing down [rad].

    The wrist is above the tip; both links and the line to it form a triangle.
    """
    down = FLOOR - z - HAND
    distance = hypot(x, down)
    elbow = pi - acos((UPPER**2 + LOWER**2 - distance**2) / (2 * UPPER * LOWER))
    shoulder = atan2(down, x) - acos((UPPER**2 + distance**2 - LOWER**2) / (2 * UPPER * distance))
    return shoulder, elbow, pi / 2 - shoulder - elbow
