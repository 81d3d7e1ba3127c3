"""Articulations: hinges, universal joints, sliders and fixed ones between two solids."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from linkwork.errors import FormatError, Origin, suggestion
from linkwork.formats.humanoid_xml.values import (
    described,
    ident,
    name_of,
    need,
    number,
    optional,
    triple,
)
from linkwork.formats.notes import Notes
from linkwork.formats.urdf.values import number as attribute
from linkwork.formats.urdf.values import word
from linkwork.formats.xml_tree import Node
from linkwork.parts import Joint, Spec
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Pose, Vec3

#: Types of the file and of ours.
TYPES = {"Hinge": "hinge", "Universal": "universal", "Slider": "slider", "Fixed": "fixed"}
JOINT_TAGS = {
    *("ID", "name", "pos", "axis", "axis2", "connect", "limits", "limits2", "type", "desc"),
    *("torque", "speed", "servo"),
}


@dataclass(frozen=True)
class Articulation:
    """A joint as the file says it, in the frame of the robot.

    Attributes:
        number: Its ID.
        name: Its name here.
        type: Its type here.
        ends: IDs of the solid that carries and of the one that is carried.
        xyz: Where it stands [m].
        axis: Axis, of the carrier's side.
        axis2: Second axis of a universal joint.
        ranges: Lowest and highest value of each freedom [rad or m].
        max_effort: [N m or N].
        max_speed: [rad/s or m/s].
        servo: Gains of the servo on it, or None.
        labels: Words for people, by language.
        origin: Where it was said.
        swapped: Whether the carrier is the file's B2, so that the freedoms change places.
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

    def turned_round(self) -> Articulation:
        """The same joint with B2 as the carrier.

        B2 stands at R(a₁, θ₁)·R(a₂, θ₂) in B1, so B1 stands at R(−a₂, θ₂)·R(−a₁, θ₁) in B2: values
        keep their signs, axes change them.
        """
        first, second = _minus(self.axis), self.axis2
        if self.type == "universal":
            first, second = _minus(second), first
        return replace(
            self, ends=(self.ends[1], self.ends[0]), axis=first, axis2=second,
            ranges=tuple(reversed(self.ranges)), swapped=True,
        )  # fmt: skip

    def freedom(self, axis: int) -> str:
        """The name of the freedom about the file's first (0) or second (1) axis."""
        if self.type != "universal":
            return self.name
        return f"{self.name}.angle{1 + (axis if not self.swapped else 1 - axis)}"

    def joint(self, from_: str, to: str, at: Pose, at_to: Pose) -> Joint:
        """The joint between two elements."""
        drive = None
        if self.servo is not None and self.type in ("hinge", "slider"):
            gains = {"kp": self.servo[0], "kd": self.servo[1]}
            drive = Spec("actuator", "servo", "", gains, self.origin)
        return Joint(
            self.name, self.type, from_, to, at=at, at_to=at_to, axis=self.axis,
            axis2=self.axis2, range=self.ranges, max_speed=self.max_speed,
            max_effort=self.max_effort, drive=drive, labels=self.labels, origin=self.origin,
        )  # fmt: skip


def _minus(v: Vec3) -> Vec3:
    return (-v[0], -v[1], -v[2])


def read_articulation(node: Node, taken: set[str], notes: Notes) -> Articulation:
    """A joint.

    Raises:
        FormatError: If something is missing, not a number or not known.
    """
    said = need(node, "type")
    kind = TYPES.get(word(said, "value"))
    if kind is None:
        raise FormatError(
            f"joint type {said.attributes['value']!r} is not known.",
            origin=said.origin, hint=suggestion(said.attributes["value"], TYPES, kind="types"),
        )  # fmt: skip
    labels, id_ = described(node), ident(node)
    name = name_of(node, labels, f"joint_{id_}", taken)
    ends = need(node, "connect")
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
            raise FormatError(f"<{tag}> has no direction.", origin=need(node, tag).origin)
    speed = optional(node, "speed", "Max")
    servo = node.first("servo")
    if servo is not None and kind not in ("hinge", "slider"):
        notes.about(f"servos of {kind} joints, left out", name)
    for child in node.children:
        if child.tag not in JOINT_TAGS:
            notes.about("elements that are not read", f"joint/{child.tag}")
    return Articulation(
        id_, name, kind, (word(ends, "B1"), word(ends, "B2")), triple(node, "pos"), axis, axis2,
        ranges, optional(node, "torque", "Max"), None if speed is None else speed * unit,
        None if servo is None else (attribute(servo, "P"), attribute(servo, "D")),
        labels, node.origin,
    )  # fmt: skip


def _range(node: Node, tag: str, unit: float) -> Range | None:
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
