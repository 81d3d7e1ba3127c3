"""Names longer than the 32 characters that the format allows: kept in attributes, as tools do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

from linkwork.buses.can.dbc.model import Attribute, Database, DbcMessage, DbcNode, DbcSignal

LONGEST = 32
NODE, MESSAGE, SIGNAL = (
    "SystemNodeLongSymbol",
    "SystemMessageLongSymbol",
    "SystemSignalLongSymbol",
)
Named = DbcNode | DbcMessage | DbcSignal


def lengthen(database: Database) -> None:
    """Gives things their long names, and takes away the attributes that held them."""

    def full(attribute: str) -> Callable[[Named], str]:
        return lambda thing: str(thing.attributes.pop(attribute, "")) or thing.name

    _rename(database, full(NODE), full(MESSAGE), full(SIGNAL))
    for name in (NODE, MESSAGE, SIGNAL):
        database.definitions.pop(name, None)


def shorten(database: Database) -> Database:
    """A copy whose names fit, with the long ones in attributes; the same where all fit."""
    things: list[Named] = [*database.nodes, *database.messages]
    things += [signal for message in database.messages for signal in message.signals]
    if all(len(thing.name) <= LONGEST for thing in things):
        return database
    database = copy.deepcopy(database)

    def cut(attribute: str, of: str, taken: Iterable[str]) -> Callable[[Named], str]:
        used = set(taken)

        def act(thing: Named) -> str:
            if len(thing.name) <= LONGEST:
                return thing.name
            thing.attributes[attribute] = thing.name
            database.definitions.setdefault(
                attribute, Attribute(attribute, of, "STRING", default="")
            )
            short, number = thing.name[:LONGEST], 0
            while short in used:
                ending = f"_{number:04}"
                short, number = thing.name[: LONGEST - len(ending)] + ending, number + 1
            used.add(short)
            return short

        return act

    _rename(
        database,
        cut(NODE, "BU_", (node.name for node in database.nodes)),
        cut(MESSAGE, "BO_", (message.name for message in database.messages)),
        # One set for all messages, so that no two signals of a file look alike.
        cut(SIGNAL, "SG_", (s.name for m in database.messages for s in m.signals)),
    )
    return database


def _rename(
    database: Database,
    of_node: Callable[[Named], str],
    of_message: Callable[[Named], str],
    of_signal: Callable[[Named], str],
) -> None:
    nodes = {node.name: of_node(node) for node in database.nodes}
    for node in database.nodes:
        node.name = nodes[node.name]
    renamed: dict[int, dict[str, str]] = {}
    for message in database.messages:
        message.name = of_message(message)
        message.sender = nodes.get(message.sender, message.sender)
        message.senders = [nodes.get(name, name) for name in message.senders]
        signals = renamed[message.number] = {s.name: of_signal(s) for s in message.signals}
        for signal in message.signals:
            signal.name = signals[signal.name]
            signal.parent = signals.get(signal.parent, signal.parent)
            signal.receivers = [nodes.get(name, name) for name in signal.receivers]
        message.groups = {
            group: (count, [signals.get(name, name) for name in names])
            for group, (count, names) in message.groups.items()
        }
    for variable in database.variables.values():
        variable.nodes = [nodes.get(name, name) for name in variable.nodes]
    database.relations = [
        (name, kind, _related(kind, words, nodes, renamed), value)
        for name, kind, words, value in database.relations
    ]


def _related(
    kind: str,
    words: tuple[str | int, ...],
    nodes: dict[str, str],
    renamed: dict[int, dict[str, str]],
) -> tuple[str | int, ...]:
    first = nodes.get(str(words[0]), words[0])
    if kind != "BU_SG_REL_":
        return (first, *words[1:])
    number, signal = words[1], words[2]
    return (first, number, renamed.get(int(number), {}).get(str(signal), signal))
