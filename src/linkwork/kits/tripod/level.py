"""Keeps the tripod's tray level: inclinometer in, six servo angles out (001, section 4).

The same program drives hardware: it knows two tilt angles and six joints, nothing else.
"""

import math

from linkwork import Control

THIGH = SHIN = 0.12  # [m]
RADIUS = 0.14  # of the sockets [m]
HEIGHT = 2 * THIGH * math.cos(math.radians(40))  # of the tray above the feet [m]
PROPORTIONAL = 0.4
INTEGRAL = 45.0  # [1/s]
REACH = (0.13, 0.232)  # shortest and longest leg [m]


class Level(Control):
    def init(self):
        self.tilt = self.sensor("platform/tilt")
        self.legs = [
            (self.joint(f"leg{n}/hip"), self.joint(f"leg{n}/knee"), math.radians(azimuth))
            for n, azimuth in ((1, 0), (2, 120), (3, 240))
        ]
        self.memory.x = 0.0  # integrated tilt about x and y [rad s]
        self.memory.y = 0.0

    def loop(self):
        x, y = self.tilt.x, self.tilt.y
        self.memory.x += x * self.step
        self.memory.y += y * self.step
        about_x = PROPORTIONAL * x + INTEGRAL * self.memory.x
        about_y = PROPORTIONAL * y + INTEGRAL * self.memory.y
        for hip, knee, azimuth in self.legs:
            # A tray turned by +x stands too high where y > 0: that leg becomes shorter.
            raised = RADIUS * (math.sin(azimuth) * about_x - math.cos(azimuth) * about_y)
            length = min(max(HEIGHT - raised, REACH[0]), REACH[1])
            bend = math.acos(length / (THIGH + SHIN))
            hip.target = bend
            knee.target = -2 * bend
