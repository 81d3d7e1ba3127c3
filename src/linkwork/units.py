"""Degrees and other units of files and screens; inside, everything is SI and radians."""

from __future__ import annotations

import math

#: What a key's suffix multiplies its value with to reach SI.
SUFFIXES: dict[str, float] = {
    "_deg": math.pi / 180.0,
    "_mm": 1e-3,
    "_cm": 1e-2,
    "_g": 1e-3,
    "_ms": 1e-3,
    "_hz": 1.0,
}


def split_unit(key: str) -> tuple[str, float]:
    """Splits a file's key into its plain name and the factor to SI.

    >>> split_unit("range_deg")[0]
    'range'
    """
    for suffix, factor in SUFFIXES.items():
        if key.endswith(suffix) and len(key) > len(suffix):
            return key[: -len(suffix)], factor
    return key, 1.0


def degrees(value: float) -> float:
    """Radians to degrees."""
    return value * 180.0 / math.pi


def in_words(value: float, unit: str) -> str:
    """A value with its unit for people, angles in degrees.

    >>> in_words(0.5235987755982988, "rad/s")
    '30°/s'
    """
    if unit.startswith("rad"):
        return f"{degrees(value):.4g}{unit.replace('rad', '°', 1)}"
    return f"{value:.4g} {unit}".rstrip()
