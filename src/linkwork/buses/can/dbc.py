"""Reader of DBC files, by cantools."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.buses.can.frame import MAX_EXTENDED_ID, MAX_STANDARD_ID
from linkwork.buses.can.frame_codec import CanMessage, CanSignal
from linkwork.core.errors import FormatError, LinkworkError, Origin, not_found, os_error_text

if TYPE_CHECKING:
    from cantools.database.can import Message, Signal

#: Maximum file size [bytes], and maximum number of multiplexer values in a signal's range.
MAX_BYTES, MAX_SELECTORS = 32 * 2**20, 1 << 16
#: The pseudo message for signals without a message; cantools skips it.
_ORPHANS = "VECTOR__INDEPENDENT_SIG_MSG"
_EXTENDED = 1 << 31
_STATEMENT = re.compile(
    r"^\s*(?:BO_\s+(\d+)\s+(\w+)|SG_\s+(\w+)\s[^:\n]*:[^|\n]*\|\s*(\d+))",
    re.MULTILINE | re.ASCII,
)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_MULTIPLEXING = re.compile(r"^\s*SG_MUL_VAL_[^;]*;", re.MULTILINE)
_RANGE = re.compile(r"([0-9]+)\s*-\s*([0-9]+)")


class DbcError(FormatError):
    """A DBC file that does not follow its format."""


def require_cantools() -> Any:
    """Returns the module ``cantools.database``.

    Raises:
        LinkworkError: If the extra ``bus`` is not installed.
    """
    try:
        import cantools.database
    except ImportError:
        raise LinkworkError(
            "DBC files need the package cantools.",
            hint='Install it with: pip install "linkwork[bus]"',
        ) from None
    return cantools.database


@dataclass
class DbcFile:
    """The messages of a file."""

    messages: list[CanMessage] = field(default_factory=list)

    def __iter__(self) -> Iterator[CanMessage]:
        return iter(self.messages)

    def message(self, name: str) -> CanMessage:
        """Returns the message of a name.

        Raises:
            NameNotFound: If there is none.
        """
        for each in self.messages:
            if each.name == name:
                return each
        raise not_found("message", name, (m.name for m in self.messages))


def read_dbc(path: Path | str) -> DbcFile:
    """Reads a file in UTF-8 or in Windows-1252, as written by older tools.

    Raises:
        LinkworkError: With file and line, if it is invalid or too large; or if cantools is not
            installed.
    """
    origin = Origin(str(path))
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise DbcError(f"is larger than {MAX_BYTES >> 20} MB.", origin=origin)
        raw = Path(path).read_bytes()
    except OSError as error:
        raise DbcError(f"cannot be read: {os_error_text(error)}.", origin=origin) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return parse_dbc(text, file=str(path))


def parse_dbc(text: str, *, file: str = "DBC text") -> DbcFile:
    """Reads the text of a file.

    Raises:
        LinkworkError: As :func:`read_dbc`.
    """
    database = require_cantools()
    _check_selectors(text, file)
    lines = _statement_lines(text)
    try:
        found = database.load_string(
            text, "dbc", strict=False, sort_signals=None, prune_choices=False
        )
    except Exception as error:  # any exception of the library for a broken file
        raise _syntax_error(error, text, lines, file) from None
    by_id: dict[int, list[_Lines]] = {}
    for each in lines:
        by_id.setdefault(each.number, []).append(each)
    made = DbcFile()
    for message in found.messages:
        number = message.frame_id | (_EXTENDED if message.is_extended_frame else 0)
        same = by_id.get(number, [])  # several if the file is wrong, which is checked below
        where = same.pop(0) if same else _Lines()
        made.messages.append(_read_message(message, where, file))
    _check(made)
    return made


# ---- reading ----------------------------------------------------------------------------------


@dataclass
class _Lines:
    """Line numbers of a message and its signals in the file; 0 if unknown.

    Attributes:
        number: Identifier as in the file, with the bit of extended frames.
        line: Line of the message.
        signals: Name, line and length [bit] of each signal.
    """

    number: int = 0
    line: int = 0
    signals: list[tuple[str, int, int]] = field(default_factory=list)


def _statement_lines(text: str) -> list[_Lines]:
    """Finds the statements of messages and signals, but not those quoted in comments."""
    text = _STRING.sub(lambda found: '"' + "\n" * found[0].count("\n") + '"', text)
    found: list[_Lines] = []
    line, end, skipped = 1, 0, False
    for match in _STATEMENT.finditer(text):
        start = match.end() - len(match[0].lstrip())
        line, end = line + text.count("\n", end, start), start
        if match[1]:
            skipped = match[2] == _ORPHANS
            if not skipped:
                found.append(_Lines(int(match[1]), line))
        elif found and not skipped:
            found[-1].signals.append((match[3], line, int(match[4])))
    return found


def _check_selectors(text: str, file: str) -> None:
    """Refuses ranges of multiplexer values that would fill the memory."""
    for statement in _MULTIPLEXING.finditer(text):
        for first, last in _RANGE.findall(statement[0]):
            if len(last) > 10 or int(last) - int(first) > MAX_SELECTORS:
                line = text.count("\n", 0, statement.end()) + 1
                raise DbcError(
                    f"the multiplexer range {first}-{last} has more than {MAX_SELECTORS} values.",
                    origin=Origin(file, line),
                )


def _syntax_error(error: Exception, text: str, lines: list[_Lines], file: str) -> DbcError:
    cause = getattr(error, "e_dbc", None) or error
    line, column = getattr(cause, "line", None), getattr(cause, "column", None)
    if isinstance(line, int) and isinstance(column, int):
        return DbcError(f"invalid syntax in column {column}.", origin=Origin(file, line))
    for each in lines:
        number = each.number & ~_EXTENDED
        most = MAX_EXTENDED_ID if each.number & _EXTENDED else MAX_STANDARD_ID
        if number > most:
            return DbcError(f"identifier {number} does not fit.", origin=Origin(file, each.line))
        for _, line, length in each.signals:
            if not length:
                return DbcError("the signal has 0 bits.", origin=Origin(file, line))
    if isinstance(cause, KeyError):
        line = _first_line(text, str(cause.args[0]))
        return DbcError(f"{cause} is used but not defined.", origin=Origin(file, line))
    quoted = re.search(r"[\"']([^\"']+)[\"']", str(cause))
    line = _first_line(text, quoted[1]) if quoted else 0
    return DbcError(f"it cannot be read: {cause}", origin=Origin(file, line))


def _first_line(text: str, word: str) -> int:
    """Returns the first line with a word; 0 if there is none."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _read_message(message: Message, where: _Lines, file: str) -> CanMessage:
    lines = [line for _, line, _ in where.signals]
    if len(lines) != len(message.signals):  # else in order, as attributes may hold longer names
        by_name = {name: line for name, line, _ in where.signals}
        lines = [by_name.get(signal.name, where.line) for signal in message.signals]
    signals = [
        _read_signal(s, Origin(file, n)) for s, n in zip(message.signals, lines, strict=True)
    ]
    return CanMessage(
        message.frame_id, message.name, message.length, message.is_extended_frame, signals,
        Origin(file, where.line),
    )  # fmt: skip


