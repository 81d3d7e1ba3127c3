"""CanFrame: one CAN 2.0 frame, with its length in bits on the wire."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from linkwork.core.errors import LinkworkError

MAX_STANDARD_ID = 0x7FF
MAX_EXTENDED_ID = 0x1FFFFFFF
MAX_DATA_BYTES = 8


class CanError(LinkworkError):
    """A frame, a message or a setting that CAN does not allow."""


class CanFrame(NamedTuple):
    """A CAN 2.0A or 2.0B frame.

    Make one with :func:`data_frame`, :func:`remote_frame` or :func:`error_frame`, which check it.
    The tuple itself checks nothing, since the servers make thousands a second from text that their
    grammar has checked already.

    Attributes:
        id: Identifier: 0…0x7FF, extended 0…0x1FFFFFFF; the error class of an error frame.
        data: Up to 8 bytes; empty for a remote frame.
        extended: The identifier has 29 bits.
        remote: Remote transmission request (RTR): asks for a frame of ``dlc`` bytes.
        error: Not a message but the report of an error, as SocketCAN's error frames.
        dlc: Data length code 0…8.
        stamp: Time at which the bus carried it [s since 1970]; 0 before.
    """

    id: int
    data: bytes = b""
    extended: bool = False
    remote: bool = False
    error: bool = False
    dlc: int = 0
    stamp: float = 0.0

    @property
    def key(self) -> int:
        """Rank in arbitration, lowest wins: the bits in their order on the wire.

        A standard data frame beats a standard remote frame of the same identifier, and both beat
        an extended frame whose first 11 bits are the same.
        """
        if self.extended:
            high, low = self.id >> 18, self.id & 0x3FFFF
            return (high << 21) | (0b11 << 19) | (low << 1) | self.remote
        return (self.id << 21) | (self.remote << 20)

    @property
    def address(self) -> str:
        """The identifier in candump's format: ``123``, ``00000123``, ``error 00000004``."""
        name = f"{self.id:08X}" if self.extended or self.error else f"{self.id:03X}"
        return f"error {name}" if self.error else name

    def __str__(self) -> str:
        """The format of candump and cansend: ``123#1122``, ``123#R4``, ``00000123#``."""
        content = f"R{self.dlc or ''}" if self.remote else self.data.hex().upper()
        return f"{self.address}#{content}"


def data_frame(id: int, data: Iterable[int] = b"", *, extended: bool | None = None) -> CanFrame:
    """Makes a checked data frame.

    Args:
        id: Identifier.
        data: Up to 8 bytes.
        extended: 29-bit identifier; if omitted, true exactly for an id above 0x7FF.
    """
    extended = _checked_id(id, extended)
    try:
        content = bytes(data)
    except (TypeError, ValueError) as error:
        raise CanError(f"the data of frame {id:X} are not bytes: {error}.") from None
    if len(content) > MAX_DATA_BYTES:
        raise CanError(f"frame {id:X} has {len(content)} bytes of data; CAN carries 0 to 8.")
    return CanFrame(id, content, extended, False, False, len(content))


def remote_frame(id: int, dlc: int = 0, *, extended: bool | None = None) -> CanFrame:
    """Makes a checked remote frame (RTR) that asks for ``dlc`` bytes."""
    extended = _checked_id(id, extended)
    if isinstance(dlc, bool) or not isinstance(dlc, int) or not 0 <= dlc <= MAX_DATA_BYTES:
        raise CanError(f"remote frame {id:X} has the data length code {dlc!r}; it is 0 to 8.")
    return CanFrame(id, b"", extended, True, False, dlc)


def error_frame(classes: int, data: Iterable[int] = bytes(8)) -> CanFrame:
    """Makes an error frame with SocketCAN's error classes (linux/can/error.h)."""
    content = bytes(data)
    if not 0 <= classes <= MAX_EXTENDED_ID or len(content) != MAX_DATA_BYTES:
        raise CanError("an error frame has a class below 0x20000000 and 8 bytes of data.")
    return CanFrame(classes, content, True, False, True, MAX_DATA_BYTES)


def _checked_id(id: int, extended: bool | None) -> bool:
    if isinstance(id, bool) or not isinstance(id, int) or id < 0:
        raise CanError(f"the CAN identifier {id!r} is not a whole number from 0.")
    if extended is None:
        extended = id > MAX_STANDARD_ID
    most = MAX_EXTENDED_ID if extended else MAX_STANDARD_ID
    if id > most:
        kind = "a 29-bit" if extended else "an 11-bit"
        raise CanError(f"the identifier 0x{id:X} does not fit; {kind} one ends at 0x{most:X}.")
    return extended


_HEX_DIGITS = re.compile("[0-9A-Fa-f ]*")


