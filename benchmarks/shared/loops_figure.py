"""The figure of ``loops.py``: gap and deviation of energy over time, as SVG."""

from __future__ import annotations

import math
import re

import numpy as np

from shared.loops_sections import Kept

WIDTH, HEIGHT, TOP, BOTTOM = 960, 300, 44, 264
#: Left and right edge of both panels.
PANELS = ((64, 340), (416, 692))
INK, FAINT, GRID = "#1a1e23", "#4a545f", "#e0e4e9"
OURS = "#0b6bcb"
COLORS = {
    "MuJoCo": "#c2570c", "Pinocchio": "#1a7f37", "Exudyn": "#7c4fc4", "Bullet": "#9a6700",
    "Drake": "#b3236b", "Newton": "#57606a",
}  # fmt: skip


def draw(runs: dict[str, Kept], bars: tuple[float, float]) -> str:
    """Draws runs by name; the bars are the targets of ours."""
    seconds = max(float(run.times[-1]) for run in runs.values() if len(run.times))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, -apple-system, \'Segoe UI\', Roboto, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fafbfc"/>',
    ]
    panels = (
        ("Largest gap so far, m", "gaps", (-18, -2)),
        ("Largest energy deviation so far", "drifts", (-8, 0)),
    )
    for (left, right), (title, what, span), bar in zip(PANELS, panels, bars, strict=True):
        out += _panel(left, right, title, span, bar, seconds)
        for name, run in runs.items():
            out.append(_curve(name, run, what, (left, right), span, seconds))
    out += _names(runs)
    return "\n".join([*out, "</svg>"]) + "\n"


def _height(value: float, span: tuple[int, int]) -> float:
    low, high = span
    part = (min(max(math.log10(max(value, 1e-300)), low), high) - low) / (high - low)
    return BOTTOM - part * (BOTTOM - TOP)


def _panel(
    left: int, right: int, title: str, span: tuple[int, int], bar: float, seconds: float
) -> list[str]:
    out = [f'<text x="{left}" y="26" fill="{INK}" font-weight="600">{title}</text>']
    for power in range(span[0], span[1] + 1, 4 if span[1] - span[0] > 10 else 2):
        y = _height(10.0**power, span)
        label = "1" if power == 0 else f'10<tspan dy="-5" font-size="10">−{-power}</tspan>'
        out.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{GRID}"/>')
        out.append(
            f'<text x="{left - 8}" y="{y + 4:.1f}" fill="{FAINT}" text-anchor="end">{label}</text>'
        )
    y = _height(bar, span)
    out.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{INK}" stroke-dasharray="2 4"/>')
    for second in range(0, round(seconds) + 1, 5):
        x = left + (right - left) * second / seconds
        unit = " s" if second == round(seconds) else ""
        out.append(
            f'<text x="{x:.1f}" y="288" fill="{FAINT}" text-anchor="middle">{second}{unit}</text>'
        )
    return out


def _color(name: str) -> str:
    return COLORS.get(name.partition(" ")[0].rstrip(","), OURS)


def _curve(
    name: str, run: Kept, what: str, across: tuple[int, int], span: tuple[int, int], seconds: float
) -> str:
    left, right = across
    so_far = np.maximum.accumulate(getattr(run, what)) if len(run.times) else np.zeros(0)
    chosen = range(0, len(so_far), 10)
    points = " ".join(
        f"{left + (right - left) * run.times[n] / seconds:.1f},{_height(so_far[n], span):.1f}"
        for n in chosen
    )
    style = 'stroke-width="3"' if name == "ours" else 'stroke-width="1.5"'
    if "default" in name:
        style += ' stroke-dasharray="6 4"'
    return f'<polyline points="{points}" fill="none" stroke="{_color(name)}" {style}/>'


def _names(runs: dict[str, Kept]) -> list[str]:
    """The legend, in the order of the gaps."""
    out = []
    for n, name in enumerate(sorted(runs, key=lambda name: runs[name].gap)):
        y = TOP + 17 * n
        dash = ' stroke-dasharray="6 4"' if "default" in name else ""
        wide = 3 if name == "ours" else 1.5
        text = "Linkwork, default" if name == "ours" else re.sub(r"^(\w+) [\d.]+,", r"\1,", name)
        text = text.replace("ours,", "Linkwork,")
        out.append(
            f'<path d="M708 {y - 4}h20" stroke="{_color(name)}" stroke-width="{wide}"{dash}/>'
        )
        out.append(f'<text x="734" y="{y}" fill="{FAINT}" font-size="11">{text}</text>')
    y = TOP + 17 * len(runs)
    out.append(f'<path d="M708 {y - 4}h20" stroke="{INK}" stroke-dasharray="2 4"/>')
    out.append(f'<text x="734" y="{y}" fill="{FAINT}" font-size="11">target of ours</text>')
    return out
