"""Swings both legs: wanted hip angles in, three motor angles for each hip out, in closed form."""

from math import cos, pi, radians, sin

import numpy as np

from linkwork import Control
from linkwork.kinematics.agile_eye import AgileEyeGeometry

DOWN = (0, 0, -1)  # the motors' axes are inclined toward it
HIPS = {"right": AgileEyeGeometry.about(DOWN, (-1, 0, 0)),
        "left": AgileEyeGeometry.about(DOWN, (1, 0, 0))}  # fmt: skip
SWING, SIDE, YAW, KNEE = radians(28), radians(8), radians(14), radians(55)


class AgileHips(Control):
    def init(self):
        self.motors = {
            side: [self.joint(f"{side}_hip/arc{n}/drive") for n in (1, 2, 3)] for side in HIPS
        }
        self.knees = {side: self.joint(f"{side}_leg/knee") for side in HIPS}

    def loop(self):
        for side, hip in HIPS.items():
            q1, q2, q3, q4 = wanted(side, self.time)
            angles = hip.angles(turn(q1, q2, q3))
            if angles is None:
                continue  # out of its arcs' reach: the motors stop
            for motor, angle in zip(self.motors[side], angles, strict=True):
                motor.target = angle
            self.knees[side].target = q4


def wanted(side, time):
    """Angles q1 … q4 of a leg in the document's order: the legs swing alternately."""
    begin = min(time / 2, 1.0) ** 2 * (3 - 2 * min(time / 2, 1.0))
    phase = 2 * pi * time / 3 + (0.0 if side == "right" else pi)
    aside = 1.0 if side == "right" else -1.0
    knee = -0.5 * KNEE * (1 - cos(phase + 0.5))
    return (
        begin * YAW * sin(phase),
        begin * SIDE * aside * cos(phase),
        begin * SWING * sin(phase),
        begin * knee,
    )


def turn(q1, q2, q3):
    """Rz(q1) Ry(q2) Rx(q3)."""
    a, b, c, d, e, f = cos(q1), sin(q1), cos(q2), sin(q2), cos(q3), sin(q3)
    z, y = (
        np.array([(a, -b, 0), (b, a, 0), (0, 0, 1)]),
        np.array([(c, 0, d), (0, 1, 0), (-d, 0, c)]),
    )
    return z @ y @ np.array([(1, 0, 0), (0, e, -f), (0, f, e)])
