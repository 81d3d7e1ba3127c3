"""Part: a tree of elements, joints and anchors; a robot is a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from linkwork.errors import Origin, PartError, not_found
from linkwork.parts.anchor import Anchor
from linkwork.parts.coupling import Coupling
from linkwork.parts.element import Element
from linkwork.parts.fit import anchor_pose, check_fit, check_turn, check_vacant
from linkwork.parts.joint import Joint
from linkwork.parts.loop import Loop, free_loop_name
from linkwork.parts.names import check_name, scoped
from linkwork.parts.spec import Spec
from linkwork.parts.spring import Spring
from linkwork.spatial.pose import Pose, Vec3, quat_from_axis


@dataclass(frozen=True)
class Attachment:
    """A part that sits on an anchor of another.

    Attributes:
        anchor: Anchor of the carrying part (scoped names reach into attached parts).
        part: The part that comes.
        name: Its scope.
        by: Anchor of the coming part; empty takes "mount" where it exists, else the root.
        turn: Turn about the anchor's z [rad].
        origin: Where it was said.
        source: What the file said: a kit name or a path.
    """

    anchor: str
    part: Part
    name: str
    by: str = ""
    turn: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)
    source: str = field(default="", compare=False)

    def pose(self, carrier: Anchor) -> Pose:
        """Pose of the coming part's root element in the frame of the carrier's element."""
        turned = carrier.at @ Pose(quat=quat_from_axis((0.0, 0.0, 1.0), self.turn))
        by = self.by or self.part.mount
        return turned @ self.part.anchor_pose(by, origin=self.origin).inverse()


@dataclass
class Part:
    """A tree of elements, joints and anchors: pure data, no state.

    Attributes:
        name: Name of the part.
        elements: Rigid pieces by name.
        joints: Movable connections by name.
        anchors: Places where others fit, by name.
        loops: Closed loops by name.
        couplings: Joints that follow others.
        springs: Springs between anchors, by name.
        attachments: Parts that sit on anchors, by scope.
        sensors: Specs of the sensors that belong to the part.
        ports: Specs of the ports that belong to the part.
        title: One line for people.
        labels: Words for people, by language.
        aliases: Names of an imported file to the names here, where they differ.
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
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "part", origin=self.origin)

    def add(self, *things: Element | Joint | Anchor | Loop | Coupling | Spring) -> Self:
        """Adds elements, joints, anchors, loops, couplings and springs.

        Raises:
            PartError: If a name is taken; the message says by what.
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
        """The anchor by which the part is attached unless told otherwise; empty for the root."""
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
        """Puts ``other`` on ``anchor``.

        Args:
            anchor: Anchor of this part, or scoped (``hand/flange``) of one attached before.
            other: The part that comes; the same part may come several times under other names.
            name: Scope of its names; the part's own name if empty.
            by: Anchor of ``other``; "mount" where it exists, else its root element's frame.
            turn: Turn about the anchor's z [rad].
            origin: Where it was said.
            source: What the file said: a kit name or a path.

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
        check_vacant(self, anchor, origin=origin)
        check_turn(carrier, turn, origin=origin)
        if mine := by or other.mount:
            check_fit(carrier, self.name, other, mine, origin=origin)
            check_vacant(other, mine, origin=origin)
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
        """Closes a loop: holds the anchors ``a`` and ``b`` together by a joint.

        What else a loop has (``curve``, ``axis2``, ``pitch``, ``rail``) is given by its name.

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
        """The anchor ``name``, which may reach into attached parts (``hand/flange``)."""
        scope, _, rest = name.partition("/")
        if rest and scope in self.attachments:
            return self.attachments[scope].part.find_anchor(rest, origin=origin)
        if name not in self.anchors:
            raise not_found("anchor", name, self.all_anchors(), origin=origin)
        return self.anchors[name]

    def all_anchors(self) -> list[str]:
        """Names of all anchors, with those of attached parts."""
        inner = (
            scoped(scope, name)
            for scope, a in self.attachments.items()
            for name in a.part.all_anchors()
        )
        return [*self.anchors, *inner]

    def root(self) -> str:
        """The element that nothing carries.

        Raises:
            PartError: If there is none or more than one.
        """
        carried = {j.to for j in self.joints.values()}
        roots = [e.name for e in self.elements.values() if not e.on and e.name not in carried]
        if len(roots) == 1:
            return roots[0]
        if not roots:
            why = "has no elements" if not self.elements else "has a cycle: nothing is its root"
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
            PartError: If a joint lies between them, so that no fixed pose exists.
        """
        return anchor_pose(self, name, origin=origin)
