"""ISO 15765-2 over one pair of identifiers: long messages cut into frames, with flow control."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.buses.can.frame import CanError, Frame

MOST = 4095
WAITING_MOST = 32
TIMEOUT = 1.0  # for a flow control, and for the next consecutive frame [s]

LISTEN, EXTEND, TX_PADDING, RX_PADDING = 0x001, 0x002, 0x004, 0x008
CHECK_LENGTH, CHECK_DATA, HALF_DUPLEX, FORCE_TX_GAP, RX_EXTEND = 0x010, 0x020, 0x040, 0x080, 0x200


@dataclass(frozen=True, slots=True)
class IsoTpSettings:
    """A channel; flags as in linux/can/isotp.h."""

    tx: tuple[int, bool]
    rx: tuple[int, bool]
    flags: int = 0
    block: int = 0
    gap: int = 0
    tx_pad: int = 0xCC
    rx_pad: int = 0xCC
    address: int = 0
    rx_address: int = 0

    @property
    def needs(self) -> int:
        """How many values of socketcand's isotpconf the flags ask for."""
        pairs = ((RX_EXTEND, 10), (EXTEND, 9), (RX_PADDING, 8), (TX_PADDING, 7))
        return next((count for flag, count in pairs if self.flags & flag), 5)


def gap_seconds(code: int) -> float:
    """The least time between two frames that a flow control asks for [s]."""
    if 0xF1 <= code <= 0xF9:
        return (code - 0xF0) * 1e-4
    return min(code, 0x7F) * 1e-3


