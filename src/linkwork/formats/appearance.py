"""Appearance of shapes in files that draw: triangles, colors, camera poses."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.meshes import TriangleMesh
from linkwork.geometry.pose import Pose, Vec3, quat_from_axis, quat_from_matrix
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
)


def rgba(color: str) -> tuple[float, float, float, float]:
    """Returns the red, green, blue and opacity, each 0 to 1, of ``#rrggbb`` or ``#rrggbbaa``."""
    levels = [int(color[i : i + 2], 16) / 255 for i in range(1, len(color), 2)]
    red, green, blue = levels[:3]
    return (red, green, blue, levels[3] if len(levels) > 3 else 1.0)


def linear(color: str) -> tuple[float, float, float]:
    """Returns linear red, green and blue, each 0 to 1; colors of files are sRGB."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba(color)[:3]
    )
    return red, green, blue


def hex_color(values: tuple[float, ...] | list[float]) -> str:
    """Returns ``#rrggbb``, or ``#rrggbbaa`` if the opacity is not 1; values are clamped."""
    levels = [round(255 * min(max(c, 0.0), 1.0)) for c in values]
    shown = levels[:3] if len(levels) < 4 or levels[3] == 255 else levels[:4]
    return "#" + "".join(f"{level:02x}" for level in shown)


#: Rotation from z up to the y up of drawing formats.
Y_UP = Pose(quat=quat_from_axis((1.0, 0.0, 0.0), -math.pi / 2.0))


def look_at_pose(xyz: Vec3, at: Vec3) -> Pose:
    """Returns the pose at ``xyz`` whose −z points towards ``at``, with y up if possible."""
    back = np.subtract(xyz, at)
    length = float(np.linalg.norm(back))
    back = back / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return Pose.of(
        xyz, quat=quat_from_matrix(np.column_stack([right, np.cross(back, right), back]))
    )


#: Segments of a circle.
_SEGMENTS = 48
#: Faces that meet at a smaller angle share their normals [rad].
_CREASE = math.radians(30.0)


def triangles_of_shape(shape: Shape) -> TriangleMesh:
    """Returns the triangles of a shape, in the shape's own frame [m]."""
    match shape:
        case Box():
            return _box(shape.size)
        case Plane():
            x, y = shape.size[0] / 2.0, shape.size[1] / 2.0
            corners = np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], np.float64)
            return TriangleMesh(corners, np.array([(0, 1, 2), (0, 2, 3)], np.int32))
        case Cylinder():
            half = shape.length / 2.0
            return _lathe([(0.0, -half), (shape.radius, -half), (shape.radius, half), (0.0, half)])
        case Cone():
            half = shape.length / 2.0
            profile = [(0.0, -half), (shape.radius, -half), (shape.top_radius, half)]
            return _lathe([*profile, (0.0, half)] if shape.top_radius > 0.0 else profile)
        case Sphere():
            return _lathe(_arc(shape.radius, -0.5, 0.5, 0.0, 24))
        case Capsule():
            half = shape.length / 2.0
            low = _arc(shape.radius, -0.5, 0.0, -half, 12)
            return _lathe([*low, *_arc(shape.radius, 0.0, 0.5, half, 12)])
        case Ellipsoid():
            ball = _lathe(_arc(1.0, -0.5, 0.5, 0.0, 24))
            return TriangleMesh(ball.vertices * shape.radii, ball.faces)
    triangles: TriangleMesh = shape.triangles()  # type: ignore[attr-defined] - meshes and terrain
    return triangles


def is_drawn_flat(shape: Shape) -> bool:
    """Whether a shape is drawn with flat faces."""
    return isinstance(shape, Box | Plane | Mesh)


def smooth(mesh: TriangleMesh) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns corners (3m×3) [m] and their normals, rounded where faces meet at a small angle."""
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
    """Returns points (distance from the axis, height) of an arc; angles in units of π."""
    angles = [math.pi * (start + (end - start) * k / steps) for k in range(steps + 1)]
    return [(max(radius * math.cos(a), 0.0), z + radius * math.sin(a)) for a in angles]


def _lathe(profile: list[tuple[float, float]]) -> TriangleMesh:
    """Returns the surface of revolution of a profile (distance from z, height)."""
    small = 1e-9 * max(radius for radius, _ in profile)
    vertices: list[tuple[float, float, float]] = []
    rings: list[list[int]] = []
    for radius, z in profile:
        count = _SEGMENTS if radius > small else 1
        angles = [2.0 * math.pi * k / _SEGMENTS for k in range(count)]
        first = len(vertices)
        wide = radius if radius > small else 0.0
        vertices += [(wide * math.cos(a), wide * math.sin(a), z) for a in angles]
        rings.append([first + k % count for k in range(_SEGMENTS)])
    faces: list[tuple[int, int, int]] = []
    for low, high in itertools.pairwise(rings):
        for k in range(_SEGMENTS):
            after = (k + 1) % _SEGMENTS
            for face in ((low[k], low[after], high[after]), (low[k], high[after], high[k])):
                if len(set(face)) == 3:
                    faces.append(face)
    return TriangleMesh(np.array(vertices), np.array(faces, np.int32))


def _box(size: tuple[float, float, float]) -> TriangleMesh:
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return TriangleMesh(signs * np.array(size) / 2.0, np.array(faces, np.int32))
