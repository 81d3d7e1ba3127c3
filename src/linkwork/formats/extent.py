"""Extents: the boxes around shapes and whole parts, along the axes of a frame."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.errors import PartError
from linkwork.formats import posture
from linkwork.formats.flat import flatten
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Part,
    Plane,
    Shape,
    Sphere,
    Terrain,
)


def shape_extent(shape: Shape, at: Pose = IDENTITY) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns the lowest and highest coordinates [m] of a shape whose element is at ``at``.

    None for a plane, which is infinite.

    Raises:
        PartError: If the shape is of an unknown kind.
    """
    pose = at @ shape.at
    turn, middle = pose.matrix(), np.array(pose.xyz)
    match shape:
        case Plane():
            return None
        case Mesh() | Terrain():
            points = shape.triangles().vertices
            if isinstance(shape, Terrain):  # down to its underside
                under = points.copy()
                under[:, 2] = points[:, 2].min() - shape.depth
                points = np.vstack([points, under])
            points = points @ turn.T + middle
            return points.min(axis=0), points.max(axis=0)
        case Box():
            half = np.abs(turn) @ np.array(shape.size) / 2.0
        case Sphere():
            half = np.full(3, shape.radius)
        case Ellipsoid():
            half = np.linalg.norm(turn * np.array(shape.radii), axis=1)
        case Capsule():
            half = np.abs(turn[:, 2]) * shape.length / 2.0 + shape.radius
        case Cylinder():
            half = np.abs(turn[:, 2]) * shape.length / 2.0 + _round(turn, shape.radius)
        case Cone():
            up = turn[:, 2] * shape.length / 2.0
            low, top = _round(turn, shape.radius), _round(turn, shape.top_radius)
            ends = np.stack([-up - low, -up + low, up - top, up + top])
            return middle + ends.min(axis=0), middle + ends.max(axis=0)
        case _:
            raise PartError(f"the extent of shapes of kind {shape.kind!r} is not known.")
    return middle - half, middle + half


def _round(turn: np.ndarray, radius: float) -> np.ndarray:
    """Returns the half extents of a disc about z: r·√(1 − z²) along each axis."""
    return radius * np.sqrt(np.maximum(1.0 - turn[:, 2] ** 2, 0.0))


def zero_element_poses(part: Part) -> dict[str, Pose]:
    """Returns the pose of each element, by full name, in the frame of the root, all joints at 0."""
    flat = flatten(part)
    poses = posture.element_poses(flat, posture.zero_values(flat))
    root = poses[flat.links[0].name].inverse()
    return {link.name: root @ poses[link.name] for link in flat.links}


def part_extent(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Returns the lowest and highest coordinates [m] of a part, all joints at 0.

    Without shapes both are the origin.
    """
    poses = zero_element_poses(part)
    low, high = np.full(3, math.inf), np.full(3, -math.inf)
    for link in flatten(part).links:
        for shape in link.element.shapes if link.element is not None else ():
            found = shape_extent(shape, poses[link.name])
            if found is not None:
                low, high = np.minimum(low, found[0]), np.maximum(high, found[1])
    if not np.isfinite(low).all():
        return np.zeros(3), np.zeros(3)
    return low, high
