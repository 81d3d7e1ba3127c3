"""Geometry: SDF's visuals and collisions become shapes."""

from __future__ import annotations

from dataclasses import replace

from linkwork.errors import FormatError, LinkworkError, listing
from linkwork.formats.colors import hex_color
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.values import needed, number, numbers, vector
from linkwork.formats.xml_tree import Node
from linkwork.parts import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from linkwork.spatial.pose import Pose, quat_between

SHAPE_TAGS = {"pose", "geometry", "material", "surface", "transparency", "frame", "laser_retro"}
GEOMETRIES = ("box", "capsule", "cone", "cylinder", "ellipsoid", "mesh", "plane", "sphere")


def read_shape(node: Node, at: Pose, reading: Reading) -> Shape | None:
    """The shape of a visual or collision at ``at``; None where it is left out with a note.

    Raises:
        LinkworkError: If there is no geometry, or a size is missing or not a number.
    """
    geometry = node.first("geometry")
    if geometry is None:
        raise FormatError(f"<{node.tag}> needs a <geometry>.", origin=node.origin)
    reading.unread_but(node, SHAPE_TAGS)
    known = [child for child in geometry.children if child.tag in GEOMETRIES]
    if not known:
        found = listing(child.tag for child in geometry.children)
        if geometry.first("empty") is None:
            reading.notes.about(
                f"geometry of kind {found}, not read, in line", f"{node.origin.line}"
            )
        return None
    try:
        shape = _geometry(known[0], reading)
    except LinkworkError as error:
        raise error.at(known[0].origin) from None
    if shape is None:
        return None
    shape = replace(shape, at=at @ shape.at)
    if node.tag == "visual":
        shape = replace(shape, color=_color(node, reading))
    return shape


def _geometry(node: Node, reading: Reading) -> Shape | None:
    if node.tag == "mesh":
        return _mesh(node, reading)
    match node.tag:
        case "box":
            sizes = vector(node, "size", (1.0, 1.0, 1.0))
        case "ellipsoid":
            sizes = vector(node, "radii", (1.0, 1.0, 1.0))
        case "sphere":
            sizes = (number(node, "radius", 1.0),)
        case "plane":
            child = node.first("size")
            sizes = numbers(child, 2) if child is not None else (1.0, 1.0)
        case "cone":
            sizes = (number(node, "radius", 0.5), number(node, "length", 1.0))
        case _:
            sizes = (number(node, "radius", 0.5), number(node, "length", 1.0))
    if 0.0 in sizes:
        reading.notes.about("shapes of size 0, left out, in line", f"{node.origin.line}")
        return None
    match node.tag, sizes:
        case "box", (x, y, z):
            return Box((x, y, z))
        case "ellipsoid", (x, y, z):
            return Ellipsoid((x, y, z))
        case "sphere", (radius,):
            return Sphere(radius)
        case "plane", (x, y):
            up = vector(node, "normal", (0.0, 0.0, 1.0))
            return Plane((abs(x), abs(y)), at=Pose(quat=quat_between((0.0, 0.0, 1.0), up)))
        case "cone", (radius, length):
            return Cone(radius, length)
        case "cylinder", (radius, length):
            return Cylinder(radius, length)
        case "capsule", (radius, length):
            return Capsule(radius, length)
    return None


def _mesh(node: Node, reading: Reading) -> Mesh | None:
    reference = needed(node, "uri")
    scale = vector(node, "scale", (1.0, 1.0, 1.0))
    reading.unread_but(node, {"uri", "scale"})
    file, _ = reading.locator.find(reference)
    if file is None:
        reading.miss(node, f"mesh {reference!r}")
        return None
    return Mesh(str(file), scale)


def _color(visual: Node, reading: Reading) -> str:
    """The diffuse colour of a visual, else its ambient one, with its transparency."""
    material = visual.first("material")
    if material is None:
        return ""
    reading.unread_but(material, {"diffuse", "ambient", "specular", "emissive", "lighting"})
    node = material.first("diffuse") or material.first("ambient")
    if node is None:
        return ""
    count = 3 if len(node.text.split()) == 3 else 4
    levels = [*numbers(node, count), 1.0][:4]
    clear = number(visual, "transparency", 0.0)
    levels[3] *= 1.0 - min(max(clear, 0.0), 1.0)
    return hex_color(levels)
