"""Primitive joints: the joints of a robot format that together move as one joint does.

URDF, SDF and MJCF each have some of Linkwork's joint types. A type that a format has is written as
one joint; every other type becomes a chain of hinges and sliders with massless links between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.geometry.pose import Vec3, cross
from linkwork.model.parts import Coupling, Joint
from linkwork.model.parts.joint import Range

W = TypeVar("W")

#: Note on a coupling whose joint or leader is not a single axis of the written file.
UNWRITTEN_COUPLING = "couplings of joints that are not single axes of the file, left out"

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PrimitiveJoint:
    """One joint of the written file.

    Attributes:
        type: Linkwork's name of the type: "hinge", "slider", or another one that the format has.
        axes: Axes in the joint's frame; none for types without axes.
        ranges: Lowest and highest value about or along each axis [rad or m], None for no limit.
        suffix: Suffix of its name; empty if it is the only one.
        ratio: Displacement of a slider per radian of the hinge before it, which it follows
            [m/rad]; None if it moves independently.
    """

    type: str
    axes: tuple[Vec3, ...] = ()
    ranges: tuple[Range | None, ...] = ()
    suffix: str = ""
    ratio: float | None = None


@dataclass(frozen=True)
class JointVocabulary:
    """The joint types of a format.

    Attributes:
        types: The format's name of each type that it has, by Linkwork's name.
        limited: Those of them whose ranges the format can hold.
        unlimited_hinge: The format's name of a hinge without a range, if it has its own.
    """

    types: Mapping[str, str]
    limited: Collection[str]
    unlimited_hinge: str = ""

    def type_name(self, primitive: PrimitiveJoint) -> str:
        """Returns the format's name of the type of a primitive joint."""
        if primitive.type == "hinge" and self.unlimited_hinge and primitive.ranges[0] is None:
            return self.unlimited_hinge
        return self.types[primitive.type]

    def primitives(self, joint: Joint, name: str, notes: ConversionNotes) -> list[PrimitiveJoint]:
        """Returns the joints that together move as ``joint``, from the parent outwards.

        Args:
            joint: The joint.
            name: Its full name, for the notes.
            notes: Receives what is written differently or left out.
        """
        if joint.type not in self.types:
            return _decompose(joint, name, notes)
        if joint.type not in self.limited and any(r is not None for r in joint.ranges):
            notes.about("ranges of joints, left out", name)
        axes, ranges = _native_axes(joint), joint.ranges
        return [PrimitiveJoint(joint.type, axes, ranges if joint.type in self.limited else ())]


def _native_axes(joint: Joint) -> tuple[Vec3, ...]:
    if joint.type in ("fixed", "free", "ball"):
        return ()
    return (joint.axis, joint.axis2) if joint.type == "universal" else (joint.axis,)


def _decompose(joint: Joint, name: str, notes: ConversionNotes) -> list[PrimitiveJoint]:
    """Returns hinges and sliders that together move as ``joint``."""
    axis, second = joint.directions
    ranges = joint.ranges
    match joint.type:
        case "universal":
            notes.about("universal joints, written as two hinges each", name)
            return [_hinge(axis, ranges[0], "_1"), _hinge(second, ranges[1], "_2")]
        case "cylindrical":
            notes.about("cylindrical joints, written as a slider and a hinge each", name)
            return [
                _slider(axis, ranges[0], "_position"),
                _hinge(axis, ranges[1], "_angle"),
            ]
        case "planar":
            notes.about("planar joints, written as two sliders and a hinge each", name)
            return [
                _slider(second, ranges[0], "_x"),
                _slider(cross(axis, second), ranges[1], "_y"),
                _hinge(axis, ranges[2], "_angle"),
            ]
        case "screw":
            notes.about("screws, written as a hinge and a coupled slider each", name)
            ratio = joint.pitch / (2.0 * math.pi)
            slide = PrimitiveJoint("slider", (axis,), (None,), "_slide", ratio)
            return [_hinge(axis, ranges[0]), slide]
        case "ball":
            if any(r is not None for r in ranges):
                notes.about("ranges of joints, left out", name)
            notes.about(
                "ball joints, written as three hinges about x, y and z each, which have a "
                "singular posture",
                name,
            )
            return [_hinge(_X, None, "_x"), _hinge(_Y, None, "_y"), _hinge(_Z, None, "_z")]
        case "rail":
            if any(piece.turn or piece.climb for piece in joint.rail):
                notes.about("curved rails, written as straight sliders along their start", name)
            return [_slider(second, ranges[0])]
    raise TypeError(f"no primitive joints for the type {joint.type!r}")


def _hinge(axis: Vec3, range_: Range | None, suffix: str = "") -> PrimitiveJoint:
    return PrimitiveJoint("hinge", (axis,), (range_,), suffix)


def _slider(axis: Vec3, range_: Range | None, suffix: str = "") -> PrimitiveJoint:
    return PrimitiveJoint("slider", (axis,), (range_,), suffix)


@dataclass(frozen=True)
class ChainedJoint:
    """A primitive joint with the names that it has in the file.

    Attributes:
        name: Its name.
        primitive: Type and axes.
        parent: Its parent link.
        child: Its child link: a massless link between two primitives, or the last one.
        last: Whether it moves the link of the whole chain.
    """

    name: str
    primitive: PrimitiveJoint
    parent: str
    child: str
    last: bool


def chain_joints(
    primitives: Sequence[PrimitiveJoint],
    ends: tuple[str, str],
    joint_name: Callable[[str], str],
    link_name: Callable[[str], str],
) -> Iterator[ChainedJoint]:
    """Yields the primitives of one joint in series.

    Args:
        primitives: From the parent outwards.
        ends: Names of the parent and child links.
        joint_name: Returns the unique name of the joint with a suffix.
        link_name: Returns a unique name for a massless link.
    """
    parent, child = ends
    for number, primitive in enumerate(primitives, start=1):
        name = joint_name(primitive.suffix)
        last = number == len(primitives)
        end = child if last else link_name(f"{name}_link")
        yield ChainedJoint(name, primitive, parent, end, last)
        parent = end


def axes_by_dof(joint: Joint, name: str, written: Sequence[W]) -> dict[str, W]:
    """Returns the written axis of each degree of freedom, by its full name.

    The joint's own name refers to its only degree of freedom.

    Args:
        joint: The joint.
        name: Its full name.
        written: One entry for each independent axis; empty if the axes cannot be named.
    """
    if len(written) != joint.kind.nv:
        return {}
    found = {f"{name}.{dof}": entry for dof, entry in zip(joint.kind.dofs, written, strict=True)}
    return found | ({name: written[0]} if len(written) == 1 else {})


def follows(joint: str, goal: str, couplings: dict[str, Coupling]) -> bool:
    """Returns whether a joint is ``goal`` or follows it, directly or not."""
    while joint != goal and joint in couplings:
        joint = couplings[joint].of
    return joint == goal


def note_nonlinear(coupling: Coupling, notes: ConversionNotes) -> None:
    """Notes a coupling whose law is not ratio and offset, for formats with linear mimics."""
    if any(coupling.law[2:]):
        notes.about("nonlinear terms of couplings, left out", coupling.joint)
