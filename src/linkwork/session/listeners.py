"""Listeners: calls that are made after a step in which a signal moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.session.kernels import moved
from linkwork.signals import Signals

Call = Callable[[float], object]


@dataclass(frozen=True)
class Listener:
    """A call on one signal; ``by`` is how far it must move since the last call."""

    signal: str
    call: Call
    by: float
    owner: str


class Listeners:
    """All listeners of a session, in the order in which they were added.

    The last value that each listener was told lives in the state (``listeners/last``), which has
    room for ``capacity`` listeners, so that a restored run calls at the same steps.
    """

    capacity = 2048

    def __init__(self, signals: Signals, last: np.ndarray) -> None:
        self._signals = signals
        self._last = last
        self._all: list[Listener] = []
        self._addresses = np.zeros(0, np.int64)
        self._by = np.zeros(0)
        self._found = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._all)

    def add(self, listener: Listener, data: np.ndarray) -> None:
        """Adds a listener; it is first called when the signal moves from here."""
        address = self._signals[listener.signal].address
        number = len(self._all)
        if number >= self.capacity:
            raise ValueError(f"a session has room for {self.capacity} listeners.")
        self._last[number] = data[address]
        self._all.append(listener)
        self._index()

    def forget(self, owner: str) -> None:
        """Ends all listeners of ``owner``."""
        keep = [n for n, listener in enumerate(self._all) if listener.owner != owner]
        self._last[: len(keep)] = self._last[keep]
        self._last[len(keep) :] = 0.0
        self._all = [self._all[n] for n in keep]
        self._index()

    def _index(self) -> None:
        addresses = [self._signals[listener.signal].address for listener in self._all]
        self._addresses = np.array(addresses, np.int64)
        self._by = np.array([listener.by for listener in self._all])
        self._found = np.zeros(len(self._all), np.int64)

    def everyone(self) -> list[Listener]:
        """All listeners, in order."""
        return list(self._all)

    def call(self, data: np.ndarray) -> None:
        """Calls those whose signals moved."""
        if not self._all:
            return
        count = moved(data, self._addresses, self._by, self._last, self._found)
        if not count:
            return
        for n in self._found[:count].tolist():
            listener = self._all[n]
            listener.call(float(self._last[n]))
