"""Listeners: calls after a step in which a signal changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from linkwork.core.errors import SessionError, SignalError
from linkwork.core.signals import Signals
from linkwork.session.kernels import changed_signals

Call = Callable[[float], object]


@dataclass(frozen=True)
class SignalListener:
    """A callback on one signal; ``by`` is the change since the last call that triggers it."""

    signal: str
    call: Call
    by: float
    owner: str

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise SignalError(f"on_change of {self.signal!r} needs a function, not {self.call!r}.")
        if not (isinstance(self.by, int | float) and math.isfinite(self.by) and self.by >= 0.0):
            raise SignalError(
                f"on_change of {self.signal!r}: by must be 0 or more, not {self.by!r}."
            )


class SignalListeners:
    """Listeners in the order in which they were added.

    Args:
        signals: The signals that they listen to.
        last: Memory of the last value of each listener. For the scene's own agents it is in the
            state (``listeners/last``), so that a restored run calls at the same steps; its size
            limits their number to ``capacity``. Without it there is no limit.
    """

    capacity = 2048

    def __init__(self, signals: Signals, last: np.ndarray | None = None) -> None:
        self._signals = signals
        self._grows = last is None
        self._last = np.zeros(16) if last is None else last
        self._all: list[SignalListener] = []
        self._stale = False
        self._addresses = np.zeros(0, np.int64)
        self._by = np.zeros(0)
        self._found = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._all)

    def add(self, listener: SignalListener, data: np.ndarray) -> None:
        """Adds a listener; it is first called when the signal changes from now on.

        Raises:
            NameNotFound: If there is no such signal.
            SessionError: If there is no room for one more.
        """
        address = self._signals[listener.signal].address
        number = len(self._all)
        if number >= len(self._last):
            if not self._grows:
                raise SessionError(
                    f"the agents of a session can have {len(self._last)} listeners, not one more.",
                    hint="Listen once, in init(), and not again in each call.",
                )
            self._last = np.concatenate([self._last, np.zeros_like(self._last)])
        self._last[number] = data[address]
        self._all.append(listener)
        self._stale = True

    def forget(self, owner: str) -> None:
        """Ends all listeners of ``owner``."""
        keep = [n for n, listener in enumerate(self._all) if listener.owner != owner]
        self._last[: len(keep)] = self._last[keep]
        self._all = [self._all[n] for n in keep]
        self.truncate(len(keep))

    def truncate(self, count: int) -> None:
        """Ends all but the first ``count``."""
        del self._all[count:]
        self._last[count:] = 0.0
        self._stale = True

    def transfer_to(
        self, other: SignalListeners, names: dict[str, str], data: np.ndarray
    ) -> list[SignalListener]:
        """Adds all to ``other``, whose signals may have other names.

        Args:
            other: The target.
            names: New names by old name.
            data: The data of the new state.

        Returns:
            Listeners whose signal no longer exists.
        """
        lost: list[SignalListener] = []
        for n, listener in enumerate(self._all):
            name = names.get(listener.signal, listener.signal)
            if name not in other._signals:
                lost.append(listener)
                continue
            other.add(replace(listener, signal=name), data)
            other._last[len(other) - 1] = self._last[n]
        return lost

    def _index(self) -> None:
        self._stale = False
        addresses = [self._signals[listener.signal].address for listener in self._all]
        self._addresses = np.array(addresses, np.int64)
        self._by = np.array([listener.by for listener in self._all], np.float64)
        self._found = np.zeros(len(self._all), np.int64)

    def call(self, data: np.ndarray) -> None:
        """Calls the listeners whose signals changed.

        A call may add and end listeners. If one fails, the rest are called in the next step.
        """
        if not self._all:
            return
        if self._stale:
            self._index()
        count = changed_signals(data, self._addresses, self._by, self._last, self._found)
        if not count:
            return
        found = self._found[:count]
        values = self._last[found].tolist()
        due = [self._all[n] for n in found.tolist()]
        done = 0
        try:
            for listener, value in zip(due, values, strict=True):
                done += 1
                listener.call(value)
        except BaseException:
            rest = {id(listener) for listener in due[done:]}
            for n, listener in enumerate(self._all):
                if id(listener) in rest:
                    self._last[n] = math.inf
            raise
