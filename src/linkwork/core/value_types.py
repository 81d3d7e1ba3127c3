"""Value types of the keys of a file and of parameters.

Each type checks a value, describes itself for messages and gives its JSON schema.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, Protocol, TypeGuard

import msgspec

from linkwork.core.errors import FormatError, did_you_mean
from linkwork.core.mistakes import ValueLocation, describe_value, mistake, wrong_value

#: Maximum number; no length, mass or gain of a machine is larger, and results stay finite.
LARGEST_NUMBER = 1e30
#: Integers of files are of 64 bits.
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1

#: Letters, digits, ``_`` and ``-``, with ``/`` between scopes and ``.`` before a degree of freedom.
REFERENCE = r"[A-Za-z0-9_./-]+"


#: A finite number from 0, as a parameter.
NonNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]


def is_number(value: object) -> TypeGuard[float]:
    """Returns whether a value is a real number, also NumPy's or NaN, but no boolean."""
    return isinstance(value, int | float | Real) and not isinstance(value, bool)


class ValueType(Protocol):
    """A type of value."""

    @property
    def allowed(self) -> str:
        """What is allowed, for messages: ``a number``."""
        ...

    def read(self, value: Any, location: ValueLocation, factor: float) -> Any:
        """Returns a checked value in SI units: numbers times ``factor``.

        Raises:
            FormatError: If it is of another type or out of range.
        """
        ...

    def schema(self) -> dict[str, Any]:
        """Returns the JSON schema of what is allowed."""
        ...


def limits_text(
    low: float | None, high: float | None, above: float | None = None, below: float | None = None
) -> str:
    """Returns limits for messages: ``, 0 or more``, `` from 0 to 1``, `` above 0``."""
    show = "{:g}".format if any(isinstance(c, float) for c in (low, high, above, below)) else str
    if low is not None and high is not None:
        return f" from {show(low)} to {show(high)}"
    limits = (
        (" above {}", above), (", {} or more", low), (" below {}", below), (", {} or less", high),
    )  # fmt: skip
    return " and".join(text.format(show(c)) for text, c in limits if c is not None)


