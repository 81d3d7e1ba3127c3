"""What waits to be sent over one socket: events in order, of snapshots only the newest."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterable

from linkwork.session.link.frames import HEADER, SNAPSHOT, frame
from linkwork.session.link.limits import BOOKKEEPING

# Small frames leave together in blocks of about this size [byte]; a larger one is not copied.
_BLOCK = 1 << 16


class Outbox:
    """A queue in which a snapshot keeps its place and is exchanged for a newer one.

    So an event never overtakes the snapshot published before it, and a slow reader misses
    snapshots only. Not thread safe.

    Attributes:
        waiting: What the queued frames weigh, snapshots apart [byte].
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._leaving: deque[memoryview] = deque()  # cannot be taken back: the first is half sent
        self._queue: deque[tuple[int, bytes | None]] = deque()
        self._snapshot: bytes | None = None

    @property
    def empty(self) -> bool:
        """Whether all was sent."""
        return not self._leaving and not self._queue

    def add(self, kind: int, contents: Iterable[bytes]) -> None:
        """Appends frames of one kind."""
        for content in contents:
            self._queue.append((kind, content))
            self.waiting += len(content) + BOOKKEEPING

    def put_snapshot(self, snapshot: bytes) -> None:
        """Appends a snapshot, or exchanges the one that waits."""
        if self._snapshot is None:
            self._queue.append((SNAPSHOT, None))
        self._snapshot = snapshot

    def discard(self) -> None:
        """Forgets what has not begun to leave."""
        self._queue.clear()
        self._snapshot = None
        self.waiting = 0

    def clear(self) -> None:
        """Forgets everything."""
        self.discard()
        self._leaving.clear()

    def send(self, sock: socket.socket) -> None:
        """Sends about a block, as far as the socket takes it without blocking.

        Raises:
            OSError: The socket is broken.
        """
        if not self._leaving:
            self._load()
        while self._leaving:
            block = self._leaving[0]
            try:
                sent = sock.send(block)
            except (BlockingIOError, InterruptedError):
                return
            if sent < len(block):
                self._leaving[0] = block[sent:]
                return
            self._leaving.popleft()

    def _load(self) -> None:
        """Moves frames from the queue to what leaves, up to a block."""
        parts: list[bytes] = []
        size = 0
        large: bytes | None = None
        while self._queue and size < _BLOCK and large is None:
            kind, content = self._queue.popleft()
            if content is None:
                content, self._snapshot = self._snapshot or b"", None
            else:
                self.waiting -= len(content) + BOOKKEEPING
            if len(content) > _BLOCK:
                parts.append(HEADER.pack(len(content), kind))
                large = content
            else:
                parts.append(frame(kind, content))
                size += len(parts[-1])
        if parts:
            self._leaving.append(memoryview(parts[0] if len(parts) == 1 else b"".join(parts)))
        if large is not None:
            self._leaving.append(memoryview(large))
