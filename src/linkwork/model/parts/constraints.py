"""Constraints beside the tree joints: loops, couplings, springs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from linkwork.core.errors import LinkworkError, Origin, PartError, suggestion
from linkwork.geometry.pose import Vec3, unit
from linkwork.model.parts.curve import Arc, Curve, Polyline, Spline
from linkwork.model.parts.joint import JOINT_TYPES, RailPiece, check_rail, directions
from linkwork.model.parts.native_attributes import (
    MUJOCO_COUPLING,
    MUJOCO_LOOP,
    check_native_attributes,
)
from linkwork.model.parts.spec import check_name

#: Types of closing joints with their number in the kernels: every joint type except free, and
#: sliding points.
LOOP_TYPES: dict[str, int] = {
    **{name: kind.code for name, kind in JOINT_TYPES.items() if name != "free"},
    "point_on_plane": 10,
    "point_on_curve": 11,
}


@dataclass(frozen=True)
class Loop:
    """A closed loop: a joint between the frames of two anchors.

    Attributes:
        name: Name in its part.
        a: First anchor, by name; it carries the plane, the curve or the rail.
        b: Second anchor.
        joint: Type of the closing joint; its frame is that of the anchors.
        axis: Axis, or the plane's normal, in the anchors' frames.
        axis2: Second axis of a universal joint.
        pitch: Advance of a screw per turn [m].
        rail: Segments of a rail.
        curve: Curve on which the second anchor's point slides.
        mujoco: Native attributes of the Mujoco engine.
        origin: Where it is defined.
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
        check_native_attributes(self.mujoco, MUJOCO_LOOP, f"loop {self.name!r}", origin=self.origin)
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
        """Two perpendicular directions in the anchors' frames that define its motion."""
        if self.joint == "universal" and self.axis2 is not None:
            return self.axis, self.axis2
        if self.joint == "rail":
            return directions("rail", self.axis, self.axis)
        return directions("planar", self.axis, self.axis)


def free_loop_name(taken: Collection[str]) -> str:
    """Returns the next free name for a loop that has none: ``loop1`` and so on."""
    return next(name for n in count(len(taken) + 1) if (name := f"loop{n}") not in taken)


#: Polynomial of degree 4: value of the follower as a function of the leader's.
CouplingLaw = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Coupling:
    """A joint that mimics another: value = ratio · value(of) + offset.

    Attributes:
        joint: The follower.
        of: The leader.
        ratio: [rad/rad, m/rad, …].
        offset: [rad or m].
        mujoco: Native attributes of the Mujoco engine.
        origin: Where it is defined.
    """

    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        who = f"coupling of {self.joint!r}"
        check_native_attributes(self.mujoco, MUJOCO_COUPLING, who, origin=self.origin)
        for what in ("ratio", "offset"):
            if not math.isfinite(getattr(self, what)):
                raise PartError(
                    f"coupling of {self.joint!r}: {what} must be a finite number, not "
                    f"{getattr(self, what):g}.",
                    origin=self.origin,
                )

    @property
    def law(self) -> CouplingLaw:
        """The law, with the native coefficients of the Mujoco engine."""
        return coupling_law(self.ratio, self.offset, self.mujoco)


def coupling_law(ratio: float, offset: float, words: Mapping[str, Any]) -> CouplingLaw:
    """Returns the law offset + ratio·x, with the higher powers of the attribute ``polycoef``."""
    second, third, fourth = words.get("polycoef", (0.0, 0.0, 0.0))
    return offset, ratio, second, third, fourth


def coupled_value(law: CouplingLaw, leader: float) -> float:
    """Returns the value of a follower whose leader is at ``leader`` [rad or m]."""
    value = 0.0
    for coefficient in reversed(law):
        value = value * leader + coefficient
    return value


def law_from_start(law: CouplingLaw, leader: float, follower: float) -> CouplingLaw:
    """The law of y' = y − follower over x' = x − leader, relative to their initial values.

    p'(x') = p(leader + x') − follower, as MuJoCo takes the law of joints with reference values.
    """
    a, b, c, d, e = law
    made = (0.0,) * 5
    for coefficient in (e, d, c, b, a):  # made · (leader + x') + coefficient
        a, b, c, d, e = (leader * made[k] + (made[k - 1] if k else coefficient) for k in range(5))
        made = (a, b, c, d, e)
    return (made[0] - follower, *made[1:])


#: Linear springs act along the line between their anchors, torsion springs about an axis.
SPRING_TYPES = ("linear", "torsion")


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two anchors.

    A linear spring pulls its anchors together along the line between them with
    stiffness · (length − rest) + damping · speed [N]; with a rest length of 0 it damps all relative
    motion. A torsion spring acts likewise about an axis [N m].

    Attributes:
        name: Name in its part.
        a: First anchor, by name.
        b: Second anchor.
        type: "linear" or "torsion".
        stiffness: [N/m or N m/rad].
        damping: [N s/m or N m s/rad].
        rest: Rest length [m] or rest angle [rad]; None for the initial one.
        axis: Axis of a torsion spring, in the first anchor's frame.
        origin: Where it is defined.
    """

    name: str
    a: str
    b: str
    type: str = "linear"
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    axis: Vec3 = (0.0, 0.0, 1.0)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "spring", origin=self.origin)
        if self.type not in SPRING_TYPES:
            self._refuse(
                f"there is no type {self.type!r}. "
                + suggestion(self.type, SPRING_TYPES, kind="types")
            )
        for what in ("stiffness", "damping"):
            value = getattr(self, what)
            if not (math.isfinite(value) and value >= 0.0):
                self._refuse(f"{what} must be 0 or more, not {value:g}.")
        if self.rest is not None:
            if not math.isfinite(self.rest):
                self._refuse(f"rest must be a finite number, not {self.rest:g}.")
            if self.type == "linear" and self.rest < 0.0:
                self._refuse(f"the rest length must be 0 or more, not {self.rest:g}.")
        try:
            object.__setattr__(self, "axis", unit(self.axis))
        except LinkworkError as error:
            self._refuse(f"axis: {error.message}")

    def _refuse(self, why: str) -> None:
        raise PartError(f"spring {self.name!r}: {why}", origin=self.origin)
