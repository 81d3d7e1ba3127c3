"""Pulls the crawler along the floor by its arm: reach, put down, pull, lift (000, section 6).

The hand stays upright while the tip goes round a rectangle; two links bring it there.
"""

from itertools import pairwise
from math import acos, atan2, hypot, pi

from linkwork import Control

UPPER, LOWER, HAND = 0.15, 0.13, 0.06  # of the arm [m]
FLOOR = 0.13 - 0.014  # under the shoulder, where the tip's rubber lies on it [m]
PRESS, LIFT = 0.006, 0.035  # of the tip into the floor, and over it [m]
NEAR, WIDE = 0.10, 0.23  # of the tip before the shoulder [m]

#: Corners of the tip's way, with the time at which it is there [s].
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
    """Where the tip goes, before the shoulder and over the floor [m]."""
    for (t0, x0, z0), (t1, x1, z1) in pairwise(CORNERS):
        if time < t1:
            part = (time - t0) / (t1 - t0)
            return x0 + part * (x1 - x0), z0 + part * (z1 - z0)
    return CORNERS[-1][1:]


def bent(x, z):
    """Angles of shoulder, elbow and wrist that bring the tip there, the hand pointing down [rad].

    The wrist stands above the tip; both links and the way to it make a triangle.
    """
    down = FLOOR - z - HAND
    way = hypot(x, down)
    elbow = pi - acos((UPPER**2 + LOWER**2 - way**2) / (2 * UPPER * LOWER))
    shoulder = atan2(down, x) - acos((UPPER**2 + way**2 - LOWER**2) / (2 * UPPER * way))
    return shoulder, elbow, pi / 2 - shoulder - elbow
