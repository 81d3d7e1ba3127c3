"""The statements that say more about messages, signals and nodes: comments, values, attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwork.buses.can.dbc.lexer import Cursor
from linkwork.buses.can.dbc.model import (
    ORPHANS,
    Attribute,
    Database,
    DbcMessage,
    DbcNode,
    DbcSignal,
    EnvironmentVariable,
    Number,
)
from linkwork.errors import suggestion

Thing = Database | DbcNode | DbcMessage | DbcSignal | EnvironmentVariable


class Statements:
    """Reads statements that refer to what stands before them.

    Args:
        at: The file.
        database: Where it goes.
    """

    def __init__(self, at: Cursor, database: Database) -> None:
        self.at = at
        self.database = database
        self.latest: DbcMessage | None = None
        self.by_number: dict[int, DbcMessage] = {}

    def more(self) -> dict[str, Callable[[], None]]:
        """What each keyword does."""
        return {
            "BO_TX_BU_": self._senders,
            "ENVVAR_DATA_": self._variable_size,
            "CM_": self._comment,
            "VAL_TABLE_": self._table,
            "VAL_": self._values,
            "BA_DEF_": self._definition,
            "BA_DEF_REL_": self._definition,
            "BA_DEF_DEF_": self._default,
            "BA_DEF_DEF_REL_": self._default,
            "BA_": self._attribute,
            "BA_REL_": self._relation,
            "SIG_GROUP_": self._group,
            "SIG_VALTYPE_": self._value_type,
            "SG_MUL_VAL_": self._multiplexing,
        }

    # Who is meant

    def _known_message(self) -> DbcMessage:
        line = self.at.peek().line
        number = self.at.whole("a message's identifier")
        if number == ORPHANS and self.database.orphans is not None:
            return self.database.orphans
        message = self.by_number.get(number)
        if message is None:
            raise self.at.wrong(f"there is no message with the identifier {number}.", line)
        return message

    def _known_signal(self, message: DbcMessage) -> DbcSignal:
        line, name = self.at.peek().line, self.at.name("a signal's name")
        for signal in message.signals:
            if signal.name == name:
                return signal
        names = [signal.name for signal in message.signals]
        raise self.at.wrong(
            f"message {message.name!r} has no signal {name!r}.",
            line,
            hint=suggestion(name, names, kind="signals"),
        )

    def _known_node(self) -> DbcNode:
        line, name = self.at.peek().line, self.at.name("a node's name")
        for node in self.database.nodes:
            if node.name == name:
                return node
        names = [node.name for node in self.database.nodes]
        raise self.at.wrong(
            f"there is no node {name!r}.", line, hint=suggestion(name, names, kind="nodes")
        )

    def _known_variable(self) -> EnvironmentVariable:
        line, name = self.at.peek().line, self.at.name("a variable's name")
        if name not in self.database.variables:
            raise self.at.wrong(f"there is no environment variable {name!r}.", line)
        return self.database.variables[name]

    def _thing(self) -> Thing:
        """``BU_ node``, ``BO_ id``, ``SG_ id signal``, ``EV_ variable``, or the whole database."""
        if self.at.skip("BU_"):
            return self._known_node()
        if self.at.skip("BO_"):
            return self._known_message()
        if self.at.skip("SG_"):
            return self._known_signal(self._known_message())
        if self.at.skip("EV_"):
            return self._known_variable()
        return self.database

    def _names(self, what: str) -> list[str]:
        found = []
        while self.at.peek().kind == "name":
            found.append(self.at.name(what))
            self.at.skip(",")
        return found

    def _pairs(self) -> dict[int, str]:
        """Raw values and their words."""
        found: dict[int, str] = {}
        while self.at.peek().kind == "number":
            value = self.at.whole("a raw value")
            found[value] = self.at.string("the word for it in quotes")
        self.at.mark(";")
        return found

    # Statements

    def _senders(self) -> None:
        message = self._known_message()
        self.at.mark(":")
        for name in self._names("a node"):
            if name not in message.senders:
                message.senders.append(name)
        self.at.mark(";")

    def _variable_size(self) -> None:
        variable = self._known_variable()
        self.at.mark(":")
        variable.size = self.at.whole("a size in bytes")
        self.at.mark(";")

    def _comment(self) -> None:
        thing = self._thing()
        thing.comment = self.at.string("a comment in quotes")
        self.at.mark(";")

    def _table(self) -> None:
        name = self.at.name("the table's name")
        self.database.tables[name] = self._pairs()

    def _values(self) -> None:
        if self.at.peek().kind == "name":
            self._known_variable().values = self._pairs()
            return
        signal = self._known_signal(self._known_message())
        if self.at.peek().kind == "name":  # a table in place of pairs
            line, name = self.at.peek().line, self.at.name()
            if name not in self.database.tables:
                raise self.at.wrong(f"there is no value table {name!r}.", line)
            signal.values = dict(self.database.tables[name])
            self.at.mark(";")
            return
        signal.values = self._pairs()

    def _definition(self) -> None:
        kinds = ("BU_", "BO_", "SG_", "EV_", "BU_SG_REL_", "BU_BO_REL_", "BU_EV_REL_")
        of = next((kind for kind in kinds if self.at.skip(kind)), "")
        name = self.at.string("the attribute's name in quotes")
        line, type = self.at.peek().line, self.at.name("INT, HEX, FLOAT, STRING or ENUM")
        attribute = Attribute(name, of, type)
        if type in ("INT", "HEX", "FLOAT"):
            if self.at.peek().kind == "number":
                attribute.minimum = self.at.number()
                attribute.maximum = self.at.number("the attribute's greatest value")
        elif type == "ENUM":
            attribute.choices = [self.at.string("a word in quotes")]
            while self.at.skip(","):
                attribute.choices.append(self.at.string("a word in quotes"))
        elif type != "STRING":
            raise self.at.wrong(
                f"an attribute of the type {type!r}.",
                line,
                hint="Types: INT, HEX, FLOAT, STRING, ENUM.",
            )
        self.at.mark(";")
        self.database.definitions[name] = attribute

    def _value(self) -> Number | str:
        if self.at.peek().kind == "string":
            return self.at.string()
        return self.at.number("a number or a text in quotes")

    def _defined(self, name: str, line: int) -> Attribute:
        if name not in self.database.definitions:
            raise self.at.wrong(
                f"the attribute {name!r} is not defined.",
                line,
                hint=suggestion(name, self.database.definitions, kind="attributes"),
            )
        return self.database.definitions[name]

    def _default(self) -> None:
        line, name = self.at.peek().line, self.at.string("the attribute's name in quotes")
        self._defined(name, line).default = self._value()
        self.at.mark(";")

    def _attribute(self) -> None:
        line, name = self.at.peek().line, self.at.string("the attribute's name in quotes")
        attribute = self._defined(name, line)
        thing = self._thing()
        thing.attributes[name] = self._checked(attribute, line)
        self.at.mark(";")

    def _checked(self, attribute: Attribute, line: int) -> Number | str:
        value = self._value()
        if attribute.type == "ENUM" and isinstance(value, (int, float)):
            if value not in range(len(attribute.choices)):
                raise self.at.wrong(
                    f"the attribute {attribute.name!r} has no choice {value}.",
                    line,
                    hint=f"Choices: {', '.join(attribute.choices)}.",
                )
        elif attribute.type in ("INT", "HEX", "FLOAT") and isinstance(value, str):
            raise self.at.wrong(
                f"the attribute {attribute.name!r} is a number, found {value!r}.", line
            )
        return value

    def _relation(self) -> None:
        line, name = self.at.peek().line, self.at.string("the attribute's name in quotes")
        self._defined(name, line)
        kind = self.at.name("BU_SG_REL_, BU_BO_REL_ or BU_EV_REL_")
        words: list[Any] = [self.at.name("a node")]
        if kind == "BU_SG_REL_":
            self.at.skip("SG_")
            words += [self.at.whole("an identifier"), self.at.name("a signal")]
        elif kind == "BU_BO_REL_":
            words.append(self.at.whole("an identifier"))
        elif kind == "BU_EV_REL_":
            words.append(self.at.name("a variable"))
        else:
            raise self.at.wrong(f"{kind!r} is no relation.", line)
        self.database.relations.append((name, kind, tuple(words), self._value()))
        self.at.mark(";")

    def _group(self) -> None:
        message = self._known_message()
        name = self.at.name("the group's name")
        repetitions = self.at.whole("a number of repetitions")
        self.at.mark(":")
        message.groups[name] = repetitions, self._names("a signal")
        self.at.mark(";")

    def _value_type(self) -> None:
        signal = self._known_signal(self._known_message())
        self.at.skip(":")
        line, type = self.at.peek().line, self.at.whole("0, 1 or 2")
        self.at.mark(";")
        if type not in (0, 1, 2) or (type and signal.length not in (16, 32, 64)):
            raise self.at.wrong(
                f"signal {signal.name!r} of {signal.length} bits has the value type {type}.", line
            )
        signal.float = type != 0

    def _multiplexing(self) -> None:
        message = self._known_message()
        signal = self._known_signal(message)
        parent = self._known_signal(message)
        ranges = [self._range()]
        while self.at.skip(","):
            ranges.append(self._range())
        self.at.mark(";")
        if parent is signal or not parent.multiplexer:
            raise self.at.wrong(
                f"signal {signal.name!r} depends on {parent.name!r}, which is no multiplexer.",
                signal.origin.line,
            )
        signal.parent, signal.ranges = parent.name, ranges

    def _range(self) -> tuple[int, int]:
        """``3-5``: the lexer takes the second half for a negative number."""
        line = self.at.peek().line
        low = self.at.whole("a range such as 3-5")
        if self.at.skip("-"):
            high = self.at.whole("the range's end")
        else:
            text = self.at.take("number", "a range such as 3-5")
            high = int(text[1:]) if text[:1] == "-" and text[1:].isdigit() else -1
        if not 0 <= low <= high:
            raise self.at.wrong("a range such as 3-5 expected.", line)
        return low, high
