"""Flat structure for writers: the links of a part or scene with full names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from linkwork.core.errors import PartError, not_found
from linkwork.formats.names import original_names
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import Anchor, Coupling, Element, Joint, Loop, Part
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import Placement, Scene, placed_drives


@dataclass
class FlatLink:
    """A link.

    Attributes:
        name: Full name (``hand/finger``).
        spelling: Name in the file, before it is made unique.
        element: Its element; None between two chained joints.
        carrier: Full name of the parent link, empty for the root.
        at: Pose of the joint, or of this link if it is rigid, in the parent's element frame.
        joint: The joint between them; None for a rigid connection.
        joint_name: Full name of the joint.
        joint_spelling: Name of the joint in the file.
        offset: Pose of the element's frame in the link's frame, which is at the joint.
        placed: Name of the placed part that it belongs to; empty for scenery and in a part.
    """

    name: str
    spelling: str
    element: Element | None = None
    carrier: str = ""
    at: Pose = IDENTITY
    joint: Joint | None = None
    joint_name: str = ""
    joint_spelling: str = ""
    offset: Pose = IDENTITY
    placed: str = ""

    @property
    def at_zero(self) -> Pose:
        """Pose of the element's frame in the parent's element frame, at joint value 0."""
        return self.at @ self.offset


@dataclass(frozen=True)
class FlatLoop:
    """A loop with the poses of its anchors.

    Attributes:
        name: Full name.
        loop: Type and axis of the closing joint.
        ends: Full name of the link and pose in its element's frame, of both ends.
    """

    name: str
    loop: Loop
    ends: tuple[tuple[str, Pose], tuple[str, Pose]]


@dataclass
class FlatStructure:
    """A part or scene without nesting.

    Attributes:
        links: From the roots outwards.
        couplings: Joints that mimic others, with full names.
        parts: Every part with its scope.
        anchors: Anchors by full name, with the link of each.
        loops: Closed loops.
        snapped: Pairs of links that are attached at anchors.
        scene: The scene, if it is one.
    """

    links: list[FlatLink]
    couplings: list[Coupling]
    parts: list[tuple[str, Part]]
    anchors: dict[str, tuple[Anchor, str]]
    loops: list[FlatLoop]
    snapped: list[tuple[str, str]]
    scene: Scene | None = None


@dataclass
class _Collector:
    links: dict[str, FlatLink] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    parts: list[tuple[str, Part]] = field(default_factory=list)
    anchors: dict[str, tuple[Anchor, str]] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    snapped: list[tuple[str, str]] = field(default_factory=list)


def flatten(thing: Part | Scene) -> FlatStructure:
    """Flattens a part with its attachments, or a scene with its parts and scenery.

    Raises:
        LinkworkError: If a part is not one tree, or a name refers to nothing.
    """
    found = _Collector()
    if isinstance(thing, Part):
        _gather(found, thing, "")
    else:
        for element in thing.scenery.values():
            if element.on and element.on not in thing.scenery:
                raise not_found("element", element.on, thing.scenery, origin=element.origin)
            found.links[element.name] = FlatLink(
                element.name, element.name, element, element.on, element.at
            )
        for placement in thing.parts.values():
            _place(found, placement)
        found.loops.update(thing.loops)
        found.couplings.extend(thing.couplings)
    loops = [_flat_loop(found, name, loop) for name, loop in found.loops.items()]
    return FlatStructure(
        _sort_outwards(found.links, thing),
        found.couplings,
        found.parts,
        found.anchors,
        loops,
        found.snapped,
        thing if isinstance(thing, Scene) else None,
    )


def unique(name: str, taken: set[str]) -> str:
    """Returns ``name``, with the next free number if taken; adds it to ``taken``."""
    number, candidate = 2, name
    while candidate in taken:
        number, candidate = number + 1, f"{name}_{number}"
    taken.add(candidate)
    return candidate


def _place(found: _Collector, placement: Placement) -> None:
    part, name = placement.part, placement.name
    before = set(found.links)
    _gather(found, part, name)
    for link in found.links.keys() - before:
        found.links[link].placed = name
    links = {link.joint_name: link for link in found.links.values()}
    joints = {name: link.joint for name, link in links.items() if link.joint is not None}
    for joint, drive in placed_drives(placement, joints).items():
        links[joint].joint = replace(joints[joint], drive=drive)
    root = found.links[scoped_name_of(name, part.root())]
    at = placement.at
    if placement.on:
        if placement.on not in found.anchors:
            raise not_found("anchor", placement.on, found.anchors, origin=placement.origin)
        anchor, root.carrier = found.anchors[placement.on]
        at = anchor.at @ at
        if placement.base != "free":
            found.snapped.append((root.carrier, root.name))
    by = placement.by or (part.mount if placement.on else "")
    root.at = at @ part.anchor_pose(by, origin=placement.origin).inverse()
    if placement.base == "free":
        root.joint = Joint(name, "free", root.carrier, root.name, origin=placement.origin)
        root.joint_name = root.joint_spelling = name


def _flat_loop(found: _Collector, name: str, loop: Loop) -> FlatLoop:
    ends = []
    for end in (loop.a, loop.b):
        if end not in found.anchors:
            raise not_found("anchor", end, found.anchors, origin=loop.origin)
        anchor, link = found.anchors[end]
        ends.append((link, anchor.at))
    return FlatLoop(name, loop, (ends[0], ends[1]))


def _gather(found: _Collector, part: Part, scope: str) -> None:
    found.parts.append((scope, part))
    spelled = original_names(part)
    prefix = scope.replace("/", "_") + "_" if scope else ""
    part.root()  # checks that the part is one tree
    for element in part.elements.values():
        if element.on and element.on not in part.elements:
            raise not_found("element", element.on, part.elements, origin=element.origin)
        name = scoped_name_of(scope, element.name)
        carrier = scoped_name_of(scope, element.on) if element.on else ""
        spelling = prefix + spelled.get(element.name, element.name)
        found.links[name] = FlatLink(name, spelling, element, carrier, element.at)
    for joint in part.joints.values():
        _gather_joint(found, part, joint, scope, prefix + spelled.get(joint.name, joint.name))
    for anchor in part.anchors.values():
        if anchor.on not in part.elements:
            raise not_found("element", anchor.on, part.elements, origin=anchor.origin)
        found.anchors[scoped_name_of(scope, anchor.name)] = (
            anchor,
            scoped_name_of(scope, anchor.on),
        )
    for attachment in part.attachments.values():
        inner = scoped_name_of(scope, attachment.name)
        _gather(found, attachment.part, inner)
        top = found.links[scoped_name_of(inner, attachment.part.root())]
        anchor = part.find_anchor(attachment.anchor, origin=attachment.origin)
        top.carrier = found.anchors[scoped_name_of(scope, attachment.anchor)][1]
        top.at = attachment.pose(anchor)
        found.snapped.append((top.carrier, top.name))
    for loop in part.loops.values():
        full = replace(loop, a=scoped_name_of(scope, loop.a), b=scoped_name_of(scope, loop.b))
        found.loops[scoped_name_of(scope, loop.name)] = full
    for coupling in part.couplings:
        joint, of = scoped_name_of(scope, coupling.joint), scoped_name_of(scope, coupling.of)
        found.couplings.append(
            Coupling(joint, of, coupling.ratio, coupling.offset, coupling.origin, coupling.mujoco)
        )


def _gather_joint(found: _Collector, part: Part, joint: Joint, scope: str, spelling: str) -> None:
    name = scoped_name_of(scope, joint.name)
    if joint.to in part.joints:
        target = found.links.setdefault(
            _link_after(name), FlatLink(_link_after(name), f"{spelling}_link")
        )
    elif joint.to in part.elements:
        target = found.links[scoped_name_of(scope, joint.to)]
    else:
        raise not_found("element", joint.to, part.elements, origin=joint.origin)
    if joint.from_ in part.elements:
        carrier = scoped_name_of(scope, joint.from_)
    elif joint.from_ in part.joints and part.joints[joint.from_].to == joint.name:
        carrier = _link_after(scoped_name_of(scope, joint.from_))
    else:
        raise not_found("element", joint.from_, part.elements, origin=joint.origin)
    if target.carrier:
        raise PartError(
            f"element {target.name!r} has two parents: {target.joint_name or target.carrier!r} "
            f"and joint {name!r}.",
            origin=joint.origin,
        )
    target.carrier, target.at = carrier, joint.at
    target.joint, target.joint_name, target.joint_spelling = joint, name, spelling
    target.offset = joint.at_to.inverse()


def _link_after(joint: str) -> str:
    """Returns the name of the link between two joints of a chain."""
    return f"{joint}-link"


def _sibling_order(links: dict[str, FlatLink]) -> dict[str, int]:
    """Returns the order of siblings; a link between joints has that of its element."""
    order = {name: number for number, name in enumerate(links)}
    for link in links.values():
        carrier = links.get(link.carrier) if link.element is not None else None
        while carrier is not None and carrier.element is None:
            order[carrier.name] = order[link.name]
            carrier = links.get(carrier.carrier)
    return order


def _sort_outwards(links: dict[str, FlatLink], thing: Part | Scene) -> list[FlatLink]:
    carried: dict[str, list[FlatLink]] = {}
    order = _sibling_order(links)
    for link in sorted(links.values(), key=lambda link: order[link.name]):
        carried.setdefault(link.carrier, []).append(link)
    ordered: list[FlatLink] = []
    stack = list(reversed(carried.get("", [])))
    while stack:
        link = stack.pop()
        ordered.append(link)
        stack.extend(reversed(carried.get(link.name, [])))
    if len(ordered) != len(links):
        reached = {link.name for link in ordered}
        lost = next(link for name, link in links.items() if name not in reached)
        raise PartError(
            f"element {lost.name!r} of {thing.name!r} carries itself in a cycle.",
            origin=lost.element.origin if lost.element else thing.origin,
        )
    return ordered
