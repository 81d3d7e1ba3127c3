"""SDF model writer: links, joints, mimics, anchor frames."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLink, FlatLoop, FlatStructure, unique
from linkwork.formats.posture import element_poses, zero_values
from linkwork.formats.robots.joints import (
    PrimitiveJoint,
    axes_by_dof,
    chain_joints,
    note_nonlinear,
)
from linkwork.formats.robots.sdf.joints import VOCABULARY
from linkwork.formats.robots.sdf.write_link import SdfLinkWriter, add, add_pose
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import Coupling, Joint
from linkwork.model.parts.joint import Range

#: Tags of the axes of a joint.
AXIS_TAGS = ("axis", "axis2")


@dataclass(frozen=True)
class WrittenAxis:
    """An axis in the file: its joint and its tag, ``axis`` or ``axis2``."""

    joint: ET.Element
    tag: str


def joint_node(
    name: str,
    primitive: PrimitiveJoint,
    joint: Joint | None,
    parent: str,
    child: str,
    at_to: Pose,
) -> ET.Element:
    """Returns the ``<joint>`` whose frame is at ``at_to`` in the child."""
    node = ET.Element("joint", name=name, type=VOCABULARY.type_name(primitive))
    add_pose(node, at_to)
    add(node, "parent", parent)
    add(node, "child", child)
    if primitive.type == "screw" and joint is not None:
        add(node, "screw_thread_pitch", number_text(joint.pitch))
    for tag, axis, range_ in zip(AXIS_TAGS, primitive.axes, primitive.ranges, strict=False):
        part = ET.SubElement(node, tag)
        add(part, "xyz", numbers_text(axis))
        if joint is not None:
            _add_limits(part, joint, range_)
    return node


def _add_limits(node: ET.Element, joint: Joint, range_: Range | None) -> None:
    limit = ET.SubElement(node, "limit")
    if range_ is not None:
        add(limit, "lower", number_text(range_[0]))
        add(limit, "upper", number_text(range_[1]))
    if joint.max_effort is not None:
        add(limit, "effort", number_text(joint.max_effort))
    if joint.max_speed is not None:
        add(limit, "velocity", number_text(joint.max_speed))
    if not len(limit):
        node.remove(limit)
    dynamics = (
        ("damping", joint.damping),
        ("friction", joint.friction),
        ("spring_reference", joint.rest),
        ("spring_stiffness", joint.stiffness),
    )
    if any(value for _, value in dynamics):
        child = ET.SubElement(node, "dynamics")
        for tag, value in dynamics:
            if value:
                add(child, tag, number_text(value))


def add_mimic(follower: WrittenAxis, leader: WrittenAxis, coupling: Coupling) -> None:
    """Couples a written axis to another: q = multiplier · (q_leader − reference) + offset."""
    axis = follower.joint.find(follower.tag)
    assert axis is not None
    mimic = ET.Element("mimic", joint=leader.joint.attrib["name"])
    if leader.tag != "axis":
        mimic.set("axis", leader.tag)
    add(mimic, "multiplier", number_text(coupling.ratio))
    add(mimic, "offset", number_text(coupling.offset))
    add(mimic, "reference", "0")
    axis.insert(1, mimic)


#: Largest gap of a loop at value 0 with which it is written [m or rad].
MAX_GAP = 1e-6


class ModelWriter:
    """Writes some links of a flat part or scene as one model.

    Args:
        flat: The part or scene.
        links: Links of the model, from its roots outwards.
        scope: Scope that names in the model omit.
        writer: Writes single links.
        notes: Receives what is written differently or left out.

    Attributes:
        names: Name in the file of each link, by its full name.
        grounds: Pose of each link that represents the world.
        version: Minor version of SDF 1 that the model needs.
        axes: The written axis of each degree of freedom, by its full name; the only one of a
            joint has the joint's name too.
        coupled: Joints that were written with a mimic.
    """

    def __init__(
        self,
        flat: FlatStructure,
        links: list[FlatLink],
        scope: str,
        writer: SdfLinkWriter,
        notes: ConversionNotes,
    ) -> None:
        self.flat, self.links, self.writer, self.notes = flat, links, writer, notes
        self.prefix = f"{scope.replace('/', '_')}_" if scope else ""
        self.names: dict[str, str] = {}
        self.grounds: dict[str, Pose] = {}
        self.version = 8
        # links, joints and frames of a model share one set of names, and these are reserved
        self.taken = {"world", "__model__", "__root__"}
        self.axes: dict[str, WrittenAxis] = {}
        self.coupled: set[str] = set()

    def model(self, name: str, self_collision: str) -> ET.Element:
        """Returns the ``<model>`` of a part with this rule for collisions between its elements."""
        node = ET.Element("model", name=name)
        elements = (link.element for link in self.links)
        solid = [e for e in elements if e is not None and any(s.collide for s in e.shapes)]
        if len(solid) > 1 and self_collision == "all":
            add(node, "self_collide", "true")
        elif len(solid) > 1 and self_collision == "separate":
            self.notes.about("collisions between links of one model, left out", name)
        for link in self.links:
            if self._is_world(link):
                self.grounds[link.name], self.names[link.name] = link.at_zero, "world"
            else:
                self.names[link.name] = unique(self._spelled(link.spelling), self.taken)
        for link in self.links:
            node.extend(self._link(link))
        for coupling in self.flat.couplings:
            follower, leader = self.axes.get(coupling.joint), self.axes.get(coupling.of)
            if follower is not None and leader is not None:
                note_nonlinear(coupling, self.notes)
                add_mimic(follower, leader, coupling)
                self.coupled.add(coupling.joint)
                self.version = max(self.version, 11)
        self._add_loops(node)
        self._add_anchors(node)
        return node

    def _is_world(self, link: FlatLink) -> bool:
        """Whether a link represents the world, which is not a link in SDF."""
        element = link.element
        if element is None or element.name != "world" or link.carrier or link.joint is not None:
            return False
        carries = any(each.carrier == link.name for each in self.links)
        bare = not element.shapes and not element.mass_properties().mass
        return carries and bare and all(on != link.name for _, on in self.flat.anchors.values())

    def _spelled(self, spelling: str) -> str:
        """Returns the name without what SDF reserves: ``::`` for scopes, ``__name__``."""
        name = (spelling.removeprefix(self.prefix) or spelling).replace("::", "_")
        return name.strip("_") or "unnamed" if name[:2] == name[-2:] == "__" else name

    def _link(self, link: FlatLink) -> list[ET.Element]:
        """Returns the link and the joints between it and its parent."""
        if link.name in self.grounds:
            return []
        name, ground = self.names[link.name], self.grounds.get(link.carrier)
        node = self.writer.write(name, link.name, link.element)
        pose = ET.Element("holder")
        carrier = self.names.get(link.carrier, "")
        if ground is None:
            add_pose(pose, link.at_zero, relative_to=carrier)
        else:
            add_pose(pose, ground @ link.at_zero)
        node[:0] = list(pose)
        if link.joint is not None and link.joint.type == "free":
            if link.carrier and not (ground is not None and link.joint.name == f"{name}_free"):
                self.notes.about(
                    "free joints inside of parts, left out: their child links are joined by loops "
                    "only",
                    link.joint_name,
                )
            return [node]
        if not carrier and (self.flat.scene is None or not link.placed):
            return [node]  # the root of a part, or static scenery
        if not carrier or link.joint is None:
            fixed = unique(f"{name}_fixed", self.taken)
            primitive = PrimitiveJoint("fixed")
            return [node, joint_node(fixed, primitive, None, carrier or "world", name, IDENTITY)]
        between, joints = self._joints(link, link.joint, carrier)
        return [*between, node, *joints]

    def _joints(
        self, link: FlatLink, joint: Joint, carrier: str
    ) -> tuple[list[ET.Element], list[ET.Element]]:
        """Returns the massless links between a link and its parent, and the joints."""
        primitives = VOCABULARY.primitives(joint, link.joint_name, self.notes)
        if primitives[0].type == "screw":
            self.version = max(self.version, 10)
        ground = self.grounds.get(link.carrier)
        massless: list[ET.Element] = []
        joints: list[ET.Element] = []
        axes: list[WrittenAxis] = []
        for each in chain_joints(
            primitives,
            (carrier, self.names[link.name]),
            lambda suffix: unique(self._spelled(link.joint_spelling + suffix), self.taken),
            lambda name: unique(name, self.taken),
        ):
            if not each.last:
                between = self.writer.write(each.child, link.joint_name, None)
                holder = ET.Element("holder")
                if ground is None:
                    add_pose(holder, link.at, relative_to=carrier)
                else:
                    add_pose(holder, ground @ link.at)
                between[:0] = list(holder)
                massless.append(between)
            at_to = link.offset.inverse() if each.last else IDENTITY
            node = joint_node(each.name, each.primitive, joint, each.parent, each.child, at_to)
            axes += [WrittenAxis(node, tag) for tag in AXIS_TAGS[: len(each.primitive.axes)]]
            joints.append(node)
        self.axes |= axes_by_dof(joint, link.joint_name, axes)
        return massless, joints

    def _add_loops(self, node: ET.Element) -> None:
        """Adds loops as further joints; SDF joins what coincides at value 0."""
        loops = [loop for loop in self.flat.loops if {e[0] for e in loop.ends} <= set(self.names)]
        if not loops:
            return
        poses = element_poses(self.flat, zero_values(self.flat))
        for loop in loops:
            gap = _gap(loop, poses)
            if gap > MAX_GAP:
                self.notes.about(
                    "loops that are open when all joints are at 0, left out: SDF joints close at 0",
                    loop.name,
                )
                continue
            primitive = _closing_joint(loop)
            if primitive is None:
                self.notes.about(f"loops closed by a {loop.loop.joint} joint, left out", loop.name)
                continue
            (a, _), (b, at_to) = loop.ends
            name = unique(self._spelled(loop.name.replace("/", "_")), self.taken)
            node.append(joint_node(name, primitive, None, self.names[a], self.names[b], at_to))

    def _add_anchors(self, node: ET.Element) -> None:
        used = {end for loop in self.flat.loops for end in (loop.loop.a, loop.loop.b)}
        for full, (anchor, link) in self.flat.anchors.items():
            if link not in self.names:
                continue
            name = unique(self._spelled(full.replace("/", "_")), self.taken)
            frame = ET.SubElement(node, "frame", name=name, attached_to=self.names[link])
            add_pose(frame, anchor.at)
            if full not in used and (anchor.fits or anchor.turns):
                self.notes.about("fits and turns of anchors, left out", full)


def _gap(loop: FlatLoop, poses: dict[str, Pose]) -> float:
    """Returns the gap between the ends of a loop, as its joint measures it [m or rad]."""
    a, b = (poses[link] @ at for link, at in loop.ends)
    between = a.inverse() @ b
    gap = math.hypot(*between.xyz)
    if loop.loop.joint == "ball":
        return gap
    if loop.loop.joint == "fixed":
        return max(gap, 2.0 * math.hypot(*between.quat[1:]))
    axis = loop.loop.axis
    return max(gap, math.dist(axis, between.rotate(axis)))


def _closing_joint(loop: FlatLoop) -> PrimitiveJoint | None:
    """Returns the joint that closes a loop; None if SDF cannot close it."""
    type_ = loop.loop.joint
    if type_ in ("ball", "fixed"):
        return PrimitiveJoint(type_)
    if type_ in ("hinge", "slider"):
        return PrimitiveJoint(type_, (loop.loop.axis,), (None,))
    return None