def _read_signal(signal: Signal, origin: Origin) -> CanSignal:
    return CanSignal(
        signal.name, signal.start, signal.length, signal.byte_order == "big_endian",
        signal.is_signed, signal.scale, signal.offset, signal.minimum, signal.maximum,
        signal.unit or "", signal.is_float,
        {int(raw): str(name) for raw, name in (signal.choices or {}).items()},
        signal.is_multiplexer, signal.multiplexer_signal or "",
        _ranges(signal.multiplexer_ids or []), origin,
    )  # fmt: skip


def _ranges(values: list[int]) -> list[tuple[int, int]]:
    """Returns the first and last of each run of consecutive numbers."""
    ordered = sorted(set(values))
    breaks = [0, *(n for n, (a, b) in enumerate(pairwise(ordered), 1) if b != a + 1), len(ordered)]
    return [(ordered[a], ordered[b - 1]) for a, b in pairwise(breaks) if b > a]


# ---- checking ---------------------------------------------------------------------------------


def _check(file: DbcFile) -> None:
    """Raises an error that names the line."""
    names: dict[str, CanMessage] = {}
    numbers: dict[tuple[int, bool], CanMessage] = {}
    for message in file:
        if message.name in names:
            raise DbcError(
                f"the message {message.name!r} is defined twice, first in line "
                f"{names[message.name].origin.line}.",
                origin=message.origin,
            )
        key = message.id, message.extended
        if key in numbers:
            raise DbcError(
                f"message {message.name!r} has the identifier of {numbers[key].name!r}.",
                origin=message.origin,
            )
        names[message.name] = numbers[key] = message
        if not 0 <= message.length <= 64:
            raise DbcError(
                f"message {message.name!r} has {message.length} bytes.", origin=message.origin
            )
        for signal in message.signals:
            _check_signal(signal)
        _check_multiplexing(message)
        _check_bits(message)


