"""The frames of a CAN bus as people look at them: the ports' bits, and what a DBC file adds."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.buses.can.dbc.model import DbcMessage, DbcSignal
from linkwork.buses.can.frame import Frame
from linkwork.buses.can.layout import database, frames
from linkwork.buses.port import BusPlan
from linkwork.buses.wire import WireFrame, WireSignal


def wire_frames(plan: BusPlan) -> Iterator[WireFrame]:
    """Every frame that the bus's ports or its DBC file know."""
    file = str(plan.params.get("file", ""))
    known = list(database(file)) if file else []
    bound = set()
    for way, signals in (("out", plan.given), ("in", plan.fed)):
        for form in frames(plan, signals).values():
            bound.add(form.key)
            said = next((each for each in known if (each.id, each.extended) == form.key), None)
            yield _frame(form.message, way, said)
    for message in known:
        if (message.id, message.extended) not in bound:
            yield _frame(message, "", message)


def _frame(message: DbcMessage, way: str, said: DbcMessage | None) -> WireFrame:
    signals = list(message.signals)
    length = message.length
    if said is not None:
        length = max(length, said.length)
        taken = {bit for each in signals for bit in each.bits()}
        signals += [each for each in said.signals if taken.isdisjoint(each.bits())]
    address = str(Frame(message.id, b"", message.extended)).partition("#")[0]
    name = said.name if said is not None else ""
    return WireFrame(address, way, name, length, tuple(map(_signal, signals)))


def _signal(each: DbcSignal) -> WireSignal:
    return WireSignal(
        each.name, each.start, each.length, each.big_endian, each.signed, each.float,
        float(each.scale), float(each.offset), each.unit, dict(each.values), each.parent,
        tuple(each.ranges),
    )  # fmt: skip
