"""Cuts polygons, strips and fans into triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MAX_CLIPPED = 256
"""Polygons with more corners than this are cut as a fan even if they are concave."""


def triangulate(
    vertices: NDArray[np.float64], corners: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the triangles of polygons: a fan for convex ones, ear clipping for concave ones.

    Quadrilaterals are cut along their shorter diagonal, as MuJoCo's reader does.

    Args:
        vertices: n×3 positions.
        corners: Vertex numbers of all polygons, one polygon after the other; must be valid.
        counts: Number of corners of each polygon; those with fewer than three are dropped.

    Returns:
        Vertex numbers, m×3.
    """
    starts = np.cumsum(counts) - counts
    triangulated = []
    for count in np.unique(counts[counts >= 3]):
        first = starts[counts == count]
        polygons = corners[first[:, None] + np.arange(count)]
        if count > 3:
            concave = ~_is_convex(vertices[polygons])
            if count <= _MAX_CLIPPED:
                for polygon in polygons[concave]:
                    triangulated.append(_clip_ears(vertices, polygon))
                polygons = polygons[~concave]
        if count == 4:
            triangulated.append(_cut_quads(vertices, polygons))
            continue
        fan = np.stack(
            [
                np.broadcast_to(polygons[:, :1], (len(polygons), count - 2)),
                polygons[:, 1:-1],
                polygons[:, 2:],
            ],
            axis=2,
        )
        triangulated.append(fan.reshape(-1, 3))
    return np.concatenate(triangulated) if triangulated else np.empty((0, 3), dtype=np.int64)


def _cut_quads(vertices: NDArray[np.float64], quads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns two triangles for each convex quadrilateral (n×4), in its order."""
    a, b, c, d = (vertices[quads[:, k]] for k in range(4))
    first = ((c - a) ** 2).sum(axis=1) < ((d - b) ** 2).sum(axis=1)
    one = np.where(first[:, None], quads[:, [0, 1, 2]], quads[:, [0, 1, 3]])
    other = np.where(first[:, None], quads[:, [0, 2, 3]], quads[:, [1, 2, 3]])
    return np.stack([one, other], axis=1).reshape(-1, 3)


def strip_faces(corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the triangles of a strip; every second one is reversed for a uniform orientation."""
    if len(corners) < 3:
        return np.empty((0, 3), dtype=np.int64)
    faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    faces[1::2] = faces[1::2, ::-1]
    return faces


def fan_faces(corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the triangles of a fan around its first corner."""
    if len(corners) < 3:
        return np.empty((0, 3), dtype=np.int64)
    first = np.full(len(corners) - 2, corners[0])
    return np.stack([first, corners[1:-1], corners[2:]], axis=1)


def _is_convex(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether each polygon of a k×n×3 stack is convex."""
    onward = np.roll(points, -1, axis=1) - points
    turns = np.cross(np.roll(onward, 1, axis=1), onward)
    normal = turns.sum(axis=1, keepdims=True)
    along = (turns * normal).sum(axis=2)
    limit = 1e-9 * np.abs(along).max(axis=1, keepdims=True)
    return (along >= -limit).all(axis=1)


def _clip_ears(vertices: NDArray[np.float64], polygon: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cuts off convex corners whose triangle holds no other corner, seen along the normal."""
    points = vertices[polygon] - vertices[polygon[0]]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    drop = int(np.abs(normal).argmax())
    keep = [(1, 2), (2, 0), (0, 1)][drop]
    sign = 1.0 if normal[drop] >= 0 else -1.0
    flat = [(sign * x, y) for x, y in points[:, keep].tolist()]
    left = list(range(len(polygon)))
    triangles = []
    while len(left) > 3:
        for place in range(len(left)):
            ear = left[place - 1], left[place], left[(place + 1) % len(left)]
            if _is_ear(flat, ear, left):
                break
        else:
            place = 0  # crossing edges: no ear exists, any corner ends the search
            ear = left[-1], left[0], left[1]
        triangles.append(ear)
        del left[place]
    triangles.append(tuple(left))
    return polygon[np.array(triangles)]


def _is_ear(flat: list[tuple[float, float]], ear: tuple[int, int, int], left: list[int]) -> bool:
    a, b, c = (flat[corner] for corner in ear)
    if _orientation(a, b, c) <= 0:
        return False
    for corner in left:
        point = flat[corner]
        if corner in ear or point in (a, b, c):
            continue
        if (
            _orientation(a, b, point) >= 0
            and _orientation(b, c, point) >= 0
            and _orientation(c, a, point) >= 0
        ):
            return False
    return True


def _orientation(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the signed area of a triangle in the plane."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
