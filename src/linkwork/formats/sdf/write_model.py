"""Writing models: links, joints, anchors as frames, couplings as mimics and loops as joints."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from linkwork.formats.flat import Flat, FlatLink, FlatLoop, unique
from linkwork.formats.notes import Notes
from linkwork.formats.posture import element_poses, zero_values
from linkwork.formats.sdf.write_joint import Step, WrittenAxis, add_mimic, joint_node, steps_of
from linkwork.formats.sdf.write_link import LinkWriter, add_pose
from linkwork.parts import Joint
from linkwork.spatial.pose import IDENTITY, Pose

#: How far a loop may be open at value 0 and still be written [m, and about as many rad].
CLOSED = 1e-6


class ModelWriter:
    """Writes some links of a flat part or scene as one model.

    Args:
        flat: The part or scene.
        links: Those that make up the model, from its roots outwards.
        scope: Scope that the names in the model leave out.
        writer: Writes single links.
        notes: What is said differently.

    Attributes:
        names: Name in the file of each link, by its full name.
        grounds: Pose of each link that stands for the world.
        version: Minor version of SDF 1 that the model needs.
        axes: The written axis of each degree of freedom, by its full name; one that is its joint's
            only one has the joint's name too.
        coupled: Motions that were written as followers.
    """

    def __init__(
        self, flat: Flat, links: list[FlatLink], scope: str, writer: LinkWriter, notes: Notes
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

    def model(self, name: str) -> ET.Element:
        """The ``<model>``."""
        node = ET.Element("model", name=name)
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
                add_mimic(follower, leader, coupling)
                self.coupled.add(coupling.joint)
                self.version = max(self.version, 11)
        self._add_loops(node)
        self._add_anchors(node)
        return node

    def _is_world(self, link: FlatLink) -> bool:
        """Whether a link is what the reader lets stand for the world, which is no link in SDF."""
        element = link.element
        if element is None or element.name != "world" or link.carrier or link.joint is not None:
            return False
        carries = any(each.carrier == link.name for each in self.links)
        bare = not element.shapes and not element.mass_properties().mass
        return carries and bare and all(on != link.name for _, on in self.flat.anchors.values())

    def _spelled(self, spelling: str) -> str:
        """The name without what SDF keeps to itself: ``::`` for scopes, ``__name__``."""
        name = (spelling.removeprefix(self.prefix) or spelling).replace("::", "_")
        return name.strip("_") or "unnamed" if name[:2] == name[-2:] == "__" else name

    def _link(self, link: FlatLink) -> list[ET.Element]:
        """The link with the joints between it and its carrier."""
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
                    "free joints inside of parts, left out: what they carry is joined by nothing "
                    "but loops",
                    link.joint_name,
                )
            return [node]
        if not carrier and (self.flat.scene is None or not link.placed):
            return [node]  # a part by itself, or scenery, which is static
        if not carrier or link.joint is None:
            fixed = unique(f"{name}_fixed", self.taken)
            return [
                node,
                joint_node(fixed, Step("fixed"), None, carrier or "world", name, IDENTITY),
            ]
        between, joints = self._joints(link, link.joint, carrier)
        return [*between, node, *joints]

    def _joints(
        self, link: FlatLink, joint: Joint, carrier: str
    ) -> tuple[list[ET.Element], list[ET.Element]]:
        """The massless links between a link and its carrier, and the joints between them."""
        steps = steps_of(joint, link.joint_name, self.notes)
        if steps[0].type == "screw":
            self.version = max(self.version, 10)
        made: list[ET.Element] = []
        joints: list[ET.Element] = []
        parent, child = carrier, self.names[link.name]
        at_to = link.offset.inverse()
        for number, step in enumerate(steps):
            name = unique(self._spelled(link.joint_spelling + step.suffix), self.taken)
            last = number == len(steps) - 1
            end = child if last else unique(f"{name}_link", self.taken)
            if not last:
                between = self.writer.write(end, link.joint_name, None)
                holder = ET.Element("holder")
                if (ground := self.grounds.get(link.carrier)) is None:
                    add_pose(holder, link.at, relative_to=carrier)
                else:
                    add_pose(holder, ground @ link.at)
                between[:0] = list(holder)
                made.append(between)
            joints.append(joint_node(name, step, joint, parent, end, at_to if last else IDENTITY))
            parent = end
        axes = [
            WrittenAxis(node, tag)
            for node, step in zip(joints, steps, strict=True)
            for tag in ("axis", "axis2")[: len(step.axes)]
        ]
        if axes:
            dofs = [f"{link.joint_name}.{dof}" for dof in joint.kind.dofs]
            self.axes |= dict(zip(dofs, axes, strict=True))
        if len(axes) == 1:
            self.axes[link.joint_name] = axes[0]
        return made, joints

    def _add_loops(self, node: ET.Element) -> None:
        """Loops as further joints, which in SDF hold together what coincides at value 0."""
        loops = [loop for loop in self.flat.loops if {e[0] for e in loop.ends} <= set(self.names)]
        if not loops:
            return
        poses = element_poses(self.flat, zero_values(self.flat))
        for loop in loops:
            gap = _gap(loop, poses)
            if gap > CLOSED:
                self.notes.about(
                    "loops that are open when all joints are at 0, left out: SDF has no other "
                    "place to say where they close",
                    loop.name,
                )
                continue
            step = _closing(loop)
            if step is None:
                self.notes.about(f"loops closed by a {loop.loop.joint} joint, left out", loop.name)
                continue
            (a, _), (b, at_to) = loop.ends
            name = unique(self._spelled(loop.name.replace("/", "_")), self.taken)
            node.append(joint_node(name, step, None, self.names[a], self.names[b], at_to))

    def _add_anchors(self, node: ET.Element) -> None:
        used = {end for loop in self.flat.loops for end in (loop.loop.a, loop.loop.b)}
        for full, (anchor, link) in self.flat.anchors.items():
            if link not in self.names:
                continue
            name = unique(self._spelled(full.replace("/", "_")), self.taken)
            frame = ET.SubElement(node, "frame", name=name, attached_to=self.names[link])
            add_pose(frame, anchor.at)
            if full not in used and (anchor.fits or anchor.turns):
                self.notes.about("what anchors fit and how they turn, left out", full)


def _gap(loop: FlatLoop, poses: dict[str, Pose]) -> float:
    """How far the two ends of a loop are apart, as a ball, a hinge or rigidly [m, rad]."""
    a, b = (poses[link] @ at for link, at in loop.ends)
    between = a.inverse() @ b
    gap = math.hypot(*between.xyz)
    if loop.loop.joint == "ball":
        return gap
    if loop.loop.joint == "fixed":
        return max(gap, 2.0 * math.hypot(*between.quat[1:]))
    axis = loop.loop.axis
    return max(gap, math.dist(axis, between.rotate(axis)))


def _closing(loop: FlatLoop) -> Step | None:
    """The SDF joint that closes a loop."""
    kinds = {"hinge": "continuous", "slider": "prismatic", "ball": "ball", "fixed": "fixed"}
    kind = kinds.get(loop.loop.joint)
    if kind is None:
        return None
    axes = ((loop.loop.axis, None),) if kind in ("continuous", "prismatic") else ()
    return Step(kind, axes)
