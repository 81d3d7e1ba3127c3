"""Loop: a closed chain, the frames of two anchors held together by a joint."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from linkwork.errors import LinkworkError, Origin, PartError
from linkwork.parts.curve import Arc, Curve, Polyline, Spline
from linkwork.parts.engine_words import MUJOCO_LOOP, check_words
from linkwork.parts.joint import JOINT_TYPES, RailPiece, check_rail, directions
from linkwork.parts.names import check_name
from linkwork.spatial.pose import Vec3, unit

#: What holds two anchors together, and its number in the kernels: every joint but the free one,
#: and points that slide.
LOOP_TYPES: dict[str, int] = {
    **{name: kind.code for name, kind in JOINT_TYPES.items() if name != "free"},
    "point_on_plane": 10,
    "point_on_curve": 11,
}


@dataclass(frozen=True)
class Loop:
    """A closed loop: the frames of two anchors held together by a joint.

    Attributes:
        name: Name in its part.
        a: First anchor, by name; it carries the plane, the curve or the rail.
        b: Second anchor.
        joint: Type of the closing joint; its frame is the anchors'.
        axis: Axis, or the plane's normal, in the anchors' frames.
        axis2: Second axis of a universal joint.
        pitch: Advance of a screw per turn [m].
        rail: Pieces of a rail.
        curve: Curve on which the second anchor's point slides.
        mujoco: What only the Mujoco engine understands of it.
        origin: Where it was said.
    """

    name: str
    a: str
    b: str
    joint: str = "ball"
    axis: Vec3 = (0.0, 0.0, 1.0)
    origin: Origin = field(default=Origin(), compare=False)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)
    axis2: Vec3 | None = None
    pitch: float = 0.0
    rail: tuple[RailPiece, ...] = ()
    curve: Curve | None = None

    def __post_init__(self) -> None:
        check_name(self.name, "loop", origin=self.origin)
        check_words(self.mujoco, MUJOCO_LOOP, f"loop {self.name!r}", origin=self.origin)
        if self.joint not in LOOP_TYPES:
            raise PartError(
                f"loop {self.name!r} cannot be closed by a joint of type {self.joint!r}.",
                origin=self.origin,
                hint=f"Types: {', '.join(LOOP_TYPES)}.",
            )
        for what in ("axis", "axis2"):
            if getattr(self, what) is None:
                continue
            try:
                object.__setattr__(self, what, unit(getattr(self, what)))
            except LinkworkError as error:
                self._refuse(f"{what}: {error.message}")
        second = self.axis2 if self.joint == "universal" and self.axis2 else (0.0, 0.0, 0.0)
        if abs(sum(a * b for a, b in zip(self.axis, second, strict=True))) > 1e-6:
            self._refuse("axis and axis2 of a universal joint must be at right angles.")
        if self.joint == "screw" and not (math.isfinite(self.pitch) and self.pitch != 0.0):
            self._refuse("a screw needs its pitch (advance per turn) [m], other than 0.")
        if self.joint == "rail":
            check_rail(self.rail, self._refuse)
        if (self.joint == "point_on_curve") != (self.curve is not None):
            self._refuse(
                "a point on a curve needs its curve, for example curve = { arc = { radius = 0.1 } }"
                if self.curve is None
                else f"a {self.joint} joint has no curve."
            )
        if not isinstance(self.curve, Arc | Polyline | Spline | None):
            self._refuse(f"its curve is an Arc, a Polyline or a Spline, not {self.curve!r}.")

    def _refuse(self, why: str) -> None:
        raise PartError(f"loop {self.name!r}: {why}", origin=self.origin)

    @property
    def directions(self) -> tuple[Vec3, Vec3]:
        """Two directions at right angles in the anchors' frames that fix how it moves."""
        if self.joint == "universal" and self.axis2 is not None:
            return self.axis, self.axis2
        if self.joint == "rail":
            return directions("rail", self.axis, self.axis)
        return directions("planar", self.axis, self.axis)


def free_loop_name(taken: Collection[str]) -> str:
    """The next free name for a loop that has none: ``loop1`` and so on."""
    return next(name for n in count(len(taken) + 1) if (name := f"loop{n}") not in taken)
