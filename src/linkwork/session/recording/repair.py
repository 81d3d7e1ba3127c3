"""Repair: a closed, valid copy of a recording that was cut off."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from linkwork.errors import Origin, RecordingError
from linkwork.session.recording.index import Index
from linkwork.session.recording.scan import map_file

_PIECE = 2**20


def repair(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Copies all whole records of a recording and ends the copy as a closed one.

    Args:
        path: A recording, cut off or not. It is not changed.
        target: The copy; beside the recording as ``name.repaired.mcap`` if not given.
        overwrite: Whether an existing file may be replaced.

    Returns:
        The copy.

    Raises:
        RecordingError: The file holds nothing to keep, or the copy cannot be written.
    """
    path = Path(path)
    copy = path.with_suffix(f".repaired{path.suffix}") if target is None else Path(target)
    if copy.exists() and (not overwrite or not copy.is_file()):
        raise RecordingError(
            f"the repaired copy cannot be written to {copy}: there is something of that name."
        )
    with map_file(path) as data:
        try:
            index = Index(data)
        except RecordingError as error:
            error.at(Origin(str(path)))
            raise
        summary = index.summary
        times = [series.times for series in index.series.values() if len(series)]
        summary.first = min(each[0] for each in times)
        summary.last = max(each[-1] for each in times)
        part = copy.with_name(f".{copy.name}.{os.getpid()}")
        try:
            with part.open("xb") as file:
                crc = 0
                for start in range(0, index.whole, _PIECE):
                    piece = data[start : min(start + _PIECE, index.whole)]
                    crc = zlib.crc32(piece, crc)
                    file.write(piece)
                file.write(summary.ending(index.whole, crc))
            part.replace(copy)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RecordingError(
                f"the repaired copy cannot be written to {copy}: {error.strerror}."
            ) from None
    return copy
