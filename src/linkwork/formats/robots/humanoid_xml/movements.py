"""Movements in humanoid XML: timed postures in the robot's file."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from itertools import count
from pathlib import Path
from typing import Any

from linkwork.core.errors import FormatError, Origin, not_found, os_error_text, suggestion
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.humanoid_xml.joints import Articulation
from linkwork.formats.robots.humanoid_xml.read import HumanoidRobot, read_robot
from linkwork.formats.robots.humanoid_xml.values import (
    descriptions,
    identifier,
    name_of,
    number,
    optional,
)
from linkwork.formats.robots.humanoid_xml.write import add_descriptions, robot_tree
from linkwork.formats.robots.xml import XmlNode, required_attribute
from linkwork.formats.robots.xml import number_attribute as attribute
from linkwork.formats.text_output import number_text, save_bytes, xml_text
from linkwork.formats.toml.emit import angle
from linkwork.model.parts import Part
from linkwork.model.scene import Movement, TimedPosture
from linkwork.model.scene.motion_limits import MotionLimits


def read_movements(path: Path, *, text: str | None = None) -> list[Movement]:
    """Returns all movements in a robot's file.

    A ``<movement>`` has an ID, descriptions and postures: ``<posture><time value='1.5'/><joint
    ID='0' value='-30'/>…</posture>``, values in degrees or meters; ``value2`` is about the second
    axis of a universal joint. ``<interpolation value='smooth'/>`` sets the interpolation, "linear"
    by default. A ``<planner value='acceleration'/>`` in a movement, or in a posture for the motion
    to it, plans within ``<speed Max='281'/>``, ``<acceleration Max='1400'/>`` and ``<jerk
    Max='…'/>`` of the movement; joints pass with their ``speed`` (and ``speed2``) if given.

    Args:
        path: The file.
        text: Its text, if it need not be read.

    Raises:
        LinkworkError: If the file does not follow the format; names file and line.
    """
    robot = read_robot(path, text=text)
    made: dict[str, Movement] = {}
    for section in robot.root.all("movements"):
        for node in section.all("movement"):
            movement = _movement(node, robot, set(made))
            made[movement.name] = movement
    return list(made.values())


def _movement(node: XmlNode, robot: HumanoidRobot, taken: set[str]) -> Movement:
    labels = descriptions(node)
    name = name_of(node, labels, f"movement_{identifier(node)}", taken)
    postures = tuple(_read_posture(each, robot) for each in node.all("posture"))
    angles = {
        each.dof(axis)
        for each in robot.articulations.values()
        for axis in range(2 if each.type == "universal" else 1)
        if each.type in ("hinge", "universal")
    }
    return Movement(
        name, postures, _optional_value(node, "interpolation") or "linear", labels=labels,
        angles=frozenset(angles), origin=node.origin, planner=_optional_value(node, "planner"),
        limits=_read_limits(node, postures, angles),
    )  # fmt: skip


def _optional_value(node: XmlNode, tag: str) -> str:
    child = node.first(tag)
    return required_attribute(child, "value") if child is not None else ""


def _read_limits(
    node: XmlNode, postures: tuple[TimedPosture, ...], angles: set[str]
) -> dict[str, MotionLimits]:
    """Returns the limits of each joint; the file gives one number for all, in degrees or meters."""
    limits = {tag: optional(node, tag, "Max") for tag in ("speed", "acceleration", "jerk")}
    given = {tag: value for tag, value in limits.items() if value is not None}
    joints = dict.fromkeys(joint for each in postures for joint in each.joints) if given else {}
    units = {joint: math.pi / 180.0 if joint in angles else 1.0 for joint in joints}
    found = {}
    for joint in joints:
        scaled: dict[str, Any] = {tag: value * units[joint] for tag, value in given.items()}
        found[joint] = MotionLimits(**scaled)
    return found


def _read_posture(node: XmlNode, robot: HumanoidRobot) -> TimedPosture:
    values: dict[str, float] = {}
    speeds: dict[str, float] = {}
    for child in node.all("joint"):
        joint_id = required_attribute(child, "ID")
        joint = robot.articulations.get(joint_id)
        if joint is None:
            raise FormatError(
                f"a posture names joint {joint_id}, which does not exist.",
                origin=child.origin,
                hint=suggestion(joint_id, robot.articulations, kind="joints"),
            )
        unit = 1.0 if joint.type == "slider" else math.pi / 180.0
        for axis, (key, speed) in enumerate((("value", "speed"), ("value2", "speed2"))):
            if key in child.attributes or (axis == 0 and "value2" not in child.attributes):
                values[joint.dof(axis)] = attribute(child, key) * unit
            if speed in child.attributes:
                speeds[joint.dof(axis)] = attribute(child, speed) * unit
    time = number(node, "time", "value")
    return TimedPosture(time, values, node.origin, speeds, _optional_value(node, "planner"))


_HEAD = '<?xml version="1.0"?>'
_DECLARATION = re.compile(r"\s*<\?xml[^>]*?\?>")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding=[\"']([A-Za-z0-9._-]+)[\"']")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MOVEMENT = re.compile(r"[ \t]*<movement(?=[\s>]).*?</movement\s*>[ \t]*\n?", re.DOTALL)
_EMPTY = re.compile(r"<movements\s*/>")

#: Joint in the file and number of the axis, by degree of freedom.
JointNumbers = dict[str, tuple[Articulation, int]]


def write_movement(movement: Movement, path: Path, *, robot: Part | None = None) -> list[str]:
    """Writes a movement into a file; one of the same name is replaced.

    Args:
        movement: The movement.
        path: The file; it must exist if ``robot`` is None.
        robot: The robot of the movement, which is written too.

    Returns:
        Notes on omissions, one line each.

    Raises:
        LinkworkError: If there is no robot, or it lacks a joint, or the file cannot be written.
    """
    notes, code = ConversionNotes(), "utf-8"
    if robot is not None:
        root, notes = robot_tree(robot)
        text = f"{_HEAD}\n{xml_text(root)}\n"
    elif path.is_file():
        text, code = _text_of(path)
    else:
        raise FormatError(
            "this format stores a movement with its robot, and there is none.",
            origin=Origin(str(path)),
            hint="Name the robot: robot=… in Python, --robot on the command line.",
        )
    bare = _DECLARATION.sub("", text, count=1)  # it names an encoding
    known = read_movements(path, text=bare)
    names = [each.name for each in known]
    numbers = _numbers(path, bare)
    place = names.index(movement.name) if movement.name in names else None
    free = (str(n) for n in count() if str(n) not in numbers)
    number = (numbers[place] if place is not None else "") or next(free)
    node = movement_node(movement, read_robot(path, text=bare), number, notes)
    save_bytes(path, _put(text, xml_text(node), place).encode(code, "xmlcharrefreplace"))
    return notes.lines()


def movement_node(
    movement: Movement, robot: HumanoidRobot, number: str, notes: ConversionNotes
) -> ET.Element:
    """Returns a movement as XML.

    Raises:
        NameNotFound: If the robot lacks one of its joints.
    """
    dofs = _joint_numbers(movement, robot)
    node = ET.Element("movement")
    ET.SubElement(node, "ID", value=number)
    add_descriptions(node, movement.labels, movement.name)
    if movement.interpolation != "linear":
        ET.SubElement(node, "interpolation", value=movement.interpolation)
    if movement.planner:
        ET.SubElement(node, "planner", value=movement.planner)
    if movement.title:
        notes.about("titles of movements, left out", movement.name)
    if movement.losses:
        notes.about("losses of movements, left out", movement.name)
    _limit_nodes(node, movement, dofs, notes)
    for posture in movement.postures:
        node.append(_posture_node(posture, dofs))
    return node


def _joint_numbers(movement: Movement, robot: HumanoidRobot) -> JointNumbers:
    """Returns each joint of a movement in the file, where ``_`` separates scopes."""
    known: JointNumbers = {}
    for each in robot.articulations.values():
        for axis in range(2 if each.type == "universal" else 1):
            known[each.dof(axis)] = (each, axis)
    found: JointNumbers = {}
    for joint in movement.joints():
        name = joint if joint in known else joint.replace("/", "_")
        if name not in known:
            raise not_found("joint", joint, known, origin=movement.origin)
        found[joint] = known[name]
    return found


def _limit_nodes(
    node: ET.Element, movement: Movement, dofs: JointNumbers, notes: ConversionNotes
) -> None:
    """Adds the limits that are equal for all joints, in degrees or meters."""
    for tag in ("speed", "acceleration", "jerk"):
        limits = {joint: getattr(each, tag) for joint, each in movement.limits.items()}
        finite = {joint: value for joint, value in limits.items() if math.isfinite(value)}
        shown = {_number(value, _unit(dofs[joint][0])) for joint, value in finite.items()}
        if len(shown) == 1 and len(finite) == len(dofs):
            ET.SubElement(node, tag, Max=shown.pop())
        elif finite:
            text = f"largest {tag} that is not the same for all joints, left out"
            notes.about(text, movement.name)


def _posture_node(posture: TimedPosture, dofs: JointNumbers) -> ET.Element:
    node = ET.Element("posture")
    ET.SubElement(node, "time", value=number_text(posture.time))
    if posture.planner:
        ET.SubElement(node, "planner", value=posture.planner)
    made: dict[str, ET.Element] = {}
    for joint, value in posture.joints.items():
        each, axis = dofs[joint]
        child = made.get(each.number)
        if child is None:
            child = made[each.number] = ET.SubElement(node, "joint", ID=each.number)
        unit, second = _unit(each), "2" if axis else ""
        child.set(f"value{second}", _number(value, unit))
        if joint in posture.speeds:
            child.set(f"speed{second}", _number(posture.speeds[joint], unit))
    return node


def _unit(joint: Articulation) -> float:
    return 1.0 if joint.type == "slider" else math.pi / 180.0


def _number(value: float, unit: float) -> str:
    """Returns a value in the file's unit, if possible as a decimal that reads back bit-exact."""
    tidy = angle("", value).get("_deg") if unit != 1.0 else None
    if tidy is not None:
        return number_text(tidy)
    there = value / unit
    tries = (there, math.nextafter(there, -math.inf), math.nextafter(there, math.inf))
    return number_text(next((each for each in tries if each * unit == value), there))


