"""Guard: stops a user's call that does not return.

One daemon thread looks at the deadlines of all guards and raises :class:`Overdue` in the thread
whose call is late. A lock between the two makes sure that nothing is raised once the call has
returned. A call that blocks inside C code (``time.sleep``, a socket) is stopped when it returns
to Python.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import Any

#: Seconds after which a call that caught Overdue is stopped again.
AGAIN = 1.0

# A prototype of our own: declaring types on the shared function would change it for everyone.
_set_exception = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


class Overdue(BaseException):
    """A call has not returned in time; not an ``Exception``, so that programs let it pass."""


class Guard:
    """Lets calls run for a limited wall-clock time.

    Args:
        patience: How long a call may take [s]; 0 for no limit.
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience or math.inf
        self._lock = threading.Lock()
        self._deadline = math.inf
        self._thread = 0
        self._fired = False
        if math.isfinite(self.patience):
            _watch.add(self)

    def run(self, call: Callable[..., Any], *args: object) -> Any:
        """Calls, within the patience.

        Raises:
            Overdue: In the midst of the call, once the patience is over.
        """
        return self.run_for(self.patience, call, *args)

    def run_for(self, patience: float, call: Callable[..., Any], *args: object) -> Any:
        """As :meth:`run`, with another patience [s]."""
        try:
            try:
                self._thread = get_ident()
                self._deadline = monotonic() + patience
                return call(*args)
            finally:
                with self._lock:
                    self._deadline = math.inf
                if self._fired:
                    self._settle()
        except Overdue:
            # A second one may be under way, or arrive in the midst of this.
            while True:
                try:
                    with self._lock:
                        self._deadline = math.inf
                    self._settle()
                    break
                except Overdue:
                    continue
            raise

    def _settle(self) -> None:
        """Takes back what the watch raised but Python has not delivered yet."""
        _set_exception(self._thread, ctypes.py_object())
        self._fired = False

    def fire_if_late(self, now: float) -> None:
        """Called by the watch."""
        if now < self._deadline:
            return
        with self._lock:
            if now >= self._deadline:
                self._deadline = now + AGAIN
                self._fired = True
                _set_exception(self._thread, ctypes.py_object(Overdue))


class _Watch:
    """The thread that looks at all guards; it lives while there are any."""

    def __init__(self) -> None:
        self._guards: weakref.WeakSet[Guard] = weakref.WeakSet()
        self.renew()

    def renew(self) -> None:
        """Forgets the thread, which a forked process does not inherit."""
        self._lock = threading.Lock()
        self._running = False

    def add(self, guard: Guard) -> None:
        with self._lock:
            self._guards.add(guard)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="linkwork-guard", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._lock:
                if not self._guards:
                    self._running = False
                    return
            longest = _look(list(self._guards)) / 4.0
            pause.wait(min(max(longest, 0.02), AGAIN))


def _look(guards: list[Guard]) -> float:
    """Stops what is late; returns the shortest patience [s]."""
    now = monotonic()
    for guard in guards:
        guard.fire_if_late(now)
    return min((guard.patience for guard in guards), default=AGAIN)


_watch = _Watch()
os.register_at_fork(after_in_child=_watch.renew)
