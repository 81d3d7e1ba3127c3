"""Read context of one URDF file: resource locator, materials, notes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from linkwork.formats.appearance import hex_color
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.resources import MissingResources, ResourceLocator
from linkwork.formats.robots.xml import (
    XmlNode,
    bad_attribute,
    numbers_attribute,
    parse_limit,
    parse_number,
    vector_attribute,
)
from linkwork.geometry.pose import IDENTITY, Pose, Vec3


@dataclass(frozen=True)
class UrdfMaterial:
    """Color ``#rrggbb`` or ``#rrggbbaa`` and texture file of a visual; each may be empty."""

    color: str = ""
    texture: str = ""


@dataclass
class UrdfReadContext:
    """One file being read.

    Attributes:
        locator: Finds meshes and textures.
        notes: Notes on omissions and changes.
        missing: Meshes that are not found.
        materials: Materials by name, from anywhere in the file.
        gazebo: The ``<gazebo>`` elements of each link and joint.
        transmissions: Attributes that the transmissions give each joint.
    """

    locator: ResourceLocator
    notes: ConversionNotes
    missing: MissingResources
    materials: dict[str, UrdfMaterial] = field(default_factory=dict)
    gazebo: dict[str, list[XmlNode]] = field(default_factory=dict)
    transmissions: dict[str, dict[str, float]] = field(default_factory=dict)

    def gazebo_value(self, owner: str, tag: str) -> float | None:
        """Returns a number of the ``<gazebo>`` of a link or joint; None if it has none."""
        for node in self.gazebo.get(owner, ()):
            child = node.first(tag)
            value = parse_number(child.text.strip()) if child is not None else math.nan
            if not math.isnan(value):
                return value
        return None


def read_materials(robot: XmlNode, reading: UrdfReadContext) -> None:
    """Collects the materials that the robot or its visuals define; the first definition counts."""
    visuals = (visual for link in robot.all("link") for visual in link.all("visual"))
    for owner in (robot, *visuals):
        for node in owner.all("material"):
            name = node.attributes.get("name", "")
            material = _defined(node, reading)
            if not name or material is None:
                continue
            known = reading.materials.setdefault(name, material)
            if known != material and owner is robot:
                reading.notes.about("materials defined twice, the first one counts", name)


def material_of(visual: XmlNode, reading: UrdfReadContext) -> UrdfMaterial:
    """Returns the material of a visual: its own definition, else the one it names, else none."""
    node = visual.first("material")
    if node is None:
        return UrdfMaterial()
    own = _defined(node, reading)
    if own is not None:
        return own
    name = node.attributes.get("name", "")
    if name and name not in reading.materials:
        reading.notes.about("materials named but not defined, shown in the default color", name)
    return reading.materials.get(name, UrdfMaterial())


def _defined(node: XmlNode, reading: UrdfReadContext) -> UrdfMaterial | None:
    color, texture = node.first("color"), node.first("texture")
    file = ""
    if texture is not None and (reference := texture.attributes.get("filename", "").strip()):
        found, _ = reading.locator.find(reference)
        if found is None:
            reading.notes.about("textures not found, left out", reference)
        else:
            file = str(found)
    if color is None:
        return UrdfMaterial("", file) if file else None
    return UrdfMaterial(_hex(color, reading), file)


def _hex(node: XmlNode, reading: UrdfReadContext) -> str:
    rgba = numbers_attribute(node, "rgba", 4)
    if any(not 0.0 <= c <= 1.0 for c in rgba):
        reading.notes.about("colors outside 0…1, clamped", f"{node.origin}")
    return hex_color(rgba)


def vector3(
    node: XmlNode, name: str, reading: UrdfReadContext, default: Vec3 = (0.0, 0.0, 0.0)
) -> Vec3:
    """Returns three numbers as Bullet and Drake read them, with a note where URDF differs.

    Commas are spaces, more than three numbers are cut, one is a scale for all axes.

    Raises:
        FormatError: If there are other numbers of values, or other values than numbers.
    """
    text = node.attributes.get(name, "")
    words = text.replace(",", " ").split()
    if not words and name in node.attributes:
        return vector_attribute(node, name)  # refused
    if not words:
        return default
    right = " ".join(words * 3 if name == "scale" and len(words) == 1 else words[:3])
    if right != " ".join(text.split()):
        reading.notes.about(
            f"{name!r} that is not three numbers, read as {right!r}", f"{node.origin}"
        )
    return vector_attribute(replace(node, attributes={name: right}), name)


#: A number, and what may follow it.
_LEADING_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)


def plain_numbers(node: XmlNode, names: Iterable[str], reading: UrdfReadContext) -> XmlNode:
    """Returns an element whose numbers end where Bullet stops reading them, with notes."""
    made = dict(node.attributes)
    for name in names:
        text = made.get(name, "").strip()
        if math.isnan(parse_limit(text)) and (found := _LEADING_NUMBER.match(text)):
            made[name] = found[1]
            what = f"{name}={text!r}, read as {found[1]}"
            reading.notes.about(what, f"{node.origin}")
    return replace(node, attributes=made)


def origin_pose(node: XmlNode, reading: UrdfReadContext) -> Pose:
    """Returns the pose of the child ``<origin>`` [m, rad]; the identity without one.

    Raises:
        FormatError: If it holds anything but numbers.
    """
    origin = node.first("origin")
    if origin is None:
        return IDENTITY
    xyz = vector3(origin, "xyz", reading)
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = numbers_attribute(origin, "quat_xyzw", 4)
        if max(abs(c) for c in (x, y, z, w)) < 1e-6:
            raise bad_attribute(origin, "quat_xyzw", "a rotation")
        return Pose.of(xyz, quat=(w, x, y, z))
    return Pose.of(xyz, rpy=vector3(origin, "rpy", reading))
