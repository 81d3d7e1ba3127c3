"""One authenticated socket between a session and a peer, the same at both of its ends."""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from linkwork.session.link.frames import GOODBYE, MESSAGE, Frame, FrameReader
from linkwork.session.link.limits import Limits, LinkError
from linkwork.session.link.outbox import Outbox
from linkwork.session.link.pump import READ, WRITE, Pump


class Connection(ABC):
    """Sends at once from the caller's thread; the pump sends what the socket did not take.

    Waking the pump for each message would cost more than sending it. Closing says goodbye, lets
    the other end read to the end and waits for it to close, so that nothing sent before is lost.

    Args:
        sock: A connected socket, past the handshake.
        pump: The thread that serves it.
        limits: Bounds on what is held.
    """

    def __init__(self, sock: socket.socket, pump: Pump, limits: Limits) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.finished = threading.Event()
        self.pump = pump
        self.limits = limits
        self._reader = FrameReader(limits)
        self._held = False  # of the pump's thread, like the reader
        self._lock = threading.Lock()  # of all below
        self._outbox = Outbox()
        self._open = True
        self._closing = False
        self._armed = False  # the pump has been told that something waits

    @abstractmethod
    def take(self, frames: list[Frame]) -> bool:
        """Takes frames in order, in the pump's thread.

        Returns:
            Whether more are wanted before ``resume``.

        Raises:
            LinkError: The other end may not send such frames.
        """

    @abstractmethod
    def lost(self, reason: str) -> None:
        """Notes, in the pump's thread, that no more frames come. May be called twice."""

    @property
    def full(self) -> bool:
        """Whether more than the backlog waits to be sent."""
        return self._outbox.waiting > self.limits.backlog

    def start(self) -> None:
        """Begins to read, in the pump's thread."""
        self._rewatch()

    def put(self, kind: int, contents: Sequence[bytes]) -> bool:
        """Sends frames of one kind; false if more than the backlog waits now."""
        with self._lock:
            if not self._open:
                return True
            idle = self._outbox.empty
            self._outbox.add(kind, contents)
            arm = self._push(idle)
            fits = not self.full
        if arm:
            self.pump.call(self._rewatch)
        return fits

    def put_events(self, events: Sequence[bytes]) -> bool:
        """Sends messages; false if more than the backlog waits now."""
        return self.put(MESSAGE, events)

    def put_snapshot(self, snapshot: bytes) -> None:
        """Sends the newest snapshot, in place of one that still waits."""
        with self._lock:
            if not self._open:
                return
            idle = self._outbox.empty
            self._outbox.put_snapshot(snapshot)
            arm = self._push(idle)
        if arm:
            self.pump.call(self._rewatch)

    def resume(self) -> None:
        """Reads again after the receiver had enough."""
        self.pump.call(self._release)

    def end(self, reason: str, *, discard: bool) -> None:
        """Says goodbye, after what waits to be sent or (``discard``) instead of it."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            if self._open:
                self._open = False
                if discard:
                    self._outbox.discard()
                self._outbox.add(GOODBYE, (reason.encode()[: self.limits.message],))
                self._push(idle=True)
        self.pump.call(self._part)

    def ready(self, mask: int) -> None:
        """Serves the socket; called by the pump."""
        if mask & WRITE:
            with self._lock:
                self._armed = False
                self._push(idle=True)
            self._rewatch()
        if mask & READ and not self.finished.is_set():
            try:
                size = self.sock.recv_into(self.pump.buffer)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._finish(f"the connection was lost: {error.strerror or error}")
                return
            if size:
                self._receive(self.pump.buffer[:size])
            else:
                self._finish("the connection was lost")

    def fail(self, reason: str) -> None:
        """Gives up at once."""
        self._finish(reason)

    def _push(self, idle: bool) -> bool:
        """Sends if nothing is in front; true if the pump must be told to go on with it."""
        if idle:
            try:
                self._outbox.send(self.sock)
            except OSError:  # reading finds the end, after what the other end still sent
                self._open = False
                self._outbox.clear()
        arm = not self._outbox.empty and not self._armed
        self._armed = not self._outbox.empty
        return arm

    def _rewatch(self) -> None:
        if self.finished.is_set():
            return
        with self._lock:
            waits = not self._outbox.empty
            parting = self._closing and not waits
        self.pump.watch(self, (0 if self._held else READ) | (WRITE if waits else 0))
        if parting:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)

    def _release(self) -> None:
        self._held = False
        self._rewatch()

    def _part(self) -> None:
        self._release()
        self.pump.later(self.limits.linger, lambda: self._finish("the other end did not close"))

    def _receive(self, data: bytes | memoryview) -> None:
        if self._closing:  # what comes now comes too late
            return
        frames: list[Frame] = []
        wrong = ""
        try:
            self._reader.feed(data, frames)
        except LinkError as error:
            wrong = str(error)
        bye = next((i for i, (kind, _) in enumerate(frames) if kind == GOODBYE), None)
        wanted = True
        try:
            if frames[:bye]:
                wanted = self.take(frames[:bye])
        except LinkError as error:
            wrong = str(error)
        if wrong:
            self.lost(wrong)
            self.end(wrong, discard=True)
        elif bye is not None:
            self._finish(frames[bye][1].decode(errors="replace"))
        elif not wanted:
            self._held = True
            self._rewatch()

    def _finish(self, reason: str) -> None:
        if self.finished.is_set():
            return
        with self._lock:
            self._open = False
            self._closing = True
            self._outbox.clear()
        self.pump.watch(self, 0)
        self.sock.close()
        self.finished.set()
        self.lost(reason)
