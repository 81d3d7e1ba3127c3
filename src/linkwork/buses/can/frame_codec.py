"""Codec of CAN frames: physical values as bits of the data."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from linkwork.core.errors import FormatError, Origin, not_found

Number = int | float
_FLOATS = {16: ">e", 32: ">f", 64: ">d"}


class CodecError(FormatError):
    """A value that the bits of a signal cannot hold."""


@dataclass
class CanSignal:
    """A value in a frame: value = raw · scale + offset.

    Attributes:
        name: Name, unique in its message.
        start: Start bit, as a DBC file counts (byte · 8 + bit): of the lowest bit (Intel) or of the
            highest (Motorola).
        length: Number of bits.
        big_endian: Motorola order; else Intel.
        signed: Whether raw values are two's complement.
        scale: Physical value of one step.
        offset: Physical value of raw 0.
        minimum: Least physical value; None for no limit.
        maximum: Greatest physical value; None for no limit.
        unit: Unit.
        float: Whether the bits are an IEEE number of 16, 32 or 64 bits.
        values: Names of raw values.
        multiplexer: Whether its raw value selects which other signals the frame holds.
        parent: Name of the multiplexer that selects this signal; empty if it is always present.
        ranges: Raw values of the parent that select it, first and last of each range.
        origin: Where it was read.
    """

    name: str
    start: int
    length: int
    big_endian: bool = False
    signed: bool = False
    scale: Number = 1
    offset: Number = 0
    minimum: Number | None = None
    maximum: Number | None = None
    unit: str = ""
    float: bool = False
    values: dict[int, str] = field(default_factory=dict)
    multiplexer: bool = False
    parent: str = ""
    ranges: list[tuple[int, int]] = field(default_factory=list)
    origin: Origin = Origin()

    @property
    def raw_range(self) -> tuple[int, int]:
        """Least and greatest raw value of the bits."""
        if self.signed:
            return -(1 << (self.length - 1)), (1 << (self.length - 1)) - 1
        return 0, (1 << self.length) - 1

    def bits(self) -> list[int]:
        """Positions of the bits in the frame (byte · 8 + bit), lowest bit last."""
        if not self.big_endian:
            return list(range(self.start + self.length - 1, self.start - 1, -1))
        first = 8 * (self.start // 8) + 7 - self.start % 8
        return [8 * (n // 8) + 7 - n % 8 for n in range(first, first + self.length)]


@dataclass
class CanMessage:
    """A frame with a name.

    Attributes:
        id: Identifier.
        name: Name, unique in its database.
        length: Number of bytes.
        extended: Whether the identifier has 29 bits.
        signals: Its signals.
        origin: Where it was read.
    """

    id: int
    name: str
    length: int
    extended: bool = False
    signals: list[CanSignal] = field(default_factory=list)
    origin: Origin = Origin()

    def signal(self, name: str) -> CanSignal:
        """Returns the signal of a name.

        Raises:
            NameNotFound: If there is none.
        """
        for each in self.signals:
            if each.name == name:
                return each
        raise not_found(
            f"signal of {self.name}", name, (s.name for s in self.signals), origin=self.origin
        )


def encode(message: CanMessage, values: Mapping[str, Number], *, clip: bool = False) -> bytes:
    """Returns the data of a frame.

    Args:
        message: The message, without multiplexed signals.
        values: Physical values of all its signals.
        clip: Whether a value out of range becomes the nearest possible one; else it is an error.

    Raises:
        CodecError: If a value is missing, not a number or out of range.
        NameNotFound: If the message has no such signal.
    """
    content = 0
    for signal in message.signals:
        if signal.name not in values:
            raise CodecError(f"message {message.name!r} needs a value for {signal.name!r}.")
        raw = _to_raw(signal, values[signal.name], clip=clip)
        content |= _placed(signal, raw, message.length)
    if len(values) > len(message.signals):
        for name in values:
            message.signal(name)
    return content.to_bytes(message.length, "big")


def decode(message: CanMessage, data: bytes) -> dict[str, Number]:
    """Returns the physical values in a frame; signals beyond the end of the data are left out."""
    found: dict[str, Number] = {}
    for signal in message.signals:
        raw = _extract(signal, data)
        if raw is not None:
            found[signal.name] = raw * signal.scale + signal.offset
    return found


def _to_raw(signal: CanSignal, value: Number, *, clip: bool) -> Number:
    """Returns the raw value of a physical one, rounded to the nearest step."""
    if isinstance(value, float) and math.isnan(value):
        raise CodecError(f"signal {signal.name!r} cannot be nan.")
    least = -math.inf if signal.minimum is None else signal.minimum
    most = math.inf if signal.maximum is None else signal.maximum
    if clip:
        value = min(max(value, least), most)
    elif not least <= value <= most:
        raise CodecError(f"signal {signal.name!r} is from {least:g} to {most:g}, not {value:g}.")
    if signal.float:
        return (value - signal.offset) / signal.scale
    raw = _divided(signal, value)
    low, high = signal.raw_range
    if not low <= raw <= high:
        if not clip:
            raise CodecError(
                f"signal {signal.name!r}: {value:g} does not fit {signal.length} bits."
            )
        raw = min(max(raw, low), high)
    return round(raw)


def _divided(signal: CanSignal, value: Number) -> Number:
    shifted = value - signal.offset
    if isinstance(shifted, int) and isinstance(signal.scale, int):
        quotient, rest = divmod(shifted, signal.scale)
        if not rest:
            return quotient  # exact, also beyond the 53 bits of a float
    return round(shifted / signal.scale) if math.isfinite(shifted) else shifted


def _extract(signal: CanSignal, data: bytes) -> Number | None:
    """Returns the raw value in a frame's data; None if the data end before it."""
    size = 8 * len(data)
    if not signal.big_endian:
        if signal.start + signal.length > size:
            return None
        raw = int.from_bytes(data, "little") >> signal.start
    else:
        shift = size - _end(signal)
        if shift < 0:
            return None
        raw = int.from_bytes(data, "big") >> shift
    raw &= (1 << signal.length) - 1
    if signal.float:
        return struct.unpack(_FLOATS[signal.length], raw.to_bytes(signal.length // 8, "big"))[0]
    if signal.signed and raw >> (signal.length - 1):
        raw -= 1 << signal.length
    return raw


def _end(signal: CanSignal) -> int:
    """Returns the end of a Motorola signal, in bits from the front of the data."""
    return 8 * (signal.start // 8) + 7 - signal.start % 8 + signal.length


def _placed(signal: CanSignal, raw: Number, length: int) -> int:
    """Returns the raw value at its bits, in the data as one big-endian number."""
    if signal.float:
        try:
            bits = int.from_bytes(struct.pack(_FLOATS[signal.length], raw), "big")
        except OverflowError:
            raise CodecError(f"signal {signal.name!r}: {raw:g} is too large.") from None
    else:
        bits = int(raw) & ((1 << signal.length) - 1)
    if signal.big_endian:
        return bits << (8 * length - _end(signal))
    return int.from_bytes((bits << signal.start).to_bytes(length, "little"), "big")
