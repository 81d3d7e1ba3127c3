"""The thread that waits for sockets on behalf of one end of a link."""

from __future__ import annotations

import contextlib
import heapq
import itertools
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
    """A daemon thread with a selector; the session's own thread never waits for a socket.

    ``call`` and ``close`` may come from any thread, all else from the pump's own.

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
        self._thread = threading.Thread(target=self._run, name="linkwork-link", daemon=True)
        self._thread.start()

    def call(self, action: Callable[[], None]) -> None:
        """Has the pump's thread do something soon."""
        self._calls.append(action)
        if not self._poked:
            self._poked = True
            with contextlib.suppress(OSError):  # it has just been closed
                self._outer.send(b"\0")

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
        self._running = False
        self.call(lambda: None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while self._running:
            for key, mask in self._selector.select(self._pause()):
                if key.data is None:
                    self._inner.recv(64)
                    self._poked = False
                else:
                    self._serve(key.data, mask)
            while self._calls:
                self._calls.popleft()()
            while self._timers and self._timers[0][0] <= time.monotonic():
                heapq.heappop(self._timers)[2]()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()
        self._outer.close()

    def _serve(self, watcher: Watcher, mask: int) -> None:
        try:
            watcher.ready(mask)
        except Exception as error:  # one connection must not take the others with it
            watcher.fail(f"{type(error).__name__}: {error}")

    def _pause(self) -> float | None:
        """Time until the next timer [s]."""
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
