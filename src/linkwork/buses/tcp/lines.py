r"""Lines: what the two ends of a TCP part say to each other, a line of text each.

::

    part        linkwork-part 1
    controller  join [token]
    part        command robot/arm/J1.target rad -3.14 3.14      one line for each, in this order
    part        sensor robot/arm/J1.angle rad -3.14 3.14
    part        period 0.01 lockstep                            or: real
    part        ready
    part        s 0 0.0 0.1 0.2                                 step, time [s], sensors
    controller  c 0.5 -                                         commands; "-" leaves one as it is

Then ``s`` and ``c`` alternate in lock-step; in real time each comes when it comes. A controller may
also say ``ping word`` (answered by ``pong word``) and ``bye``. What cannot be used is answered by
``error`` and a reason. Words are separated by single spaces, lines end with ``\n``; numbers are as
C's ``strtod`` reads them, in SI units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from linkwork.errors import FormatError

GREETING = "linkwork-part 1"
#: Longest line [byte].
MOST = 65536


@dataclass(frozen=True)
class Item:
    """A command or a sensor as the part describes it."""

    role: Literal["command", "sensor"]
    name: str
    unit: str
    lo: float
    hi: float

    def line(self) -> str:
        """The line that describes it; a unit of several words is joined by a star."""
        unit = self.unit.replace(" ", "*") or "1"
        return f"{self.role} {self.name} {unit} {self.lo!r} {self.hi!r}"


def parse_item(line: str) -> Item:
    """An item from its line.

    Raises:
        FormatError: If it is none.
    """
    words = line.split(" ")
    if len(words) != 5 or words[0] not in ("command", "sensor"):
        raise FormatError(f"{_short(line)} describes neither a command nor a sensor.")
    lo, hi = (_number(word) for word in words[3:])
    unit = "" if words[2] == "1" else words[2].replace("*", " ")
    role = "command" if words[0] == "command" else "sensor"
    return Item(role, words[1], unit, lo, hi)


def sensors_line(step: int, time: float, values: list[float]) -> str:
    """What the part measures."""
    return " ".join(["s", str(step), repr(time), *map(repr, values)])


def parse_sensors(line: str, count: int) -> list[float]:
    """The values of a sensors' line.

    Raises:
        FormatError: If it is none, or has another number of values.
    """
    words = line.split(" ")
    if len(words) != count + 3 or words[0] != "s":
        raise FormatError(f"{_short(line)} does not hold the {count} sensors.")
    return [_finite(word, n) for n, word in enumerate(words[3:], start=1)]


def commands_line(values: list[float | None]) -> str:
    """What a controller wants."""
    return " ".join(["c", *("-" if value is None else repr(value) for value in values)])


def parse_commands(line: str, count: int) -> list[float | None]:
    """The values of a commands' line; None where one is left as it is.

    Raises:
        FormatError: If it has another number of values, or one is no finite number.
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
        if "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        raise FormatError(f"{_short(word)} is no number.") from None


def _finite(word: str, place: int) -> float:
    value = _number(word)
    if not math.isfinite(value):
        raise FormatError(f"value {place} is {_short(word)}, which is no finite number.")
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
