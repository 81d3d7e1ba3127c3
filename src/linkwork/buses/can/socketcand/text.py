"""The text of socketcand: elements in angle brackets, frames as hexadecimal numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linkwork.buses.can.frame import EXTENDED_MOST, STANDARD_MOST, CanError, Frame

_tuple = tuple.__new__  # a named tuple's own way in costs twice as much
LONGEST = 16 * 1024  # of one element; the longest lawful one, a PDU of 4095 bytes, has 8.2 kB

# The command that comes by the thousand, whole and in its usual form.
SEND = re.compile(rb"\s*< ?send ([0-9A-Fa-f]{3}|[0-9A-Fa-f]{8}) ([0-8])((?: [0-9A-Fa-f]{1,2})*) ?>")
_BYTES = {
    form: number
    for number in range(256)
    for form in (b"%x" % number, b"%X" % number, b"%02x" % number, b"%02X" % number)
} | {f"{a}{b}".encode(): int(a + b, 16) for a in "aAbBcCdDeEfF" for b in "aAbBcCdDeEfF"}
_HEX = re.compile(r"(?:0[xX])?([0-9A-Fa-f]+)\Z")
# Some clients (SavvyCAN) write a byte, or a number of 32 bits, with the sign spread over more bits.
_NEGATIVE_BYTE = re.compile(r"(?:f{6}|f{14})([89a-f][0-9a-f])\Z", re.IGNORECASE)
_NEGATIVE_WORD = re.compile(r"f{8}([89a-f][0-9a-f]{7})\Z", re.IGNORECASE)
_REMOTE_MARK, _ERROR_MARK = 0b010, 0b001  # above them is the mark of 29 bits
_WHOLE = re.compile(r"[0-9]{1,12}\Z")


def quick_frame(found: re.Match[bytes]) -> Frame | None:
    """The frame of a :data:`SEND` match; None where its numbers do not agree."""
    name, length, rest = found.groups()
    id = int(name, 16)
    extended = len(name) == 8
    tokens = rest.split()
    if len(tokens) != int(length) or id > (EXTENDED_MOST if extended else STANDARD_MOST):
        return None
    data = bytes(map(_BYTES.__getitem__, tokens))
    return _tuple(Frame, (id, data, extended, False, False, len(data), 0.0))


def identifier(text: str) -> tuple[int, bool]:
    """Reads an identifier: eight digits mean 29 bits, fewer 11."""
    id, extended, remote = _marked_identifier(text)
    if remote:
        raise CanError(f"{text} marks a remote frame, which can only be sent")
    return id, extended


def _marked_identifier(text: str) -> tuple[int, bool, bool]:
    """Reads an identifier with Linux's marks in its highest bits, as the reference program does.

    Returns:
        Identifier, whether it has 29 bits, whether it is marked as a remote frame's.
    """
    negative = _NEGATIVE_WORD.match(text)
    text = negative[1] if negative else text
    found = _HEX.match(text)
    if not found:
        raise CanError(f"{text!r} is no hexadecimal identifier")
    number, extended = int(found[1], 16), len(text) == 8
    marks = number >> 29
    if not extended:
        if number > STANDARD_MOST:
            raise CanError(f"the identifier {text} is too large")
    elif marks & _ERROR_MARK:
        raise CanError(f"the identifier {text} is too large, or marks an error frame")
    return number & EXTENDED_MOST, extended, bool(marks & _REMOTE_MARK)


def hex_byte(text: str) -> int:
    """Reads a byte of one or two hexadecimal digits."""
    found = _NEGATIVE_BYTE.match(text) or _HEX.match(text)
    if not found or len(found[1]) > 2:
        raise CanError(f"{text!r} is no hexadecimal byte")
    return int(found[1], 16)


def hex_number(text: str, most: int) -> int:
    """Reads a hexadecimal number up to ``most``."""
    found = _HEX.match(text)
    if not found or int(found[1], 16) > most:
        raise CanError(f"{text!r} is no hexadecimal number up to {most:X}")
    return int(found[1], 16)


def whole(text: str, most: int) -> int:
    """Reads a decimal number up to ``most``."""
    if not _WHOLE.match(text) or int(text) > most:
        raise CanError(f"{text!r} is no whole number up to {most}")
    return int(text)


def frame_of(words: Sequence[str]) -> Frame:
    """Reads ``can_id can_dlc [data]*``.

    A length without any data asks for that many bytes: it is how python-can writes a remote frame.
    So does an identifier with Linux's mark of a remote frame, whatever data follow.
    """
    if len(words) < 2:
        raise CanError("an identifier and a length are needed")
    id, extended, remote = _marked_identifier(words[0])
    length = whole(words[1], 8)
    if len(words) - 2 != length and len(words) > 2:
        raise CanError(f"length {length} but {len(words) - 2} bytes")
    data = bytes(hex_byte(word) for word in words[2:])
    if remote or len(data) != length:
        return Frame(id, b"", extended, True, False, length)
    return Frame(id, data, extended, False, False, length)


def interval(seconds: str, micros: str) -> float:
    """Reads an interval of two numbers [s]."""
    return whole(seconds, 10**9) + whole(micros, 10**12) * 1e-6


class _Text:
    """Text of the last frame, for several clients hear the same one."""

    frame: Frame | None = None
    text = b""


def frame_text(frame: Frame) -> bytes:
    """``< frame id seconds data >``, or ``< error class seconds >``; empty for a remote frame.

    The protocol has no form for a remote frame.
    """
    if frame is _Text.frame:
        return _Text.text
    if frame.error:
        text = f"< error {frame.id:03X} {frame.stamp:.6f} >"
    elif frame.remote:
        text = ""
    elif frame.extended:
        text = f"< frame {frame.id:08X} {frame.stamp:.6f} {frame.data.hex().upper()} >"
    else:
        text = f"< frame {frame.id:03X} {frame.stamp:.6f} {frame.data.hex().upper()} >"
    _Text.frame, _Text.text = frame, text.encode()
    return _Text.text


def next_element(buffer: bytearray, start: int) -> tuple[list[str] | None, int]:
    """Finds the next element of a buffer: from a closing bracket back to the last opening one.

    Returns:
        Its words, and where to go on. Without words nothing whole is left: what is before the
        place to go on belongs to no element, and an unfinished one may begin there.
    """
    closing = buffer.find(b">", start)
    if closing < 0:
        opening = buffer.rfind(b"<", start)
        if opening < 0 or len(buffer) - opening > LONGEST:
            return None, len(buffer)
        return None, opening
    opening = buffer.rfind(b"<", start, closing)
    if opening < 0 or closing - opening > LONGEST:
        return [], closing + 1
    return buffer[opening + 1 : closing].decode("ascii", "replace").split(), closing + 1
