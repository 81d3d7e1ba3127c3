"""One authenticated socket between a session and a peer, the same at both of its ends."""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from linkwork.session.link.frames import GOODBYE, MESSAGE, Batch, FrameReader
from linkwork.session.link.limits import Limits, LinkError
from linkwork.session.link.outbox import Outbox
from linkwork.session.link.pump import READ, WRITE, Pump


class Connection(ABC):
    """Sends at once from the caller's thread; the pump sends what the socket did not take.

    Waking the pump for each message would cost more than sending it. Closing says goodbye, lets
    the other end read to the end and waits for it to close, so that nothing sent before is lost.

    Args:
        sock: A connected socket, past the handshake.
        pump: What serves it.
        limits: Bounds on what is held.

    Attributes:
        finished: Set once the socket is closed.
    """

    def __init__(self, sock: socket.socket, pump: Pump, limits: Limits) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.pump = pump
        self.limits = limits
        self.finished = threading.Event()
        self._reader = FrameReader(limits)
        self._held = False  # touched by the pump only, like the reader
        self._lock = threading.Lock()  # of all below
        self._outbox = Outbox(sock)
        self._open = True
        self._closing = False
        self._armed = False  # the pump knows that something waits

    @abstractmethod
    def take(self, batch: Batch) -> bool:
        """Takes what has arrived; called by the pump.

        Returns:
            Whether more is wanted before ``resume``.

        Raises:
            LinkError: The other end may not send such things.
        """

    @abstractmethod
    def lost(self, reason: str) -> None:
        """Notes that nothing more comes; called by the pump, perhaps twice."""

    @property
    def full(self) -> bool:
        """Whether more than the backlog waits to be sent."""
        return self._outbox.waiting > self.limits.backlog

    def put(self, kind: int, contents: Sequence[bytes]) -> bool:
        """Sends frames of one kind; false if more than the backlog waits now."""
        with self._lock:
            if not self._open:
                return True
            try:
                self._outbox.put(kind, contents)
            except OSError:
                self._break()
            fits = not self.full
            arm = self._must_arm()
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
            try:
                self._outbox.put_snapshot(snapshot)
            except OSError:
                self._break()
            arm = self._must_arm()
        if arm:
            self.pump.call(self._rewatch)

    def start(self) -> None:
        """Begins to read; called by the pump."""
        self._rewatch()

    def resume(self) -> None:
        """Reads again after ``take`` had enough."""
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
                try:
                    self._outbox.put(GOODBYE, (reason.encode()[: self.limits.message],))
                except OSError:
                    self._break()
        self.pump.call(self._part)

    def ready(self, mask: int) -> None:
        """Serves the socket; called by the pump."""
        if mask & WRITE:
            with self._lock:
                try:
                    self._outbox.send()
                except OSError:
                    self._break()
                self._armed = not self._outbox.empty
            self._rewatch()
        if mask & READ and not self.finished.is_set():
            try:
                size = self.sock.recv_into(self.pump.buffer)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self.fail(f"the connection was lost: {error.strerror or error}")
                return
            if size:
                self._receive(self.pump.buffer[:size])
            else:
                self.fail("the connection was lost")

    def fail(self, reason: str) -> None:
        """Closes the socket without a word; called by the pump."""
        if self.finished.is_set():
            return
        with self._lock:
            self._closing = True
            self._break()
        self.pump.watch(self, 0)
        self.sock.close()
        self.finished.set()
        self.lost(reason)

    def _break(self) -> None:
        """Sends no more. What the other end still sent is read, then reading finds the end."""
        self._open = False
        self._outbox.clear()

    def _must_arm(self) -> bool:
        """Whether the pump must be told now that something waits."""
        if self._armed or self._outbox.empty:
            return False
        self._armed = True
        return True

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
        self.pump.later(self.limits.linger, lambda: self.fail("the other end did not close"))

    def _receive(self, data: memoryview) -> None:
        if self._closing:  # what comes now comes too late
            return
        batch = Batch()
        wrong = ""
        try:
            self._reader.feed(data, batch)
        except LinkError as error:
            wrong = str(error)
        try:
            wanted = self.take(batch)
        except LinkError as error:
            wanted, wrong = True, str(error)
        if wrong:
            self.lost(wrong)
            self.end(wrong, discard=True)
        elif batch.goodbye is not None:
            self.fail(batch.goodbye)
        elif not wanted:
            self._held = True
            self._rewatch()
