"""MJCF: MuJoCo's models, read into scenes, written from parts or scenes."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkwork.core.errors import FormatError, Origin
from linkwork.formats.appearance import look_at_pose, rgba
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import FlatStructure, flatten
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.robots.mjcf.naming import JOINT_NAMES, MjcfNames, set_native_attributes
from linkwork.formats.robots.mjcf.source import MAX_DEPTH
from linkwork.formats.robots.mjcf.write_actuators import actuators, keyframes
from linkwork.formats.robots.mjcf.write_bodies import BodyWriter
from linkwork.formats.robots.mjcf.write_constraints import (
    equalities,
    exclusions,
    joint_equalities,
    pairs,
    tendon_equalities,
    tendons,
)
from linkwork.formats.robots.mjcf.write_geoms import GeomWriter
from linkwork.formats.robots.mjcf.write_joints import JointWriter
from linkwork.formats.robots.mjcf.write_sensors import sensors
from linkwork.formats.robots.xml import root_tag
from linkwork.formats.text_output import number_text, numbers_text, save_xml
from linkwork.model.parts import Part
from linkwork.model.parts.joint import JOINT_ATTRIBUTES
from linkwork.model.scene import Light, Scene, Viewpoint

#: Defaults of the engine that differ from MuJoCo's.
_DEFAULTED = {"integrator": "discrete", "cone": "elliptic", "impratio": 100.0, "tolerance": 1e-10}
_OPTIONS = (
    "integrator", "cone", "iterations", "tolerance", "impratio", "solver", "jacobian",
    "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations",
    "ccd_tolerance", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref",
    "o_solimp", "o_friction",
)  # fmt: skip
#: Parameters that are written elsewhere in the file.
_WRITTEN_ELSEWHERE = ("native", "disable", "enable", "pairs", "tendons", "tendon_equalities")
#: Memory for solvers that need a matrix of all constraints.
_MEMORY = "256M"


def option_nodes(
    flat: FlatStructure, spelling: MjcfNames, notes: ConversionNotes
) -> list[ET.Element]:
    """Returns the ``<option>``, and the ``<size>`` if MuJoCo's default memory is too small."""
    given: Mapping[str, Any] = spelling.engine or {}
    defaults = _DEFAULTED if spelling.native else {"integrator": "implicitfast", "cone": "elliptic"}
    option = ET.Element("option")
    set_native_attributes(
        option,
        defaults | {word: given[word] for word in _OPTIONS if given.get(word, "auto") != "auto"},
    )
    if flat.scene is not None:
        option.set("timestep", number_text(flat.scene.step))
        option.set("gravity", numbers_text(flat.scene.gravity))
        for engine in flat.scene.engines:
            if spelling.engine is None or engine.type != "mujoco":
                notes.about("engines, left out", engine.type)
    flags = dict.fromkeys(given.get("disable", ()), "disable")
    flags |= dict.fromkeys(given.get("enable", ()), "enable")
    if flags:
        ET.SubElement(option, "flag", flags)
    for word in given:
        if word not in (*_OPTIONS, *_WRITTEN_ELSEWHERE):
            notes.about("parameters of the engine mujoco, left out", word)
    if spelling.engine is not None and not spelling.native:
        notes.add("limits, contacts and constraints have MuJoCo's default softness.")
    if given.get("noslip_iterations") or given.get("solver") == "PGS":
        return [option, ET.Element("size", memory=_MEMORY)]
    return [option]


#: Fields that MJCF holds; others are noted.
SUPPORTED_FIELDS = {
    "loops", "couplings", "sensors", "postures", "lights", "viewpoints", "collision rules",
    "lights without shadows", "gravity", "time step", "actuators", "elements: masses",
    "elements: friction", "elements: initial motion", "joints: initial speeds",
    "joints: largest efforts", "joints: initial values", "joints: drives", "joints: engine words",
    "elements: engine words", "anchors", "engines",
    *(f"joints: {JOINT_ATTRIBUTES[name].plural}" for name in JOINT_NAMES),
}  # fmt: skip


