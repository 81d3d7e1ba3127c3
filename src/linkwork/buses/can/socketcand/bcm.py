"""BCM mode: cyclic transmission with filtered reception."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from dataclasses import dataclass

from linkwork.buses.can.frame import CanError, CanFrame
from linkwork.buses.can.node import CanNode
from linkwork.buses.can.socketcand.modes import BaseMode, Write
from linkwork.buses.can.socketcand.text import (
    frame_of,
    frame_text,
    hex_byte,
    identifier,
    interval,
    whole,
)


class ContentFilter:
    """Filters frames like the kernel's broadcast manager, throttled to an interval.

    Without a mask every frame passes. With one mask a frame passes when a bit under the mask
    differs from the last frame that passed. With several, the first has the bits of the
    multiplex identifier; each other one holds such an identifier and, in the remaining bits, the
    mask for frames of that kind.

    Within the interval after a frame was written, only the newest of each kind is kept; it is
    written when the interval has passed.

    Args:
        node: The client's node.
        write: Writes to the client.
        throttle: Minimum time between two writes [s]; 0 for none.
        masks: None, one, or the multiplex mask and its tuples, 8 bytes each.
    """

    def __init__(self, node: CanNode, write: Write, throttle: float, masks: list[bytes]) -> None:
        self._node = node
        self._write = write
        self._throttle = throttle
        self._masks = [int.from_bytes(mask, "big") for mask in masks]
        self._last: dict[int, int] = {}
        self._waiting: dict[int, CanFrame] = {}
        self._timer: asyncio.TimerHandle | None = None

    def on_frame(self, frame: CanFrame) -> bool | None:
        """Handles a frame of the identifier."""
        content = int.from_bytes(frame.data.ljust(8, b"\0"), "big")
        kind = self._kind(content)
        if kind is None:
            return None
        if self._masks:
            masked = content & self._masks[kind]
            if self._last.get(kind) == masked:
                return None
            self._last[kind] = masked
        if not self._throttle:
            return self._write(frame_text(frame))
        if self._timer is not None:
            self._waiting[kind] = frame
            return None
        self._rest()
        return self._write(frame_text(frame))

    def close(self) -> None:
        """Ends the throttle's timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _kind(self, content: int) -> int | None:
        masks = self._masks
        if len(masks) < 2:
            return 0
        selector = masks[0]
        for number in range(1, len(masks)):
            if content & selector == masks[number] & selector:
                return number
        return None

    def _rest(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._throttle, self._flush)

    def _flush(self) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, {}
        if waiting:
            self._rest()
        for frame in waiting.values():
            if not self._write(frame_text(frame)):
                self._node.count.lost += 1


MAX_JOBS = 1024  # maximum number of jobs of one client
TICK = 0.001  # resolution of timers; shorter periods send several frames at a time [s]
BURST = 32  # frames of one tick, of all jobs of a client: more than 1 Mbit/s carries in that time
MAX_LATENESS = 0.1  # frames later than this are skipped [s]

Key = tuple[int, bool]


@dataclass(slots=True, eq=False)
class _Job:
    frame: CanFrame
    period: float
    ended: bool = False


class SendJobs:
    """The send jobs of one client, by identifier: one timer, and one budget.

    Jobs that exceed the budget, or what the bus accepts, take turns, so that other nodes are served
    meanwhile.

    Args:
        node: The client's node.
    """

    def __init__(self, node: CanNode) -> None:
        self._node = node
        self._loop = asyncio.get_running_loop()
        self._jobs: dict[Key, _Job] = {}
        self._due: list[tuple[float, int, _Job]] = []  # a heap
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, frame: CanFrame, period: float) -> None:
        """Sends a frame at once and then at its period [s]; only once if that is 0.

        Raises:
            CanError: There are too many.
        """
        key = (frame.id, frame.extended)
        if key not in self._jobs and len(self._jobs) >= MAX_JOBS:
            raise CanError(f"there are {MAX_JOBS} already")
        self.delete(key)
        job = self._jobs[key] = _Job(frame, period)
        self._node.send(frame)
        if period > 0.0:
            heapq.heappush(self._due, (self._loop.time() + period, next(self._order), job))
            self._arm()

    def update(self, frame: CanFrame) -> bool:
        """Replaces a job's frame without restarting its timer; returns False if it has ended."""
        job = self._jobs.get((frame.id, frame.extended))
        if job is not None:
            job.frame = frame
        return job is not None

    def delete(self, key: Key) -> bool:
        """Ends a job; returns False if there is none."""
        job = self._jobs.pop(key, None)
        if job is None:
            return False
        job.ended = True
        if len(self._due) > 2 * MAX_JOBS:  # jobs that ended long before they were due
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
            heapq.heappush(due, (max(at + job.period, now - MAX_LATENESS), next(self._order), job))
        if due:
            self._arm()


