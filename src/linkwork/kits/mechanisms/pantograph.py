"""Moves the pantograph's stylus along a heart; the copy draws it three times as large."""

from math import acos, atan2, cos, hypot, pi, sin

from linkwork import Control

BAR = 0.12  # from the pivot to the inner joint, and from there to the stylus [m]
MIDDLE = 0.165  # center of the heart, in front of the pivot [m]
ROUND = 8.0  # period [s]


class Pantograph(Control):
    def loop(self):
        x, y = heart(2 * pi * self.time / ROUND)
        first, second = angles(MIDDLE + x, y)
        self.joint("pivot").target = first
        self.joint("inner").target = second - first


def heart(turn):
    """A point of the outline [m]."""
    across = 16 * sin(turn) ** 3
    up = 13 * cos(turn) - 5 * cos(2 * turn) - 2 * cos(3 * turn) - cos(4 * turn) + 2
    return 0.032 * up / 17, -0.032 * across / 17


def angles(x, y):
    """Directions of the two bars for a point [rad]: an isosceles triangle."""
    bend = acos(hypot(x, y) / (2 * BAR))
    ahead = atan2(y, x)
    return ahead + bend, ahead - bend
