"""Assembling: a flat SDF model becomes a part."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from linkwork.errors import LinkworkError, Origin
from linkwork.formats.names import NameTable
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.joints import make_joints
from linkwork.formats.sdf.links import read_link
from linkwork.formats.sdf.mimics import read_mimics
from linkwork.formats.sdf.model import FlatModel, ModelJoint
from linkwork.formats.sdf.tree import Tree, spanning_tree
from linkwork.parts import Anchor, Element, Joint, Part
from linkwork.parts.names import plain
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import IDENTITY, Pose, Vec3

#: Frames closer than this stand at one place [m, and about as many rad].
_SAME_PLACE = 1e-9


@dataclass(frozen=True)
class Assembled:
    """A part, how it is held, and where its root stands in the model's frame."""

    part: Part
    base: str
    at: Pose


def assemble(model: FlatModel, reading: Reading, file: Origin) -> Assembled:
    """The part that a model makes.

    A model of one piece is that piece, held by the world if a fixed joint or ``<static>`` says so.
    Of several pieces, or where other joints lead to the world, an element without mass stands for
    the model's frame and carries all.

    Raises:
        LinkworkError: If something is missing, unknown or not a number.
    """
    tree = spanning_tree(model)
    names = NameTable.of(list(model.links), list(model.joints))
    part = Part(plain(model.name), origin=file)
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
        name = plain(f"{names.links[link]}_{kind}", {*part.elements, *part.joints})
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
    return Assembled(part, "fixed" if held or root else "free", at)


def _root(
    part: Part, model: FlatModel, tree: Tree, names: NameTable, reading: Reading
) -> tuple[str, bool]:
    """The element that stands for the model's frame, if one is needed, and whether it is held."""
    only = tree.grounded[0] if len(tree.grounded) == 1 else None
    pieces = len(tree.roots) + len(tree.grounded)
    to_world = [joint for joint in tree.loops if not joint.parent]
    if pieces == 1 and not to_world:
        if only is None:
            return "", model.links[tree.roots[0]].static
        if only.kind == "fixed":
            reading.notes.about("fixed joints to the world, said by how the part stands", only.name)
            return "", True
    root = plain("world", {*names.links.values(), *names.joints.values()})
    part.add(Element(root, inertia=Inertia.of(0.0), origin=model.node.origin))
    return root, True


def _joint(
    model: FlatModel, joint: ModelJoint, child: str, turned: bool, root: str, names: NameTable
) -> list[Joint]:
    """The joint that carries ``child``, seen from its other side if it is turned."""
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
    """Frames are anchors."""
    for full, (node, link, pose) in model.frames.items():
        taken = {*part.anchors, *part.elements}
        at = model.links[link].pose.inverse() @ pose
        part.add(Anchor(plain(full, taken), names.links[link], at=at, origin=node.origin))


def _close(
    part: Part, model: FlatModel, joint: ModelJoint, root: str, names: NameTable, reading: Reading
) -> None:
    """A loop: two anchors where the joint stands, held together as it holds them.

    Frames that stand there are those anchors, so that a loop keeps the names of its own.
    """
    kind = joint.kind
    name = names.joints[joint.name]
    if kind in ("universal", "screw"):
        reading.notes.about(f"{kind} joints that close a loop, closed as balls", joint.name)
        kind = "ball"
    axis = joint.axes[0].xyz if joint.axes and kind in ("hinge", "slider") else (0.0, 0.0, 1.0)
    ends = []
    for link, suffix in ((joint.parent, "a"), (joint.child, "b")):
        foot = model.links[link].pose if link else IDENTITY
        on, at = names.links[link] if link else root, foot.inverse() @ joint.pose
        end = _standing(part, on, at, kind, axis)
        if not end:
            end = plain(f"{name}_{suffix}", {*part.anchors, *part.elements})
            part.add(Anchor(end, on, at=at, origin=joint.node.origin))
        ends.append(end)
    try:
        part.close(ends[0], ends[1], joint=kind, axis=axis, name=name, origin=joint.node.origin)
    except LinkworkError as error:
        raise error.at(joint.node.origin) from None
    limits = any(a.range or a.damping or a.friction or a.stiffness for a in joint.axes)
    if limits:
        reading.notes.about(
            "ranges, damping and springs of joints that close loops, left out", name
        )


def _standing(part: Part, on: str, at: Pose, kind: str, axis: Vec3) -> str:
    """The anchor of an element that holds what one at ``at`` would hold; empty if there is none."""
    used = {end for loop in part.loops.values() for end in (loop.a, loop.b)}
    for name, anchor in part.anchors.items():
        between = anchor.at.inverse() @ at
        gap = math.hypot(*between.xyz)
        if kind in ("hinge", "slider"):
            gap = max(gap, math.dist(axis, between.rotate(axis)))
        if kind in ("slider", "fixed"):
            gap = max(gap, 2.0 * math.hypot(*between.quat[1:]))
        if anchor.on == on and name not in used and gap < _SAME_PLACE:
            return name
    return ""
