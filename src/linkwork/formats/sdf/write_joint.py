"""Writing joints: each as one SDF joint, or as several where SDF has no word for it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.sdf.write_link import add, add_pose
from linkwork.parts import Coupling, Joint
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Pose, Vec3


@dataclass(frozen=True)
class Step:
    """One SDF joint: type, axes in the joint's frame with their ranges, end of its name."""

    type: str
    axes: tuple[tuple[Vec3, Range | None], ...] = ()
    suffix: str = ""


@dataclass(frozen=True)
class WrittenAxis:
    """An axis in the file: its joint, and whether it is the ``axis`` or the ``axis2``."""

    joint: ET.Element
    tag: str


def steps_of(joint: Joint, name: str, notes: Notes) -> list[Step]:
    """The SDF joints that together move as ``joint`` does, from the carrier outwards."""
    axis, second = joint.directions
    ranges = joint.ranges
    match joint.type:
        case "hinge":
            return [_turn(axis, ranges[0])]
        case "slider":
            return [Step("prismatic", ((axis, ranges[0]),))]
        case "fixed" | "ball":
            return [Step(joint.type)]
        case "universal":
            return [Step("universal", ((axis, ranges[0]), (second, ranges[1])))]
        case "screw":
            return [Step("screw", ((axis, ranges[0]),))]
        case "cylindrical":
            notes.about("cylindrical joints, written as a slider and a hinge each", name)
            return [
                Step("prismatic", ((axis, ranges[0]),), "_position"),
                _turn(axis, ranges[1], "_angle"),
            ]
        case "planar":
            notes.about("planar joints, written as two sliders and a hinge each", name)
            across = (
                axis[1] * second[2] - axis[2] * second[1],
                axis[2] * second[0] - axis[0] * second[2],
                axis[0] * second[1] - axis[1] * second[0],
            )
            return [
                Step("prismatic", ((second, ranges[0]),), "_x"),
                Step("prismatic", ((across, ranges[1]),), "_y"),
                _turn(axis, ranges[2], "_angle"),
            ]
    if any(piece.turn or piece.climb for piece in joint.rail):
        notes.about("bent rails, written straight as they begin", name)
    return [Step("prismatic", ((second, ranges[0]),))]


def _turn(axis: Vec3, range_: Range | None, suffix: str = "") -> Step:
    return Step("continuous" if range_ is None else "revolute", ((axis, range_),), suffix)


def joint_node(
    name: str, step: Step, joint: Joint | None, parent: str, child: str, at_to: Pose
) -> ET.Element:
    """The ``<joint>``, whose frame stands at ``at_to`` in the child."""
    node = ET.Element("joint", name=name, type=step.type)
    add_pose(node, at_to)
    add(node, "parent", parent)
    add(node, "child", child)
    if step.type == "screw" and joint is not None:
        add(node, "screw_thread_pitch", numeral(joint.pitch))
    for tag, (axis, range_) in zip(("axis", "axis2"), step.axes, strict=False):
        part = ET.SubElement(node, tag)
        add(part, "xyz", numerals(axis))
        if joint is not None:
            _add_limits(part, joint, range_)
    return node


def _add_limits(node: ET.Element, joint: Joint, range_: Range | None) -> None:
    limit = ET.SubElement(node, "limit")
    if range_ is not None:
        add(limit, "lower", numeral(range_[0]))
        add(limit, "upper", numeral(range_[1]))
    if joint.max_effort is not None:
        add(limit, "effort", numeral(joint.max_effort))
    if joint.max_speed is not None:
        add(limit, "velocity", numeral(joint.max_speed))
    if not len(limit):
        node.remove(limit)
    laws = (
        ("damping", joint.damping),
        ("friction", joint.friction),
        ("spring_reference", joint.rest),
        ("spring_stiffness", joint.stiffness),
    )
    if any(value for _, value in laws):
        dynamics = ET.SubElement(node, "dynamics")
        for tag, value in laws:
            if value:
                add(dynamics, tag, numeral(value))


def add_mimic(follower: WrittenAxis, leader: WrittenAxis, coupling: Coupling) -> None:
    """Lets a written axis follow another: q = multiplier · (q_leader − 0) + offset."""
    axis = follower.joint.find(follower.tag)
    assert axis is not None
    mimic = ET.Element("mimic", joint=leader.joint.attrib["name"])
    if leader.tag != "axis":
        mimic.set("axis", leader.tag)
    add(mimic, "multiplier", numeral(coupling.ratio))
    add(mimic, "offset", numeral(coupling.offset))
    add(mimic, "reference", "0")
    axis.insert(1, mimic)
