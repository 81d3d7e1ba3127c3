"""Messages of one channel as sequences that read the file only where they are asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

import numpy as np

from linkwork.errors import RecordingError
from linkwork.session.recording.index import Series
from linkwork.session.recording.scan import Data

T = TypeVar("T")


class Rows(Sequence[T], Generic[T]):
    """A stretch of the messages of one channel.

    Args:
        data: The file.
        series: Where the messages stand.
        numbers: Which of them, in order.
        decode: Makes the item of a step and a payload.
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
        """Number of the last one that is not after a time [s]; −1 if all are."""
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


class Blocks(Rows[np.ndarray]):
    """Messages that are arrays: frames or readings of signals."""

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


def keep(step: int, payload: bytes) -> tuple[int, bytes]:
    """A step and its payload as it is."""
    return step, payload


def poses(step: int, payload: bytes) -> np.ndarray:
    """Poses of the bodies (nb×7, float32)."""
    del step
    return np.frombuffer(payload, "<f4").reshape(-1, 7)


def values(step: int, payload: bytes) -> np.ndarray:
    """Values of signals (float64)."""
    del step
    return np.frombuffer(payload, "<f8")
