"""Writing links: inertial, visuals and collisions of an element, and the materials they use."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from linkwork.formats.flat import FlatLink
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals, origin_attributes
from linkwork.formats.urdf.references import References
from linkwork.parts import Box, Capsule, Cylinder, Element, Mesh, Shape, Sphere
from linkwork.spatial.inertia import Inertia


class LinkWriter:
    """Writes elements as links and remembers their materials."""

    def __init__(self, references: References, notes: Notes) -> None:
        self.references, self.notes = references, notes
        self.uses_capsules = False
        self._materials: dict[tuple[str, str], str] = {}

    def write(self, link: FlatLink, name: str) -> ET.Element:
        """The ``<link>``; a place between two chained joints is an empty one."""
        node = ET.Element("link", name=name)
        element = link.element
        if element is None:
            return node
        mass = element.mass_properties().moved(link.offset)
        if mass.mass > 0.0 or mass.matrix.any():
            node.append(_inertial(mass))
        for tag in ("visual", "collision"):
            for shape in element.shapes:
                if shape.visible if tag == "visual" else shape.collide:
                    self._add_shape(node, tag, shape, element, link)
        for shape in element.shapes:
            if not (shape.visible or shape.collide):
                self.notes.about("shapes neither seen nor touched, left out", link.name)
        _add_surface(node, element)
        return node

    def materials(self) -> list[ET.Element]:
        """The materials that the links use, for the top of the file."""
        found = []
        for (color, texture), name in self._materials.items():
            node = ET.Element("material", name=name)
            if color:
                levels = [int(color[i : i + 2], 16) for i in range(1, len(color), 2)]
                rgba = [level / 255 for level in (*levels, 255)[:4]]
                ET.SubElement(node, "color", rgba=numerals(rgba))
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
        color = shape.color or ("" if element.color == Element.color else element.color)
        if tag == "visual" and (color or shape.texture):
            key = (color.lower(), shape.texture)
            name = self._materials.setdefault(key, f"material_{len(self._materials) + 1}")
            ET.SubElement(node, "material", name=name)

    def _geometry(self, shape: Shape) -> ET.Element | None:
        match shape:
            case Box():
                return ET.Element("box", size=numerals(shape.size))
            case Sphere():
                return ET.Element("sphere", radius=numeral(shape.radius))
            case Cylinder():
                sizes = {"radius": numeral(shape.radius), "length": numeral(shape.length)}
                return ET.Element("cylinder", sizes)
            case Capsule():
                self.uses_capsules = True
                sizes = {"radius": numeral(shape.radius), "length": numeral(shape.length)}
                return ET.Element("capsule", sizes)
            case Mesh():
                node = ET.Element("mesh", filename=self.references.spell_mesh(shape))
                if shape.scale != (1.0, 1.0, 1.0):
                    node.set("scale", numerals(shape.scale))
                return node
        return None


def _inertial(inertia: Inertia) -> ET.Element:
    node = ET.Element("inertial")
    ET.SubElement(node, "origin", xyz=numerals(inertia.com), rpy="0 0 0")
    ET.SubElement(node, "mass", value=numeral(inertia.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix.tolist()
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    ET.SubElement(node, "inertia", {key: numeral(value) for key, value in values.items()})
    return node


def _add_surface(link: ET.Element, element: Element) -> None:
    """Friction and restitution as Bullet reads them, where they are not the usual ones."""
    if (element.friction, element.restitution) == (Element.friction, Element.restitution):
        return
    node = ET.SubElement(link, "contact")
    ET.SubElement(node, "lateral_friction", value=numeral(element.friction))
    ET.SubElement(node, "restitution", value=numeral(element.restitution))
