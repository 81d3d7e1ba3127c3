"""Recording: reads a recording file."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType

from linkwork.core.errors import DamagedRecording, ErrorRecord, Origin, RecordingError
from linkwork.core.state import Field
from linkwork.session.recording.damage import Damage, list_damage
from linkwork.session.recording.header import Header
from linkwork.session.recording.index import Index
from linkwork.session.recording.mcap_format import Data, map_file
from linkwork.session.recording.messages import EventMessage, decode
from linkwork.session.recording.segment import (
    ArraySequence,
    Files,
    MessageSequence,
    Segment,
    poses,
    raw_payload,
    read_hashes,
)

#: What is said of a recording without checksums of its records.
NOT_CHECKED = "its records have no checksums, as before format 2: they are not checked"


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """A recorded log entry.

    Attributes:
        step: Step.
        time: Simulated time [s].
        level: "info", "warning", "error" or another level of the session.
        text: Description of the event.
        source: Its source.
        simulated: Whether it was logged inside a step, so that a replay logs it, too.
        error: The reported error, or None.
    """

    step: int
    time: float
    level: str
    text: str
    source: str
    simulated: bool = False
    error: ErrorRecord | None = None


class Recording:
    """A recorded session.

    One pass over the file builds the index; contents are read on demand. A file that
    was truncated or damaged is read up to the damage, which ``problem`` describes.

    Data of all segments are attributes here, those of one world are in ``segments``. ``files``,
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
        """Opens a recording, whether its session ended, was killed or is still running."""
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
        """Description of the run: world, seed, versions, processor, command."""
        return self._index.header

    @property
    def complete(self) -> bool:
        """Whether the recorder closed the file, and its end is intact."""
        return self._index.complete

    @property
    def closed(self) -> bool:
        """Whether the recorder closed the file; a killed session leaves it open."""
        return self._index.closed

    @property
    def missing(self) -> list[Damage]:
        """What a repaired copy lacks of its original, whose bytes they name."""
        return self._index.missing

    @property
    def notes(self) -> list[str]:
        """Why it is not all of its run, though undamaged: it was cut off, or repaired."""
        found = []
        if self._index.note:
            found.append(self._index.note)
        elif not self.closed and not self.damage:
            found.append("it was not closed: its session was killed, or still runs")
        if self._index.repaired:
            listed = "; ".join(list_damage(self.missing)) or "its last event lists them"
            found.append(f"it is a repaired copy, which lacks parts of the original: {listed}")
        return found

    def time_of(self, step: int) -> float:
        """Simulated time of a step [s]."""
        worlds = self._index.stretches
        clock = next((w.clock for w in reversed(worlds) if w.clock.step <= step), worlds[0].clock)
        return clock.nanoseconds(step) / 1e9

    @property
    def steps(self) -> int:
        """Steps from the first one that was recorded, even if its state is damaged, to the last."""
        return self.last_step - self._index.stretches[0].clock.step

    @property
    def problem(self) -> str:
        """Damage of the file and how much of it is left out; empty if it is intact."""
        return self._index.problem

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments with an unchanged world; one if it never changed."""
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
    def keyframes(self) -> MessageSequence[tuple[int, bytes]]:
        """Steps and states of all segments, without the first of each."""
        series = self._index.series["state"]
        firsts = {stretch.first["state"] for stretch in self._index.stretches}
        return MessageSequence(
            self._data, series, [n for n in range(len(series)) if n not in firsts], raw_payload
        )

    @property
    def inbox(self) -> MessageSequence[tuple[int, bytes]]:
        """Steps and messages that were applied at them, in order."""
        return self._rows("inbox")

    @property
    def hashes(self) -> dict[int, str]:
        """Hash of the state, in hexadecimal, by step; the later where two worlds share a step."""
        return read_hashes(self._rows("hash"))

    @property
    def frames(self) -> ArraySequence:
        """Poses of the bodies for viewing, each nb×7 float32."""
        series = self._index.series["frame"]
        return ArraySequence(self._data, series, range(len(series)), poses)

    @cached_property
    def events(self) -> list[RecordedEvent]:
        """Events, in order."""
        rows = self._rows("event")
        found: list[RecordedEvent] = []
        for (step, payload), time in zip(rows, rows.times, strict=True):
            notice = decode(payload, EventMessage, f"event of step {step}")
            found.append(
                RecordedEvent(
                    step, float(time), notice.level, notice.text, notice.source,
                    notice.simulated, notice.error,
                )
            )  # fmt: skip
        return found

    @property
    def first_step(self) -> int:
        """Step of the first state."""
        return self._index.stretches[0].first_step

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

    @property
    def checked(self) -> bool:
        """Whether each record has a checksum; recordings of before format 2 have none."""
        return self._index.checked

    @property
    def damage(self) -> list[Damage]:
        """Damaged parts, in order; empty if the recording is intact."""
        return self._index.damage

    def check(self) -> None:
        """Refuses a damaged recording.

        Raises:
            DamagedRecording: Bytes were changed or lost.
        """
        if self.damage:
            raise DamagedRecording(
                f"this recording is damaged: {self.problem}.",
                hint="--repair writes a copy of its intact parts.",
                origin=Origin(str(self.path)),
            )

    def close(self) -> None:
        """Closes the file; rows not read yet can no longer be read."""
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

    def _rows(self, topic: str) -> MessageSequence[tuple[int, bytes]]:
        series = self._index.series[topic]
        return MessageSequence(self._data, series, range(len(series)), raw_payload)
