"""Surfaces: the triangles of every kind of shape, for formats that draw."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from linkwork.meshes import TriangleMesh
from linkwork.parts import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere

#: Corners of what is round.
_TURNS = 48
#: Neighbouring faces that meet at less than this look smooth [rad].
_CREASE = math.radians(30.0)


def surface(shape: Shape) -> TriangleMesh:
    """The triangles of a shape, in the shape's own frame [m]."""
    match shape:
        case Box():
            return _box(shape.size)
        case Plane():
            x, y = shape.size[0] / 2.0, shape.size[1] / 2.0
            corners = np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], np.float64)
            return TriangleMesh(corners, np.array([(0, 1, 2), (0, 2, 3)], np.int32))
        case Cylinder():
            half = shape.length / 2.0
            return _turned([(0.0, -half), (shape.radius, -half), (shape.radius, half), (0.0, half)])
        case Cone():
            half = shape.length / 2.0
            profile = [(0.0, -half), (shape.radius, -half), (shape.top_radius, half)]
            return _turned([*profile, (0.0, half)] if shape.top_radius > 0.0 else profile)
        case Sphere():
            return _turned(_arc(shape.radius, -0.5, 0.5, 0.0, 24))
        case Capsule():
            half = shape.length / 2.0
            low = _arc(shape.radius, -0.5, 0.0, -half, 12)
            return _turned([*low, *_arc(shape.radius, 0.0, 0.5, half, 12)])
        case Ellipsoid():
            ball = _turned(_arc(1.0, -0.5, 0.5, 0.0, 24))
            return TriangleMesh(ball.vertices * shape.radii, ball.faces)
    triangles: TriangleMesh = shape.triangles()  # type: ignore[attr-defined] - meshes and terrain
    return triangles


def is_drawn_flat(shape: Shape) -> bool:
    """Whether the faces of a shape are meant as they are, edges and all."""
    return isinstance(shape, Box | Plane | Mesh)


def smooth(mesh: TriangleMesh) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Corners (3m×3) [m] and their normals, rounded where faces meet at a small angle."""
    corners = mesh.triangles
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.divide(across, length, out=np.zeros_like(across), where=length > 0.0)
    around: dict[int, list[int]] = {}
    for face, row in enumerate(mesh.faces.tolist()):
        for vertex in row:
            around.setdefault(vertex, []).append(face)
    least = math.cos(_CREASE)
    normals = np.empty_like(corners)
    for face, row in enumerate(mesh.faces.tolist()):
        for place, vertex in enumerate(row):
            near = around[vertex]
            alike = normal[near] @ normal[face] > least
            total = across[near][alike].sum(axis=0)
            size = np.linalg.norm(total)
            normals[face, place] = total / size if size > 0.0 else normal[face]
    return corners.reshape(-1, 3), normals.reshape(-1, 3)


def _arc(
    radius: float, start: float, end: float, z: float, steps: int
) -> list[tuple[float, float]]:
    """Points (distance from the axis, height) of an arc; angles in half turns from the equator."""
    angles = [math.pi * (start + (end - start) * k / steps) for k in range(steps + 1)]
    return [(max(radius * math.cos(a), 0.0), z + radius * math.sin(a)) for a in angles]


def _turned(profile: list[tuple[float, float]]) -> TriangleMesh:
    """The surface that a profile (distance from z, height), from below, makes by turning."""
    small = 1e-9 * max(radius for radius, _ in profile)
    vertices: list[tuple[float, float, float]] = []
    rings: list[list[int]] = []
    for radius, z in profile:
        count = _TURNS if radius > small else 1
        angles = [2.0 * math.pi * k / _TURNS for k in range(count)]
        first = len(vertices)
        wide = radius if radius > small else 0.0
        vertices += [(wide * math.cos(a), wide * math.sin(a), z) for a in angles]
        rings.append([first + k % count for k in range(_TURNS)])
    faces: list[tuple[int, int, int]] = []
    for low, high in itertools.pairwise(rings):
        for k in range(_TURNS):
            after = (k + 1) % _TURNS
            for face in ((low[k], low[after], high[after]), (low[k], high[after], high[k])):
                if len(set(face)) == 3:
                    faces.append(face)
    return TriangleMesh(np.array(vertices), np.array(faces, np.int32))


def _box(size: tuple[float, float, float]) -> TriangleMesh:
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return TriangleMesh(signs * np.array(size) / 2.0, np.array(faces, np.int32))
