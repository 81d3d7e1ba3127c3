"""Chart: lines over time as an SVG file, in the colors of the light theme."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 32, 44, 36  # margins
PANEL, RULE, TEXT, TEXT2 = "#fafbfc", "#e0e4e9", "#1a1e23", "#4a545f"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


@dataclass(frozen=True)
class Line:
    """One line of a chart: what it is, its color and its values, evenly spread over time."""

    name: str
    color: str
    values: Sequence[float]


def write_chart(
    path: Path,
    title: str,
    lines: Sequence[Line],
    seconds: float,
    lowest: float,
    highest: float,
    *,
    ticks: int = 6,
    first: float = 0.0,
) -> None:
    """Writes a chart of ``lines`` over ``seconds`` from ``first``, ``lowest`` to ``highest``."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(share: float) -> float:
        return LEFT + share * wide

    def y(value: float) -> float:
        return TOP + (highest - value) / (highest - lowest) * high

    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="{FONT}" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PANEL}"/>',
        f'<text x="{LEFT}" y="26" fill="{TEXT}" font-weight="600">{title}</text>',
    ]
    for k in range(5):
        value = lowest + k * (highest - lowest) / 4.0
        label = f"{value:g}".replace("-", "−")
        made.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="{RULE}"/>')
        made.append(
            f'<text x="{LEFT - 10}" y="{y(value) + 4:.1f}" fill="{TEXT2}" '
            f'text-anchor="end">{label}</text>'
        )
    for k in range(ticks + 1):
        label = f"{first + k * seconds / ticks:g}" + (" s" if k == ticks else "")
        made.append(
            f'<text x="{x(k / ticks):.1f}" y="{HEIGHT - 12}" fill="{TEXT2}" '
            f'text-anchor="middle">{label}</text>'
        )
    place = WIDTH - RIGHT
    for line in reversed(lines):
        count = len(line.values) - 1
        points = " ".join(f"{x(n / count):.1f},{y(v):.1f}" for n, v in enumerate(line.values))
        made.append(
            f'<polyline points="{points}" fill="none" stroke="{line.color}" stroke-width="2"/>'
        )
        made.append(
            f'<text x="{place}" y="26" fill="{line.color}" font-weight="600" '
            f'text-anchor="end">{line.name}</text>'
        )
        place -= 9 * len(line.name) + 24
    path.write_text("\n".join([*made, "</svg>"]) + "\n", encoding="utf-8")
