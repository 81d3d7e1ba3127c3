"""Steps: what URDF joints a joint is written as; several single ones for a ball or a universal."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.formats.notes import Notes
from linkwork.parts import Joint
from linkwork.parts.joint import Range
from linkwork.spatial.pose import Vec3

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Step:
    """One URDF joint.

    Attributes:
        type: URDF's joint type.
        axis: Axis in the joint's frame.
        range: Lowest and highest value [rad or m], None for no limit.
        suffix: What its name adds to the joint's; empty where one step says all.
    """

    type: str
    axis: Vec3
    range: Range | None = None
    suffix: str = ""


def steps_of(joint: Joint, name: str, notes: Notes) -> list[Step]:
    """The URDF joints that together move as ``joint`` does, from the carrier outwards."""
    axis, ranges = joint.axis, joint.ranges
    match joint.type:
        case "hinge":
            return [_turn(axis, ranges[0])]
        case "slider":
            return [Step("prismatic", axis, ranges[0])]
        case "fixed":
            return [Step("fixed", axis)]
        case "free":
            return [Step("floating", axis)]
        case "planar":
            return [Step("planar", axis)]
        case "universal":
            notes.about("universal joints, written as two hinges each", name)
            return [_turn(axis, ranges[0], "_1"), _turn(joint.axis2, ranges[1], "_2")]
        case "cylindrical":
            notes.about("cylindrical joints, written as a slider and a hinge each", name)
            slide = Step("prismatic", axis, ranges[0], "_position")
            return [slide, _turn(axis, ranges[1], "_angle")]
        case "ball":
            notes.about(
                "ball joints, written as three hinges about x, y and z each, which turn as far "
                "but have a singular posture",
                name,
            )
            return [_turn(a, None, s) for a, s in ((_X, "_x"), (_Y, "_y"), (_Z, "_z"))]
        case other:
            notes.about(f"{other} joints, left out: what they carry is fixed at value 0", name)
            return [Step("fixed", axis)]


def _turn(axis: Vec3, range_: Range | None, suffix: str = "") -> Step:
    return Step("continuous" if range_ is None else "revolute", axis, range_, suffix)
