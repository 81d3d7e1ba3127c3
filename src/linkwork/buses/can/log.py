"""The last frames of the bus and what became of them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection
from typing import NamedTuple

from linkwork.buses.can.frame import Frame


class Entry(NamedTuple):
    """One line of the log.

    Attributes:
        number: Counts up from 1 without gaps; a reader asks for what came after the last it saw.
        frame: The frame as the bus carried it, with its time.
        sender: Name of the node that sent it; empty for an error frame of the bus.
        mark: What was done to it: empty, or ``dropped``, ``delayed``, ``corrupted``,
            ``duplicate``, ``destroyed``.
    """

    number: int
    frame: Frame
    sender: str
    mark: str = ""


_tuple = tuple.__new__  # a named tuple's own way in costs twice as much


class FrameLog:
    """Keeps the newest frames; older ones fall out.

    Args:
        most: How many.

    Attributes:
        last: Number of the newest line.
        sender: Who sent its frame.
    """

    def __init__(self, most: int = 4096) -> None:
        self._entries: deque[Entry] = deque(maxlen=most)
        self._numbers = itertools.count(1)
        self.last = 0
        self.sender = ""

    def add(self, frame: Frame, sender: str, mark: str = "") -> None:
        """Writes a line."""
        self.last = number = next(self._numbers)
        self.sender = sender
        self._entries.append(_tuple(Entry, (number, frame, sender, mark)))

    def after(
        self, number: int = 0, *, ids: Collection[int] | None = None, most: int | None = None
    ) -> list[Entry]:
        """Lines after a number, oldest first.

        Args:
            number: The last line that the reader has; 0 for all.
            ids: Only these identifiers.
            most: Only so many of the newest.
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
