"""Backlog: the newest lines of the bus logs, for those who begin to look."""

from __future__ import annotations

from collections import deque

import msgspec

#: Lines that are kept, about, and messages that hold them.
MOST, MESSAGES = 1000, 200


class _Lines(msgspec.Struct):
    """Of a message with frames, what the server itself must know."""

    lines: list[msgspec.Raw]


class Backlog:
    """Keeps messages with frames as they are, the newest of them."""

    def __init__(self) -> None:
        self._texts: deque[tuple[str, int]] = deque()
        self._count = 0

    @property
    def texts(self) -> list[str]:
        """The messages, oldest first."""
        return [text for text, _ in self._texts]

    def add(self, text: str) -> None:
        """Keeps a message; old ones make room."""
        lines = len(msgspec.json.decode(text, type=_Lines).lines)
        self._texts.append((text, lines))
        self._count += lines
        while self._count - self._texts[0][1] >= MOST or len(self._texts) > MESSAGES:
            self._count -= self._texts.popleft()[1]

    def clear(self) -> None:
        """Forgets all: another scene runs, or another version of it."""
        self._texts.clear()
        self._count = 0
