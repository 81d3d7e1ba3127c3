"""A part alone, placed on a ground plane, so that it can run without a scene."""

from __future__ import annotations

import math

import numpy as np

from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Ellipsoid,
    Mesh,
    Part,
    Plane,
    Shape,
    Sphere,
)
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene

GROUND = "ground"


def part_on_ground(part: Part, *, free: bool = False) -> Scene:
    """A scene with one part on a ground plane.

    A fixed part is lifted if it would penetrate the ground; a free one is placed on its lowest
    point.

    Args:
        part: The part.
        free: Whether it is free instead of fixed.
    """
    lowest = _lowest_point(part)
    height = -lowest if free else max(0.0, -lowest)
    name = part.name if part.name != GROUND else f"{GROUND}_part"
    scene = Scene(part.name, title=part.title)
    scene.add(Element(GROUND, (Plane(size=(10.0, 10.0)),), color="#dfe3e8"))
    base = "free" if free else "fixed"
    return scene.place(
        part, name=name, at=Pose.of((0.0, 0.0, height)), base=base, origin=part.origin
    )


def _lowest_point(part: Part) -> float:
    """Height of the lowest point of all colliding shapes, with the root at 0 [m]; 0 if none."""
    world = compile_scene(Scene(part.name).place(part, name="part"))
    poses = forward(world, world.q0)
    found = [
        _lowest(piece.shape, _pose(poses[piece.body]) @ piece.pose)
        for piece in world.shapes
        if piece.shape.collide
    ]
    return min((z for z in found if math.isfinite(z)), default=0.0)


def _pose(row: np.ndarray) -> Pose:
    x, y, z, *quat = (float(c) for c in row)
    return Pose.of((x, y, z), quat=tuple(quat))


def _lowest(shape: Shape, pose: Pose) -> float:
    """Height of a shape's lowest point [m]; its own pose is in ``pose`` already."""
    up = np.array([pose.rotate(axis)[2] for axis in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))])
    along, across = abs(float(up[2])), math.hypot(up[0], up[1])
    middle = pose.xyz[2]
    match shape:
        case Box():
            return middle - float(np.abs(up) @ shape.size) / 2.0
        case Sphere():
            return middle - shape.radius
        case Ellipsoid():
            return middle - float(np.linalg.norm(up * shape.radii))
        case Capsule():
            return middle - shape.radius - along * shape.length / 2.0
        case Cylinder():
            return middle - along * shape.length / 2.0 - across * shape.radius
        case Cone():
            half = float(up[2]) * shape.length / 2.0
            base, top = -half - across * shape.radius, half - across * shape.top_radius
            return middle + min(base, top)
        case Mesh():
            return middle + float((shape.triangles().vertices @ up).min())
        case _:
            return math.inf
