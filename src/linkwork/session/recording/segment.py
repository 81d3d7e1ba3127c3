"""Segment: the part of a recording in which the world does not change."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar, overload

import numpy as np

from linkwork.core.errors import DamagedRecording, RecordingError, not_found
from linkwork.core.state import Field
from linkwork.session.recording.header import NUMBER, RecordedWorld, slot_name
from linkwork.session.recording.index import LOST_ATTACHMENT, Index, SegmentIndex, Series
from linkwork.session.recording.mcap_format import PREFIX, Data, McapAttachment

T = TypeVar("T")


class MessageSequence(Sequence[T], Generic[T]):
    """A range of the messages of one channel.

    Args:
        data: The file.
        series: Positions of the messages.
        numbers: Their indices, in order.
        decode: Makes an item from a step and a payload.
    """

    def __init__(
        self, data: Data, series: Series, numbers: Sequence[int], decode: Callable[[int, bytes], T]
    ) -> None:
        self._data = data
        self._series = series
        self._numbers = numbers
        self._decode = decode

    @property
    def steps(self) -> np.ndarray:
        """Step of each (int64)."""
        return np.asarray(self._series.steps, np.int64)[self._numbers]

    @property
    def times(self) -> np.ndarray:
        """Simulated time of each [s]."""
        return np.asarray(self._series.times, np.uint64)[self._numbers] / 1e9

    def at(self, time: float) -> int:
        """Index of the last one at or before a time [s]; −1 if all are later."""
        times = self._series.times
        return bisect_right(self._numbers, time * 1e9 + 0.5, key=times.__getitem__) - 1

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._item(number) for number in self._numbers[index]]
        return self._item(self._numbers[index])

    def _item(self, number: int) -> T:
        series = self._series
        start = series.starts[number]
        try:
            payload = self._data[start : start + series.sizes[number]]
        except ValueError:
            raise RecordingError("the recording is closed.") from None
        return self._decode(series.steps[number], payload)


class ArraySequence(MessageSequence[np.ndarray]):
    """Messages that are arrays: frames or samples of signals."""

    def stacked(self) -> np.ndarray:
        """All of them as one array, the first axis along time.

        Raises:
            RecordingError: Their shapes differ, because the world changed in between.
        """
        items = list(self)
        if not items:
            return self._decode(0, b"")[np.newaxis][:0]
        if any(item.shape != items[0].shape for item in items):
            raise RecordingError(
                "the recorded world changed, and with it the shape of its blocks.",
                hint="Stack those of one segment at a time.",
            )
        return np.stack(items)


def raw_payload(step: int, payload: bytes) -> tuple[int, bytes]:
    """Returns a step and its raw payload."""
    return step, payload


def poses(step: int, payload: bytes) -> np.ndarray:
    """Poses of the bodies (nb×7, float32)."""
    del step
    return np.frombuffer(payload, "<f4").reshape(-1, 7)


def values(step: int, payload: bytes) -> np.ndarray:
    """Values of signals (float64)."""
    del step
    return np.frombuffer(payload, "<f8")


class Files(Mapping[str, bytes]):
    """Recorded files by name, read on demand.

    Args:
        data: The recording's file.
        attachments: Position of each.
    """

    def __init__(self, data: Data, attachments: dict[str, McapAttachment]) -> None:
        self._data = data
        self._attachments = attachments

    def __getitem__(self, name: str) -> bytes:
        place = self._attachments[name]
        if place is LOST_ATTACHMENT:
            raise DamagedRecording(f"the recorded file {name!r} is lost: its bytes are damaged.")
        content = place.offset + PREFIX.size
        try:
            record = self._data[content : place.offset + place.length]
        except ValueError:
            raise RecordingError("the recording is closed.") from None
        if zlib.crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
            raise DamagedRecording(f"the recorded file {name!r} is damaged: its checksum differs.")
        return record[place.start - content : -4]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attachments)

    def __len__(self) -> int:
        return len(self._attachments)

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
        index: Index of the file.
        number: Index of the segment, from 0.

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
        self._stretch: SegmentIndex = index.stretches[number]
        self.number = number
        self.world: RecordedWorld = self._stretch.world
        self.files = Files(data, self._stretch.files)
        self.first_step = self._stretch.first_step
        self.first_time = self._stretch.clock.nanoseconds(self.first_step) / 1e9
        spans = ((index.series[topic], self._span(topic)) for topic in index.series)
        self.last_step = max(series.steps[span[-1]] for series, span in spans if span)

    @property
    def layout(self) -> dict[str, Field]:
        """Blocks of the state by their present names."""
        return {slot_name(field.name): field for field in self.world.layout}

    @property
    def first_state(self) -> bytes:
        """State of the first step: little-endian float64."""
        states = self._rows("state")
        return states[0][1]

    @property
    def keyframes(self) -> MessageSequence[tuple[int, bytes]]:
        """Steps and states, without the first."""
        return MessageSequence(
            self._data, self._index.series["state"], self._span("state")[1:], raw_payload
        )

    @property
    def inbox(self) -> MessageSequence[tuple[int, bytes]]:
        """Steps and messages that were applied at them, in order."""
        return self._rows("inbox")

    @property
    def frames(self) -> ArraySequence:
        """Poses of the bodies for viewing, each nb×7 float32."""
        return ArraySequence(self._data, self._index.series["frame"], self._span("frame"), poses)

    @property
    def signals(self) -> ArraySequence:
        """Samples of the signals in ``world.signals``, each float64."""
        return ArraySequence(
            self._data, self._index.series["signals"], self._span("signals"), values
        )

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
            RecordingError: The state does not belong to this world.
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

    def _rows(self, topic: str) -> MessageSequence[tuple[int, bytes]]:
        return MessageSequence(
            self._data, self._index.series[topic], self._span(topic), raw_payload
        )

    def _span(self, topic: str) -> range:
        after, stretches = self.number + 1, self._index.stretches
        last = after == len(stretches)
        stop = len(self._index.series[topic]) if last else stretches[after].first[topic]
        return range(self._stretch.first[topic], stop)


def read_hashes(rows: MessageSequence[tuple[int, bytes]]) -> dict[int, str]:
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
