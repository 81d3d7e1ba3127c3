"""The line protocol of a TCP part."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Literal

from linkwork.core.errors import FormatError
from linkwork.core.mistakes import ascii_float

GREETING = "linkwork-part 1"
#: Maximum length of a line [byte].
MAX_LINE = 65536


@dataclass(frozen=True)
class LineItem:
    """A command or a sensor as the part describes it."""

    role: Literal["command", "sensor"]
    name: str
    unit: str
    lo: float
    hi: float

    def line(self) -> str:
        """The line that describes it; spaces in a unit become stars."""
        unit = self.unit.replace(" ", "*") or "1"
        return f"{self.role} {self.name} {unit} {self.lo!r} {self.hi!r}"


def parse_item(line: str) -> LineItem:
    """Parses an item from its line.

    Raises:
        FormatError: If it is invalid.
    """
    words = line.split(" ")
    if len(words) != 5 or words[0] not in ("command", "sensor"):
        raise FormatError(f"{_short(line)} describes neither a command nor a sensor.")
    lo, hi = (_number(word) for word in words[3:])
    unit = "" if words[2] == "1" else words[2].replace("*", " ")
    role = "command" if words[0] == "command" else "sensor"
    return LineItem(role, words[1], unit, lo, hi)


def sensors_line(step: int, time: float, values: list[float]) -> str:
    """The line of sensor values."""
    return " ".join(["s", str(step), repr(time), *map(repr, values)])


def parse_sensors(line: str, count: int) -> list[float]:
    """The values of a line of sensors.

    Raises:
        FormatError: If it is invalid, or has another number of values.
    """
    words = line.split(" ")
    if len(words) != count + 3 or words[0] != "s":
        raise FormatError(f"{_short(line)} does not hold the {count} sensors.")
    return [_finite(word, n) for n, word in enumerate(words[3:], start=1)]


def commands_line(values: list[float | None]) -> str:
    """The line of a controller's commands."""
    return " ".join(["c", *("-" if value is None else repr(value) for value in values)])


def parse_commands(line: str, count: int) -> list[float | None]:
    """Returns the values of a line of commands; None for those that do not change.

    Raises:
        FormatError: If it has another number of values, or one is not finite.
    """
    words = line.split(" ")[1:]
    if len(words) != count:
        raise FormatError(f"there are {count} commands, and this line has {len(words)}.")
    return [None if word == "-" else _finite(word, n) for n, word in enumerate(words, start=1)]


def decoded(data: bytes) -> str:
    """A line's text without its end.

    Raises:
        FormatError: If it is not plain text.
    """
    try:
        text = data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise FormatError("a line must be plain text.") from None
    if not text.isprintable():
        raise FormatError("a line must be plain text.")
    return text


def _number(word: str) -> float:
    try:
        return ascii_float(word)
    except ValueError:
        raise FormatError(f"{_short(word)} is not a number.") from None


def _finite(word: str, place: int) -> float:
    value = _number(word)
    if not math.isfinite(value):
        raise FormatError(f"value {place} is {_short(word)}, which is not a finite number.")
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


async def next_line(reader: asyncio.StreamReader) -> str:
    """The next line; empty at the end.

    Raises:
        FormatError: If it was too long, or is not text.
    """
    try:
        data = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return ""  # the end; an incomplete line before it is ignored
    except asyncio.LimitOverrunError as over:
        await _skip_line(reader, over.consumed)
        raise FormatError(f"a line is too long: {MAX_LINE} bytes at most.") from None
    text = decoded(data)
    return text or (" " if data else "")


async def _skip_line(reader: asyncio.StreamReader, waiting: int) -> None:
    """Skips the rest of a line, of which some bytes were read."""
    while True:
        await reader.readexactly(waiting)
        try:
            await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as over:
            waiting = over.consumed
        else:
            return