@dataclass(frozen=True)
class NumberType:
    """A finite number.

    Attributes:
        low: Least value, if there is one.
        high: Greatest value.
        above: Bound that the value must exceed.
        below: Bound that the value must stay below.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"a number{limits_text(self.low, self.high, self.above, self.below)}"

    def read(self, value: Any, location: ValueLocation, factor: float) -> float:  # noqa: D102
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_value(location, self.allowed, value)
        if not abs(value) <= LARGEST_NUMBER:
            raise wrong_value(location, f"a finite number up to {LARGEST_NUMBER:g}", value)
        if (
            (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
            or (self.above is not None and value <= self.above)
            or (self.below is not None and value >= self.below)
        ):
            raise wrong_value(location, self.allowed, value)
        return float(value) * factor if factor != 1.0 else float(value)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        limits = {
            "minimum": self.low,
            "maximum": self.high,
            "exclusiveMinimum": self.above,
            "exclusiveMaximum": self.below,
        }
        return {"type": "number"} | {k: v for k, v in limits.items() if v is not None}


@dataclass(frozen=True)
class IntegerType:
    """A whole number from ``low`` to ``high``."""

    low: int = 0
    high: int = LARGEST_INTEGER

    @property
    def allowed(self) -> str:  # noqa: D102
        low = None if self.low == SMALLEST_INTEGER else self.low
        return (
            f"a whole number{limits_text(low, None if self.high == LARGEST_INTEGER else self.high)}"
        )

    def read(self, value: Any, location: ValueLocation, factor: float) -> int:  # noqa: D102
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (whole and self.low <= value <= self.high):
            raise wrong_value(location, self.allowed, value)
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "integer", "minimum": self.low}


@dataclass(frozen=True)
class BooleanType:
    """True or false."""

    allowed = "true or false"

    def read(self, value: Any, location: ValueLocation, factor: float) -> bool:  # noqa: D102
        if not isinstance(value, bool):
            raise wrong_value(location, self.allowed, value)
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "boolean"}


@dataclass(frozen=True)
class TextType:
    """Text, of a form that ``pattern`` checks and ``form`` describes."""

    pattern: str = ""
    form: str = ""
    allowed = 'text in quotes ("…")'

    def read(self, value: Any, location: ValueLocation, factor: float) -> str:  # noqa: D102
        if not isinstance(value, str):
            raise wrong_value(location, self.allowed, value)
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise wrong_value(location, self.form or f"text of the form {self.pattern}", value)
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "string"} | ({"pattern": f"^{self.pattern}$"} if self.pattern else {})


NAME = TextType(r"[A-Za-z0-9_-]{1,100}", "a name of letters, digits, '_' and '-'")
REF = TextType(REFERENCE, "a name, with '/' between scopes")
COLOR = TextType(r"#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", "a color, #rrggbb or #rrggbbaa")
FILE = TextType(r"[^\x00]+", "the path of a file")


@dataclass(frozen=True)
class ChoiceType:
    """One of several words.

    Attributes:
        words: The words.
        former: Former names, which are still read.
    """

    words: tuple[str, ...]
    former: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"one of {', '.join(self.words)}"

    def read(self, value: Any, location: ValueLocation, factor: float) -> str:  # noqa: D102
        if not isinstance(value, str) or value not in (*self.words, *self.former):
            hint = did_you_mean(value, self.words)
            raise wrong_value(location, self.allowed, value, hint=hint)
        return value

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class VectorType:
    """An array of numbers, of one of several lengths.

    Attributes:
        lengths: The lengths.
        item: Type of each number.
    """

    lengths: tuple[int, ...]
    item: NumberType = NumberType()

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"an array of {' or '.join(str(n) for n in self.lengths)} numbers"

    def read(self, value: Any, location: ValueLocation, factor: float) -> tuple[float, ...]:  # noqa: D102
        if not isinstance(value, list | tuple) or len(value) not in self.lengths:
            raise wrong_value(location, self.allowed, value)
        return tuple(self.item.read(v, location / i, factor) for i, v in enumerate(value))

    def schema(self) -> dict[str, Any]:  # noqa: D102
        forms = [
            {"type": "array", "items": self.item.schema(), "minItems": n, "maxItems": n}
            for n in self.lengths
        ]
        return forms[0] if len(forms) == 1 else {"anyOf": forms}


@dataclass(frozen=True)
class ListType:
    """An array of values of one type; ``what`` names the items in messages."""

    item: ValueType
    what: str = ""

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"an array of {self.what}" if self.what else f"an array, each {self.item.allowed}"

    def read(self, value: Any, location: ValueLocation, factor: float) -> tuple[Any, ...]:  # noqa: D102
        if not isinstance(value, list | tuple):
            raise wrong_value(location, self.allowed, value)
        return tuple(self.item.read(v, location / i, factor) for i, v in enumerate(value))

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": self.item.schema()}


@dataclass(frozen=True)
class PairType:
    """Two names."""

    allowed = 'a pair of names, ["a", "b"]'

    def read(self, value: Any, location: ValueLocation, factor: float) -> tuple[str, str]:  # noqa: D102
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise wrong_value(location, self.allowed, value)
        a, b = (REF.read(v, location / i, factor) for i, v in enumerate(value))
        return a, b

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": REF.schema(), "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class MapType:
    """A table whose keys the user chooses; ``what`` names its values in messages."""

    item: ValueType
    what: str = ""

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"a table of {self.what}" if self.what else f"a table, each {self.item.allowed}"

    def read(self, value: Any, location: ValueLocation, factor: float) -> dict[str, Any]:  # noqa: D102
        if not isinstance(value, dict):
            raise wrong_value(location, self.allowed, value)
        return {k: self.item.read(v, location / k, factor) for k, v in value.items()}

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass(frozen=True)
class AnyType:
    """Text, true or false, finite numbers, arrays and tables, for parameters of plug-ins."""

    allowed = "text, a number, true or false"

    def read(self, value: Any, location: ValueLocation, factor: float) -> Any:  # noqa: D102
        match value:
            case bool() | str():
                return value
            case int():
                if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
                    raise wrong_value(location, "a number of at most 64 bits", value)
                return value if factor == 1.0 else value * factor
            case float():
                if not math.isfinite(value):
                    raise wrong_value(location, "a finite number", value)
                return value * factor
            case list():
                return [self.read(v, location / i, factor) for i, v in enumerate(value)]
            case dict():
                return {k: self.read(v, location / k, factor) for k, v in value.items()}
        raise wrong_value(location, self.allowed, value)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {}


@dataclass(frozen=True)
class PlainOrTable:
    """One of two types: ``table`` for a table, ``plain`` for any other value."""

    plain: ValueType
    table: ValueType

    @property
    def allowed(self) -> str:  # noqa: D102
        return f"{self.plain.allowed} or {self.table.allowed}"

    def read(self, value: Any, location: ValueLocation, factor: float) -> Any:  # noqa: D102
        kind = self.table if isinstance(value, dict) else self.plain
        return kind.read(value, location, factor)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"anyOf": [self.plain.schema(), self.table.schema()]}


@dataclass(frozen=True)
class AlternativesType:
    """One of several types; None too if ``optional``."""

    kinds: tuple[ValueType, ...]
    optional: bool = False

    @property
    def allowed(self) -> str:  # noqa: D102
        return " or ".join(kind.allowed for kind in self.kinds)

    def read(self, value: Any, location: ValueLocation, factor: float) -> Any:  # noqa: D102
        if value is None and self.optional:
            return None
        if len(self.kinds) == 1:
            return self.kinds[0].read(value, location, factor)
        for kind in self.kinds:
            try:
                return kind.read(value, location, factor)
            except FormatError:
                continue
        raise wrong_value(location, self.allowed, value)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"anyOf": [kind.schema() for kind in self.kinds]}


@dataclass(frozen=True)
class ConvertedType:
    """A type that msgspec converts.

    Attributes:
        annotation: The type, as a struct declares it.
        allowed: What it allows, for messages.
    """

    annotation: Any
    allowed: str

    def read(self, value: Any, location: ValueLocation, factor: float) -> Any:  # noqa: D102
        try:
            return msgspec.convert(value, self.annotation)
        except msgspec.ValidationError as error:
            if self.allowed:
                raise wrong_value(location, self.allowed, value) from None
            raise mistake(location, f"is {describe_value(value)}: {error}.") from None
        except OverflowError:
            raise wrong_value(location, "a number of at most 64 bits", value) from None

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return msgspec.json.schema(self.annotation)


#: Factor to SI units of each suffix of a key.
SUFFIXES: dict[str, float] = {
    "_deg": math.pi / 180.0,
    "_mm": 1e-3,
    "_cm": 1e-2,
    "_g": 1e-3,
    "_ms": 1e-3,
    "_hz": 1.0,
}


def split_unit(key: str) -> tuple[str, float]:
    """Splits a file's key into its plain name and the factor to SI.

    >>> split_unit("range_deg")[0]
    'range'
    """
    for suffix, factor in SUFFIXES.items():
        if key.endswith(suffix) and len(key) > len(suffix):
            return key[: -len(suffix)], factor
    return key, 1.0


def degrees(value: float) -> float:
    """Radians to degrees."""
    return value * 180.0 / math.pi


def format_value(value: float, unit: str) -> str:
    """Formats a value with its unit, angles in degrees.

    >>> format_value(0.5235987755982988, "rad/s")
    '30°/s'
    """
    if unit.startswith("rad"):
        return f"{degrees(value):.4g}{unit.replace('rad', '°', 1)}"
    return f"{value:.4g} {unit}".rstrip()
