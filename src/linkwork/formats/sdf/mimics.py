"""Mimics: joints that follow others become couplings."""

from __future__ import annotations

from linkwork.errors import FormatError, suggestion
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.model import FlatModel
from linkwork.formats.sdf.values import number
from linkwork.formats.xml_tree import Node
from linkwork.parts import Coupling, Joint


def read_mimics(
    model: FlatModel, joints: dict[str, Joint], names: dict[str, str], reading: Reading
) -> list[Coupling]:
    """The couplings that the axes' ``<mimic>`` ask for; those that cannot act are noted.

    Args:
        model: The model.
        joints: All joints by their names here.
        names: Names in the file to names here.
        reading: The file being read.
    """
    found: dict[str, Coupling] = {}
    for full, joint in model.joints.items():
        for axis in (joint.node.first("axis"), joint.node.first("axis2")):
            child = axis.first("mimic") if axis is not None else None
            if axis is None or child is None:
                continue
            leader = _leader(child, full, names, reading)
            if not leader:
                continue
            follower = _motion(model, full, axis.tag, joints, names)
            leads = _motion(model, leader, child.attributes.get("axis", "axis"), joints, names)
            if not leads or not follower or follower in found or _leads_to(leads, follower, found):
                reading.notes.about("mimics that cannot act, left out", full)
                continue
            ratio = number(child, "multiplier", 1.0)
            offset = number(child, "offset", 0.0) - ratio * number(child, "reference", 0.0)
            found[follower] = Coupling(follower, leads, ratio, offset, origin=child.origin)
    return list(found.values())


def _leader(child: Node, full: str, names: dict[str, str], reading: Reading) -> str:
    """Full name of the joint that leads, or nothing, with a note."""
    named = child.attributes.get("joint", "").strip()
    if not named:
        raise FormatError("<mimic> needs the attribute 'joint'.", origin=child.origin)
    scope = full.rpartition("::")[0]
    for candidate in (f"{scope}::{named}" if scope else named, named):
        if candidate in names:
            return candidate
    reading.notes.say(
        f"{child.origin}: joint {full!r} mimics {named!r}, which does not exist; left out. "
        f"{suggestion(named, names, kind='joints')}"
    )
    return ""


def _motion(
    model: FlatModel, full: str, axis: str, joints: dict[str, Joint], names: dict[str, str]
) -> str:
    """What an axis moves here: a joint, or one angle of it; empty if it moves nothing."""
    joint = joints.get(names[full])
    if joint is None or axis not in ("axis", "axis2"):
        return ""
    if model.joints[full].kind != "universal":
        return joint.name if joint.kind.nv == 1 and axis == "axis" else ""
    if joint.type == "hinge":  # a chain of two
        return joint.name if axis == "axis" else joint.to
    return f"{joint.name}.{joint.kind.dofs[axis == 'axis2']}"


def _leads_to(joint: str, goal: str, couplings: dict[str, Coupling]) -> bool:
    while joint != goal and joint in couplings:
        joint = couplings[joint].of
    return joint == goal
