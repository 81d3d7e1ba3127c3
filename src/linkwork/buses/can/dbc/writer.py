"""Writes DBC files that every tool reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from linkwork.buses.can.dbc.check import check
from linkwork.buses.can.dbc.long_names import shorten
from linkwork.buses.can.dbc.model import (
    NO_NODE,
    Attribute,
    Database,
    DbcMessage,
    DbcSignal,
    Number,
)
from linkwork.buses.can.dbc.symbols import check_symbols

_SYMBOLS = [
    "NS_DESC_",
    "CM_",
    "BA_DEF_",
    "BA_",
    "VAL_",
    "CAT_DEF_",
    "CAT_",
    "FILTER",
    "BA_DEF_DEF_",
    "EV_DATA_",
    "ENVVAR_DATA_",
    "SGTYPE_",
    "SGTYPE_VAL_",
    "BA_DEF_SGTYPE_",
    "BA_SGTYPE_",
    "SIG_TYPE_REF_",
    "VAL_TABLE_",
    "SIG_GROUP_",
    "SIG_VALTYPE_",
    "SIGTYPE_VALTYPE_",
    "BO_TX_BU_",
    "BA_DEF_REL_",
    "BA_REL_",
    "BA_DEF_DEF_REL_",
    "BU_SG_REL_",
    "BU_EV_REL_",
    "BU_BO_REL_",
    "SG_MUL_VAL_",
]


def write_dbc(database: Database, path: Path | str) -> None:
    """Writes a file, after checking that it will be read again."""
    Path(path).write_text(dbc_text(database), encoding="utf-8", newline="\n")


def dbc_text(database: Database) -> str:
    """The text of a file."""
    check_symbols(database)
    check(database, strict=True)
    database = shorten(database)
    return "\n".join(_lines(database)) + "\n"


def _lines(database: Database) -> Iterator[str]:
    yield f"VERSION {_quoted(database.version)}"
    yield from ("", "", "NS_ :", *(f"\t{name}" for name in _SYMBOLS), "", "BS_:", "")
    yield " ".join(["BU_:", *(node.name for node in database.nodes)])
    for name, table in database.tables.items():
        yield f"VAL_TABLE_ {name}{_pairs(table)};"
    yield ""
    messages = _messages(database)
    for message in messages:
        yield from _message(message)
        yield ""
    yield from _later(database, messages)


def _messages(database: Database) -> list[DbcMessage]:
    return [*database.messages, *([database.orphans] if database.orphans else [])]


def _message(message: DbcMessage) -> Iterator[str]:
    sender = message.sender or NO_NODE
    yield f"BO_ {message.number} {message.name}: {message.length} {sender}"
    for signal in message.signals:
        yield f" {_signal(signal)}"


def _signal(signal: DbcSignal) -> str:
    order = f"{'0' if signal.big_endian else '1'}{'-' if signal.signed else '+'}"
    low, high = _limits(signal)
    role = f"m{signal.ranges[0][0]}" if signal.ranges else ""
    role += "M" if signal.multiplexer else ""
    head = f"SG_ {signal.name} {role} :" if role else f"SG_ {signal.name} :"
    return (
        f"{head} {signal.start}|{signal.length}@{order} "
        f"({_number(signal.scale)},{_number(signal.offset)}) [{_number(low)}|{_number(high)}] "
        f"{_quoted(signal.unit)} {','.join(signal.receivers) or NO_NODE}"
    )


def _limits(signal: DbcSignal) -> tuple[Number, Number]:
    """Both limits; a side without one gets what the bits allow, and 0|0 means none at all."""
    if signal.minimum is None and signal.maximum is None:
        return 0, 0
    first, last = (raw * signal.scale + signal.offset for raw in signal.raw_range)
    low = min(first, last) if signal.minimum is None else signal.minimum
    high = max(first, last) if signal.maximum is None else signal.maximum
    return low, high


def _later(database: Database, messages: list[DbcMessage]) -> Iterator[str]:
    """The statements that refer to messages, in the order in which tools write them."""
    for message in database.messages:
        if message.senders and message.senders != [message.sender]:
            yield f"BO_TX_BU_ {message.number} : {','.join(message.senders)};"
    for v in database.variables.values():
        yield (
            f"EV_ {v.name}: {v.type} [{_number(v.minimum)}|{_number(v.maximum)}] "
            f"{_quoted(v.unit)} {_number(v.initial)} {v.number} {v.access} {','.join(v.nodes)};"
        )
    for v in database.variables.values():
        if v.size:
            yield f"ENVVAR_DATA_ {v.name}: {v.size};"
    yield from _comments(database, messages)
    yield from _attributes(database, messages)
    for v in database.variables.values():
        if v.values:
            yield f"VAL_ {v.name}{_pairs(v.values)};"
    for message, signal in _signals(messages):
        if signal.values:
            yield f"VAL_ {message.number} {signal.name}{_pairs(signal.values)};"
    for message in messages:
        for name, (repetitions, signals) in message.groups.items():
            yield f"SIG_GROUP_ {message.number} {name} {repetitions} : {' '.join(signals)};"
    for message, signal in _signals(messages):
        if signal.float:
            yield f"SIG_VALTYPE_ {message.number} {signal.name} : {2 if signal.length > 32 else 1};"
    for message in messages:
        yield from _multiplexing(message)


def _multiplexing(message: DbcMessage) -> Iterator[str]:
    """Extended ranges, needed where one number per signal does not say it all."""
    depending = [signal for signal in message.signals if signal.parent]
    simple = (
        all(
            len(s.ranges) == 1 and s.ranges[0][0] == s.ranges[0][1] and not s.multiplexer
            for s in depending
        )
        and len({s.parent for s in depending}) <= 1
    )
    if simple and sum(s.multiplexer for s in message.signals) <= 1:
        return
    for signal in depending:
        ranges = ", ".join(f"{low}-{high}" for low, high in signal.ranges)
        yield f"SG_MUL_VAL_ {message.number} {signal.name} {signal.parent} {ranges};"


def _comments(database: Database, messages: list[DbcMessage]) -> Iterator[str]:
    if database.comment:
        yield f"CM_ {_quoted(database.comment)};"
    for node in database.nodes:
        if node.comment:
            yield f"CM_ BU_ {node.name} {_quoted(node.comment)};"
    for message in messages:
        if message.comment:
            yield f"CM_ BO_ {message.number} {_quoted(message.comment)};"
    for message, signal in _signals(messages):
        if signal.comment:
            yield f"CM_ SG_ {message.number} {signal.name} {_quoted(signal.comment)};"
    for v in database.variables.values():
        if v.comment:
            yield f"CM_ EV_ {v.name} {_quoted(v.comment)};"


def _attributes(database: Database, messages: list[DbcMessage]) -> Iterator[str]:
    for definition in database.definitions.values():
        relation = "_REL_" if definition.of.endswith("_REL_") else "_"
        of = f"{definition.of} " if definition.of else ""
        yield f"BA_DEF{relation} {of}{_quoted(definition.name)} {_type(definition)};"
    for definition in database.definitions.values():
        if definition.default is not None:
            relation = "_REL_" if definition.of.endswith("_REL_") else "_"
            value = _value(definition.default)
            yield f"BA_DEF_DEF{relation} {_quoted(definition.name)} {value};"
    yield from _assigned("", database.attributes)
    for node in database.nodes:
        yield from _assigned(f"BU_ {node.name} ", node.attributes)
    for message in messages:
        yield from _assigned(f"BO_ {message.number} ", message.attributes)
    for message, signal in _signals(messages):
        yield from _assigned(f"SG_ {message.number} {signal.name} ", signal.attributes)
    for v in database.variables.values():
        yield from _assigned(f"EV_ {v.name} ", v.attributes)
    for name, kind, words, value in database.relations:
        between = "SG_ " if kind == "BU_SG_REL_" else ""
        rest = " ".join(map(str, words[1:]))
        yield f"BA_REL_ {_quoted(name)} {kind} {words[0]} {between}{rest} {_value(value)};"


def _assigned(whose: str, attributes: Mapping[str, Number | str]) -> Iterator[str]:
    for name, value in attributes.items():
        yield f"BA_ {_quoted(name)} {whose}{_value(value)};"


def _type(definition: Attribute) -> str:
    if definition.type == "ENUM":
        return f"ENUM {','.join(map(_quoted, definition.choices))}"
    if definition.minimum is None or definition.maximum is None:
        return f"{definition.type} " if definition.type == "STRING" else f"{definition.type} 0 0"
    return f"{definition.type} {_number(definition.minimum)} {_number(definition.maximum)}"


def _signals(messages: Iterable[DbcMessage]) -> Iterator[tuple[DbcMessage, DbcSignal]]:
    return ((message, signal) for message in messages for signal in message.signals)


def _pairs(values: Mapping[int, str]) -> str:
    return "".join(f" {raw} {_quoted(word)}" for raw, word in values.items()) + " "


def _value(value: Number | str) -> str:
    return _quoted(value) if isinstance(value, str) else _number(value)


def _number(value: Number) -> str:
    """Shortest text that reads back as the same number."""
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
