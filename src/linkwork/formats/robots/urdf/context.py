"""Read context of one URDF file: resource locator, materials, notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.formats.appearance import hex_color
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.resources import ResourceLocator
from linkwork.formats.robots.xml import (
    XmlNode,
    bad_attribute,
    numbers_attribute,
    vector_attribute,
)
from linkwork.geometry.pose import IDENTITY, Pose


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
        skip_missing: Whether shapes whose mesh is missing are left out with a note.
        notes: Notes on omissions and changes.
        materials: Materials by name, from anywhere in the file.
    """

    locator: ResourceLocator
    skip_missing: bool = False
    notes: ConversionNotes = field(default_factory=ConversionNotes)
    materials: dict[str, UrdfMaterial] = field(default_factory=dict)


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


def origin_pose(node: XmlNode) -> Pose:
    """Returns the pose of the child ``<origin>`` [m, rad]; the identity without one.

    Raises:
        FormatError: If it holds anything but numbers.
    """
    origin = node.first("origin")
    if origin is None:
        return IDENTITY
    xyz = vector_attribute(origin, "xyz", (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = numbers_attribute(origin, "quat_xyzw", 4)
        if max(abs(c) for c in (x, y, z, w)) < 1e-6:
            raise bad_attribute(origin, "quat_xyzw", "a rotation")
        return Pose.of(xyz, quat=(w, x, y, z))
    return Pose.of(xyz, rpy=vector_attribute(origin, "rpy", (0.0, 0.0, 0.0)))
