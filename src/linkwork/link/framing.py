"""Framing: messages in a byte stream as length, kind, content."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from linkwork.link.limits import BOOKKEEPING, LinkError, LinkLimits

HEADER = struct.Struct("<IB")  # length of the content [byte], kind

MESSAGE = 1
SNAPSHOT = 2
GOODBYE = 3
WELCOME = 4

# Kinds allowed after the handshake, whose last frame is the welcome.
_NAMES = {MESSAGE: "a message", SNAPSHOT: "a snapshot", GOODBYE: "a goodbye"}


def frame(kind: int, content: bytes) -> bytes:
    """Puts content into a frame."""
    return HEADER.pack(len(content), kind) + content


@dataclass(slots=True)
class FrameBatch:
    """The frames of one read of a socket.

    Attributes:
        messages: Messages or events, in order.
        snapshot: The newest snapshot.
        goodbye: Why the other end closes; anything after it is ignored.
    """

    messages: list[bytes] = field(default_factory=list)
    snapshot: bytes | None = None
    goodbye: str | None = None


class FrameReader:
    """Splits a stream into frames, buffering at most one unfinished frame.

    Args:
        limits: Limits of a frame.
    """

    def __init__(self, limits: LinkLimits) -> None:
        self._limits = limits
        self._rest = bytearray()

    def feed(self, data: bytes | memoryview, batch: FrameBatch) -> None:
        """Adds the frames that ``data`` completes to a batch.

        Raises:
            LinkError: A frame has a wrong kind or is too long; earlier frames were added.
        """
        if self._rest:
            self._rest += data
            with memoryview(self._rest) as view:
                start = self._cut(view, batch)
            del self._rest[:start]
        else:
            start = self._cut(data, batch)
            if start < len(data):
                self._rest += data[start:]

    def _cut(self, data: bytes | memoryview, batch: FrameBatch) -> int:
        """Removes complete frames from the front; returns their length [byte]."""
        start, end = 0, len(data)
        while end - start >= HEADER.size and batch.goodbye is None:
            size, kind = HEADER.unpack_from(data, start)
            if kind not in _NAMES:
                raise LinkError(f"a frame of unknown kind {kind} came over the link.")
            if size > self._limits.message:
                raise LinkError(self._limits.oversize(size, _NAMES[kind]))
            first = start + HEADER.size
            start = first + size
            if start > end:
                return first - HEADER.size
            content = bytes(data[first:start])
            if kind == MESSAGE:
                batch.messages.append(content)
            elif kind == SNAPSHOT:
                batch.snapshot = content
            else:
                batch.goodbye = content.decode(errors="replace")
        return start


_BLOCK = 1 << 16  # frames are sent together up to about this size [byte]
_SMALL = 1 << 12  # contents below this size are copied into one block with others [byte]
_GATHERS = hasattr(socket.socket, "sendmsg")  # not on Windows


class SendQueue:
    """A queue in which a newer snapshot replaces a waiting one in its position.

    Thus an event never overtakes the snapshot published before it, and a slow reader misses
    snapshots only. Data that finds the queue empty is sent at once, without blocking. Not thread
    safe.

    Every method that sends raises ``OSError`` if the socket is broken.

    Args:
        sock: A non-blocking socket.

    Attributes:
        waiting: Size of the queued frames, without snapshots [byte].
    """

    def __init__(self, sock: socket.socket) -> None:
        self.waiting = 0
        self._sock = sock
        # Cannot be withdrawn, because its first part may be half sent.
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
        """Sends a snapshot, queues it, or replaces a waiting one."""
        if self.empty and self._send_alone(SNAPSHOT, snapshot):
            return
        if self._snapshot is None:
            self._queue.append((SNAPSHOT, None))
        self._snapshot = snapshot

    def send(self) -> None:
        """Sends about a block, as far as the socket accepts it."""
        if not self._leaving:
            self._load()
        if self._leaving:
            self._depart(self._offer(self._leaving))

    def discard(self) -> None:
        """Discards frames that have not begun to be sent."""
        self._queue.clear()
        self._snapshot = None
        self.waiting = 0

    def clear(self) -> None:
        """Discards everything."""
        self.discard()
        self._leaving.clear()

    def _send_alone(self, kind: int, content: bytes) -> bool:
        """Sends a frame; returns False if the socket accepts none of it."""
        header = HEADER.pack(len(content), kind)
        parts = (header + content,) if len(content) < _SMALL else (header, content)
        sent = self._offer(parts)
        if sent and sent < len(header) + len(content):
            self._leaving += parts
            self._depart(sent)
        return sent > 0

    def _load(self) -> None:
        """Moves frames from the queue to the send buffer, up to a block."""
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
        """Removes the first ``sent`` bytes of the send buffer."""
        while sent:
            first = self._leaving[0]
            if sent < len(first):
                self._leaving[0] = memoryview(first)[sent:]
                return
            sent -= len(first)
            self._leaving.popleft()

    def _offer(self, parts: Sequence[bytes | memoryview]) -> int:
        """Number of bytes of some parts that the socket accepts."""
        try:
            if len(parts) == 1:
                return self._sock.send(parts[0])
            if _GATHERS:
                return self._sock.sendmsg(parts)
            return self._sock.send(b"".join(parts))
        except (BlockingIOError, InterruptedError):
            return 0
