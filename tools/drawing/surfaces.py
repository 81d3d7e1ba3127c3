"""Surfaces: the shapes of a world, what rays hit of them and which way they face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco as compiled_mujoco
import numpy as np

from drawing.view import unit
from linkwork.engines.common.geoms import add_shape
from linkwork.geometry import Pose
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
    Terrain,
)
from linkwork.model.world import World

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module


@dataclass
class Model:
    """The shapes of a world as geoms, at given poses.

    Attributes:
        mj, data: The MuJoCo model and its data.
        shapes: Shape, position, rotation matrix and color (linear) by geom.
    """

    mj: Any
    data: Any
    shapes: list[tuple[Shape, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    @classmethod
    def of(cls, worlds: Sequence[tuple[World, np.ndarray]]) -> Model:
        """Shapes that are drawn, of one or more worlds with their poses (nb×7)."""
        spec = mujoco.MjSpec()
        shapes = []
        for world, pose in worlds:
            for piece in world.shapes:
                if not piece.shape.visible or isinstance(piece.shape, Plane):
                    continue
                row = pose[piece.body].tolist()
                at = Pose.of(row[:3], quat=row[3:]) @ piece.pose
                name = f"shape{len(shapes)}"
                add_shape(spec, spec.worldbody, piece, name, pose=at, moving=False, exact=True)
                color = linear(piece.shape.color or piece.color)
                shapes.append((piece.shape, np.array(at.xyz), at.matrix(), color))
        mj = spec.compile()
        data = mujoco.MjData(mj)
        mujoco.mj_kinematics(mj, data)
        return cls(mj, data, shapes)

    def cast(self, start: np.ndarray, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which geom each ray from ``start`` hits, −1 for none, and how many ray lengths away."""
        count = len(rays)
        geom, distance = np.zeros(count, np.int32), np.zeros(count)
        flat = np.ascontiguousarray(rays, np.float64).ravel()
        mujoco.mj_multiRay(
            self.mj, self.data, start, flat, None, True, -1, geom, distance, None, count, 1e6
        )
        return geom, distance

    def normals(self, geom: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Outward directions at points on the shapes; edges are rounded as if they were broken."""
        made = np.zeros_like(points)
        for number in np.unique(geom):
            shape, at, turn, _ = self.shapes[number]
            here = geom == number
            made[here] = _normal(shape, (points[here] - at) @ turn) @ turn.T
        return made


def _normal(shape: Shape, p: np.ndarray) -> np.ndarray:
    match shape:
        case Sphere():
            return unit(p)
        case Ellipsoid():
            return unit(p / np.square(shape.radii))
        case Terrain():
            return np.tile((0.0, 0.0, 1.0), (len(p), 1))
        case Capsule():
            axis = np.zeros_like(p)
            axis[:, 2] = np.clip(p[:, 2], -shape.length / 2.0, shape.length / 2.0)
            return unit(p - axis)
        case Box():
            half = np.array(shape.size) / 2.0
            inner = half - min(0.004, 0.25 * half.min())
            return unit(p - np.clip(p, -inner, inner))
        case Cylinder() | Cone():
            bottom = shape.radius
            top = shape.top_radius if isinstance(shape, Cone) else bottom
            return _turned_normal(p, bottom, top, shape.length)
        case Mesh():
            return _face_normal(p, shape.triangles().triangles)
    return unit(p)


def _face_normal(p: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Of the face (n×3×3) that each point lies on, or is nearest to."""
    nearest, made = np.full(len(p), np.inf), np.zeros_like(p)
    for a, b, c in faces:
        normal = np.cross(b - a, c - a)
        if not normal.any():
            continue
        normal = unit(normal)
        off = np.abs((p - a) @ normal)
        for start, end in ((a, b), (b, c), (c, a)):
            out = (p - start) @ unit(np.cross(end - start, normal))
            off = np.maximum(off, out)
        closer = off < nearest
        nearest[closer], made[closer] = off[closer], normal
    return made


def _turned_normal(p: np.ndarray, bottom: float, top: float, length: float) -> np.ndarray:
    """Of a cylinder or cone along z, with broken edges."""
    radius = np.hypot(p[:, 0], p[:, 1])
    here = (bottom + top) / 2.0 + (top - bottom) * p[:, 2] / length
    edge = min(0.003, 0.2 * min(max(bottom, top), length))
    out = np.clip(radius - (here - edge), 0.0, None)
    up = p[:, 2] - np.clip(p[:, 2], edge - length / 2.0, length / 2.0 - edge)
    slope = (bottom - top) / length * out
    around = p[:, :2] / np.maximum(radius, 1e-12)[:, None]
    return unit(np.column_stack([around * out[:, None], up + slope]))


def linear(color: str) -> np.ndarray:
    """``#rrggbb`` as amounts of light, 0 to 1."""
    parts = np.array([int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
