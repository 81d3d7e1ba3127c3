"""SDF: models and worlds of Gazebo or Drake."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from linkwork.formats.appearance import rgba
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import FlatLink, FlatStructure, flatten, unique
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.robots.joints import UNWRITTEN_COUPLING
from linkwork.formats.robots.resources import MissingFiles, missing_files
from linkwork.formats.robots.sdf.read import DEFAULT_WORLD_APPEARANCE, read_sdf
from linkwork.formats.robots.sdf.write_link import SdfLinkWriter, add
from linkwork.formats.robots.sdf.write_model import ModelWriter
from linkwork.formats.text_output import number_text, numbers_text, save_xml
from linkwork.model.parts import Part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Light, Scene

#: Fields that an SDF holds; others are noted.
SUPPORTED_FIELDS = {
    "anchors", "loops", "couplings", "lights", "lights without shadows", "background", "gravity",
    "time step", "elements: masses", "elements: friction", "elements: restitution",
    "joints: largest speeds", "joints: largest efforts",
    "joints: damping", "joints: friction", "joints: springs",
}  # fmt: skip


def write_sdf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to ``path`` and returns what was left out or written differently.

    Link frames are the frames of their elements.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = ConversionNotes()
    flat = flatten(thing)
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    links = SdfLinkWriter(MeshFolder(path, notes), notes)
    root = ET.Element("sdf")
    newest = 8
    if flat.scene is None:
        name = thing.title if thing.title and plain_name(thing.title) == thing.name else thing.name
        writer = ModelWriter(flat, flat.links, "", links, notes)
        root.append(writer.model(name, thing.self_collision if isinstance(thing, Part) else "all"))
        newest = writer.version
        _note_couplings(flat, [writer], notes)
    else:
        world = ET.SubElement(root, "world", name=thing.name)
        newest = _add_world(world, flat, flat.scene, links, notes)
    root.set("version", f"1.{newest}")
    save_xml(path, root)
    return notes.lines()


def _add_world(
    world: ET.Element,
    flat: FlatStructure,
    scene: Scene,
    links: SdfLinkWriter,
    notes: ConversionNotes,
) -> int:
    """Adds physics, lights and models; returns the minor version of SDF 1 that they need."""
    add(world, "gravity", numbers_text(scene.gravity))
    physics = ET.SubElement(world, "physics", name="step", type="ode")
    add(physics, "max_step_size", number_text(scene.step))
    if scene.background:
        node = ET.SubElement(world, "scene")
        add(node, "background", numbers_text(rgba(scene.background)))
        for tag, text in DEFAULT_WORLD_APPEARANCE.items():
            add(node, tag, text)
    world.extend(_light(light) for light in scene.lights)
    newest = 8
    taken: set[str] = set()
    written: set[str] = set()
    writers: list[ModelWriter] = []
    for name, group in _groups(flat):
        scope = name if any(link.placed == name for link in group) else ""
        alone = {link.placed for link in group} == {name}
        writer = ModelWriter(flat, group, scope if alone else "", links, notes)
        placed = scene.parts.get(name)
        rule = placed.part.self_collision if placed is not None else "all"
        model = writer.model(unique(name, taken), rule)
        written.update(writer.names)
        writers.append(writer)
        if scope == "":
            static = ET.Element("static")
            static.text = "true"
            model.insert(0, static)
        elif not alone:
            notes.about("parts placed on others, written in one model with them", name)
        newest = max(newest, writer.version)
        world.append(model)
    for loop in flat.loops:
        if {end[0] for end in loop.ends} <= written and not _in_one_model(flat, loop.ends):
            notes.about("loops between models, left out", loop.name)
    _note_couplings(flat, writers, notes)
    return newest


def _note_couplings(
    flat: FlatStructure, writers: list[ModelWriter], notes: ConversionNotes
) -> None:
    """Notes the couplings that no model holds."""
    coupled = {name for writer in writers for name in writer.coupled}
    axes = {name for writer in writers for name in writer.axes}
    for coupling in flat.couplings:
        if coupling.joint in coupled:
            continue
        if {coupling.joint, coupling.of} <= axes:
            notes.about("couplings between models, left out", coupling.joint)
        else:
            notes.about(UNWRITTEN_COUPLING, coupling.joint)


def _groups(flat: FlatStructure) -> Iterable[tuple[str, list[FlatLink]]]:
    """Returns the links of each model: a placed part with the parts on it, or scenery."""
    model = _model_of(flat)
    found: dict[str, list[FlatLink]] = {}
    for link in flat.links:
        found.setdefault(model[link.name], []).append(link)
    return found.items()


def _model_of(flat: FlatStructure) -> dict[str, str]:
    """Returns the name of the model of each link: its root's part or scenery element."""
    found: dict[str, str] = {}
    for link in flat.links:
        found[link.name] = found[link.carrier] if link.carrier else link.placed or link.name
    return found


def _in_one_model(flat: FlatStructure, ends: tuple) -> bool:
    model = _model_of(flat)
    return model[ends[0][0]] == model[ends[1][0]]


def _light(light: Light) -> ET.Element:
    direction = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
    length = math.hypot(*direction)
    kind = "directional" if light.kind == "sun" else "point"
    node = ET.Element("light", name=light.name, type=kind)
    add(node, "pose", f"{numbers_text(light.xyz)} 0 0 0")
    add(node, "cast_shadows", "true" if light.shadows else "false")
    add(node, "diffuse", numbers_text(rgba(light.color)))
    add(node, "intensity", number_text(light.strength))
    if length > 1e-9:
        add(node, "direction", numbers_text(c / length for c in direction))
    return node


__all__ = ["SdfFormat"]


class SdfFormat:
    """Reads and writes SDF files.

    Args:
        missing: "error" refuses a file whose meshes or included models cannot be found, "skip"
            leaves them out and notes it; None does as :func:`missing_files` says.

    Attributes:
        part_notes: What the last read left out or changed, one line each.
    """

    suffixes = (".sdf", ".world")

    def __init__(self, *, missing: MissingFiles | None = None) -> None:
        self.missing = missing
        self.part_notes: list[str] = []

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """Returns the model or world in a file (notes are in ``part_notes``).

        Raises:
            LinkworkError: If the file is not an SDF, or something that it names is missing.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """Returns the model or world in a file, and notes on omissions and changes."""
        skip = (self.missing or missing_files()) == "skip"
        thing, self.part_notes = read_sdf(Path(path), skip_missing=skip)
        return thing, self.part_notes

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part as a model, or a scene as a world.

        Returns:
            Notes on omissions and changes, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_sdf(thing, Path(path))
