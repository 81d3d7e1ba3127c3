"""Stream: brings one client what it is to see; a client that stalls misses pictures, no more."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

import numpy as np

from linkwork.server.messages import CONTACTS, GHOST, HEADER, IN_FLIGHT, POSES, SIGNALS
from linkwork.server.relay import Picture

#: Texts that may wait for a client before it is sent away, and their bytes.
MOST_TEXTS, MOST_BYTES = 2000, 16 * 2**20


class Socket(Protocol):
    """What a stream sends through."""

    async def send_text(self, data: str) -> None:
        """Sends a text frame."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Sends a binary frame."""
        ...


class Frames:
    """A picture as binary frames; what is the same for all clients is made once."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.poses = self._frame(POSES, picture.poses, 28)
        self.contacts = self._frame(CONTACTS, picture.contacts, 28)
        self.ghost = self._frame(GHOST, picture.ghost, 28) if picture.ghost else b""
        self.status = picture.status.decode()
        self._values: np.ndarray | None = None

    def signals(self, number: int, rows: np.ndarray) -> bytes:
        """A client's values: rows of all watched ones."""
        if self._values is None:
            self._values = np.frombuffer(self.picture.values)
        return self._frame(SIGNALS, self._values[rows].tobytes(), 8, number & 255)

    def _frame(self, kind: int, data: bytes, size: int, flags: int = 0) -> bytes:
        picture = self.picture
        return HEADER.pack(kind, flags, len(data) // size, picture.version, picture.time) + data


class Stream:
    """What is on its way to one client.

    Texts are ordered and none is lost; of pictures the newest wins, and at most
    :data:`~linkwork.server.messages.IN_FLIGHT` are sent before the client has acknowledged one.

    Attributes:
        signals: Names that the client watches.
        number: Number of that watch.
        rows: Where they stand among all watched ones; None until the session has them.
        look: Number of the session's look that ``rows`` belongs to.
        contacts, ghost: Whether the client wants to see them.
    """

    def __init__(self, socket: Socket) -> None:
        self.signals: list[str] = []
        self.number = 0
        self.rows: np.ndarray | None = None
        self.look = 0
        self.contacts = self.ghost = False
        self._socket = socket
        self._texts: deque[str] = deque()
        self._waiting = 0
        self._newest: Frames | None = None
        self._status = ""
        self._sent = self._acknowledged = 0
        self._wake = asyncio.Event()
        self.overrun = False

    def text(self, text: str) -> None:
        """Puts a text on its way; a client that lets too many wait is given up."""
        self._texts.append(text)
        self._waiting += len(text)
        self.overrun = len(self._texts) > MOST_TEXTS or self._waiting > MOST_BYTES
        self._wake.set()

    def show(self, frames: Frames) -> None:
        """Puts a picture in the place of one that still waits."""
        self._newest = frames
        self._wake.set()

    def forget(self) -> None:
        """Forgets the picture that waits: there is nothing to see any more."""
        self._newest = None

    def acknowledge(self, frames: int) -> None:
        """The client has received so many pictures."""
        self._acknowledged = min(max(frames, self._acknowledged), self._sent)
        self._wake.set()

    async def run(self) -> None:
        """Sends until cancelled, or until the client is gone or given up."""
        while not self.overrun:
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
        socket = self._socket
        self._sent += 1
        await socket.send_bytes(frames.poses)
        if self.rows is not None and len(self.rows) and frames.picture.look == self.look:
            await socket.send_bytes(frames.signals(self.number, self.rows))
        if self.contacts:
            await socket.send_bytes(frames.contacts)
        if self.ghost and frames.ghost:
            await socket.send_bytes(frames.ghost)
        if frames.status != self._status:
            self._status = frames.status
            await socket.send_text(frames.status)