# ---- the file's text ---------------------------------------------------------------------


def _text_of(path: Path) -> tuple[str, str]:
    """Returns the text of a file and its encoding."""
    try:
        data = path.read_bytes()
        declared = _ENCODING.match(data[:200])
        code = declared[1].decode() if declared else "utf-8-sig"
        return data.decode(code), "utf-8" if code == "utf-8-sig" else code
    except (OSError, LookupError, UnicodeError) as error:
        why = os_error_text(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=Origin(str(path))) from error


def _numbers(path: Path, text: str) -> list[str]:
    """Returns the numbers of the movements in a file, in its order."""
    root = read_robot(path, text=text).root
    nodes = [node for section in root.all("movements") for node in section.all("movement")]
    return [identifier(node) if node.first("ID") is not None else "" for node in nodes]


def _put(text: str, made: str, place: int | None) -> str:
    """Returns the text with a movement inserted, replacing number ``place`` or after the last one.

    Comments are ignored and kept.
    """
    block = "".join(f"    {line}\n" for line in made.splitlines())
    empty = _EMPTY.search(_masked(text))
    if empty:
        text = f"{text[: empty.start()]}<movements>\n  </movements>{text[empty.end() :]}"
    masked = _masked(text)
    if place is not None:
        old = list(_MOVEMENT.finditer(masked))[place]
        return text[: old.start()] + block + text[old.end() :]
    end = masked.rfind("</movements")
    if end < 0:
        end, block = masked.rindex("</robot"), f"  <movements>\n{block}  </movements>\n"
    line = masked.rfind("\n", 0, end) + 1
    if masked[line:end].strip():  # other text precedes it on its line
        return f"{text[:end]}\n{block}{text[end:]}"
    return text[:line] + block + text[line:]


def _masked(text: str) -> str:
    """Returns the text with its comments replaced by blanks."""
    return _COMMENT.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
