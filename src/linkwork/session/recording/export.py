"""Recordings as tables: comma-separated values for spreadsheets and scripts."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from linkwork.errors import RecordingError, not_found
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
    or the signal's name. A cell is empty where a segment has no such number.

    Args:
        recording: The recording.
        path: The file, which is replaced if it exists.
        fields: Blocks of the state ("q", "pose", …), a line per keyframe.
        signals: Signals by name, a line per reading. All recorded ones if neither is given.

    Returns:
        Lines written, without the heading.

    Raises:
        NameNotFound: No segment has such a block or signal.
        RecordingError: Both were asked for, or the file cannot be written.
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
        with Path(path).open("w", newline="", encoding="utf-8") as file:
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
    """Names of the numbers that one segment has."""
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
    places = [order[name] for name in names if name in order]
    rows = segment.signals
    for step, time, reading in zip(rows.steps.tolist(), rows.times.tolist(), rows, strict=True):
        yield step, time, reading[places].tolist()
