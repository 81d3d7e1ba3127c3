"""Geometry of X3D and VRML97: boxes, balls, cylinders and cones, and faces for the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from linkwork.formats.colors import rgba
from linkwork.formats.flat import unique
from linkwork.formats.surface import surface
from linkwork.formats.x3d.graph import GraphNode
from linkwork.parts import Box, Cone, Cylinder, Plane, Shape, Sphere
from linkwork.spatial.pose import IDENTITY, Pose, quat_from_axis

#: Their cylinders and cones stand along y, ours along z.
ALONG_Z = Pose(quat=quat_from_axis((1.0, 0.0, 0.0), math.pi / 2.0))
_CREASE = 0.6


@dataclass
class Forms:
    """The faces that are in the file already, so that equal shapes share them.

    Attributes:
        taken: Names of all nodes.
        named: Names of faces, by what they draw.
    """

    taken: set[str]
    named: dict[str, str] = field(default_factory=dict)


def shape_node(shape: Shape, color: str, forms: Forms) -> tuple[GraphNode, Pose]:
    """The Shape that draws a shape in a colour, and the turn it needs to stand right."""
    form, turn = _form(shape, forms)
    *levels, opacity = rgba(color)
    fields: dict[str, object] = {"diffuseColor": tuple(levels)}
    if opacity < 1.0:
        fields["transparency"] = 1.0 - opacity
    look = GraphNode("Appearance", nodes={"material": GraphNode("Material", fields=fields)})
    return GraphNode("Shape", nodes={"appearance": look, "geometry": form}), turn


def _form(shape: Shape, forms: Forms) -> tuple[GraphNode, Pose]:
    match shape:
        case Box():
            return GraphNode("Box", fields={"size": shape.size}), IDENTITY
        case Sphere():
            return GraphNode("Sphere", fields={"radius": shape.radius}), IDENTITY
        case Cylinder():
            sizes = {"radius": shape.radius, "height": shape.length}
            return GraphNode("Cylinder", fields=sizes), ALONG_Z
        case Cone() if shape.top_radius == 0.0:
            sizes = {"bottomRadius": shape.radius, "height": shape.length}
            return GraphNode("Cone", fields=sizes), ALONG_Z
    bare = replace(shape, at=IDENTITY, color="", visible=True, collide=True, mujoco={})
    if used := forms.named.get(repr(bare)):
        return GraphNode("IndexedFaceSet", use=used), IDENTITY
    name = forms.named[repr(bare)] = unique(f"{shape.kind}_faces", forms.taken)
    mesh = surface(shape)
    points = [tuple(row) for row in mesh.vertices.tolist()]
    fields = {
        "coordIndex": [(*row, -1) for row in mesh.faces.tolist()],
        "creaseAngle": _CREASE,
        "solid": not isinstance(shape, Plane) and mesh.is_watertight,
    }
    place = GraphNode("Coordinate", fields={"point": points})
    return GraphNode("IndexedFaceSet", name, fields=fields, nodes={"coord": place}), IDENTITY
