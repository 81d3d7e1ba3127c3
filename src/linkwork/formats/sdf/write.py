"""Writing: a part becomes an SDF model, a scene an SDF world."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from linkwork.formats.colors import rgba
from linkwork.formats.flat import Flat, FlatLink, flatten, unique
from linkwork.formats.losses import note_losses
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.save_text import save_xml
from linkwork.formats.sdf.lights import USUAL_LOOK
from linkwork.formats.sdf.write_link import LinkWriter, add
from linkwork.formats.sdf.write_model import ModelWriter
from linkwork.parts import Part
from linkwork.parts.names import plain
from linkwork.scene import Light, Scene

#: What SDF has words for; the rest is told.
SAYS = {
    "anchors", "loops", "couplings", "lights", "lights without shadows", "background", "gravity",
    "time step", "elements: masses", "elements: friction", "elements: restitution",
    "joints: largest speeds", "joints: largest efforts",
    "joints: damping", "joints: friction", "joints: springs",
}  # fmt: skip


def write_sdf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to ``path`` and returns what was left out or said differently.

    Links have the frames of their elements, so that poses agree.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = Notes()
    flat = flatten(thing)
    note_losses(flat, SAYS, notes)
    links = LinkWriter(MeshFolder(path, notes), notes)
    root = ET.Element("sdf")
    newest = 8
    if flat.scene is None:
        name = thing.title if thing.title and plain(thing.title) == thing.name else thing.name
        writer = ModelWriter(flat, flat.links, "", links, notes)
        root.append(writer.model(name))
        newest = writer.version
        _note_couplings(flat, [writer], notes)
    else:
        world = ET.SubElement(root, "world", name=thing.name)
        newest = _add_world(world, flat, flat.scene, links, notes)
    root.set("version", f"1.{newest}")
    save_xml(path, root)
    return notes.lines()


def _add_world(world: ET.Element, flat: Flat, scene: Scene, links: LinkWriter, notes: Notes) -> int:
    """Adds physics, lights and models; returns the newest minor version that it needs."""
    add(world, "gravity", numerals(scene.gravity))
    physics = ET.SubElement(world, "physics", name="step", type="ode")
    add(physics, "max_step_size", numeral(scene.step))
    if scene.background:
        look = ET.SubElement(world, "scene")
        add(look, "background", numerals(rgba(scene.background)))
        for tag, text in USUAL_LOOK.items():
            add(look, tag, text)
    world.extend(_light(light) for light in scene.lights)
    newest = 8
    taken: set[str] = set()
    written: set[str] = set()
    writers: list[ModelWriter] = []
    for name, group in _groups(flat):
        scope = name if any(link.placed == name for link in group) else ""
        alone = {link.placed for link in group} == {name}
        writer = ModelWriter(flat, group, scope if alone else "", links, notes)
        model = writer.model(unique(name, taken))
        written.update(writer.names)
        writers.append(writer)
        if scope == "":
            static = ET.Element("static")
            static.text = "true"
            model.insert(0, static)
        elif not alone:
            notes.about("parts that stand on others, written in one model with them", name)
        newest = max(newest, writer.version)
        world.append(model)
    for loop in flat.loops:
        if {end[0] for end in loop.ends} <= written and not _together(flat, loop.ends):
            notes.about("loops between models, left out", loop.name)
    _note_couplings(flat, writers, notes)
    return newest


def _note_couplings(flat: Flat, writers: list[ModelWriter], notes: Notes) -> None:
    """Tells which couplings no model holds, and why."""
    coupled = {name for writer in writers for name in writer.coupled}
    axes = {name for writer in writers for name in writer.axes}
    for coupling in flat.couplings:
        if coupling.joint in coupled:
            continue
        if {coupling.joint, coupling.of} <= axes:
            notes.about("couplings between models, left out", coupling.joint)
        else:
            notes.about(
                "couplings of joints that SDF has no axis for, or that do not exist, left out",
                coupling.joint,
            )


def _groups(flat: Flat) -> Iterable[tuple[str, list[FlatLink]]]:
    """The links of each model to be: a placed part with what stands on it, or scenery."""
    model = _model_of(flat)
    found: dict[str, list[FlatLink]] = {}
    for link in flat.links:
        found.setdefault(model[link.name], []).append(link)
    return found.items()


def _model_of(flat: Flat) -> dict[str, str]:
    """Name of the model of each link: that of its first carrier's part or scenery element."""
    found: dict[str, str] = {}
    for link in flat.links:
        found[link.name] = found[link.carrier] if link.carrier else link.placed or link.name
    return found


def _together(flat: Flat, ends: tuple) -> bool:
    model = _model_of(flat)
    return model[ends[0][0]] == model[ends[1][0]]


def _light(light: Light) -> ET.Element:
    way = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
    length = math.hypot(*way)
    kind = "directional" if light.kind == "sun" else "point"
    node = ET.Element("light", name=light.name, type=kind)
    add(node, "pose", f"{numerals(light.xyz)} 0 0 0")
    add(node, "cast_shadows", "true" if light.shadows else "false")
    add(node, "diffuse", numerals(rgba(light.color)))
    add(node, "intensity", numeral(light.strength))
    if length > 1e-9:
        add(node, "direction", numerals(c / length for c in way))
    return node
