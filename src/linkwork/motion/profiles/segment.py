"""Segment: one joint from a reference to the next, by one of the planners."""

from __future__ import annotations

import math

from linkwork.errors import LinkworkError, suggestion
from linkwork.motion.profiles import power, switches
from linkwork.motion.profiles.jerk import jerk_limited
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reference import Reference, span_between
from linkwork.motion.profiles.refusal import out_of_reach
from linkwork.scene.planning import PLANNERS, UNLIMITED, Limits, Losses


def segment(
    start: Reference,
    end: Reference,
    planner: str = "acceleration",
    limits: Limits = UNLIMITED,
    *,
    losses: Losses | None = None,
    name: str = "the joint",
    unit: str = "rad",
) -> Profile:
    """The way from one reference to the next.

    Args:
        start: Where it begins.
        end: Where it is to be then.
        planner: "acceleration", "speed" or "energy" is to be least in two pieces of constant
            acceleration (004 §4); "cruise" is the least acceleration in three, the middle one at
            the largest speed where that is reached; "jerk" keeps the jerk within limits too.
        limits: Largest speed, acceleration and jerk.
        losses: What "energy" counts; inertia alone if absent.
        name: Who moves, for messages.
        unit: Of the position, for messages: "rad" or "m".

    Raises:
        OutOfReach: If the limits do not allow it; says what is nearest.
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
            f"{name}: times must rise, but {end.time:g} s comes after {start.time:g} s.",
            origin=end.origin,
        )
    lacks = {"speed": "acceleration", "jerk": "jerk"}.get(planner, "")
    if lacks and math.isinf(getattr(limits, lacks)):
        raise LinkworkError(
            f"{name}: the planner {planner!r} needs a largest {lacks}.",
            origin=end.origin, hint=f"Give max_{lacks}.",
        )  # fmt: skip
    if planner == "jerk":
        if max(abs(start.speed), abs(end.speed)) > limits.speed * (1.0 + 1e-12):
            raise out_of_reach(start, end, limits, name, unit, cruise=True)
        made = jerk_limited(start, end, limits)
        if isinstance(made, Profile):
            return made
        raise out_of_reach(start, end, limits, name, unit, cruise=True, time=start.time + made)
    made = _cruise(start, end, limits) if planner == "cruise" else None
    try:
        made = made or _two_pieces(start, end, planner, limits, losses or Losses())
    except LinkworkError as error:
        raise LinkworkError(
            f"{name}: {error.message}", origin=end.origin, hint=error.hint
        ) from None
    if made is None:
        raise out_of_reach(start, end, limits, name, unit, cruise=planner == "cruise")
    return made


def _two_pieces(
    start: Reference, end: Reference, planner: str, limits: Limits, losses: Losses
) -> Profile | None:
    span = span_between(start, end)
    match planner:
        case "speed":
            switch = switches.of_least_speed(span, limits)
        case "energy":
            switch = power.of_least_energy(span, limits, losses)
        case _:
            switch = switches.of_least_acceleration(span, limits)
    s = float(switch)
    if math.isnan(s):
        return None
    # In the shortest of pieces rounding may lift them above their limit.
    most = limits.acceleration
    first, second = (min(max(float(a), -most), most) for a in span.accelerations(s))
    pieces = [(s, first), (float(span.time) - s, second)]
    return Profile.of_pieces(*start.state, pieces, end.state)


def _cruise(start: Reference, end: Reference, limits: Limits) -> Profile | None:
    """Three pieces, where the least acceleration in two would pass the largest speed.

    From ω1 to the largest speed ω, and from there to ω2, both at the acceleration A that covers the
    way: A = ((ω − ω1)² + (ω − ω2)²)/(2(ωT − D)), with signs as the way bulges.
    """
    span = span_between(start, end)
    switch = float(switches.of_least_acceleration(span))
    if abs(float(span.middle(switch))) <= limits.speed:
        return None
    sign, top = math.copysign(1.0, float(span.bulge)), limits.speed
    u, w, time = sign * start.speed, sign * end.speed, end.time - start.time
    spare = top * time - sign * (end.position - start.position)
    if spare <= 0.0 or max(abs(u), abs(w)) > top * (1.0 + 1e-12):
        return None
    a = ((top - u) ** 2 + (top - w) ** 2) / (2.0 * spare)
    if a > limits.acceleration * (1.0 + 1e-12):
        return None
    up, down = (top - u) / a, (top - w) / a
    pieces = [(up, sign * a), (time - up - down, 0.0), (down, -sign * a)]
    return Profile.of_pieces(*start.state, pieces, end.state)
