"""Explores a room by one distance sensor, and touches nothing (000, section 6, fig. 4).

The program knows how far its rear wheels have turned, where its turret looks, and one distance.
From these it reckons where it is and draws a map: where walls are, and where it has been. Every
0.2 s it tries short arcs on the map, forward and back, and takes one that hits nothing and leads
to where it has not been.
"""

from math import atan2, cos, hypot, sin

import numpy as np

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
MIDDLE, EYE = 0.11, 0.21  # middle of the cart and its turret, seen from there [m]
HALF_LENGTH, HALF_WIDTH = 0.20, 0.15  # of the cart [m]

SWEEP = 13.0  # of the turret [rad/s]
TRUSTED = 2.5  # a ray that goes farther marks nothing [m]
SPEED, FASTER, TIGHTER = 0.5, 1.5, 8.0  # at most, and how quickly it changes [m/s, m/s², 1/m/s]
MARGIN = 0.04  # kept from cells with a wall [m]
PATIENCE = 2.5  # how long it tries to come nearer to a new cell [s]
NEARBY = 0.3  # what is so far away is then given up [m]
CURVATURES = np.linspace(-1 / 0.37, 1 / 0.37, 9)  # of the arcs [1/m]
REACH, PIECE = 0.72, 0.06  # of the arcs, and of the pieces they are looked at in [m]
NEW, GEAR, BEND = 0.05, 0.4, 0.02  # worth of a new cell; cost of turning back, of bending [m]

