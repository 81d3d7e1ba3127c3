"""How messages stand in a stream of bytes: length, kind, content."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from linkwork.session.link.limits import Limits, LinkError

HEADER = struct.Struct("<IB")  # length of the content [byte], kind

MESSAGE = 1
SNAPSHOT = 2
GOODBYE = 3
WELCOME = 4

# What may come after the handshake, whose last frame is the welcome.
_NAMES = {MESSAGE: "a message", SNAPSHOT: "a snapshot", GOODBYE: "a goodbye"}


def frame(kind: int, content: bytes) -> bytes:
    """Puts content into a frame."""
    return HEADER.pack(len(content), kind) + content


@dataclass(slots=True)
class Batch:
    """What one reading of a socket has brought.

    Attributes:
        messages: Messages or events, in order.
        snapshot: The newest snapshot.
        goodbye: Why the other end closes; nothing after it counts.
    """

    messages: list[bytes] = field(default_factory=list)
    snapshot: bytes | None = None
    goodbye: str | None = None


class FrameReader:
    """Cuts a stream into frames, holding no more than one unfinished frame.

    Args:
        limits: What one frame may hold.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rest = bytearray()

    def feed(self, data: bytes | memoryview, batch: Batch) -> None:
        """Adds the frames that ``data`` completes to a batch.

        Raises:
            LinkError: A frame is of a wrong kind or announces more than it may hold; those before
                it were added.
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

    def _cut(self, data: bytes | memoryview, batch: Batch) -> int:
        """Takes whole frames from the front; how far they reach [byte]."""
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
