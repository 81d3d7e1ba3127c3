"""Explores a room by one distance sensor, without touching anything (Visum, section 6, fig. 4).

The program uses the rotation of its rear wheels, the angle of its turret, and one distance. From
these it computes its position and draws a map: walls, and visited cells. Every 0.2 s it tests short
arcs on the map, forward and back, and chooses one that hits nothing and leads to unvisited cells.
"""

from math import atan2, cos, hypot, sin

import numpy as np

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
MIDDLE, EYE = 0.11, 0.21  # center of the cart and its turret, relative to it [m]
HALF_LENGTH, HALF_WIDTH = 0.20, 0.15  # half size of the cart [m]

SWEEP = 13.0  # speed of the turret [rad/s]
TRUSTED = 2.5  # longer rays are ignored [m]
SPEED, FASTER, TIGHTER = 0.5, 1.5, 8.0  # speed limit, rates of speed and bend [m/s, m/s², 1/m/s]
MARGIN = 0.04  # distance kept from wall cells [m]
PATIENCE = 2.5  # timeout for approaching a new cell [s]
NEARBY = 0.3  # radius in which cells are then given up [m]
CURVATURES = np.linspace(-1 / 0.37, 1 / 0.37, 9)  # curvatures of the arcs [1/m]
REACH, PIECE = 0.72, 0.06  # length of the arcs, and of their segments [m]
NEW, GEAR, BEND = 0.05, 0.4, 0.02  # value of a new cell; cost of reversing, of bending [m]

CELL, COLUMNS, ROWS = 0.125, 40, 26  # size of the map, centered at the start [m]
BITS = np.arange(COLUMNS)
FAR = 1e3


