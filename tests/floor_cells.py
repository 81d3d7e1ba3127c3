"""Cells of a floor: those free of scenery, and those that a vehicle has covered."""

import math

import linkwork as lw

#: Edge of a cell [m].
CELL = 0.25

Cell = tuple[int, int]

#: Corner of the floor, the origin of the cells [m].
WEST, SOUTH = -2.0, -1.5


def stands_on(element: lw.Element, x: float, y: float) -> bool:
    """Returns whether an upright box or cylinder covers a point of the floor."""
    (shape,) = element.shapes
    w, _, _, z = element.at.quat
    turn = 2.0 * math.atan2(z, w)
    dx, dy = x - element.at.xyz[0], y - element.at.xyz[1]
    along = dx * math.cos(turn) + dy * math.sin(turn)
    across = dy * math.cos(turn) - dx * math.sin(turn)
    if isinstance(shape, lw.Cylinder):
        return math.hypot(along, across) < shape.radius
    assert isinstance(shape, lw.Box)
    return abs(along) < shape.size[0] / 2.0 and abs(across) < shape.size[1] / 2.0


def free_cells(
    scene: lw.Scene, across: tuple[float, float], along: tuple[float, float]
) -> set[Cell]:
    """Returns the cells of a floor without scenery, sampled at 100 points each."""
    things = [e for e in scene.scenery.values() if not isinstance(e.shapes[0], lw.Plane)]
    free = set()
    for i in range(round((across[1] - across[0]) / CELL)):
        for j in range(round((along[1] - along[0]) / CELL)):
            points = [
                (across[0] + (i + (a + 0.5) / 10) * CELL, along[0] + (j + (b + 0.5) / 10) * CELL)
                for a in range(10)
                for b in range(10)
            ]
            if not any(stands_on(thing, x, y) for thing in things for x, y in points):
                free.add((i, j))
    return free


def footprint(at: tuple[float, float, float], length: float, width: float) -> set[Cell]:
    """Returns cells whose center is under a rectangle at x and y with a heading [m, rad]."""
    x, y, heading = at
    reach = math.hypot(length, width) / 2.0
    found = set()
    for i in range(math.floor((x - reach - WEST) / CELL), math.ceil((x + reach - WEST) / CELL)):
        for j in range(
            math.floor((y - reach - SOUTH) / CELL), math.ceil((y + reach - SOUTH) / CELL)
        ):
            dx, dy = WEST + (i + 0.5) * CELL - x, SOUTH + (j + 0.5) * CELL - y
            ahead = dx * math.cos(heading) + dy * math.sin(heading)
            aside = dy * math.cos(heading) - dx * math.sin(heading)
            if abs(ahead) < length / 2.0 and abs(aside) < width / 2.0:
                found.add((i, j))
    return found
