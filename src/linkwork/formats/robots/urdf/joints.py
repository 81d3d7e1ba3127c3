"""URDF joints: types, limits, dynamics, mimics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.core.errors import FormatError, LinkworkError, suggestion
from linkwork.formats.robots.joints import JointVocabulary, follows
from linkwork.formats.robots.urdf.context import (
    UrdfReadContext,
    origin_pose,
    plain_numbers,
    vector3,
)
from linkwork.formats.robots.xml import (
    NO_LIMIT,
    XmlNode,
    limit_attribute,
    number_attribute,
    required_attribute,
)
from linkwork.geometry.pose import Pose, Vec3, quat_from_matrix, unit
from linkwork.model.parts import Coupling, Joint
from linkwork.model.parts.joint import RailPiece, Range

#: Joint types that are written.
VOCABULARY = JointVocabulary(
    {
        "hinge": "revolute",
        "slider": "prismatic",
        "fixed": "fixed",
        "free": "floating",
        "planar": "planar",
    },
    limited=("hinge", "slider"),
    unlimited_hinge="continuous",
)
#: Linkwork's name of each joint type that is read.
TYPES = {word: type_ for type_, word in VOCABULARY.types.items()} | {"continuous": "hinge"}
#: Those of Bullet (spherical) and of Drake's ``<drake:joint>``.
EXTENSION_TYPES = {
    "spherical": "ball",
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
    "curvilinear": "rail",
}
#: Children of a joint that are read; others are noted.
JOINT_TAGS = {
    "parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "drake:screw_thread_pitch",
    "drake:initial_tangent", "drake:plane_normal", "drake:is_periodic", "drake:curves",
}  # fmt: skip


@dataclass(frozen=True)
class JointEnds:
    """Names of the links of a joint, as in the file."""

    parent: str
    child: str


def read_ends(node: XmlNode) -> JointEnds:
    """Returns the parent and child of a joint.

    Raises:
        FormatError: If one is missing.
    """
    names = []
    for tag in ("parent", "child"):
        end = node.first(tag)
        if end is None:
            raise FormatError(
                f"joint {node.attributes.get('name', '')!r} has no <{tag}>.",
                origin=node.origin,
                hint=f'It needs <{tag} link="…"/>.',
            )
        names.append(required_attribute(end, "link"))
    return JointEnds(names[0], names[1])


def read_joint(node: XmlNode, name: str, from_: str, to: str, reading: UrdfReadContext) -> Joint:
    """Returns the joint of ``node``.

    Args:
        node: The ``<joint>``.
        name: Its name in the part.
        from_: Name of the parent element.
        to: Name of the child element.
        reading: The file being read.

    Raises:
        FormatError: If a value is missing, unknown or not a number.
    """
    word = required_attribute(node, "type")
    type_ = (TYPES | EXTENSION_TYPES).get(word)
    if type_ is None:
        raise FormatError(
            f"joint {name!r}: URDF has no joint type {word!r}.",
            origin=node.origin,
            hint=suggestion(word, TYPES, kind="types"),
        )
    damping, friction = _dynamics(node, name, reading)
    range_, effort, speed = _limits(node, word, name, reading)
    at = origin_pose(node, reading)
    own = required_attribute(node, "name")
    try:
        more: dict[str, Any] = dict(reading.transmissions.get(own, {}))
        if type_ == "screw":
            more["pitch"] = _value(node, "drake:screw_thread_pitch")
        elif type_ == "rail":
            at, more["rail"] = at @ _rail_frame(node, reading), _rail(node, name, reading)
            range_ = (0.0, sum(segment.length for segment in more["rail"]))
        if stiffness := reading.gazebo_value(own, "springStiffness"):
            more["stiffness"] = stiffness
            more["rest"] = reading.gazebo_value(own, "springReference") or 0.0
        return Joint(
            name,
            type_,
            from_,
            to,
            at=at,
            axis=_axis(node, word, name, reading),
            range=range_,
            max_speed=speed,
            max_effort=effort,
            damping=damping,
            friction=friction,
            origin=node.origin,
            **more,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _value(node: XmlNode, tag: str) -> float:
    child = node.first(tag)
    if child is None:
        raise FormatError(f"<{node.tag}> needs a <{tag} value=…/>.", origin=node.origin)
    return number_attribute(child, "value")


def _rail_frame(node: XmlNode, reading: UrdfReadContext) -> Pose:
    """Returns the start of a curvilinear joint: x along its tangent, z along its normal."""
    given = []
    for tag, default in (("initial_tangent", (1.0, 0.0, 0.0)), ("plane_normal", (0.0, 0.0, 1.0))):
        child = node.first(f"drake:{tag}")
        given.append(default if child is None else vector3(child, "xyz", reading, default))
    x = np.array(unit(given[0]))
    z = np.array(given[1]) - np.dot(given[1], x) * x
    z = np.array(unit((float(z[0]), float(z[1]), float(z[2]))))
    return Pose(quat=quat_from_matrix(np.column_stack((x, np.cross(z, x), z))))


def _rail(node: XmlNode, name: str, reading: UrdfReadContext) -> tuple[RailPiece, ...]:
    """Returns the segments of a curvilinear joint."""
    curves = node.first("drake:curves")
    found = []
    for each in curves.children if curves is not None else ():
        if each.tag == "drake:line_segment":
            found.append(RailPiece(number_attribute(each, "length")))
        elif each.tag == "drake:circular_arc":
            angle = number_attribute(each, "angle")
            found.append(RailPiece(number_attribute(each, "radius") * abs(angle), turn=angle))
    periodic = node.first("drake:is_periodic")
    if periodic is not None and periodic.attributes.get("value", "").strip() in ("true", "1"):
        what = "periodic curvilinear joints, with ends at the first and last point"
        reading.notes.about(what, name, kind="motion")
    return tuple(found)


def _axis(node: XmlNode, type_: str, name: str, reading: UrdfReadContext) -> Vec3:
    child = node.first("axis")
    if child is None or type_ in ("fixed", "floating", "ball", "spherical", "universal"):
        return (1.0, 0.0, 0.0)  # Drake's universal joint turns about x, then y
    axis = vector3(child, "xyz", reading, (1.0, 0.0, 0.0))
    if math.hypot(*axis) < 1e-12:
        raise FormatError(
            f"joint {name!r} has a zero axis.",
            origin=child.origin,
            hint=f'A {type_} joint needs a direction, for example xyz="0 0 1".',
        )
    return axis


def _limits(
    node: XmlNode, type_: str, name: str, reading: UrdfReadContext
) -> tuple[Range | None, float | None, float | None]:
    """Returns range, maximum effort and maximum speed; None for no limit."""
    bounded = type_ in ("revolute", "prismatic")
    child = node.first("limit")
    if child is None:
        if bounded:
            reading.notes.about(f"{type_} joints without <limit>, left unlimited", name)
        return None, None, None
    if type_ == "fixed":
        return None, None, None
    child = plain_numbers(child, ("lower", "upper", "effort", "velocity"), reading)
    range_: Range | None = None
    if bounded and not {"lower", "upper"} & set(child.attributes):
        what = f"{type_} joints whose <limit> has no range, left unlimited, as in Bullet and Drake"
        reading.notes.about(what, name, kind="motion")  # urdfdom holds them at 0
    elif bounded:
        lower = limit_attribute(child, "lower", 0.0)
        upper = limit_attribute(child, "upper", 0.0)
        if lower > upper:
            reading.notes.about("joints whose lower limit is above the upper, left unlimited", name)
        elif lower > -NO_LIMIT or upper < NO_LIMIT:
            range_ = (lower, upper)
    elif type_ == "continuous" and {"lower", "upper"} & set(child.attributes):
        reading.notes.about("continuous joints with limits, which do not count", name)
    return (
        range_,
        _maximum(child, "effort", name, reading),
        _maximum(child, "velocity", name, reading),
    )


def _maximum(node: XmlNode, what: str, name: str, reading: UrdfReadContext) -> float | None:
    value = limit_attribute(node, what, NO_LIMIT)
    if value <= 0.0:
        reading.notes.about(f"joints with {what} limit 0 or less, read as no limit", name)
        return None
    return value if value < NO_LIMIT else None


def _dynamics(node: XmlNode, name: str, reading: UrdfReadContext) -> tuple[float, float]:
    child = node.first("dynamics")
    if child is None:
        return 0.0, 0.0
    values = []
    for what in ("damping", "friction"):
        words = child.attributes.get(what, "0").split()
        if len(set(words)) > 1:
            text = f"joints whose degrees of freedom differ in {what}, the first one counts"
            reading.notes.about(text, name, kind="motion")
        first = replace(child, attributes={what: words[0] if words else ""})
        values.append(number_attribute(first, what))
    damping, friction = values
    if damping < 0.0 or friction < 0.0:
        what = "joints with negative damping or friction, read as 0"
        reading.notes.about(what, name, kind="motion")
    return max(damping, 0.0), max(friction, 0.0)


def read_mimics(
    nodes: list[XmlNode], joints: dict[str, Joint], names: dict[str, str], reading: UrdfReadContext
) -> list[Coupling]:
    """Returns the couplings of the joints' ``<mimic>``; impossible ones are noted.

    Args:
        nodes: The joints in the file.
        joints: The part's joints by name.
        names: The part's name of each joint of the file.
        reading: The file being read.
    """
    found: dict[str, Coupling] = {}
    for node in nodes:
        child = node.first("mimic")
        if child is None:
            continue
        follower = joints[names[required_attribute(node, "name")]]
        leader_name = required_attribute(child, "joint")
        ratio, offset = (
            number_attribute(child, "multiplier", 1.0),
            number_attribute(child, "offset", 0.0),
        )
        if leader_name not in names:
            reading.notes.add(
                f"{child.origin}: joint {follower.name!r} mimics {leader_name!r}, which does not "
                f"exist; left out. {suggestion(leader_name, names, kind='joints')}",
                kind="motion",
            )
            continue
        leader = joints[names[leader_name]]
        if leader.kind.nv != 1 or follower.kind.nv != 1:
            why = "a joint does not have one degree of freedom"
        elif follows(leader.name, follower.name, found):
            why = "the joint would follow itself"
        else:
            found[follower.name] = Coupling(follower.name, leader.name, ratio, offset, child.origin)
            continue
        reading.notes.about(f"mimics left out because {why}", follower.name, kind="motion")
    return list(found.values())
