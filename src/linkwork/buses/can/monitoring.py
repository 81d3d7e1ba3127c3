"""Monitoring of a CAN bus: its load, its frame log, the sender of each identifier."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Collection
from typing import NamedTuple

from linkwork.buses.can.frame import CanFrame
from linkwork.buses.can.node import CanNode


class LoadMeter:
    """Counts bits in short time slices, and computes the load of the last window.

    Args:
        bitrate: Bit rate of the bus [bit/s].
        window: Length of the window [s].
        slices: Number of slices in the window.
    """

    def __init__(self, bitrate: int, *, window: float = 1.0, slices: int = 20) -> None:
        self.bitrate = bitrate
        self.window = window
        self.total = 0
        self._slice = window / slices
        self._slices: deque[list[float]] = deque(maxlen=slices + 1)  # [start, bits]
        self._last: list[float] = [float("-inf"), 0.0]

    def add(self, bits: int, now: float) -> None:
        """Counts a frame that ends now."""
        self.total += bits
        self._go_back(now)
        last = self._last
        if now - last[0] < self._slice:
            last[1] += bits
        else:
            self._last = [now, bits]
            self._slices.append(self._last)

    def load(self, now: float) -> float:
        """Fraction of the window that was filled, 0…1; above 1 if frames exceed the bit rate.

        Args:
            now: Time on the same clock as :meth:`add` [s].
        """
        self._go_back(now)
        since = now - self.window
        bits = sum(count for start, count in self._slices if start > since)
        return bits / (self.bitrate * self.window)

    def _go_back(self, now: float) -> None:
        """Discards slices in the future: a scene may have been reset."""
        while self._slices and self._slices[-1][0] > now:
            self._slices.pop()
            self._last = self._slices[-1] if self._slices else [float("-inf"), 0.0]


class LogEntry(NamedTuple):
    """One line of the log.

    Attributes:
        number: Counts up from 1 without gaps; a reader asks for lines after the last it has.
        frame: The carried frame, with its time.
        sender: Name of the node that sent it; empty for an error frame of the bus.
        mark: Effect of a fault: empty, or ``dropped``, ``delayed``, ``corrupted``, ``duplicate``,
            ``destroyed``.
    """

    number: int
    frame: CanFrame
    sender: str
    mark: str = ""


_tuple = tuple.__new__  # twice as fast as the named tuple's constructor


class FrameLog:
    """Keeps the newest frames; older ones are dropped.

    Args:
        most: Maximum number of frames.

    Attributes:
        last: Number of the newest line.
        sender: Sender of its frame.
    """

    def __init__(self, most: int = 4096) -> None:
        self._entries: deque[LogEntry] = deque(maxlen=most)
        self._numbers = itertools.count(1)
        self.last = 0
        self.sender = ""

    def add(self, frame: CanFrame, sender: str, mark: str = "") -> None:
        """Adds a line."""
        self.last = number = next(self._numbers)
        self.sender = sender
        self._entries.append(_tuple(LogEntry, (number, frame, sender, mark)))

    def after(
        self, number: int = 0, *, ids: Collection[int] | None = None, most: int | None = None
    ) -> list[LogEntry]:
        """Lines after a number, oldest first.

        Args:
            number: The last line that the reader has; 0 for all.
            ids: Only these identifiers.
            most: Maximum number of lines, the newest.
        """
        new = min(self.last - number, len(self._entries))
        if new <= 0 or (most is not None and most <= 0):
            return []
        start = len(self._entries) - new
        chosen = [
            entry
            for entry in itertools.islice(self._entries, start, None)
            if ids is None or entry.frame.id in ids
        ]
        return chosen if most is None else chosen[-most:]


MAX_OWNERS = 8192  # maximum number of identifiers with remembered senders
MAX_DISPUTES = 64  # identifiers whose second sender was logged


class IdentifierOwners:
    """Remembers the first sender of each identifier.

    Args:
        emit: Called once for each identifier that has two senders.

    Attributes:
        conflicts: Frames whose identifier another node sends, too.
    """

    def __init__(self, emit: Callable[[str], None]) -> None:
        self.conflicts = 0
        self._emit = emit
        self._owners: dict[int, CanNode] = {}
        self._disputed: set[int] = set()

    def note(self, node: CanNode, frame: CanFrame) -> None:
        """Records that a node sends a frame."""
        key = frame.id | frame.extended << 31 | frame.remote << 30
        owner = self._owners.get(key)
        if owner is node:
            return
        if owner is None:
            if len(self._owners) >= MAX_OWNERS:
                self._owners.clear()
            if node.attached:
                self._owners[key] = node
            return
        self.conflicts += 1
        if key not in self._disputed and len(self._disputed) < MAX_DISPUTES:
            self._disputed.add(key)
            self._emit(f"{node.name} and {owner.name} both send {frame.address}.")

    def forget(self, node: CanNode) -> None:
        """Removes a node that has left."""
        for key in [key for key, owner in self._owners.items() if owner is node]:
            del self._owners[key]
