"""URDF links: inertial, visuals, collisions, contact surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.core.errors import FormatError, LinkworkError, listing
from linkwork.formats.robots.gazebo import WEIGHTLESS, note_weightless
from linkwork.formats.robots.links import MASSLESS, link_inertia, pair_shapes
from linkwork.formats.robots.urdf.context import (
    UrdfReadContext,
    material_of,
    origin_pose,
    vector3,
)
from linkwork.formats.robots.urdf.extensions import inertia_scale, is_weightless, read_surface
from linkwork.formats.robots.xml import (
    XmlNode,
    number_attribute,
    required_attribute,
    vector_attribute,
)
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose, quat_between
from linkwork.model.parts import (
    Box,
    Capsule,
    Cylinder,
    Element,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
)


def read_inertial(link: XmlNode, name: str, reading: UrdfReadContext) -> Inertia:
    """Returns the mass properties in the link's frame; zero for a link without ``<inertial>``.

    Raises:
        FormatError: If numbers are missing or the mass is negative.
    """
    node = link.first("inertial")
    if node is None:
        return MASSLESS
    mass_node, matrix_node = node.first("mass"), node.first("inertia")
    if mass_node is None:
        raise FormatError(
            f"the <inertial> of link {name!r} has no <mass>.",
            origin=node.origin,
            hint="It needs <mass value=…/> and <inertia ixx=… ixy=… ixz=… iyy=… iyz=… izz=…/>.",
        )
    matrix = np.zeros((3, 3))
    if matrix_node is None:
        reading.notes.about("links without <inertia>, read as point masses", name)
    else:
        products = [key for key in ("ixy", "ixz", "iyz") if key not in matrix_node.attributes]
        if products:
            reading.notes.about(f"inertias without {', '.join(products)}, read as 0", name)
        xx, yy, zz = (number_attribute(matrix_node, key) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number_attribute(matrix_node, key, 0.0) for key in ("ixy", "ixz", "iyz"))
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * inertia_scale(link)
    mass, at = number_attribute(mass_node, "value"), origin_pose(node, reading)
    return link_inertia(mass, matrix, at, name, node.origin, reading.notes)


#: Geometries that are read; Drake's and Bullet's own among them.
GEOMETRIES = (
    "box", "cylinder", "sphere", "capsule", "mesh", "plane", "drake:capsule", "drake:ellipsoid",
)  # fmt: skip
#: Children of a link that are read; others are noted.
LINK_TAGS = {"inertial", "visual", "collision", "contact"}


def read_link(node: XmlNode, name: str, reading: UrdfReadContext) -> Element:
    """Returns the element of ``node``, under the name ``name``.

    Raises:
        FormatError: If a value is missing or not a number.
    """
    shapes = pair_shapes(_shapes(node, "visual", reading), _shapes(node, "collision", reading))
    surface = read_surface(node, name, reading)
    weightless = is_weightless(node, reading)
    if weightless:
        note_weightless(name, reading.notes)
    try:
        return Element(
            name,
            tuple(surface.on(shape) for shape in shapes),
            inertia=read_inertial(node, name, reading),
            friction=surface.friction,
            restitution=surface.restitution,
            mujoco=dict(WEIGHTLESS) if weightless else {},
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
        what = f"{node.tag}s with geometry of kind {found}, left out, in line"
        kind = "motion" if node.tag == "collision" else ""
        reading.notes.about(what, f"{node.origin.line}", kind=kind)
        return None
    try:
        shape = _geometry(known[0], node.tag, reading)
    except LinkworkError as error:
        raise error.at(known[0].origin) from None
    if shape is None:
        return None
    material = material_of(node, reading)
    color, texture = (material.color, material.texture) if node.tag == "visual" else ("", "")
    at = origin_pose(node, reading) @ shape.at
    return replace(shape, at=at, color=color, texture=texture)


def _geometry(node: XmlNode, role: str, reading: UrdfReadContext) -> Shape | None:
    if node.tag == "mesh":
        return _mesh(node, role, reading)
    kind = node.tag.removeprefix("drake:")
    if kind == "plane":
        up = vector3(node, "normal", reading, (0.0, 0.0, 1.0))
        return Plane(at=Pose(quat=quat_between((0.0, 0.0, 1.0), up)))
    if kind == "box":
        sizes = vector_attribute(node, "size")
    elif kind == "ellipsoid":
        sizes = tuple(number_attribute(node, key) for key in "abc")
    elif kind == "sphere":
        sizes = (number_attribute(node, "radius"),)
    else:
        sizes = (number_attribute(node, "radius"), number_attribute(node, "length"))
    if 0.0 in sizes:
        reading.notes.about("shapes of size 0, left out", f"{node.tag} at {node.origin}")
        return None
    match kind, sizes:
        case "box", (x, y, z):
            return Box((x, y, z))
        case "ellipsoid", (x, y, z):
            return Ellipsoid((x, y, z))
        case "sphere", (radius,):
            return Sphere(radius)
        case "cylinder", (radius, length):
            return Cylinder(radius, length)
        case _, (radius, length):
            return Capsule(radius, length)
    return None


def _mesh(node: XmlNode, role: str, reading: UrdfReadContext) -> Mesh | None:
    reference = required_attribute(node, "filename")
    scale = vector3(node, "scale", reading, (1.0, 1.0, 1.0))
    file, tried = reading.locator.find(reference)
    if file is not None:
        return Mesh(str(file), scale)
    reading.missing.add(f"{role} mesh", reference, node.origin, reading.locator, tried)
    return None
