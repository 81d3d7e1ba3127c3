"""Physical values to the bits of a frame and back, as a DBC file defines them."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from linkwork.buses.can.dbc.model import DbcError, DbcMessage, DbcSignal, Number
from linkwork.errors import not_found

_FLOATS = {16: ">e", 32: ">f", 64: ">d"}


def to_raw(signal: DbcSignal, value: Number | str, *, clip: bool = False) -> Number:
    """The raw value of a physical one, rounded to the nearest step.

    Args:
        signal: The signal.
        value: Physical value, or one of the signal's words.
        clip: A value out of range becomes the nearest possible; else it is an error.
    """
    if isinstance(value, str):
        return _raw_of_word(signal, value)
    if isinstance(value, float) and math.isnan(value):
        raise DbcError(f"signal {signal.name!r} cannot be nan.")
    if clip:
        value = min(max(value, _least(signal)), _most(signal))
    elif not _least(signal) <= value <= _most(signal):
        raise DbcError(
            f"signal {signal.name!r} is from {_least(signal):g} to {_most(signal):g}, "
            f"not {value:g}."
        )
    if signal.float:
        return (value - signal.offset) / signal.scale
    raw = _divided(signal, value)
    low, high = signal.raw_range
    if not low <= raw <= high:
        if not clip:
            raise DbcError(f"signal {signal.name!r}: {value:g} does not fit {signal.length} bits.")
        raw = min(max(raw, low), high)
    return round(raw)


def to_physical(signal: DbcSignal, raw: Number) -> Number:
    """The physical value of a raw one."""
    return raw * signal.scale + signal.offset


def encode(message: DbcMessage, values: Mapping[str, Number | str], *, clip: bool = False) -> bytes:
    """The data of a frame.

    Args:
        message: Which one.
        values: Physical values, or words, of all signals that this frame has; of multiplexed ones
            those that the multiplexers choose.
        clip: See :func:`to_raw`.
    """
    content = 0
    chosen: dict[str, Number] = {}
    for signal in _in_order(message):
        if signal.parent and not _is_present(signal, chosen):
            continue
        if signal.name not in values:
            raise DbcError(f"message {message.name!r} needs a value for {signal.name!r}.")
        raw = to_raw(signal, values[signal.name], clip=clip)
        chosen[signal.name] = raw
        content |= _placed(signal, raw, message.length)
    for name in values:
        if name not in chosen:
            names = [signal.name for signal in message.signals]
            if name in names:
                raise DbcError(f"signal {name!r} is not in this frame of {message.name!r}.")
            raise not_found(f"signal of {message.name}", name, names)
    return content.to_bytes(message.length, "big")


def decode(message: DbcMessage, data: bytes, *, words: bool = False) -> dict[str, Number | str]:
    """Physical values of the signals that a frame has.

    Args:
        message: Which one.
        data: The frame's data; signals beyond its end are left out.
        words: Give the word for a raw value that has one.
    """
    found: dict[str, Number | str] = {}
    chosen: dict[str, Number] = {}
    for signal in _in_order(message):
        if signal.parent and not _is_present(signal, chosen):
            continue
        raw = extract(signal, data)
        if raw is None:
            continue
        chosen[signal.name] = raw
        word = signal.values.get(int(raw)) if words and not signal.float else None
        found[signal.name] = to_physical(signal, raw) if word is None else word
    return found


def extract(signal: DbcSignal, data: bytes) -> Number | None:
    """The raw value in a frame's data; None where the data end before it."""
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


def _end(signal: DbcSignal) -> int:
    """Where a Motorola signal ends, in bits from the front of the data."""
    return 8 * (signal.start // 8) + 7 - signal.start % 8 + signal.length


def _placed(signal: DbcSignal, raw: Number, length: int) -> int:
    """The raw value in its place, in the data as one big-endian number."""
    if signal.float:
        try:
            bits = int.from_bytes(struct.pack(_FLOATS[signal.length], raw), "big")
        except OverflowError:
            raise DbcError(f"signal {signal.name!r}: {raw:g} is too large.") from None
    else:
        bits = int(raw) & ((1 << signal.length) - 1)
    if signal.big_endian:
        return bits << (8 * length - _end(signal))
    return int.from_bytes((bits << signal.start).to_bytes(length, "little"), "big")


def _in_order(message: DbcMessage) -> list[DbcSignal]:
    """Multiplexers before what depends on them."""
    order: list[DbcSignal] = []
    left = list(message.signals)
    known: set[str] = set()
    while left:
        ready = [signal for signal in left if not signal.parent or signal.parent in known]
        if not ready:
            break
        order += ready
        known.update(signal.name for signal in ready)
        left = [signal for signal in left if signal.name not in known]
    return order


def _is_present(signal: DbcSignal, chosen: Mapping[str, Number]) -> bool:
    selector = chosen.get(signal.parent)
    return selector is not None and signal.present(int(selector))


def _divided(signal: DbcSignal, value: Number) -> Number:
    shifted = value - signal.offset
    if isinstance(shifted, int) and isinstance(signal.scale, int):
        quotient, rest = divmod(shifted, signal.scale)
        if not rest:
            return quotient  # exact, also beyond the 53 bits of a float
    return round(shifted / signal.scale) if math.isfinite(shifted) else shifted


def _raw_of_word(signal: DbcSignal, word: str) -> int:
    for raw, each in signal.values.items():
        if each == word:
            return raw
    raise not_found(f"value of {signal.name}", word, signal.values.values())


def _least(signal: DbcSignal) -> Number:
    return -math.inf if signal.minimum is None else signal.minimum


def _most(signal: DbcSignal) -> Number:
    return math.inf if signal.maximum is None else signal.maximum
