"""Keeps the tripod's tray level: inclinometer in, six servo angles out (Rocon, section 4).

The same program drives hardware: it uses only two tilt angles and six joints.
"""

from math import acos, atan2, cos, hypot, radians, sin

from linkwork import Control

THIGH = SHIN = 0.12  # [m]
RADIUS = 0.14  # radius of the sockets [m]
HEIGHT = 2 * THIGH * cos(radians(40))  # height of the hips above the feet [m]
INTEGRAL = 16.0  # gain of the tilt's integral [1/s]
TWICE = 80.0  # gain of its second integral [1/s²]: no error at constant floor speed
STEEPEST = radians(14)  # maximum tilt of the floor that the legs can level


class Level(Control):
    def init(self):
        self.tilt = self.sensor("platform/tilt")
        self.legs = [
            (self.joint(f"leg{n}/hip"), self.joint(f"leg{n}/knee"), radians(azimuth))
            for n, azimuth in ((1, 0), (2, 120), (3, 240))
        ]
        # Integrals of the tilt about x and y [rad s], and of these [rad s²]. Calling creates them
        # if they are new: a reload, or an edit of the running scene, continues with their values.
        for name in ("x", "y", "xx", "yy"):
            self.memory(name, 0.0)

    def loop(self):
        self.memory.x += self.tilt.x * self.step
        self.memory.y += self.tilt.y * self.step
        self.memory.xx += self.memory.x * self.step
        self.memory.yy += self.memory.y * self.step
        floor_x = clip(INTEGRAL * self.memory.x + TWICE * self.memory.xx)
        floor_y = clip(INTEGRAL * self.memory.y + TWICE * self.memory.yy)
        for hip, knee, azimuth in self.legs:
            out, down = foot_below_hip(azimuth, floor_x, floor_y)
            bend = acos(min(hypot(out, down) / (THIGH + SHIN), 1.0))
            hip.target = atan2(out, down) + bend
            knee.target = -2 * bend


def clip(angle):
    return min(max(angle, -STEEPEST), STEEPEST)


def foot_below_hip(azimuth, floor_x, floor_y):
    """Horizontal and vertical distance of a foot from its hip on the tilted floor [m]."""
    x, y = RADIUS * cos(azimuth), RADIUS * sin(azimuth)
    foot_x = x * cos(floor_y)
    foot_y = y * cos(floor_x) + x * sin(floor_y) * sin(floor_x)
    floor = y * sin(floor_x) - x * sin(floor_y) * cos(floor_x)
    return foot_x * cos(azimuth) + foot_y * sin(azimuth) - RADIUS, HEIGHT - floor
