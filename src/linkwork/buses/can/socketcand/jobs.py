"""A frame that is sent at a period."""

from __future__ import annotations

import asyncio

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node

TICK = 0.001  # timers are not finer; shorter periods send several at a time [s]
BURST = 256


class SendJob:
    """Sends a frame at once and then at its period; once only where the period is 0.

    Attributes:
        frame: May be replaced while the job runs; the timer goes on.
    """

    def __init__(self, node: Node, frame: Frame, period: float) -> None:
        self.frame = frame
        self._node = node
        self._period = period
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        node.send(frame)
        if period > 0.0:
            self._due = self._loop.time() + period
            self._wait()

    def close(self) -> None:
        """Ends the job."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = self._loop.call_at(max(self._due, self._loop.time() + TICK), self._run)

    def _run(self) -> None:
        now = self._loop.time()
        for _ in range(BURST):
            if self._due > now:
                break
            self._node.send(self.frame)
            self._due += self._period
        else:  # too far behind: what was missed is not made up for
            self._due = now + self._period
        self._wait()
