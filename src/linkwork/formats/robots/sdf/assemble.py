"""Assembly of a flat SDF model as a part, with its mimics as couplings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from linkwork.core.errors import FormatError, LinkworkError, Origin, suggestion
from linkwork.formats.names import NameTable
from linkwork.formats.robots.joints import follows
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.joints import make_joints
from linkwork.formats.robots.sdf.links import read_link
from linkwork.formats.robots.sdf.model import FlatModel, ModelJoint, read_self_collision
from linkwork.formats.robots.sdf.values import number
from linkwork.formats.robots.xml import XmlNode
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import IDENTITY, Pose, Vec3
from linkwork.model.parts import Anchor, Coupling, Element, Joint, Part
from linkwork.model.parts.spec import plain_name


def read_mimics(
    model: FlatModel, joints: dict[str, Joint], names: dict[str, str], reading: SdfReadContext
) -> list[Coupling]:
    """Returns the couplings of the axes' ``<mimic>``; impossible ones are noted.

    Args:
        model: The model.
        joints: All joints by their names in the part.
        names: Name in the part of each name in the file.
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
            if not leads or not follower or follower in found or follows(leads, follower, found):
                reading.notes.about("mimics that cannot act, left out", full, kind="motion")
                continue
            ratio = number(child, "multiplier", 1.0)
            offset = number(child, "offset", 0.0) - ratio * number(child, "reference", 0.0)
            found[follower] = Coupling(follower, leads, ratio, offset, origin=child.origin)
    return list(found.values())


def _leader(child: XmlNode, full: str, names: dict[str, str], reading: SdfReadContext) -> str:
    """Returns the full name of the leader; empty, with a note, if there is none."""
    named = child.attributes.get("joint", "").strip()
    if not named:
        raise FormatError("<mimic> needs the attribute 'joint'.", origin=child.origin)
    scope = full.rpartition("::")[0]
    for candidate in (f"{scope}::{named}" if scope else named, named):
        if candidate in names:
            return candidate
    reading.notes.add(
        f"{child.origin}: joint {full!r} mimics {named!r}, which does not exist; left out. "
        f"{suggestion(named, names, kind='joints')}",
        kind="motion",
    )
    return ""


def _motion(
    model: FlatModel, full: str, axis: str, joints: dict[str, Joint], names: dict[str, str]
) -> str:
    """Returns the degree of freedom of an axis: a joint, or one angle of it; empty if none."""
    joint = joints.get(names[full])
    if joint is None or axis not in ("axis", "axis2"):
        return ""
    if model.joints[full].kind != "universal":
        return joint.name if joint.kind.nv == 1 and axis == "axis" else ""
    if joint.type == "hinge":  # a chain of two hinges
        return joint.name if axis == "axis" else joint.to
    return f"{joint.name}.{joint.kind.dofs[axis == 'axis2']}"


#: Types whose parent and child can be swapped, with the axis reversed.
_REVERSIBLE = ("hinge", "slider", "fixed", "screw")


@dataclass
class SpanningTree:
    """The spanning tree of a model.

    Attributes:
        carried: Joint to the parent of each link, and whether its ends are swapped.
        loops: Joints that close loops.
        roots: Links without a parent.
        grounded: Joints from the world.
    """

    carried: dict[str, tuple[ModelJoint, bool]] = field(default_factory=dict)
    loops: list[ModelJoint] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    grounded: list[ModelJoint] = field(default_factory=list)


def spanning_tree(model: FlatModel) -> SpanningTree:
    """Returns a spanning tree; a second joint to a link, or one that closes a cycle, is a loop.

    If the second parent of a link has no parent itself, the ends of that joint are swapped
    instead. Static links are never children of moving ones.
    """
    tree = SpanningTree()
    late: list[ModelJoint] = []
    for joint in model.joints.values():
        loose = model.links[joint.child].static and not joint.held  # not attached
        if loose or joint.child in tree.carried or _is_carried_by(tree, joint.parent, joint.child):
            late.append(joint)
        else:
            tree.carried[joint.child] = (joint, False)
            if not joint.parent:
                tree.grounded.append(joint)
    for joint in late:
        free = joint.parent and joint.parent not in tree.carried
        free = free and (joint.held or not model.links[joint.parent].static)
        if (
            free
            and joint.kind in _REVERSIBLE
            and not _is_carried_by(tree, joint.child, joint.parent)
        ):
            tree.carried[joint.parent] = (joint, True)
        else:
            tree.loops.append(joint)
    tree.roots = [link for link in model.links if link not in tree.carried]
    return tree


def _is_carried_by(tree: SpanningTree, link: str, other: str) -> bool:
    """Whether ``link`` is ``other`` or one of its descendants."""
    while link:
        if link == other:
            return True
        if link not in tree.carried:
            return False
        joint, reversed_ = tree.carried[link]
        link = joint.child if reversed_ else joint.parent
    return False


#: Frames closer than this coincide [m or rad].
_COINCIDENT = 1e-9


@dataclass(frozen=True)
class AssembledModel:
    """A part, its base, and the pose of its root in the model's frame."""

    part: Part
    base: str
    at: Pose


