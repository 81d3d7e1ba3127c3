"""Curves along which a point can slide: polyline, arc, spline.

Kernels take a curve as a table of segments, six rows of three numbers each: kind (0 for a cubic, 1
for an arc), the arc's angle [rad] and whether the curve is closed; then the four coefficients
r(u) = c0 + c1 u + c2 u² + c3 u³ (of an arc: center, radius towards its start, radius a quarter turn
later, zero), u from 0 to 1; last a direction that is never along the curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import PartError
from linkwork.geometry.pose import Vec3

#: Rows of a segment in the kernels' table.
PIECE_ROWS = 6
#: Maximum angle of a corner of a polyline [rad].
MAX_TURN = math.radians(170.0)
#: Default length of a rounded corner, as a share of the shorter of its two segments.
_CORNER = 0.2
#: Maximum angle of one segment of an arc [rad].
_MAX_ARC_ANGLE = math.radians(45.0)
_SAMPLES = 9


@dataclass(frozen=True)
class Polyline:
    """Straight segments between points [m], in the frame of the loop's first anchor.

    Its corners are rounded, so that the direction of a sliding point is continuous.

    Attributes:
        points: Its corners.
        closed: Whether the last point connects to the first.
        radius: Radius of the corners [m]; by default a corner takes a fifth of the shorter segment.
    """

    points: tuple[Vec3, ...]
    closed: bool = False
    radius: float | None = None

    def __post_init__(self) -> None:
        _check(self.points, 3 if self.closed else 2)
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0.0):
            raise PartError(f"the radius of a corner must be more than 0, not {self.radius:g}.")
        self.table()

    def table(self) -> np.ndarray:
        """Returns the segments as the kernels take them."""
        ring = _ring(self.points, self.closed)
        directions = np.diff(ring, axis=0)
        sizes = np.linalg.norm(directions, axis=1)
        directions = directions / sizes[:, None]
        count = len(directions)
        cuts, corners = np.zeros(count + 1), {}
        for n in range(0 if self.closed else 1, count):
            turn = math.acos(min(max(float(directions[n - 1] @ directions[n]), -1.0), 1.0))
            if turn < 1e-9:
                continue
            cuts[n] = self._cut(n, turn, min(float(sizes[n - 1]), float(sizes[n])))
            corners[n] = _corner(ring[n], directions[n - 1], directions[n], turn, float(cuts[n]))
        cuts[count] = cuts[0]
        segments: list[np.ndarray] = []
        for n in range(count):
            segments += corners.get(n, [])
            start, end = (
                ring[n] + cuts[n] * directions[n],
                ring[n + 1] - cuts[n + 1] * directions[n],
            )
            if np.linalg.norm(end - start) > 1e-12:
                segments.append(_cubic(start, end - start))
        return _table(segments, self.closed)

    def _cut(self, n: int, turn: float, side: float) -> float:
        """Returns the length that the corner takes from both segments [m]."""
        if turn > MAX_TURN:
            raise PartError(
                f"the polyline turns by {math.degrees(turn):.0f}° at point {n + 1}.",
                hint=f"At most {math.degrees(MAX_TURN):.0f}° can be rounded.",
            )
        if self.radius is None:
            return _CORNER * side
        cut = self.radius * math.tan(0.5 * turn)
        if cut > 0.5 * side:
            raise PartError(
                f"the corner at point {n + 1} has no room for a radius of {self.radius:g} m.",
                hint=f"At most {0.5 * side / math.tan(0.5 * turn):.3g} m fit there.",
            )
        return cut


@dataclass(frozen=True)
class Spline:
    """A cubic spline through points [m], twice continuously differentiable."""

    points: tuple[Vec3, ...]
    closed: bool = False

    def __post_init__(self) -> None:
        _check(self.points, 3 if self.closed else 2)
        self.table()

    def table(self) -> np.ndarray:
        """Returns the segments as the kernels take them."""
        ring = _ring(self.points, self.closed)
        steps = np.linalg.norm(np.diff(ring, axis=0), axis=1)
        bends = _bends(ring, steps, self.closed)
        segments = []
        for n, step in enumerate(steps):
            a, b, m, k = ring[n], ring[n + 1], bends[n], bends[n + 1]
            square = step * step
            direction = b - a - square * (2.0 * m + k) / 6.0
            segments.append(_cubic(a, direction, 0.5 * square * m, square * (k - m) / 6.0))
        return _table(segments, self.closed)


@dataclass(frozen=True)
class Arc:
    """Arc of a circle about z of the first anchor, from ``start`` to ``end``, measured from x.

    Attributes:
        radius: [m].
        start: [rad].
        end: [rad]; ``start`` plus 2π closes the circle.
    """

    radius: float
    start: float = 0.0
    end: float = 2.0 * math.pi

    def __post_init__(self) -> None:
        if not (math.isfinite(self.radius) and self.radius > 0.0):
            raise PartError(f"an arc needs a radius above 0, not {self.radius:g}.")
        if not 0.0 < self.end - self.start <= 2.0 * math.pi + 1e-9:
            raise PartError("an arc goes from its start up to its end, by a full circle at most.")

    @property
    def closed(self) -> bool:
        """Whether it is a full circle."""
        return self.end - self.start > 2.0 * math.pi - 1e-9

    def table(self) -> np.ndarray:
        """Returns the segment as the kernels take it."""
        angle = 2.0 * math.pi if self.closed else self.end - self.start
        c, s = self.radius * math.cos(self.start), self.radius * math.sin(self.start)
        segment = _arc(np.zeros(3), np.array([c, s, 0.0]), np.array([-s, c, 0.0]), angle)
        return _table([segment], self.closed)


Curve = Polyline | Spline | Arc


def _check(points: tuple[Vec3, ...], least: int) -> None:
    if len(points) < least:
        raise PartError(f"a curve needs {least} points at least, not {len(points)}.")
    for number, point in enumerate(points):
        if len(point) != 3 or not all(math.isfinite(c) for c in point):
            raise PartError(f"point {number + 1} of a curve must be three finite numbers.")
    for number, (a, b) in enumerate(zip(points, (*points[1:], points[0]), strict=True)):
        if math.dist(a, b) < 1e-9 and (number + 1 < len(points) or least == 3):
            raise PartError(f"point {number + 1} of a curve and the next are the same.")


def _ring(points: tuple[Vec3, ...], closed: bool) -> np.ndarray:
    ring = np.array(points, np.float64)
    return np.vstack([ring, ring[:1]]) if closed else ring


def _bends(ring: np.ndarray, steps: np.ndarray, closed: bool) -> np.ndarray:
    """Returns the second derivatives at the points, with respect to chord length."""
    count = len(ring)
    matrix, right = np.eye(count), np.zeros((count, 3))
    slopes = np.diff(ring, axis=0) / steps[:, None]
    for n in range(1, count - 1):
        matrix[n, n - 1 : n + 2] = steps[n - 1], 2.0 * (steps[n - 1] + steps[n]), steps[n]
        right[n] = 6.0 * (slopes[n] - slopes[n - 1])
    if closed:
        matrix[0, 0], matrix[0, -2], matrix[0, 1] = (
            2.0 * (steps[0] + steps[-1]),
            steps[-1],
            steps[0],
        )
        right[0] = 6.0 * (slopes[0] - slopes[-1])
        matrix[-1, 0] = -1.0
    return np.linalg.solve(matrix, right)


def _cubic(*coefficients: np.ndarray) -> np.ndarray:
    segment = np.zeros((PIECE_ROWS - 1, 3))
    segment[1 : 1 + len(coefficients)] = coefficients
    return segment


def _arc(center: np.ndarray, start: np.ndarray, side: np.ndarray, angle: float) -> np.ndarray:
    return np.array([[1.0, angle, 0.0], center, start, side, [0.0, 0.0, 0.0]])


def _corner(
    point: np.ndarray, before: np.ndarray, after: np.ndarray, turn: float, cut: float
) -> list[np.ndarray]:
    """Returns arcs that round a corner, tangent to both segments at the distance ``cut``."""
    radius = cut / math.tan(0.5 * turn)
    inward = after - before * math.cos(turn)
    inward = inward / np.linalg.norm(inward)
    center = point - cut * before + radius * inward
    count = math.ceil(turn / _MAX_ARC_ANGLE)
    made = []
    for n in range(count):
        c, s = math.cos(n * turn / count), math.sin(n * turn / count)
        start = radius * (s * before - c * inward)
        side = radius * (c * before + s * inward)
        made.append(_arc(center, start, side, turn / count))
    return made


def _table(segments: list[np.ndarray], closed: bool) -> np.ndarray:
    """Returns the segments, each with a direction that is never along it."""
    directions = np.array(
        [[_tangent(segment, u) for u in np.linspace(0, 1, _SAMPLES)] for segment in segments]
    )
    _, sizes, axes = np.linalg.svd(directions.reshape(-1, 3))
    flat = sizes[2] <= 1e-9 * sizes[0]
    side = axes[2]
    rows = []
    for number, segment in enumerate(segments):
        middle = side
        for at, direction in enumerate(directions[number]):
            if not flat:
                side = side - direction * (direction @ side)
                side = side / np.linalg.norm(side)
            if at == _SAMPLES // 2:
                middle = side
        if np.abs(directions[number] @ middle).max() > 0.9:
            raise PartError(
                f"the curve turns too far in its segment {number + 1}.",
                hint="Give more points there.",
            )
        segment[0, 2] = float(closed)
        rows += [*segment, middle]
    return np.array(rows)


def _tangent(segment: np.ndarray, u: float) -> np.ndarray:
    if segment[0, 0] == 1.0:
        angle = segment[0, 1] * u
        direction = math.cos(angle) * segment[3] - math.sin(angle) * segment[2]
    else:
        direction = segment[2] + 2.0 * u * segment[3] + 3.0 * u * u * segment[4]
    size = np.linalg.norm(direction)
    if not size > 1e-9:
        raise PartError(
            "the curve has zero speed between two of its points.", hint="Move them apart."
        )
    return direction / size
