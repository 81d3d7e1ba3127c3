"""Receiver: joins frames to messages, and says how fast they may come."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.isotp.settings import (
    CHECK_DATA,
    CHECK_LENGTH,
    FORCE_RX_GAP,
    LISTEN,
    RETRY,
    RX_PADDING,
    TIMEOUT,
    IsoTpSettings,
)


class Receiver:
    """The receiving half of a channel.

    Args:
        settings: The channel's.
        put: Sends a frame; False where the bus does not take it.
        message: Called with each whole message.
        failed: Called with the reason when a message is given up.
    """

    def __init__(
        self,
        settings: IsoTpSettings,
        put: Callable[[Frame], bool],
        message: Callable[[bytes], None],
        failed: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._put = put
        self._message = message
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._taking = bytearray()
        self._expected = 0
        self._next = 0
        self._taken_in_block = 0
        self._last = -math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """A message is under way."""
        return self._expected > 0

    def close(self) -> None:
        """Gives up what is under way."""
        self._end()

    def hear(self, content: bytes, stamp: float) -> None:
        """Takes a frame without its address, heard at a time [s]."""
        kind = content[0] >> 4
        if kind == 0:
            self._single(content)
        elif kind == 1:
            self._first(content)
        elif kind == 2:
            self._follow(content, stamp)

    def _single(self, content: bytes) -> None:
        length = content[0] & 0x0F
        if not length or length > len(content) - 1 or not self._padding_fits(content, length + 1):
            return
        self._end()
        self._message(content[1 : 1 + length])

    def _first(self, content: bytes) -> None:
        length = (content[0] & 0x0F) << 8 | content[1] if len(content) > 1 else 0
        shift = self._settings.shift
        if len(content) != 8 - shift or length <= 7 - shift:
            return
        self._end()
        self._taking = bytearray(content[2:])
        self._expected, self._next, self._taken_in_block = length, 1, 0
        self._last = -math.inf
        self._allow()
        self._arm()

    def _follow(self, content: bytes, stamp: float) -> None:
        if not self._expected:
            return
        settings = self._settings
        if settings.flags & FORCE_RX_GAP and stamp - self._last < settings.forced_gap:
            return
        self._last = stamp
        if content[0] & 0x0F != self._next:
            self._end()
            self._failed("a consecutive frame is missing")
            return
        left = self._expected - len(self._taking)
        if len(content) - 1 < min(left, 7 - settings.shift):
            return
        if left <= len(content) - 1 and not self._padding_fits(content, left + 1):
            self._end()
            return
        self._taking += content[1 : 1 + left]
        self._next = (self._next + 1) & 0x0F
        if len(self._taking) >= self._expected:
            whole = bytes(self._taking)
            self._end()
            self._message(whole)
            return
        self._taken_in_block += 1
        if settings.block and self._taken_in_block >= settings.block:
            self._taken_in_block = 0
            self._allow()
        self._arm()

    def _allow(self) -> None:
        """Lets the next block come; where the bus is full, as soon as it takes the frame."""
        settings = self._settings
        self._again = None
        if settings.flags & LISTEN:
            return
        pad = settings.rx_pad if settings.flags & RX_PADDING else None
        if not self._put(settings.frame(bytes((0x30, settings.block, settings.gap)), pad=pad)):
            self._again = self._loop.call_later(RETRY, self._allow)

    def _padding_fits(self, content: bytes, used: int) -> bool:
        """Whether what stands behind the data is as the flags demand."""
        settings, flags = self._settings, self._settings.flags
        if not flags & (CHECK_LENGTH | CHECK_DATA):
            return True
        if not flags & RX_PADDING:
            return bool(flags & CHECK_LENGTH) and len(content) == used
        if flags & CHECK_LENGTH and len(content) != 8 - settings.shift:
            return False
        return not flags & CHECK_DATA or all(byte == settings.rx_pad for byte in content[used:])

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(TIMEOUT, self._late)

    def _late(self) -> None:
        self._end()
        self._failed("the next consecutive frame did not come")

    def _end(self) -> None:
        self._expected = 0
        self._taking = bytearray()
        for timer in (self._timer, self._again):
            if timer is not None:
                timer.cancel()
        self._timer = self._again = None
