"""URDF link writer: inertial, visuals, collisions, materials."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.formats.appearance import rgba
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLink
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.robots.links import has_default_surface, own_color, shapes_by_role
from linkwork.formats.robots.resources import package_name
from linkwork.formats.text_output import number_text, numbers_text, origin_attributes
from linkwork.geometry.inertia import Inertia
from linkwork.model.parts import Box, Capsule, Cylinder, Element, Mesh, Shape, Sphere


class MeshReferences:
    """File names of meshes and textures, as the URDF at ``path`` refers to them."""

    def __init__(self, path: Path, notes: ConversionNotes) -> None:
        self.folder = Path(os.path.abspath(path)).parent
        self.meshes = MeshFolder(path, notes)
        self.package, self.package_folder = "", self.folder
        for parent in (self.folder, *self.folder.parents):
            if name := package_name(parent):
                self.package, self.package_folder = name, parent
                break

    def spell_mesh(self, shape: Mesh) -> str:
        """Returns the reference to a mesh; one node of a glTF file gets its own file.

        Raises:
            LinkworkError: If the mesh cannot be read, or its copy cannot be written.
        """
        return (not shape.node and self._package_reference(shape.file)) or self.meshes.copy(shape)

    def spell_texture(self, file: str) -> str:
        """Returns the reference to a texture.

        Raises:
            FormatError: If it cannot be read, or its copy cannot be written.
        """
        return self._package_reference(file) or self.meshes.texture(file)

    def _package_reference(self, file: str) -> str:
        """Returns the ``package://`` reference of a file in the URDF's package; else empty."""
        path = Path(os.path.abspath(file))
        if path.is_relative_to(self.folder) or not self.package:
            return ""
        if not path.is_relative_to(self.package_folder):
            return ""
        return f"package://{self.package}/{path.relative_to(self.package_folder).as_posix()}"


class UrdfLinkWriter:
    """Writes elements as links; collects their materials."""

    def __init__(self, references: MeshReferences, notes: ConversionNotes) -> None:
        self.references, self.notes = references, notes
        self.uses_capsules = False
        self._materials: dict[tuple[str, str], str] = {}

    def write(self, link: FlatLink, name: str) -> ET.Element:
        """Returns the ``<link>``; it is empty between two chained joints."""
        node = ET.Element("link", name=name)
        element = link.element
        if element is None:
            return node
        mass = element.mass_properties().moved(link.offset)
        if mass.mass > 0.0 or mass.matrix.any():
            node.append(_inertial(mass))
        for role, shape in shapes_by_role(element, link.name, self.notes):
            self._add_shape(node, role, shape, element, link)
        _add_surface(node, element)
        return node

    def materials(self) -> list[ET.Element]:
        """Returns the materials that the links use."""
        found = []
        for (color, texture), name in self._materials.items():
            node = ET.Element("material", name=name)
            if color:
                ET.SubElement(node, "color", rgba=numbers_text(rgba(color)))
            if texture:
                ET.SubElement(node, "texture", filename=self.references.spell_texture(texture))
            found.append(node)
        return found

    def _add_shape(
        self, link: ET.Element, tag: str, shape: Shape, element: Element, flat: FlatLink
    ) -> None:
        geometry = self._geometry(shape)
        if geometry is None:
            self.notes.about(f"shapes of kind {shape.kind}, left out", flat.name)
            return
        node = ET.SubElement(link, tag)
        if attributes := origin_attributes(flat.offset @ shape.at):
            ET.SubElement(node, "origin", attributes)
        ET.SubElement(node, "geometry").append(geometry)
        color = own_color(shape, element)
        if tag == "visual" and (color or shape.texture):
            key = (color.lower(), shape.texture)
            name = self._materials.setdefault(key, f"material_{len(self._materials) + 1}")
            ET.SubElement(node, "material", name=name)

    def _geometry(self, shape: Shape) -> ET.Element | None:
        match shape:
            case Box():
                return ET.Element("box", size=numbers_text(shape.size))
            case Sphere():
                return ET.Element("sphere", radius=number_text(shape.radius))
            case Cylinder():
                sizes = {"radius": number_text(shape.radius), "length": number_text(shape.length)}
                return ET.Element("cylinder", sizes)
            case Capsule():
                self.uses_capsules = True
                sizes = {"radius": number_text(shape.radius), "length": number_text(shape.length)}
                return ET.Element("capsule", sizes)
            case Mesh():
                node = ET.Element("mesh", filename=self.references.spell_mesh(shape))
                if shape.scale != (1.0, 1.0, 1.0):
                    node.set("scale", numbers_text(shape.scale))
                return node
        return None


def _inertial(inertia: Inertia) -> ET.Element:
    node = ET.Element("inertial")
    ET.SubElement(node, "origin", xyz=numbers_text(inertia.com), rpy="0 0 0")
    ET.SubElement(node, "mass", value=number_text(inertia.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix.tolist()
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    ET.SubElement(node, "inertia", {key: number_text(value) for key, value in values.items()})
    return node


def _add_surface(link: ET.Element, element: Element) -> None:
    """Adds friction and restitution for Bullet, unless they are the defaults."""
    if has_default_surface(element):
        return
    node = ET.SubElement(link, "contact")
    ET.SubElement(node, "lateral_friction", value=number_text(element.friction))
    ET.SubElement(node, "restitution", value=number_text(element.restitution))
