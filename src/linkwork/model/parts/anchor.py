"""Anchor: a named frame on an element where another part can be attached."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkwork.core.errors import Origin, PartError, not_found
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts.spec import check_name, scoped_name_of

if TYPE_CHECKING:
    from linkwork.model.parts.part import Part


@dataclass(frozen=True)
class Anchor:
    """A frame where another part can be attached.

    When two parts are attached, the frames of their anchors coincide: z points out of the parent
    part and into the attached part.

    Attributes:
        name: Name in its part.
        on: Element of the anchor.
        at: Pose in that element's frame.
        fits: Tag; only anchors with equal tags fit. An empty tag fits any.
        turns: Number of evenly spaced rotations about z in which a part fits; 0 for any rotation.
        origin: Where it is defined.
    """

    name: str
    on: str
    at: Pose = IDENTITY
    fits: str = ""
    turns: int = 0
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "anchor", origin=self.origin)
        if self.turns < 0:
            raise PartError(
                f"anchor {self.name!r}: turns must be 0 or more, not {self.turns}.",
                origin=self.origin,
            )

    def allows(self, turn: float) -> bool:
        """Whether a part may be rotated by ``turn`` [rad]."""
        if self.turns == 0:
            return True
        steps = turn * self.turns / (2.0 * math.pi)
        return abs(steps - round(steps)) < 1e-6

    def turns_deg(self) -> list[float]:
        """Returns the allowed turns [deg], for messages."""
        return [360.0 * k / self.turns for k in range(self.turns)]


def check_fit(carrier: Anchor, owner: str, other: Part, by: str, *, origin: Origin) -> None:
    """Checks that the tags of two anchors fit.

    Args:
        carrier: Anchor of the parent part.
        owner: Name of its part.
        other: The attached part.
        by: Its anchor, or empty for its root.
        origin: Where it is defined.

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
    """Checks that an anchor allows a rotation about z [rad].

    Raises:
        PartError: Listing the allowed rotations.
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


def check_free_anchor(part: Part, anchor: str, *, origin: Origin) -> None:
    """Checks that no part is attached at an anchor, or its own part by it.

    Raises:
        PartError: Naming the attached part.
    """
    scope, _, rest = anchor.partition("/")
    for there in part.attachments.values():
        by = there.by or there.part.mount
        if there.anchor == anchor or (by and scoped_name_of(there.name, by) == anchor):
            verb = "already carries" if there.anchor == anchor else "already holds"
            raise PartError(
                f"anchor {anchor!r} of {part.name!r} {verb} {there.name!r}.",
                origin=origin,
                hint="An anchor joins two parts, not more.",
            )
    if rest and scope in part.attachments:
        check_free_anchor(part.attachments[scope].part, rest, origin=origin)


def anchor_pose(part: Part, name: str, *, origin: Origin | None = None) -> Pose:
    """Returns the pose of an anchor in the frame of the part's root element.

    Raises:
        PartError: If a joint between them makes the pose variable.
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