MAX_SUBSCRIPTIONS = 1024  # maximum number of filters of one client


class BcmMode(BaseMode):
    """A broadcast manager like the Linux kernel's, for one client."""

    def __init__(self, node: CanNode, write: Write) -> None:
        super().__init__(node, write)
        self._jobs = SendJobs(node)
        self._filters: dict[Key, ContentFilter] = {}

    def command(self, name: str, words: list[str]) -> bool:
        """Executes the commands for transmission and for reception."""
        command = getattr(self, f"_{name}", None) if name in _COMMANDS else None
        if command is None:
            return False
        try:
            command(words)
        except CanError as error:
            raise CanError(f"{name}: {error}") from None
        except IndexError:
            raise CanError(f"{name}: arguments are missing") from None
        return True

    def wants(self, frame: CanFrame) -> bool:
        """Whether the identifier is subscribed."""
        return not frame.remote and (frame.id, frame.extended) in self._filters

    def on_frame(self, frame: CanFrame) -> bool | None:
        """Passes the frame to the filter of its identifier; error frames are always sent."""
        if frame.error:
            return self.write(frame_text(frame))
        return self._filters[frame.id, frame.extended].on_frame(frame)

    def close(self) -> None:
        """Ends all jobs and filters."""
        self._jobs.close()
        for each in self._filters.values():
            each.close()
        self._filters.clear()

    def _send(self, words: list[str]) -> None:
        self.node.send(frame_of(words))

    def _add(self, words: list[str]) -> None:
        period = interval(words[0], words[1])
        self._jobs.add(frame_of(words[2:]), period)

    def _update(self, words: list[str]) -> None:
        if not self._jobs.update(frame_of(words)):
            raise CanError(f"there is no send job for {words[0]}")

    def _delete(self, words: list[str]) -> None:
        _only(words, 1)
        if not self._jobs.delete(identifier(words[0])):
            raise CanError(f"there is no send job for {words[0]}")

    def _filter(self, words: list[str]) -> None:
        throttle = interval(words[0], words[1])
        mask = frame_of(words[2:])
        if mask.remote:
            raise CanError(f"a mask of {mask.dlc} bytes is needed")
        self._listen((mask.id, mask.extended), throttle, [mask.data.ljust(8, b"\0")])

    def _muxfilter(self, words: list[str]) -> None:
        throttle = interval(words[0], words[1])
        key, count = identifier(words[2]), whole(words[3], 257)
        if count < 2 or len(words) != 4 + 8 * count:
            raise CanError("give 2 to 257 tuples of 8 bytes, and their number before them")
        content = bytes(hex_byte(word) for word in words[4:])
        self._listen(key, throttle, [content[8 * n : 8 * n + 8] for n in range(count)])

    def _subscribe(self, words: list[str]) -> None:
        _only(words, 3)
        self._listen(identifier(words[2]), interval(words[0], words[1]), [])

    def _unsubscribe(self, words: list[str]) -> None:
        _only(words, 1)
        chosen = self._filters.pop(identifier(words[0]), None)
        if chosen is None:
            raise CanError(f"there is no subscription for {words[0]}")
        chosen.close()

    def _listen(self, key: Key, throttle: float, masks: list[bytes]) -> None:
        old = self._filters.pop(key, None)
        if old is not None:
            old.close()
        elif len(self._filters) >= MAX_SUBSCRIPTIONS:
            raise CanError(f"there are {MAX_SUBSCRIPTIONS} already")
        self._filters[key] = ContentFilter(self.node, self.write, throttle, masks)


_COMMANDS = frozenset(
    ("send", "add", "update", "delete", "filter", "muxfilter", "subscribe", "unsubscribe")
)


def _only(words: list[str], count: int) -> None:
    if len(words) != count:
        raise CanError(f"{count} value{'s' if count > 1 else ''} expected, {len(words)} found")
