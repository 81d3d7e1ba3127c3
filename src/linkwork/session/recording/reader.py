"""Recording: reads what a recorder wrote, as far as it got."""

from __future__ import annotations

import mmap
import os
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType

from linkwork.errors import Origin, RecordingError
from linkwork.session.recording.header import Header
from linkwork.session.recording.index import Index
from linkwork.session.recording.messages import Notice, decode
from linkwork.session.recording.rows import Blocks, Rows, keep, poses
from linkwork.session.recording.scan import Data, map_file
from linkwork.session.recording.segment import Files, Segment, read_hashes
from linkwork.state import Field

_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class Event:
    """What happened at a step.

    Attributes:
        step: Step.
        time: Simulated time [s].
        level: "info", "warning", "error" or what else the session says.
        text: What happened.
        source: Who says so.
    """

    step: int
    time: float
    level: str
    text: str
    source: str


class Recording:
    """A recorded session.

    One pass over the file finds what stands where; the rest is read when asked for. A file that
    was cut off, or has garbage behind, is read up to there: ``problem`` says so.

    What spans all segments is here, what belongs to one world is in ``segments``. ``files``,
    ``layout`` and ``first_state`` are those of the first.

    Args:
        path: Name of the file.
        data: Its bytes.

    Raises:
        RecordingError: It is not a recording, or is cut off before its first state.
    """

    def __init__(self, path: Path, data: Data) -> None:
        self.path = path
        self._data = data
        self._index = Index(data)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Recording:
        """Opens a recording, whether its session ended, was killed or still runs."""
        path = Path(path)
        data = map_file(path)
        try:
            return Recording(path, data)
        except RecordingError as error:
            data.close()
            error.at(Origin(str(path)))
            raise

    @property
    def header(self) -> Header:
        """About the run: world, seed, versions, processor, command."""
        return self._index.header

    @property
    def complete(self) -> bool:
        """Whether the recorder closed the file; a killed session leaves it open."""
        return self._index.complete

    @property
    def problem(self) -> str:
        """What is wrong with the file and how much of it is left out; empty if nothing."""
        return self._index.problem

    @cached_property
    def segments(self) -> list[Segment]:
        """The parts in which the world did not change; one if it never did."""
        count = len(self._index.stretches)
        return [Segment(self._data, self._index, number) for number in range(count)]

    @property
    def files(self) -> Files:
        """Every source of the first world by relative name."""
        return self.segments[0].files

    @property
    def layout(self) -> dict[str, Field]:
        """Blocks of the first world's state by name."""
        return self.segments[0].layout

    @property
    def first_state(self) -> bytes:
        """State of the first step: little-endian float64."""
        return self.segments[0].first_state

    @property
    def keyframes(self) -> Rows[tuple[int, bytes]]:
        """Steps and states of all segments, without the first of each."""
        series = self._index.series["state"]
        firsts = {stretch.first["state"] for stretch in self._index.stretches}
        return Rows(self._data, series, [n for n in range(len(series)) if n not in firsts], keep)

    @property
    def inbox(self) -> Rows[tuple[int, bytes]]:
        """Steps and messages that were applied at them, in order."""
        return self._rows("inbox")

    @property
    def hashes(self) -> dict[int, str]:
        """Hash of the state, in hexadecimal, by step; the later where two worlds share a step."""
        return read_hashes(self._rows("hash"))

    @property
    def frames(self) -> Blocks:
        """Poses of the bodies for viewing, each nb×7 float32."""
        series = self._index.series["frame"]
        return Blocks(self._data, series, range(len(series)), poses)

    @cached_property
    def events(self) -> list[Event]:
        """What happened, in order."""
        rows = self._rows("event")
        found: list[Event] = []
        for (step, payload), time in zip(rows, rows.times, strict=True):
            notice = decode(payload, Notice, f"event of step {step}")
            found.append(Event(step, float(time), notice.level, notice.text, notice.source))
        return found

    @property
    def first_step(self) -> int:
        """Step of the first state."""
        return self._index.stretches[0].clock.step

    @property
    def last_step(self) -> int:
        """Highest step of anything recorded."""
        return self._index.last_step

    @property
    def duration(self) -> float:
        """Simulated time from the first step to the last [s]."""
        first, last = self._index.stretches[0].clock, self._index.stretches[-1].clock
        elapsed = last.nanoseconds(self.last_step) - first.nanoseconds(first.step)
        return elapsed / 1e9

    def check(self) -> None:
        """Reads every byte and compares with the checksum that the recorder left.

        A recording that was not closed has none and passes.

        Raises:
            RecordingError: Bytes were changed since.
        """
        crc = 0
        for start in range(0, self._index.whole, _PIECE):
            crc = zlib.crc32(self._data[start : min(start + _PIECE, self._index.whole)], crc)
        if self._index.checksum not in (0, crc):
            raise RecordingError(
                "bytes of this recording were changed: its checksum differs.",
                origin=Origin(str(self.path)),
            )

    def close(self) -> None:
        """Lets go of the file; rows not yet read cannot be read any more."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rows(self, topic: str) -> Rows[tuple[int, bytes]]:
        series = self._index.series[topic]
        return Rows(self._data, series, range(len(series)), keep)
