"""Movement: postures at times, to be played by a robot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

from linkwork.errors import Origin, SceneError, suggestion
from linkwork.parts.names import check_name
from linkwork.scene.planning import PLANNERS, Limits, Losses
from linkwork.scene.track import INTERPOLATIONS, Track


@dataclass(frozen=True)
class TimedPosture:
    """Values that joints reach at a time.

    Attributes:
        time: [s], from the movement's beginning.
        joints: Joint (or ``joint.dof``) to value [rad or m].
        origin: Where it was said.
        speeds: Speed with which some of the joints pass [rad/s or m/s]; for a planner.
        planner: How the joints get here, where not by the movement's planner.
    """

    time: float
    joints: dict[str, float]
    origin: Origin = field(default=Origin(), compare=False)
    speeds: dict[str, float] = field(default_factory=dict)
    planner: str = ""


@dataclass(frozen=True)
class Movement:
    """Postures at times. Pure data, no state; names are those of a robot's joints.

    A posture need not name every joint: each joint goes through the postures that name it.

    Attributes:
        name: Name of the movement.
        postures: In the order of time.
        interpolation: "linear", "smooth" or "hold", as in :class:`Track`.
        planner: How joints get from posture to posture, one of :data:`PLANNERS`; by interpolation
            if empty.
        limits: What joints may do at most, by joint; for a planner.
        losses: What moving them costs, by joint; for the planner "energy".
        title: One line for people.
        labels: Words for people, by language.
        angles: Joints known to turn, since a file gives them in degrees; they are saved so.
        lengths: Joints known to slide, since a file gives them in mm or cm.
        origin: The file.
    """

    name: str
    postures: tuple[TimedPosture, ...]
    interpolation: str = "linear"
    title: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    angles: frozenset[str] = field(default=frozenset(), compare=False)
    lengths: frozenset[str] = field(default=frozenset(), compare=False)
    origin: Origin = field(default=Origin(), compare=False)
    planner: str = ""
    limits: dict[str, Limits] = field(default_factory=dict)
    losses: dict[str, Losses] = field(default_factory=dict)

    @classmethod
    def of(
        cls, name: str, postures: Iterable[tuple[float, Mapping[str, float]]], **more: object
    ) -> Self:
        """A movement from pairs of a time [s] and values by joint [rad or m]."""
        made = tuple(TimedPosture(float(time), dict(joints)) for time, joints in postures)
        return cls(name, made, **more)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        check_name(self.name, "movement", origin=self.origin)
        if self.interpolation not in INTERPOLATIONS:
            hint = suggestion(self.interpolation, INTERPOLATIONS, kind="interpolations")
            raise SceneError(
                f"movement {self.name!r}: there is no interpolation {self.interpolation!r}.",
                origin=self.origin, hint=hint,
            )  # fmt: skip
        if not self.postures:
            self._refuse("it needs at least one posture", self.origin)
        for each in self.postures:
            if not (math.isfinite(each.time) and each.time >= 0.0):
                self._refuse(f"a time must be 0 s or more, not {each.time:g} s", each.origin)
            if not each.joints:
                self._refuse(f"the posture at {each.time:g} s names no joint", each.origin)
            for joint, value in each.joints.items():
                if not math.isfinite(value):
                    self._refuse(f"{joint} must be a finite number, not {value:g}", each.origin)
        self._check_planning()
        for before, after in pairwise(self.postures):
            if after.time <= before.time:
                self._refuse(
                    f"times must rise, but {after.time:g} s comes after {before.time:g} s",
                    after.origin,
                )

    def _check_planning(self) -> None:
        for planner, origin in [
            (self.planner, self.origin),
            *((each.planner, each.origin) for each in self.postures),
        ]:
            if planner and planner not in PLANNERS:
                hint = suggestion(planner, PLANNERS, kind="planners")
                raise SceneError(
                    f"movement {self.name!r}: there is no planner {planner!r}.",
                    origin=origin, hint=hint,
                )  # fmt: skip
            if planner and not self.planner:
                self._refuse("a posture has a planner, so the movement needs one too", origin)
        if self.planner and self.interpolation != "linear":
            self._refuse("it has a planner and an interpolation; one is enough", self.origin)
        if (self.limits or self.losses) and not self.planner:
            self._refuse("limits and losses are for a planner, and it has none", self.origin)
        for each in self.postures:
            for joint, speed in each.speeds.items():
                if not self.planner:
                    self._refuse("speeds are for a planner, and it has none", each.origin)
                if joint not in each.joints:
                    self._refuse(f"{joint} has a speed but no value", each.origin)
                if not math.isfinite(speed):
                    self._refuse(f"the speed of {joint} must be finite", each.origin)

    def _refuse(self, why: str, origin: Origin) -> None:
        raise SceneError(f"movement {self.name!r}: {why}.", origin=origin)

    @property
    def duration(self) -> float:
        """Time of the last posture [s]."""
        return self.postures[-1].time

    def joints(self) -> list[str]:
        """Every joint that it moves, in the order in which they are named."""
        return list(dict.fromkeys(joint for each in self.postures for joint in each.joints))

    def track(self, joint: str) -> Track:
        """The way of one joint, interpolated.

        Raises:
            SceneError: If a planner makes the ways (``linkwork.motion.profiles.plan_movement``).
        """
        if self.planner:
            self._refuse("a planner makes its ways; plan_movement does", self.origin)
        points = [(p.time, p.joints[joint]) for p in self.postures if joint in p.joints]
        times, values = zip(*points, strict=True)
        return Track(times, values, self.interpolation)

    def at(self, time: float) -> dict[str, float]:
        """The posture at ``time`` [s], interpolated."""
        return {joint: self.track(joint).value(time) for joint in self.joints()}
