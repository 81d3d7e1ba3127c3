"""SDF link writer: inertial, visuals, collisions, contact surface."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from linkwork.formats.appearance import rgba
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.robots.links import has_default_surface, own_color, shapes_by_role
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose
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


class SdfLinkWriter:
    """Writes elements as links."""

    def __init__(self, meshes: MeshFolder, notes: ConversionNotes) -> None:
        self.meshes, self.notes = meshes, notes

    def write(self, name: str, full: str, element: Element | None) -> ET.Element:
        """Returns the ``<link>``; it is empty and massless between two chained joints."""
        node = ET.Element("link", name=name)
        inertia = element.mass_properties() if element is not None else Inertia.of(0.0)
        node.append(_inertial(inertia))
        if element is None:
            return node
        numbers: Counter[str] = Counter()
        for role, shape in shapes_by_role(element, full, self.notes):
            numbers[role] += 1
            self._add_shape(node, f"{role}_{numbers[role]}", role, shape, element, full)
        return node

    def _add_shape(
        self, link: ET.Element, name: str, tag: str, shape: Shape, element: Element, full: str
    ) -> None:
        geometry = self._geometry(shape)
        if geometry is None:
            self.notes.about(f"shapes of kind {shape.kind}, left out", full)
            return
        node = ET.SubElement(link, tag, name=name)
        add_pose(node, shape.at)
        ET.SubElement(node, "geometry").append(geometry)
        color = own_color(shape, element)
        if tag == "visual" and color:
            material = ET.SubElement(node, "material")
            levels = numbers_text(rgba(color))
            add(material, "ambient", levels)
            add(material, "diffuse", levels)
        elif tag == "collision":
            _add_surface(node, element)

    def _geometry(self, shape: Shape) -> ET.Element | None:
        match shape:
            case Box():
                node = ET.Element("box")
                add(node, "size", numbers_text(shape.size))
            case Sphere():
                node = ET.Element("sphere")
                add(node, "radius", number_text(shape.radius))
            case Cylinder() | Capsule():
                node = ET.Element(shape.kind)
                add(node, "radius", number_text(shape.radius))
                add(node, "length", number_text(shape.length))
            case Plane():
                node = ET.Element("plane")
                add(node, "normal", "0 0 1")
                add(node, "size", numbers_text(shape.size))
            case Ellipsoid():
                node = ET.Element("ellipsoid")
                add(node, "radii", numbers_text(shape.radii))
            case Mesh():
                node = ET.Element("mesh")
                add(node, "uri", self._mesh_file(shape))
                if shape.scale != (1.0, 1.0, 1.0):
                    add(node, "scale", numbers_text(shape.scale))
            case _:
                return None
        return node

    def _mesh_file(self, shape: Mesh) -> str:
        """Returns the path of a mesh: a copy if it may hold colors, else OBJ.

        Every reader takes OBJ; Drake refuses STL for collisions.
        """
        suffix = Path(shape.file).suffix.lower()
        colored = shape.visible and suffix != ".stl" and not shape.node
        if suffix == ".obj" or colored:
            return self.meshes.copy(shape)
        return self.meshes.obj(shape)


def add(node: ET.Element, tag: str, text: str) -> ET.Element:
    """Adds a child with a text."""
    child = ET.SubElement(node, tag)
    child.text = text
    return child


def add_pose(node: ET.Element, pose: Pose, *, relative_to: str = "") -> None:
    """Adds a ``<pose>``, unless it is the identity in the default frame."""
    if pose.is_identity() and not relative_to:
        return
    child = add(node, "pose", f"{numbers_text(pose.xyz)} {numbers_text(pose.rpy())}")
    if relative_to:
        child.set("relative_to", relative_to)


def _inertial(inertia: Inertia) -> ET.Element:
    """Returns the ``<inertial>``, explicit even if zero: SDF's default mass is 1 kg."""
    node = ET.Element("inertial")
    if inertia.com.any():
        add(node, "pose", f"{numbers_text(inertia.com)} 0 0 0")
    add(node, "mass", number_text(inertia.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix.tolist()
    matrix = ET.SubElement(node, "inertia")
    for tag, value in zip(
        ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (xx, xy, xz, yy, yz, zz), strict=True
    ):
        add(matrix, tag, number_text(value))
    return node


def _add_surface(collision: ET.Element, element: Element) -> None:
    """Adds friction and restitution, unless they are the defaults."""
    if has_default_surface(element):
        return
    surface = ET.SubElement(collision, "surface")
    ode = ET.SubElement(ET.SubElement(surface, "friction"), "ode")
    add(ode, "mu", number_text(element.friction))
    add(ode, "mu2", number_text(element.friction))
    if element.restitution:
        bounce = ET.SubElement(surface, "bounce")
        add(bounce, "restitution_coefficient", number_text(element.restitution))
