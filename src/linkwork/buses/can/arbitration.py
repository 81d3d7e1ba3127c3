"""Arbitration on the CAN wire."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from linkwork.buses.can.frame import CanFrame
from linkwork.buses.can.node import CanNode

if TYPE_CHECKING:
    from linkwork.buses.can.hub import CanHub

Passed = Callable[[float], None]


class InstantArbiter:
    """Without delay: all frames of an instant pass, the lowest identifier first.

    Frames that arrive meanwhile pass after these, so that a flood does not block other nodes.

    Args:
        hub: The bus.
    """

    def __init__(self, hub: CanHub) -> None:
        self._hub = hub
        self._heads: list[tuple[int, int, CanNode]] = []  # nodes with frames to send
        self._order = itertools.count()
        self._turn_due = False

    def contend(self, node: CanNode) -> None:
        """A node whose queue was empty has a frame now."""
        heapq.heappush(self._heads, self._entry(node))
        self._turn_again()

    def put_back(self, node: CanNode, frame: CanFrame) -> None:
        """Queues a destroyed frame again, before the node's other frames."""
        node.outbox.appendleft(frame)  # the current turn checks for it

    def carry(self, bits: int, passed: Passed) -> None:
        """Carries bits, and calls ``passed`` with the time at which they have passed [s]."""
        now = self._hub.now()
        self._hub.count_bits(bits, now)
        passed(now)

    def close(self) -> None:
        """Stops carrying frames."""
        self._heads.clear()

    def _turn(self) -> None:
        self._turn_due = False
        heads, self._heads = self._heads, []
        left = {node: len(node.outbox) for _, _, node in heads}
        while heads:
            node = heapq.heappop(heads)[2]
            if not node.outbox:
                continue
            self._hub.carry_next(node)
            left[node] -= 1
            if node.outbox:
                heapq.heappush(heads if left[node] > 0 else self._heads, self._entry(node))
        self._turn_again()

    def _turn_again(self) -> None:
        if self._heads and not self._turn_due:
            self._turn_due = True
            self._hub.loop.call_soon(self._turn)

    def _entry(self, node: CanNode) -> tuple[int, int, CanNode]:
        return node.outbox[0].key, next(self._order), node


class TimedArbiter:
    """Takes the time of a real wire: a frame is received when its last bit has passed.

    It is as unfair as a real one: the lower identifier always goes first. Timers are coarser than
    frames are long, so that a wake-up handles all frames since the last one, each at its own time.

    Args:
        hub: The bus.
    """

    def __init__(self, hub: CanHub) -> None:
        self._hub = hub
        self._wanting: dict[CanNode, None] = {}  # nodes with frames to send
        self._passing: deque[tuple[float, int, Passed]] = deque()  # on the wire, or next
        self._free_at = -math.inf
        self._start = -math.inf  # start of the frame that has just won
        self._wake: asyncio.Handle | None = None
        self._awake = False

    def contend(self, node: CanNode) -> None:
        """A node whose queue was empty has a frame now."""
        self._wanting[node] = None
        if self._wake is None and not self._awake:
            self._wake = self._hub.loop.call_soon(self._advance)

    def put_back(self, node: CanNode, frame: CanFrame) -> None:
        """Queues a destroyed frame again, before the node's other frames."""
        node.outbox.appendleft(frame)
        self.contend(node)

    def carry(self, bits: int, passed: Passed) -> None:
        """Carries bits as soon as the wire is free, and calls when they have passed."""
        begin = self._start if self._start > -math.inf else self._hub.now()
        self._free_at = max(begin, self._free_at) + bits / self._hub.bitrate
        self._passing.append((self._free_at, bits, passed))
        if not self._awake:
            if self._wake is not None:
                self._wake.cancel()
            self._advance()

    def close(self) -> None:
        """Stops carrying frames."""
        self._wanting.clear()
        self._passing.clear()
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def _advance(self) -> None:
        """Ends frames that have passed by now, and begins the next."""
        self._wake, self._awake = None, True
        now = self._hub.now()
        try:
            while self._passing or self._begin():
                if not self._passing:
                    continue  # a fault has removed the frame that had won
                end, bits, passed = self._passing[0]
                if end > now:
                    self._wake = self._hub.loop.call_later(end - now, self._advance)
                    return
                self._passing.popleft()
                self._hub.count_bits(bits, end)
                passed(end)
        finally:
            self._awake = False

    def _begin(self) -> bool:
        """Starts the frame of the lowest identifier; returns False if there is none."""
        for node in [node for node in self._wanting if not node.outbox]:
            del self._wanting[node]  # it has sent all frames, or discarded them
        if not self._wanting:
            return False
        start = max(self._free_at, min(node.outbox[0].stamp for node in self._wanting))
        ready = [node for node in self._wanting if node.outbox[0].stamp <= start]
        self._start = start
        try:
            self._hub.carry_next(
                min(ready, key=lambda node: (node.outbox[0].key, node.outbox[0].stamp))
            )
        finally:
            self._start = -math.inf
        return True
