"""Stream: brings one client what it is to see; a client that stalls misses pictures, no more."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

import numpy as np

from linkwork.server.messages import (
    BLOCK,
    HEADER,
    IMAGE,
    IMAGE_HEAD,
    IMAGE_STEP,
    IN_FLIGHT,
    PICTURE,
    POSES,
    SIGNALS,
)
from linkwork.server.relay import Picture

#: Texts that may wait for a client before it is sent away, and their bytes.
MOST_TEXTS, MOST_BYTES = 2000, 16 * 2**20
#: A client that lets so many texts wait misses what is only looked at.
FEW_TEXTS = 20


class Socket(Protocol):
    """What a stream sends through."""

    async def send_text(self, data: str) -> None:
        """Sends a text frame."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Sends a binary frame."""
        ...


class Frames:
    """A picture as binary frames; what is the same for several clients is made once."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.status = picture.status.decode()
        self._common = HEADER.pack(PICTURE, 0, 0, picture.version, picture.time) + _block(
            POSES, picture.poses
        )
        self._values: np.ndarray | None = None
        self._blocks: dict[int, bytes] = {}
        self._made: dict[tuple[tuple[int, ...], int, bytes], bytes] = {}

    def frame(self, blocks: tuple[int, ...], number: int, rows: np.ndarray | None) -> bytes:
        """The picture as one client asked for it.

        Args:
            blocks: Kinds of blocks besides poses and signals.
            number: Number of its watch.
            rows: Where its signals stand among all watched ones; None if they are not there yet.
        """
        key = (blocks, number, b"" if rows is None else rows.tobytes())
        made = self._made.get(key)
        if made is None:
            pieces = [self._common]
            if rows is not None and len(rows):
                pieces.append(self._signals(number, rows))
            pieces += [self._block(kind) for kind in blocks if kind in self.picture.blocks]
            made = self._made[key] = b"".join(pieces)
        return made

    def _signals(self, number: int, rows: np.ndarray) -> bytes:
        if self._values is None:
            self._values = np.frombuffer(self.picture.values)
        return _block(SIGNALS, self._values[rows].tobytes(), number & 0xFFFF)

    def _block(self, kind: int) -> bytes:
        if kind not in self._blocks:
            number, kind_only = divmod(kind, IMAGE_STEP)
            self._blocks[kind] = _block(kind_only, self.picture.blocks[kind], number)
        return self._blocks[kind]


def _block(kind: int, data: bytes, flags: int = 0) -> bytes:
    return BLOCK.pack(kind, flags, len(data)) + data + bytes(-len(data) % 8)


class Stream:
    """What is on its way to one client.

    Texts are ordered and none is lost; of pictures the newest wins, and at most
    :data:`~linkwork.server.messages.IN_FLIGHT` are sent before the client has acknowledged one.

    Attributes:
        signals: Names that the client watches.
        number: Number of that watch.
        rows: Where they stand among all watched ones; None until the session has them.
        look: Number of the session's look that ``rows`` belongs to.
        blocks: Kinds of blocks that it wants to see besides.
        images: Heads of the cameras' pictures that it was sent last, by block.
        given_up: Set when too much waits for the client; nothing is kept for it any more.
    """

    def __init__(self, socket: Socket) -> None:
        self.signals: list[str] = []
        self.number = 0
        self.rows: np.ndarray | None = None
        self.look = 0
        self.blocks: tuple[int, ...] = ()
        self.images: dict[int, bytes] = {}
        self._socket = socket
        self._texts: deque[str] = deque()
        self._waiting = 0
        self._newest: Frames | None = None
        self._status = ""
        self._sent = self._acknowledged = 0
        self._wake = asyncio.Event()
        self.given_up = asyncio.Event()

    def text(self, text: str) -> None:
        """Puts a text on its way; a client that lets too many wait is given up."""
        if self.given_up.is_set():
            return
        self._texts.append(text)
        self._waiting += len(text)
        if len(self._texts) > MOST_TEXTS or self._waiting > MOST_BYTES:
            self._texts.clear()
            self._waiting, self._newest = 0, None
            self.given_up.set()
        self._wake.set()

    def glimpse(self, text: str) -> None:
        """Puts a text on its way that a client may miss, if it does not stall."""
        if len(self._texts) < FEW_TEXTS:
            self.text(text)

    def show(self, frames: Frames) -> None:
        """Puts a picture in the place of one that still waits."""
        if self.given_up.is_set():
            return
        self._newest = frames
        self._wake.set()

    def forget(self) -> None:
        """Forgets the picture that waits: there is nothing to see any more."""
        self._newest = None
        self.images.clear()

    def acknowledge(self, frames: int) -> None:
        """The client has received so many pictures."""
        self._acknowledged = min(max(frames, self._acknowledged), self._sent)
        if self._newest is not None:
            self._wake.set()

    async def run(self) -> None:
        """Sends until cancelled, or until the client is gone or given up."""
        while not self.given_up.is_set():
            await self._wake.wait()
            self._wake.clear()
            while self._texts:
                text = self._texts.popleft()
                self._waiting -= len(text)
                await self._socket.send_text(text)
            frames = self._newest
            if frames is not None and self._sent - self._acknowledged < IN_FLIGHT:
                self._newest = None
                await self._send(frames)

    async def _send(self, frames: Frames) -> None:
        self._sent += 1
        rows = self.rows if frames.picture.look == self.look else None
        blocks = self._new_blocks(frames.picture.blocks)
        await self._socket.send_bytes(frames.frame(blocks, self.number, rows))
        if frames.status != self._status:
            self._status = frames.status
            await self._socket.send_text(frames.status)

    def _new_blocks(self, found: dict[int, bytes]) -> tuple[int, ...]:
        """The blocks to send: of cameras only pictures that were not sent yet."""
        blocks = []
        for kind in self.blocks:
            if kind % IMAGE_STEP == IMAGE:
                head = found.get(kind, b"")[: IMAGE_HEAD.size]
                if not head or self.images.get(kind) == head:
                    continue
                self.images[kind] = head
            blocks.append(kind)
        return tuple(blocks)
