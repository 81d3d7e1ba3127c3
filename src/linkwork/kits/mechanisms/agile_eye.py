"""Turns the Agile Eye: a wanted gaze in, three motor angles out, in closed form."""

from math import atan2, cos, pi, sin, sqrt

import numpy as np

from linkwork import Control

UP = np.array([1, 1, 1]) / sqrt(3)  # in the axes of the three motors
CIRCLE, TWIST = 0.45, 0.4  # amplitudes of gaze and roll [rad]


class GazeProgram(Control):
    def init(self):
        self.motors = [self.joint(f"leg{n}/drive") for n in (1, 2, 3)]

    def loop(self):
        for motor, angle in zip(self.motors, angles(gaze(self.time)), strict=True):
            motor.target = angle


def gaze(time):
    """The gaze in the axes of the motors: it circles and rolls."""
    begin = min(time / 2, 1.0) ** 2 * (3 - 2 * min(time / 2, 1.0))
    phase = 2 * pi * time / 5
    aside = np.cross(UP, (1.0, 0.0, 0.0))
    aside /= np.linalg.norm(aside)
    axis = cos(phase) * aside + sin(phase) * np.cross(UP, aside)
    return about(axis, begin * CIRCLE) @ about(UP, begin * TWIST * sin(phase / 2))


def about(axis, angle):
    """Rotation about an axis (Rodrigues)."""
    x, y, z = axis
    across = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    return np.eye(3) + sin(angle) * across + (1 - cos(angle)) * across @ across


def angles(turn):
    """Each middle axis v is perpendicular to its motor's axis and to the eye's pin w.

    Leg 1 turns about x and has v = (0, -sin a, cos a) and w = R y: tan a = w_z / w_y. The others
    follow in the order x, y, z.
    """
    found = []
    for n in range(3):
        y, z = (n + 1) % 3, (n + 2) % 3
        pin = turn[:, y]
        found.append(atan2(pin[z], pin[y]))
    return found
