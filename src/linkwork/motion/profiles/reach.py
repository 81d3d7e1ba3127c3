"""Reach: how far limits let a joint come in a time, and how soon it comes where it is wanted."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linkwork.scene.planning import Limits

#: Rounding that is forgiven.
_SLACK = 1e-12


def farthest(
    first: float, last: float, time: float, limits: Limits, *, cruise: bool = False
) -> float:
    """The longest way forwards between two speeds [rad or m].

    Speeds up as hard as allowed, and brakes so. If that would pass the largest speed, it cruises
    there; in two pieces it cannot, and bends once where the largest speed is reached first or left
    last.

    Args:
        first: Speed at the beginning.
        last: Speed at the end.
        time: [s], at least |last − first| over the largest acceleration.
        limits: Largest speed and acceleration.
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


def ways(
    first: float, last: float, time: float, limits: Limits, *, cruise: bool = False
) -> tuple[float, float] | None:
    """Shortest and longest way between two speeds in a time; None if the speeds cannot be met.

    Every way between both can be gone.
    """
    top = limits.speed * (1.0 + _SLACK)
    if abs(first) > top or abs(last) > top or time <= 0.0:
        return None
    if abs(last - first) > limits.acceleration * time * (1.0 + _SLACK):
        return None
    return (
        -farthest(-first, -last, time, limits, cruise=cruise),
        farthest(first, last, time, limits, cruise=cruise),
    )


def soonest(
    way: float,
    first: float,
    last: float,
    limits: Limits,
    *,
    after: float = 0.0,
    cruise: bool = True,
) -> float | None:
    """The shortest time, not below ``after``, in which a way can be gone; None if there is none.

    What is possible in a time begins and ends where ``way`` is the farthest forwards or backwards:
    each of those times has a closed form, and the first that holds is taken. After a time that
    holds a longer one need not: who arrives fast must first run back.
    """
    if _holds(way, first, last, after, limits, cruise):
        return after
    found = [t for t in _bounds(way, first, last, limits, cruise) if t >= after]
    for time in sorted(found):
        for each in (time, time * (1.0 + 4.0 * _SLACK)):
            if _holds(way, first, last, each, limits, cruise):
                return each
    return None


def _holds(
    way: float, first: float, last: float, time: float, limits: Limits, cruise: bool
) -> bool:
    if time == 0.0:
        return way == 0.0 and first == last
    found = ways(first, last, time, limits, cruise=cruise)
    if found is None:
        return False
    slack = _SLACK * max(abs(way), abs(first) * time, abs(last) * time)
    return found[0] - slack <= way <= found[1] + slack


def _bounds(way: float, first: float, last: float, limits: Limits, cruise: bool) -> Iterator[float]:
    """Times at which the way may begin or cease to be possible."""
    a, top = limits.acceleration, limits.speed
    yield abs(last - first) / a
    for sign in (1.0, -1.0):
        d, u, w = sign * way, sign * first, sign * last
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
