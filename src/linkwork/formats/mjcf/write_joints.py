"""Writing joints: each as the hinges and slides that make it up, in MuJoCo's order."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field

from linkwork.formats.flat import FlatLink, unique
from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import Values, motion
from linkwork.parts import Joint
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Pose, Vec3

#: Types of joints whose initial value is MuJoCo's reference.
REFERRED = ("hinge", "slider")


def at_start(link: FlatLink) -> Pose:
    """Pose of the element's frame in its carrier's, where MuJoCo's reference values have it."""
    joint = link.joint
    if joint is None or joint.type not in REFERRED:
        return link.at_zero
    return link.at @ motion(joint, joint.values) @ link.offset


@dataclass(frozen=True)
class Primitive:
    """One MuJoCo joint.

    Attributes:
        type: "hinge" or "slide".
        axis: In the joint's own frame.
        range: Lowest and highest value [rad or m].
        suffix: What its name adds to the joint's.
    """

    type: str
    axis: Vec3
    range: Range | None
    suffix: str = ""


@dataclass
class JointWriter:
    """Writes joints and remembers where their coordinates are.

    Attributes:
        notes: What is said differently.
        spelling: How names are written.
        written: Names in the file of the primitives of each joint, by its full name.
        screws: Hinge, slide and advance per radian of each screw.
        order: Links in the order of MuJoCo's coordinates, with the body's pose at the start.
        starts: Value from which MuJoCo counts, of each joint in the file that has one.
    """

    notes: Notes
    spelling: Spelling
    written: dict[str, list[str]] = field(default_factory=dict)
    screws: list[tuple[str, str, float]] = field(default_factory=list)
    order: list[tuple[FlatLink, Pose]] = field(default_factory=list)
    starts: dict[str, float] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def add(self, body: ET.Element, link: FlatLink, frame: Pose, pose: Pose) -> None:
        """Adds the joint of ``link`` to a body in whose frame the link's element is at ``frame``.

        Args:
            body: The body it moves.
            link: The link that the joint leads to.
            frame: Pose of the link's element frame in the body's frame.
            pose: Pose of the body in what carries it, at the start.
        """
        joint = link.joint
        assert joint is not None
        if joint.type == "fixed":
            return
        self.order.append((link, pose))
        here = frame @ link.offset.inverse()
        if joint.type in ("free", "ball"):
            name = unique(self.spelling(link.joint_name), self._taken)
            node = ET.SubElement(body, "joint", name=name, type=joint.type)
            if joint.type == "ball":
                node.set("pos", numerals(here.xyz))
                if joint.ranges[0] is not None:
                    node.set("range", numerals((0.0, joint.ranges[0][1])))
            _set_laws(node, joint)
            self.written[link.joint_name] = [name]
            return
        names = []
        for each in self._primitives(joint, link.joint_name):
            name = unique(self.spelling(link.joint_name) + each.suffix, self._taken)
            names.append(name)
            node = ET.SubElement(body, "joint", name=name, type=each.type)
            node.set("pos", numerals(here.xyz))
            node.set("axis", numerals(here.rotate(each.axis)))
            if each.range is not None:
                node.set("range", numerals(each.range))
            if joint.type in REFERRED and joint.values[0]:
                self.starts[name] = joint.values[0]
                node.set("ref", numeral(joint.values[0]))
            _set_laws(node, joint)
        self.written[link.joint_name] = names
        if joint.type == "screw":
            slide = unique(f"{names[0]}_slide", self._taken)
            ET.SubElement(
                body, "joint", name=slide, type="slide", pos=numerals(here.xyz),
                axis=numerals(here.rotate(joint.axis)),
            )  # fmt: skip
            self.screws.append((names[0], slide, joint.pitch))

    def _primitives(self, joint: Joint, name: str) -> list[Primitive]:
        axis, second = joint.directions
        ranges = joint.ranges
        match joint.type:
            case "hinge" | "screw":
                if joint.type == "screw":
                    self.notes.about("screws, written as a hinge and a slide tied together", name)
                return [Primitive("hinge", axis, ranges[0])]
            case "slider":
                return [Primitive("slide", axis, ranges[0])]
            case "universal":
                self.notes.about("universal joints, written as two hinges each", name)
                return [
                    Primitive("hinge", axis, ranges[0], "_1"),
                    Primitive("hinge", second, ranges[1], "_2"),
                ]
            case "cylindrical":
                self.notes.about("cylindrical joints, written as a slide and a hinge each", name)
                return [
                    Primitive("slide", axis, ranges[0], "_position"),
                    Primitive("hinge", axis, ranges[1], "_angle"),
                ]
            case "planar":
                self.notes.about("planar joints, written as two slides and a hinge each", name)
                across = (
                    axis[1] * second[2] - axis[2] * second[1],
                    axis[2] * second[0] - axis[0] * second[2],
                    axis[0] * second[1] - axis[1] * second[0],
                )
                return [
                    Primitive("slide", second, ranges[0], "_x"),
                    Primitive("slide", across, ranges[1], "_y"),
                    Primitive("hinge", axis, ranges[2], "_angle"),
                ]
        if any(piece.turn or piece.climb for piece in joint.rail):
            self.notes.about("bent rails, written straight as they begin", name)
        return [Primitive("slide", second, ranges[0])]

    def single(self, name: str) -> str | None:
        """Name in the file of a single degree of freedom, by its full name; None if it is none."""
        for link, _ in self.order:
            assert link.joint is not None
            written, dofs = self.written[link.joint_name], link.joint.kind.dofs
            if len(dofs) == len(written):
                if name == link.joint_name and len(written) == 1:
                    return written[0]
                for dof, primitive in zip(dofs, written, strict=True):
                    if name == f"{link.joint_name}.{dof}":
                        return primitive
        return None

    def coordinates(self, values: Values) -> list[float]:
        """MuJoCo's ``qpos`` at given values of all joints."""
        found: list[float] = []
        for link, pose in self.order:
            joint = link.joint
            assert joint is not None
            given: Sequence[float] = values[link.joint_name]
            if joint.type in ("free", "ball"):
                turned = link.offset.inverse() @ motion(joint, given) @ link.offset
                if joint.type == "free":
                    moved = pose @ turned
                    found += [*moved.xyz, *moved.quat]
                else:
                    found += turned.quat
            else:
                found += given
            if joint.type == "screw":
                found.append(joint.pitch * given[0] / 6.283185307179586)
        return found

    def speeds(self, values: Values) -> list[float]:
        """MuJoCo's ``qvel`` of the initial motion, at given values of all joints."""
        found: list[float] = []
        for link, pose in self.order:
            joint, element = link.joint, link.element
            assert joint is not None
            if joint.type == "free":
                moved = link.offset.inverse() @ motion(joint, values[link.joint_name]) @ link.offset
                turn = (pose @ moved).inverse()
                found += [*element.velocity, *turn.rotate(element.spin)] if element else [0.0] * 6
            else:
                found += joint.speeds
            if joint.type == "screw":
                found.append(joint.pitch * joint.speeds[0] / math.tau)
        return found


def _set_laws(node: ET.Element, joint: Joint) -> None:
    for word, value in (
        ("damping", joint.damping),
        ("frictionloss", joint.friction),
        ("stiffness", joint.stiffness),
        ("springref", joint.rest),
        ("armature", joint.armature),
    ):
        if value:
            node.set(word, numeral(value))
    if joint.max_effort is not None and joint.type not in ("free", "ball"):
        node.set("actuatorfrcrange", numerals((-joint.max_effort, joint.max_effort)))
    words = dict(joint.mujoco)
    for word in ("stiffness", "damping"):  # powers that follow the joint's own number
        if word in words:
            node.set(word, f"{node.get(word, '0')} {numerals(words.pop(word))}")
    set_words(node, words)
