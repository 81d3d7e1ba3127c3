"""Convex hulls by quickhull with exact visibility tests (Barber, Dobkin, Huhdanpaa 1996)."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from linkwork.core.errors import MeshError

_GRID = 1 << 30
"""Maximum number of steps of the hull's integer grid, along the longest side."""

_TOLERANCE = 1e-7 * _GRID
"""Points nearer than this to a facet [grid steps] count as inside: just above float32 noise."""

_MAX_CACHED = 512
"""Maximum number of hulls that are kept: an edited scene has the same meshes as before."""

Point = tuple[int, int, int]

_cache: OrderedDict[bytes, tuple[NDArray[np.int64], NDArray[np.int32]]] = OrderedDict()
_cache_lock = threading.Lock()


@dataclass(slots=True)
class _Facet:
    """A triangle of the growing hull with its outward plane in whole numbers.

    ``across[i]`` is the facet beyond the edge from corner i to corner i+1; ``outside`` lists the
    points above this facet and ``heights`` their distances from it [grid steps].
    """

    corners: tuple[int, int, int]
    normal: Point
    offset: int
    across: list[_Facet | None] = field(default_factory=lambda: [None, None, None])
    outside: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    heights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    alive: bool = True

    def sees(self, point: Point) -> bool:
        """Whether the point lies strictly above the plane; exact in integer arithmetic."""
        n = self.normal
        return n[0] * point[0] + n[1] * point[1] + n[2] * point[2] > self.offset


