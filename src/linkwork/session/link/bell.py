"""Wakes one waiting thread, or an event loop, when something has arrived."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable


class Bell:
    """A doorbell: any thread rings, one thread sleeps until what it waits for is there.

    Ringing costs an attribute read while nobody sleeps. (A ``threading.Condition`` makes a lock
    per wait, which is a third of the time a message takes between two processes.)
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()  # taken; a ring opens it once
        self._gate.acquire()
        self._sleeping = False
        self._sockets: tuple[socket.socket, socket.socket] | None = None
        self._lit = False
        self._light = threading.Lock()

    def ring(self) -> None:
        """Wakes the sleeper and makes ``fileno`` readable. Call after the thing is in place."""
        if self._sleeping:
            self._sleeping = False
            with contextlib.suppress(RuntimeError):  # somebody else has opened it just now
                self._gate.release()
        if self._sockets is not None and not self._lit:
            with self._light:
                if self._sockets is not None and not self._lit:
                    self._lit = True
                    self._sockets[1].send(b"\0")

    def sleep(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Waits until ``ready()`` holds.

        Args:
            ready: What is waited for; a ring that did not bring it is slept over.
            timeout: Longest wait [s].

        Returns:
            What ``ready()`` said last.
        """
        if ready():
            return True
        end = time.monotonic() + timeout
        while True:
            # Sleeping is announced before the last look: a ring in between opens the gate.
            self._sleeping = True
            left = end - time.monotonic()
            if ready() or left <= 0:
                self._sleeping = False
                return ready()
            self._gate.acquire(timeout=min(left, threading.TIMEOUT_MAX))

    def fileno(self) -> int:
        """A descriptor that is readable from a ring until ``hush``."""
        with self._light:
            if self._sockets is None:
                pair = socket.socketpair()
                pair[0].setblocking(False)
                self._lit = True
                pair[1].send(b"\0")  # what came before counts as news
                self._sockets = pair
            return self._sockets[0].fileno()

    def hush(self) -> None:
        """Makes the descriptor unreadable until the next ring. Call before taking things."""
        if self._lit:
            with self._light:
                if self._lit and self._sockets is not None:
                    self._sockets[0].recv(1)
                    self._lit = False

    def close(self) -> None:
        """Gives the descriptor back."""
        with self._light:
            pair, self._sockets, self._lit = self._sockets, None, False
            for each in pair or ():
                each.close()
