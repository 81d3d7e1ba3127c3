"""SocketLoop: waits for the sockets of one end of a link."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import select
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE

_CHUNK = 1 << 18  # maximum size of one read [byte]
_THREAD_PAUSE = 0.05  # how long the loop's own thread waits after another thread served [s]
_FINE = 0.01  # epoll, which counts milliseconds, is too coarse for shorter waits [s]


class SocketHandler(Protocol):
    """The owner of a socket that the loop waits for."""

    sock: socket.socket

    def ready(self, mask: int) -> None:
        """Serves the readable or writable socket, without blocking."""
        ...

    def fail(self, reason: str) -> None:
        """Called after ``ready`` raised."""
        ...


class SocketLoop:
    """A daemon thread with a selector, which yields to a thread that waits for a message.

    Sockets are served while all other threads compute, and a thread that waits for a message reads
    it itself: a transfer between two threads would take as long as one between processes.

    ``call``, ``wait_until`` and ``close`` may be called from any thread; all other methods are
    called by handlers, in one thread at a time.

    Attributes:
        buffer: Scratch memory for reading.
    """

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(_CHUNK))
        self._selector = selectors.DefaultSelector()
        self._inner, self._outer = socket.socketpair()
        self._inner.setblocking(False)
        self._outer.setblocking(False)
        self._selector.register(self._inner, READ, None)
        self._calls: deque[Callable[[], None]] = deque()
        self._poked = False
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._running = True
        self._service_lock = threading.Lock()  # its holder serves the sockets
        self._external_waiter = False  # another thread serves or is about to
        self._detached = False  # an event loop serves the sockets
        self._back = threading.Event()  # set when it no longer does
        self._attended = 0.0  # when another thread last did
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="linkwork-link", daemon=True)
        self._thread.start()

    def call(self, action: Callable[[], None]) -> None:
        """Schedules a call in the thread that serves the sockets."""
        self._calls.append(action)
        self._wake()

    def wait_until(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Serves the sockets in the caller's thread until ``ready()`` holds.

        Args:
            ready: The condition; a handler called by the loop must cause it.
            timeout: Maximum wait [s].

        Returns:
            The last value of ``ready()``.
        """
        if ready() or timeout <= 0:
            return ready()
        end = time.monotonic() + timeout
        while self._running and self._external_waiter:  # another thread serves already
            if ready() or (left := end - time.monotonic()) <= 0:
                return ready()
            time.sleep(min(left, 0.002))
        self._external_waiter = True
        try:
            if not self._service_lock.acquire(blocking=False):
                self._wake()
                if not self._service_lock.acquire(timeout=_within(end)):
                    return ready()
            try:
                # The previous holder may have caused it: check before waiting.
                while self._running and not ready() and (left := end - time.monotonic()) > 0:
                    self._turn(left)
            finally:
                self._attended = time.monotonic()
                self._service_lock.release()
        finally:
            self._external_waiter = False
        if not ready() and (left := end - time.monotonic()) > 0:  # closed: nothing will arrive
            time.sleep(left)
        return ready()

    def detach_loop(self) -> int | None:
        """Leaves the sockets to the caller, which serves them with ``serve`` (an event loop).

        Returns:
            A descriptor that is readable while sockets are ready; None if the platform has none,
                and the loop continues by itself.
        """
        descriptor = getattr(self._selector, "fileno", None)
        if descriptor is None:
            return None
        self._external_waiter = self._detached = True
        self._wake()
        self._service_lock.acquire()
        return descriptor()

    def serve(self) -> None:
        """Serves the ready sockets, in the thread that owns them."""
        if self._detached:
            self._turn(0.0)

    def attach_loop(self) -> None:
        """Takes detached sockets back."""
        if self._detached:
            self._detached = False
            self._service_lock.release()
            self._external_waiter = False
            self._back.set()

    def later(self, delay: float, action: Callable[[], None]) -> None:
        """Schedules a call after ``delay`` [s]."""
        heapq.heappush(self._timers, (time.monotonic() + delay, next(self._number), action))

    def watch(self, watcher: SocketHandler, mask: int) -> None:
        """Watches a socket for reading or writing from now on; 0 ends that."""
        known = self._selector.get_map().get(watcher.sock)
        if known is None:
            if mask:
                self._selector.register(watcher.sock, mask, watcher)
        elif not mask:
            self._selector.unregister(watcher.sock)
        elif known.events != mask:
            self._selector.modify(watcher.sock, mask, watcher)

    def close(self) -> None:
        """Ends the thread and closes every socket it waited for."""
        self.attach_loop()
        self._running = False
        self._closing.set()
        self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while self._running:
            with self._service_lock:
                while self._running and not self._external_waiter:
                    self._turn(None)
            if self._detached:
                self._back.wait()
            while self._external_waiter or time.monotonic() - self._attended < _THREAD_PAUSE:
                if self._closing.wait(_THREAD_PAUSE):
                    break
        with self._service_lock:
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()
            self._selector.close()
            self._outer.close()

    def _turn(self, timeout: float | None) -> None:
        """Serves the ready sockets; waits at most ``timeout`` [s]."""
        if self._timers:
            left = max(0.0, self._timers[0][0] - time.monotonic())
            timeout = left if timeout is None else min(left, timeout)
        for key, mask in self._select(timeout):
            if key.data is None:
                self._inner.recv(64)
                self._poked = False
            else:
                self._serve(key.data, mask)
        while self._calls:
            self._calls.popleft()()
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    def _select(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and 0.0 < timeout < _FINE:
            poll = getattr(self._selector, "fileno", lambda: -1)()
            if 0 <= poll < 1024:  # the maximum of select()
                if not select.select((poll,), (), (), timeout)[0]:
                    return []
                timeout = 0.0
        return self._selector.select(timeout)

    def _serve(self, watcher: SocketHandler, mask: int) -> None:
        try:
            watcher.ready(mask)
        except Exception as error:  # an error of one connection must not affect the others
            watcher.fail(f"{type(error).__name__}: {error}")

    def _wake(self) -> None:
        if not self._poked:
            self._poked = True
            with contextlib.suppress(OSError):  # it was closed
                self._outer.send(b"\0")


def _within(end: float) -> float:
    """Time until ``end``, within the bounds of locks [s]."""
    return min(max(0.0, end - time.monotonic()), threading.TIMEOUT_MAX)


class Waker:
    """Wakes a thread: any thread notifies, one thread sleeps until its condition holds.

    Notifying costs an attribute read while no thread sleeps. (A ``threading.Condition`` makes a
    lock per wait, which is a third of the time a message takes between two processes.)
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()  # locked; a notification opens it once
        self._gate.acquire()
        self._sleeping = False
        self._sockets: tuple[socket.socket, socket.socket] | None = None
        self._lit = False
        self._light = threading.Lock()

    def notify(self) -> None:
        """Wakes the sleeper and makes ``fileno`` readable. Call after the data is in place."""
        if self._sleeping:
            self._sleeping = False
            with contextlib.suppress(RuntimeError):  # another thread has opened it
                self._gate.release()
        if self._sockets is not None and not self._lit:
            with self._light:
                if self._sockets is not None and not self._lit:
                    self._lit = True
                    self._sockets[1].send(b"\0")

    def sleep(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Waits until ``ready()`` holds.

        Args:
            ready: The condition; notifications without it are ignored.
            timeout: Maximum wait [s].

        Returns:
            The last value of ``ready()``.
        """
        if ready():
            return True
        end = time.monotonic() + timeout
        while True:
            # Sleeping is announced before the last check: a notification in between opens the gate.
            self._sleeping = True
            left = end - time.monotonic()
            if ready() or left <= 0:
                self._sleeping = False
                return ready()
            self._gate.acquire(timeout=min(left, threading.TIMEOUT_MAX))

    def fileno(self) -> int:
        """A descriptor that is readable from a notification until ``clear``."""
        with self._light:
            if self._sockets is None:
                pair = socket.socketpair()
                pair[0].setblocking(False)
                self._lit = True
                pair[1].send(b"\0")  # earlier data counts as new
                self._sockets = pair
            return self._sockets[0].fileno()

    def clear(self) -> None:
        """Makes the descriptor unreadable until the next notification. Call before taking data."""
        if self._lit:
            with self._light:
                if self._lit and self._sockets is not None:
                    self._sockets[0].recv(1)
                    self._lit = False

    def close(self) -> None:
        """Closes the descriptor."""
        with self._light:
            pair, self._sockets, self._lit = self._sockets, None, False
            for each in pair or ():
                each.close()
