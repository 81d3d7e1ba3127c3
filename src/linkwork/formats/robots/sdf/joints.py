"""SDF joints: types, axes, limits, dynamics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from linkwork.core.errors import FormatError, LinkworkError, suggestion
from linkwork.formats.robots.joints import JointVocabulary
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.scope import MODEL, FrameScope
from linkwork.formats.robots.sdf.values import flag, limit, number, vector
from linkwork.formats.robots.xml import NO_LIMIT, XmlNode
from linkwork.geometry.pose import Pose, Vec3, unit
from linkwork.model.parts import Joint
from linkwork.model.parts.joint import Range

#: Joint types that are written.
VOCABULARY = JointVocabulary(
    {
        "hinge": "revolute",
        "slider": "prismatic",
        "ball": "ball",
        "universal": "universal",
        "screw": "screw",
        "fixed": "fixed",
    },
    limited=("hinge", "slider", "universal", "screw"),
    unlimited_hinge="continuous",
)
#: Linkwork's name of each joint type that is read.
TYPES = {word: type_ for type_, word in VOCABULARY.types.items()} | {
    "continuous": "hinge",
    "revolute2": "universal",
}
#: Types that couple two other joints.
COUPLED_TYPES = ("gearbox",)
#: Fields that the axes of a universal joint share.
AXIS_DYNAMICS = ("max_effort", "max_speed", "damping", "friction", "stiffness", "rest")
JOINT_TAGS = {
    "parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "frame",
}  # fmt: skip


@dataclass(frozen=True)
class SdfAxis:
    """One axis of a joint: direction in the joint's frame, limits and dynamics."""

    xyz: Vec3
    range: Range | None
    max_effort: float | None
    max_speed: float | None
    damping: float
    friction: float
    stiffness: float
    rest: float
    value: float | None


def joint_type(node: XmlNode) -> str:
    """Returns SDF's name of the type of a joint.

    Raises:
        FormatError: If it is missing or unknown.
    """
    found = node.attributes.get("type", "").strip()
    if found not in TYPES and found not in COUPLED_TYPES:
        raise FormatError(
            f"joint {node.attributes.get('name', '')!r}: SDF has no joint type {found!r}.",
            origin=node.origin,
            hint=suggestion(found, [*TYPES, *COUPLED_TYPES], kind="types"),
        )
    return found


def read_axes(
    node: XmlNode, frame: Pose, scope: FrameScope, reading: SdfReadContext
) -> list[SdfAxis]:
    """Returns the axes of a joint whose frame is at ``frame`` in its model."""
    reading.unread_but(node, JOINT_TAGS)
    kind = joint_type(node)
    found = []
    for tag in ("axis", "axis2"):
        child = node.first(tag)
        if child is None and not (tag == "axis" and kind not in ("ball", "fixed")):
            continue
        found.append(_axis(child, kind, frame, scope, node, reading))
    if (
        TYPES.get(kind) == "universal"
        and len(found) == 2
        and not _are_skew(found)
        and any(getattr(found[0], key) != getattr(found[1], key) for key in AXIS_DYNAMICS)
    ):
        reading.notes.about(
            "universal joints whose axes differ in limits or dynamics, the first axis counts",
            node.attributes.get("name", ""),
            kind="motion",
        )
    return found


def _axis(
    child: XmlNode | None,
    kind: str,
    frame: Pose,
    scope: FrameScope,
    joint: XmlNode,
    reading: SdfReadContext,
) -> SdfAxis:
    name = joint.attributes.get("name", "")
    if child is None:
        return SdfAxis((0.0, 0.0, 1.0), None, None, None, 0.0, 0.0, 0.0, 0.0, None)
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
        reference = scope.pose(given, child.origin)
        xyz = frame.inverse().rotate(reference.rotate(unit(xyz)))
    limits, dynamics = child.first("limit"), child.first("dynamics")
    range_ = effort = speed = None
    if limits is not None:
        low, high = limit(limits, "lower", -NO_LIMIT), limit(limits, "upper", NO_LIMIT)
        if low > high:
            reading.notes.about("joints whose lower limit is above the upper, left unlimited", name)
        elif kind != "continuous" and (low > -NO_LIMIT or high < NO_LIMIT):
            range_ = (low, high)
        effort, speed = _maximum(limits, "effort"), _maximum(limits, "velocity")
        reading.unread_but(limits, {"lower", "upper", "effort", "velocity"})
    damping = friction = stiffness = rest = 0.0
    if dynamics is not None:
        damping, friction, stiffness = (
            number(dynamics, tag, 0.0) for tag in ("damping", "friction", "spring_stiffness")
        )
        rest = number(dynamics, "spring_reference", 0.0)
        if min(damping, friction, stiffness) < 0.0:
            what = "joints with negative damping, friction or spring, read as 0"
            reading.notes.about(what, name, kind="motion")
    value = number(child, "initial_position", 0.0) if child.first("initial_position") else None
    return SdfAxis(
        unit(xyz), range_, effort, speed, max(damping, 0.0), max(friction, 0.0),
        max(stiffness, 0.0), rest, value,
    )  # fmt: skip


