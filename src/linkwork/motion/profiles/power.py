"""Power: what a way costs its motor, and the switch at which a span costs least."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.motion.profiles.span import Numbers, Span
from linkwork.motion.profiles.switches import of_least_acceleration, of_least_work
from linkwork.scene.planning import Limits, Losses

#: Switches tried before the best of them is made exact.
_TRIED = 129
#: Golden section: each round leaves 0.618 of the interval.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_ROUNDS = 36

_ENDLESS = "with {} alone, without copper loss, it is cheapest with accelerations without end."
_MISSING = "Give max_acceleration, or the loss 'copper'."


def piece_energy(
    first: Numbers, last: Numbers, time: Numbers, losses: Losses
) -> tuple[np.ndarray, np.ndarray]:
    """Energy of a piece of constant acceleration, from speed ``first`` to ``last`` [J].

    P is quadratic in time wherever the speed keeps its sign, so all is exact.

    Returns:
        What the supply gives, and what comes back to it (both 0 or more).
    """
    u, v, dt = (np.asarray(x, float) for x in np.broadcast_arrays(first, last, time))
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(dt > 0.0, (v - u) / dt, 0.0)
        turn = np.where(u * v < 0.0, u / (u - v), 1.0)
    given, back = np.zeros(u.shape), np.zeros(u.shape)
    for start, stop in ((np.zeros(u.shape), turn), (turn, np.ones(u.shape))):
        ends = [u + (start + x * (stop - start)) * (v - u) for x in (0.0, 0.5, 1.0)]
        sign = np.sign(ends[1])
        p0, pm, p1 = (_power(a, w, sign, losses) for w in ends)
        more, less = _signed_areas(p0, pm, p1)
        given += more * (stop - start) * dt
        back += less * (stop - start) * dt
    return given, losses.recuperation * back


def _power(a: np.ndarray, w: np.ndarray, sign: np.ndarray, losses: Losses) -> np.ndarray:
    effort = losses.inertia * a + losses.viscous * w + losses.coulomb * sign
    return effort * w + losses.copper * effort * effort


def _signed_areas(p0: np.ndarray, pm: np.ndarray, p1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Areas above and below 0 of the parabola through p0, pm, p1 at 0, ½ and 1."""
    c2 = 2.0 * (p0 + p1 - 2.0 * pm)
    c1 = p1 - p0 - c2
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(c1 * c1 - 4.0 * c2 * p0, 0.0))
        q = -0.5 * (c1 + np.where(c1 < 0.0, -root, root))
        cuts = np.stack([q / c2, p0 / q])
    cuts = np.sort(np.clip(np.nan_to_num(cuts, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0), axis=0)
    knots = [np.zeros(p0.shape), cuts[0], cuts[1], np.ones(p0.shape)]
    whole = [x * (p0 + x * (c1 / 2.0 + x * c2 / 3.0)) for x in knots]
    areas = [b - a for a, b in pairwise(whole)]
    return (
        sum((np.maximum(each, 0.0) for each in areas), np.zeros(p0.shape)),
        sum((np.maximum(-each, 0.0) for each in areas), np.zeros(p0.shape)),
    )


def span_energy(span: Span, switch: Numbers, losses: Losses) -> np.ndarray:
    """What the supply has given in the end, less what came back [J]."""
    middle = span.middle(switch)
    given, back = piece_energy(span.first, middle, switch, losses)
    more, less = piece_energy(middle, span.last, span.time - np.asarray(switch), losses)
    return given + more - back - less


def of_least_energy(span: Span, limits: Limits, losses: Losses) -> np.ndarray:
    """Switch of the least energy from the supply.

    Inertia alone is answered in closed form. Otherwise switches spread over the window, denser
    towards its ends, find the valley, and golden sections its bottom.

    Raises:
        LinkworkError: If without a largest acceleration ever harder jerks would cost ever less.
    """
    endless = not math.isfinite(limits.acceleration)
    if losses.lossless:
        if losses.recuperation == 1.0:  # every switch costs the same
            return of_least_acceleration(span, limits)
        switch = of_least_work(span, limits)
        if endless and np.any(_jumps(span, switch)):
            raise LinkworkError(_ENDLESS.format("inertia"), hint=_MISSING)
        return switch
    if losses.copper == 0.0 and endless:
        raise LinkworkError(_ENDLESS.format("friction"), hint=_MISSING)
    low, high = span.window(limits)
    empty = low > high
    low, high = np.where(empty, 0.0, low), np.where(empty, span.time, high)
    spread = 0.5 - 0.5 * np.cos(np.linspace(0.0, math.pi, _TRIED))
    tried = low + (high - low) * spread.reshape(-1, *([1] * low.ndim))
    wide = Span(span.way[None], span.first[None], span.last[None], span.time[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = span_energy(wide, tried, losses)
    costs = np.where(np.isfinite(costs) & ~_jumps(wide, tried), costs, np.inf)
    best = np.argmin(costs, axis=0)
    a, b = (
        np.take_along_axis(tried, np.clip(best + step, 0, _TRIED - 1)[None], axis=0)[0]
        for step in (-1, 1)
    )
    bottom = _valley(span, a, b, losses)
    kept = np.take_along_axis(tried, best[None], axis=0)[0]
    lowest = np.take_along_axis(costs, best[None], axis=0)[0]
    switch = np.where(span_energy(span, bottom, losses) < lowest, bottom, kept)
    return np.where(empty, np.nan, switch)


def _jumps(span: Span, switch: np.ndarray) -> np.ndarray:
    """Whether the speed would jump at a switch."""
    return ((switch <= 0.0) | (switch >= span.time)) & (span.bulge != 0.0)


def _valley(span: Span, a: np.ndarray, b: np.ndarray, losses: Losses) -> np.ndarray:
    """Bottom of the valley between ``a`` and ``b``."""
    for _ in range(_ROUNDS):
        width = _GOLDEN * (b - a)
        left, right = b - width, a + width
        with np.errstate(divide="ignore", invalid="ignore"):
            lower = span_energy(span, left, losses) <= span_energy(span, right, losses)
        a, b = np.where(lower, a, left), np.where(lower, right, b)
    return 0.5 * (a + b)
