"""Switches: when a span in two pieces changes over, by what is to be least (004 §§4.3–4.5)."""

from __future__ import annotations

import numpy as np

from linkwork.motion.profiles.span import Numbers, Span
from linkwork.scene.planning import UNLIMITED, Limits


def of_least_acceleration(span: Span, limits: Limits = UNLIMITED) -> np.ndarray:
    """Switch of the least peak acceleration (004 eqs 9 to 11).

    Of both roots, s/T = |h|/(|h| + √(Δ² + h²) − σΔ) lies within the time, σ = sign h. The peak
    falls before it and rises after it, so that a speed limit moves it no further than it must.
    """
    return _clipped(_even(span), *span.window(limits))


def of_least_speed(span: Span, limits: Limits) -> np.ndarray:
    """Switch of the least peak speed; among equal ones, of the least |ωm| (004 §4.4).

    ωm is linear in s, so the least |ωm| is where it is 0, or at an end of what ``limits`` allow.
    For speeds that rise in the sense of h this is eq. 12 with sign(h)·a_max: the earliest switch.
    For speeds that fall it is the latest; there eq. 12 would have the highest speed, not the least.
    """
    low, high = span.window(limits)
    slope = span.slope
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = -(span.first + span.bulge) / slope
    return _clipped(np.where(slope == 0.0, _even(span), rest), low, high)


def of_least_work(span: Span, limits: Limits = UNLIMITED) -> np.ndarray:
    """Switch of the least ∫|P| dt, P = I·a·ω; among equal ones, of the least acceleration.

    The work ∫P dt is the same for every switch. What is put in and braked away again is least where
    ωm lies between ω1 and ω2; the end of those switches is 004 eq. 16, where ωm = ω2 (or ω1).
    """
    low, high = span.window(limits)
    slope, start = span.slope, span.first + span.bulge
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (span.first - start) / slope, (span.last - start) / slope
    flat = slope == 0.0
    first = np.where(flat, low, np.clip(np.minimum(*ends), low, high))
    last = np.where(flat, high, np.clip(np.maximum(*ends), low, high))
    return np.clip(_clipped(_even(span), low, high), first, last)


def _even(span: Span) -> np.ndarray:
    """The switch at which |a1| = |a2|; the middle where the acceleration is the same all the way.

    Both forms of the root are the same number; each is free of cancellation on its side.
    """
    h, rise = span.bulge, span.rise
    size, along = np.abs(h), np.sign(h) * rise
    root = np.hypot(rise, h)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(
            along > 0.0, 1.0 / (1.0 + size / (root + along)), size / (size + root - along)
        )
    return span.time * np.where(size > 0.0, share, 0.5)


def _clipped(switch: Numbers, low: Numbers, high: Numbers) -> np.ndarray:
    """``switch`` moved into its window; not a number where the window is empty."""
    return np.where(np.less_equal(low, high), np.clip(switch, low, high), np.nan)