class IsoTp:
    """One channel.

    Args:
        settings: Its identifiers and options.
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
        self.settings = settings
        self._put = put
        self._message = message
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._shift = 1 if settings.flags & EXTEND else 0
        self._waiting: deque[bytes] = deque()
        self._sending = b""
        self._place = 0
        self._sequence = 0
        self._left_in_block = 0
        self._block_open = False
        self._send_gap = 0.0
        self._send_timer: asyncio.TimerHandle | None = None
        self._taking = bytearray()
        self._expected = 0
        self._next = 0
        self._taken_in_block = 0
        self._take_timer: asyncio.TimerHandle | None = None

    # Sending

    def send(self, data: bytes) -> None:
        """Queues a message of 1 to 4095 bytes."""
        if not 1 <= len(data) <= MOST:
            raise CanError(f"a message of {len(data)} bytes; 1 to {MOST} can be sent")
        if len(self._waiting) >= WAITING_MOST:
            raise CanError(f"{WAITING_MOST} messages wait already")
        self._waiting.append(data)
        if not self._sending:
            self._begin()

    def close(self) -> None:
        """Gives up what is under way."""
        self._waiting.clear()
        self._end_sending()
        self._end_taking()

    def _begin(self) -> None:
        if not self._waiting:
            return
        data = self._waiting.popleft()
        if len(data) <= 7 - self._shift:
            self._emit(bytes((len(data),)) + data)
            self._loop.call_soon(self._begin)
            return
        first = 6 - self._shift
        self._sending, self._place, self._sequence = data, first, 1
        self._emit(bytes((0x10 | len(data) >> 8, len(data) & 0xFF)) + data[:first])
        self._expect_flow()

    def _expect_flow(self) -> None:
        self._block_open = False
        self._arm_send(TIMEOUT, lambda: self._give_up("no flow control came"))

    def _flow(self, content: bytes) -> None:
        if not self._sending or self._block_open or len(content) < 3:
            return
        kind = content[0] & 0x0F
        if kind == 1:
            self._expect_flow()
        elif kind == 0:
            self._left_in_block = content[1]
            forced = self.settings.flags & FORCE_TX_GAP
            self._send_gap = 0.0 if forced else gap_seconds(content[2])
            self._block_open = True
            self._arm_send(0.0, self._consecutive)
        else:
            self._give_up("the receiver has no room" if kind == 2 else "a wrong flow control came")

    def _consecutive(self) -> None:
        size = 7 - self._shift
        piece = self._sending[self._place : self._place + size]
        if not self._emit(bytes((0x20 | self._sequence,)) + piece):
            self._arm_send(max(self._send_gap, 0.001), self._consecutive)  # the bus is full
            return
        self._place += len(piece)
        self._sequence = (self._sequence + 1) & 0x0F
        if self._place >= len(self._sending):
            self._end_sending()
            self._begin()
            return
        if self._left_in_block:
            self._left_in_block -= 1
            if not self._left_in_block:
                self._expect_flow()
                return
        self._arm_send(self._send_gap, self._consecutive)

    def _emit(self, content: bytes) -> bool:
        settings = self.settings
        if self._shift:
            content = bytes((settings.address,)) + content
        if settings.flags & TX_PADDING:
            content = content.ljust(8, bytes((settings.tx_pad,)))
        id, extended = settings.tx
        return self._put(Frame(id, content, extended, False, False, len(content)))

    def _arm_send(self, delay: float, call: Callable[[], None]) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
        self._send_timer = self._loop.call_later(delay, call)

    def _give_up(self, why: str) -> None:
        self._end_sending()
        self._failed(why)
        self._begin()

    def _end_sending(self) -> None:
        self._sending = b""
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    # Receiving

    def hear(self, frame: Frame) -> None:
        """Takes a frame of the bus; others than the channel's are ignored."""
        settings = self.settings
        if (frame.id, frame.extended) != settings.rx:
            return
        content = frame.data
        if self._shift:
            own = settings.rx_address if settings.flags & RX_EXTEND else settings.address
            if not content or content[0] != own:
                return
            content = content[1:]
        if not content:
            return
        kind = content[0] >> 4
        if kind == 3:
            self._flow(content)
        elif settings.flags & HALF_DUPLEX and self._sending:
            return
        elif kind == 0:
            self._single(content)
        elif kind == 1:
            self._first(content)
        elif kind == 2:
            self._follow(content)

    def _single(self, content: bytes) -> None:
        length = content[0] & 0x0F
        if not length or length > len(content) - 1 or not self._padding_fits(content, length + 1):
            return
        self._end_taking()
        self._message(content[1 : 1 + length])

    def _first(self, content: bytes) -> None:
        length = (content[0] & 0x0F) << 8 | content[1] if len(content) > 1 else 0
        if len(content) != 8 - self._shift or length <= 7 - self._shift:
            return
        self._end_taking()
        self._taking = bytearray(content[2:])
        self._expected, self._next, self._taken_in_block = length, 1, 0
        self._allow()
        self._arm_take()

    def _follow(self, content: bytes) -> None:
        if not self._expected:
            return
        if content[0] & 0x0F != self._next:
            self._end_taking()
            self._failed("a consecutive frame is missing")
            return
        left = self._expected - len(self._taking)
        if len(content) - 1 < min(left, 7 - self._shift):
            return
        if left <= len(content) - 1 and not self._padding_fits(content, left + 1):
            self._end_taking()
            return
        self._taking += content[1 : 1 + left]
        self._next = (self._next + 1) & 0x0F
        if len(self._taking) >= self._expected:
            whole = bytes(self._taking)
            self._end_taking()
            self._message(whole)
            return
        self._taken_in_block += 1
        if self.settings.block and self._taken_in_block >= self.settings.block:
            self._taken_in_block = 0
            self._allow()
        self._arm_take()

    def _allow(self) -> None:
        settings = self.settings
        if settings.flags & LISTEN:
            return
        content = bytes((0x30, settings.block, settings.gap))
        if self._shift:
            content = bytes((settings.address,)) + content
        if settings.flags & RX_PADDING:
            content = content.ljust(8, bytes((settings.rx_pad,)))
        id, extended = settings.tx
        self._put(Frame(id, content, extended, False, False, len(content)))

    def _padding_fits(self, content: bytes, used: int) -> bool:
        """Whether what stands behind the data is as the flags demand."""
        flags = self.settings.flags
        if not flags & (CHECK_LENGTH | CHECK_DATA):
            return True
        if not flags & RX_PADDING:
            return bool(flags & CHECK_LENGTH) and len(content) == used
        if flags & CHECK_LENGTH and len(content) != 8 - self._shift:
            return False
        return not flags & CHECK_DATA or all(
            byte == self.settings.rx_pad for byte in content[used:]
        )

    def _arm_take(self) -> None:
        if self._take_timer is not None:
            self._take_timer.cancel()
        self._take_timer = self._loop.call_later(TIMEOUT, self._take_late)

    def _take_late(self) -> None:
        self._end_taking()
        self._failed("the next consecutive frame did not come")

    def _end_taking(self) -> None:
        self._expected = 0
        self._taking = bytearray()
        if self._take_timer is not None:
            self._take_timer.cancel()
            self._take_timer = None