def assemble(model: FlatModel, reading: SdfReadContext, file: Origin) -> AssembledModel:
    """Returns the part of a model.

    A model of one tree becomes that tree, fixed to the world by a fixed joint or ``<static>``.
    If it has several trees, or other joints to the world, a massless element represents the
    model's frame and is the parent of all.

    Raises:
        LinkworkError: If a value is missing, unknown or not a number.
    """
    tree = spanning_tree(model)
    names = NameTable.of(list(model.links), list(model.joints))
    part = Part(plain_name(model.name), origin=file)
    part.self_collision = read_self_collision(model, reading)
    if part.name != model.name:
        part.title = model.name
    outer = reading.locator
    for name, link in model.links.items():
        reading.locator = link.locator
        part.add(read_link(link, names.links[name], reading))
    reading.locator = outer
    root, held = _root(part, model, tree, names, reading)
    for child, (joint, turned) in tree.carried.items():
        if joint.parent or root:
            part.add(*_joint(model, joint, child, turned, root, names))
    for link in tree.roots if root else ():
        kind = "fixed" if model.links[link].static else "free"
        at = model.links[link].pose
        name = plain_name(f"{names.links[link]}_{kind}", {*part.elements, *part.joints})
        origin = model.links[link].node.origin
        part.add(Joint(name, kind, root, names.links[link], at=at, origin=origin))
    _add_frames(part, model, names)
    for joint in tree.loops:
        if not joint.held:
            _close(part, model, joint, root, names, reading)
    part.add(*read_mimics(model, part.joints, names.joints, reading))
    part.aliases = names.aliases()
    alone = next((link for link in model.links if names.links[link] == part.root()), "")
    at = IDENTITY if root else model.links[alone].pose
    return AssembledModel(part, "fixed" if held or root else "free", at)


def _root(
    part: Part, model: FlatModel, tree: SpanningTree, names: NameTable, reading: SdfReadContext
) -> tuple[str, bool]:
    """Adds an element for the model's frame if needed; returns it and whether the base is fixed."""
    only = tree.grounded[0] if len(tree.grounded) == 1 else None
    assemblies = len(tree.roots) + len(tree.grounded)
    to_world = [joint for joint in tree.loops if not joint.parent]
    if assemblies == 1 and not to_world:
        if only is None:
            return "", model.links[tree.roots[0]].static
        if only.kind == "fixed":
            reading.notes.about(
                "fixed joints to the world, read as the part's fixed base", only.name
            )
            return "", True
    root = plain_name("world", {*names.links.values(), *names.joints.values()})
    part.add(Element(root, inertia=Inertia.of(0.0), origin=model.node.origin))
    return root, True


def _joint(
    model: FlatModel, joint: ModelJoint, child: str, turned: bool, root: str, names: NameTable
) -> list[Joint]:
    """Returns the joint from the parent to ``child``, with swapped ends if ``turned``."""
    carrier = joint.child if turned else joint.parent
    foot = model.links[carrier].pose if carrier else IDENTITY
    at = foot.inverse() @ joint.pose
    at_to = model.links[child].pose.inverse() @ joint.pose
    ends = (names.links[carrier] if carrier else root, names.links[child])
    made = make_joints(
        joint.node, joint.kind, names.joints[joint.name], joint.axes, ends, at, at_to
    )
    if turned:
        x, y, z = made[0].axis
        made = [replace(made[0], axis=(-x, -y, -z))]
    return made


def _add_frames(part: Part, model: FlatModel, names: NameTable) -> None:
    """Adds frames as anchors."""
    for full, (node, link, pose) in model.frames.items():
        taken = {*part.anchors, *part.elements}
        at = model.links[link].pose.inverse() @ pose
        part.add(Anchor(plain_name(full, taken), names.links[link], at=at, origin=node.origin))


def _close(
    part: Part,
    model: FlatModel,
    joint: ModelJoint,
    root: str,
    names: NameTable,
    reading: SdfReadContext,
) -> None:
    """Adds a loop: two anchors at the joint, joined by its type.

    Existing anchors at that pose are used, so that a loop keeps their names.
    """
    kind = joint.kind
    name = names.joints[joint.name]
    if kind in ("universal", "screw"):
        what = f"{kind} joints that close a loop, closed as balls"
        reading.notes.about(what, joint.name, kind="motion")
        kind = "ball"
    axis = joint.axes[0].xyz if joint.axes and kind in ("hinge", "slider") else (0.0, 0.0, 1.0)
    ends = []
    for link, suffix in ((joint.parent, "a"), (joint.child, "b")):
        foot = model.links[link].pose if link else IDENTITY
        on, at = names.links[link] if link else root, foot.inverse() @ joint.pose
        end = _anchor_at(part, on, at, kind, axis)
        if not end:
            end = plain_name(f"{name}_{suffix}", {*part.anchors, *part.elements})
            part.add(Anchor(end, on, at=at, origin=joint.node.origin))
        ends.append(end)
    try:
        part.close(ends[0], ends[1], joint=kind, axis=axis, name=name, origin=joint.node.origin)
    except LinkworkError as error:
        raise error.at(joint.node.origin) from None
    limits = any(a.range or a.damping or a.friction or a.stiffness for a in joint.axes)
    if limits:
        reading.notes.about(
            "ranges, damping and springs of joints that close loops, left out", name, kind="motion"
        )


def _anchor_at(part: Part, on: str, at: Pose, kind: str, axis: Vec3) -> str:
    """Returns an unused anchor of an element that coincides with ``at``; empty if there is none."""
    used = {end for loop in part.loops.values() for end in (loop.a, loop.b)}
    for name, anchor in part.anchors.items():
        between = anchor.at.inverse() @ at
        gap = math.hypot(*between.xyz)
        if kind in ("hinge", "slider"):
            gap = max(gap, math.dist(axis, between.rotate(axis)))
        if kind in ("slider", "fixed"):
            gap = max(gap, 2.0 * math.hypot(*between.quat[1:]))
        if anchor.on == on and name not in used and gap < _COINCIDENT:
            return name
    return ""
