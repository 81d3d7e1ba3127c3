"""Movements: postures at times, in the same language as the robot (004 §3.2)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from linkwork.errors import FormatError, suggestion
from linkwork.formats.humanoid_xml.read import Robot, read_robot
from linkwork.formats.humanoid_xml.values import described, ident, name_of, number, optional
from linkwork.formats.urdf.values import number as attribute
from linkwork.formats.urdf.values import word
from linkwork.formats.xml_tree import Node
from linkwork.scene import Movement, TimedPosture
from linkwork.scene.planning import Limits


def read_movements(path: Path, *, text: str | None = None) -> list[Movement]:
    """Every movement of a robot's file.

    A ``<movement>`` has an ID, descriptions and postures: ``<posture><time value='1.5'/><joint
    ID='0' value='-30'/>…</posture>``, values in degrees or metres; ``value2`` is about the second
    axis of a universal joint. ``<interpolation value='smooth'/>`` says how joints get from one to
    the next, evenly without. A ``<planner value='acceleration'/>`` in a movement, or in a posture
    for the way to it, plans within ``<speed Max='281'/>``, ``<acceleration Max='1400'/>`` and
    ``<jerk Max='…'/>`` of the movement; joints pass with their ``speed`` (and ``speed2``) if given.

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
    name = name_of(node, labels, f"movement_{ident(node)}", taken)
    postures = tuple(_posture(each, robot) for each in node.all("posture"))
    angles = {
        each.freedom(axis)
        for each in robot.articulations.values()
        for axis in range(2 if each.type == "universal" else 1)
        if each.type in ("hinge", "universal")
    }
    return Movement(
        name, postures, _said(node, "interpolation") or "linear", labels=labels,
        angles=frozenset(angles), origin=node.origin, planner=_said(node, "planner"),
        limits=_limits(node, postures, angles),
    )  # fmt: skip


def _said(node: Node, tag: str) -> str:
    child = node.first(tag)
    return word(child, "value") if child is not None else ""


def _limits(node: Node, postures: tuple[TimedPosture, ...], angles: set[str]) -> dict[str, Limits]:
    """What all joints may do at most, in degrees or metres as each of them moves."""
    said = {tag: optional(node, tag, "Max") for tag in ("speed", "acceleration", "jerk")}
    given = {tag: value for tag, value in said.items() if value is not None}
    joints = dict.fromkeys(joint for each in postures for joint in each.joints) if given else {}
    units = {joint: math.pi / 180.0 if joint in angles else 1.0 for joint in joints}
    found = {}
    for joint in joints:
        most: dict[str, Any] = {tag: value * units[joint] for tag, value in given.items()}
        found[joint] = Limits(**most)
    return found


def _posture(node: Node, robot: Robot) -> TimedPosture:
    values: dict[str, float] = {}
    speeds: dict[str, float] = {}
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
        for axis, (key, speed) in enumerate((("value", "speed"), ("value2", "speed2"))):
            if key in child.attributes or (axis == 0 and "value2" not in child.attributes):
                values[joint.freedom(axis)] = attribute(child, key) * unit
            if speed in child.attributes:
                speeds[joint.freedom(axis)] = attribute(child, speed) * unit
    time = number(node, "time", "value")
    return TimedPosture(time, values, node.origin, speeds, _said(node, "planner"))