CELL, COLUMNS, ROWS = 0.125, 40, 26  # of the map, which has the start in its middle [m]
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
        self.arcs = [Arc(gear, bend) for gear in (1, -1) for bend in CURVATURES]
        # What must last is in the memory: a reload, or a session that goes back in time, goes on
        # with it. A row of a map is one whole number, with a bit for each cell.
        for name in [f"{map}{row}" for map in ("wall", "been") for row in range(ROWS)]:
            self.memory(name, 0)
        self.memory("x", -MIDDLE)  # where the rear axle is, and how far its wheels have turned
        self.memory("y", 0.0)
        self.memory("heading", 0.0)
        self.memory("left", self.spins["rear_left"].value)
        self.memory("right", self.spins["rear_right"].value)
        for name in ("speed", "bend", "wanted_speed", "wanted_bend"):
            self.memory(name, 0.0)
        self.memory("nearest", FAR)  # new cell so far, and since when it comes no nearer
        self.memory("since", 0.0)
        self.turret.target_speed = SWEEP
        self.every(0.2, self.choose)

    def loop(self):
        self.reckon()
        self.look()
        self.drive()

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

    def look(self):
        """Marks the cell where the ray ends, a little inside the wall."""
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
        """Takes the cheapest arc; slower where little of it is free."""
        place = self.memory.x, self.memory.y, self.memory.heading
        walls, before = self.read("wall"), self.read("been")
        been = before | around(place)
        close = widened(walls)
        new = ~been & ~close
        way = way_to(new, np.where(walls, FAR, np.where(close, 4 * CELL, CELL)))
        here = float(at(way, moved(place, np.array([MIDDLE, 0.0])), FAR))
        if here < self.memory.nearest - CELL / 2 or (been & ~before & ~close).any():
            self.memory.nearest, self.memory.since = here, self.time
        elif self.time - self.memory.since > PATIENCE:  # what is new and near is out of reach
            been |= around(place, NEARBY)
            self.memory.nearest, self.memory.since = FAR, self.time
        if here >= FAR:
            self.say("It has been wherever it can go, and begins again.")
            been[:] = False
        self.write("been", been)
        found = []
        for arc in self.arcs:
            hits = at(walls, moved(place, arc.outline), True).sum(axis=1)
            free = int((hits > 0).argmax()) if hits.any() else len(hits)
            if free < 3:  # only where there is no other, and then the one that leads out of it
                found.append((FAR * (1 + hits[:6].sum()), arc, 0.0))
                continue
            cost = at(way, moved(place, arc.middle[free - 1]), FAR) + BEND * abs(arc.bend)
            cost -= NEW * np.count_nonzero(new & touched(moved(place, arc.body[:free])))
            found.append(
                (cost + GEAR * (arc.gear * self.memory.wanted_speed < 0), arc, free * PIECE)
            )
        _, arc, free = min(found, key=lambda each: each[0])
        self.memory.wanted_speed = arc.gear * min(SPEED, 0.1 + free)
        self.memory.wanted_bend = arc.bend

    def drive(self):
        """Goes over to the wanted arc gently, so that no wheel slips and the reckoning is true.

        Each wheel rolls along its own circle about one common point (Ackermann).
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


class Arc:
    """A way along a circle, in pieces, seen from the rear axle where it begins.

    Attributes:
        gear: 1 forward, -1 back.
        bend: Its curvature [1/m].
        outline: Points of the cart's edge with some margin, after each piece (pieces×n×2) [m].
        body: Points all over the cart, after each piece (pieces×n×2) [m].
        middle: Where the cart's middle is after each piece (pieces×2) [m].
    """

    def __init__(self, gear, bend):
        self.gear, self.bend = gear, float(bend)
        long, wide = HALF_LENGTH + MARGIN, HALF_WIDTH + MARGIN
        xs, ys = np.meshgrid(np.linspace(-long, long, 7), np.linspace(-wide, wide, 5))
        edge = (np.abs(xs) == long) | (np.abs(ys) == wide)
        places = [after(gear * PIECE * (n + 1), self.bend) for n in range(round(REACH / PIECE))]
        outline = np.stack([xs[edge] + MIDDLE, ys[edge]], axis=1)
        body = np.stack([xs[~edge] + MIDDLE, ys[~edge]], axis=1)
        self.outline = np.array([moved(place, outline) for place in places])
        self.body = np.array([moved(place, body) for place in places])
        self.middle = np.array([moved(place, np.array([MIDDLE, 0.0])) for place in places])


def towards(wanted, value, most):
    """The value, brought nearer to the wanted one by at most so much."""
    return value + min(max(wanted - value, -most), most)


def after(way, bend):
    """Place and heading after a way along a circle, from the origin along x [m, rad]."""
    turned = way * bend
    if abs(turned) < 1e-9:
        return way, 0.0, 0.0
    return sin(turned) / bend, (1 - cos(turned)) / bend, turned


def moved(place, points):
    """Points, given from a place with a heading, in the frame that the place is given in [m]."""
    x, y, heading = place
    c, s = cos(heading), sin(heading)
    return points @ np.array([[c, s], [-s, c]]) + (x, y)


def indices(points):
    """Row and column of the cells that points are in, and which points are on the map."""
    rows = (points[..., 1] // CELL).astype(int) + ROWS // 2
    columns = (points[..., 0] // CELL).astype(int) + COLUMNS // 2
    inside = (rows >= 0) & (rows < ROWS) & (columns >= 0) & (columns < COLUMNS)
    return rows.clip(0, ROWS - 1), columns.clip(0, COLUMNS - 1), inside


def at(cells, points, outside):
    """What the cells say where points are; ``outside`` beyond the map."""
    rows, columns, inside = indices(points)
    return np.where(inside, cells[rows, columns], outside)


def touched(points):
    """The cells that points are in."""
    cells = np.zeros((ROWS, COLUMNS), bool)
    rows, columns, inside = indices(points)
    cells[rows[inside], columns[inside]] = True
    return cells


def around(place, beside=0.0):
    """The cells whose middle is under the cart, or at most so far beside it [m]."""
    x, y, heading = place
    dx = (BITS + 0.5 - COLUMNS // 2) * CELL - x
    dy = (np.arange(ROWS)[:, None] + 0.5 - ROWS // 2) * CELL - y
    ahead = dx * cos(heading) + dy * sin(heading) - MIDDLE
    aside = dy * cos(heading) - dx * sin(heading)
    return (np.abs(ahead) < HALF_LENGTH + beside) & (np.abs(aside) < HALF_WIDTH + beside)


def widened(cells):
    """The cells and their eight neighbours."""
    wide = cells.copy()
    wide[1:] |= cells[:-1]
    wide[:-1] |= cells[1:]
    tall = wide.copy()
    wide[:, 1:] |= tall[:, :-1]
    wide[:, :-1] |= tall[:, 1:]
    return wide


def way_to(goals, price):
    """How far each cell is from the nearest goal, where entering a cell has a price [m]."""
    way = np.full((ROWS + 2, COLUMNS + 2), FAR)
    inner = way[1:-1, 1:-1]
    inner[goals] = 0.0
    while True:
        nearest = np.minimum(
            np.minimum(way[:-2, 1:-1], way[2:, 1:-1]), np.minimum(way[1:-1, :-2], way[1:-1, 2:])
        )
        closer = np.minimum(inner, nearest + price)
        if np.array_equal(closer, inner):
            return inner
        inner[:] = closer
