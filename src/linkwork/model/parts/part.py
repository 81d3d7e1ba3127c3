"""Part: a tree of elements, joints and anchors; a robot is a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from linkwork.core.errors import Origin, PartError, not_found
from linkwork.geometry.pose import Pose, Vec3, quat_from_axis
from linkwork.model.parts.anchor import (
    Anchor,
    anchor_pose,
    check_fit,
    check_free_anchor,
    check_turn,
)
from linkwork.model.parts.constraints import Coupling, Loop, Spring, free_loop_name
from linkwork.model.parts.element import Element
from linkwork.model.parts.joint import Joint
from linkwork.model.parts.spec import Spec, check_name, scoped_name_of


@dataclass(frozen=True)
class Attachment:
    """A part attached at an anchor of another.

    Attributes:
        anchor: Anchor of the parent part; scoped names refer to attached parts.
        part: The attached part.
        name: Its scope.
        by: Anchor of the attached part; empty for "mount" if it exists, else the root.
        turn: Rotation about the anchor's z [rad].
        origin: Where it is defined.
        source: The part as the file names it: a kit name or a path.
    """

    anchor: str
    part: Part
    name: str
    by: str = ""
    turn: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)
    source: str = field(default="", compare=False)

    def pose(self, carrier: Anchor) -> Pose:
        """Returns the pose of the attached part's root element in the parent element's frame."""
        turned = carrier.at @ Pose(quat=quat_from_axis((0.0, 0.0, 1.0), self.turn))
        by = self.by or self.part.mount
        return turned @ self.part.anchor_pose(by, origin=self.origin).inverse()


#: Which elements of a part collide with each other.
SELF_COLLISION = ("all", "separate", "none")


@dataclass
class Part:
    """A tree of elements, joints and anchors: pure data, no state.

    Attributes:
        name: Name of the part.
        elements: Elements by name.
        joints: Joints by name.
        anchors: Anchors by name.
        loops: Closed loops by name.
        couplings: Joints that mimic others.
        springs: Springs between anchors, by name.
        attachments: Attached parts, by scope.
        sensors: Specs of the part's sensors.
        ports: Specs of the part's ports.
        title: Title, one line.
        labels: Labels by language.
        aliases: Names in the imported file, with the names here, if they differ.
        self_collision: Which elements collide with each other, joined ones aside: "all";
            "separate", all but pairs that overlap at the start; or "none".
        origin: The file.
    """

    name: str
    elements: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    anchors: dict[str, Anchor] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    attachments: dict[str, Attachment] = field(default_factory=dict)
    sensors: list[Spec] = field(default_factory=list)
    ports: list[Spec] = field(default_factory=list)
    springs: dict[str, Spring] = field(default_factory=dict)
    title: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    self_collision: str = "all"
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "part", origin=self.origin)
        if self.self_collision not in SELF_COLLISION:
            raise PartError(
                f"part {self.name!r}: self_collision must be {', '.join(SELF_COLLISION[:-1])} or "
                f"{SELF_COLLISION[-1]}, not {self.self_collision!r}.",
                origin=self.origin,
            )

    def add(self, *things: Element | Joint | Anchor | Loop | Coupling | Spring) -> Self:
        """Adds elements, joints, anchors, loops, couplings and springs.

        Raises:
            PartError: If a name is taken.
        """
        for thing in things:
            match thing:
                case Element():
                    self._take(thing.name, "element", thing.origin, self.anchors)
                    self.elements[thing.name] = thing
                case Joint():
                    self._take(thing.name, "joint", thing.origin)
                    self.joints[thing.name] = thing
                case Anchor():
                    for taken in (self.anchors, self.elements):  # frames, both found by name
                        if thing.name in taken:
                            self._taken("anchor", thing.name, taken[thing.name], thing.origin)
                    self.anchors[thing.name] = thing
                case Loop():
                    if thing.name in self.loops:
                        self._taken("loop", thing.name, self.loops[thing.name], thing.origin)
                    self.loops[thing.name] = thing
                case Coupling():
                    self.couplings.append(thing)
                case Spring():
                    self._take(thing.name, "spring", thing.origin)
                    self.springs[thing.name] = thing
        return self

    def _take(self, name: str, kind: str, origin: Origin, *others: Mapping[str, Any]) -> None:
        for taken in (self.elements, self.joints, self.attachments, self.springs, *others):
            if name in taken:
                self._taken(kind, name, taken[name], origin)

    def _taken(self, kind: str, name: str, by: Any, origin: Origin) -> None:
        where = f" at {by.origin}" if by.origin.file else ""
        raise PartError(
            f"{kind} name {name!r} is taken by the {type(by).__name__.lower()}{where}.",
            origin=origin,
        )

    @property
    def mount(self) -> str:
        """The anchor by which the part is attached by default; empty for the root."""
        return "mount" if "mount" in self.anchors else ""

    def attach(
        self,
        anchor: str,
        other: Part,
        *,
        name: str = "",
        by: str = "",
        turn: float = 0.0,
        origin: Origin | None = None,
        source: str = "",
    ) -> Self:
        """Attaches ``other`` at ``anchor``.

        Args:
            anchor: Anchor of this part, or scoped (``hand/flange``) of an attached part.
            other: The part to attach; the same part can be attached several times.
            name: Scope of its names; the part's own name if empty.
            by: Anchor of ``other``; "mount" if it exists, else its root element's frame.
            turn: Rotation about the anchor's z [rad].
            origin: Where it is defined.
            source: The part as the file names it: a kit name or a path.

        Raises:
            PartError: If the anchor is unknown, occupied or does not fit, or the attach is cyclic.
        """
        origin = origin or Origin()
        name = check_name(name or other.name, "part", origin=origin)
        self._take(name, "part", origin)
        if other is self or other._contains(self):
            raise PartError(
                f"part {other.name!r} cannot be attached to {self.name!r}: it contains it.",
                origin=origin,
            )
        carrier = self.find_anchor(anchor, origin=origin)
        check_free_anchor(self, anchor, origin=origin)
        check_turn(carrier, turn, origin=origin)
        if mine := by or other.mount:
            check_fit(carrier, self.name, other, mine, origin=origin)
            check_free_anchor(other, mine, origin=origin)
            check_turn(other.find_anchor(mine), turn, origin=origin)
        self.attachments[name] = Attachment(anchor, other, name, by, turn, origin, source)
        return self

    def close(
        self,
        a: str,
        b: str,
        *,
        joint: str = "ball",
        axis: Vec3 = (0.0, 0.0, 1.0),
        name: str = "",
        origin: Origin | None = None,
        **more: Any,
    ) -> Self:
        """Closes a loop: joins the anchors ``a`` and ``b``.

        Other fields of the loop (``curve``, ``axis2``, ``pitch``, ``rail``) are keyword arguments.

        Raises:
            PartError: If an anchor or the joint's type is unknown.
        """
        origin = origin or Origin()
        self.find_anchor(a, origin=origin)
        self.find_anchor(b, origin=origin)
        name = name or free_loop_name(self.loops)
        return self.add(Loop(name, a, b, joint, axis, origin, **more))

    def _contains(self, other: Part) -> bool:
        return any(a.part is other or a.part._contains(other) for a in self.attachments.values())

    def find_anchor(self, name: str, *, origin: Origin | None = None) -> Anchor:
        """Returns the anchor ``name``, which may be of an attached part (``hand/flange``)."""
        scope, _, rest = name.partition("/")
        if rest and scope in self.attachments:
            return self.attachments[scope].part.find_anchor(rest, origin=origin)
        if name not in self.anchors:
            raise not_found("anchor", name, self.all_anchors(), origin=origin)
        return self.anchors[name]

    def all_anchors(self) -> list[str]:
        """Returns the names of all anchors, with those of attached parts."""
        inner = (
            scoped_name_of(scope, name)
            for scope, a in self.attachments.items()
            for name in a.part.all_anchors()
        )
        return [*self.anchors, *inner]

    def root(self) -> str:
        """Returns the root element.

        Raises:
            PartError: If there is none or more than one.
        """
        carried = {j.to for j in self.joints.values()}
        roots = [e.name for e in self.elements.values() if not e.on and e.name not in carried]
        if len(roots) == 1:
            return roots[0]
        if not roots:
            why = "has no elements" if not self.elements else "has a cycle and no root"
            first = next(iter(self.elements.values()), self).origin
            raise PartError(
                f"part {self.name!r} {why}.", origin=first if first.file else self.origin
            )
        origin = self.elements[roots[1]].origin
        raise PartError(
            f"part {self.name!r} falls apart: {' and '.join(map(repr, roots))} have no parent.",
            origin=origin if origin.file else self.origin,
            hint="Join them by a joint, or fix one to another with on = '…'.",
        )

    def anchor_pose(self, name: str, *, origin: Origin | None = None) -> Pose:
        """Pose of an anchor in the frame of the part's root element; no name is the root itself.

        Raises:
            PartError: If a joint between them makes the pose variable.
        """
        return anchor_pose(self, name, origin=origin)
