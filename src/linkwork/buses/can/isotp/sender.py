"""Sender: cuts messages into frames, as fast as the other side and the bus take them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.isotp.settings import (
    FORCE_TX_GAP,
    MOST,
    RETRY,
    TIMEOUT,
    TX_PADDING,
    IsoTpSettings,
    gap_seconds,
)

WAITING_MOST = 32


class Sender:
    """The sending half of a channel: one message at a time, the others wait.

    Args:
        settings: The channel's.
        put: Sends a frame; False where the bus does not take it.
        failed: Called with the reason when a message is given up.
    """

    def __init__(
        self, settings: IsoTpSettings, put: Callable[[Frame], bool], failed: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._put = put
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._sending = b""
        self._place = 0
        self._sequence = 0
        self._left_in_block = 0
        self._flow_due = False
        self._gap = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """A message is under way."""
        return bool(self._sending)

    def send(self, data: bytes) -> None:
        """Queues a message of 1 to 4095 bytes."""
        if not 1 <= len(data) <= MOST:
            raise CanError(f"a message of {len(data)} bytes; 1 to {MOST} can be sent")
        if len(self._waiting) >= WAITING_MOST:
            raise CanError(f"{WAITING_MOST} messages wait already")
        self._waiting.append(data)
        self._begin()

    def close(self) -> None:
        """Gives up what is under way."""
        self._waiting.clear()
        self._end()

    def flow(self, content: bytes) -> None:
        """Takes a flow control, if one is due."""
        if not self._flow_due or len(content) < 3:
            return
        kind = content[0] & 0x0F
        if kind == 1:
            self._expect_flow()
        elif kind == 0:
            self._left_in_block = content[1]
            forced = self._settings.flags & FORCE_TX_GAP
            self._gap = 0.0 if forced else gap_seconds(content[2])
            self._flow_due = False
            self._arm(0.0, self._consecutive)
        else:
            self._give_up("the receiver has no room" if kind == 2 else "a wrong flow control came")

    def _begin(self) -> None:
        if self._sending or not self._waiting:
            return
        data = self._sending = self._waiting.popleft()
        shift = self._settings.shift
        if len(data) <= 7 - shift:
            self._push(bytes((len(data),)) + data, self._done)
            return
        self._place, self._sequence = 6 - shift, 1
        head = bytes((0x10 | len(data) >> 8, len(data) & 0xFF))
        self._push(head + data[: self._place], self._expect_flow)

    def _expect_flow(self) -> None:
        self._flow_due = True
        self._arm(TIMEOUT, lambda: self._give_up("no flow control came"))

    def _consecutive(self) -> None:
        piece = self._sending[self._place : self._place + 7 - self._settings.shift]
        self._place += len(piece)
        self._push(bytes((0x20 | self._sequence,)) + piece, self._go_on)

    def _go_on(self) -> None:
        self._sequence = (self._sequence + 1) & 0x0F
        if self._place >= len(self._sending):
            self._done()
            return
        if self._left_in_block:
            self._left_in_block -= 1
            if not self._left_in_block:
                self._expect_flow()
                return
        self._arm(self._gap, self._consecutive)

    def _push(self, content: bytes, then: Callable[[], None]) -> None:
        """Sends a frame, again and again while the bus does not take it."""
        settings = self._settings
        pad = settings.tx_pad if settings.flags & TX_PADDING else None
        self._try(settings.frame(content, pad=pad), then, self._loop.time() + TIMEOUT)

    def _try(self, frame: Frame, then: Callable[[], None], until: float) -> None:
        if self._put(frame):
            then()
        elif self._loop.time() >= until:
            self._give_up(f"the bus took no frame for {TIMEOUT:g} s")
        else:
            self._arm(RETRY, lambda: self._try(frame, then, until))

    def _arm(self, delay: float, call: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, call)

    def _done(self) -> None:
        self._end()
        self._loop.call_soon(self._begin)

    def _give_up(self, why: str) -> None:
        self._end()
        self._failed(why)
        self._begin()

    def _end(self) -> None:
        self._sending, self._flow_due = b"", False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
