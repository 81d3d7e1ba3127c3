"""Connection: one authenticated socket of a link."""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from linkwork.core.errors import os_error_text
from linkwork.link.framing import GOODBYE, MESSAGE, FrameBatch, FrameReader, SendQueue
from linkwork.link.limits import LinkError, LinkLimits
from linkwork.link.socket_loop import READ, WRITE, SocketLoop


class LinkConnection(ABC):
    """Sends from the caller's thread; the socket loop sends what the socket did not accept.

    Waking the loop for each message would cost more than sending it. Closing sends a goodbye, lets
    the other end read to the end and waits for it to close, so that no sent data is lost.

    Args:
        sock: A connected socket, past the handshake.
        loop: The loop that serves it.
        limits: Limits of buffers.

    Attributes:
        finished: Set once the socket is closed.
    """

    def __init__(self, sock: socket.socket, loop: SocketLoop, limits: LinkLimits) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.loop = loop
        self.limits = limits
        self.finished = threading.Event()
        self._reader = FrameReader(limits)
        self._held = False  # used by the loop only, like the reader
        self._lock = threading.Lock()  # guards all fields below
        self._outbox = SendQueue(sock)
        self._open = True
        self._closing = False
        self._armed = False  # the loop knows that data waits

    @abstractmethod
    def take(self, batch: FrameBatch) -> bool:
        """Handles arrived frames; called by the loop.

        Returns:
            Whether to receive more before ``resume``.

        Raises:
            LinkError: The other end may not send such frames.
        """

    @abstractmethod
    def lost(self, reason: str) -> None:
        """Records the end of the connection; called by the loop, possibly twice."""

    @property
    def full(self) -> bool:
        """Whether more than the backlog waits to be sent."""
        return self._outbox.waiting > self.limits.backlog

    def put(self, kind: int, contents: Sequence[bytes]) -> bool:
        """Sends frames of one kind; returns False if more than the backlog waits now."""
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
            self.loop.call(self._rewatch)
        return fits

    def put_events(self, events: Sequence[bytes]) -> bool:
        """Sends messages; returns False if more than the backlog waits now."""
        return self.put(MESSAGE, events)

    def put_snapshot(self, snapshot: bytes) -> None:
        """Sends the newest snapshot, replacing a waiting one."""
        with self._lock:
            if not self._open:
                return
            try:
                self._outbox.put_snapshot(snapshot)
            except OSError:
                self._break()
            arm = self._must_arm()
        if arm:
            self.loop.call(self._rewatch)

    def start(self) -> None:
        """Starts reading; called by the loop."""
        self._rewatch()

    def resume(self) -> None:
        """Resumes reading after ``take`` had enough."""
        self.loop.call(self._release)

    def end(self, reason: str, *, discard: bool) -> None:
        """Sends a goodbye, after the queue or (``discard``) instead of it."""
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
        self.loop.call(self._part)

    def ready(self, mask: int) -> None:
        """Serves the socket; called by the loop."""
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
                size = self.sock.recv_into(self.loop.buffer)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self.fail(f"the connection was lost: {os_error_text(error)}")
                return
            if size:
                self._receive(self.loop.buffer[:size])
            else:
                self.fail("the connection was lost")

    def fail(self, reason: str) -> None:
        """Closes the socket without a goodbye; called by the loop."""
        if self.finished.is_set():
            return
        with self._lock:
            self._closing = True
            self._break()
        self.loop.watch(self, 0)
        self.sock.close()
        self.finished.set()
        self.lost(reason)

    def _break(self) -> None:
        """Stops sending. Data already sent by the other end is read before the end is reported."""
        self._open = False
        self._outbox.clear()

    def _must_arm(self) -> bool:
        """Whether the loop must be notified now that data waits."""
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
        self.loop.watch(self, (0 if self._held else READ) | (WRITE if waits else 0))
        if parting:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)

    def _release(self) -> None:
        self._held = False
        self._rewatch()

    def _part(self) -> None:
        self._release()
        self.loop.later(self.limits.linger, lambda: self.fail("the other end did not close"))

    def _receive(self, data: memoryview) -> None:
        if self._closing:  # data arriving now is too late
            return
        batch = FrameBatch()
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
