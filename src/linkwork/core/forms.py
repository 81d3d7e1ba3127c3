"""Forms: tables with known keys, declared key by key or as msgspec structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Annotated, Any, Generic, Self, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from linkwork.core.errors import FormatError, Origin
from linkwork.core.mistakes import (
    ValueLocation,
    location_name,
    missing_key,
    mistake,
    repeated_key,
    unknown_key,
    wrong_value,
)
from linkwork.core.value_types import (
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    SUFFIXES,
    AlternativesType,
    AnyType,
    BooleanType,
    ChoiceType,
    ConvertedType,
    IntegerType,
    ListType,
    MapType,
    NumberType,
    TextType,
    ValueType,
    VectorType,
    split_unit,
)

F = TypeVar("F", bound=msgspec.Struct)

#: Suffixes that a key may carry, by what it measures; SI without. "dof" is an angle or a length,
#: as the joint has it; "any" is every suffix.
UNITS: dict[str, tuple[str, ...]] = {
    "": (),
    "angle": ("_deg",),
    "length": ("_mm", "_cm"),
    "mass": ("_g",),
    "time": ("_ms",),
    "dof": ("_deg", "_mm", "_cm"),
    "any": tuple(SUFFIXES),
}

#: Units of values without suffix, by what a key measures.
SI_UNITS = {"angle": "rad", "length": "m", "mass": "kg", "time": "s", "dof": "rad or m"}

L = TypeVar("L", bound=ValueLocation)


@dataclass(frozen=True)
class Key:
    """A key of a table.

    Attributes:
        kind: Type of the value.
        help: One sentence for people; editors show it.
        unit: What it measures, one of ``UNITS``.
        required: Whether it must be given.
        together: Whether forms with different suffixes may be given side by side (tables only).
        si: Unit of a value without suffix; by default that of ``unit``.
    """

    kind: ValueType
    help: str = ""
    unit: str = ""
    required: bool = False
    together: bool = False
    si: str = ""

    @property
    def si_unit(self) -> str:
        """Unit of a value without suffix; empty if it has none, or several."""
        return self.si or SI_UNITS.get(self.unit, "")


@dataclass
class Fields(Generic[L]):
    """The values of a table, in SI units, by the plain names of its keys.

    Attributes:
        location: Location of the table.
        values: Value by plain name; for a key with ``together``, a dict by suffix.
        suffixes: Suffix with which each key was written.
        params: Values of further keys, if the table is open.
        written: Every key as written.
    """

    location: L
    values: dict[str, Any] = field(default_factory=dict)
    suffixes: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    written: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the value of ``name``, or ``default`` if it is not given."""
        return self.values.get(name, default)

    def at(self, name: str) -> L:
        """Returns the location of the key ``name``, as it was written."""
        return self.location / (name + self.suffixes.get(name, ""))

    def lines(self) -> dict[str, int]:
        """Returns the line of each key and parameter, by its plain name."""
        found: dict[str, int] = {}
        for written in self.written:
            name = split_unit(written)[0]
            known = name in self.values or name in self.params
            origin = (self.location / written).origin
            found[name if known else written] = origin.line if origin is not None else 0
        return found

    def take(self, *names: str) -> dict[str, Any]:
        """Returns those of ``names`` that are given, as keyword arguments."""
        return {name: self.values[name] for name in names if name in self.values}


