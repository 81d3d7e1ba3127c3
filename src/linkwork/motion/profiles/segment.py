"""Segment: the profile of one joint between two waypoints, by one of the planners."""

from __future__ import annotations

import math

from linkwork.core.errors import LinkworkError, suggestion
from linkwork.model.scene.motion_limits import PLANNERS, UNLIMITED, MotionLimits, MotorLosses
from linkwork.motion.profiles import switch_times
from linkwork.motion.profiles.jerk_limited import jerk_limited
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reachability import unreachable_waypoint
from linkwork.motion.profiles.span import Waypoint, span_of


def segment(
    start: Waypoint,
    end: Waypoint,
    planner: str = "acceleration",
    limits: MotionLimits = UNLIMITED,
    *,
    losses: MotorLosses | None = None,
    name: str = "the joint",
    unit: str = "rad",
) -> Profile:
    """Returns the profile from one waypoint to the next.

    Args:
        start: The first waypoint.
        end: The second waypoint.
        planner: "acceleration", "speed" or "energy" is minimized in two segments of constant
            acceleration (Lima et al. §4); "cruise" is the least acceleration in three, the middle
            one at maximum velocity if that is reached; "jerk" limits the jerk as well.
        limits: Maximum velocity, acceleration and jerk.
        losses: Losses that "energy" counts; inertia alone if absent.
        name: Name of the joint, for messages.
        unit: Of the position, for messages: "rad" or "m".

    Raises:
        UnreachableWaypoint: If the limits do not permit it; gives the nearest alternative.
        LinkworkError: If there is no such planner, or it lacks a limit.
    """
    if planner not in PLANNERS:
        raise LinkworkError(
            f"there is no planner {planner!r}.", hint=suggestion(planner, PLANNERS, kind="planners")
        )
    numbers = start.time, start.position, start.speed, end.time, end.position, end.speed
    if not all(map(math.isfinite, numbers)):
        raise LinkworkError(
            f"{name}: times, positions and speeds must be finite.", origin=end.origin
        )
    if not end.time > start.time:
        raise LinkworkError(
            f"{name}: times must ascend, but {end.time:g} s comes after {start.time:g} s.",
            origin=end.origin,
        )
    lacks = {"speed": "acceleration", "jerk": "jerk"}.get(planner, "")
    if lacks and math.isinf(getattr(limits, lacks)):
        raise LinkworkError(
            f"{name}: the planner {planner!r} needs a maximum {lacks}.",
            origin=end.origin, hint=f"Give max_{lacks}.",
        )  # fmt: skip
    if planner == "jerk":
        if max(abs(start.speed), abs(end.speed)) > limits.speed * (1.0 + 1e-12):
            raise unreachable_waypoint(start, end, limits, name, unit, cruise=True)
        made = jerk_limited(start, end, limits)
        if isinstance(made, Profile):
            return made
        raise unreachable_waypoint(
            start, end, limits, name, unit, cruise=True, time=start.time + made
        )
    made = _cruise(start, end, limits) if planner == "cruise" else None
    try:
        made = made or _two_pieces(start, end, planner, limits, losses or MotorLosses())
    except LinkworkError as error:
        raise LinkworkError(
            f"{name}: {error.message}", origin=end.origin, hint=error.hint
        ) from None
    if made is None:
        raise unreachable_waypoint(start, end, limits, name, unit, cruise=planner == "cruise")
    return made


def _two_pieces(
    start: Waypoint, end: Waypoint, planner: str, limits: MotionLimits, losses: MotorLosses
) -> Profile | None:
    span = span_of(start, end)
    match planner:
        case "speed":
            switch = switch_times.of_least_speed(span, limits)
        case "energy":
            switch = switch_times.of_least_energy(span, limits, losses)
        case _:
            switch = switch_times.of_least_acceleration(span, limits)
    s = float(switch)
    if math.isnan(s):
        return None
    # in very short segments rounding may lift them above their limit
    most = limits.acceleration
    first, second = (min(max(float(a), -most), most) for a in span.accelerations(s))
    phases = [(s, first), (float(span.time) - s, second)]
    return Profile.of_phases(*start.state, phases, end.state)


def _cruise(start: Waypoint, end: Waypoint, limits: MotionLimits) -> Profile | None:
    """Returns three segments, if the least acceleration in two would exceed the maximum velocity.

    From ω1 to the maximum velocity ω, and from there to ω2, both at the acceleration A that covers
    the distance: A = ((ω − ω1)² + (ω − ω2)²)/(2(ωT − D)), with signs by the direction.
    """
    span = span_of(start, end)
    switch = float(switch_times.of_least_acceleration(span))
    if abs(float(span.middle(switch))) <= limits.speed:
        return None
    sign, top = math.copysign(1.0, float(span.area_excess)), limits.speed
    u, w, time = sign * start.speed, sign * end.speed, end.time - start.time
    spare = top * time - sign * (end.position - start.position)
    if spare <= 0.0 or max(abs(u), abs(w)) > top * (1.0 + 1e-12):
        return None
    a = ((top - u) ** 2 + (top - w) ** 2) / (2.0 * spare)
    if a > limits.acceleration * (1.0 + 1e-12):
        return None
    up, down = (top - u) / a, (top - w) / a
    phases = [(up, sign * a), (time - up - down, 0.0), (down, -sign * a)]
    return Profile.of_phases(*start.state, phases, end.state)
