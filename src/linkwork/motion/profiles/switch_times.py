"""Switch time of a span in two segments, by the cost to be minimized."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.model.scene.motion_limits import UNLIMITED, MotionLimits, MotorLosses
from linkwork.motion.profiles.span import Numbers, Span


def of_least_acceleration(span: Span, limits: MotionLimits = UNLIMITED) -> np.ndarray:
    """Returns the switch of the least peak acceleration (Lima et al. eqs 9 to 11).

    Of both roots, s/T = |h|/(|h| + √(Δ² + h²) − σΔ) is within the time, σ = sign h. The peak
    decreases before it and increases after it, so that a velocity limit moves it no further than
    necessary.
    """
    return _clip(_equal_acceleration_switch(span), *span.window(limits))


def of_least_speed(span: Span, limits: MotionLimits) -> np.ndarray:
    """Returns the switch of the least peak velocity; among equal ones, of the least |ωm|.

    See Lima et al. §4.4. ωm is linear in s, so the least |ωm| is at its zero, or at an end of the
    interval that ``limits`` permit. For velocities that increase in the sense of h this is eq. 12
    with sign(h)·a_max: the earliest switch. For decreasing velocities it is the latest; there eq.
    12 would give the highest velocity.
    """
    low, high = span.window(limits)
    slope = span.slope
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = -(span.first + span.area_excess) / slope
    return _clip(np.where(slope == 0.0, _equal_acceleration_switch(span), rest), low, high)


def of_least_work(span: Span, limits: MotionLimits = UNLIMITED) -> np.ndarray:
    """Returns the switch of the least ∫|P| dt, P = I·a·ω; among equal ones, of least acceleration.

    The work ∫P dt is the same for every switch. The energy that is supplied and braked away again
    is least if ωm is between ω1 and ω2; the end of those switches is Lima et al. eq. 16, where ωm =
    ω2 (or ω1).
    """
    low, high = span.window(limits)
    slope, start = span.slope, span.first + span.area_excess
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (span.first - start) / slope, (span.last - start) / slope
    flat = slope == 0.0
    first = np.where(flat, low, np.clip(np.minimum(*ends), low, high))
    last = np.where(flat, high, np.clip(np.maximum(*ends), low, high))
    return np.clip(_clip(_equal_acceleration_switch(span), low, high), first, last)


def _equal_acceleration_switch(span: Span) -> np.ndarray:
    """Returns the switch with |a1| = |a2|; the middle if the acceleration is constant.

    Both forms of the root are the same number; each is free of cancellation on its side.
    """
    h, rise = span.area_excess, span.rise
    size, along = np.abs(h), np.sign(h) * rise
    root = np.hypot(rise, h)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(
            along > 0.0, 1.0 / (1.0 + size / (root + along)), size / (size + root - along)
        )
    return span.time * np.where(size > 0.0, share, 0.5)


def _clip(switch: Numbers, low: Numbers, high: Numbers) -> np.ndarray:
    """Returns ``switch`` clipped to its window; NaN if the window is empty."""
    return np.where(np.less_equal(low, high), np.clip(switch, low, high), np.nan)


#: Number of switches sampled before refinement.
_GRID = 129
#: Golden section iterations: each leaves 0.618 of the interval.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_MAX_ITERATIONS = 36

_ENDLESS = "with {} alone, without copper loss, the optimum has infinite accelerations."
_MISSING = "Give max_acceleration, or the loss 'copper'."


def piece_energy(
    first: Numbers, last: Numbers, time: Numbers, losses: MotorLosses
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the energy of a segment of constant acceleration from ``first`` to ``last`` [J].

    P is quadratic in time while the velocity keeps its sign, so the result is exact.

    Returns:
        Energy from the supply, and energy returned to it (both 0 or more).
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


def _power(a: np.ndarray, w: np.ndarray, sign: np.ndarray, losses: MotorLosses) -> np.ndarray:
    effort = losses.inertia * a + losses.viscous * w + losses.coulomb * sign
    return effort * w + losses.copper * effort * effort


def _signed_areas(p0: np.ndarray, pm: np.ndarray, p1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the areas above and below 0 of the parabola through p0, pm, p1 at 0, ½ and 1."""
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


def span_energy(span: Span, switch: Numbers, losses: MotorLosses) -> np.ndarray:
    """Returns the net energy from the supply [J]."""
    middle = span.middle(switch)
    given, back = piece_energy(span.first, middle, switch, losses)
    more, less = piece_energy(middle, span.last, span.time - np.asarray(switch), losses)
    return given + more - back - less


def of_least_energy(span: Span, limits: MotionLimits, losses: MotorLosses) -> np.ndarray:
    """Returns the switch of the least energy from the supply.

    Inertia alone has a closed form. Otherwise switches sampled over the window, denser toward its
    ends, bracket the minimum, and golden sections refine it.

    Raises:
        LinkworkError: If without a maximum acceleration the energy has no minimum.
    """
    endless = not math.isfinite(limits.acceleration)
    if losses.lossless:
        if losses.recuperation == 1.0:  # all switches have equal cost
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
    spread = 0.5 - 0.5 * np.cos(np.linspace(0.0, math.pi, _GRID))
    tried = low + (high - low) * spread.reshape(-1, *([1] * low.ndim))
    wide = Span(span.distance[None], span.first[None], span.last[None], span.time[None])
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = span_energy(wide, tried, losses)
    costs = np.where(np.isfinite(costs) & ~_jumps(wide, tried), costs, np.inf)
    best = np.argmin(costs, axis=0)
    a, b = (
        np.take_along_axis(tried, np.clip(best + step, 0, _GRID - 1)[None], axis=0)[0]
        for step in (-1, 1)
    )
    bottom = _golden_section(span, a, b, losses)
    kept = np.take_along_axis(tried, best[None], axis=0)[0]
    lowest = np.take_along_axis(costs, best[None], axis=0)[0]
    switch = np.where(span_energy(span, bottom, losses) < lowest, bottom, kept)
    return np.where(empty, np.nan, switch)


def _jumps(span: Span, switch: np.ndarray) -> np.ndarray:
    """Returns whether the velocity would jump at a switch."""
    return ((switch <= 0.0) | (switch >= span.time)) & (span.area_excess != 0.0)


def _golden_section(span: Span, a: np.ndarray, b: np.ndarray, losses: MotorLosses) -> np.ndarray:
    """Returns the minimum between ``a`` and ``b``."""
    for _ in range(_MAX_ITERATIONS):
        width = _GOLDEN * (b - a)
        left, right = b - width, a + width
        with np.errstate(divide="ignore", invalid="ignore"):
            lower = span_energy(span, left, losses) <= span_energy(span, right, losses)
        a, b = np.where(lower, a, left), np.where(lower, right, b)
    return 0.5 * (a + b)