def convex_hull(
    vertices: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Returns the convex hull of points, as vertices (a subset of the points) and outward faces.

    Points are put on a grid of 2²⁹ to 2³⁰ steps; its step is a power of two, so that single
    precision coordinates stay exact. A point enters the hull only if it is more than 1e-7 to
    2e-7 of the size outside; which facets it sees is then computed in integers, so that rounding
    never opens the surface, however many points are coplanar. Hulls of recent points are kept.

    Raises:
        MeshError: The points lie in a plane, on a line or at one point.
    """
    key = hashlib.blake2b(np.ascontiguousarray(vertices).tobytes(), digest_size=16).digest()
    with _cache_lock:
        known = _cache.get(key)
    if known is None:
        known = _hull_indices(vertices)
    with _cache_lock:
        _cache[key] = known
        _cache.move_to_end(key)
        while len(_cache) > _MAX_CACHED:
            _cache.popitem(last=False)
    used, faces = known
    return vertices[used], faces.copy()


def _hull_indices(
    vertices: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Returns the indices of the hull's vertices, and its faces."""
    low = vertices.min(axis=0)
    size = float((vertices.max(axis=0) - low).max())
    if size == 0:
        raise MeshError("the mesh is a single point and has no hull.")
    grid = np.rint((vertices - low) * 2.0 ** np.floor(np.log2(_GRID / size)))
    points: list[Point] = [(x, y, z) for x, y, z in grid.astype(np.int64).tolist()]
    facets = _add_points(grid, points, _first_facets(grid, points))
    corners = np.array([facet.corners for facet in facets])
    used, faces = np.unique(corners, return_inverse=True)
    return used, faces.reshape(-1, 3).astype(np.int32)


def _first_facets(grid: NDArray[np.float64], points: list[Point]) -> list[_Facet]:
    """Returns a large tetrahedron among the points."""
    extremes = np.concatenate([grid.argmin(axis=0), grid.argmax(axis=0)])
    spread = np.linalg.norm(grid[extremes, None] - grid[None, extremes], axis=2)
    i, j = np.unravel_index(int(spread.argmax()), spread.shape)
    a, b = int(extremes[i]), int(extremes[j])
    along = (grid[b] - grid[a]) / np.linalg.norm(grid[b] - grid[a])
    away = np.linalg.norm(np.cross(grid - grid[a], along), axis=1)
    c = int(away.argmax())
    normal = np.cross(along, grid[c] - grid[a])
    length = np.linalg.norm(normal)
    heights = (grid - grid[a]) @ (normal / length) if length > _TOLERANCE else np.zeros(len(grid))
    d = int(np.abs(heights).argmax())
    if abs(heights[d]) <= _TOLERANCE:
        raise MeshError(
            "the mesh is flat and has no volume.",
            hint="Use a box or a mesh with some thickness.",
        )
    if heights[d] > 0:
        b, c = c, b
    facets = [_facet(points, corners) for corners in ((a, b, c), (a, d, b), (b, d, c), (c, d, a))]
    edges: dict[tuple[int, int], tuple[_Facet, int]] = {}
    for facet in facets:
        for side, edge in enumerate(_edges(facet)):
            edges[edge] = (facet, side)
    for (start, end), (facet, side) in edges.items():
        facet.across[side] = edges[end, start][0]
    _assign_points(grid, np.arange(len(grid)), facets)
    return facets


def _add_points(
    grid: NDArray[np.float64], points: list[Point], facets: list[_Facet]
) -> list[_Facet]:
    """Adds the furthest outside point of some facet until no point is outside."""
    pending = [facet for facet in facets if len(facet.outside)]
    everything = list(facets)
    while pending:
        facet = pending.pop()
        if not facet.alive or not len(facet.outside):
            continue
        apex = int(facet.outside[facet.heights.argmax()])
        seen, horizon = _horizon(facet, points[apex])
        cone = _cone(points, apex, horizon)
        _assign_points(grid, np.concatenate([old.outside for old in seen]), cone)
        everything.extend(cone)
        pending.extend(new for new in cone if len(new.outside))
    return [facet for facet in everything if facet.alive]


def _horizon(
    start: _Facet, point: Point
) -> tuple[list[_Facet], list[tuple[int, int, _Facet, int]]]:
    """Returns the facets that a point sees, now removed, and the edges around them.

    Each edge is (start corner, end corner, facet beyond, side of that facet).
    """
    start.alive = False
    seen = [start]
    horizon = []
    for facet in seen:
        for edge, other in zip(_edges(facet), facet.across, strict=True):
            assert other is not None
            if not other.alive:
                continue
            if other.sees(point):
                other.alive = False
                seen.append(other)
            else:
                horizon.append((*edge, other, _edges(other).index((edge[1], edge[0]))))
    return seen, horizon


def _cone(
    points: list[Point], apex: int, horizon: list[tuple[int, int, _Facet, int]]
) -> list[_Facet]:
    """Returns new facets from the apex to the horizon, linked to each other and their neighbors."""
    starting: dict[int, _Facet] = {}
    for start, end, beyond, side in horizon:
        facet = _facet(points, (start, end, apex))
        facet.across[0] = beyond
        beyond.across[side] = facet
        starting[start] = facet
    for facet in starting.values():
        following = starting[facet.corners[1]]
        facet.across[1] = following
        following.across[2] = facet
    return list(starting.values())


def _assign_points(
    grid: NDArray[np.float64], indices: NDArray[np.int64], facets: list[_Facet]
) -> None:
    """Assigns each point to the facet that it is furthest above, if any."""
    if not len(indices):
        return
    normals = np.array([facet.normal for facet in facets], dtype=np.float64)
    lengths = np.linalg.norm(normals, axis=1)
    anchors = grid[[facet.corners[0] for facet in facets]]
    normals /= lengths[:, None]
    best = np.full(len(indices), _TOLERANCE)
    owner = np.full(len(indices), -1)
    candidates = grid[indices]
    for number, (normal, anchor) in enumerate(zip(normals, anchors, strict=True)):
        heights = (candidates - anchor) @ normal
        higher = heights > best
        best[higher] = heights[higher]
        owner[higher] = number
    for number, facet in enumerate(facets):
        mine = owner == number
        if mine.any():
            facet.outside = indices[mine]
            facet.heights = best[mine]


def _facet(points: list[Point], corners: tuple[int, int, int]) -> _Facet:
    a, b, c = (points[corner] for corner in corners)
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    normal = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
    offset = normal[0] * a[0] + normal[1] * a[1] + normal[2] * a[2]
    return _Facet(corners, normal, offset)


def _edges(facet: _Facet) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    a, b, c = facet.corners
    return (a, b), (b, c), (c, a)
