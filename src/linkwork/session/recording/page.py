"""Recordings as a page: what ran, what happened, and the signals as curves, in one HTML file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

import numpy as np

from linkwork.errors import RecordingError
from linkwork.session.recording.reader import Recording
from linkwork.session.recording.segment import Segment

_WIDTH, _HEIGHT = 720, 160
_MOST_CURVES = 64
_MOST_EVENTS = 2000

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; }
td { overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
svg { width: 100%; height: auto; border: 1px solid #8888; }
polyline { fill: none; stroke: #2a78d6; stroke-width: 1.5; }
"""


def export_html(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Writes one self-contained page about a recording.

    Shows what ran, the events and a curve per recorded signal; without recorded signals, a curve
    per coordinate ``q`` at the keyframes.

    Args:
        recording: The recording.
        path: The file, which is replaced if it exists.

    Raises:
        RecordingError: The recording is damaged, or the file cannot be written.
    """
    pieces = [
        *_run(recording),
        *(piece for segment in recording.segments for piece in _curves(segment)),
        *_events(recording),
    ]
    title = escape(f"{recording.header.world.scene}, {recording.header.created}")
    text = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>\n" + "\n".join(pieces) + "\n</html>\n"
    )
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror}.") from None


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    lines = (
        f"<tr><th>{escape(head)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for head, *cells in rows
    )
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _run(recording: Recording) -> Iterator[str]:
    header = recording.header
    closed = "closed" if recording.complete else "not closed: the session was cut off"
    yield _table(
        [
            ("File", f"{recording.path.name} ({closed})"),
            *([("Problem", recording.problem)] if recording.problem else []),
            ("Command", header.command or "from Python"),
            ("Duration", f"{recording.duration:g} s, {recording.last_step} steps"),
            ("Step", f"{header.world.step:g} s"),
            ("Seed", str(header.seed)),
            ("Versions", ", ".join(f"{name} {text}" for name, text in header.versions.items())),
            ("Processor", header.cpu),
            ("World", header.world.world_hash),
            ("Worlds", str(len(recording.segments))),
            ("Messages taken in", str(len(recording.inbox))),
        ]
    )


def _events(recording: Recording) -> Iterator[str]:
    events = recording.events
    if events:
        yield "<h2>Events</h2>"
        yield _table(
            (f"{event.time:.3f} s", event.level, event.source, event.text)
            for event in events[:_MOST_EVENTS]
        )
    if len(events) > _MOST_EVENTS:
        yield f"<p>{len(events) - _MOST_EVENTS} more are in the recording.</p>"


def _curves(segment: Segment) -> Iterator[str]:
    columns = [(each.name, each.unit) for each in segment.world.signals]
    rows = segment.signals
    if columns and len(rows):
        times, table = rows.times, rows.stacked()
    elif "q" in segment.layout and len(segment.keyframes):
        times = np.array([segment.first_time, *segment.keyframes.times])
        states = [segment.first_state, *(state for _, state in segment.keyframes)]
        table = np.stack([segment.block("q", state).ravel() for state in states])
        columns = [(f"q[{place}]", "") for place in range(table.shape[1])]
    else:
        return
    yield f"<h2>From {segment.first_time:g} s</h2>"
    for (name, unit), numbers in zip(columns[:_MOST_CURVES], table.T, strict=False):
        yield _figure(f"{name} [{unit}]" if unit else name, times, numbers.astype(float))
    if len(columns) > _MOST_CURVES:
        yield f"<p>{len(columns) - _MOST_CURVES} more are in the recording.</p>"


def _figure(label: str, times: np.ndarray, numbers: np.ndarray) -> str:
    finite = np.isfinite(numbers)
    if not finite.any():
        return f"<p>{escape(label)}: no finite values.</p>"
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    caption = f"{escape(label)}: {low:.6g} to {high:.6g}"
    start, span = float(times[0]), float(times[-1] - times[0]) or 1.0
    x = (times - start) / span * _WIDTH
    # Halved first: the difference of two doubles can be infinite.
    half = (high / 2 - low / 2) or 1.0
    y = _HEIGHT - 8 - (numbers / 2 - low / 2) / half * (_HEIGHT - 16)
    lines = "".join(
        f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in piece)}"/>'
        for piece in _pieces(x, y)
    )
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f"<figure><figcaption>{caption}</figcaption><svg {box}>{lines}</svg></figure>"


def _pieces(x: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
    """Unbroken runs of points, thinned to the extremes of each pixel column."""
    points = np.column_stack([x, y])
    broken = np.flatnonzero(~np.isfinite(y))
    for run in np.split(points, broken):
        run = run[np.isfinite(run[:, 1])]
        if len(run) > 4 * _WIDTH:
            column = run[:, 0].astype(int)
            order = np.lexsort((run[:, 1], column))
            ends = np.flatnonzero(np.diff(column[order], prepend=-1, append=-1))
            kept = np.union1d(order[ends[:-1]], order[ends[1:] - 1])
            run = run[kept]
        if len(run):
            yield run
