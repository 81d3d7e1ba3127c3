"""Planner: one joint through many waypoints, or many joints at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.model.scene.motion_limits import UNLIMITED, MotionLimits, MotorLosses
from linkwork.motion.profiles.jerk_limited import shortest_time_with_jerk
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reachability import shortest_time, unreachable_waypoint
from linkwork.motion.profiles.segment import segment
from linkwork.motion.profiles.span import Waypoint


def passing_speeds(
    times: Sequence[float],
    positions: Sequence[float],
    given: Sequence[float | None] = (),
    limit: float = math.inf,
) -> list[float]:
    """Returns velocities at waypoints: the given ones, others smooth and without overshoot.

    The joint rests at both ends and wherever it reverses. Between such stops and given velocities
    it has the velocities of the cubic spline, the curve of least ∫a² dt through the same waypoints;
    at most twice the lower of the mean velocities before and after. Then the least acceleration in
    two segments never leaves the range of two waypoints, since ω1² + ω2² ≤ 2(ω1 + ω2)·D/T holds for
    all velocities up to 2D/T.
    """
    widths = [b - a for a, b in pairwise(times)]
    means = [(b - a) / w for (a, b), w in zip(pairwise(positions), widths, strict=True)]
    fixed: list[float | None] = [0.0, *([None] * (len(times) - 2)), 0.0][: len(times)]
    for n, (before, after) in enumerate(pairwise(means), start=1):
        if before * after <= 0.0:
            fixed[n] = 0.0
    for n, speed in enumerate(given):
        fixed[n] = fixed[n] if speed is None else speed
    found = [speed or 0.0 for speed in fixed]
    stops = [n for n, speed in enumerate(fixed) if speed is not None]
    for first, last in pairwise(stops):
        inner = range(first + 1, last)
        if not inner:
            continue
        left, right = np.zeros((len(inner), len(inner))), np.zeros(len(inner))
        for row, n in enumerate(inner):
            a, b = 1.0 / widths[n - 1], 1.0 / widths[n]
            left[row, row] = 2.0 * (a + b)
            right[row] = 3.0 * (a * means[n - 1] + b * means[n])
            for other, weight in ((n - 1, a), (n + 1, b)):
                if other in inner:
                    left[row, other - inner.start] = weight
                else:
                    right[row] -= weight * found[other]
        for n, speed in zip(inner, np.linalg.solve(left, right).tolist(), strict=True):
            sign = math.copysign(1.0, means[n])
            most = min(2.0 * abs(means[n - 1]), 2.0 * abs(means[n]), limit)
            found[n] = sign * min(max(sign * speed, 0.0), most)
    return found


def plan(
    references: Sequence[Waypoint],
    planner: str | Sequence[str] = "acceleration",
    limits: MotionLimits = UNLIMITED,
    *,
    losses: MotorLosses | None = None,
    name: str = "the joint",
    unit: str = "rad",
) -> Profile:
    """Returns the profile through waypoints, each met with its velocity.

    Args:
        references: Waypoints in order of time; a single one is rest there.
        planner: As in :func:`segment`; or one for each step between waypoints.
        limits: Maximum velocity, acceleration and jerk.
        losses: Losses that "energy" counts.
        name: Name of the joint, for messages.
        unit: Of the position, for messages.

    Raises:
        UnreachableWaypoint: If limits do not permit a step; gives the nearest alternative.
        LinkworkError: If there is no such planner, or it lacks a limit.
    """
    if not references:
        raise LinkworkError(f"{name}: there is no waypoint.")
    steps = [planner] * (len(references) - 1) if isinstance(planner, str) else list(planner)
    if len(steps) != len(references) - 1:
        raise LinkworkError(
            f"{name}: {len(references)} waypoints have {len(references) - 1} steps, but "
            f"{len(steps)} planners are given."
        )
    if len(references) == 1:
        return Profile.of_phases(references[0].time, references[0].position, 0.0, [])
    made = [
        segment(a, b, how, limits, losses=losses, name=name, unit=unit)
        for (a, b), how in zip(pairwise(references), steps, strict=True)
    ]
    return Profile.joined(made)


def plan_together(
    starts: Mapping[str, float],
    ends: Mapping[str, float],
    limits: Mapping[str, MotionLimits],
    *,
    planner: str = "cruise",
    begin: float = 0.0,
    duration: float | None = None,
    losses: Mapping[str, MotorLosses] | None = None,
) -> dict[str, Profile]:
    """Returns profiles of joints that start and end at rest together.

    Args:
        starts: Initial positions.
        ends: Final positions.
        limits: Limits of each joint.
        planner: As in :func:`segment`.
        begin: Start time [s].
        duration: Duration [s]; as short as the slowest joint permits if absent.
        losses: Losses that "energy" counts, by joint.

    Raises:
        UnreachableWaypoint: If a joint cannot do it within ``duration``.
        LinkworkError: If joints do not match, or nothing limits them.
    """
    if set(starts) != set(ends) or not starts:
        raise LinkworkError("starts and ends must have the same joints, at least one.")
    pairs = {name: (Waypoint(begin, starts[name]), Waypoint(begin, ends[name])) for name in starts}
    if duration is None:
        times = [
            least_time(a, b, planner, limits.get(name, UNLIMITED), name=name)
            for name, (a, b) in pairs.items()
        ]
        duration = max(times)
    if duration == 0.0:
        return {
            name: Profile.of_phases(begin, a.position, 0.0, []) for name, (a, _) in pairs.items()
        }
    return {
        name: segment(
            a, Waypoint(begin + duration, b.position), planner, limits.get(name, UNLIMITED),
            losses=(losses or {}).get(name), name=name,
        )
        for name, (a, b) in pairs.items()
    }  # fmt: skip


def least_time(
    start: Waypoint,
    end: Waypoint,
    planner: str,
    limits: MotionLimits,
    *,
    after: float = 0.0,
    name: str = "the joint",
    unit: str = "rad",
) -> float:
    """Returns the shortest duration, not below ``after``, of a step by a planner [s].

    Raises:
        LinkworkError: If nothing limits the velocity, or no duration suffices.
    """
    lacks = {"jerk": "jerk"}.get(planner, "acceleration")
    if math.isinf(getattr(limits, lacks)):
        raise LinkworkError(
            f"{name}: without a maximum {lacks} the duration would be 0.",
            origin=end.origin, hint=f"Give max_{lacks}.",
        )  # fmt: skip
    if planner == "jerk":
        return shortest_time_with_jerk(start, end, limits, after)
    distance = end.position - start.position
    cruise = planner == "cruise"
    found = shortest_time(distance, start.speed, end.speed, limits, after=after, cruise=cruise)
    if found is None:
        wanted = Waypoint(start.time + max(after, 1e-9), end.position, end.speed, end.origin)
        raise unreachable_waypoint(start, wanted, limits, name, unit, cruise=cruise, whenever=True)
    return found
