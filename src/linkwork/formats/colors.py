"""Colours as numbers, for the formats that write them so."""

from __future__ import annotations


def rgba(color: str) -> tuple[float, float, float, float]:
    """Red, green, blue and opacity, each 0 to 1, of ``#rrggbb`` or ``#rrggbbaa``."""
    levels = [int(color[i : i + 2], 16) / 255 for i in range(1, len(color), 2)]
    red, green, blue = levels[:3]
    return (red, green, blue, levels[3] if len(levels) > 3 else 1.0)


def linear(color: str) -> tuple[float, float, float]:
    """Red, green and blue as amounts of light, each 0 to 1; colours of files are sRGB."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba(color)[:3]
    )
    return red, green, blue


def hex_color(values: tuple[float, ...] | list[float]) -> str:
    """``#rrggbb``, or ``#rrggbbaa`` where the opacity is not 1; values are cut to 0…1."""
    levels = [round(255 * min(max(c, 0.0), 1.0)) for c in values]
    shown = levels[:3] if len(levels) < 4 or levels[3] == 255 else levels[:4]
    return "#" + "".join(f"{level:02x}" for level in shown)
