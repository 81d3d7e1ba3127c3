"""ISO-TP (ISO 15765-2): long messages over a pair of CAN identifiers with flow control."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.buses.can.frame import CanError, CanFrame

MAX_MESSAGE = 4095
TIMEOUT = 1.0  # for sending a frame, for a flow control, for a consecutive frame [s]
RETRY_PERIOD = 0.002  # period of attempts to send a frame that the bus did not accept [s]

# Flags as in linux/can/isotp.h.
LISTEN, EXTEND, TX_PADDING, RX_PADDING = 0x001, 0x002, 0x004, 0x008
CHECK_LENGTH, CHECK_DATA, HALF_DUPLEX = 0x010, 0x020, 0x040
FORCE_TX_GAP, FORCE_RX_GAP, RX_EXTEND = 0x080, 0x100, 0x200


@dataclass(frozen=True, slots=True)
class IsoTpSettings:
    """Settings of a channel.

    Attributes:
        tx: Identifier of sent frames, and whether it has 29 bits.
        rx: Identifier of received frames.
        flags: See above.
        block: Consecutive frames that the other side may send before it waits; 0 for all.
        gap: Minimum time between these, as :func:`gap_seconds` reads it.
        tx_pad: Padding of sent frames, with TX_PADDING.
        rx_pad: Padding of received frames, with RX_PADDING.
        address: First byte of sent frames, with EXTEND.
        rx_address: First byte of received frames, with RX_EXTEND.
        forced_gap: Consecutive frames that come sooner than this after the last one are ignored,
            with FORCE_RX_GAP [s]. In Linux it is set apart from the flag, in socketcand not at all.
    """

    tx: tuple[int, bool]
    rx: tuple[int, bool]
    flags: int = 0
    block: int = 0
    gap: int = 0
    tx_pad: int = 0xCC
    rx_pad: int = 0xCC
    address: int = 0
    rx_address: int = 0
    forced_gap: float = 0.0

    @property
    def needs(self) -> int:
        """Number of values in socketcand's isotpconf that the flags require."""
        pairs = ((RX_EXTEND, 10), (EXTEND, 9), (RX_PADDING, 8), (TX_PADDING, 7))
        return next((count for flag, count in pairs if self.flags & flag), 5)

    @property
    def shift(self) -> int:
        """Number of bytes that an address takes in every frame."""
        return 1 if self.flags & EXTEND else 0

    def frame(self, content: bytes, *, pad: int | None) -> CanFrame:
        """A frame of the channel.

        Args:
            content: The bytes after the address.
            pad: Padding up to 8 bytes; None for no padding.
        """
        if self.shift:
            content = bytes((self.address,)) + content
        if pad is not None:
            content = content.ljust(8, bytes((pad,)))
        id, extended = self.tx
        return CanFrame(id, content, extended, False, False, len(content))


def gap_seconds(code: int) -> float:
    """The minimum time between two frames, from a flow control [s]."""
    if 0xF1 <= code <= 0xF9:
        return (code - 0xF0) * 1e-4
    return min(code, 0x7F) * 1e-3


MAX_WAITING = 32


