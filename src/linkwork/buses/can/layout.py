"""Layout of CAN frames: which bits hold the signals of a bus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from linkwork.buses.adapter import PlanError, WireFrame, WireSignal
from linkwork.buses.can.dbc import DbcFile, read_dbc
from linkwork.buses.can.dbc_units import factor
from linkwork.buses.can.frame import MAX_STANDARD_ID, CanFrame
from linkwork.buses.can.frame_codec import CanMessage, CanSignal
from linkwork.buses.port import BusPlan, PortSignal
from linkwork.core.errors import FormatError, LinkworkError

#: Bits of a plain number: an IEEE float.
FLOAT_BITS = 32

Send = Literal["change", "period", "request"]
Key = tuple[int, bool]


class CanAddress(msgspec.Struct, forbid_unknown_fields=True):
    """Address of a signal on the bus.

    Attributes:
        can_id: Identifier of its frame.
        extended: Whether the identifier has 29 bits; true for one above 0x7FF if absent.
        start: First bit, counted as in a DBC file: the lowest one, or the highest if
            ``big_endian``.
        big_endian: Whether the highest byte comes first (Motorola).
        dbc: "Message.Signal" of the bus's DBC file, replacing all other keys.
        dbc_unit: Unit of the signal in the file, if the file has none or an unknown one.
        send: When a frame is sent: on each change, periodically, or only on request (RTR).
        every: Period in simulated time [s]; the bus's period if 0.
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
class FrameLayout:
    """A frame with its time of sending.

    Attributes:
        message: Its signals, by the keys of the plan.
        send: When it is sent.
        every: Period [s].
    """

    message: CanMessage
    send: Send = "change"
    every: float = 0.0

    @property
    def key(self) -> Key:
        """Identifier, and whether it is extended."""
        return self.message.id, self.message.extended


@lru_cache(maxsize=8)
def database(file: str) -> DbcFile:
    """Returns the DBC file of a bus.

    Raises:
        LinkworkError: If it cannot be read; with its line.
    """
    return read_dbc(file)


