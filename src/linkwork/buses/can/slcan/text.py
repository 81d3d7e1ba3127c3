"""Frames as slcan writes them: ``tiiildd…``, ``Tiiiiiiiildd…``, ``riiil``, ``Riiiiiiiil``."""

from __future__ import annotations

import re

from linkwork.buses.can.frame import EXTENDED_MOST, STANDARD_MOST, CanError, Frame

MINUTE = 60_000  # the time stamp counts milliseconds and starts anew each minute

_LONG_MARK = 0b100  # Linux's mark of 29 bits, which SavvyCAN leaves in the identifier
_FRAME = re.compile(
    rb"(?:t([0-9A-Fa-f]{3})|T([0-9A-Fa-f]{8})|r([0-9A-Fa-f]{3})|R([0-9A-Fa-f]{8}))"
    rb"([0-8])((?:[0-9A-Fa-f]{2})*)\Z"
)


def parse_frame(command: bytes) -> Frame:
    """Reads a transmit command."""
    found = _FRAME.match(command)
    if not found:
        raise CanError("not a frame")
    standard, extended, remote, remote_extended, length, rest = found.groups()
    long = extended is not None or remote_extended is not None
    asks = remote is not None or remote_extended is not None
    id = int(standard or extended or remote or remote_extended or b"", 16)
    if long and id >> 29 == _LONG_MARK:
        id &= EXTENDED_MOST
    dlc = int(length)
    if id > (EXTENDED_MOST if long else STANDARD_MOST):
        raise CanError("the identifier is too large")
    if len(rest) != (0 if asks else 2 * dlc):
        raise CanError("the length does not fit the data")
    return Frame(id, b"" if asks else bytes.fromhex(rest.decode()), long, asks, False, dlc)


def frame_text(frame: Frame, *, stamped: bool = False) -> bytes:
    """Writes a frame; error frames have no form and give nothing."""
    if frame.error:
        return b""
    if frame.extended:
        head = f"{'R' if frame.remote else 'T'}{frame.id:08X}{frame.dlc}"
    else:
        head = f"{'r' if frame.remote else 't'}{frame.id:03X}{frame.dlc}"
    stamp = f"{int(frame.stamp * 1000.0) % MINUTE:04X}" if stamped else ""
    return f"{head}{frame.data.hex().upper()}{stamp}\r".encode()
