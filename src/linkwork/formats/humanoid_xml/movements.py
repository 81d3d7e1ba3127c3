"""Movements: postures at times, in the same language as the robot (004 §3.2)."""

from __future__ import annotations

import math
from pathlib import Path

from linkwork.errors import FormatError, suggestion
from linkwork.formats.humanoid_xml.read import Robot, read_robot
from linkwork.formats.humanoid_xml.values import described, ident, number
from linkwork.formats.urdf.values import number as attribute
from linkwork.formats.urdf.values import word
from linkwork.formats.xml_tree import Node
from linkwork.parts.names import plain
from linkwork.scene import Movement, TimedPosture


def read_movements(path: Path, *, text: str | None = None) -> list[Movement]:
    """Every movement of a robot's file.

    A ``<movement>`` has an ID, descriptions and postures: ``<posture><time value='1.5'/><joint
    ID='0' value='-30'/>…</posture>``, values in degrees or metres; ``value2`` is about the second
    axis of a universal joint.

    Args:
        path: The file.
        text: What it holds, if it need not be read.

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


def _movement(node: Node, robot: Robot, taken: set[str]) -> Movement:
    labels = described(node)
    name = plain((labels.get("en") or f"movement_{ident(node)}").lower(), taken)
    postures = tuple(_posture(each, robot) for each in node.all("posture"))
    angles = {
        each.freedom(axis)
        for each in robot.articulations.values()
        for axis in range(2 if each.type == "universal" else 1)
        if each.type in ("hinge", "universal")
    }
    return Movement(
        name, postures, "linear", labels=labels, angles=frozenset(angles), origin=node.origin
    )


def _posture(node: Node, robot: Robot) -> TimedPosture:
    values: dict[str, float] = {}
    for child in node.all("joint"):
        said = word(child, "ID")
        joint = robot.articulations.get(said)
        if joint is None:
            raise FormatError(
                f"a posture names joint {said}, which does not exist.",
                origin=child.origin,
                hint=suggestion(said, robot.articulations, kind="joints"),
            )
        unit = 1.0 if joint.type == "slider" else math.pi / 180.0
        for axis, key in enumerate(("value", "value2")):
            if axis == 0 or key in child.attributes:
                values[joint.freedom(axis)] = attribute(child, key) * unit
    return TimedPosture(number(node, "time", "value"), values, node.origin)
