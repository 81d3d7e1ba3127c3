"""Every shape by the word a file uses for it."""

from __future__ import annotations

from linkwork.parts.shape import (
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
from linkwork.parts.terrain import Terrain

#: Every shape by the word a file uses for it.
SHAPES: dict[str, type[Shape]] = {
    cls.kind: cls for cls in (Box, Cylinder, Cone, Sphere, Ellipsoid, Capsule, Plane, Terrain, Mesh)
}