def parse_frame(text: str) -> CanFrame:
    """Reads cansend's format: ``123#1122``, ``123#11.22``, ``123#R4``, ``12345678#``."""
    name, mark, rest = text.strip().partition("#")
    if not mark or len(name) not in (3, 8):
        what = f"its identifier has {len(name)} digits" if mark else "it has no #"
        raise CanError(
            f"{text!r} is not a frame: {what}.",
            hint="Identifiers have 3 hexadecimal digits, of 29 bits 8: 011#1122 or 12345678#R4.",
        )
    try:
        extended = len(name) == 8
        if not _HEX_DIGITS.fullmatch(name + rest.lstrip("Rr").replace(".", "")):
            raise ValueError  # int() also reads signs, underscores and digits of other scripts
        if rest[:1] in ("R", "r"):
            return remote_frame(int(name, 16), int(rest[1:] or "0"), extended=extended)
        return data_frame(int(name, 16), bytes.fromhex(rest.replace(".", "")), extended=extended)
    except ValueError:
        raise CanError(
            f"{text!r} has a character that is not a hexadecimal digit.",
            hint="Write it as 123#1122 or 12345678#R4.",
        ) from None


POLYNOMIAL = 0x4599  # x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1
UNSTUFFED = 13
ERROR_BITS = 6 + 6 + 8 + 3  # flag, echo of the flag, delimiter, space between frames: the maximum


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 7
        for _ in range(8):
            value = ((value << 1) ^ POLYNOMIAL) & 0x7FFF if value & 0x4000 else value << 1
        table.append(value)
    return table


def _stuff(state: int, bit: int) -> tuple[int, int]:
    """Applies the stuffing rule to one bit; a state is 2·(run − 1) + last bit.

    Returns:
        Stuff bits added behind it (0 or 1), and the next state.
    """
    run, last = (state >> 1) + 1, state & 1
    run = run + 1 if bit == last else 1
    if run == 5:
        return 1, bit ^ 1  # the stuff bit begins a new run of one
    return 0, 2 * (run - 1) + bit


def _stuff_table(width: int) -> list[list[tuple[int, int]]]:
    """For each state and each value of a number of bits: stuff bits added, and the next state."""
    table = []
    for first in range(8):
        row = []
        for value in range(1 << width):
            state, total = first, 0
            for place in reversed(range(width)):
                added, state = _stuff(state, value >> place & 1)
                total += added
            row.append((total, state))
        table.append(row)
    return table


_CRC = _crc_table()
_BYTE = _stuff_table(8)
_PAIR = _stuff_table(2)
_SIX = _stuff_table(6)
_IDLE = 1  # before the start of frame the wire is recessive; its dominant bit begins a run


def crc15(content: bytes) -> int:
    """Checksum of a bit string, padded in front to whole bytes with zeros, which have no effect."""
    value = 0
    for byte in content:
        value = ((value << 8) & 0x7FFF) ^ _CRC[(value >> 7) ^ byte]
    return value


def header(frame: CanFrame) -> tuple[int, int]:
    """The bits from the start of frame to the data length code, and their number."""
    if frame.extended:
        high, low = frame.id >> 18, frame.id & 0x3FFFF
        bits = (high << 2 | 0b11) << 18 | low  # substitute remote request, identifier extension
        return (bits << 1 | frame.remote) << 6 | frame.dlc, 39
    return (frame.id << 1 | frame.remote) << 6 | frame.dlc, 19


def stuff_bits(frame: CanFrame) -> int:
    """Number of stuff bits of this frame."""
    head, width = header(frame)
    body = (head << (8 * len(frame.data))) | int.from_bytes(frame.data, "big")
    content = body.to_bytes((width + 7) // 8 + len(frame.data), "big")
    whole = body << 15 | crc15(content)
    length = width + 8 * len(frame.data) + 15
    first = length & 7  # 34 + 8n or 54 + 8n: two or six bits, then whole bytes
    lead = whole >> (length - first)
    total, state = (_PAIR if first == 2 else _SIX)[_IDLE][lead]
    rest = (whole & ((1 << (length - first)) - 1)).to_bytes(length >> 3, "big")
    for byte in rest:
        added, state = _BYTE[state][byte]
        total += added
    return total


def plain_bits(frame: CanFrame) -> int:
    """Number of bits of the frame without stuffing, with the space to the next frame."""
    if frame.error:
        return ERROR_BITS
    return (39 if frame.extended else 19) + 8 * len(frame.data) + 15 + UNSTUFFED


def frame_bits(frame: CanFrame) -> int:
    """Number of bits of this frame on the wire, with the space to the next frame."""
    return ERROR_BITS if frame.error else plain_bits(frame) + stuff_bits(frame)
