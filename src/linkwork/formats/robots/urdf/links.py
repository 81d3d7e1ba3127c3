"""URDF links: inertial, visuals, collisions, contact surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.core.errors import FormatError, LinkworkError, MeshNotFound, listing
from linkwork.formats.robots.links import MASSLESS, clamp_surface, link_inertia, pair_shapes
from linkwork.formats.robots.urdf.context import UrdfReadContext, material_of, origin_pose
from linkwork.formats.robots.xml import (
    XmlNode,
    number_attribute,
    required_attribute,
    vector_attribute,
)
from linkwork.geometry.inertia import Inertia
from linkwork.model.parts import Box, Capsule, Cylinder, Element, Mesh, Shape, Sphere


def read_inertial(link: XmlNode, name: str, reading: UrdfReadContext) -> Inertia:
    """Returns the mass properties in the link's frame; zero for a link without ``<inertial>``.

    Raises:
        FormatError: If numbers are missing or the mass is negative.
    """
    node = link.first("inertial")
    if node is None:
        return MASSLESS
    mass_node, matrix_node = node.first("mass"), node.first("inertia")
    if mass_node is None or matrix_node is None:
        missing = "mass" if mass_node is None else "inertia"
        raise FormatError(
            f"the <inertial> of link {name!r} has no <{missing}>.",
            origin=node.origin,
            hint="It needs <mass value=…/> and <inertia ixx=… ixy=… ixz=… iyy=… iyz=… izz=…/>.",
        )
    xx, xy, xz, yy, yz, zz = (
        number_attribute(matrix_node, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mass, at = number_attribute(mass_node, "value"), origin_pose(node)
    return link_inertia(mass, matrix, at, name, node.origin, reading.notes)


GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
#: Children of a link that are read; others are noted.
LINK_TAGS = {"inertial", "visual", "collision", "contact"}


def read_link(node: XmlNode, name: str, reading: UrdfReadContext) -> Element:
    """Returns the element of ``node``, under the name ``name``.

    Raises:
        FormatError: If a value is missing or not a number.
        MeshNotFound: If a mesh file is missing; the hint lists the paths searched.
    """
    shapes = pair_shapes(_shapes(node, "visual", reading), _shapes(node, "collision", reading))
    friction, restitution = _surface(node, reading)
    try:
        return Element(
            name,
            shapes,
            inertia=read_inertial(node, name, reading),
            friction=friction,
            restitution=restitution,
            origin=node.origin,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _shapes(link: XmlNode, tag: str, reading: UrdfReadContext) -> list[Shape]:
    found = (_shape(node, reading) for node in link.all(tag))
    return [shape for shape in found if shape is not None]


def _shape(node: XmlNode, reading: UrdfReadContext) -> Shape | None:
    """Returns the shape of a visual or collision; None if it is left out with a note."""
    geometry = node.first("geometry")
    known = [] if geometry is None else [c for c in geometry.children if c.tag in GEOMETRIES]
    if not known:
        found = listing(c.tag for c in geometry.children) if geometry is not None else "none"
        raise FormatError(
            f"<{node.tag}> needs a <geometry> with one of {', '.join(GEOMETRIES)}.",
            origin=(geometry or node).origin,
            hint=f"Found inside: {found}.",
        )
    try:
        shape = _geometry(known[0], reading)
    except LinkworkError as error:
        raise error.at(known[0].origin) from None
    if shape is None:
        return None
    material = material_of(node, reading)
    color, texture = (material.color, material.texture) if node.tag == "visual" else ("", "")
    return replace(shape, at=origin_pose(node), color=color, texture=texture)


def _geometry(node: XmlNode, reading: UrdfReadContext) -> Shape | None:
    if node.tag == "mesh":
        return _mesh(node, reading)
    if node.tag == "box":
        sizes = vector_attribute(node, "size")
    elif node.tag == "sphere":
        sizes = (number_attribute(node, "radius"),)
    else:
        sizes = (number_attribute(node, "radius"), number_attribute(node, "length"))
    if 0.0 in sizes:
        reading.notes.about("shapes of size 0, left out", f"{node.tag} at {node.origin}")
        return None
    match node.tag, sizes:
        case "box", (x, y, z):
            return Box((x, y, z))
        case "sphere", (radius,):
            return Sphere(radius)
        case "cylinder", (radius, length):
            return Cylinder(radius, length)
        case _, (radius, length):
            return Capsule(radius, length)
    return None


def _mesh(node: XmlNode, reading: UrdfReadContext) -> Mesh | None:
    reference = required_attribute(node, "filename")
    scale = vector_attribute(node, "scale", (1.0, 1.0, 1.0))
    file, tried = reading.locator.find(reference)
    if file is not None:
        return Mesh(str(file), scale)
    paths = "".join(f"\n  {path}" for path in tried) or " nowhere"
    if reading.skip_missing:
        reading.notes.add(
            f"{node.origin}: mesh {reference!r} not found, shape left out. Searched:{paths}"
        )
        return None
    raise MeshNotFound(
        f"mesh {reference!r} not found.",
        origin=node.origin,
        hint=f"Searched:{paths}\n{_how_to_find(reference)}",
    )


def _how_to_find(reference: str) -> str:
    scheme, separator, _ = reference.partition("://")
    if separator and scheme in ("package", "model"):
        what = "Name the folder that holds the package in ROS_PACKAGE_PATH"
    elif separator and scheme != "file":
        what = "Use a path, file://, package:// or model://"
    else:
        what = "Put the mesh there"
    return f"{what}, or leave it out: UrdfFormat(missing_meshes='skip') in Python."


def _surface(link: XmlNode, reading: UrdfReadContext) -> tuple[float, float]:
    """Returns friction and restitution of Bullet's ``<contact>``, else the defaults."""
    friction, restitution = Element.friction, Element.restitution
    contact = link.first("contact")
    if contact is None:
        return friction, restitution
    if (node := contact.first("lateral_friction")) is not None:
        friction = number_attribute(node, "value")
    if (node := contact.first("restitution")) is not None:
        restitution = number_attribute(node, "value")
    return clamp_surface(friction, restitution, f"{contact.origin}", reading.notes)
