"""Humanoid XML writer: elements as solids, joints as articulations, at joint values 0."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import count
from pathlib import Path

import numpy as np

from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.extent import shape_extent, zero_element_poses
from linkwork.formats.flat import FlatLink, flatten
from linkwork.formats.names import original_keys
from linkwork.formats.robots.humanoid_xml.joints import TYPES
from linkwork.formats.robots.humanoid_xml.read import JOINT, SOLID
from linkwork.formats.robots.humanoid_xml.values import LANGUAGES
from linkwork.formats.text_output import number_text, save_xml
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.parts.spec import plain_name

#: Fields that the format holds; others are noted.
SUPPORTED_FIELDS = {
    "labels", "elements: masses", "elements: labels", "joints: largest speeds",
    "joints: largest efforts", "joints: drives", "joints: labels",
}  # fmt: skip
#: Edge of a solid that has no shape [m].
MIN_SIZE = 1e-3


def write_robot(part: Part, path: Path) -> list[str]:
    """Writes a part.

    Returns:
        Notes on omissions and changes, one line each.

    Raises:
        LinkworkError: If the part is not one tree, or the file cannot be written.
    """
    root, notes = robot_tree(part)
    save_xml(path, root)
    return notes.lines()


def robot_tree(part: Part) -> tuple[ET.Element, ConversionNotes]:
    """Returns a part as XML, and notes on omissions.

    Raises:
        LinkworkError: If the part is not one tree.
    """
    notes = ConversionNotes()
    flat, poses = flatten(part), zero_element_poses(part)
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    for scope, each in flat.parts:
        if scope and each.labels:
            notes.about("labels of attached parts, left out", scope)
    root = ET.Element("robot")
    ET.SubElement(root, "kind", value=part.title or "robot")
    add_descriptions(root, part.labels)
    solids, joints = ET.SubElement(root, "solids"), ET.SubElement(root, "articulations")
    ids = _numbers(part, SOLID, [link.name for link in flat.links])
    moving = [link.joint_name or f"{link.name}_fixed" for link in flat.links if link.carrier]
    joint_ids = _numbers(part, JOINT, moving)
    for link in flat.links:
        solids.append(_solid(link, poses[link.name], ids[link.name], notes))
        if link.carrier:
            joints.append(_joint(link, poses, ids, joint_ids, notes))
    return root, notes


def _numbers(part: Part, kind: str, names: list[str]) -> dict[str, str]:
    """Returns a number for each name: that of the imported file, else the next free one."""
    known = original_keys(part, kind)
    taken = {known[name] for name in names if name in known}
    free = (str(n) for n in count() if str(n) not in taken)
    return {name: known.get(name) or next(free) for name in names}


def _triple(parent: ET.Element, tag: str, values: np.ndarray) -> None:
    x, y, z = (number_text(float(c)) for c in values)
    ET.SubElement(parent, tag, x=x, y=y, z=z)


def add_descriptions(parent: ET.Element, labels: dict[str, str], name: str = "") -> None:
    """Adds the descriptions, and the name unless it follows from the English one."""
    spelled = {code: word for word, code in LANGUAGES.items()}
    name = name.replace("/", "_")
    if name and plain_name(labels.get("en", "").lower()) != name:
        ET.SubElement(parent, "name", value=name)
    for code, text in labels.items():
        ET.SubElement(parent, "desc", {spelled.get(code, code): text})


def _solid(link: FlatLink, pose: Pose, number: str, notes: ConversionNotes) -> ET.Element:
    element = link.element or Element(link.name.replace("/", "_"))
    low, high, exact = _box(element, pose)
    mass = element.mass_properties().moved(pose)
    if not exact:
        notes.about(
            "shapes that are not one upright box, written as the box around them", link.name
        )
    middle = (low + high) / 2.0
    if mass.mass and not np.allclose(mass.com, middle, atol=1e-9):
        notes.about("centers of mass off the center, moved there", link.name)
    if element.color != Element.color or any(shape.color for shape in element.shapes):
        notes.about("colors of elements, left out", link.name)
    if element.inertia is not None:
        notes.about("inertias, written as those of the boxes", link.name)
    node = ET.Element("cuboid")
    ET.SubElement(node, "ID", value=number)
    _triple(node, "pos", middle)
    _triple(node, "size", high - low)
    ET.SubElement(node, "mass", value=number_text(mass.mass))
    add_descriptions(node, element.labels, link.name)
    return node


def _box(element: Element, pose: Pose) -> tuple[np.ndarray, np.ndarray, bool]:
    """Returns the bounding box of an element, and whether the element is exactly that box."""
    found = [pair for s in element.shapes if (pair := shape_extent(s, pose)) is not None]
    if not found:
        return np.array(pose.xyz) - MIN_SIZE / 2, np.array(pose.xyz) + MIN_SIZE / 2, False
    low = np.min([pair[0] for pair in found], axis=0)
    high = np.max([pair[1] for pair in found], axis=0)
    shape = element.shapes[0]
    upright = np.allclose((pose @ shape.at).matrix(), np.eye(3), atol=1e-12)
    exact = isinstance(shape, Box) and len(element.shapes) == 1 and upright
    if exact and isinstance(shape, Box):  # bit-exact
        middle = np.array((pose @ shape.at).xyz)
        half = np.array(shape.size) / 2.0
        return middle - half, middle + half, True
    high = np.maximum(high, low + MIN_SIZE)
    return low, high, exact


def _joint(
    link: FlatLink, poses: dict[str, Pose], ids: dict[str, str], joint_ids: dict[str, str],
    notes: ConversionNotes,
) -> ET.Element:  # fmt: skip
    frame = poses[link.carrier] @ link.at
    joint = link.joint or Joint("fixed", "fixed", "a", "b")
    name = link.joint_name or f"{link.name}_fixed"
    types = {here: there for there, here in TYPES.items()}
    kind = types.get(joint.type)
    if kind is None:
        notes.about(f"{joint.type} joints, written as fixed", name)
        kind = "Fixed"
    node = ET.Element("joint")
    ET.SubElement(node, "ID", value=joint_ids[name])
    _triple(node, "pos", np.array(frame.xyz))
    if kind != "Fixed":
        _triple(node, "axis", np.array(frame.rotate(joint.axis)))
    if kind == "Universal":
        _triple(node, "axis2", np.array(frame.rotate(joint.axis2)))
    ET.SubElement(node, "connect", B1=ids[link.carrier], B2=ids[link.name])
    unit = 1.0 if kind == "Slider" else 180.0 / math.pi
    for tag, pair in zip(("limits", "limits2"), joint.ranges, strict=False):
        if pair is not None and kind != "Fixed":
            ET.SubElement(
                node, tag, Min=number_text(pair[0] * unit), Max=number_text(pair[1] * unit)
            )
    ET.SubElement(node, "type", value=kind)
    if joint.max_effort is not None:
        ET.SubElement(node, "torque", Max=number_text(joint.max_effort))
    if joint.max_speed is not None:
        ET.SubElement(node, "speed", Max=number_text(joint.max_speed * unit))
    drive = joint.drive
    if drive is not None and drive.type == "servo" and {"kp", "kd"} >= {*drive.params}:
        gains = {"P": drive.params.get("kp", 20.0), "D": drive.params.get("kd", 0.5)}
        ET.SubElement(node, "servo", {key: number_text(value) for key, value in gains.items()})
    elif drive is not None:
        notes.about("drives that are no plain servos, left out", name)
    add_descriptions(node, joint.labels, name)
    return node
