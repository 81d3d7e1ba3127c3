"""Joints: an SDF joint becomes a joint with its limits and losses, a mimic a coupling."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from linkwork.errors import FormatError, LinkworkError, suggestion
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.scope import MODEL, Scope
from linkwork.formats.sdf.values import NO_LIMIT, flag, limit, number, vector
from linkwork.formats.xml_tree import Node
from linkwork.parts import Joint
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Pose, Vec3, unit

#: SDF's joint types and what they are called here.
TYPES = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slider",
    "ball": "ball",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "screw",
    "fixed": "fixed",
}
#: Types that only tie other joints together.
TIES = ("gearbox",)
#: What both axes of a universal joint have in common here.
LAWS = ("max_effort", "max_speed", "damping", "friction", "stiffness", "rest")
JOINT_TAGS = {
    "parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "frame",
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """One axis of a joint: direction in the joint's frame, range, limits and losses."""

    xyz: Vec3
    range: Range | None
    max_effort: float | None
    max_speed: float | None
    damping: float
    friction: float
    stiffness: float
    rest: float
    value: float | None


def joint_type(node: Node) -> str:
    """SDF's word for the type of a joint.

    Raises:
        FormatError: If there is none or it is not known.
    """
    found = node.attributes.get("type", "").strip()
    if found not in TYPES and found not in TIES:
        raise FormatError(
            f"joint {node.attributes.get('name', '')!r}: SDF has no joint type {found!r}.",
            origin=node.origin,
            hint=suggestion(found, [*TYPES, *TIES], kind="types"),
        )
    return found


def read_axes(node: Node, frame: Pose, scope: Scope, reading: Reading) -> list[Axis]:
    """The axes of a joint whose frame stands at ``frame`` in the frame of its model."""
    reading.unread_but(node, JOINT_TAGS)
    kind = joint_type(node)
    found = []
    for tag in ("axis", "axis2"):
        child = node.first(tag)
        if child is None and not (tag == "axis" and kind not in ("ball", "fixed")):
            continue
        found.append(_axis(child, kind, frame, scope, node, reading))
    if TYPES.get(kind) == "universal" and len(found) == 2 and not _skew(found):
        laws = [[getattr(axis, law) for axis in found] for law in LAWS]
        if any(first != second for first, second in laws):
            reading.notes.about(
                "universal joints whose axes differ in limits or losses, the first axis counts",
                node.attributes.get("name", ""),
            )
    return found


def _axis(
    child: Node | None, kind: str, frame: Pose, scope: Scope, joint: Node, reading: Reading
) -> Axis:
    name = joint.attributes.get("name", "")
    if child is None:
        return Axis((0.0, 0.0, 1.0), None, None, None, 0.0, 0.0, 0.0, 0.0, None)
    reading.unread_but(
        child,
        {"xyz", "limit", "dynamics", "use_parent_model_frame", "initial_position", "mimic"},
    )
    xyz = vector(child, "xyz", (0.0, 0.0, 1.0))
    if math.hypot(*xyz) < 1e-12:
        raise FormatError(f"joint {name!r} has a zero axis.", origin=child.origin)
    node = child.first("xyz")
    given = node.attributes.get("expressed_in", "").strip() if node is not None else ""
    if not given and (
        scope.version < (1, 5) or (scope.version < (1, 7) and flag(child, "use_parent_model_frame"))
    ):
        given = MODEL
    if given:
        seen_from = scope.pose(given, child.origin)
        xyz = frame.inverse().rotate(seen_from.rotate(unit(xyz)))
    limits, laws = child.first("limit"), child.first("dynamics")
    range_ = effort = speed = None
    if limits is not None:
        low, high = limit(limits, "lower", -NO_LIMIT), limit(limits, "upper", NO_LIMIT)
        if low > high:
            reading.notes.about("joints whose lower limit is above the upper, left unlimited", name)
        elif kind != "continuous" and (low > -NO_LIMIT or high < NO_LIMIT):
            range_ = (low, high)
        effort, speed = _largest(limits, "effort"), _largest(limits, "velocity")
        reading.unread_but(limits, {"lower", "upper", "effort", "velocity"})
    damping = friction = stiffness = rest = 0.0
    if laws is not None:
        damping, friction, stiffness = (
            number(laws, tag, 0.0) for tag in ("damping", "friction", "spring_stiffness")
        )
        rest = number(laws, "spring_reference", 0.0)
        if min(damping, friction, stiffness) < 0.0:
            reading.notes.about("joints with negative damping, friction or spring, read as 0", name)
    value = number(child, "initial_position", 0.0) if child.first("initial_position") else None
    return Axis(
        unit(xyz), range_, effort, speed, max(damping, 0.0), max(friction, 0.0),
        max(stiffness, 0.0), rest, value,
    )  # fmt: skip