def _check_signal(signal: CanSignal) -> None:
    numbers = (signal.scale, signal.offset, signal.minimum or 0, signal.maximum or 0)
    if not all(map(math.isfinite, numbers)) or not signal.scale:
        raise DbcError(
            f"signal {signal.name!r}: scale, offset and limits must be finite, and the scale "
            f"not 0; found {signal.scale}, {signal.offset}, {signal.minimum}, {signal.maximum}.",
            origin=signal.origin,
        )
    if not 1 <= signal.length <= 512 or signal.start < 0:
        raise DbcError(
            f"signal {signal.name!r} has {signal.length} bits from bit {signal.start}.",
            origin=signal.origin,
        )
    if signal.float and signal.length not in (16, 32, 64):
        raise DbcError(
            f"signal {signal.name!r}: an IEEE number has 16, 32 or 64 bits.", origin=signal.origin
        )


def _check_multiplexing(message: CanMessage) -> None:
    multiplexers = {signal.name: signal for signal in message.signals if signal.multiplexer}
    for signal in message.signals:
        if signal.ranges and signal.parent not in multiplexers:
            raise DbcError(
                f"signal {signal.name!r} is multiplexed, but message {message.name!r} has no "
                "multiplexer for it.",
                origin=signal.origin,
            )
        seen, at = {signal.name}, signal
        while at.parent:
            at = multiplexers.get(at.parent, CanSignal("", 0, 1))
            if at.name in seen:
                raise DbcError(
                    f"the multiplexing of signal {signal.name!r} is circular.", origin=signal.origin
                )
            seen.add(at.name)


def _check_bits(message: CanMessage) -> None:
    """Refuses signals that do not fit, overlap or have the same name."""
    names: set[str] = set()
    owners: dict[int, list[CanSignal]] = {}
    for signal in message.signals:
        if signal.name in names:
            raise DbcError(
                f"message {message.name!r} has the signal {signal.name!r} twice.",
                origin=signal.origin,
            )
        names.add(signal.name)
        for bit in signal.bits():
            if not 0 <= bit < 8 * message.length:
                raise DbcError(
                    f"signal {signal.name!r} does not fit into the {message.length} bytes of "
                    f"message {message.name!r}.",
                    origin=signal.origin,
                )
            for other in owners.setdefault(bit, []):
                if _can_coexist(signal, other, message):
                    raise DbcError(
                        f"signals {other.name!r} and {signal.name!r} of message {message.name!r} "
                        f"overlap at bit {bit}.",
                        origin=signal.origin,
                    )
            owners[bit].append(signal)


def _conditions(signal: CanSignal, message: CanMessage) -> dict[str, list[tuple[int, int]]]:
    """Returns the ranges, by multiplexer, with which a signal is in a frame."""
    found = {}
    at = signal
    while at.parent:
        found[at.parent] = at.ranges
        at = message.signal(at.parent)
    return found


def _can_coexist(one: CanSignal, other: CanSignal, message: CanMessage) -> bool:
    """Returns whether both can be in the same frame."""
    first, second = _conditions(one, message), _conditions(other, message)
    return all(
        any(a <= d and c <= b for a, b in first[name] for c, d in second[name])
        for name in first.keys() & second.keys()
    )
