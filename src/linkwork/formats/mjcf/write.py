"""Writing: a part or scene becomes an MJCF file that MuJoCo compiles."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.errors import FormatError, Origin
from linkwork.formats.colors import rgba
from linkwork.formats.flat import flatten
from linkwork.formats.losses import note_losses
from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.mjcf.source import DEEPEST
from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.mjcf.write_drives import actuators, keyframes
from linkwork.formats.mjcf.write_geoms import GeomWriter
from linkwork.formats.mjcf.write_joints import JointWriter
from linkwork.formats.mjcf.write_options import options
from linkwork.formats.mjcf.write_sensors import sensors
from linkwork.formats.mjcf.write_tendons import pairs, tendon_ties, tendons
from linkwork.formats.mjcf.write_ties import equalities, exclusions
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.save_text import save_xml
from linkwork.formats.view import looking
from linkwork.parts import Part
from linkwork.scene import Light, Scene, Viewpoint

#: What MJCF has words for; the rest is told.
SAYS = {
    "loops", "couplings", "sensors", "postures", "lights", "viewpoints", "collision rules",
    "lights without shadows", "gravity", "time step", "actuators", "elements: masses",
    "elements: friction", "elements: initial motion", "joints: initial speeds",
    "joints: largest efforts",
    "joints: damping", "joints: friction", "joints: springs", "joints: rotor inertias",
    "joints: initial values", "joints: drives", "joints: engine words", "elements: engine words",
    "anchors", "engines",
}  # fmt: skip


def write_mjcf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to ``path`` and returns what was left out or said differently.

    Bodies have the frames of their elements, so that poses agree; names are full names.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = Notes()
    flat = flatten(thing)
    note_losses(flat, SAYS, notes)
    spelling = Spelling.of(flat)
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
    root.extend(options(flat, spelling, notes))
    assets = ET.Element("asset")
    assets.extend(geoms.assets)
    contacts = exclusions(flat, bodies, notes)
    contacts.extend(pairs(spelling, bodies, notes))
    strings = tendons(spelling, bodies, notes)
    ties = equalities(flat, bodies, notes)
    ties.extend(tendon_ties(spelling, strings, notes))
    drives = actuators(flat, bodies, strings, notes)
    read = sensors(flat, bodies, strings, notes)
    sections = [
        assets, worldbody, contacts, strings, ties, drives, read, keyframes(flat, joints, notes),
    ]  # fmt: skip
    root.extend(section for section in sections if len(section))
    _check_depth(root, path)
    save_xml(path, root)
    return notes.lines()


def _check_depth(root: ET.Element, path: Path) -> None:
    """Refuses what MuJoCo would not read."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise FormatError(
                f"bodies would be nested deeper than {DEEPEST} elements, the most MuJoCo reads.",
                origin=Origin(str(path)),
                hint="URDF and SDF write them as a flat list.",
            )
        waiting.extend((child, depth + 1) for child in node)


def _light(light: Light) -> ET.Element:
    way = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
    color = [min(c * light.strength, 1.0) for c in rgba(light.color)[:3]]
    node = ET.Element("light", name=light.name, pos=numerals(light.xyz))
    if math.hypot(*way) > 1e-9:
        node.set("dir", numerals(way))
    if light.kind == "sun":
        node.set("directional", "true")
    node.set("castshadow", "true" if light.shadows else "false")
    node.set("diffuse", numerals(color))
    return node


def _camera(view: Viewpoint) -> ET.Element:
    pose = looking(view.xyz, view.look_at)
    node = ET.Element("camera", name=view.name, pos=numerals(pose.xyz), quat=numerals(pose.quat))
    node.set("fovy", numeral(math.degrees(view.opening)))
    return node
