"""Flattening for URDF: a part with its attachments as one list of links and single joints."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.errors import PartError, not_found
from linkwork.formats.urdf.names import file_names
from linkwork.parts import Coupling, Element, Joint, Part
from linkwork.parts.names import scoped
from linkwork.spatial.pose import IDENTITY, Pose


@dataclass
class FlatLink:
    """A link to be.

    Attributes:
        name: Full name here (``hand/finger``).
        spelling: Name in the file, not yet made unique.
        element: What it carries; None between two chained joints.
        carrier: Full name of the link that carries it, empty for the root.
        at: Pose in the carrier's element frame of the joint, or of this link if it is rigid.
        joint: The joint between them; None for a rigid connection.
        joint_name: Full name of the joint.
        joint_spelling: Name of the joint in the file.
        offset: Pose of the element's frame in the link's frame, which stands at the joint.
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


@dataclass
class FlatPart:
    """A part without nesting; ``links`` are ordered from the root outwards."""

    links: list[FlatLink]
    couplings: list[Coupling]
    parts: list[tuple[str, Part]]


@dataclass
class _Gathering:
    links: dict[str, FlatLink] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    parts: list[tuple[str, Part]] = field(default_factory=list)


def flatten(part: Part) -> FlatPart:
    """Writes out a part's attachments with full names.

    Raises:
        LinkworkError: If the part is not one tree.
    """
    found = _Gathering()
    _gather(found, part, "")
    ordered = _outwards(found.links, part)
    return FlatPart(ordered, found.couplings, found.parts)


def _gather(found: _Gathering, part: Part, scope: str) -> None:
    found.parts.append((scope, part))
    spelled = file_names(part)
    prefix = scope.replace("/", "_") + "_" if scope else ""
    part.root()  # refuses a part that falls apart
    for element in part.elements.values():
        if element.on and element.on not in part.elements:
            raise not_found("element", element.on, part.elements, origin=element.origin)
        name = scoped(scope, element.name)
        carrier = scoped(scope, element.on) if element.on else ""
        spelling = prefix + spelled.get(element.name, element.name)
        found.links[name] = FlatLink(name, spelling, element, carrier, element.at)
    for joint in part.joints.values():
        _gather_joint(found, part, joint, scope, prefix + spelled.get(joint.name, joint.name))
    for attachment in part.attachments.values():
        inner = scoped(scope, attachment.name)
        _gather(found, attachment.part, inner)
        top = found.links[scoped(inner, attachment.part.root())]
        anchor = part.find_anchor(attachment.anchor, origin=attachment.origin)
        holder = attachment.anchor.rpartition("/")[0]
        top.carrier = scoped(scoped(scope, holder), anchor.on)
        top.at = attachment.pose(anchor)
    for coupling in part.couplings:
        joint, of = scoped(scope, coupling.joint), scoped(scope, coupling.of)
        found.couplings.append(
            Coupling(joint, of, coupling.ratio, coupling.offset, coupling.origin)
        )


def _gather_joint(found: _Gathering, part: Part, joint: Joint, scope: str, spelling: str) -> None:
    name = scoped(scope, joint.name)
    if joint.to in part.joints:
        target = found.links.setdefault(
            _between(name), FlatLink(_between(name), f"{spelling}_link")
        )
    elif joint.to in part.elements:
        target = found.links[scoped(scope, joint.to)]
    else:
        raise not_found("element", joint.to, part.elements, origin=joint.origin)
    if joint.from_ in part.elements:
        carrier = scoped(scope, joint.from_)
    elif joint.from_ in part.joints and part.joints[joint.from_].to == joint.name:
        carrier = _between(scoped(scope, joint.from_))
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


def _between(joint: str) -> str:
    """Name of the link between a joint and the next one of its chain."""
    return f"{joint}-link"


def _outwards(links: dict[str, FlatLink], part: Part) -> list[FlatLink]:
    carried: dict[str, list[FlatLink]] = {}
    for link in links.values():
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
            f"element {lost.name!r} of part {part.name!r} carries itself in a cycle.",
            origin=lost.element.origin if lost.element else part.origin,
        )
    return ordered
