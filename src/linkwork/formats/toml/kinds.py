"""Kinds of values a file may hold: each reads its own and describes itself as a JSON schema."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol

from linkwork.errors import suggestion
from linkwork.formats.toml.source import Place, found

#: No length, mass or gain of a machine is larger; what follows from it stays a finite number.
LARGEST_NUMBER = 1e30

#: Letters, digits, ``_`` and ``-``, with ``/`` between scopes and ``.`` before a joint's freedom.
REFERENCE = r"[A-Za-z0-9_./-]+"


class Kind(Protocol):
    """A kind of value."""

    def read(self, value: Any, place: Place, factor: float) -> Any:
        """Checks what stands at ``place`` and gives it in SI units, numbers times ``factor``.

        Raises:
            FormatError: If it is of another kind; the message says what is allowed.
        """
        ...

    def schema(self) -> dict[str, Any]:
        """The JSON schema of what is allowed."""
        ...


@dataclass(frozen=True)
class Number:
    """A finite number."""

    low: float | None = None
    high: float | None = None

    def read(self, value: Any, place: Place, factor: float) -> float:  # noqa: D102
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise place.wrong(f"must be a number, not {found(value)}.")
        if not abs(value) <= LARGEST_NUMBER:
            raise place.wrong(
                f"must be a finite number up to {LARGEST_NUMBER:g}, not {found(value)}."
            )
        if self.low is not None and value < self.low:
            raise place.wrong(f"must be {self.low:g} or more, not {found(value)}.")
        if self.high is not None and value > self.high:
            raise place.wrong(f"must be {self.high:g} or less, not {found(value)}.")
        return float(value) * factor if factor != 1.0 else float(value)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        limits = {"minimum": self.low, "maximum": self.high}
        return {"type": "number"} | {k: v for k, v in limits.items() if v is not None}


@dataclass(frozen=True)
class Integer:
    """A whole number."""

    low: int = 0
    high: int = 2**63 - 1

    def read(self, value: Any, place: Place, factor: float) -> int:  # noqa: D102
        if isinstance(value, bool) or not isinstance(value, int):
            raise place.wrong(f"must be a whole number, not {found(value)}.")
        if not self.low <= value <= self.high:
            raise place.wrong(f"must be from {self.low} to {self.high}, not {found(value)}.")
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "integer", "minimum": self.low}


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def read(self, value: Any, place: Place, factor: float) -> bool:  # noqa: D102
        if not isinstance(value, bool):
            raise place.wrong(f"must be true or false, not {found(value)}.")
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text:
    """Text, of some form where ``pattern`` says so and ``form`` tells people."""

    pattern: str = ""
    form: str = ""

    def read(self, value: Any, place: Place, factor: float) -> str:  # noqa: D102
        if not isinstance(value, str):
            raise place.wrong(f'must be text in quotes ("…"), not {found(value)}.')
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise place.wrong(f"must be {self.form}, not {found(value)}.")
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "string"} | ({"pattern": f"^{self.pattern}$"} if self.pattern else {})


NAME = Text(r"[A-Za-z0-9_-]{1,100}", "a name of letters, digits, '_' and '-'")
REF = Text(REFERENCE, "a name, with '/' between scopes")
COLOR = Text(r"#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", "a colour, #rrggbb or #rrggbbaa")
FILE = Text(r"[^\x00]+", "the path of a file")


@dataclass(frozen=True)
class Word:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: Any, place: Place, factor: float) -> str:  # noqa: D102
        if not isinstance(value, str) or value not in self.words:
            hint = suggestion(value, self.words) if isinstance(value, str) else ""
            raise place.wrong(
                f"must be one of {', '.join(self.words)}, not {found(value)}.",
                hint=hint if hint.startswith("Did") else "",
            )
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Numbers:
    """An array of so many numbers."""

    lengths: tuple[int, ...]

    def read(self, value: Any, place: Place, factor: float) -> tuple[float, ...]:  # noqa: D102
        if not isinstance(value, list) or len(value) not in self.lengths:
            allowed = " or ".join(str(n) for n in self.lengths)
            raise place.wrong(f"must be an array of {allowed} numbers, not {found(value)}.")
        return tuple(Number().read(v, place / i, factor) for i, v in enumerate(value))

    def schema(self) -> dict[str, Any]:  # noqa: D102
        forms = [
            {"type": "array", "items": {"type": "number"}, "minItems": n, "maxItems": n}
            for n in self.lengths
        ]
        return forms[0] if len(forms) == 1 else {"anyOf": forms}


@dataclass(frozen=True)
class ListOf:
    """An array of values of one kind; ``what`` names an item in messages."""

    item: Kind
    what: str

    def read(self, value: Any, place: Place, factor: float) -> tuple[Any, ...]:  # noqa: D102
        if not isinstance(value, list):
            raise place.wrong(f"must be an array of {self.what}, not {found(value)}.")
        return tuple(self.item.read(v, place / i, factor) for i, v in enumerate(value))

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": self.item.schema()}


@dataclass(frozen=True)
class Pair:
    """Two names that belong together."""

    def read(self, value: Any, place: Place, factor: float) -> tuple[str, str]:  # noqa: D102
        if not isinstance(value, list) or len(value) != 2:
            raise place.wrong(f'must hold pairs of names, ["a", "b"], not {found(value)}.')
        a, b = (REF.read(v, place / i, factor) for i, v in enumerate(value))
        return a, b

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": REF.schema(), "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class MapOf:
    """A table whose keys the user chooses."""

    item: Kind
    what: str

    def read(self, value: Any, place: Place, factor: float) -> dict[str, Any]:  # noqa: D102
        if not isinstance(value, dict):
            raise place.wrong(f"must be a table of {self.what}, not {found(value)}.")
        return {k: self.item.read(v, place / k, factor) for k, v in value.items()}

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass(frozen=True)
class Any_:
    """Whatever a plug-in understands: text, true or false, finite numbers, arrays and tables."""

    def read(self, value: Any, place: Place, factor: float) -> Any:  # noqa: D102
        match value:
            case bool() | str():
                return value
            case int():
                if not -(2**63) <= value < 2**63:
                    raise place.wrong(f"must be a number of at most 64 bits, not {found(value)}.")
                return value if factor == 1.0 else value * factor
            case float():
                if not math.isfinite(value):
                    raise place.wrong(f"must be a finite number, not {found(value)}.")
                return value * factor
            case list():
                return [self.read(v, place / i, factor) for i, v in enumerate(value)]
            case dict():
                return {k: self.read(v, place / k, factor) for k, v in value.items()}
        raise place.wrong(f"must be text, a number, true or false, not {found(value)}.")

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {}


@dataclass(frozen=True)
class Either:
    """One of two kinds, told apart by whether a table stands there."""

    plain: Kind
    table: Kind

    def read(self, value: Any, place: Place, factor: float) -> Any:  # noqa: D102
        kind = self.table if isinstance(value, dict) else self.plain
        return kind.read(value, place, factor)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"anyOf": [self.plain.schema(), self.table.schema()]}
