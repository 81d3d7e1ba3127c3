"""Materials: colours and textures, used by name before or after their definition."""

from __future__ import annotations

from linkwork.formats.urdf.context import Material, Reading
from linkwork.formats.urdf.values import numbers
from linkwork.formats.xml_tree import Node


def read_materials(robot: Node, reading: Reading) -> None:
    """Takes in every material that the robot or one of its links defines; the first one counts."""
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


def material_of(visual: Node, reading: Reading) -> Material:
    """The look of a visual: its own definition, else the material it names, else none."""
    node = visual.first("material")
    if node is None:
        return Material()
    own = _defined(node, reading)
    if own is not None:
        return own
    name = node.attributes.get("name", "")
    if name and name not in reading.materials:
        reading.notes.about("materials named but not defined, shown in the default colour", name)
    return reading.materials.get(name, Material())


def _defined(node: Node, reading: Reading) -> Material | None:
    color, texture = node.first("color"), node.first("texture")
    file = ""
    if texture is not None and (reference := texture.attributes.get("filename", "").strip()):
        found, _ = reading.locator.find(reference)
        if found is None:
            reading.notes.about("textures not found, left out", reference)
        else:
            file = str(found)
    if color is None:
        return Material("", file) if file else None
    return Material(_hex(color, reading), file)


def _hex(node: Node, reading: Reading) -> str:
    rgba = numbers(node, "rgba", 4)
    if any(not 0.0 <= c <= 1.0 for c in rgba):
        reading.notes.about("colours outside 0…1, cut", f"{node.origin}")
    levels = [round(255 * min(max(c, 0.0), 1.0)) for c in rgba]
    shown = levels[:3] if levels[3] == 255 else levels
    return "#" + "".join(f"{level:02x}" for level in shown)
