"""URDF writer: a part with everything attached to it as one robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import FlatLink, FlatStructure, flatten, unique
from linkwork.formats.robots.joints import (
    UNWRITTEN_COUPLING,
    PrimitiveJoint,
    axes_by_dof,
    chain_joints,
    note_nonlinear,
)
from linkwork.formats.robots.urdf.joints import VOCABULARY
from linkwork.formats.robots.urdf.write_link import MeshReferences, UrdfLinkWriter
from linkwork.formats.robots.xml import NO_LIMIT
from linkwork.formats.text_output import number_text, numbers_text, origin_attributes, save_xml
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import Coupling, Element, Joint, Part, Shape
from linkwork.model.parts.spec import plain_name

#: Fields that a URDF holds, or that the functions below note.
SUPPORTED_FIELDS = {
    "couplings", "elements: masses", "elements: friction", "elements: restitution",
    "elements: textures", "joints: largest speeds", "joints: largest efforts", "joints: damping",
    "joints: friction", "joints: initial values",
}  # fmt: skip


def write_urdf(part: Part, path: Path) -> list[str]:
    """Writes ``part`` to ``path`` and returns what was left out or written differently.

    Raises:
        LinkworkError: If the part is not one tree, or the file cannot be written.
    """
    notes = ConversionNotes()
    robot = _RobotWriter(part, MeshReferences(path, notes), notes).robot()
    save_xml(path, robot)
    return notes.lines()


def note_unsupported_urdf(flat: FlatStructure, notes: ConversionNotes) -> None:
    """Notes every field in use that a URDF does not hold."""
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    for link in flat.links:
        if link.element is not None:
            _note_element(link.element, link.name, notes)
        if link.joint is not None and link.carrier:
            _note_joint(link.joint, link.joint_name, notes)


def _note_element(element: Element, name: str, notes: ConversionNotes) -> None:
    if any(s.texture and s.texture_repeat != Shape.texture_repeat for s in element.shapes):
        notes.about("texture repeats of elements, left out", name)


def _note_joint(joint: Joint, name: str, notes: ConversionNotes) -> None:
    start = tuple(0.0 if r is None else min(max(0.0, r[0]), r[1]) for r in joint.ranges)
    if joint.values != start:
        notes.about("initial values of joints, left out", name)


class _RobotWriter:
    def __init__(self, part: Part, references: MeshReferences, notes: ConversionNotes) -> None:
        self.part, self.notes = part, notes
        self.flat = flatten(part)
        self.link_names: dict[str, str] = {}
        self.taken_links: set[str] = set()
        self.taken_joints: set[str] = set()
        self.axes: dict[str, ET.Element] = {}
        self.links = UrdfLinkWriter(references, notes)

    def robot(self) -> ET.Element:
        name, title = self.part.name, self.part.title
        if title and plain_name(title) == name:
            name = title  # the name in the imported file
        robot = ET.Element("robot", name=name)
        note_unsupported_urdf(self.flat, self.notes)
        for link in self.flat.links:
            self.link_names[link.name] = unique(link.spelling, self.taken_links)
        body: list[ET.Element] = []
        offsets: dict[str, Pose] = {}
        for link in self.flat.links:
            offsets[link.name] = link.offset
            own = self.links.write(link, self.link_names[link.name])
            between, joints = [], []
            if link.carrier:
                between, joints = self._joints(link, offsets[link.carrier] @ link.at)
            body += [*between, own, *joints]
        for coupling in self.flat.couplings:
            self._mimic(coupling)
        robot.extend(self.links.materials())
        robot.extend(body)
        if self.links.uses_capsules:
            # Readers look for capsules only in files that declare the version that has them.
            robot.set("version", "1.1")
        return robot

    def _joints(self, link: FlatLink, at: Pose) -> tuple[list[ET.Element], list[ET.Element]]:
        """Returns the massless links between a link and its parent, and the joints."""
        parent, child = self.link_names[link.carrier], self.link_names[link.name]
        joint = link.joint
        if joint is None:
            name = unique(f"{child}_fixed", self.taken_joints)
            return [], [_joint_node(name, PrimitiveJoint("fixed"), parent, child, at)]
        massless: list[ET.Element] = []
        joints: list[ET.Element] = []
        axes: list[ET.Element] = []
        for each in chain_joints(
            VOCABULARY.primitives(joint, link.joint_name, self.notes),
            (parent, child),
            lambda suffix: unique(link.joint_spelling + suffix, self.taken_joints),
            lambda name: unique(name, self.taken_links),
        ):
            if not each.last:
                massless.append(ET.Element("link", name=each.child))
            node = _joint_node(each.name, each.primitive, each.parent, each.child, at)
            if each.primitive.ratio is None:
                _add_limits(node, each.primitive, joint)
                if each.primitive.type in ("hinge", "slider"):
                    axes.append(node)
            else:
                _add_range(node, each.primitive)
                _add_mimic(node, joints[-1], each.primitive.ratio)
            joints.append(node)
            at = IDENTITY
        self.axes |= axes_by_dof(joint, link.joint_name, axes)
        return massless, joints

    def _mimic(self, coupling: Coupling) -> None:
        follower, leader = self.axes.get(coupling.joint), self.axes.get(coupling.of)
        if follower is None or leader is None:
            self.notes.about(UNWRITTEN_COUPLING, coupling.joint)
            return
        note_nonlinear(coupling, self.notes)
        _add_mimic(follower, leader, coupling.ratio, coupling.offset)


def _joint_node(
    name: str, primitive: PrimitiveJoint, parent: str, child: str, at: Pose
) -> ET.Element:
    node = ET.Element("joint", name=name, type=VOCABULARY.type_name(primitive))
    if attributes := origin_attributes(at):
        ET.SubElement(node, "origin", attributes)
    ET.SubElement(node, "parent", link=parent)
    ET.SubElement(node, "child", link=child)
    if primitive.axes:
        ET.SubElement(node, "axis", xyz=numbers_text(primitive.axes[0]))
    return node


def _add_range(node: ET.Element, primitive: PrimitiveJoint) -> ET.Element:
    """Adds the ``<limit>`` of a revolute or prismatic joint, which URDF requires."""
    lower, upper = primitive.ranges[0] or (-NO_LIMIT, NO_LIMIT)
    values = {"lower": lower, "upper": upper, "effort": NO_LIMIT, "velocity": NO_LIMIT}
    return ET.SubElement(node, "limit", {key: number_text(value) for key, value in values.items()})


def _add_limits(node: ET.Element, primitive: PrimitiveJoint, joint: Joint) -> None:
    """Adds range, maximum effort and speed, damping and friction of a movable joint."""
    if primitive.type == "fixed":
        return
    limits: ET.Element | None = None
    if node.attrib["type"] in ("revolute", "prismatic"):
        limits = _add_range(node, primitive)
    elif joint.max_effort is not None or joint.max_speed is not None:
        limits = ET.SubElement(node, "limit")
    if limits is not None:
        limits.set("effort", number_text(joint.max_effort or NO_LIMIT))
        limits.set("velocity", number_text(joint.max_speed or NO_LIMIT))
    if joint.damping or joint.friction:
        damping, friction = number_text(joint.damping), number_text(joint.friction)
        ET.SubElement(node, "dynamics", damping=damping, friction=friction)


def _add_mimic(node: ET.Element, leader: ET.Element, ratio: float, offset: float = 0.0) -> None:
    """Couples a joint: value = ratio · value of the leader + offset."""
    ET.SubElement(
        node,
        "mimic",
        joint=leader.attrib["name"],
        multiplier=number_text(ratio),
        offset=number_text(offset),
    )
