"""Waits for the sockets of one end of a link, in a thread of its own or in the one that waits."""

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

_CHUNK = 1 << 18  # most that is read from a socket at once [byte]
_ASIDE = 0.05  # how long the pump's own thread stays aside after somebody attended [s]
_FINE = 0.01  # shorter waits than this are too short for epoll, which counts milliseconds [s]


class Watcher(Protocol):
    """What owns a socket that the pump waits for."""

    sock: socket.socket

    def ready(self, mask: int) -> None:
        """Serves the socket, which can be read or written, without blocking."""
        ...

    def fail(self, reason: str) -> None:
        """Gives up after ``ready`` raised."""
        ...


class Pump:
    """A daemon thread with a selector, which steps aside for a thread that attends.

    So sockets are served while everybody computes, and a thread that waits for a message reads it
    itself: handing it over between two threads would take as long as the way between processes.

    ``call``, ``attend`` and ``close`` may come from any thread; all else comes from what the pump
    calls, which happens in one thread at a time.

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
        self._seat = threading.Lock()  # who has it serves the sockets
        self._guest = False  # somebody attends or is about to
        self._lent = False  # an event loop serves the sockets
        self._back = threading.Event()  # set when it does no longer
        self._attended = 0.0  # when somebody did last
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="linkwork-link", daemon=True)
        self._thread.start()

    def call(self, action: Callable[[], None]) -> None:
        """Has something done soon by whoever serves the sockets."""
        self._calls.append(action)
        self._poke()

    def attend(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Serves the sockets in the caller's thread until ``ready()`` holds.

        Args:
            ready: What is waited for; something the pump calls must bring it about.
            timeout: Longest wait [s].

        Returns:
            What ``ready()`` said last.
        """
        if ready() or timeout <= 0:
            return ready()
        end = time.monotonic() + timeout
        while self._running and self._guest:  # another thread attends already
            if ready() or (left := end - time.monotonic()) <= 0:
                return ready()
            time.sleep(min(left, 0.002))
        self._guest = True
        try:
            if not self._seat.acquire(blocking=False):
                self._poke()
                if not self._seat.acquire(timeout=_within(end)):
                    return ready()
            try:
                # The thread that had the seat may have brought it: look before waiting.
                while self._running and not ready() and (left := end - time.monotonic()) > 0:
                    self._turn(left)
            finally:
                self._attended = time.monotonic()
                self._seat.release()
        finally:
            self._guest = False
        if not ready() and (left := end - time.monotonic()) > 0:  # closed: nothing will come
            time.sleep(left)
        return ready()

    def lend(self) -> int | None:
        """Leaves the sockets to whoever calls, who then serves them with ``serve`` (an event loop).

        Returns:
            A descriptor that is readable while there is something to serve; None where the
            platform has none, and the pump goes on by itself.
        """
        descriptor = getattr(self._selector, "fileno", None)
        if descriptor is None:
            return None
        self._guest = self._lent = True
        self._poke()
        self._seat.acquire()
        return descriptor()

    def serve(self) -> None:
        """Serves what is ready, in the thread that the sockets were lent to."""
        if self._lent:
            self._turn(0.0)

    def reclaim(self) -> None:
        """Takes lent sockets back."""
        if self._lent:
            self._lent = False
            self._seat.release()
            self._guest = False
            self._back.set()

    def later(self, delay: float, action: Callable[[], None]) -> None:
        """Does something after ``delay`` [s]."""
        heapq.heappush(self._timers, (time.monotonic() + delay, next(self._number), action))

    def watch(self, watcher: Watcher, mask: int) -> None:
        """Waits for a socket to become readable or writable from now on; 0 stops waiting."""
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
        self.reclaim()
        self._running = False
        self._closing.set()
        self._poke()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while self._running:
            with self._seat:
                while self._running and not self._guest:
                    self._turn(None)
            if self._lent:
                self._back.wait()
            while self._guest or time.monotonic() - self._attended < _ASIDE:
                if self._closing.wait(_ASIDE):
                    break
        with self._seat:
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()
            self._selector.close()
            self._outer.close()

    def _turn(self, timeout: float | None) -> None:
        """Serves what is ready, waiting for it at most ``timeout`` [s]."""
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
            if 0 <= poll < 1024:  # what select() can take
                if not select.select((poll,), (), (), timeout)[0]:
                    return []
                timeout = 0.0
        return self._selector.select(timeout)

    def _serve(self, watcher: Watcher, mask: int) -> None:
        try:
            watcher.ready(mask)
        except Exception as error:  # one connection must not take the others with it
            watcher.fail(f"{type(error).__name__}: {error}")

    def _poke(self) -> None:
        if not self._poked:
            self._poked = True
            with contextlib.suppress(OSError):  # it was closed
                self._outer.send(b"\0")


def _within(end: float) -> float:
    """Time until ``end`` as locks take it [s]."""
    return min(max(0.0, end - time.monotonic()), threading.TIMEOUT_MAX)
