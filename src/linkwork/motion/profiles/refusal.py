"""Refusal: what limits do not let a joint meet, which of them, and what is nearest."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from linkwork.errors import LinkworkError, Origin
from linkwork.motion.profiles.reach import soonest, ways
from linkwork.motion.profiles.reference import Reference, span_between
from linkwork.motion.profiles.span import Span
from linkwork.scene.planning import Limits
from linkwork.units import degrees, in_words


class OutOfReach(LinkworkError):
    """A reference that limits do not let a joint meet.

    Attributes:
        time: The soonest time, not before the wanted one, at which it could be met [s]; None if
            there is none.
        position: The nearest that it could come at the wanted time, with the wanted speed; None
            if that speed cannot be had.
        acceleration: The least peak acceleration with which it could be met, whatever the speed.
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


def out_of_reach(
    start: Reference,
    end: Reference,
    limits: Limits,
    name: str,
    unit: str,
    *,
    cruise: bool,
    time: float | None = None,
    whenever: bool = False,
) -> OutOfReach:
    """What cannot be met, why, and what is nearest; ``whenever`` if no time is enough."""
    span = span_between(start, end)
    need = float(span.least_acceleration())
    first, last, duration = start.speed, end.speed, float(span.time)
    jerk = time is not None
    if time is None:
        left = soonest(float(span.way), first, last, limits, after=duration, cruise=cruise)
        time = start.time + left if left is not None else None
        found = ways(first, last, duration, limits, cruise=cruise)
    else:
        found = None
    position = start.position + min(max(float(span.way), found[0]), found[1]) if found else None
    say = partial(_say, unit)
    why = _why(span, limits, unit, cruise, jerk, whenever)
    when = f"between {start.time:g} s and {end.time:g} s" if not whenever else "in any time"
    message = (
        f"{name} cannot go from {say(start.position)} at {say(first, '/s')} to {say(end.position)} "
        f"at {say(last, '/s')} {when}: {why}."
    )
    nearest = []
    if time is not None:
        nearest.append(f"there at {math.ceil(time * 1e6 - 1e-3) / 1e6:.10g} s")
    if position is not None and not whenever:
        nearest.append(f"{say(position)} at {end.time:g} s")
    if max(abs(first), abs(last)) > limits.speed * (1.0 + 1e-12):
        nearest.append(f"{say(limits.speed, '/s')} there")
    hint = f"Nearest: {', or '.join(nearest)}." if nearest else ""
    if (
        not cruise
        and soonest(float(span.way), first, last, limits, after=duration, cruise=True) == duration
    ):
        hint = f"{hint} The planner 'cruise' can.".strip()
    return OutOfReach(
        message, origin=end.origin, hint=hint, time=time, position=position, acceleration=need
    )


def _say(unit: str, value: float, per: str = "") -> str:
    """A value for people, without powers of ten where digits do."""
    words = in_words(float(value), unit + per)
    if "e+0" not in words:
        return words
    shown = degrees(value) if unit == "rad" else float(value)
    return f"{shown:.0f}{words[words.index('e+0') + 4 :]}"


def _by(limits: Limits, which: int) -> str:
    """Who sets a limit, where that is known."""
    return f" by {limits.whose[which]}" if limits.whose[which] else ""


def _why(span: Span, limits: Limits, unit: str, cruise: bool, jerk: bool, whenever: bool) -> str:
    """Which limit is in the way, and what would be needed."""
    say = partial(_say, unit)
    top, a = limits.speed, limits.acceleration
    ends = float(np.maximum(abs(span.first), abs(span.last)))
    if ends > top * (1.0 + 1e-12):
        return f"a wanted speed of {say(ends, '/s')} is above {say(top, '/s')}{_by(limits, 0)}"
    if whenever:
        return f"{say(top, '/s')} and {say(a, '/s²')} together do not suffice"
    need = float(span.least_acceleration())
    if need > a * (1.0 + 1e-12):
        return f"it needs {say(need, '/s²')} where {say(a, '/s²')} is allowed{_by(limits, 1)}"
    if jerk:
        return f"a jerk of at most {say(limits.jerk, '/s³')} takes longer"
    free = Limits(acceleration=a)
    low, high = span.window(free)
    mean = float(abs(span.way / span.time))
    if cruise:
        least = mean if mean > top else None
    else:
        least = min(float(np.abs(span.middle(s))) for s in (low, high))
    if least is not None and least > top:
        return f"it needs {say(least, '/s')} where {say(top, '/s')} is allowed{_by(limits, 0)}"
    return f"{say(top, '/s')} and {say(a, '/s²')} together do not suffice"
