"""Latch: what arrived over a bus and waits for the session; the newest of each signal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Protocol

import msgspec

from linkwork.buses.messages import Fed, Gone

#: Feeds that may wait for the session at a time; what comes meanwhile is latched, newest wins.
IN_FLIGHT = 4


class Outlet(Protocol):
    """Where an adapter's messages go."""

    def send(self, message: msgspec.Struct) -> bool:
        """Sends a message to the session; False where it found no room and is lost."""
        ...


class Latch:
    """Hands feeds on to the session, only a few at a time, and none is lost.

    In lock-step they wait until their turn has ended.

    Args:
        outlet: Where they go.
        lockstep: Whether the scene waits for turns.
        counters: What goes along with a turn, in lock-step.

    Attributes:
        version: Number of the plan that the values belong to.
    """

    def __init__(
        self, outlet: Outlet, *, lockstep: bool, counters: Callable[[], dict[str, float]] = dict
    ) -> None:
        self._outlet, self._lockstep, self._counters = outlet, lockstep, counters
        self.version = 0
        self._values: dict[str, float] = {}
        self._ended = 0
        self._sent = self._taken = 0
        self._gone = False
        self._left: set[str] = set()  # what they commanded who have gone

    def put(self, values: dict[str, float], turn: int) -> None:
        """Latches values; ``turn`` is the turn that they end, 0 for none."""
        self._values.update(values)
        self._ended = turn or self._ended
        self._left -= values.keys()
        self._gone = self._gone and bool(self._left) and not turn
        self.flush()

    def taken(self, version: int, taken: int) -> None:
        """Notes how many feeds of a plan the session has taken."""
        self.version, self._taken = version, taken
        self.flush()

    def replan(self, fed: Container[str], version: int) -> None:
        """Forgets what belongs to other ports; both ends count from 0 for each plan."""
        self._values = {key: value for key, value in self._values.items() if key in fed}
        self._left = {key for key in self._left if key in fed}
        self._gone = self._gone and (self._lockstep or bool(self._left))
        self.version = version
        self._sent = self._taken = self._ended = 0

    def gone(self, keys: Iterable[str]) -> None:
        """Who commanded these has left: the session hears of it, after what was fed before."""
        self._gone = True
        self._left.update(keys)
        if self._lockstep and not self._ended:
            self._values = {}  # of a turn that nobody will end
        self.flush(at_once=True)

    def flush(self, *, at_once: bool = False) -> None:
        """Sends what is latched, if the session has taken what went before.

        Args:
            at_once: Also if it has not: the sender leaves.
        """
        crowded = not at_once and self._sent - self._taken >= IN_FLIGHT
        if self._waits and (self._lockstep or not crowded) and self._outlet.send(self._fed()):
            self._values, self._ended = {}, 0
            self._sent += 1
        if self._gone and not self._waits and self._outlet.send(Gone(sorted(self._left))):
            self._gone = False
            self._left.clear()

    def _fed(self) -> Fed:
        counters = self._counters() if self._lockstep else {}
        return Fed(self.version, self._values, self._ended, counters)

    @property
    def _waits(self) -> bool:
        return bool(self._ended) if self._lockstep else bool(self._values)
