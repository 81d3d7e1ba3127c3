"""How messages stand in a stream of bytes: length, kind, content."""

from __future__ import annotations

import struct

from linkwork.session.link.limits import Limits, LinkError

HEADER = struct.Struct("<IB")  # length of the content [byte], kind

MESSAGE = 1
SNAPSHOT = 2
GOODBYE = 3
WELCOME = 4

Frame = tuple[int, bytes]

_NAMES = {MESSAGE: "a message", SNAPSHOT: "a snapshot", GOODBYE: "a goodbye", WELCOME: "a welcome"}


def frame(kind: int, content: bytes) -> bytes:
    """Puts content into a frame."""
    return HEADER.pack(len(content), kind) + content


class FrameReader:
    """Cuts a stream into frames, holding no more than one unfinished frame.

    Args:
        limits: What one frame may hold.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rest = bytearray()

    def feed(self, data: bytes | memoryview, frames: list[Frame]) -> None:
        """Appends the frames that ``data`` completes.

        Raises:
            LinkError: A frame is of no known kind or announces more than it may hold; those before
                it were appended.
        """
        if self._rest:
            self._rest += data
            data = memoryview(self._rest)
        else:
            data = memoryview(data)
        with data:
            start = self._cut(data, frames)
            rest = bytearray(data[start:]) if start else None
            if not self._rest and rest is None:
                rest = bytearray(data)
        if rest is not None:
            self._rest = rest

    def _cut(self, data: memoryview, frames: list[Frame]) -> int:
        start, end = 0, len(data)
        while end - start >= HEADER.size:
            size, kind = HEADER.unpack_from(data, start)
            if kind not in _NAMES:
                raise LinkError(f"a frame of unknown kind {kind} came over the link.")
            if size > self._limits.message:
                raise LinkError(self._limits.oversize(size, _NAMES[kind]))
            after = start + HEADER.size + size
            if after > end:
                break
            frames.append((kind, bytes(data[start + HEADER.size : after])))
            start = after
        return start