@dataclass(frozen=True)
class Table:
    """A table with known keys.

    Attributes:
        keys: The keys, by plain name.
        example: An example, for messages.
        open: Whether plug-ins have further keys.
        one_of: Keys of which exactly one must be given.
        also: Further keys that belong to another form of the same table, for suggestions.
    """

    keys: Mapping[str, Key]
    example: str = ""
    open: bool = False
    one_of: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    allowed = "a table"

    def read(self, value: Any, location: L, factor: float = 1.0) -> Fields[L]:  # noqa: D102
        if not isinstance(value, dict):
            hint = f"For example {self.example}." if self.example else ""
            raise wrong_value(location, self.allowed, value, hint=hint)
        fields = Fields(location, written=tuple(value))
        others: dict[str, Any] = {}
        for written, item in value.items():
            name, suffix = self._split(written)
            if name in self.keys:
                self._read_key(fields, name, suffix, item)
            elif self.open:
                others[written] = item
            else:
                raise unknown_key(location, written, [*self.written(), *self.also])
        for name, key in self.keys.items():
            if key.required and name not in fields:
                raise missing_key(location, name, example=self.example)
        given = [name for name in self.one_of if name in fields]
        if self.one_of and len(given) != 1:
            what = f"holds {' and '.join(given)}" if given else "holds none of these"
            raise mistake(location, f"{what}; it needs one of {', '.join(self.one_of)}.")
        fields.params = params_in_si(others, location)
        return fields

    def _split(self, written: str) -> tuple[str, str]:
        if written in self.keys:
            return written, ""
        name = split_unit(written)[0]
        return name, written[len(name) :]

    def _read_key(self, fields: Fields[L], name: str, suffix: str, item: Any) -> None:
        key = self.keys[name]
        here = fields.location / (name + suffix)
        allowed = UNITS[key.unit]
        if suffix and suffix not in allowed:
            forms = " or ".join([name, *(name + s for s in allowed)])
            raise mistake(here, "has no such unit.", hint=f"Write {forms}.")
        if suffix and key.unit == "any":  # numbers of parameters are in SI under the plain name
            raise wrong_value(here, "a number", item)
        if name in fields and not key.together:
            raise repeated_key(here, name + fields.suffixes.get(name, ""))
        value = key.kind.read(item, here, SUFFIXES.get(suffix, 1.0))
        fields.suffixes[name] = suffix
        if key.together:
            fields.values.setdefault(name, {})[suffix] = value
        else:
            fields.values[name] = value

    def written(self) -> Iterator[str]:
        """Yields every key as it may be written, with and without suffix."""
        for name, key in self.keys.items():
            yield name
            if key.unit != "any":
                yield from (name + suffix for suffix in UNITS[key.unit])

    def schema(self) -> dict[str, Any]:  # noqa: D102
        properties: dict[str, Any] = {}
        required: list[str] = []
        rules: list[dict[str, Any]] = []
        for name, key in self.keys.items():
            forms = [name, *(name + suffix for suffix in UNITS[key.unit])]
            for form in forms:
                properties[form] = {"description": key.help} | key.kind.schema()
            if not key.together:
                rules += [{"not": {"required": list(two)}} for two in combinations(forms, 2)]
            if key.required and len(forms) == 1:
                required.append(name)
            elif key.required:
                rules.append({"anyOf": [{"required": [form]} for form in forms]})
        made: dict[str, Any] = {"type": "object", "properties": properties}
        if not self.open:
            made["additionalProperties"] = False
        if self.one_of:
            made["oneOf"] = [{"required": [name]} for name in self.one_of]
        return (
            made
            | ({"required": required} if required else {})
            | ({"allOf": rules} if rules else {})
        )


@dataclass(frozen=True)
class Section:
    """An array of tables, ``[[word]]``: one for each item."""

    word: str
    table: Table
    allowed = "an array of tables"

    def read(self, value: Any, location: L, factor: float = 1.0) -> list[Fields[L]]:  # noqa: D102
        if not isinstance(value, list):
            hint = f"Write [[{self.word}]], in double brackets, above each one."
            raise wrong_value(location, self.allowed, value, hint=hint)
        return [
            self.table.read(item, (location / number).labeled(self.label(item, number)))
            for number, item in enumerate(value)
        ]

    def label(self, item: Any, number: int) -> str:
        """Returns the label of an item in messages."""
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and len(name) <= 100:
            return f"{self.word} {name!r}"
        return f"{self.word} {number + 1}"

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": self.table.schema()}


def params_in_si(table: dict[str, Any], location: ValueLocation) -> dict[str, Any]:
    """Returns the parameters of a plug-in in SI units, without suffixes, at any depth."""
    made: dict[str, Any] = {}
    for written, value in table.items():
        here = location / written
        name, factor = split_unit(written)
        if name != written and is_numeric(value):
            if split_unit(name)[0] != name:
                raise mistake(here, "has two units; one is enough.")
            read = AnyType().read(value, here, factor)
        else:
            name, read = written, _read_param(value, here)
        if name in made:
            raise mistake(here, f"gives {name!r} a second time; one is enough.")
        made[name] = read
    return made


def _read_param(value: Any, location: ValueLocation) -> Any:
    if isinstance(value, dict):
        return params_in_si(value, location)
    if isinstance(value, list):
        return [_read_param(item, location / number) for number, item in enumerate(value)]
    return AnyType().read(value, location, 1.0)


