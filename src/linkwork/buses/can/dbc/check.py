"""What no grammar sees: signals that do not fit, overlap or depend in a circle."""

from __future__ import annotations

from linkwork.buses.can.dbc.model import Database, DbcError, DbcMessage, DbcSignal


def check(database: Database, *, strict: bool) -> None:
    """Raises an error that names the line.

    Args:
        database: What was read.
        strict: Also look for signals that overlap or do not fit, and for names and identifiers
            that come twice.
    """
    names: dict[str, DbcMessage] = {}
    numbers: dict[int, DbcMessage] = {}
    for message in database.messages:
        _check_dependence(message)
        if not strict:
            continue
        if message.name in names:
            raise DbcError(
                f"the message {message.name!r} is defined twice, first in line "
                f"{names[message.name].origin.line}.",
                origin=message.origin,
            )
        if message.number in numbers:
            raise DbcError(
                f"message {message.name!r} has the identifier of {numbers[message.number].name!r}.",
                origin=message.origin,
            )
        names[message.name] = numbers[message.number] = message
        _check_places(message)


def _check_places(message: DbcMessage) -> None:
    taken: dict[str, DbcSignal] = {}
    places: dict[int, list[DbcSignal]] = {}
    for signal in message.signals:
        if signal.name in taken:
            raise DbcError(
                f"message {message.name!r} has the signal {signal.name!r} twice.",
                origin=signal.origin,
            )
        taken[signal.name] = signal
        for place in signal.bits():
            if not 0 <= place < 8 * message.length:
                raise DbcError(
                    f"signal {signal.name!r} does not fit into the {message.length} bytes of "
                    f"message {message.name!r}.",
                    origin=signal.origin,
                )
            for other in places.setdefault(place, []):
                if _together(signal, other, message):
                    raise DbcError(
                        f"signals {other.name!r} and {signal.name!r} of message {message.name!r} "
                        f"overlap at bit {place}.",
                        origin=signal.origin,
                    )
            places[place].append(signal)


def _check_dependence(message: DbcMessage) -> None:
    for signal in message.signals:
        seen, at = {signal.name}, signal
        while at.parent:
            at = message.signal(at.parent)
            if at.name in seen:
                raise DbcError(
                    f"the multiplexing of signal {signal.name!r} goes round in a circle.",
                    origin=signal.origin,
                )
            seen.add(at.name)


def _conditions(signal: DbcSignal, message: DbcMessage) -> dict[str, list[tuple[int, int]]]:
    """All that must hold for a signal to be in a frame: ranges by multiplexer."""
    found = {}
    at = signal
    while at.parent:
        found[at.parent] = at.ranges
        at = message.signal(at.parent)
    return found


def _together(one: DbcSignal, other: DbcSignal, message: DbcMessage) -> bool:
    """Whether both can be in the same frame."""
    first, second = _conditions(one, message), _conditions(other, message)
    for name in first.keys() & second.keys():
        meets = any(a <= d and c <= b for a, b in first[name] for c, d in second[name])
        if not meets:
            return False
    return True