def find(file: str, name: str) -> tuple[CanMessage, CanSignal]:
    """Returns message and signal of ``dbc = "Message.Signal"``.

    Raises:
        LinkworkError: If there is no file, or it has no such signal.
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


def fill_from_dbc(file: str, address: CanAddress, unit: str) -> dict[str, Any]:
    """Returns keys of a port's signal from a DBC file.

    Args:
        file: The DBC file.
        address: Address of the signal.
        unit: Unit of the scene's signal behind it, to which the file's is converted.

    Raises:
        LinkworkError: If there is no such signal, or its unit cannot be converted to the scene's.
    """
    if not address.dbc:
        return {}
    _, signal = find(file, address.dbc)
    worth = _scaling(signal, address, unit)
    made: dict[str, Any] = {}
    if not signal.float:
        made = {
            "bits": signal.length, "scale": signal.scale * worth, "signed": signal.signed,
            "offset": signal.offset * worth,
        }  # fmt: skip
    if signal.minimum is not None and signal.maximum is not None:
        made |= {"lo": signal.minimum * worth, "hi": signal.maximum * worth}
    return made if unit else {**made, "unit": address.dbc_unit or signal.unit}


def _scaling(signal: CanSignal, address: CanAddress, unit: str) -> float:
    """Returns the value of a DBC file's unit in the scene's.

    Raises:
        FormatError: If it is unknown: a wrong guess would move the joint to a wrong position.
    """
    theirs = address.dbc_unit or signal.unit
    worth = factor(theirs, unit)
    if worth is None:
        raise FormatError(
            f"{address.dbc} is in {theirs!r}, the scene's signal in {unit!r}, and there is no "
            "known conversion.",
            hint='Give the unit: dbc_unit = "deg", or "mm", "rpm", "Nm", …',
        )
    return worth


def frames(plan: BusPlan, signals: Mapping[str, PortSignal]) -> dict[Key, FrameLayout]:
    """Returns the frames that hold these signals.

    Raises:
        LinkworkError: If a signal has no address, or two share bits.
    """
    file = str(plan.params.get("file", ""))
    made: dict[Key, FrameLayout] = {}
    for key, signal in signals.items():
        address = msgspec.convert(signal.address, CanAddress)
        message, place = _place(file, key, signal, address)
        known = made.get((message.id, message.extended))
        if known is None:
            every = address.every or plan.period
            known = FrameLayout(message, address.send, every)
            made[known.key] = known
        known.message.length = max(known.message.length, message.length)
        if signals is plan.outputs:
            _check_send(known, address, plan.period, key)
        _check_room(known.message, place, key)
        known.message.signals.append(place)
    return made


def _place(
    file: str, key: str, signal: PortSignal, address: CanAddress
) -> tuple[CanMessage, CanSignal]:
    quant = signal.quant
    bits = quant.bits if quant is not None else FLOAT_BITS
    scale, offset = (quant.scale, quant.offset) if quant is not None else (1.0, 0.0)
    if address.dbc:
        message, there = find(file, address.dbc)
        if there.parent or there.multiplexer:
            raise PlanError(
                f"{address.dbc} is multiplexed, which a port's signal cannot be.", key=key
            )
        number, extended, length = message.id, message.extended, message.length
        start, big, name = there.start, there.big_endian, message.name
        bits = there.length
        if quant is None:  # an IEEE number, which has a scale in the file but not in a port
            worth = _scaling(there, address, signal.unit)
            scale, offset = there.scale * worth, there.offset * worth
    else:
        if address.can_id is None:
            raise PlanError(f"{key} has no address on the bus.", key=key, hint="Give it a can_id.")
        number, start, big = address.can_id, address.start, address.big_endian
        extended = number > MAX_STANDARD_ID if address.extended is None else address.extended
        if not extended and number > MAX_STANDARD_ID:
            raise PlanError(f"{key}: identifier 0x{number:X} needs extended = true.", key=key)
        length, name = 0, f"Frame_{number:X}"
    place = CanSignal(
        key, start, bits, big, bool(quant and quant.signed),
        scale, offset,
        signal.lo if math.isfinite(signal.lo) else None,
        signal.hi if math.isfinite(signal.hi) else None,
        signal.unit, float=quant is None,
    )  # fmt: skip
    taken = place.bits()
    if min(taken) < 0 or max(taken) > 63:
        raise PlanError(f"{key}: {bits} bits from {start} do not fit into 8 bytes.", key=key)
    return CanMessage(number, name, max(length, max(taken) // 8 + 1), extended), place


def _check_send(form: FrameLayout, address: CanAddress, period: float, key: str) -> None:
    """Refuses signals of one frame that are sent at different times."""
    if (address.send, address.every or period) != (form.send, form.every):
        other = form.message.signals[0].name
        raise PlanError(
            f"{key} and {other} are in frame 0x{form.message.id:X}, but are to be sent at "
            "different times.",
            key=key,
            hint="Give both the same send and every, or one another can_id.",
        )


def _check_room(message: CanMessage, place: CanSignal, key: str) -> None:
    taken = set(place.bits())
    for other in message.signals:
        if taken & set(other.bits()):
            raise PlanError(
                f"{key} and {other.name} share bits of frame 0x{message.id:X}.",
                key=key,
                hint="Give one another can_id or start.",
            )


def check(plan: BusPlan) -> Iterator[PlanError]:
    """Yields the errors in the layout of a plan's signals."""
    try:
        outputs, inputs = frames(plan, plan.outputs), frames(plan, plan.inputs)
    except PlanError as error:
        yield error
        return
    except LinkworkError as error:
        yield PlanError(str(error))
        return
    for key in outputs.keys() & inputs.keys():
        for ours in outputs[key].message.signals:
            for theirs in inputs[key].message.signals:
                if set(ours.bits()) & set(theirs.bits()) and _code(ours) != _code(theirs):
                    yield PlanError(
                        f"frame 0x{key[0]:X} is used in both directions, but "
                        f"{ours.name} and {theirs.name} encode the same bits differently.",
                        hint="Give one another can_id or start, or both the same bits, lo and hi.",
                    )


def _code(signal: CanSignal) -> tuple[object, ...]:
    """Returns the encoding of a signal."""
    return (
        signal.start, signal.length, signal.big_endian, signal.signed, signal.float, signal.scale,
        signal.offset,
    )  # fmt: skip


def wire_frames(plan: BusPlan) -> Iterator[WireFrame]:
    """Yields every frame of the bus's ports and of its DBC file."""
    file = str(plan.params.get("file", ""))
    known = list(database(file)) if file else []
    bound = set()
    for direction, signals in (("out", plan.outputs), ("in", plan.inputs)):
        for form in frames(plan, signals).values():
            bound.add(form.key)
            described = next((each for each in known if (each.id, each.extended) == form.key), None)
            yield _frame(form.message, direction, described)
    for message in known:
        if (message.id, message.extended) not in bound:
            yield _frame(message, "", message)


def _frame(message: CanMessage, direction: str, described: CanMessage | None) -> WireFrame:
    signals = list(message.signals)
    length = message.length
    if described is not None:
        length = max(length, described.length)
        taken = {bit for each in signals for bit in each.bits()}
        signals += [each for each in described.signals if taken.isdisjoint(each.bits())]
    address = CanFrame(message.id, b"", message.extended).address
    name = described.name if described is not None else ""
    return WireFrame(address, direction, name, length, tuple(map(_signal, signals)))


def _signal(each: CanSignal) -> WireSignal:
    return WireSignal(
        each.name, each.start, each.length, each.big_endian, each.signed, each.float,
        float(each.scale), float(each.offset), each.unit, dict(each.values), each.parent,
        tuple(each.ranges),
    )  # fmt: skip
