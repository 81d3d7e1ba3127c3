"""Movement: postures at times with the tracks that interpolate them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, Self

from linkwork.core.errors import Origin, SceneError, suggestion
from linkwork.model.parts.spec import check_name
from linkwork.model.scene.motion_limits import PLANNERS, MotionLimits, MotorLosses

#: Interpolations between two points.
INTERPOLATIONS = ("linear", "smooth", "hold")


class Trajectory(Protocol):
    """A value over time."""

    def value(self, time: float) -> float:
        """Returns the value at ``time`` [s]."""
        ...

    def motion(self, time: float) -> tuple[float, float, float]:
        """Returns value, velocity and acceleration at ``time`` [s]."""
        ...

    def extent(self) -> tuple[float, float]:
        """Lowest and highest value."""
        ...


class Track:
    """A value that reaches ``values`` at ``times``.

    Before the first time it has the first value, after the last time the last. "linear" has a
    constant speed between two times; "hold" keeps each value until the next time; "smooth" has a
    continuous speed, is at rest at both ends and does not overshoot: a cubic whose slopes are
    weighted harmonic means of the neighboring ones, 0 at every reversal (Fritsch and Butland
    1984).

    Args:
        times: Rising times [s].
        values: As many values.
        interpolation: One of :data:`INTERPOLATIONS`.
    """

    def __init__(
        self, times: Sequence[float], values: Sequence[float], interpolation: str = "linear"
    ) -> None:
        self.times, self.values = tuple(times), tuple(values)
        self._hold = interpolation == "hold"
        self._slopes = _slopes(self.times, self.values) if interpolation == "smooth" else None

    def value(self, time: float) -> float:
        """Returns the value at ``time`` [s]."""
        times, values = self.times, self.values
        n = bisect_right(times, time)
        if n == 0:
            return values[0]
        if n == len(times) or self._hold:
            return values[n - 1]
        width = times[n] - times[n - 1]
        share, rise = (time - times[n - 1]) / width, values[n] - values[n - 1]
        if self._slopes is None:
            return values[n - 1] + share * rise
        m0, m1 = self._slopes[n - 1] * width, self._slopes[n] * width
        bend = share * (3.0 * rise - 2.0 * m0 - m1 + share * (m0 + m1 - 2.0 * rise))
        return values[n - 1] + share * (m0 + bend)

    def motion(self, time: float) -> tuple[float, float, float]:
        """Returns value, velocity and acceleration at ``time`` [s].

        Where they jump they are those of the following segment; at the last time and outside the
        times both are 0.
        """
        times, values = self.times, self.values
        n = bisect_right(times, time)
        if n == 0 or n == len(times) or self._hold:
            return self.value(time), 0.0, 0.0
        width, rise = times[n] - times[n - 1], values[n] - values[n - 1]
        if self._slopes is None:
            return self.value(time), rise / width, 0.0
        share = (time - times[n - 1]) / width
        m0, m1 = self._slopes[n - 1] * width, self._slopes[n] * width
        second, third = 3.0 * rise - 2.0 * m0 - m1, m0 + m1 - 2.0 * rise
        speed = m0 + share * (2.0 * second + 3.0 * share * third)
        change = 2.0 * second + 6.0 * share * third
        return self.value(time), speed / width, change / (width * width)

    def extent(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return min(self.values), max(self.values)


def _slopes(times: tuple[float, ...], values: tuple[float, ...]) -> list[float]:
    """Returns the slope at each point: 0 at the ends and at every reversal."""
    widths = [b - a for a, b in pairwise(times)]
    rises = [(b - a) / w for (a, b), w in zip(pairwise(values), widths, strict=True)]
    slopes = [0.0]
    for (w0, w1), (d0, d1) in zip(pairwise(widths), pairwise(rises), strict=True):
        if d0 * d1 <= 0.0:
            slopes.append(0.0)
            continue
        a, b = 2.0 * w1 + w0, w1 + 2.0 * w0
        slopes.append((a + b) / (a / d0 + b / d1))
    return [*slopes, 0.0] if rises else slopes


@dataclass(frozen=True)
class TimedPosture:
    """Values that joints reach at a time.

    Attributes:
        time: [s], from the start of the movement.
        joints: Joint (or ``joint.dof``) to value [rad or m].
        origin: Where it is defined.
        speeds: Speed of some of the joints at this time [rad/s or m/s], for a planner.
        planner: Planner of the motion to this posture; the movement's if empty.
    """

    time: float
    joints: dict[str, float]
    origin: Origin = field(default=Origin(), compare=False)
    speeds: dict[str, float] = field(default_factory=dict)
    planner: str = ""


@dataclass(frozen=True)
class Movement:
    """Postures at times. Pure data, no state; names are those of a robot's joints.

    A posture need not name every joint: each joint passes through the postures that name it.

    Attributes:
        name: Name of the movement.
        postures: Postures in order of time.
        interpolation: "linear", "smooth" or "hold", as in :class:`Track`.
        planner: One of :data:`PLANNERS`; interpolation if empty.
        limits: Motion limits by joint, for a planner.
        losses: Motor losses by joint, for the planner "energy".
        title: Title, one line.
        labels: Labels by language.
        angles: Joints whose values a file gives in degrees; they are saved in degrees.
        lengths: Joints whose values a file gives in mm or cm.
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
    limits: dict[str, MotionLimits] = field(default_factory=dict)
    losses: dict[str, MotorLosses] = field(default_factory=dict)

    @classmethod
    def of(
        cls, name: str, postures: Iterable[tuple[float, Mapping[str, float]]], **more: object
    ) -> Self:
        """Returns a movement from pairs of a time [s] and values by joint [rad or m]."""
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
        """Returns every joint that it moves, in order of first mention."""
        return list(dict.fromkeys(joint for each in self.postures for joint in each.joints))

    def track(self, joint: str) -> Track:
        """Returns the interpolated values of one joint over time.

        Raises:
            SceneError: If it needs a planner (``linkwork.motion.profiles.plan_movement``).
        """
        if self.planner:
            self._refuse("it needs a planner: use plan_movement", self.origin)
        points = [(p.time, p.joints[joint]) for p in self.postures if joint in p.joints]
        times, values = zip(*points, strict=True)
        return Track(times, values, self.interpolation)

    def at(self, time: float) -> dict[str, float]:
        """Returns the posture at ``time`` [s], interpolated."""
        return {joint: self.track(joint).value(time) for joint in self.joints()}
