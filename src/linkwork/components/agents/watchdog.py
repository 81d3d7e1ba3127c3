"""Watchdog of calls into user code.

One daemon thread checks the deadlines of all watchdogs and raises :class:`CallTimeout` in the
thread whose call is late. A lock ensures that nothing is raised once the call has returned. A call
that blocks inside C code (``time.sleep``, a socket) is stopped when it returns to Python; one that
has taken its whole time when it returns is late, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import threading
import weakref
from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import Any

#: Time after which a call that has not returned is reported [s].
SLOW_AFTER = 1.0
#: Maximum pause between two checks [s].
_CHECK_PERIOD = 0.25
#: Time after which a call that caught CallTimeout is interrupted again [s].
RETRY_PERIOD = 1.0

# A prototype of its own: declaring types on the shared function would change it for all users.
_set_exception = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


class CallTimeout(BaseException):
    """A call has not returned in time; not an ``Exception``, so that programs do not catch it."""


class CallWatchdog:
    """Limits calls to a wall-clock time, and reports one that stands still before.

    Args:
        timeout: Maximum duration of a call [s]; 0 for no limit.

    Attributes:
        on_slow: Called once for a call that has run for :data:`SLOW_AFTER`, with the call and its
            timeout [s], by the watchdog thread; None reports nothing. A call with a longer timeout
            than the usual one has as much longer.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout or math.inf
        self._lock = threading.Lock()
        self._deadline = math.inf
        self._thread = 0
        self._fired = False
        self._slow_at = math.inf
        self._call: tuple[Callable[..., Any], float] | None = None
        self.on_slow: Callable[[Callable[..., Any], float], object] | None = None
        _thread.add(self)

    def run(self, call: Callable[..., Any], *args: object) -> Any:
        """Calls with the timeout.

        Raises:
            CallTimeout: Within the call, after the timeout.
        """
        return self.run_for(self.timeout, call, *args)

    def run_for(self, timeout: float, call: Callable[..., Any], *args: object) -> Any:
        """As :meth:`run`, with another timeout [s]."""
        try:
            try:
                self._thread = get_ident()
                now = monotonic()
                self._call = call, timeout
                factor = timeout / self.timeout if timeout < math.inf else 1.0
                self._slow_at = now + SLOW_AFTER * factor
                self._deadline = now + timeout
                result = call(*args)
                if monotonic() - now >= timeout:
                    raise CallTimeout
                return result
            finally:
                with self._lock:
                    self._deadline = self._slow_at = math.inf
                if self._fired:
                    self._settle()
        except CallTimeout:
            # A second one may be pending, or arrive during this.
            while True:
                try:
                    with self._lock:
                        self._deadline = math.inf
                    self._settle()
                    break
                except CallTimeout:
                    continue
            raise

    def _settle(self) -> None:
        """Cancels an exception that was raised but not delivered yet."""
        _set_exception(self._thread, ctypes.py_object())
        self._fired = False

    def interrupt_if_late(self, now: float) -> None:
        """Interrupts the call if it is late; called by the watchdog thread."""
        if now >= self._slow_at:
            with self._lock:
                slow = self._call if now >= self._slow_at else None
                self._slow_at = math.inf
            if slow is not None and self.on_slow is not None:
                with contextlib.suppress(Exception):  # a failed report must not end the watchdog
                    self.on_slow(*slow)
        if now < self._deadline:
            return
        with self._lock:
            if now >= self._deadline:
                self._deadline = now + RETRY_PERIOD
                self._fired = True
                _set_exception(self._thread, ctypes.py_object(CallTimeout))


class _WatchdogThread:
    """The thread that checks all watchdogs; it runs while there are any."""

    def __init__(self) -> None:
        self._guards: weakref.WeakSet[CallWatchdog] = weakref.WeakSet()
        self.renew()

    def renew(self) -> None:
        """Drops the thread, which a forked process does not inherit."""
        self._lock = threading.Lock()
        self._running = False

    def add(self, guard: CallWatchdog) -> None:
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
            longest = _fire_late(list(self._guards)) / 4.0
            pause.wait(min(max(longest, 0.02), _CHECK_PERIOD))


def _fire_late(guards: list[CallWatchdog]) -> float:
    """Interrupts late calls; returns the shortest timeout [s]."""
    now = monotonic()
    for guard in guards:
        guard.interrupt_if_late(now)
    return min((guard.timeout for guard in guards), default=RETRY_PERIOD)


_thread = _WatchdogThread()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_thread.renew)
