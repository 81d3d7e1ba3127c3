"""Fit: whether a part may sit on an anchor, and where an anchor stands in its part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from linkwork.errors import Origin, PartError, not_found
from linkwork.parts.anchor import Anchor
from linkwork.parts.names import scoped
from linkwork.spatial.pose import Pose

if TYPE_CHECKING:
    from linkwork.parts.part import Part


def check_fit(carrier: Anchor, owner: str, other: Part, by: str, *, origin: Origin) -> None:
    """Refuses two anchors of different tags.

    Args:
        carrier: The anchor that carries.
        owner: Name of its part.
        other: The part that comes.
        by: Its anchor, or empty for its root.
        origin: Where it was said.

    Raises:
        PartError: If they do not fit; the message lists the anchors that do.
    """
    if not by:
        return
    mine = other.find_anchor(by, origin=origin)
    if carrier.fits and mine.fits and carrier.fits != mine.fits:
        fitting = [a.name for a in other.anchors.values() if a.fits in ("", carrier.fits)]
        raise PartError(
            f"anchor {by!r} of {other.name!r} (fits {mine.fits!r}) does not fit "
            f"{carrier.name!r} of {owner!r} (fits {carrier.fits!r}).",
            origin=origin,
            hint=f"Anchors of {other.name!r} that fit: {', '.join(fitting) or 'none'}.",
        )


def check_turn(anchor: Anchor, turn: float, *, origin: Origin) -> None:
    """Refuses a turn about z [rad] that an anchor does not allow.

    Raises:
        PartError: Listing the turns that are allowed.
    """
    if not math.isfinite(turn):
        raise PartError(
            f"a turn at anchor {anchor.name!r} must be a finite angle, not {turn:g}.",
            origin=origin,
        )
    if not anchor.allows(turn):
        raise PartError(
            f"anchor {anchor.name!r} does not allow a turn of {math.degrees(turn):g}°.",
            origin=origin,
            hint=f"Allowed: {', '.join(f'{t:g}°' for t in anchor.turns_deg())}.",
        )


def check_vacant(part: Part, anchor: str, *, origin: Origin) -> None:
    """Refuses an anchor that carries a part, or by which its own part is attached.

    Raises:
        PartError: Naming what is there.
    """
    scope, _, rest = anchor.partition("/")
    for there in part.attachments.values():
        by = there.by or there.part.mount
        if there.anchor == anchor or (by and scoped(there.name, by) == anchor):
            verb = "already carries" if there.anchor == anchor else "already holds"
            raise PartError(
                f"anchor {anchor!r} of {part.name!r} {verb} {there.name!r}.",
                origin=origin,
                hint="An anchor joins two parts, not more.",
            )
    if rest and scope in part.attachments:
        check_vacant(part.attachments[scope].part, rest, origin=origin)


def anchor_pose(part: Part, name: str, *, origin: Origin | None = None) -> Pose:
    """Pose of an anchor in the frame of the part's root element.

    Raises:
        PartError: If a joint lies between them, so that no fixed pose exists.
    """
    if not name:
        return Pose()
    anchor = part.find_anchor(name, origin=origin)
    scope, _, rest = name.partition("/")
    if rest and scope in part.attachments:
        there = part.attachments[scope]
        carrier = part.find_anchor(there.anchor, origin=origin)
        foot = anchor_pose(part, there.anchor, origin=origin) @ carrier.at.inverse()
        return foot @ there.pose(carrier) @ anchor_pose(there.part, rest, origin=origin)
    root = part.root()
    fixed = {j.to: j for j in part.joints.values() if j.type == "fixed"}
    pose, element = anchor.at, anchor.on
    seen: set[str] = set()
    while element != root:
        piece = part.elements.get(element)
        if piece is None and element not in part.joints:
            raise not_found("element", element, part.elements, origin=anchor.origin)
        if element in seen:
            raise PartError(
                f"element {element!r} of part {part.name!r} carries itself in a cycle.",
                origin=piece.origin if piece else anchor.origin,
            )
        seen.add(element)
        if piece is not None and piece.on:
            pose, element = piece.at @ pose, piece.on
        elif element in fixed:
            joint = fixed[element]
            pose, element = joint.at @ joint.at_to.inverse() @ pose, joint.from_
        else:
            raise PartError(
                f"anchor {name!r} of {part.name!r} moves relative to the root {root!r}.",
                origin=origin if origin is not None and origin.file else anchor.origin,
                hint="A part is attached by an anchor on its root body.",
            )
    return pose
