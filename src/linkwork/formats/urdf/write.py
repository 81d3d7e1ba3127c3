"""Writing: a part with all that is attached becomes a URDF file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.errors import FormatError, Origin
from linkwork.formats.flat import FlatLink, flatten, unique
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals, origin_attributes
from linkwork.formats.urdf.joints import NO_LIMIT
from linkwork.formats.urdf.losses import note_all
from linkwork.formats.urdf.references import References
from linkwork.formats.urdf.steps import Step, steps_of
from linkwork.formats.urdf.write_link import LinkWriter
from linkwork.parts import Coupling, Joint, Part
from linkwork.parts.names import plain
from linkwork.spatial.pose import IDENTITY, Pose


def write_urdf(part: Part, path: Path) -> list[str]:
    """Writes ``part`` to ``path`` and returns what was left out or said differently.

    Raises:
        LinkworkError: If the part is not one tree, or the file cannot be written.
    """
    notes = Notes()
    robot = _Writer(part, References(path, notes), notes).robot()
    ET.indent(robot)
    try:
        text = ET.tostring(robot, encoding="unicode")
        path.write_text(f'<?xml version="1.0"?>\n{text}\n', encoding="utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(
            f"the file cannot be written: {why}.", origin=Origin(str(path))
        ) from error
    return notes.lines()


class _Writer:
    def __init__(self, part: Part, references: References, notes: Notes) -> None:
        self.part, self.notes = part, notes
        self.flat = flatten(part)
        self.link_names: dict[str, str] = {}
        self.taken_links: set[str] = set()
        self.taken_joints: set[str] = set()
        self.written: dict[str, list[ET.Element]] = {}
        self.links = LinkWriter(references, notes)

    def robot(self) -> ET.Element:
        name, title = self.part.name, self.part.title
        if title and plain(title) == name:
            name = title  # the imported file's own spelling
        robot = ET.Element("robot", name=name)
        note_all(self.flat, self.notes)
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
        """The massless links between a link and its carrier, and the URDF joints between them."""
        parent, child = self.link_names[link.carrier], self.link_names[link.name]
        joint = link.joint
        if joint is None:
            name = unique(f"{child}_fixed", self.taken_joints)
            return [], [_joint(name, Step("fixed", (1.0, 0.0, 0.0)), parent, child, at)]
        steps = steps_of(joint, link.joint_name, self.notes)
        made: list[ET.Element] = []
        joints: list[ET.Element] = []
        for number, step in enumerate(steps):
            name = unique(link.joint_spelling + step.suffix, self.taken_joints)
            end = child
            if number < len(steps) - 1:
                end = unique(f"{name}_link", self.taken_links)
                made.append(ET.Element("link", name=end))
            node = _joint(name, step, parent, end, at if number == 0 else IDENTITY)
            _add_limits(node, step, joint)
            joints.append(node)
            parent = end
        self.written[link.joint_name] = joints
        return made, joints

    def _mimic(self, coupling: Coupling) -> None:
        follower, leader = self.written.get(coupling.joint), self.written.get(coupling.of)
        if follower is None or leader is None or not (_single(follower) and _single(leader)):
            self.notes.about("couplings, left out", coupling.joint)
            return
        ET.SubElement(
            follower[0],
            "mimic",
            joint=leader[0].attrib["name"],
            multiplier=numeral(coupling.ratio),
            offset=numeral(coupling.offset),
        )


def _single(joints: list[ET.Element]) -> bool:
    kinds = ("revolute", "continuous", "prismatic")
    return len(joints) == 1 and joints[0].attrib["type"] in kinds


def _joint(name: str, step: Step, parent: str, child: str, at: Pose) -> ET.Element:
    node = ET.Element("joint", name=name, type=step.type)
    if attributes := origin_attributes(at):
        ET.SubElement(node, "origin", attributes)
    ET.SubElement(node, "parent", link=parent)
    ET.SubElement(node, "child", link=child)
    if step.type not in ("fixed", "floating"):
        ET.SubElement(node, "axis", xyz=numerals(step.axis))
    return node


def _add_limits(node: ET.Element, step: Step, joint: Joint) -> None:
    """Range, largest effort and speed, damping and friction, where the joint moves."""
    if step.type == "fixed":
        return
    bounded = step.type in ("revolute", "prismatic")
    if bounded or joint.max_effort is not None or joint.max_speed is not None:
        found = ET.SubElement(node, "limit")
        if bounded:
            lower, upper = step.range or (-NO_LIMIT, NO_LIMIT)
            found.set("lower", numeral(lower))
            found.set("upper", numeral(upper))
        found.set("effort", numeral(joint.max_effort or NO_LIMIT))
        found.set("velocity", numeral(joint.max_speed or NO_LIMIT))
    if joint.damping or joint.friction:
        damping, friction = numeral(joint.damping), numeral(joint.friction)
        ET.SubElement(node, "dynamics", damping=damping, friction=friction)
