"""Moves the delta robot back and forth between two trays: position in, three angles out."""

from math import acos, atan2, cos, hypot, pi, sin

from linkwork import Control

BASE, TOOL = 0.11, 0.045  # distance of levers and rods from the center [m]
LEVER, ROD = 0.16, 0.34  # lengths [m]
HIGH, LOW, REACH = -0.30, -0.42, 0.11  # platform, below and beside the levers' axes [m]
ROUND = 3.0  # period [s]


class Delta(Control):
    def init(self):
        self.arms = [self.joint(f"arm{n}/drive") for n in (1, 2, 3)]

    def loop(self):
        for arm, angle in zip(self.arms, angles(*path(self.time)), strict=True):
            arm.target = angle


def path(time):
    """Wanted position of the platform [m]: from rest, then above and into the trays."""
    begin = min(time / 2, 1.0) ** 2 * (3 - 2 * min(time / 2, 1.0))
    phase = 2 * pi * time / ROUND
    x = begin * REACH * smooth(sin(phase))
    down = begin * (HIGH - LOW) * abs(sin(phase)) ** 6
    return x, begin * 0.03 * sin(2 * phase), HIGH - down


def smooth(share):
    """Slow at both ends."""
    return share * (15 - 10 * share**2 + 3 * share**4) / 8


def angles(x, y, z):
    """Angle of each lever below the horizontal [rad].

    In an arm's plane its rod closes (u - l cos a)² + (z + l sin a)² = rod² - v², with u and v the
    platform's joint along and across the arm, relative to the lever's axis.
    """
    found = []
    for n in range(3):
        azimuth = 2 * pi * n / 3
        u = x * cos(azimuth) + y * sin(azimuth) + TOOL - BASE
        v = y * cos(azimuth) - x * sin(azimuth)
        far = u * u + z * z
        bend = acos((far + v * v + LEVER**2 - ROD**2) / (2 * LEVER * hypot(u, z)))
        found.append(atan2(-z, u) - bend)
    return found
