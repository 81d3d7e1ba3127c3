"""Reads DBC files, strictly: what is wrong is told with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from linkwork.buses.can.dbc.check import check
from linkwork.buses.can.dbc.lexer import Cursor
from linkwork.buses.can.dbc.long_names import lengthen
from linkwork.buses.can.dbc.model import (
    NO_NODE,
    ORPHANS,
    Database,
    DbcError,
    DbcMessage,
    DbcNode,
    DbcSignal,
    EnvironmentVariable,
)
from linkwork.buses.can.dbc.statements import Statements
from linkwork.buses.can.frame import EXTENDED_MOST, STANDARD_MOST
from linkwork.errors import Origin

# Words that may begin a statement, in files of any age.
_OLD = [
    "NS_DESC_",
    "CAT_DEF_",
    "CAT_",
    "FILTER",
    "EV_DATA_",
    "SGTYPE_",
    "SGTYPE_VAL_",
    "BA_DEF_SGTYPE_",
    "BA_SGTYPE_",
    "SIG_TYPE_REF_",
    "SIGTYPE_VALTYPE_",
    "BA_DEF_DEF_SGTYPE_",
]


def read_dbc(path: Path | str, *, strict: bool = True) -> Database:
    """Reads a file, in UTF-8 or, as the older tools wrote it, in Windows-1252.

    Args:
        path: The file.
        strict: Also refuses signals that overlap or do not fit their message, and names and
            identifiers that come twice.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise DbcError(f"cannot be read: {error.strerror}.", origin=Origin(str(path))) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return parse_dbc(text, file=str(path), strict=strict)


def parse_dbc(text: str, *, file: str = "DBC text", strict: bool = True) -> Database:
    """Reads the text of a file; see :func:`read_dbc`."""
    database = Database()
    _Reader(Cursor(text, file), database).read()
    check(database, strict=strict)
    lengthen(database)
    return database


