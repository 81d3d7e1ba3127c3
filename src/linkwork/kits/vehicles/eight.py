"""Drives the cart along a figure eight, repeatedly (Visum, section 6).

It uses only odometry, the rotation of its rear wheels. From these it computes its position, and
steers toward a point of the curve ahead (pure pursuit).
"""

from math import atan2, cos, hypot, pi, sin

from linkwork import Control

RADIUS = 0.0496  # rolling radius of a wheel with a compressed tire [m]
HALF_TRACK = 0.11  # from the center line to a wheel [m]
#: Positions of the wheels, relative to the center of the rear axle [m].
WHEELS = {
    "front_left": (0.22, HALF_TRACK),
    "front_right": (0.22, -HALF_TRACK),
    "rear_left": (0.0, HALF_TRACK),
    "rear_right": (0.0, -HALF_TRACK),
}
REAR = -0.11  # the rear axle, relative to the center of the cart [m]
TIGHTEST = 1 / 0.36  # maximum curvature of the steering [1/m]

LENGTH, WIDTH = 1.1, 0.85  # size of the eight: x = L sin u, y = W/2 sin 2u [m]
AHEAD = 0.22  # distance of the point that it steers toward [m]
SPEED = 0.5  # [m/s]


class Eight(Control):
    def init(self):
        self.spins = {name: self.joint(f"{name}/spin") for name in WHEELS}
        self.steers = {
            "front_left": self.joint("left_steer"),
            "front_right": self.joint("right_steer"),
        }
        # Position of the rear axle, in the frame of the curve; the cart starts at its crossing.
        start = self.memory("heading", atan2(WIDTH, LENGTH))
        self.memory("x", REAR * cos(start))
        self.memory("y", REAR * sin(start))
        self.memory("left", self.spins["rear_left"].value)
        self.memory("right", self.spins["rear_right"].value)
        self.memory("u", 0.0)  # curve parameter [rad]

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
        """Position of the rear axle, from the distances of its two wheels (odometry)."""
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
        """Each wheel rolls along its own circle about one common center (Ackermann)."""
        curvature = min(max(curvature, -TIGHTEST), TIGHTEST)
        for name, (x, y) in WHEELS.items():
            ahead, aside = 1 - curvature * y, curvature * x
            self.spins[name].target_speed = speed * hypot(ahead, aside) / RADIUS
            if name in self.steers:
                self.steers[name].target = atan2(aside, ahead)
