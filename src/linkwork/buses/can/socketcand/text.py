"""Text format of socketcand: elements in angle brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linkwork.buses.can.frame import MAX_EXTENDED_ID, MAX_STANDARD_ID, CanError, CanFrame

_tuple = tuple.__new__  # twice as fast as the named tuple's constructor
MAX_ELEMENT = 16 * 1024  # maximum element; the longest valid one, a PDU of 4095 bytes, has 8.2 kB

# The most frequent command, complete and in its usual form.
SEND = re.compile(rb"\s*< ?send ([0-9A-Fa-f]{3}|[0-9A-Fa-f]{8}) ([0-8])((?: [0-9A-Fa-f]{1,2})*) ?>")
_BYTES = {
    form: number
    for number in range(256)
    for form in (b"%x" % number, b"%X" % number, b"%02x" % number, b"%02X" % number)
} | {f"{a}{b}".encode(): int(a + b, 16) for a in "aAbBcCdDeEfF" for b in "aAbBcCdDeEfF"}
_HEX = re.compile(r"(?:0[xX])?([0-9A-Fa-f]+)\Z")
# Some clients (SavvyCAN) write a byte, or a 32-bit number, with the sign extended to more bits.
_NEGATIVE_BYTE = re.compile(r"(?:f{6}|f{14})([89a-f][0-9a-f])\Z", re.IGNORECASE)
_NEGATIVE_WORD = re.compile(r"f{8}([89a-f][0-9a-f]{7})\Z", re.IGNORECASE)
_REMOTE_MARK, _ERROR_MARK = 0b010, 0b001  # above them is the flag of 29 bits
_WHOLE = re.compile(r"[0-9]{1,12}\Z")


def quick_frame(found: re.Match[bytes]) -> CanFrame | None:
    """The frame of a :data:`SEND` match; None if its numbers are inconsistent."""
    name, length, rest = found.groups()
    id = int(name, 16)
    extended = len(name) == 8
    tokens = rest.split()
    if len(tokens) != int(length) or id > (MAX_EXTENDED_ID if extended else MAX_STANDARD_ID):
        return None
    data = bytes(map(_BYTES.__getitem__, tokens))
    return _tuple(CanFrame, (id, data, extended, False, False, len(data), 0.0))


def identifier(text: str) -> tuple[int, bool]:
    """Reads an identifier: eight digits mean 29 bits, fewer 11."""
    id, extended, remote = _marked_identifier(text)
    if remote:
        raise CanError(f"{text} marks a remote frame, which can only be sent")
    return id, extended


def _marked_identifier(text: str) -> tuple[int, bool, bool]:
    """Reads an identifier with Linux's flags in its highest bits, as the reference program does.

    Returns:
        Identifier, whether it has 29 bits, whether it is flagged as a remote frame.
    """
    negative = _NEGATIVE_WORD.match(text)
    text = negative[1] if negative else text
    found = _HEX.match(text)
    if not found:
        raise CanError(f"{text!r} is not a hexadecimal identifier")
    number, extended = int(found[1], 16), len(text) == 8
    marks = number >> 29
    if not extended:
        if number > MAX_STANDARD_ID:
            raise CanError(f"the identifier {text} is too large")
    elif marks & _ERROR_MARK:
        raise CanError(f"the identifier {text} is too large, or marks an error frame")
    return number & MAX_EXTENDED_ID, extended, bool(marks & _REMOTE_MARK)


def hex_byte(text: str) -> int:
    """Reads a byte of one or two hexadecimal digits."""
    found = _NEGATIVE_BYTE.match(text) or _HEX.match(text)
    if not found or len(found[1]) > 2:
        raise CanError(f"{text!r} is not a hexadecimal byte")
    return int(found[1], 16)


def hex_number(text: str, most: int) -> int:
    """Reads a hexadecimal number up to ``most``."""
    found = _HEX.match(text)
    if not found or int(found[1], 16) > most:
        raise CanError(f"{text!r} is not a hexadecimal number up to {most:X}")
    return int(found[1], 16)


def whole(text: str, most: int) -> int:
    """Reads a decimal number up to ``most``."""
    if not _WHOLE.match(text) or int(text) > most:
        raise CanError(f"{text!r} is not an integer up to {most}")
    return int(text)


def frame_of(words: Sequence[str]) -> CanFrame:
    """Reads ``can_id can_dlc [data]*``.

    A length without data requests that many bytes: python-can writes a remote frame in this form.
    An identifier with Linux's flag of a remote frame does the same, whatever data follow.
    """
    if len(words) < 2:
        raise CanError("an identifier and a length are needed")
    id, extended, remote = _marked_identifier(words[0])
    length = whole(words[1], 8)
    if len(words) - 2 != length and len(words) > 2:
        raise CanError(f"length {length} but {len(words) - 2} bytes")
    data = bytes(hex_byte(word) for word in words[2:])
    if remote or len(data) != length:
        return CanFrame(id, b"", extended, True, False, length)
    return CanFrame(id, data, extended, False, False, length)


def interval(seconds: str, micros: str) -> float:
    """Reads an interval of two numbers [s]."""
    return whole(seconds, 10**9) + whole(micros, 10**12) * 1e-6


class _Text:
    """Cache of the last frame's text, since several clients receive the same one."""

    frame: CanFrame | None = None
    text = b""


def frame_text(frame: CanFrame) -> bytes:
    """``< frame id seconds data >``, or ``< error class seconds >``; empty for a remote frame.

    The protocol has no format for a remote frame.
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
        Its words, and the position to continue at. Without words no complete element is left: text
            before that position belongs to no element, and an unfinished one may begin there.
    """
    closing = buffer.find(b">", start)
    if closing < 0:
        opening = buffer.rfind(b"<", start)
        if opening < 0 or len(buffer) - opening > MAX_ELEMENT:
            return None, len(buffer)
        return None, opening
    opening = buffer.rfind(b"<", start, closing)
    if opening < 0 or closing - opening > MAX_ELEMENT:
        return [], closing + 1
    return buffer[opening + 1 : closing].decode("ascii", "replace").split(), closing + 1