def _note_self_collision(thing: Part | Scene, notes: ConversionNotes) -> None:
    """Notes the parts whose elements collide by a rule that only the engine here knows."""
    parts = [thing] if isinstance(thing, Part) else [each.part for each in thing.parts.values()]
    for part in parts:
        if part.self_collision != "all":
            notes.about("self_collision, left out: elements may push each other apart", part.name)


def write_mjcf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to ``path`` and returns notes on omissions and changes.

    Body frames are the frames of their elements; names are full names.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = ConversionNotes()
    flat = flatten(thing)
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    _note_self_collision(thing, notes)
    spelling = MjcfNames.of(flat)
    geoms = GeomWriter(MeshFolder(path, notes), spelling, notes)
    joints = JointWriter(notes, spelling)
    bodies = BodyWriter(flat, geoms, joints, notes, spelling)
    worldbody = ET.Element("worldbody")
    if flat.scene is not None:
        worldbody.extend(_light(light) for light in flat.scene.lights)
        worldbody.extend(_camera(view) for view in flat.scene.viewpoints)
    bodies.write(worldbody)
    geoms.rank()
    root = ET.Element("mujoco", model=thing.name)
    compiler = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false"}
    ET.SubElement(root, "compiler", compiler)
    root.extend(option_nodes(flat, spelling, notes))
    assets = ET.Element("asset")
    assets.extend(geoms.assets)
    contacts = exclusions(flat, bodies, notes)
    contacts.extend(pairs(spelling, bodies, notes))
    strings = tendons(spelling, bodies, notes)
    equality = equalities(flat, bodies, notes)
    equality.extend(tendon_equalities(spelling, strings, notes))
    equality.extend(joint_equalities(spelling, bodies, notes))
    drives, written = actuators(flat, bodies, strings, notes)
    read = sensors(flat, bodies, strings, notes)
    sections = [
        assets,
        worldbody,
        contacts,
        strings,
        equality,
        drives,
        read,
        keyframes(flat, joints, written, notes),
    ]
    root.extend(section for section in sections if len(section))
    _check_depth(root, path)
    save_xml(path, root)
    return notes.lines()


def _check_depth(root: ET.Element, path: Path) -> None:
    """Rejects nesting deeper than MuJoCo reads."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise FormatError(
                f"bodies would be nested deeper than {MAX_DEPTH} elements, the most MuJoCo reads.",
                origin=Origin(str(path)),
                hint="URDF and SDF write them as a flat list.",
            )
        waiting.extend((child, depth + 1) for child in node)


def _light(light: Light) -> ET.Element:
    direction = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
    color = [min(c * light.strength, 1.0) for c in rgba(light.color)[:3]]
    node = ET.Element("light", name=light.name, pos=numbers_text(light.xyz))
    if math.hypot(*direction) > 1e-9:
        node.set("dir", numbers_text(direction))
    if light.kind == "sun":
        node.set("directional", "true")
    node.set("castshadow", "true" if light.shadows else "false")
    node.set("diffuse", numbers_text(color))
    return node


def _camera(view: Viewpoint) -> ET.Element:
    pose = look_at_pose(view.xyz, view.look_at)
    node = ET.Element(
        "camera", name=view.name, pos=numbers_text(pose.xyz), quat=numbers_text(pose.quat)
    )
    node.set("fovy", number_text(math.degrees(view.opening)))
    return node


__all__ = ["MjcfFormat", "write_mjcf"]


class MjcfFormat:
    """Reads and writes MuJoCo's models."""

    suffixes = (".mjcf", ".xml")

    def recognizes(self, head: bytes) -> bool:
        """Whether a file is an MJCF model, from its start."""
        return root_tag(head) == "mujoco"

    def read(self, path: str | os.PathLike[str]) -> Scene:
        """Returns the model in a file.

        Raises:
            LinkworkError: If MuJoCo rejects it; the message names file and line.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Scene, list[str]]:
        """Returns the model in a file, and notes on omissions and changes."""
        from linkwork.formats.robots.mjcf.read import read_mjcf  # imports MuJoCo

        return read_mjcf(Path(path))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part or scene.

        Returns:
            Notes on omissions and changes, one line each.
        """
        return write_mjcf(thing, Path(path))
