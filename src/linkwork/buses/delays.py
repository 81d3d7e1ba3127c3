"""Delays: what a fault on a wire holds back, bounded, and let go when the fault ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

#: How much one fault may hold back.
HELD_MOST = 4096

Go = Callable[[], object]


class Delays:
    """Holds frames or lines back, each fault in a queue of its own.

    What one fault holds comes in the order in which it was held. Where that is too much, the
    oldest is lost.

    Attributes:
        lost: How much was lost.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._held: dict[int, deque[tuple[float, Go]]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def hold(self, fault: int, delay: float, go: Go) -> bool:
        """Calls something later.

        Args:
            fault: Number of the fault that holds it.
            delay: How late [s].
            go: What is called.

        Returns:
            False where the oldest was lost for it.
        """
        held = self._held.setdefault(fault, deque())
        due = asyncio.get_running_loop().time() + delay
        full = len(held) >= HELD_MOST
        if full:
            held.popleft()
            self.lost += 1
        held.append((max(due, held[-1][0]) if held else due, go))
        if fault not in self._timers:
            self._arm(fault)
        return not full

    def end(self, fault: int) -> None:
        """Lets go at once what an ended fault still holds."""
        if fault in self._timers:
            self._timers.pop(fault).cancel()
        held = self._held.pop(fault, deque())
        while held:
            held.popleft()[1]()

    def close(self) -> None:
        """Forgets everything."""
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