def _largest(node: Node, tag: str) -> float | None:
    """A limit; SDF says −1 for none."""
    value = limit(node, tag, NO_LIMIT)
    return value if 0.0 < value < NO_LIMIT else None


def make_joints(
    node: Node,
    kind: str,
    name: str,
    axes: list[Axis],
    ends: tuple[str, str],
    at: Pose,
    at_to: Pose,
) -> list[Joint]:
    """The joint of type ``kind`` that ``node`` describes.

    Two axes that are not at right angles make two joints in a chain.

    Raises:
        LinkworkError: If it cannot be.
    """
    first = axes[0] if axes else None
    try:
        joint = Joint(name, "fixed", *ends, at=at, at_to=at_to, origin=node.origin)
        if first is None or kind in ("fixed", "ball"):
            joint = replace(joint, type=kind, range=None, value=None, speed=None)
            return [joint if first is None or kind == "fixed" else _with_laws(joint, first)]
        if kind == "universal":
            if len(axes) < 2:
                raise FormatError(f"joint {name!r} needs an <axis2>.", origin=node.origin)
            if _skew(axes):
                return _chain(joint, axes)
            made = replace(
                joint, type=kind, axis=axes[0].xyz, axis2=axes[1].xyz,
                range=(axes[0].range, axes[1].range), value=_values(axes), speed=None,
            )  # fmt: skip
            return [_with_laws(made, first)]
        made = replace(
            joint, type=kind, axis=first.xyz, range=(first.range,), value=first.value, speed=None,
            pitch=_pitch(node) if kind == "screw" else 0.0,
        )  # fmt: skip
        return [_with_laws(made, first)]
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _skew(axes: list[Axis]) -> bool:
    """Whether two axes are not at right angles."""
    return abs(sum(a * b for a, b in zip(axes[0].xyz, axes[1].xyz, strict=True))) > 1e-6


def _values(axes: list[Axis]) -> tuple[float, ...] | None:
    if all(axis.value is None for axis in axes):
        return None
    return tuple(axis.value or 0.0 for axis in axes)


def _chain(joint: Joint, axes: list[Axis]) -> list[Joint]:
    """Two hinges, one behind the other."""
    second = f"{joint.name}_2"
    near = Joint(
        joint.name, "hinge", joint.from_, second, at=joint.at, axis=axes[0].xyz,
        range=(axes[0].range,), value=axes[0].value, origin=joint.origin,
    )  # fmt: skip
    far = Joint(
        second, "hinge", joint.name, joint.to, at_to=joint.at_to, axis=axes[1].xyz,
        range=(axes[1].range,), value=axes[1].value, origin=joint.origin,
    )  # fmt: skip
    return [_with_laws(near, axes[0]), _with_laws(far, axes[1])]


def _with_laws(joint: Joint, axis: Axis) -> Joint:
    return replace(
        joint, max_effort=axis.max_effort, max_speed=axis.max_speed, damping=axis.damping,
        friction=axis.friction, stiffness=axis.stiffness, rest=axis.rest,
    )  # fmt: skip


def _pitch(node: Node) -> float:
    """Advance of a screw per turn [m]; the older word tells −2π over it [rad/m]."""
    if node.first("screw_thread_pitch") is not None:
        return number(node, "screw_thread_pitch", 1.0)
    older = number(node, "thread_pitch", 1.0)
    if older == 0.0:
        raise FormatError("<thread_pitch> must not be 0.", origin=node.origin)
    return -2.0 * math.pi / older
