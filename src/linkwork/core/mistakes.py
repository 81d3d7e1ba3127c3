"""Mistakes: one error message for each kind of mistake in a file or in parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol, Self

from linkwork.core.errors import FormatError, Origin, suggestion


class ValueLocation(Protocol):
    """Location of a value: a key of a file, or a parameter given in Python."""

    def __truediv__(self, key: str | int) -> Self:
        """Returns the location of a key or item of this value."""
        ...

    def labeled(self, label: str) -> Self:
        """Returns the same location with its own label in messages."""
        ...

    @property
    def name(self) -> str:
        """Name of the value in messages: ``joint 'elbow': at.xyz``."""
        ...

    @property
    def origin(self) -> Origin | None:
        """File and line."""
        ...


def location_name(label: str, keys: Iterable[str]) -> str:
    """Returns the name of a value in messages.

    Args:
        label: Owner of the value, ``joint 'elbow'``; may be empty.
        keys: Keys from the owner to the value.
    """
    key = ".".join(keys)
    return f"{label}: {key}" if label and key else label or key or "the file"


def mistake(location: ValueLocation, message: str, *, hint: str = "") -> FormatError:
    """Returns an error whose sentence continues the name of the value."""
    return FormatError(f"{location.name} {message}", origin=location.origin, hint=hint)


def wrong_value(
    location: ValueLocation, allowed: str, value: Any, *, hint: str = ""
) -> FormatError:
    """Returns the error of a value of the wrong type or out of range."""
    return mistake(location, f"must be {allowed}, not {describe_value(value)}.", hint=hint)


def unknown_key(location: ValueLocation, key: str, known: Iterable[str]) -> FormatError:
    """Returns the error of a key that a table does not have.

    Args:
        location: The table.
        key: The key, as written.
        known: Every key that the table may have.
    """
    return FormatError(
        f"{location.name} has no key {key!r}.",
        origin=(location / key).origin,
        hint=suggestion(key, known, kind="keys"),
    )


def missing_key(location: ValueLocation, key: str, *, example: str = "") -> FormatError:
    """Returns the error of a required key that a table does not hold."""
    return mistake(location, f"needs {key!r}.", hint=f"For example {example}." if example else "")


def repeated_key(location: ValueLocation, other: str) -> FormatError:
    """Returns the error of a key that gives the same value as the key ``other``."""
    return mistake(location, f"and {other} are both given; one is enough.")


def describe_value(value: Any) -> str:
    """Returns a value as a file would show it, shortened."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            shown = value if len(value) <= 40 else f"{value[:37]}…"
            return json.dumps(shown, ensure_ascii=False)
        case int() if abs(value) >= 10**20:
            return "a number with more than 20 digits"
        case int() | float():
            return f"{value}"
        case [] | ():
            return "an empty array"
        case list() | tuple():
            return f"an array of {len(value)}"
        case dict():
            return "a table"
        case None:
            return "nothing"
    kind = type(value).__name__
    return f"a date or time ({value})" if kind in ("date", "time", "datetime") else f"a {kind}"


def ascii_float(text: str) -> float:
    """Returns the number that a file or a line states.

    ``float`` also reads digits of other scripts, and ``1_000``.

    Raises:
        ValueError: If the text is not a number in ASCII characters.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text[:60]!r} is not a number")
    return float(text)
