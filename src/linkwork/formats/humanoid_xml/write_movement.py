"""Writing movements into a robot's file, beside what it says of the robot."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from itertools import count
from pathlib import Path

from linkwork.errors import FormatError, Origin, not_found
from linkwork.formats.humanoid_xml.joints import Articulation
from linkwork.formats.humanoid_xml.movements import read_movements
from linkwork.formats.humanoid_xml.read import Robot, read_robot
from linkwork.formats.humanoid_xml.values import ident
from linkwork.formats.humanoid_xml.write import describe, robot_tree
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral
from linkwork.formats.save_text import save_bytes, xml_text
from linkwork.formats.toml.numbers import angle
from linkwork.parts import Part
from linkwork.scene import Movement, TimedPosture

_HEAD = '<?xml version="1.0"?>'
_DECLARATION = re.compile(r"\s*<\?xml[^>]*?\?>")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding=[\"']([A-Za-z0-9._-]+)[\"']")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MOVEMENT = re.compile(r"[ \t]*<movement(?=[\s>]).*?</movement\s*>[ \t]*\n?", re.DOTALL)
_EMPTY = re.compile(r"<movements\s*/>")

#: A freedom's joint in the file, and about which of its axes it is.
Freedoms = dict[str, tuple[Articulation, int]]


def write_movement(movement: Movement, path: Path, *, robot: Part | None = None) -> list[str]:
    """Puts a movement into a file, in place of the one of its name.

    Args:
        movement: What to write.
        path: The file; without a robot, one that is there.
        robot: Whose movement it is; it is written too.

    Returns:
        What the format cannot say, one line each.

    Raises:
        LinkworkError: If there is no robot, or it lacks a joint, or the file cannot be written.
    """
    notes, code = Notes(), "utf-8"
    if robot is not None:
        root, notes = robot_tree(robot)
        text = f"{_HEAD}\n{xml_text(root)}\n"
    elif path.is_file():
        text, code = _text_of(path)
    else:
        raise FormatError(
            "in this format a movement stands beside its robot, and there is none.",
            origin=Origin(str(path)),
            hint="Name the robot: robot=… in Python, --robot on the command line.",
        )
    bare = _DECLARATION.sub("", text, count=1)  # which names an encoding that a text has not
    known = read_movements(path, text=bare)
    names = [each.name for each in known]
    numbers = _numbers(path, bare)
    place = names.index(movement.name) if movement.name in names else None
    free = (str(n) for n in count() if str(n) not in numbers)
    number = (numbers[place] if place is not None else "") or next(free)
    node = movement_node(movement, read_robot(path, text=bare), number, notes)
    save_bytes(path, _put(text, xml_text(node), place).encode(code, "xmlcharrefreplace"))
    return notes.lines()


def movement_node(movement: Movement, robot: Robot, number: str, notes: Notes) -> ET.Element:
    """A movement as XML.

    Raises:
        NameNotFound: If the robot lacks one of its joints.
    """
    freedoms = _freedoms(movement, robot)
    node = ET.Element("movement")
    ET.SubElement(node, "ID", value=number)
    describe(node, movement.labels, movement.name)
    if movement.interpolation != "linear":
        ET.SubElement(node, "interpolation", value=movement.interpolation)
    if movement.planner:
        ET.SubElement(node, "planner", value=movement.planner)
    if movement.title:
        notes.about("titles of movements, left out", movement.name)
    if movement.losses:
        notes.about("losses of movements, left out", movement.name)
    _limits(node, movement, freedoms, notes)
    for posture in movement.postures:
        node.append(_posture(posture, freedoms))
    return node


def _freedoms(movement: Movement, robot: Robot) -> Freedoms:
    """Where each joint of a movement is in the file; scopes are parts of names there."""
    known: Freedoms = {}
    for each in robot.articulations.values():
        for axis in range(2 if each.type == "universal" else 1):
            known[each.freedom(axis)] = (each, axis)
    found: Freedoms = {}
    for joint in movement.joints():
        name = joint if joint in known else joint.replace("/", "_")
        if name not in known:
            raise not_found("joint", joint, known, origin=movement.origin)
        found[joint] = known[name]
    return found


def _limits(node: ET.Element, movement: Movement, freedoms: Freedoms, notes: Notes) -> None:
    """Limits that are one number for all joints, in degrees or metres as each of them moves."""
    for tag in ("speed", "acceleration", "jerk"):
        said = {joint: getattr(limits, tag) for joint, limits in movement.limits.items()}
        said = {joint: value for joint, value in said.items() if math.isfinite(value)}
        shown = {_number(value, _unit(freedoms[joint][0])) for joint, value in said.items()}
        if len(shown) == 1 and len(said) == len(freedoms):
            ET.SubElement(node, tag, Max=shown.pop())
        elif said:
            text = f"largest {tag} that is not the same for all joints, left out"
            notes.about(text, movement.name)


def _posture(posture: TimedPosture, freedoms: Freedoms) -> ET.Element:
    node = ET.Element("posture")
    ET.SubElement(node, "time", value=numeral(posture.time))
    if posture.planner:
        ET.SubElement(node, "planner", value=posture.planner)
    made: dict[str, ET.Element] = {}
    for joint, value in posture.joints.items():
        each, axis = freedoms[joint]
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
    """A value in the file's unit, to the last bit where a decimal is found that gives it back."""
    tidy = angle("", value).get("_deg") if unit != 1.0 else None
    if tidy is not None:
        return numeral(tidy)
    there = value / unit
    tries = (there, math.nextafter(there, -math.inf), math.nextafter(there, math.inf))
    return numeral(next((each for each in tries if each * unit == value), there))


# ---- the file's text ---------------------------------------------------------------------


def _text_of(path: Path) -> tuple[str, str]:
    """What a file holds, and the encoding in which it does."""
    try:
        data = path.read_bytes()
        said = _ENCODING.match(data[:200])
        code = said[1].decode() if said else "utf-8-sig"
        return data.decode(code), "utf-8" if code == "utf-8-sig" else code
    except (OSError, LookupError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"the file cannot be read: {why}.", origin=Origin(str(path))) from error


def _numbers(path: Path, text: str) -> list[str]:
    """The numbers of the movements in a file, in its order."""
    root = read_robot(path, text=text).root
    nodes = [node for section in root.all("movements") for node in section.all("movement")]
    return [ident(node) if node.first("ID") is not None else "" for node in nodes]


def _put(text: str, made: str, place: int | None) -> str:
    """The text with a movement, in place of the one of that number or behind all; the rest stays.

    What comments hold is not looked at.
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
    if masked[line:end].strip():  # something stands before it in its line
        return f"{text[:end]}\n{block}{text[end:]}"
    return text[:line] + block + text[line:]


def _masked(text: str) -> str:
    """The text with blanks in the place of its comments."""
    return _COMMENT.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
