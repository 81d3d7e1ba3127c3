"""MJCF joint writer: primitive joints in the order of MuJoCo's coordinates."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLink, unique
from linkwork.formats.posture import Values, joint_motion
from linkwork.formats.robots.joints import JointVocabulary, axes_by_dof
from linkwork.formats.robots.mjcf.naming import JOINT_NAMES, MjcfNames, set_native_attributes
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Joint

#: Joint types that are written.
VOCABULARY = JointVocabulary(
    {"hinge": "hinge", "slider": "slide", "ball": "ball", "free": "free"},
    limited=("hinge", "slider", "ball"),
)
#: Joint types whose initial value is MuJoCo's reference.
REFERENCE_TYPES = ("hinge", "slider")


def at_start(link: FlatLink) -> Pose:
    """Returns the pose of the element's frame in its parent's at MuJoCo's reference values."""
    joint = link.joint
    if joint is None or joint.type not in REFERENCE_TYPES:
        return link.at_zero
    return link.at @ joint_motion(joint, joint.values) @ link.offset


@dataclass
class JointWriter:
    """Writes joints; keeps the layout of their coordinates.

    Attributes:
        notes: Receives what is written differently or left out.
        spelling: Names in the file.
        axes: Name in the file of each degree of freedom with an axis, by its full name; the only
            one of a joint has the joint's name too.
        written: Names in the file of the independent primitives of each joint, by its full name.
        screws: Hinge, slide and advance per radian [m/rad] of each screw.
        order: Links in the order of MuJoCo's coordinates, with the body's initial pose.
        starts: Reference value of each joint in the file that has one.
    """

    notes: ConversionNotes
    spelling: MjcfNames
    axes: dict[str, str] = field(default_factory=dict)
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
            pose: Initial pose of the body in its parent.
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
                node.set("pos", numbers_text(here.xyz))
                if joint.ranges[0] is not None:
                    node.set("range", numbers_text((0.0, joint.ranges[0][1])))
            _set_dynamics(node, joint)
            self.written[link.joint_name] = [name]
            return
        axes: list[str] = []
        for primitive in VOCABULARY.primitives(joint, link.joint_name, self.notes):
            name = unique(self.spelling(link.joint_name) + primitive.suffix, self._taken)
            node = ET.SubElement(body, "joint", name=name, type=VOCABULARY.type_name(primitive))
            node.set("pos", numbers_text(here.xyz))
            node.set("axis", numbers_text(here.rotate(primitive.axes[0])))
            if primitive.ratio is not None:
                self.screws.append((axes[-1], name, primitive.ratio))
                continue
            axes.append(name)
            if primitive.ranges[0] is not None:
                node.set("range", numbers_text(primitive.ranges[0]))
            if joint.type in REFERENCE_TYPES and joint.values[0]:
                self.starts[name] = joint.values[0]
                node.set("ref", number_text(joint.values[0]))
            _set_dynamics(node, joint)
        self.written[link.joint_name] = axes
        self.axes |= axes_by_dof(joint, link.joint_name, axes)

    def coordinates(self, values: Values) -> list[float]:
        """Returns MuJoCo's ``qpos`` at given values of all joints."""
        found: list[float] = []
        for link, pose in self.order:
            joint = link.joint
            assert joint is not None
            given: Sequence[float] = values[link.joint_name]
            if joint.type in ("free", "ball"):
                motion = link.offset.inverse() @ joint_motion(joint, given) @ link.offset
                if joint.type == "free":
                    moved = pose @ motion
                    found += [*moved.xyz, *moved.quat]
                else:
                    found += motion.quat
            else:
                found += given
            if joint.type == "screw":
                found.append(joint.pitch * given[0] / math.tau)
        return found

    def speeds(self, values: Values) -> list[float]:
        """Returns MuJoCo's ``qvel`` of the initial motion, at given values of all joints."""
        found: list[float] = []
        for link, pose in self.order:
            joint, element = link.joint, link.element
            assert joint is not None
            if joint.type == "free":
                moved = (
                    link.offset.inverse()
                    @ joint_motion(joint, values[link.joint_name])
                    @ link.offset
                )
                turn = (pose @ moved).inverse()
                found += [*element.velocity, *turn.rotate(element.spin)] if element else [0.0] * 6
            else:
                found += joint.speeds
            if joint.type == "screw":
                found.append(joint.pitch * joint.speeds[0] / math.tau)
        return found


def _set_dynamics(node: ET.Element, joint: Joint) -> None:
    for name, (word, _) in JOINT_NAMES.items():
        if value := getattr(joint, name):
            node.set(word, number_text(value))
    if joint.max_effort is not None and joint.type not in ("free", "ball"):
        node.set("actuatorfrcrange", numbers_text((-joint.max_effort, joint.max_effort)))
    words = dict(joint.mujoco)
    for word in ("stiffness", "damping"):  # coefficients of powers after the linear one
        if word in words:
            node.set(word, f"{node.get(word, '0')} {numbers_text(words.pop(word))}")
    set_native_attributes(node, words)
