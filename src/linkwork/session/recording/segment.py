"""Segment: the part of a recording in which the world did not change."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from linkwork.errors import RecordingError, not_found
from linkwork.session.recording.container import PREFIX, Attachment
from linkwork.session.recording.index import Index, Stretch
from linkwork.session.recording.outline import NUMBER, Outline
from linkwork.session.recording.rows import Blocks, Rows, keep, poses, values
from linkwork.session.recording.scan import Data
from linkwork.state import Field


class Files(Mapping[str, bytes]):
    """Recorded files by name, read when asked for.

    Args:
        data: The recording's file.
        places: Where each stands.
    """

    def __init__(self, data: Data, places: dict[str, Attachment]) -> None:
        self._data = data
        self._places = places

    def __getitem__(self, name: str) -> bytes:
        place = self._places[name]
        content = place.offset + PREFIX.size
        try:
            record = self._data[content : place.offset + place.length]
        except ValueError:
            raise RecordingError("the recording is closed.") from None
        if zlib.crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
            raise RecordingError(f"the recorded file {name!r} is damaged: its checksum differs.")
        return record[place.start - content : -4]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def extract(self, folder: str | Path) -> list[Path]:
        """Writes all files into a folder, under their names.

        Raises:
            RecordingError: One of them is damaged or cannot be written.
        """
        written: list[Path] = []
        for name in self:
            path = Path(folder) / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self[name])
            except OSError as error:
                raise RecordingError(
                    f"the recorded file {name!r} cannot be written to {folder}: {error.strerror}."
                ) from None
            written.append(path)
        return written


class Segment:
    """The part of a recording in which the world did not change.

    Args:
        data: The recording's file.
        index: What stands where in it.
        number: Which segment, from 0.

    Attributes:
        number: Which segment, from 0.
        world: The world: scene, hash, step, layout, signals.
        files: Every source of the world by relative name.
        first_step: Step of its first state.
        first_time: Simulated time of that step [s].
        last_step: Highest step recorded in it.
    """

    def __init__(self, data: Data, index: Index, number: int) -> None:
        self._data = data
        self._index = index
        self._stretch: Stretch = index.stretches[number]
        self.number = number
        self.world: Outline = self._stretch.world
        self.files = Files(data, self._stretch.files)
        self.first_step = self._stretch.clock.step
        self.first_time = self._stretch.clock.nanoseconds(self.first_step) / 1e9
        spans = ((index.series[topic], self._span(topic)) for topic in index.series)
        self.last_step = max(series.steps[span[-1]] for series, span in spans if span)

    @property
    def layout(self) -> dict[str, Field]:
        """Blocks of the state by name."""
        return {field.name: field for field in self.world.layout}

    @property
    def first_state(self) -> bytes:
        """State of the first step: little-endian float64."""
        states = self._rows("state")
        return states[0][1]

    @property
    def keyframes(self) -> Rows[tuple[int, bytes]]:
        """Steps and states, without the first."""
        return Rows(self._data, self._index.series["state"], self._span("state")[1:], keep)

    @property
    def inbox(self) -> Rows[tuple[int, bytes]]:
        """Steps and messages that were applied at them, in order."""
        return self._rows("inbox")

    @property
    def frames(self) -> Blocks:
        """Poses of the bodies for viewing, each nb×7 float32."""
        return Blocks(self._data, self._index.series["frame"], self._span("frame"), poses)

    @property
    def signals(self) -> Blocks:
        """Readings of the signals that ``world.signals`` names, each float64."""
        return Blocks(self._data, self._index.series["signals"], self._span("signals"), values)

    @property
    def hashes(self) -> dict[int, str]:
        """Hash of the state, in hexadecimal, by step."""
        return read_hashes(self._rows("hash"))

    def block(self, name: str, state: bytes) -> np.ndarray:
        """A block of a recorded state, shaped as in the state (read only).

        Args:
            name: Block, "q" or "pose" for example.
            state: The first state or that of a keyframe.

        Raises:
            NameNotFound: The world has no such block.
            RecordingError: The state is not one of this world.
        """
        field = self.layout.get(name)
        if field is None:
            raise not_found("block", name, self.layout)
        if len(state) != self.world.state_bytes:
            raise RecordingError(
                f"a state of segment {self.number} has {self.world.state_bytes} bytes, "
                f"not {len(state)}."
            )
        kind = "<i8" if field.integer else "<f8"
        return np.frombuffer(state, kind, field.size, NUMBER * field.offset).reshape(field.shape)

    def _rows(self, topic: str) -> Rows[tuple[int, bytes]]:
        return Rows(self._data, self._index.series[topic], self._span(topic), keep)

    def _span(self, topic: str) -> range:
        after, stretches = self.number + 1, self._index.stretches
        last = after == len(stretches)
        stop = len(self._index.series[topic]) if last else stretches[after].first[topic]
        return range(self._stretch.first[topic], stop)


def read_hashes(rows: Rows[tuple[int, bytes]]) -> dict[int, str]:
    """Hashes by step.

    Raises:
        RecordingError: One is not hexadecimal.
    """
    found: dict[int, str] = {}
    for step, payload in rows:
        try:
            bytes.fromhex(payload.decode("ascii"))
        except ValueError:
            raise RecordingError(f"the recorded hash of step {step} is damaged.") from None
        found[step] = payload.decode("ascii")
    return found
