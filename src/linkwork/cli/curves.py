"""Curves over time: as characters on a terminal, and as an SVG file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork.core.atomic import whole_file
from linkwork.core.errors import FormatError, os_error_text

_MARKS = "o·+x"
_COLORS = ("#b45309", "#0f6fb5", "#7a828c", "#0b7a57")


@dataclass(frozen=True)
class Curve:
    """One curve: its name, times [s] and values; ``dots`` draws separate points."""

    name: str
    time: np.ndarray
    values: np.ndarray
    dots: bool = False


def in_characters(
    curves: Sequence[Curve], unit: str, *, wide: int = 72, high: int = 16
) -> list[str]:
    """Lines of text that show the curves; the first curve is on top."""
    seconds, lowest, highest = _extent(curves)
    field = [[" "] * wide for _ in range(high)]
    for mark, curve in reversed(list(zip(_MARKS, curves, strict=False))):
        when = curve.time if curve.dots else np.linspace(0.0, seconds, wide)
        values = curve.values if curve.dots else np.interp(when, curve.time, curve.values)
        for t, value in zip(when, values, strict=True):
            column = round(t / seconds * (wide - 1))
            row = round((highest - value) / (highest - lowest) * (high - 1))
            field[row][column] = mark
    labels = {
        round((highest - value) / (highest - lowest) * (high - 1)): f"{value:8.4g}"
        for value in round_ticks(lowest, highest)
    }
    made = [f"{labels.get(n, ''):>8} │{''.join(row).rstrip()}" for n, row in enumerate(field)]
    made.append(f"{'':8} └{'─' * wide}")
    end = f"{seconds:g} s"
    made.append(f"{unit:>8}  0{end:>{wide - 1}}")
    names = (f"{mark} {c.name}" for mark, c in zip(_MARKS, curves, strict=False))
    made.append(f"{'':10}{'   '.join(names)}")
    return made


def write_svg(file: Path, title: str, curves: Sequence[Curve], unit: str) -> None:
    """Writes the curves as an SVG file.

    Raises:
        FormatError: If the file cannot be written.
    """
    seconds, lowest, highest = _extent(curves)
    values, times = round_ticks(lowest, highest), round_ticks(0.0, seconds)
    labels = [f"{value:.4g}{unit if value == values[-1] else ''}" for value in values]
    left = max(64, 8 * max(map(len, labels)) + 16)  # margin for the longest label
    width, height, right, top, bottom = 960, 360, 24, 44, 36

    def x(time: float) -> float:
        return left + time / seconds * (width - left - right)

    def y(value: float) -> float:
        return top + (highest - value) / (highest - lowest) * (height - top - bottom)

    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#fafbfc"/>',
        f'<text x="{left}" y="26" fill="#1a1e23" font-weight="600">{title}</text>',
    ]
    for value, label in zip(values, labels, strict=True):
        made += [
            f'<path d="M{left} {y(value):.1f}H{width - right}" stroke="#e0e4e9"/>',
            f'<text x="{left - 8}" y="{y(value) + 4:.1f}" fill="#4a545f" text-anchor="end">'
            f"{label}</text>",
        ]
    made += [
        f'<text x="{x(time):.1f}" y="{height - 12}" fill="#4a545f" text-anchor="middle">'
        f"{time:.4g}{' s' if time == times[-1] else ''}</text>"
        for time in times
    ]
    place = width - right
    for color, curve in reversed(list(zip(_COLORS, curves, strict=False))):
        points = [(x(t), y(v)) for t, v in zip(curve.time, curve.values, strict=True)]
        if curve.dots:
            made += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points]
        else:
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
            made.append(
                f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
            )
        made.append(
            f'<text x="{place}" y="26" fill="{color}" font-weight="600" text-anchor="end">'
            f"{curve.name}</text>"
        )
        place -= 8 * len(curve.name) + 24
    try:
        with whole_file(file) as part:
            part.write_text("\n".join([*made, "</svg>"]) + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{file} cannot be written: {os_error_text(error)}.") from None


def round_ticks(lowest: float, highest: float, *, most: int = 6) -> list[float]:
    """Returns 2 to ``most`` values within an interval, at multiples of 1, 2 or 5 · 10ⁿ."""
    span = highest - lowest
    power = 10.0 ** math.floor(math.log10(span / most))
    for factor in (1.0, 2.0, 5.0, 10.0, 20.0):
        step = factor * power
        first, last = math.ceil(lowest / step - 1e-9), math.floor(highest / step + 1e-9)
        if last - first < most:
            break
    return [float(f"{n * step:.12g}") for n in range(first, last + 1)]


def _extent(curves: Sequence[Curve]) -> tuple[float, float, float]:
    """Longest time, lowest and highest value."""
    seconds = max(float(curve.time[-1]) for curve in curves)
    lowest = min(float(curve.values.min()) for curve in curves)
    highest = max(float(curve.values.max()) for curve in curves)
    if highest - lowest < 1e-9:
        lowest, highest = lowest - 0.5, highest + 0.5
    return max(seconds, 1e-9), lowest, highest
