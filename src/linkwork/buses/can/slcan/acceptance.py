"""The acceptance filter of the SJA1000, as the commands W, M and m set it."""

from __future__ import annotations

from linkwork.buses.can.frame import Frame


class Acceptance:
    """Acceptance code and mask; a mask bit of 1 means that the bit does not matter.

    In single filter mode the four registers form one filter; in dual mode (the adapter's default)
    they form two, and a frame passes that fits one of them. (SJA1000 data sheet, 6.4.15.)
    """

    def __init__(self) -> None:
        self.code = 0x00000000
        self.mask = 0xFFFFFFFF
        self.dual = True

    @property
    def open(self) -> bool:
        """Everything passes."""
        return self.mask == 0xFFFFFFFF

    def passes(self, frame: Frame) -> bool:
        """Whether a frame passes."""
        if self.open:
            return True
        if not self.dual:
            return _fits(_single(frame), self.code, self.mask, _single_cared(frame))
        first, second = _dual(frame)
        # Filter 1 has its third byte in the low halves of registers 1 and 3.
        high = _fits(first, _first_part(self.code), _first_part(self.mask), _dual_cared(frame))
        cared = 0xFFFF if frame.extended else 0xFFF0
        low = _fits(second, self.code & 0xFFFF, self.mask & 0xFFFF, cared)
        return high or low


def _fits(bits: int, code: int, mask: int, cared: int) -> bool:
    return not (bits ^ code) & ~mask & cared


def _single(frame: Frame) -> int:
    if frame.extended:
        return frame.id << 3 | frame.remote << 2
    data = frame.data.ljust(2, b"\0")
    return frame.id << 21 | frame.remote << 20 | data[0] << 8 | data[1]


def _single_cared(frame: Frame) -> int:
    if frame.extended:
        return 0xFFFFFFFC
    # A data byte that the frame does not have is not compared.
    return (0xFFF00000, 0xFFF0FF00, 0xFFF0FFFF)[min(len(frame.data), 2)]


def _first_part(register: int) -> int:
    """Filter 1 in dual mode: registers 0 and 1, and the low halves of 1 and 3 for a data byte."""
    return (register >> 16) << 4 | (register & 0x0F)


def _dual(frame: Frame) -> tuple[int, int]:
    if frame.extended:
        top = frame.id >> 13
        return top << 4, top
    data = frame.data[:1] or b"\0"
    head = frame.id << 5 | frame.remote << 4
    return (head | data[0] >> 4) << 4 | (data[0] & 0x0F), head


def _dual_cared(frame: Frame) -> int:
    if frame.extended:
        return 0xFFFF0
    return 0xFFFFF if frame.data else 0xFFF00