class _Reader(Statements):
    """The statements that build messages; those that say more about them are inherited."""

    def read(self) -> None:
        """Reads the whole file."""
        statements = self._statements = self._all()
        while self.at.peek().kind != "end":
            token = self.at.peek()
            act = statements.get(token.text) if token.kind == "name" else None
            if act is None and token.text not in _OLD:
                raise self.at.wrong(
                    f"a statement expected, found {token.text!r}.",
                    hint=f"Statements: {', '.join(sorted(statements))}.",
                )
            self.at.next()
            if act is None:
                self._skip_statement()
            else:
                act()
        self._resolve_multiplexing()

    def _all(self) -> dict[str, Callable[[], None]]:
        return {
            "VERSION": self._version,
            "NS_": self._new_symbols,
            "BS_": self._bit_timing,
            "BU_": self._nodes,
            "BO_": self._message,
            "SG_": self._signal,
            "EV_": self._variable,
            **self.more(),
        }

    def _skip_statement(self) -> None:
        while not self.at.skip(";"):
            if self.at.next().kind == "end":
                raise self.at.wrong("';' expected.")

    def _version(self) -> None:
        self.database.version = self.at.string("the version in quotes")
        self.at.skip(";")

    def _new_symbols(self) -> None:
        """``NS_ :`` and a list of words, one to a line; a word with more behind it is no item."""
        self.at.skip(":")
        while self.at.peek().kind == "name" and self.at.peek(1).line > self.at.peek().line:
            self.at.next()

    def _bit_timing(self) -> None:
        self.at.mark(":")
        if self.at.peek().kind == "number":
            self.at.whole()
            self.at.mark(":")
            self.at.whole()
            self.at.mark(",")
            self.at.whole()
        self.at.skip(";")

    def _nodes(self) -> None:
        self.at.mark(":")
        while self.at.peek().kind == "name" and self.at.peek().text not in self._statements:
            line, name = self.at.peek().line, self.at.name()
            if any(node.name == name for node in self.database.nodes):
                raise self.at.wrong(f"the node {name!r} is named twice.", line)
            self.database.nodes.append(DbcNode(name))
            self.at.skip(",")
        self.at.skip(";")

    def _message(self) -> None:
        origin = Origin(self.at.file, self.at.peek().line)
        number = self.at.whole("the message's identifier")
        name = self.at.name("the message's name")
        self.at.mark(":")
        length = self.at.whole("the message's length in bytes")
        sender = self.at.name("the sender") if self.at.peek().kind == "name" else NO_NODE
        extended = bool(number >> 31 & 1)
        id = number & ~(1 << 31)
        if number != ORPHANS and not 0 <= id <= (EXTENDED_MOST if extended else STANDARD_MOST):
            raise self.at.wrong(
                f"message {name!r} has the identifier {number}, which does not fit.",
                origin.line,
                hint="Up to 2047, or 2147483648 plus an identifier of 29 bits.",
            )
        if not 0 <= length <= 64:
            if number != ORPHANS:
                raise self.at.wrong(f"message {name!r} has {length} bytes.", origin.line)
            length = 0
        message = DbcMessage(
            id, name, length, extended, sender="" if sender == NO_NODE else sender, origin=origin
        )
        if message.sender:
            message.senders.append(message.sender)
        if number == ORPHANS:
            self.database.orphans = message
        else:
            self.database.messages.append(message)
            self.by_number.setdefault(number, message)
        self.latest = message

    def _signal(self) -> None:
        origin = Origin(self.at.file, self.at.peek().line)
        if self.latest is None:
            raise self.at.wrong("a signal stands before the first message.", origin.line)
        at = self.at
        name = at.name("the signal's name")
        role = "" if at.peek().text == ":" else at.name("M, m and a number, or ':'")
        at.mark(":")
        start = at.whole("the start bit")
        at.mark("|")
        length = at.whole("the length in bits")
        at.mark("@")
        order, signed = self._order()
        at.mark("(")
        scale = at.number("the scale")
        at.mark(",")
        offset = at.number("the offset")
        at.mark(")")
        at.mark("[")
        minimum = at.number("the minimum")
        at.mark("|")
        maximum = at.number("the maximum")
        at.mark("]")
        unit = at.string("the unit in quotes")
        unlimited = minimum == 0 and maximum == 0
        signal = DbcSignal(
            name,
            start,
            length,
            order == 0,
            signed,
            scale,
            offset,
            None if unlimited else minimum,
            None if unlimited else maximum,
            unit,
            self._receivers(),
            origin=origin,
        )
        self._role(signal, role)
        if not 1 <= length <= 512 or not 0 <= start < 512:
            raise at.wrong(f"signal {name!r} has {length} bits from bit {start}.", origin.line)
        if scale == 0:
            raise at.wrong(f"signal {name!r} has the scale 0.", origin.line)
        self.latest.signals.append(signal)

    def _order(self) -> tuple[int, bool]:
        """``1+``, ``0-``: byte order and sign; a lexer may have taken them for a number."""
        token = self.at.next()
        if token.kind != "number" or token.text not in ("0", "1"):
            raise self.at.wrong(
                f"byte order 0 (Motorola) or 1 (Intel) expected, found {token.text!r}.", token.line
            )
        sign = self.at.next()
        if sign.text not in ("+", "-"):
            raise self.at.wrong(f"'+' or '-' expected, found {sign.text!r}.", sign.line)
        return int(token.text), sign.text == "-"

    def _receivers(self) -> list[str]:
        found = []
        while self.at.peek().kind == "name" and self.at.peek().text not in self._statements:
            name = self.at.name()
            if name != NO_NODE:
                found.append(name)
            self.at.skip(",")
        return found

    def _role(self, signal: DbcSignal, role: str) -> None:
        """``M``, ``m3`` or ``m3M``."""
        signal.multiplexer = role.endswith("M")
        digits = role.removesuffix("M").removeprefix("m")
        if role in ("", "M"):
            return
        if not role.startswith("m") or not digits.isascii() or not digits.isdigit():
            raise self.at.wrong(
                f"signal {signal.name!r} has the multiplexing {role!r}.",
                signal.origin.line,
                hint="M, m and a number, or both as m3M.",
            )
        signal.ranges = [(int(digits), int(digits))]

    def _variable(self) -> None:
        at = self.at
        line = at.peek().line
        name = at.name("the variable's name")
        at.mark(":")
        type = at.whole("the variable's type")
        at.mark("[")
        minimum = at.number()
        at.mark("|")
        maximum = at.number()
        at.mark("]")
        unit = at.string()
        initial, number = at.number(), at.whole()
        access = at.name("the access type")
        nodes = [at.name("a node")]
        while at.skip(","):
            nodes.append(at.name("a node"))
        at.mark(";")
        if name in self.database.variables:
            raise at.wrong(f"the variable {name!r} is defined twice.", line)
        self.database.variables[name] = EnvironmentVariable(
            name, type, minimum, maximum, unit, initial, number, access, nodes
        )

    def _resolve_multiplexing(self) -> None:
        """Gives each multiplexed signal its parent, where no extended range has named it."""
        for message in self.database.messages:
            tops = [s.name for s in message.signals if s.multiplexer and not s.ranges]
            for signal in message.signals:
                if not signal.ranges or signal.parent:
                    continue
                if len(tops) != 1:
                    raise DbcError(
                        f"signal {signal.name!r} is multiplexed, but message {message.name!r} has "
                        f"{len(tops) or 'no'} multiplexer{'s' if tops else ''}.",
                        origin=signal.origin,
                        hint="One signal is marked M, or SG_MUL_VAL_ names the multiplexer.",
                    )
                signal.parent = tops[0]
