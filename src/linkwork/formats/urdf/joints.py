"""Joints: a URDF joint becomes a joint with its limits and losses, a mimic a coupling."""

from __future__ import annotations

import math
from dataclasses import dataclass

from linkwork.errors import FormatError, LinkworkError, suggestion
from linkwork.formats.urdf.context import Reading
from linkwork.formats.urdf.values import limit, number, origin_pose, vector, word
from linkwork.formats.xml_tree import Node
from linkwork.parts import Coupling, Joint
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Vec3

#: URDF's joint types and what they are called here.
TYPES = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slider",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
#: Children of a joint that are read; others are noted.
JOINT_TAGS = {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"}
#: A limit this large or larger limits nothing [rad, m, N m, …]; the writer uses it to say so.
NO_LIMIT = 1e9


@dataclass(frozen=True)
class Ends:
    """The links that a joint names, as in the file."""

    parent: str
    child: str


def read_ends(node: Node) -> Ends:
    """The parent and child of a joint."""
    names = []
    for tag in ("parent", "child"):
        end = node.first(tag)
        if end is None:
            raise FormatError(
                f"joint {node.attributes.get('name', '')!r} has no <{tag}>.",
                origin=node.origin,
                hint=f'It needs <{tag} link="…"/>.',
            )
        names.append(word(end, "link"))
    return Ends(names[0], names[1])


def read_joint(node: Node, name: str, from_: str, to: str, reading: Reading) -> Joint:
    """The joint that ``node`` describes, under the name ``name``, between two elements.

    Raises:
        FormatError: If something is missing, unknown or not a number.
    """
    type_ = word(node, "type")
    if type_ not in TYPES:
        raise FormatError(
            f"joint {name!r}: URDF has no joint type {type_!r}.",
            origin=node.origin,
            hint=suggestion(type_, TYPES, kind="types"),
        )
    damping, friction = _dynamics(node, name, reading)
    range_, effort, speed = _limits(node, type_, name, reading)
    try:
        return Joint(
            name,
            TYPES[type_],
            from_,
            to,
            at=origin_pose(node),
            axis=_axis(node, type_, name),
            range=range_,
            max_speed=speed,
            max_effort=effort,
            damping=damping,
            friction=friction,
            origin=node.origin,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _axis(node: Node, type_: str, name: str) -> Vec3:
    child = node.first("axis")
    if child is None or type_ in ("fixed", "floating"):
        return (1.0, 0.0, 0.0)
    axis = vector(child, "xyz", (1.0, 0.0, 0.0))
    if math.hypot(*axis) < 1e-12:
        raise FormatError(
            f"joint {name!r} has a zero axis.",
            origin=child.origin,
            hint=f'A {type_} joint needs a direction, for example xyz="0 0 1".',
        )
    return axis


def _limits(
    node: Node, type_: str, name: str, reading: Reading
) -> tuple[Range | None, float | None, float | None]:
    """Range, largest effort and largest speed; None where nothing limits."""
    bounded = type_ in ("revolute", "prismatic")
    child = node.first("limit")
    if child is None:
        if bounded:
            raise FormatError(
                f"joint {name!r} is {type_} and has no <limit>.",
                origin=node.origin,
                hint="Give it <limit lower=… upper=… effort=… velocity=…/>, or make it continuous.",
            )
        return None, None, None
    if type_ == "fixed":
        return None, None, None
    range_: Range | None = None
    if bounded:
        lower = limit(child, "lower", 0.0, most=NO_LIMIT)
        upper = limit(child, "upper", 0.0, most=NO_LIMIT)
        if lower > upper:
            reading.notes.about("joints whose lower limit is above the upper, left unlimited", name)
        elif lower > -NO_LIMIT or upper < NO_LIMIT:
            range_ = (lower, upper)
    return (
        range_,
        _largest(child, "effort", name, reading),
        _largest(child, "velocity", name, reading),
    )


def _largest(node: Node, what: str, name: str, reading: Reading) -> float | None:
    value = limit(node, what, NO_LIMIT, most=NO_LIMIT)
    if value <= 0.0:
        reading.notes.about(f"joints with {what} limit 0 or less, read as no limit", name)
        return None
    return value if value < NO_LIMIT else None


def _dynamics(node: Node, name: str, reading: Reading) -> tuple[float, float]:
    child = node.first("dynamics")
    if child is None:
        return 0.0, 0.0
    damping, friction = number(child, "damping", 0.0), number(child, "friction", 0.0)
    if damping < 0.0 or friction < 0.0:
        reading.notes.about("joints with negative damping or friction, read as 0", name)
    return max(damping, 0.0), max(friction, 0.0)


def read_mimics(
    nodes: list[Node], joints: dict[str, Joint], names: dict[str, str], reading: Reading
) -> list[Coupling]:
    """The couplings that the joints' ``<mimic>`` ask for; those that cannot act are noted.

    Args:
        nodes: The joints in the file.
        joints: All joints by their names here.
        names: Names in the file to names here.
        reading: The file being read.
    """
    found: dict[str, Coupling] = {}
    for node in nodes:
        child = node.first("mimic")
        if child is None:
            continue
        follower = joints[names[word(node, "name")]]
        leader_name = word(child, "joint")
        ratio, offset = number(child, "multiplier", 1.0), number(child, "offset", 0.0)
        if leader_name not in names:
            reading.notes.say(
                f"{child.origin}: joint {follower.name!r} mimics {leader_name!r}, which does not "
                f"exist; left out. {suggestion(leader_name, names, kind='joints')}"
            )
            continue
        leader = joints[names[leader_name]]
        if leader.kind.nv != 1 or follower.kind.nv != 1:
            why = "a joint has not one degree of freedom"
        elif _leads_to(leader.name, follower.name, found):
            why = "the joint would follow itself"
        else:
            found[follower.name] = Coupling(follower.name, leader.name, ratio, offset, child.origin)
            continue
        reading.notes.about(f"mimics left out because {why}", follower.name)
    return list(found.values())


def _leads_to(joint: str, goal: str, couplings: dict[str, Coupling]) -> bool:
    while joint != goal and joint in couplings:
        joint = couplings[joint].of
    return joint == goal
