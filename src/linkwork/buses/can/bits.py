"""How many bits a frame takes on the wire: its fields, its checksum, its stuff bits.

CAN 2.0, part A and B: after five equal bits the sender adds one of the other kind, from the start
of frame to the end of the 15-bit checksum; then come 13 bits without stuffing (delimiter,
acknowledge slot and its delimiter, end of frame, and 3 bits between frames).
"""

from __future__ import annotations

from linkwork.buses.can.frame import Frame

POLYNOMIAL = 0x4599  # x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1
UNSTUFFED = 13
ERROR_BITS = 6 + 6 + 8 + 3  # flag, echo of the flag, delimiter, space between frames: the most


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 7
        for _ in range(8):
            value = ((value << 1) ^ POLYNOMIAL) & 0x7FFF if value & 0x4000 else value << 1
        table.append(value)
    return table


def _stuff(state: int, bit: int) -> tuple[int, int]:
    """One bit through the stuffing rule; a state is 2·(run − 1) + last bit.

    Returns:
        Stuff bits added behind it (0 or 1), and the next state.
    """
    run, last = (state >> 1) + 1, state & 1
    run = run + 1 if bit == last else 1
    if run == 5:
        return 1, bit ^ 1  # the stuff bit begins a new run of one
    return 0, 2 * (run - 1) + bit


def _stuff_table(width: int) -> list[list[tuple[int, int]]]:
    """For each state and each value of so many bits: stuff bits added, and the next state."""
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
    """Checksum of a bit string, padded in front to whole bytes with zeros, which change nothing."""
    value = 0
    for byte in content:
        value = ((value << 8) & 0x7FFF) ^ _CRC[(value >> 7) ^ byte]
    return value


def header(frame: Frame) -> tuple[int, int]:
    """The bits from the start of frame to the data length code, and how many they are."""
    if frame.extended:
        high, low = frame.id >> 18, frame.id & 0x3FFFF
        bits = (high << 2 | 0b11) << 18 | low  # substitute remote request, identifier extension
        return (bits << 1 | frame.remote) << 6 | frame.dlc, 39
    return (frame.id << 1 | frame.remote) << 6 | frame.dlc, 19


def stuff_bits(frame: Frame) -> int:
    """Stuff bits that this very frame has."""
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


def plain_bits(frame: Frame) -> int:
    """Bits of the frame without stuffing, with the space to the next frame."""
    if frame.error:
        return ERROR_BITS
    return (39 if frame.extended else 19) + 8 * len(frame.data) + 15 + UNSTUFFED


def frame_bits(frame: Frame) -> int:
    """Bits that this very frame takes on the wire, with the space to the next frame."""
    return ERROR_BITS if frame.error else plain_bits(frame) + stuff_bits(frame)