class Explore(Control):
    def init(self):
        self.spins = {name: self.joint(f"{name}/spin") for name in WHEELS}
        self.steers = {
            "front_left": self.joint("left_steer"),
            "front_right": self.joint("right_steer"),
        }
        self.turret, self.ray = self.joint("eye/turn"), self.sensor("eye/ray")
        self.arcs = [PathArc(gear, bend) for gear in (1, -1) for bend in CURVATURES]
        # Persistent data is in the memory: a reload, or a session that goes back in time, continues
        # with it. A row of a map is one integer, with a bit for each cell.
        for name in [f"{map}{row}" for map in ("wall", "been") for row in range(ROWS)]:
            self.memory(name, 0)
        self.memory("x", -MIDDLE)  # position of the rear axle, and rotation of its wheels
        self.memory("y", 0.0)
        self.memory("heading", 0.0)
        self.memory("left", self.spins["rear_left"].value)
        self.memory("right", self.spins["rear_right"].value)
        for name in ("speed", "bend", "wanted_speed", "wanted_bend"):
            self.memory(name, 0.0)
        self.memory("nearest", FAR)  # distance of a new cell, and since when it has not decreased
        self.memory("since", 0.0)
        self.turret.target_speed = SWEEP
        self.every(0.2, self.choose)

    def loop(self):
        self.reckon()
        self.look()
        self.drive()

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

    def look(self):
        """Marks the cell at the end of the ray, a little inside the wall."""
        distance = self.ray.distance
        if distance < TRUSTED:
            heading, bearing = self.memory.heading, self.memory.heading + self.turret.value
            x = self.memory.x + EYE * cos(heading) + (distance + 0.02) * cos(bearing)
            y = self.memory.y + EYE * sin(heading) + (distance + 0.02) * sin(bearing)
            column, row = int(x // CELL) + COLUMNS // 2, int(y // CELL) + ROWS // 2
            if 0 <= column < COLUMNS and 0 <= row < ROWS:
                name = f"wall{row}"
                setattr(self.memory, name, int(getattr(self.memory, name)) | 1 << column)

    def choose(self):
        """Chooses the cheapest arc; slower if little of it is free."""
        place = self.memory.x, self.memory.y, self.memory.heading
        walls, before = self.read("wall"), self.read("been")
        been = before | around(place)
        close = widened(walls)
        new = ~been & ~close
        distances = distances_to(new, np.where(walls, FAR, np.where(close, 4 * CELL, CELL)))
        here = float(at(distances, moved(place, np.array([MIDDLE, 0.0])), FAR))
        if here < self.memory.nearest - CELL / 2 or (been & ~before & ~close).any():
            self.memory.nearest, self.memory.since = here, self.time
        elif self.time - self.memory.since > PATIENCE:  # the new cells nearby are out of reach
            been |= around(place, NEARBY)
            self.memory.nearest, self.memory.since = FAR, self.time
        if here >= FAR:
            self.log("It has been wherever it can go, and begins again.")
            been[:] = False
        self.write("been", been)
        found = []
        for arc in self.arcs:
            hits = at(walls, moved(place, arc.outline), True).sum(axis=1)
            free = int((hits > 0).argmax()) if hits.any() else len(hits)
            if free < 3:  # only if there is no other, and then the one that leads out of it
                found.append((FAR * (1 + hits[:6].sum()), arc, 0.0))
                continue
            cost = at(distances, moved(place, arc.middle[free - 1]), FAR) + BEND * abs(arc.bend)
            cost -= NEW * np.count_nonzero(new & touched(moved(place, arc.body[:free])))
            found.append(
                (cost + GEAR * (arc.gear * self.memory.wanted_speed < 0), arc, free * PIECE)
            )
        _, arc, free = min(found, key=lambda each: each[0])
        self.memory.wanted_speed = arc.gear * min(SPEED, 0.1 + free)
        self.memory.wanted_bend = arc.bend

    def drive(self):
        """Blends into the wanted arc, so that no wheel slips and the odometry is accurate.

        Each wheel rolls along its own circle about one common center (Ackermann).
        """
        memory = self.memory
        speed = memory.speed = towards(memory.wanted_speed, memory.speed, FASTER * self.step)
        bend = memory.bend = towards(memory.wanted_bend, memory.bend, TIGHTER * self.step)
        for name, (x, y) in WHEELS.items():
            ahead, aside = 1 - bend * y, bend * x
            self.spins[name].target_speed = speed * hypot(ahead, aside) / RADIUS
            if name in self.steers:
                self.steers[name].target = atan2(aside, ahead)

    def read(self, map):
        rows = [int(getattr(self.memory, f"{map}{row}")) for row in range(ROWS)]
        return (np.array(rows)[:, None] >> BITS & 1).astype(bool)

    def write(self, map, cells):
        for row, number in enumerate((cells.astype(np.int64) << BITS).sum(axis=1)):
            setattr(self.memory, f"{map}{row}", number)


class PathArc:
    """A path along a circle, in segments, relative to the rear axle where it begins.

    Attributes:
        gear: 1 forward, -1 back.
        bend: Its curvature [1/m].
        outline: Points of the cart's edge with some margin, after each segment (segments×n×2) [m].
        body: Points all over the cart, after each segment (segments×n×2) [m].
        middle: The cart's center after each segment (segments×2) [m].
    """

    def __init__(self, gear, bend):
        self.gear, self.bend = gear, float(bend)
        long, wide = HALF_LENGTH + MARGIN, HALF_WIDTH + MARGIN
        xs, ys = np.meshgrid(np.linspace(-long, long, 7), np.linspace(-wide, wide, 5))
        edge = (np.abs(xs) == long) | (np.abs(ys) == wide)
        stops = [after(gear * PIECE * (n + 1), self.bend) for n in range(round(REACH / PIECE))]
        outline = np.stack([xs[edge] + MIDDLE, ys[edge]], axis=1)
        body = np.stack([xs[~edge] + MIDDLE, ys[~edge]], axis=1)
        self.outline = np.array([moved(place, outline) for place in stops])
        self.body = np.array([moved(place, body) for place in stops])
        self.middle = np.array([moved(place, np.array([MIDDLE, 0.0])) for place in stops])


def towards(wanted, value, most):
    """The value, moved toward the wanted one by at most ``most``."""
    return value + min(max(wanted - value, -most), most)


def after(length, bend):
    """Position and heading after a distance along a circle, from the origin along x [m, rad]."""
    turned = length * bend
    if abs(turned) < 1e-9:
        return length, 0.0, 0.0
    return sin(turned) / bend, (1 - cos(turned)) / bend, turned


def moved(place, points):
    """Points, given in the frame of a position with a heading, in the outer frame [m]."""
    x, y, heading = place
    c, s = cos(heading), sin(heading)
    return points @ np.array([[c, s], [-s, c]]) + (x, y)


def indices(points):
    """Row and column of the points' cells, and which points are on the map."""
    rows = (points[..., 1] // CELL).astype(int) + ROWS // 2
    columns = (points[..., 0] // CELL).astype(int) + COLUMNS // 2
    inside = (rows >= 0) & (rows < ROWS) & (columns >= 0) & (columns < COLUMNS)
    return rows.clip(0, ROWS - 1), columns.clip(0, COLUMNS - 1), inside


def at(cells, points, outside):
    """The values of the points' cells; ``outside`` beyond the map."""
    rows, columns, inside = indices(points)
    return np.where(inside, cells[rows, columns], outside)


def touched(points):
    """The points' cells."""
    cells = np.zeros((ROWS, COLUMNS), bool)
    rows, columns, inside = indices(points)
    cells[rows[inside], columns[inside]] = True
    return cells


def around(place, beside=0.0):
    """The cells whose center is under the cart, or at most ``beside`` next to it [m]."""
    x, y, heading = place
    dx = (BITS + 0.5 - COLUMNS // 2) * CELL - x
    dy = (np.arange(ROWS)[:, None] + 0.5 - ROWS // 2) * CELL - y
    ahead = dx * cos(heading) + dy * sin(heading) - MIDDLE
    aside = dy * cos(heading) - dx * sin(heading)
    return (np.abs(ahead) < HALF_LENGTH + beside) & (np.abs(aside) < HALF_WIDTH + beside)


def widened(cells):
    """The cells and their eight neighbors."""
    wide = cells.copy()
    wide[1:] |= cells[:-1]
    wide[:-1] |= cells[1:]
    tall = wide.copy()
    wide[:, 1:] |= tall[:, :-1]
    wide[:, :-1] |= tall[:, 1:]
    return wide


def distances_to(goals, price):
    """Distance of each cell from the nearest goal, with a cost for entering a cell [m]."""
    distances = np.full((ROWS + 2, COLUMNS + 2), FAR)
    inner = distances[1:-1, 1:-1]
    inner[goals] = 0.0
    while True:
        nearest = np.minimum(
            np.minimum(distances[:-2, 1:-1], distances[2:, 1:-1]),
            np.minimum(distances[1:-1, :-2], distances[1:-1, 2:]),
        )
        closer = np.minimum(inner, nearest + price)
        if np.array_equal(closer, inner):
            return inner
        inner[:] = closer
