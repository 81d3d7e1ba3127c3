"""Exports of a recording, as CSV tables or as an HTML page."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain

import numpy as np

from linkwork.core.atomic import whole_file
from linkwork.core.errors import RecordingError, not_found
from linkwork.session.recording.reader import Recording
from linkwork.session.recording.segment import Segment


def export_csv(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    fields: Sequence[str] = (),
    signals: Sequence[str] = (),
) -> int:
    """Writes recorded numbers as comma-separated values, with all their digits.

    Columns are ``segment``, ``step``, ``time`` [s], then one per number: ``q[0]``, ``pose[2,6]``
    or the signal's name. A cell is empty if a segment has no such number.

    Args:
        recording: The recording.
        path: The file; overwritten if it exists.
        fields: Blocks of the state ("q", "pose", …), one line per keyframe.
        signals: Signals by name, one line per sample. All recorded ones if neither is given.

    Returns:
        Lines written, without the heading.

    Raises:
        NameNotFound: No segment has such a block or signal.
        RecordingError: Both were given, or the file cannot be written.
    """
    if fields and signals:
        raise RecordingError(
            "blocks of the state and signals are recorded at different times.",
            hint="Export them to two files.",
        )
    names = fields if fields else _signal_names(recording, signals)
    if fields:
        _check("block", fields, {name for each in recording.segments for name in each.layout})
    rows = _state_rows if fields else _signal_rows
    heading = dict.fromkeys(
        name for segment in recording.segments for name in _columns(segment, names, bool(fields))
    )
    count = 0
    try:
        with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["segment", "step", "time", *heading])
            for segment in recording.segments:
                columns = _columns(segment, names, bool(fields))
                for step, time, numbers in rows(segment, names):
                    cells = dict(zip(columns, numbers, strict=True))
                    table.writerow(
                        [segment.number, step, time, *(cells.get(name, "") for name in heading)]
                    )
                    count += 1
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror}.") from None
    return count


def _signal_names(recording: Recording, wanted: Sequence[str]) -> list[str]:
    known = {column.name: None for each in recording.segments for column in each.world.signals}
    _check("recorded signal", wanted, set(known))
    return list(wanted or known)


def _check(kind: str, names: Sequence[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise not_found(kind, name, known)


def _columns(segment: Segment, names: Sequence[str], blocks: bool) -> list[str]:
    """Names of the numbers in one segment."""
    if not blocks:
        present = {column.name for column in segment.world.signals}
        return [name for name in names if name in present]
    shapes = {name: segment.layout[name].shape for name in names if name in segment.layout}
    return [
        f"{name}[{','.join(map(str, place))}]"
        for name, shape in shapes.items()
        for place in np.ndindex(*shape)
    ]


def _state_rows(segment: Segment, names: Sequence[str]) -> Iterator[tuple[int, float, list[float]]]:
    present = [name for name in names if name in segment.layout]
    first = (segment.first_step, segment.first_state)
    times = [segment.first_time, *segment.keyframes.times.tolist()]
    for (step, state), time in zip(chain([first], segment.keyframes), times, strict=True):
        blocks = [segment.block(name, state).ravel().tolist() for name in present]
        yield step, time, [number for block in blocks for number in block]


def _signal_rows(
    segment: Segment, names: Sequence[str]
) -> Iterator[tuple[int, float, list[float]]]:
    order = {column.name: place for place, column in enumerate(segment.world.signals)}
    columns = [order[name] for name in names if name in order]
    rows = segment.signals
    for step, time, reading in zip(rows.steps.tolist(), rows.times.tolist(), rows, strict=True):
        yield step, time, reading[columns].tolist()


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

    Shows the run, the events and a curve per recorded signal; without recorded signals, a curve per
    coordinate ``q`` at the keyframes.

    Args:
        recording: The recording.
        path: The file; overwritten if it exists.

    Raises:
        RecordingError: The recording is damaged, or the file cannot be written.
    """
    sections = [
        *_run(recording),
        *(piece for segment in recording.segments for piece in _curves(segment)),
        *_events(recording),
    ]
    title = escape(f"{recording.header.world.scene}, {recording.header.created}")
    text = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>\n" + "\n".join(sections) + "\n</html>\n"
    )
    try:
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8")
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
    closed = "closed" if recording.closed else "not closed: the session was cut off"
    yield _table(
        [
            ("File", f"{recording.path.name} ({closed})"),
            *([("Problem", recording.problem)] if recording.problem else []),
            *([("Note", note) for note in recording.notes if note not in recording.problem]),
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
        for piece in _line_segments(x, y)
    )
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f"<figure><figcaption>{caption}</figcaption><svg {box}>{lines}</svg></figure>"


def _line_segments(x: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
    """Contiguous runs of points, thinned to the extremes of each pixel column."""
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
