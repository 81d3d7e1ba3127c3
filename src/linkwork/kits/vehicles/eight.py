"""Drives the cart along a figure eight, again and again (000, section 6).

It knows only what a machine would: how far its rear wheels have turned. From these it reckons
where it is, and steers at a point of the curve a little ahead (pure pursuit).
"""

from math import atan2, cos, hypot, pi, sin

from linkwork import Control

RADIUS = 0.0496  # on which a wheel rolls: its tyre gives a little [m]
HALF_TRACK = 0.11  # from the middle to a wheel [m]
#: Where the wheels stand, seen from the middle of the rear axle [m].
WHEELS = {
    "front_left": (0.22, HALF_TRACK),
    "front_right": (0.22, -HALF_TRACK),
    "rear_left": (0.0, HALF_TRACK),
    "rear_right": (0.0, -HALF_TRACK),
}
REAR = -0.11  # the rear axle, seen from the middle of the cart [m]
TIGHTEST = 1 / 0.36  # curvature that the steering reaches [1/m]

LENGTH, WIDTH = 1.1, 0.85  # of each half of the eight: x = L sin u, y = W/2 sin 2u [m]
AHEAD = 0.22  # of the point that it steers at [m]
SPEED = 0.5  # [m/s]


class Eight(Control):
    def init(self):
        self.spins = {name: self.joint(f"{name}/spin") for name in WHEELS}
        self.steers = {
            "front_left": self.joint("left_steer"),
            "front_right": self.joint("right_steer"),
        }
        # Where the rear axle is, in the frame of the curve; the cart starts at its crossing.
        start = self.memory("heading", atan2(WIDTH, LENGTH))
        self.memory("x", REAR * cos(start))
        self.memory("y", REAR * sin(start))
        self.memory("left", self.spins["rear_left"].value)
        self.memory("right", self.spins["rear_right"].value)
        self.memory("u", 0.0)  # how far along the curve [rad]

    def loop(self):
        self.reckon()
        x, y, heading = self.memory.x, self.memory.y, self.memory.heading
        ahead = aside = 0.0
        while hypot(ahead, aside) < AHEAD:
            self.memory.u = (self.memory.u + 0.005) % (2 * pi)
            dx = LENGTH * sin(self.memory.u) - x
            dy = WIDTH / 2 * sin(2 * self.memory.u) - y
            ahead = dx * cos(heading) + dy * sin(heading)
            aside = dy * cos(heading) - dx * sin(heading)
        self.drive(SPEED, 2 * aside / (ahead**2 + aside**2))

    def reckon(self):
        """Where the rear axle is, from the way of its two wheels."""
        memory = self.memory
        left, right = self.spins["rear_left"].value, self.spins["rear_right"].value
        to_left, to_right = RADIUS * (left - memory.left), RADIUS * (right - memory.right)
        memory.left, memory.right = left, right
        turned = (to_right - to_left) / (2 * HALF_TRACK)
        middle = memory.heading + turned / 2
        memory.x += (to_left + to_right) / 2 * cos(middle)
        memory.y += (to_left + to_right) / 2 * sin(middle)
        memory.heading += turned

    def drive(self, speed, curvature):
        """Each wheel rolls along its own circle about one common point (Ackermann)."""
        curvature = min(max(curvature, -TIGHTEST), TIGHTEST)
        for name, (x, y) in WHEELS.items():
            ahead, aside = 1 - curvature * y, curvature * x
            self.spins[name].target_speed = speed * hypot(ahead, aside) / RADIUS
            if name in self.steers:
                self.steers[name].target = atan2(aside, ahead)
