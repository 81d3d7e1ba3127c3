"""Stream: sends one client its messages; a client that stalls only misses snapshots."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

import numpy as np

from linkwork.studio.protocol import (
    BLOCK,
    HEADER,
    IMAGE,
    IMAGE_HEAD,
    IMAGE_STEP,
    MAX_IN_FLIGHT,
    POSES,
    SIGNALS,
    SNAPSHOT,
)
from linkwork.studio.protocol.link_messages import Snapshot

#: Maximum number of texts that wait for a client before it is dropped, and their bytes.
MAX_TEXTS, MAX_BYTES = 2000, 16 * 2**20
#: A client with this many waiting texts misses optional texts.
IDLE_TEXTS = 20


class Socket(Protocol):
    """The interface through which a stream sends."""

    async def send_text(self, data: str) -> None:
        """Sends a text frame."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Sends a binary frame."""
        ...


class SnapshotFrames:
    """A snapshot as binary frames; parts common to several clients are made once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.status = snapshot.status.decode()
        self._common = HEADER.pack(SNAPSHOT, 0, 0, snapshot.version, snapshot.time) + _block(
            POSES, snapshot.poses
        )
        self._values: np.ndarray | None = None
        self._blocks: dict[int, bytes] = {}
        self._made: dict[tuple[tuple[int, ...], int, bytes], bytes] = {}

    def frame(self, blocks: tuple[int, ...], number: int, rows: np.ndarray | None) -> bytes:
        """The snapshot as requested by one client.

        Args:
            blocks: Kinds of blocks besides poses and signals.
            number: Number of its watch.
            rows: Indices of its signals among all watched ones; None if they are not there yet.
        """
        key = (blocks, number, b"" if rows is None else rows.tobytes())
        made = self._made.get(key)
        if made is None:
            parts = [self._common]
            if rows is not None and len(rows):
                parts.append(self._signals(number, rows))
            parts += [self._block(kind) for kind in blocks if kind in self.snapshot.blocks]
            made = self._made[key] = b"".join(parts)
        return made

    def _signals(self, number: int, rows: np.ndarray) -> bytes:
        if self._values is None:
            self._values = np.frombuffer(self.snapshot.values)
        return _block(SIGNALS, self._values[rows].tobytes(), number & 0xFFFF)

    def _block(self, kind: int) -> bytes:
        if kind not in self._blocks:
            number, kind_only = divmod(kind, IMAGE_STEP)
            self._blocks[kind] = _block(kind_only, self.snapshot.blocks[kind], number)
        return self._blocks[kind]


def _block(kind: int, data: bytes, flags: int = 0) -> bytes:
    return BLOCK.pack(kind, flags, len(data)) + data + bytes(-len(data) % 8)


class ClientStream:
    """The data being sent to one client.

    Texts are ordered and none is lost; of snapshots only the newest is sent, and at most
    ``MAX_IN_FLIGHT`` of the protocol before the client has acknowledged one.

    Attributes:
        signals: Names that the client watches.
        number: Number of that watch.
        rows: Indices of the signals among all watched ones; None until the session has them.
        view: Number of the view request that ``rows`` belongs to.
        blocks: Other kinds of blocks that it requested.
        images: Heads of the camera images sent last, by block.
        given_up: Set when too much waits for the client; nothing more is queued for it.
    """

    def __init__(self, socket: Socket) -> None:
        self.signals: list[str] = []
        self.number = 0
        self.rows: np.ndarray | None = None
        self.view = 0
        self.blocks: tuple[int, ...] = ()
        self.images: dict[int, bytes] = {}
        self._socket = socket
        self._texts: deque[str] = deque()
        self._waiting = 0
        self._newest: SnapshotFrames | None = None
        self._status = ""
        self._sent = self._acknowledged = 0
        self._wake = asyncio.Event()
        self.given_up = asyncio.Event()

    def text(self, text: str) -> None:
        """Queues a text; a client with too many waiting texts is dropped."""
        if self.given_up.is_set():
            return
        self._texts.append(text)
        self._waiting += len(text)
        if len(self._texts) > MAX_TEXTS or self._waiting > MAX_BYTES:
            self._texts.clear()
            self._waiting, self._newest = 0, None
            self.given_up.set()
        self._wake.set()

    def send_if_idle(self, text: str) -> None:
        """Queues an optional text, if the client does not stall."""
        if len(self._texts) < IDLE_TEXTS:
            self.text(text)

    def show(self, frames: SnapshotFrames) -> None:
        """Queues a snapshot in place of a waiting one."""
        if self.given_up.is_set():
            return
        self._newest = frames
        self._wake.set()

    def forget(self) -> None:
        """Discards the waiting snapshot: no scene is open anymore."""
        self._newest = None
        self.images.clear()

    def acknowledge(self, frames: int) -> None:
        """Records that the client has received ``count`` snapshots."""
        self._acknowledged = min(max(frames, self._acknowledged), self._sent)
        if self._newest is not None:
            self._wake.set()

    async def run(self) -> None:
        """Sends until canceled, or until the client disconnects or is dropped."""
        while not self.given_up.is_set():
            await self._wake.wait()
            self._wake.clear()
            while self._texts:
                text = self._texts.popleft()
                self._waiting -= len(text)
                await self._socket.send_text(text)
            frames = self._newest
            if frames is not None and self._sent - self._acknowledged < MAX_IN_FLIGHT:
                self._newest = None
                await self._send(frames)

    async def _send(self, frames: SnapshotFrames) -> None:
        self._sent += 1
        rows = self.rows if frames.snapshot.view == self.view else None
        blocks = self._new_blocks(frames.snapshot.blocks)
        await self._socket.send_bytes(frames.frame(blocks, self.number, rows))
        if frames.status != self._status:
            self._status = frames.status
            await self._socket.send_text(frames.status)

    def _new_blocks(self, found: dict[int, bytes]) -> tuple[int, ...]:
        """The blocks to send: of cameras only images that were not sent yet."""
        blocks = []
        for kind in self.blocks:
            if kind % IMAGE_STEP == IMAGE:
                head = found.get(kind, b"")[: IMAGE_HEAD.size]
                if not head or self.images.get(kind) == head:
                    continue
                self.images[kind] = head
            blocks.append(kind)
        return tuple(blocks)
