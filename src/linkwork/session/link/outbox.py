"""What is to be sent over one socket: events in order, of snapshots only the newest."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Sequence

from linkwork.session.link.frames import HEADER, SNAPSHOT
from linkwork.session.link.limits import BOOKKEEPING

_BLOCK = 1 << 16  # frames leave together up to about this size [byte]
_SMALL = 1 << 12  # contents below this size are copied into one block with others [byte]
_GATHERS = hasattr(socket.socket, "sendmsg")  # not on Windows


class Outbox:
    """A queue in which a snapshot keeps its place and is exchanged for a newer one.

    So an event never overtakes the snapshot published before it, and a slow reader misses
    snapshots only. What finds the queue empty is sent at once, without blocking. Not thread safe.

    Every method that sends raises ``OSError`` if the socket is broken.

    Args:
        sock: A socket that does not block.

    Attributes:
        waiting: What the queued frames weigh, snapshots apart [byte].
    """

    def __init__(self, sock: socket.socket) -> None:
        self.waiting = 0
        self._sock = sock
        # What cannot be taken back, because its first part may be half sent.
        self._leaving: deque[bytes | memoryview] = deque()
        self._queue: deque[tuple[int, bytes | None]] = deque()
        self._snapshot: bytes | None = None

    @property
    def empty(self) -> bool:
        """Whether all was sent."""
        return not self._leaving and not self._queue

    def put(self, kind: int, contents: Sequence[bytes]) -> None:
        """Sends frames of one kind or queues them."""
        idle = self.empty
        if idle and len(contents) == 1:
            if self._send_alone(kind, contents[0]):
                return
            idle = False
        for content in contents:
            self._queue.append((kind, content))
            self.waiting += len(content) + BOOKKEEPING
        if idle:
            self.send()

    def put_snapshot(self, snapshot: bytes) -> None:
        """Sends a snapshot, queues it, or exchanges the one that waits."""
        if self.empty and self._send_alone(SNAPSHOT, snapshot):
            return
        if self._snapshot is None:
            self._queue.append((SNAPSHOT, None))
        self._snapshot = snapshot

    def send(self) -> None:
        """Sends about a block, as far as the socket takes it."""
        if not self._leaving:
            self._load()
        if self._leaving:
            self._depart(self._offer(self._leaving))

    def discard(self) -> None:
        """Forgets what has not begun to leave."""
        self._queue.clear()
        self._snapshot = None
        self.waiting = 0

    def clear(self) -> None:
        """Forgets everything."""
        self.discard()
        self._leaving.clear()

    def _send_alone(self, kind: int, content: bytes) -> bool:
        """Sends a frame; false if the socket has no room at all for it."""
        header = HEADER.pack(len(content), kind)
        parts = (header + content,) if len(content) < _SMALL else (header, content)
        sent = self._offer(parts)
        if sent and sent < len(header) + len(content):
            self._leaving += parts
            self._depart(sent)
        return sent > 0

    def _load(self) -> None:
        """Moves frames from the queue to what leaves, up to a block."""
        joined: list[bytes] = []
        size = 0
        while self._queue and size < _BLOCK:
            kind, content = self._queue.popleft()
            if content is None:
                content, self._snapshot = self._snapshot or b"", None
            else:
                self.waiting -= len(content) + BOOKKEEPING
            joined.append(HEADER.pack(len(content), kind))
            size += HEADER.size + len(content)
            if len(content) < _SMALL:
                joined.append(content)
            else:
                self._leaving += (b"".join(joined), content)
                joined.clear()
        if joined:
            self._leaving.append(b"".join(joined))

    def _depart(self, sent: int) -> None:
        """Forgets the first ``sent`` bytes of what leaves."""
        while sent:
            first = self._leaving[0]
            if sent < len(first):
                self._leaving[0] = memoryview(first)[sent:]
                return
            sent -= len(first)
            self._leaving.popleft()

    def _offer(self, parts: Sequence[bytes | memoryview]) -> int:
        """How much of some parts the socket takes [byte]."""
        try:
            if len(parts) == 1:
                return self._sock.send(parts[0])
            if _GATHERS:
                return self._sock.sendmsg(parts)
            return self._sock.send(b"".join(parts))
        except (BlockingIOError, InterruptedError):
            return 0
