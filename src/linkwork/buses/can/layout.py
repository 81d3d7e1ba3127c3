"""Layout: which bits of which frames hold a bus's signals, and when each is sent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from linkwork.buses.can.dbc.model import Database, DbcMessage, DbcSignal
from linkwork.buses.can.dbc.reader import read_dbc
from linkwork.buses.can.frame import STANDARD_MOST
from linkwork.buses.can.units import factor
from linkwork.buses.port import BusPlan, PortSignal
from linkwork.errors import FormatError, LinkworkError

#: Bits of a plain number: an IEEE float.
FLOAT_BITS = 32

Send = Literal["change", "period", "request"]
Key = tuple[int, bool]


class CanAddress(msgspec.Struct, forbid_unknown_fields=True):
    """Where a signal stands on the bus.

    Attributes:
        can_id: Identifier of its frame.
        extended: Whether the identifier has 29 bits; true for one above 0x7FF if absent.
        start: First bit, as a DBC file counts: the lowest one, or the highest if ``big_endian``.
        big_endian: Whether the highest byte comes first (Motorola).
        dbc: "Message.Signal" of the bus's DBC file, in place of all others.
        dbc_unit: What the file means by its unit, where it writes none, or one that nobody knows.
        send: When a frame is sent: on each change, every so often, or only on request (RTR).
        every: How often, in simulated time [s]; the bus's period if 0.
    """

    can_id: Annotated[int, msgspec.Meta(ge=0, le=0x1FFFFFFF)] | None = None
    extended: bool | None = None
    start: Annotated[int, msgspec.Meta(ge=0, le=63)] = 0
    big_endian: bool = False
    dbc: str = ""
    dbc_unit: str = ""
    send: Send = "change"
    every: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.0


@dataclass(frozen=True)
class FrameForm:
    """A frame: what it holds, and when it is sent.

    Attributes:
        message: Its signals, by the keys of the plan.
        send: When it is sent.
        every: How often [s].
    """

    message: DbcMessage
    send: Send = "change"
    every: float = 0.0

    @property
    def key(self) -> Key:
        """Identifier, and whether it is extended."""
        return self.message.id, self.message.extended


@lru_cache(maxsize=8)
def database(file: str) -> Database:
    """The DBC file of a bus.

    Raises:
        LinkworkError: If it cannot be read; with its line.
    """
    return read_dbc(file)


def find(file: str, name: str) -> tuple[DbcMessage, DbcSignal]:
    """What ``dbc = "Message.Signal"`` means.

    Raises:
        LinkworkError: If there is no file, or nothing of this name in it.
    """
    if not file:
        raise FormatError(
            f"dbc = {name!r} needs a DBC file.", hint='Name it at the bus: file = "robot.dbc".'
        )
    message, dot, signal = name.partition(".")
    if not dot:
        raise FormatError(f'dbc is "Message.Signal", not {name!r}.')
    found = database(file).message(message)
    return found, found.signal(signal)


def filled(file: str, address: CanAddress, unit: str) -> dict[str, Any]:
    """What a DBC file says of a signal, in the words of a port's signal.

    Args:
        file: The DBC file.
        address: Where the signal stands.
        unit: Unit of the scene's signal behind it, into which the file's is turned.

    Raises:
        LinkworkError: If there is no such signal, or its unit cannot be turned into the scene's.
    """
    if not address.dbc:
        return {}
    _, signal = find(file, address.dbc)
    worth = _worth(signal, address, unit)
    made: dict[str, Any] = {}
    if not signal.float:
        made = {
            "bits": signal.length, "scale": signal.scale * worth, "signed": signal.signed,
            "offset": signal.offset * worth,
        }  # fmt: skip
    if signal.minimum is not None and signal.maximum is not None:
        made |= {"lo": signal.minimum * worth, "hi": signal.maximum * worth}
    return made if unit else {**made, "unit": address.dbc_unit or signal.unit}


def _worth(signal: DbcSignal, address: CanAddress, unit: str) -> float:
    """What one of a DBC file's unit is in the scene's.

    Raises:
        FormatError: If nobody can say: a wrong guess would move the joint somewhere else.
    """
    theirs = address.dbc_unit or signal.unit
    worth = factor(theirs, unit)
    if worth is None:
        raise FormatError(
            f"{address.dbc} is in {theirs!r}, the scene's signal in {unit!r}, and nothing is known "
            "that makes one of the other.",
            hint='Say what the file means: dbc_unit = "deg", or "mm", "rpm", "Nm", …',
        )
    return worth


def frames(plan: BusPlan, signals: Mapping[str, PortSignal]) -> dict[Key, FrameForm]:
    """The frames that hold these signals.

    Raises:
        LinkworkError: If a signal has no place, or two share one.
    """
    file = str(plan.params.get("file", ""))
    made: dict[Key, FrameForm] = {}
    for key, signal in signals.items():
        address = msgspec.convert(signal.address, CanAddress)
        message, place = _place(file, key, signal, address)
        known = made.get((message.id, message.extended))
        if known is None:
            every = address.every or plan.period
            known = FrameForm(message, address.send, every)
            made[known.key] = known
        known.message.length = max(known.message.length, message.length)
        if signals is plan.given:
            _check_send(known, address, plan.period, key)
        _check_room(known.message, place, key)
        known.message.signals.append(place)
    return made


def _place(
    file: str, key: str, signal: PortSignal, address: CanAddress
) -> tuple[DbcMessage, DbcSignal]:
    quant = signal.quant
    bits = quant.bits if quant is not None else FLOAT_BITS
    scale, offset = (quant.scale, quant.offset) if quant is not None else (1.0, 0.0)
    if address.dbc:
        message, there = find(file, address.dbc)
        if there.parent or there.multiplexer:
            raise FormatError(f"{address.dbc} is multiplexed, which a port's signal cannot be.")
        number, extended, length = message.id, message.extended, message.length
        start, big, name = there.start, there.big_endian, message.name
        bits = there.length
        if quant is None:  # an IEEE number, which has a scale there and none in a port
            worth = _worth(there, address, signal.unit)
            scale, offset = there.scale * worth, there.offset * worth
    else:
        if address.can_id is None:
            raise FormatError(f"{key} has no place on the bus.", hint="Give it a can_id.")
        number, start, big = address.can_id, address.start, address.big_endian
        extended = number > STANDARD_MOST if address.extended is None else address.extended
        if not extended and number > STANDARD_MOST:
            raise FormatError(f"{key}: identifier 0x{number:X} needs extended = true.")
        length, name = 0, f"Frame_{number:X}"
    place = DbcSignal(
        key, start, bits, big, bool(quant and quant.signed),
        scale, offset,
        signal.lo if math.isfinite(signal.lo) else None,
        signal.hi if math.isfinite(signal.hi) else None,
        signal.unit, float=quant is None,
    )  # fmt: skip
    taken = place.bits()
    if min(taken) < 0 or max(taken) > 63:
        raise FormatError(f"{key}: {bits} bits from {start} do not fit into 8 bytes.")
    return DbcMessage(number, name, max(length, max(taken) // 8 + 1), extended), place


def _check_send(form: FrameForm, address: CanAddress, period: float, key: str) -> None:
    """A frame is sent as a whole, so its signals must agree when."""
    if (address.send, address.every or period) != (form.send, form.every):
        other = form.message.signals[0].name
        raise FormatError(
            f"{key} and {other} stand in frame 0x{form.message.id:X}, but are to be sent at "
            "different times.",
            hint="Give both the same send and every, or one another can_id.",
        )


def _check_room(message: DbcMessage, place: DbcSignal, key: str) -> None:
    taken = set(place.bits())
    for other in message.signals:
        if taken & set(other.bits()):
            raise FormatError(
                f"{key} and {other.name} share bits of frame 0x{message.id:X}.",
                hint="Give one another can_id or start.",
            )


def check(plan: BusPlan) -> Iterator[str]:
    """What is wrong with the places of a plan's signals, a sentence each."""
    try:
        given, fed = frames(plan, plan.given), frames(plan, plan.fed)
    except LinkworkError as error:
        yield str(error)
        return
    for key in given.keys() & fed.keys():
        for ours in given[key].message.signals:
            for theirs in fed[key].message.signals:
                if set(ours.bits()) & set(theirs.bits()) and _code(ours) != _code(theirs):
                    yield (
                        f"frame 0x{key[0]:X} goes both ways, but {ours.name} and {theirs.name} say "
                        "different things by the same bits: nobody could tell which is meant. Give "
                        "one another can_id or start, or both the same bits, lo and hi."
                    )


def _code(signal: DbcSignal) -> tuple[object, ...]:
    """What a signal's bits mean."""
    return (
        signal.start, signal.length, signal.big_endian, signal.signed, signal.float, signal.scale,
        signal.offset,
    )  # fmt: skip