def _maximum(node: XmlNode, tag: str) -> float | None:
    """Returns a limit; None if it is not positive (SDF writes −1 for no limit)."""
    value = limit(node, tag, NO_LIMIT)
    return value if 0.0 < value < NO_LIMIT else None


def make_joints(
    node: XmlNode,
    kind: str,
    name: str,
    axes: list[SdfAxis],
    ends: tuple[str, str],
    at: Pose,
    at_to: Pose,
) -> list[Joint]:
    """Returns the joint of type ``kind`` of ``node``.

    Two axes that are not perpendicular make a chain of two hinges.

    Raises:
        LinkworkError: If the joint is invalid.
    """
    first = axes[0] if axes else None
    try:
        joint = Joint(name, "fixed", *ends, at=at, at_to=at_to, origin=node.origin)
        if first is None or kind in ("fixed", "ball"):
            joint = replace(joint, type=kind, range=None, value=None, speed=None)
            return [joint if first is None or kind == "fixed" else _with_dynamics(joint, first)]
        if kind == "universal":
            if len(axes) < 2:
                raise FormatError(f"joint {name!r} needs an <axis2>.", origin=node.origin)
            if _are_skew(axes):
                return _chain(joint, axes)
            universal = replace(
                joint, type=kind, axis=axes[0].xyz, axis2=axes[1].xyz,
                range=(axes[0].range, axes[1].range), value=_values(axes), speed=None,
            )  # fmt: skip
            return [_with_dynamics(universal, first)]
        single = replace(
            joint, type=kind, axis=first.xyz, range=(first.range,), value=first.value, speed=None,
            pitch=_pitch(node) if kind == "screw" else 0.0,
        )  # fmt: skip
        return [_with_dynamics(single, first)]
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _are_skew(axes: list[SdfAxis]) -> bool:
    """Whether two axes are not perpendicular."""
    return abs(sum(a * b for a, b in zip(axes[0].xyz, axes[1].xyz, strict=True))) > 1e-6


def _values(axes: list[SdfAxis]) -> tuple[float, ...] | None:
    if all(axis.value is None for axis in axes):
        return None
    return tuple(axis.value or 0.0 for axis in axes)


def _chain(joint: Joint, axes: list[SdfAxis]) -> list[Joint]:
    """Returns two hinges in series."""
    second = f"{joint.name}_2"
    near = Joint(
        joint.name, "hinge", joint.from_, second, at=joint.at, axis=axes[0].xyz,
        range=(axes[0].range,), value=axes[0].value, origin=joint.origin,
    )  # fmt: skip
    far = Joint(
        second, "hinge", joint.name, joint.to, at_to=joint.at_to, axis=axes[1].xyz,
        range=(axes[1].range,), value=axes[1].value, origin=joint.origin,
    )  # fmt: skip
    return [_with_dynamics(near, axes[0]), _with_dynamics(far, axes[1])]


def _with_dynamics(joint: Joint, axis: SdfAxis) -> Joint:
    return replace(
        joint, max_effort=axis.max_effort, max_speed=axis.max_speed, damping=axis.damping,
        friction=axis.friction, stiffness=axis.stiffness, rest=axis.rest,
    )  # fmt: skip


def _pitch(node: XmlNode) -> float:
    """Returns the advance of a screw per turn [m]; ``thread_pitch`` is −2π over it [rad/m]."""
    if node.first("screw_thread_pitch") is not None:
        return number(node, "screw_thread_pitch", 1.0)
    older = number(node, "thread_pitch", 1.0)
    if older == 0.0:
        raise FormatError("<thread_pitch> must not be 0.", origin=node.origin)
    return -2.0 * math.pi / older
