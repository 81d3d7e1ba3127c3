"""Frames that are sent at a period, all those of one client together."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from dataclasses import dataclass

from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.node import Node

MOST = 1024  # jobs of one client
TICK = 0.001  # timers are not finer; shorter periods send several at a time [s]
BURST = 32  # frames of one tick, of all jobs of a client: more than 1 Mbit/s carry in that time
LATE = 0.1  # what is later than this is not made up for [s]

Key = tuple[int, bool]


@dataclass(slots=True, eq=False)
class _Job:
    frame: Frame
    period: float
    ended: bool = False


class SendJobs:
    """The send jobs of one client, by identifier: one timer, and one budget.

    Jobs that ask for more than the budget, or than the bus takes, have their turns one after
    another, so that others on the bus are served meanwhile.

    Args:
        node: The client's node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._loop = asyncio.get_running_loop()
        self._jobs: dict[Key, _Job] = {}
        self._due: list[tuple[float, int, _Job]] = []  # a heap
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, frame: Frame, period: float) -> None:
        """Sends a frame at once and then at its period [s]; once only where that is 0.

        Raises:
            CanError: There are too many.
        """
        key = (frame.id, frame.extended)
        if key not in self._jobs and len(self._jobs) >= MOST:
            raise CanError(f"there are {MOST} already")
        self.delete(key)
        job = self._jobs[key] = _Job(frame, period)
        self._node.send(frame)
        if period > 0.0:
            heapq.heappush(self._due, (self._loop.time() + period, next(self._order), job))
            self._arm()

    def update(self, frame: Frame) -> bool:
        """Replaces a job's frame, while its timer goes on; False where there is no such job."""
        job = self._jobs.get((frame.id, frame.extended))
        if job is not None:
            job.frame = frame
        return job is not None

    def delete(self, key: Key) -> bool:
        """Ends a job; False where there is none."""
        job = self._jobs.pop(key, None)
        if job is None:
            return False
        job.ended = True
        if len(self._due) > 2 * MOST:  # jobs that ended long before they were due
            self._due = [entry for entry in self._due if not entry[2].ended]
            heapq.heapify(self._due)
        return True

    def close(self) -> None:
        """Ends all."""
        self._jobs.clear()
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        at = max(self._due[0][0], self._loop.time() + TICK)
        self._timer = self._loop.call_at(at, self._run)

    def _run(self) -> None:
        self._timer = None
        node, due, now = self._node, self._due, self._loop.time()
        left = BURST
        while due and due[0][0] <= now and left and not node.full:
            at, _, job = heapq.heappop(due)
            if job.ended:
                continue
            node.send(job.frame)
            left -= 1
            heapq.heappush(due, (max(at + job.period, now - LATE), next(self._order), job))
        if due:
            self._arm()
