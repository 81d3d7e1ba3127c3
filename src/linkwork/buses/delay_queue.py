"""Delay queue of a fault on the wire."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

#: Maximum number of frames that one fault delays.
MAX_HELD = 4096

Go = Callable[[], object]


class DelayQueue:
    """Delays frames or lines, in one queue for each fault.

    A queue is first in, first out. If it is full, the
    oldest entry is lost.

    Attributes:
        lost: Number of lost entries.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._held: dict[int, deque[tuple[float, Go]]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def hold(self, fault: int, delay: float, go: Go) -> bool:
        """Schedules a call.

        Args:
            fault: Number of the fault.
            delay: Delay [s].
            go: The call.

        Returns:
            False if the oldest entry was dropped for it.
        """
        held = self._held.setdefault(fault, deque())
        due = asyncio.get_running_loop().time() + delay
        full = len(held) >= MAX_HELD
        if full:
            held.popleft()
            self.lost += 1
        held.append((max(due, held[-1][0]) if held else due, go))
        if fault not in self._timers:
            self._arm(fault)
        return not full

    def end(self, fault: int) -> None:
        """Releases the entries of an ended fault at once."""
        if fault in self._timers:
            self._timers.pop(fault).cancel()
        held = self._held.pop(fault, deque())
        while held:
            held.popleft()[1]()

    def close(self) -> None:
        """Discards all entries."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._held.clear()

    def _arm(self, fault: int) -> None:
        loop = asyncio.get_running_loop()
        self._timers[fault] = loop.call_at(self._held[fault][0][0], self._run, fault)

    def _run(self, fault: int) -> None:
        del self._timers[fault]
        held, now = self._held[fault], asyncio.get_running_loop().time()
        while held and held[0][0] <= now:
            held.popleft()[1]()
        if held and fault in self._held:
            self._arm(fault)