class IsoTpSender:
    """The sending half of a channel: one message at a time, the others wait.

    Args:
        settings: Settings of the channel.
        put: Sends a frame; returns False if the bus does not accept it.
        failed: Called with the reason when a message is aborted.
    """

    def __init__(
        self,
        settings: IsoTpSettings,
        put: Callable[[CanFrame], bool],
        failed: Callable[[str], None],
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
        """Whether a message is in progress."""
        return bool(self._sending)

    def send(self, data: bytes) -> None:
        """Queues a message of 1 to 4095 bytes."""
        if not 1 <= len(data) <= MAX_MESSAGE:
            raise CanError(f"a message of {len(data)} bytes; 1 to {MAX_MESSAGE} can be sent")
        if len(self._waiting) >= MAX_WAITING:
            raise CanError(f"{MAX_WAITING} messages wait already")
        self._waiting.append(data)
        self._begin()

    def close(self) -> None:
        """Aborts the transfer in progress."""
        self._waiting.clear()
        self._end()

    def flow(self, content: bytes) -> None:
        """Handles a flow control, if one is due."""
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
            self._give_up("the receiver's buffer is full" if kind == 2 else "invalid flow control")

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
        self._arm(TIMEOUT, lambda: self._give_up("no flow control received"))

    def _consecutive(self) -> None:
        piece = self._sending[self._place : self._place + 7 - self._settings.shift]
        self._place += len(piece)
        self._push(bytes((0x20 | self._sequence,)) + piece, self._resume)

    def _resume(self) -> None:
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
        """Sends a frame, repeatedly until the bus accepts it."""
        settings = self._settings
        pad = settings.tx_pad if settings.flags & TX_PADDING else None
        self._try(settings.frame(content, pad=pad), then, self._loop.time() + TIMEOUT)

    def _try(self, frame: CanFrame, then: Callable[[], None], until: float) -> None:
        if self._put(frame):
            then()
        elif self._loop.time() >= until:
            self._give_up(f"the bus accepted no frame for {TIMEOUT:g} s")
        else:
            self._arm(RETRY_PERIOD, lambda: self._try(frame, then, until))

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


class IsoTpReceiver:
    """The receiving half of a channel.

    Args:
        settings: Settings of the channel.
        put: Sends a frame; returns False if the bus does not accept it.
        message: Called with each whole message.
        failed: Called with the reason when a message is aborted.
    """

    def __init__(
        self,
        settings: IsoTpSettings,
        put: Callable[[CanFrame], bool],
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
        """Whether a message is in progress."""
        return self._expected > 0

    def close(self) -> None:
        """Aborts the transfer in progress."""
        self._end()

    def on_frame(self, content: bytes, stamp: float) -> None:
        """Handles a frame without its address, received at a time [s]."""
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
        """Allows the next block; if the bus is full, as soon as it accepts the frame."""
        settings = self._settings
        self._again = None
        if settings.flags & LISTEN:
            return
        pad = settings.rx_pad if settings.flags & RX_PADDING else None
        if not self._put(settings.frame(bytes((0x30, settings.block, settings.gap)), pad=pad)):
            self._again = self._loop.call_later(RETRY_PERIOD, self._allow)

    def _padding_fits(self, content: bytes, used: int) -> bool:
        """Returns whether the padding after the data is as the flags require."""
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
        self._failed("the next consecutive frame is missing")

    def _end(self) -> None:
        self._expected = 0
        self._taking = bytearray()
        for timer in (self._timer, self._again):
            if timer is not None:
                timer.cancel()
        self._timer = self._again = None


class IsoTp:
    """One channel.

    Args:
        settings: Its identifiers and options.
        put: Sends a frame; returns False if the bus does not accept it.
        message: Called with each whole message.
        failed: Called with the reason when a message is aborted.
    """

    def __init__(
        self,
        settings: IsoTpSettings,
        put: Callable[[CanFrame], bool],
        message: Callable[[bytes], None],
        failed: Callable[[str], None],
    ) -> None:
        self.settings = settings
        self._sender = IsoTpSender(settings, put, failed)
        self._receiver = IsoTpReceiver(settings, put, message, failed)

    def send(self, data: bytes) -> None:
        """Queues a message of 1 to 4095 bytes."""
        self._sender.send(data)

    def close(self) -> None:
        """Aborts the transfer in progress."""
        self._sender.close()
        self._receiver.close()

    def on_frame(self, frame: CanFrame) -> None:
        """Handles a frame of the bus; frames of other channels are ignored."""
        settings = self.settings
        if (frame.id, frame.extended) != settings.rx:
            return
        content = frame.data
        if settings.shift:
            own = settings.rx_address if settings.flags & RX_EXTEND else settings.address
            if not content or content[0] != own:
                return
            content = content[1:]
        if not content:
            return
        is_flow = content[0] >> 4 == 3
        if settings.flags & HALF_DUPLEX and (self._receiver if is_flow else self._sender).busy:
            return
        if is_flow:
            self._sender.flow(content)
        else:
            self._receiver.on_frame(content, frame.stamp)
