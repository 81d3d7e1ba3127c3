"""CONTROL mode: statistics of the bus at an interval."""

from __future__ import annotations

import asyncio

from linkwork.buses.can.frame import CanError
from linkwork.buses.can.node import Node
from linkwork.buses.can.socketcand.mode import Silent, Write
from linkwork.buses.can.socketcand.text import whole


class Statistics:
    """Writes ``< stat rbytes rpackets tbytes tpackets >`` again and again, in whatever mode.

    The protocol sends them inline with frames and other data until the interval is set to 0.
    Received is what the bus carried for others, transmitted what it carried for this client.
    """

    def __init__(self, node: Node, write: Write) -> None:
        self.node = node
        self.write = write
        self._timer: asyncio.TimerHandle | None = None
        self._interval = 0.0

    def set(self, interval: float) -> None:
        """Starts at an interval [s]; 0 stops."""
        self.close()
        self._interval = interval
        if interval:
            self._next()

    def close(self) -> None:
        """Stops."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _next(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._interval, self._tell)

    def _tell(self) -> None:
        hub, count = self.node.hub, self.node.count
        numbers = (
            hub.frame_bytes - count.sent_bytes,
            hub.frames - count.sent,
            count.sent_bytes,
            count.sent,
        )
        self.write(f"< stat {' '.join(map(str, numbers))} >".encode())
        self._next()


class Control(Silent):
    """Understands ``statistics``."""

    def __init__(self, node: Node, write: Write, statistics: Statistics) -> None:
        super().__init__(node, write)
        self._statistics = statistics

    def command(self, name: str, words: list[str]) -> bool:
        """Understands ``statistics ival`` [ms]."""
        if name != "statistics":
            return False
        if len(words) != 1:
            raise CanError("statistics needs an interval in milliseconds")
        self._statistics.set(whole(words[0], 10**9) / 1000.0)
        return True
