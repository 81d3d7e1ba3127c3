"""Reachability: which waypoints the limits of a joint permit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from linkwork.core.errors import LinkworkError, Origin
from linkwork.core.value_types import degrees, format_value
from linkwork.model.scene.motion_limits import MotionLimits
from linkwork.motion.profiles.span import Span, Waypoint, span_of

#: Rounding tolerance.
_SLACK = 1e-12


def longest_distance(
    first: float, last: float, time: float, limits: MotionLimits, *, cruise: bool = False
) -> float:
    """Returns the longest forward distance between two velocities [rad or m].

    Accelerates and decelerates at the limit. If that would exceed the maximum velocity, it cruises
    there; in two segments it cannot, and switches once where the maximum velocity is first reached
    or last left.

    Args:
        first: Initial velocity.
        last: Final velocity.
        time: [s], at least |last − first| over the maximum acceleration.
        limits: Maximum velocity and acceleration.
        cruise: Whether it may cruise between.
    """
    a, top = limits.acceleration, limits.speed
    if math.isinf(a):
        peak = math.inf
    else:
        peak = (first + last + a * time) / 2.0
        if peak <= top:
            return ((peak - first) * (peak + first) + (peak - last) * (peak + last)) / (2.0 * a)
    if math.isinf(top):
        return math.inf
    up, down = ((top - each) / a for each in (first, last))
    if cruise:
        return top * time - ((top - first) * up + (top - last) * down) / 2.0
    bend = up if last >= first else time - down
    return ((first + top) * bend + (top + last) * (time - bend)) / 2.0


def distance_range(
    first: float, last: float, time: float, limits: MotionLimits, *, cruise: bool = False
) -> tuple[float, float] | None:
    """Returns shortest and longest distance between two velocities in a time, or None.

    Every distance between both is feasible. None means that the velocities are infeasible.
    """
    top = limits.speed * (1.0 + _SLACK)
    if abs(first) > top or abs(last) > top or time <= 0.0:
        return None
    if abs(last - first) > limits.acceleration * time * (1.0 + _SLACK):
        return None
    return (
        -longest_distance(-first, -last, time, limits, cruise=cruise),
        longest_distance(first, last, time, limits, cruise=cruise),
    )


def shortest_time(
    distance: float,
    first: float,
    last: float,
    limits: MotionLimits,
    *,
    after: float = 0.0,
    cruise: bool = True,
) -> float | None:
    """Returns the shortest feasible duration, not below ``after``, for a distance; or None.

    Feasible intervals begin and end where ``distance`` is the longest forward or backward distance:
    each of those times has a closed form, and the first feasible one is returned. A longer time
    than a feasible one may be infeasible: a fast arrival then requires a run-up.
    """
    if _holds(distance, first, last, after, limits, cruise):
        return after
    found = [t for t in _bounds(distance, first, last, limits, cruise) if t >= after]
    for time in sorted(found):
        for each in (time, time * (1.0 + 4.0 * _SLACK)):
            if _holds(distance, first, last, each, limits, cruise):
                return each
    return None


def _holds(
    distance: float, first: float, last: float, time: float, limits: MotionLimits, cruise: bool
) -> bool:
    if time == 0.0:
        return distance == 0.0 and first == last
    found = distance_range(first, last, time, limits, cruise=cruise)
    if found is None:
        return False
    slack = _SLACK * max(abs(distance), abs(first) * time, abs(last) * time)
    return found[0] - slack <= distance <= found[1] + slack


def _bounds(
    distance: float, first: float, last: float, limits: MotionLimits, cruise: bool
) -> Iterator[float]:
    """Returns times at which the distance may become feasible or infeasible."""
    a, top = limits.acceleration, limits.speed
    yield abs(last - first) / a
    for sign in (1.0, -1.0):
        d, u, w = sign * distance, sign * first, sign * last
        if math.isfinite(a):
            square = a * d + (u * u + w * w) / 2.0
            if square >= 0.0:
                yield from ((2.0 * p - u - w) / a for p in (math.sqrt(square), -math.sqrt(square)))
        if not math.isfinite(top):
            continue
        up, down = (top - u) / a, (top - w) / a
        if cruise:
            yield (d + ((top - u) * up + (top - w) * down) / 2.0) / top
            continue
        if top + w > 0.0:
            yield up + (2.0 * d - (u + top) * up) / (top + w)
        if top + u > 0.0:
            yield down + (2.0 * d - (w + top) * down) / (top + u)


class UnreachableWaypoint(LinkworkError):
    """A waypoint that limits do not permit.

    Attributes:
        time: The earliest feasible time, not before the wanted one [s]; None if there is none.
        position: The nearest feasible position at the wanted time and velocity; None if that
            velocity is infeasible.
        acceleration: The least peak acceleration with which it is feasible, at any velocity.
    """

    def __init__(
        self,
        message: str,
        *,
        origin: Origin | None = None,
        hint: str = "",
        time: float | None = None,
        position: float | None = None,
        acceleration: float = math.inf,
    ) -> None:
        super().__init__(message, origin=origin, hint=hint)
        self.time, self.position, self.acceleration = time, position, acceleration


def unreachable_waypoint(
    start: Waypoint,
    end: Waypoint,
    limits: MotionLimits,
    name: str,
    unit: str,
    *,
    cruise: bool,
    time: float | None = None,
    whenever: bool = False,
) -> UnreachableWaypoint:
    """Returns the error with reason and nearest alternatives; ``whenever`` if no time suffices."""
    span = span_of(start, end)
    need = float(span.least_acceleration())
    first, last, duration = start.speed, end.speed, float(span.time)
    jerk = time is not None
    if time is None:
        left = shortest_time(
            float(span.distance), first, last, limits, after=duration, cruise=cruise
        )
        time = start.time + left if left is not None else None
        found = distance_range(first, last, duration, limits, cruise=cruise)
    else:
        found = None
    position = (
        start.position + min(max(float(span.distance), found[0]), found[1]) if found else None
    )
    text = partial(_value_text, unit)
    why = _violated_limit(span, limits, unit, cruise, jerk, whenever)
    when = f"between {start.time:g} s and {end.time:g} s" if not whenever else "in any time"
    message = (
        f"{name} cannot go from {text(start.position)} at {text(first, '/s')} "
        f"to {text(end.position)} at {text(last, '/s')} {when}: {why}."
    )
    nearest = []
    if time is not None:
        nearest.append(f"there at {math.ceil(time * 1e6 - 1e-3) / 1e6:.10g} s")
    if position is not None and not whenever:
        nearest.append(f"{text(position)} at {end.time:g} s")
    if max(abs(first), abs(last)) > limits.speed * (1.0 + 1e-12):
        nearest.append(f"{text(limits.speed, '/s')} there")
    hint = f"Nearest: {', or '.join(nearest)}." if nearest else ""
    if (
        not cruise
        and shortest_time(float(span.distance), first, last, limits, after=duration, cruise=True)
        == duration
    ):
        hint = f"{hint} The planner 'cruise' can.".strip()
    return UnreachableWaypoint(
        message, origin=end.origin, hint=hint, time=time, position=position, acceleration=need
    )


def _value_text(unit: str, value: float, per: str = "") -> str:
    """Returns a value as text, without exponents if digits suffice."""
    words = format_value(float(value), unit + per)
    if "e+0" not in words:
        return words
    shown = degrees(value) if unit == "rad" else float(value)
    return f"{shown:.0f}{words[words.index('e+0') + 4 :]}"


def _limit_source(limits: MotionLimits, which: int) -> str:
    """Returns the source of a limit, if known."""
    return f" by {limits.whose[which]}" if limits.whose[which] else ""


def _violated_limit(
    span: Span, limits: MotionLimits, unit: str, cruise: bool, jerk: bool, whenever: bool
) -> str:
    """Returns which limit is violated, and what would be required."""
    text = partial(_value_text, unit)
    top, a = limits.speed, limits.acceleration
    ends = float(np.maximum(abs(span.first), abs(span.last)))
    if ends > top * (1.0 + 1e-12):
        return f"a wanted speed of {text(ends, '/s')} is above {text(top, '/s')}" + _limit_source(
            limits, 0
        )
    if whenever:
        return f"{text(top, '/s')} and {text(a, '/s²')} together do not suffice"
    need = float(span.least_acceleration())
    if need > a * (1.0 + 1e-12):
        needs = f"it needs {text(need, '/s²')} where {text(a, '/s²')} is allowed"
        return needs + _limit_source(limits, 1)
    if jerk:
        return f"a jerk of at most {text(limits.jerk, '/s³')} takes longer"
    free = MotionLimits(acceleration=a)
    low, high = span.window(free)
    mean = float(abs(span.distance / span.time))
    if cruise:
        least = mean if mean > top else None
    else:
        least = min(float(np.abs(span.middle(s))) for s in (low, high))
    if least is not None and least > top:
        needs = f"it needs {text(least, '/s')} where {text(top, '/s')} is allowed"
        return needs + _limit_source(limits, 0)
    return f"{text(top, '/s')} and {text(a, '/s²')} together do not suffice"
