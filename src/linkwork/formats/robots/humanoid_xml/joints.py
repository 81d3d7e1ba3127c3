"""Articulations: hinge, universal, slider and fixed joints between two solids."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from linkwork.core.errors import FormatError, Origin, suggestion
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.humanoid_xml.values import (
    descriptions,
    identifier,
    name_of,
    number,
    optional,
    required_child,
    triple,
)
from linkwork.formats.robots.xml import XmlNode, required_attribute
from linkwork.formats.robots.xml import number_attribute as attribute
from linkwork.geometry.pose import Pose, Vec3
from linkwork.model.parts import Joint, Spec
from linkwork.model.parts.joint import Range

#: Linkwork's name of each joint type of the file.
TYPES = {"Hinge": "hinge", "Universal": "universal", "Slider": "slider", "Fixed": "fixed"}
JOINT_TAGS = {
    *("ID", "name", "pos", "axis", "axis2", "connect", "limits", "limits2", "type", "desc"),
    *("torque", "speed", "servo"),
}


@dataclass(frozen=True)
class Articulation:
    """A joint as defined in the file, in the frame of the robot.

    Attributes:
        number: Its ID.
        name: Its name in Linkwork.
        type: Its type in Linkwork.
        ends: IDs of the parent and the child solid.
        xyz: Position [m].
        axis: Axis, on the parent's side.
        axis2: Second axis of a universal joint.
        ranges: Lowest and highest value of each degree of freedom [rad or m].
        max_effort: [N m or N].
        max_speed: [rad/s or m/s].
        servo: Gains of the servo on it, or None.
        labels: Labels by language.
        origin: Where it is defined.
        swapped: Whether the parent is the file's B2, which swaps the degrees of freedom.
    """

    number: str
    name: str
    type: str
    ends: tuple[str, str]
    xyz: Vec3
    axis: Vec3
    axis2: Vec3
    ranges: tuple[Range | None, ...]
    max_effort: float | None
    max_speed: float | None
    servo: tuple[float, float] | None
    labels: dict[str, str]
    origin: Origin
    swapped: bool = False

    def with_swapped_ends(self) -> Articulation:
        """Returns the same joint with B2 as the parent.

        B2 has the rotation R(a₁, θ₁)·R(a₂, θ₂) in B1, so B1 has R(−a₂, θ₂)·R(−a₁, θ₁) in B2: values
        keep their signs, axes are negated.
        """
        first, second = _negate(self.axis), self.axis2
        if self.type == "universal":
            first, second = _negate(second), first
        return replace(
            self, ends=(self.ends[1], self.ends[0]), axis=first, axis2=second,
            ranges=tuple(reversed(self.ranges)), swapped=True,
        )  # fmt: skip

    def dof(self, axis: int) -> str:
        """Returns the name of the degree of freedom about the file's axis 0 or 1."""
        if self.type != "universal":
            return self.name
        return f"{self.name}.angle{1 + (axis if not self.swapped else 1 - axis)}"

    def joint(self, from_: str, to: str, at: Pose, at_to: Pose) -> Joint:
        """Returns the joint between two elements."""
        drive = None
        if self.servo is not None and self.type in ("hinge", "slider"):
            gains = {"kp": self.servo[0], "kd": self.servo[1]}
            drive = Spec("actuator", "servo", "", gains, self.origin)
        return Joint(
            self.name, self.type, from_, to, at=at, at_to=at_to, axis=self.axis,
            axis2=self.axis2, range=self.ranges, max_speed=self.max_speed,
            max_effort=self.max_effort, drive=drive, labels=self.labels, origin=self.origin,
        )  # fmt: skip


def _negate(v: Vec3) -> Vec3:
    return (-v[0], -v[1], -v[2])


def read_articulation(node: XmlNode, taken: set[str], notes: ConversionNotes) -> Articulation:
    """Returns a joint.

    Raises:
        FormatError: If a value is missing, not a number or unknown.
    """
    node_type = required_child(node, "type")
    kind = TYPES.get(required_attribute(node_type, "value"))
    if kind is None:
        raise FormatError(
            f"joint type {node_type.attributes['value']!r} is not known.",
            origin=node_type.origin,
            hint=suggestion(node_type.attributes["value"], TYPES, kind="types"),
        )
    labels, id_ = descriptions(node), identifier(node)
    name = name_of(node, labels, f"joint_{id_}", taken)
    ends = required_child(node, "connect")
    turning = kind in ("hinge", "universal")
    unit = math.pi / 180.0 if turning else 1.0
    ranges: tuple[Range | None, ...] = ()
    if kind != "fixed":
        ranges = (_range(node, "limits", unit),)
    axis: Vec3 = triple(node, "axis") if kind != "fixed" else (0.0, 0.0, 1.0)
    axis2: Vec3 = (0.0, 1.0, 0.0)
    if kind == "universal":
        axis2 = triple(node, "axis2")
        ranges = (*ranges, _range(node, "limits2", unit))
    for v, tag in ((axis, "axis"), (axis2, "axis2")):
        if not any(v):
            raise FormatError(f"<{tag}> has no direction.", origin=required_child(node, tag).origin)
    speed = optional(node, "speed", "Max")
    servo = node.first("servo")
    if servo is not None and kind not in ("hinge", "slider"):
        notes.about(f"servos of {kind} joints, left out", name)
    for child in node.children:
        if child.tag not in JOINT_TAGS:
            notes.about("elements that are not read", f"joint/{child.tag}")
    return Articulation(
        id_, name, kind, (required_attribute(ends, "B1"), required_attribute(ends, "B2")),
        triple(node, "pos"), axis, axis2,
        ranges, optional(node, "torque", "Max"), None if speed is None else speed * unit,
        None if servo is None else (attribute(servo, "P"), attribute(servo, "D")),
        labels, node.origin,
    )  # fmt: skip


def _range(node: XmlNode, tag: str, unit: float) -> Range | None:
    child = node.first(tag)
    if child is None:
        return None
    lo, hi = number(node, tag, "Min"), number(node, tag, "Max")
    if lo > hi:
        raise FormatError(
            f"Min={child.attributes['Min']!r} is above Max={child.attributes['Max']!r}.",
            origin=child.origin,
        )
    return (lo * unit, hi * unit)