def is_numeric(value: Any) -> bool:
    """Whether a value holds numbers only, so that a unit can apply to it."""
    if isinstance(value, list):
        return bool(value) and all(is_numeric(item) for item in value)
    if isinstance(value, dict):
        return bool(value) and all(is_numeric(item) for item in value.values())
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class ParameterLocation:
    """Location of a parameter: of a spec, or given in Python.

    Attributes:
        label: Owner of the parameters, ``port 'arm/elbow'``.
        start: Where the owner is defined.
        lines: Line of each key, if not that of ``start``.
        keys: Keys from the owner to here.
    """

    label: str
    start: Origin | None = None
    lines: Mapping[str, int] | None = None
    keys: tuple[str, ...] = ()

    def __truediv__(self, key: str | int) -> Self:
        keys = self.keys if isinstance(key, int) else (*self.keys, key)
        return type(self)(self.label, self.start, self.lines, keys)

    def labeled(self, label: str) -> Self:
        """Returns the same location with another label."""
        return type(self)(label, self.start, self.lines, self.keys)

    @property
    def name(self) -> str:
        """Name in messages."""
        return location_name(self.label, self.keys)

    @property
    def origin(self) -> Origin | None:
        """File and line."""
        if self.start is not None and self.lines and self.keys and self.keys[0] in self.lines:
            return Origin(self.start.file, self.lines[self.keys[0]])
        return self.start


def read_form(
    given: dict[str, Any],
    form: type[F],
    who: str,
    *,
    origin: Origin | None,
    also: Iterable[str] = (),
    lines: Mapping[str, int] | None = None,
) -> F:
    """Returns a table as a struct.

    Args:
        given: Keys and values, in SI units.
        form: The struct; each of its fields is a key.
        who: Owner of the table, for messages: ``port 'arm/elbow'``.
        origin: Where it is defined.
        also: Keys of the same table that belong to another form.
        lines: Line of each key, if not that of ``origin``.

    Raises:
        FormatError: Naming the key, what was found and what is allowed.
    """
    given = plain_values(given)
    try:
        return msgspec.convert(given, form)
    except (msgspec.ValidationError, OverflowError) as error:
        table = Table(struct_table(form).keys, also=tuple(also))
        table.read(given, ParameterLocation(who, origin, lines))
        raise FormatError(f"{who}: {error}.", origin=origin) from None


def plain_values(value: Any) -> Any:
    """Returns a value with NumPy numbers and arrays as Python numbers and lists, at any depth."""
    if isinstance(value, dict):
        return {key: plain_values(each) for key, each in value.items()}
    if type(value) is list:
        return [plain_values(each) for each in value]
    if type(value) is tuple:
        return tuple(plain_values(each) for each in value)
    return value.tolist() if type(value).__module__ == "numpy" else value


@cache
def struct_table(form: type[msgspec.Struct]) -> Table:
    """Returns the table of keys that a msgspec struct declares."""
    keys = {
        each.encode_name: Key(value_type(each.type), unit="any", required=each.required)
        for each in msgspec.structs.fields(form)
    }
    return Table(keys)


def value_type(annotation: Any) -> ValueType:
    """Returns the value type of a field of a msgspec struct, from its annotation."""
    kind = inspect.type_info(annotation)
    plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    arguments = get_args(plain)
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            described = str((extra or {}).get("description", ""))
            if isinstance(inner, inspect.StrType) and inner.pattern:
                return TextType(inner.pattern, described)
            return ConvertedType(annotation, described or value_type(plain).allowed)
        case inspect.BoolType():
            return BooleanType()
        case inspect.FloatType():
            return NumberType(kind.ge, kind.le, kind.gt, kind.lt)
        case inspect.IntType():
            low = SMALLEST_INTEGER if kind.ge is None else kind.ge
            high = LARGEST_INTEGER if kind.le is None else kind.le
            low = low if kind.gt is None else kind.gt + 1
            return IntegerType(low, high if kind.lt is None else kind.lt - 1)
        case inspect.LiteralType() if all(isinstance(value, str) for value in kind.values):
            return ChoiceType(tuple(str(value) for value in kind.values))
        case inspect.EnumType():
            return ChoiceType(tuple(str(member.value) for member in kind.cls))
        case inspect.StrType(min_length=None, max_length=None):
            return TextType(kind.pattern or "")
        case inspect.StrType():
            return ConvertedType(annotation, f"text of at most {kind.max_length} characters")
        case inspect.ListType(min_length=None, max_length=None):
            return ListType(value_type(arguments[0]) if arguments else AnyType())
        case inspect.VarTupleType(min_length=None, max_length=None):
            return ListType(value_type(arguments[0]))
        case inspect.TupleType():
            items = [value_type(each) for each in arguments]
            if all(item == NumberType() for item in items):
                return VectorType((len(items),))
            return ConvertedType(annotation, f"an array of {len(items)}, each {items[0].allowed}")
        case inspect.DictType(min_length=None, max_length=None):
            return MapType(value_type(arguments[1]) if arguments else AnyType())
        case inspect.StructType():
            return struct_table(kind.cls)
        case inspect.UnionType():
            kinds = tuple(value_type(each) for each in arguments if each is not type(None))
            return AlternativesType(kinds, optional=type(None) in arguments)
        case inspect.AnyType():
            return AnyType()
    return ConvertedType(annotation, "")
