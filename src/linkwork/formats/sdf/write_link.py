"""Writing links: inertial, visuals and collisions of an element as SDF says them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.formats.colors import rgba
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.parts import Box, Capsule, Cylinder, Element, Ellipsoid, Mesh, Plane, Shape, Sphere
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import Pose


class LinkWriter:
    """Writes elements as links."""

    def __init__(self, meshes: MeshFolder, notes: Notes) -> None:
        self.meshes, self.notes = meshes, notes

    def write(self, name: str, full: str, element: Element | None) -> ET.Element:
        """The ``<link>``; a place between two chained joints is an empty one without mass."""
        node = ET.Element("link", name=name)
        inertia = element.mass_properties() if element is not None else Inertia.of(0.0)
        node.append(_inertial(inertia))
        if element is None:
            return node
        for tag in ("visual", "collision"):
            shown = [s for s in element.shapes if (s.visible if tag == "visual" else s.collide)]
            for number, shape in enumerate(shown, start=1):
                self._add_shape(node, f"{tag}_{number}", tag, shape, element, full)
        if any(not (s.visible or s.collide) for s in element.shapes):
            self.notes.about("shapes neither seen nor touched, left out", full)
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
        color = shape.color or ("" if element.color == Element.color else element.color)
        if tag == "visual" and color:
            material = ET.SubElement(node, "material")
            levels = numerals(rgba(color))
            add(material, "ambient", levels)
            add(material, "diffuse", levels)
        elif tag == "collision":
            _add_surface(node, element)

    def _geometry(self, shape: Shape) -> ET.Element | None:
        match shape:
            case Box():
                node = ET.Element("box")
                add(node, "size", numerals(shape.size))
            case Sphere():
                node = ET.Element("sphere")
                add(node, "radius", numeral(shape.radius))
            case Cylinder() | Capsule():
                node = ET.Element(shape.kind)
                add(node, "radius", numeral(shape.radius))
                add(node, "length", numeral(shape.length))
            case Plane():
                node = ET.Element("plane")
                add(node, "normal", "0 0 1")
                add(node, "size", numerals(shape.size))
            case Ellipsoid():
                node = ET.Element("ellipsoid")
                add(node, "radii", numerals(shape.radii))
            case Mesh():
                node = ET.Element("mesh")
                add(node, "uri", self._mesh_file(shape))
                if shape.scale != (1.0, 1.0, 1.0):
                    add(node, "scale", numerals(shape.scale))
            case _:
                return None
        return node

    def _mesh_file(self, shape: Mesh) -> str:
        """Path of a mesh: a copy where it may hold colours, else OBJ, which all readers take.

        Drake refuses collisions of STL.
        """
        suffix = Path(shape.file).suffix.lower()
        colored = shape.visible and suffix != ".stl" and not shape.node
        if suffix == ".obj" or colored:
            return self.meshes.copy(shape)
        return self.meshes.obj(shape)


def add(node: ET.Element, tag: str, text: str) -> ET.Element:
    """Adds a child that holds a text."""
    child = ET.SubElement(node, tag)
    child.text = text
    return child


def add_pose(node: ET.Element, pose: Pose, *, relative_to: str = "") -> None:
    """Adds a ``<pose>`` where it changes anything, or stands in a frame of another name."""
    if pose.is_identity() and not relative_to:
        return
    child = add(node, "pose", f"{numerals(pose.xyz)} {numerals(pose.rpy())}")
    if relative_to:
        child.set("relative_to", relative_to)


def _inertial(inertia: Inertia) -> ET.Element:
    """Explicit also where it is zero: a link without one weighs a kilogram in SDF."""
    node = ET.Element("inertial")
    if inertia.com.any():
        add(node, "pose", f"{numerals(inertia.com)} 0 0 0")
    add(node, "mass", numeral(inertia.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix.tolist()
    matrix = ET.SubElement(node, "inertia")
    for tag, value in zip(
        ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (xx, xy, xz, yy, yz, zz), strict=True
    ):
        add(matrix, tag, numeral(value))
    return node


def _add_surface(collision: ET.Element, element: Element) -> None:
    """Friction and restitution, where they are not the usual ones."""
    if (element.friction, element.restitution) == (Element.friction, Element.restitution):
        return
    surface = ET.SubElement(collision, "surface")
    ode = ET.SubElement(ET.SubElement(surface, "friction"), "ode")
    add(ode, "mu", numeral(element.friction))
    add(ode, "mu2", numeral(element.friction))
    if element.restitution:
        bounce = ET.SubElement(surface, "bounce")
        add(bounce, "restitution_coefficient", numeral(element.restitution))
