"""One CAN 2.0 frame, and the rules that every frame on the bus keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from linkwork.errors import LinkworkError

STANDARD_MOST = 0x7FF
EXTENDED_MOST = 0x1FFFFFFF
DATA_MOST = 8


class CanError(LinkworkError):
    """A frame, a message or a setting that CAN does not allow."""


class Frame(NamedTuple):
    """A CAN 2.0A or 2.0B frame as it stands on the bus.

    Make one with :func:`data_frame`, :func:`remote_frame` or :func:`error_frame`, which check it.
    The tuple itself checks nothing, for the doors make thousands a second from text that their
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
        """Rank in arbitration, lowest wins: the bits as they meet on the wire.

        A standard data frame beats a standard remote frame of the same identifier, and both beat
        an extended frame whose first 11 bits are the same.
        """
        if self.extended:
            high, low = self.id >> 18, self.id & 0x3FFFF
            return (high << 21) | (0b11 << 19) | (low << 1) | self.remote
        return (self.id << 21) | (self.remote << 20)

    def __str__(self) -> str:
        """The form of candump and cansend: ``123#1122``, ``123#R4``, ``00000123#``."""
        name = f"{self.id:08X}" if self.extended or self.error else f"{self.id:03X}"
        if self.error:
            return f"error {name}#{self.data.hex().upper()}"
        return f"{name}#R{self.dlc or ''}" if self.remote else f"{name}#{self.data.hex().upper()}"


def data_frame(id: int, data: Iterable[int] = b"", *, extended: bool | None = None) -> Frame:
    """Makes a checked data frame.

    Args:
        id: Identifier.
        data: Up to 8 bytes.
        extended: 29-bit identifier; where left out, true exactly for an id above 0x7FF.
    """
    extended = _checked_id(id, extended)
    try:
        content = bytes(data)
    except (TypeError, ValueError) as error:
        raise CanError(f"the data of frame {id:X} are not bytes: {error}.") from None
    if len(content) > DATA_MOST:
        raise CanError(f"frame {id:X} has {len(content)} bytes of data; CAN carries 0 to 8.")
    return Frame(id, content, extended, False, False, len(content))


def remote_frame(id: int, dlc: int = 0, *, extended: bool | None = None) -> Frame:
    """Makes a checked remote frame (RTR) that asks for ``dlc`` bytes."""
    extended = _checked_id(id, extended)
    if isinstance(dlc, bool) or not isinstance(dlc, int) or not 0 <= dlc <= DATA_MOST:
        raise CanError(f"remote frame {id:X} has the data length code {dlc!r}; it is 0 to 8.")
    return Frame(id, b"", extended, True, False, dlc)


def error_frame(classes: int, data: Iterable[int] = bytes(8)) -> Frame:
    """Makes an error frame with SocketCAN's error classes (linux/can/error.h)."""
    content = bytes(data)
    if not 0 <= classes <= EXTENDED_MOST or len(content) != DATA_MOST:
        raise CanError("an error frame has a class below 0x20000000 and 8 bytes of data.")
    return Frame(classes, content, True, False, True, DATA_MOST)


def _checked_id(id: int, extended: bool | None) -> bool:
    if isinstance(id, bool) or not isinstance(id, int) or id < 0:
        raise CanError(f"the CAN identifier {id!r} is not a whole number from 0.")
    if extended is None:
        extended = id > STANDARD_MOST
    most = EXTENDED_MOST if extended else STANDARD_MOST
    if id > most:
        kind = "a 29-bit" if extended else "an 11-bit"
        raise CanError(f"the identifier 0x{id:X} does not fit; {kind} one ends at 0x{most:X}.")
    return extended


def parse_frame(text: str) -> Frame:
    """Reads the form of cansend: ``123#1122``, ``123#11.22``, ``123#R4``, ``12345678#``."""
    name, mark, rest = text.strip().partition("#")
    if not mark or len(name) not in (3, 8):
        what = f"its identifier has {len(name)} digits" if mark else "it has no #"
        raise CanError(
            f"{text!r} is no frame: {what}.",
            hint="Identifiers have 3 hexadecimal digits, of 29 bits 8: 011#1122 or 12345678#R4.",
        )
    try:
        extended = len(name) == 8
        if rest[:1] in ("R", "r"):
            return remote_frame(int(name, 16), int(rest[1:] or "0"), extended=extended)
        return data_frame(int(name, 16), bytes.fromhex(rest.replace(".", "")), extended=extended)
    except ValueError:
        raise CanError(
            f"{text!r} has a character that is no hexadecimal digit.",
            hint="Write it as 123#1122 or 12345678#R4.",
        ) from None
