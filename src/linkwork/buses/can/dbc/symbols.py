"""Names and numbers that a DBC file can hold, for databases that were made in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from linkwork.buses.can.dbc.model import Database, DbcError, DbcMessage, DbcSignal
from linkwork.buses.can.frame import EXTENDED_MOST, STANDARD_MOST

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def symbol(text: str) -> str:
    """Makes a name that the format allows: ``arm/J2.angle`` becomes ``arm_J2_angle``."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return name if _SYMBOL.match(name) else f"_{name}"


def check_symbols(database: Database) -> None:
    """Raises an error for a name or number that no reader would take."""
    for what, name in _names(database):
        if not _SYMBOL.match(name):
            raise DbcError(
                f"a DBC file cannot name a {what} {name!r}.",
                hint=f"Letters, digits and _ only: {symbol(name)!r}.",
            )
    for message in database.messages:
        _check_message(message)
        for signal in message.signals:
            _check_signal(signal, message)


def _names(database: Database) -> Iterator[tuple[str, str]]:
    yield from (("node", node.name) for node in database.nodes)
    yield from (("value table", name) for name in database.tables)
    yield from (("variable", name) for name in database.variables)
    for message in database.messages:
        yield "message", message.name
        yield from (("node", name) for name in (message.sender, *message.senders) if name)
        for signal in message.signals:
            yield "signal", signal.name
            yield from (("node", name) for name in signal.receivers)


def _check_message(message: DbcMessage) -> None:
    most = EXTENDED_MOST if message.extended else STANDARD_MOST
    if not 0 <= message.id <= most:
        raise DbcError(
            f"message {message.name!r}: the identifier is 0 to {most}, not {message.id}."
        )
    if not 0 <= message.length <= 64:
        raise DbcError(f"message {message.name!r} has {message.length} bytes.")


def _check_signal(signal: DbcSignal, message: DbcMessage) -> None:
    numbers = (signal.scale, signal.offset, signal.minimum or 0, signal.maximum or 0)
    if not all(map(math.isfinite, numbers)) or not signal.scale:
        raise DbcError(
            f"signal {signal.name!r} of {message.name!r}: scale, offset and limits are finite, and "
            f"the scale is not 0; found {signal.scale}, {signal.offset}, {signal.minimum}, "
            f"{signal.maximum}."
        )
    if not 1 <= signal.length <= 512 or signal.start < 0:
        raise DbcError(
            f"signal {signal.name!r} of {message.name!r} has {signal.length} bits from bit "
            f"{signal.start}."
        )
    if signal.float and signal.length not in (16, 32, 64):
        raise DbcError(f"signal {signal.name!r}: an IEEE number has 16, 32 or 64 bits.")
