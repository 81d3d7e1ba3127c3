"""SDF links: inertial, visuals, collisions, contact surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.core.errors import LinkworkError, listing
from linkwork.formats.appearance import hex_color
from linkwork.formats.robots.gazebo import WEIGHTLESS, is_false, note_weightless
from linkwork.formats.robots.links import MASSLESS, link_inertia, pair_shapes
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.model import ModelLink
from linkwork.formats.robots.sdf.surface import read_surface
from linkwork.formats.robots.sdf.values import number, numbers, required_child, vector
from linkwork.formats.robots.xml import XmlNode
from linkwork.geometry.inertia import Inertia, combine
from linkwork.geometry.pose import Pose, quat_between
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
)

SHAPE_TAGS = {
    "pose", "geometry", "material", "surface", "transparency", "frame", "laser_retro", "density",
}  # fmt: skip
GEOMETRIES = ("box", "capsule", "cone", "cylinder", "ellipsoid", "mesh", "plane", "sphere")


def read_shape(node: XmlNode, at: Pose, reading: SdfReadContext) -> Shape | None:
    """Returns the shape of a visual or collision at ``at``; None if it is left out with a note.

    Raises:
        LinkworkError: If there is no geometry, or a size is missing or not a number.
    """
    geometry = node.first("geometry")
    if geometry is None:
        reading.notes.about(
            f"<{node.tag}> without <geometry>, left out, in line", reading.line(node)
        )
        return None
    reading.unread_but(node, SHAPE_TAGS)
    known = [child for child in geometry.children if child.tag in GEOMETRIES]
    if not known:
        found = listing(child.tag for child in geometry.children)
        if geometry.first("empty") is None:
            kind = "motion" if node.tag == "collision" else ""
            what = f"{node.tag} geometry of kind {found}, not read, in line"
            reading.notes.about(what, reading.line(node), kind=kind)
        return None
    try:
        shape = _geometry(known[0], node.tag, reading)
    except LinkworkError as error:
        raise error.at(known[0].origin) from None
    if shape is None:
        return None
    shape = replace(shape, at=at @ shape.at)
    if node.tag == "visual":
        shape = replace(shape, color=_color(node, reading))
    return shape


def _geometry(node: XmlNode, role: str, reading: SdfReadContext) -> Shape | None:
    if node.tag == "mesh":
        return _mesh(node, role, reading)
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
        case _:
            sizes = (number(node, "radius", 0.5), number(node, "length", 1.0))
    if 0.0 in sizes:
        reading.notes.about("shapes of size 0, left out, in line", reading.line(node))
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


def _mesh(node: XmlNode, role: str, reading: SdfReadContext) -> Mesh | None:
    reference = required_child(node, "uri")
    scale = vector(node, "scale", (1.0, 1.0, 1.0))
    reading.unread_but(node, {"uri", "scale"})
    file, tried = reading.locator.find(reference)
    if file is None:
        reading.missing.add(f"{role} mesh", reference, node.origin, reading.locator, tried)
        return None
    return Mesh(str(file), scale)


def _color(visual: XmlNode, reading: SdfReadContext) -> str:
    """Returns the diffuse color of a visual, else its ambient one, with its transparency."""
    material = visual.first("material")
    if material is None:
        return ""
    reading.unread_but(material, {"diffuse", "ambient", "specular", "emissive", "lighting"})
    node = material.first("diffuse") or material.first("ambient")
    if node is None:
        return ""
    count = 3 if len(node.text.split()) == 3 else 4
    levels = [*numbers(node, count), 1.0][:4]
    transparency = number(visual, "transparency", 0.0)
    levels[3] *= 1.0 - min(max(transparency, 0.0), 1.0)
    return hex_color(levels)


#: Children of a link that are read; others are noted.
LINK_TAGS = {"pose", "inertial", "visual", "collision", "frame", "gravity", "self_collide"}
#: Density for inertias that are computed, if the file gives none [kg/m³].
DEFAULT_DENSITY = 1000.0


def read_link(link: ModelLink, name: str, reading: SdfReadContext) -> Element:
    """Returns the element of ``link``, under the name ``name``.

    Raises:
        LinkworkError: If a value is missing or not a number.
    """
    node = link.node
    reading.unread_but(node, LINK_TAGS)
    collisions = _shapes(link, "collision", reading)
    visuals = [shape for _, shape in _shapes(link, "visual", reading)]
    shapes = pair_shapes(visuals, [shape for _, shape in collisions])
    friction, restitution = read_surface(node, name, reading)
    weightless = is_false(node.first("gravity"))
    if weightless and not link.static:
        note_weightless(name, reading.notes)
    try:
        return Element(
            name,
            shapes,
            inertia=_inertial(link, collisions, name, reading),
            friction=friction,
            restitution=restitution,
            mujoco=dict(WEIGHTLESS) if weightless else {},
            origin=node.origin,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _shapes(link: ModelLink, tag: str, reading: SdfReadContext) -> list[tuple[XmlNode, Shape]]:
    """Returns the visuals or collisions of a link, with their nodes."""
    found = [(node, read_shape(node, link.inside(node), reading)) for node in link.node.all(tag)]
    return [(node, shape) for node, shape in found if shape is not None]


def _inertial(
    link: ModelLink,
    collisions: list[tuple[XmlNode, Shape]],
    name: str,
    reading: SdfReadContext,
) -> Inertia:
    """Returns the mass properties in the link's frame; SDF's default mass is 1 kg."""
    node = link.node.first("inertial")
    if node is None and link.static:
        return MASSLESS
    if node is None:
        reading.notes.about("links without <inertial>, given SDF's 1 kg and 1 kg m²", name)
        return Inertia.of(1.0, matrix=np.eye(3))
    reading.unread_but(node, {"mass", "inertia", "pose", "density", "frame"})
    if node.attributes.get("auto", "").strip().lower() in ("true", "1"):
        return _automatic_inertia(node, collisions, name, reading)
    mass = number(node, "mass", 1.0)
    given = node.first("inertia")
    matrix = np.eye(3)
    if given is not None:
        xx, yy, zz = (number(given, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number(given, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return link_inertia(mass, matrix, link.inside(node), name, node.origin, reading.notes)


def _automatic_inertia(
    inertial: XmlNode,
    collisions: list[tuple[XmlNode, Shape]],
    name: str,
    reading: SdfReadContext,
) -> Inertia:
    """Returns the mass properties of the collisions, each of its density; scaled to ``<mass>``."""
    usual = number(inertial, "density", DEFAULT_DENSITY)
    bodies = []
    for node, shape in collisions:
        if volume := 0.0 if isinstance(shape, Plane) else shape.volume():
            mass = max(number(node, "density", usual), 0.0) * volume
            bodies.append(shape.inertia(mass).moved(shape.at))
    found = combine(bodies)
    if found.mass <= 0.0:
        what = "inertias to be computed of links without collisions, given 1 kg and 1 kg m²"
        reading.notes.about(what, name)
        return Inertia.of(1.0, matrix=np.eye(3))
    if (mass := number(inertial, "mass", 0.0)) > 0.0:
        return Inertia(mass, found.com, found.matrix * (mass / found.mass))
    return found
