"""Tables with known keys: which there are, in which units, and what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from linkwork.errors import suggestion
from linkwork.formats.toml.kinds import Any_, Kind
from linkwork.formats.toml.source import Place, found
from linkwork.units import SUFFIXES, split_unit

#: Which suffixes a key may carry, by what it measures; SI without. "freedom" is an angle or a
#: length, as the joint has it.
UNITS: dict[str, tuple[str, ...]] = {
    "": (),
    "angle": ("_deg",),
    "length": ("_mm", "_cm"),
    "mass": ("_g",),
    "time": ("_ms",),
    "freedom": ("_deg", "_mm", "_cm"),
}


@dataclass(frozen=True)
class Key:
    """What a file may say under a key.

    Attributes:
        kind: Kind of the value.
        help: One sentence for people; editors show it.
        unit: What it measures, one of ``UNITS``.
        required: Whether it must be there.
        together: Whether forms with different suffixes may stand side by side (tables only).
    """

    kind: Kind
    help: str
    unit: str = ""
    required: bool = False
    together: bool = False


@dataclass
class Fields:
    """What a table said, in SI units, under the plain names of its keys.

    Attributes:
        place: Where the table stands.
        values: Value by plain name; of a key that may stand ``together``, a dict by suffix.
        suffixes: Suffix with which each was written.
        params: What was said beyond the known keys, where a table is open.
    """

    place: Place
    values: dict[str, Any] = field(default_factory=dict)
    suffixes: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """The value of ``name``, or ``default`` where the file does not say."""
        return self.values.get(name, default)

    def at(self, name: str) -> Place:
        """Where the key ``name`` stands, as it was written."""
        return self.place / (name + self.suffixes.get(name, ""))

    def lines(self) -> dict[str, int]:
        """The line of each key and parameter, by the name under which it is read."""
        value: Any = self.place.source.data
        for step in self.place.path:
            value = value[step]
        found: dict[str, int] = {}
        for written in value:
            name = split_unit(written)[0]
            known = name in self.values or name in self.params
            found[name if known else written] = (self.place / written).origin.line
        return found

    def take(self, *names: str) -> dict[str, Any]:
        """Those of ``names`` that the file says, as keyword arguments."""
        return {name: self.values[name] for name in names if name in self.values}


@dataclass(frozen=True)
class Table:
    """A table with known keys.

    Attributes:
        keys: The keys, by plain name.
        example: What one looks like, for messages.
        open: Whether plug-ins understand further keys.
        one_of: Keys of which exactly one must be there.
    """

    keys: dict[str, Key]
    example: str = ""
    open: bool = False
    one_of: tuple[str, ...] = ()

    def read(self, value: Any, place: Place, factor: float = 1.0) -> Fields:  # noqa: D102
        if not isinstance(value, dict):
            hint = f"For example {self.example}." if self.example else ""
            raise place.wrong(f"must be a table, not {found(value)}.", hint=hint)
        fields = Fields(place)
        others: dict[str, Any] = {}
        for written, item in value.items():
            name, suffix = self._split(written)
            if name in self.keys:
                self._read_key(fields, name, suffix, item)
            elif self.open:
                others[written] = item
            else:
                raise (place / written).wrong(
                    "is not known here.", hint=suggestion(written, self.written(), kind="keys")
                )
        for name, key in self.keys.items():
            if key.required and name not in fields:
                hint = f"For example {self.example}." if self.example else ""
                raise place.wrong(f"needs {name!r}.", hint=hint)
        given = [name for name in self.one_of if name in fields]
        if self.one_of and len(given) != 1:
            what = f"holds {' and '.join(given)}" if given else "names none of these"
            raise place.wrong(f"{what}; it needs one of {', '.join(self.one_of)}.")
        fields.params = read_params(others, place)
        return fields

    def _split(self, written: str) -> tuple[str, str]:
        if written in self.keys:
            return written, ""
        name = split_unit(written)[0]
        return name, written[len(name) :]

    def _read_key(self, fields: Fields, name: str, suffix: str, item: Any) -> None:
        key = self.keys[name]
        here = fields.place / (name + suffix)
        allowed = UNITS[key.unit]
        if suffix and suffix not in allowed:
            forms = " or ".join([name, *(name + s for s in allowed)])
            raise here.wrong("has no such unit.", hint=f"Write {forms}.")
        if name in fields and not key.together:
            other = name + fields.suffixes.get(name, "")
            raise here.wrong(f"and {other} are both given; one is enough.")
        value = key.kind.read(item, here, SUFFIXES.get(suffix, 1.0))
        fields.suffixes[name] = suffix
        if key.together:
            fields.values.setdefault(name, {})[suffix] = value
        else:
            fields.values[name] = value

    def written(self) -> Iterator[str]:
        """Every key as it may be written, suffixes included."""
        for name, key in self.keys.items():
            yield name
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
    """An array of tables, ``[[word]]``: one for each thing."""

    word: str
    table: Table

    def read(self, value: Any, place: Place, factor: float = 1.0) -> list[Fields]:  # noqa: D102
        if not isinstance(value, list):
            raise place.wrong(
                f"must be an array of tables, not {found(value)}.",
                hint=f"Write [[{self.word}]], in double brackets, above each one.",
            )
        return [
            self.table.read(item, (place / number).called(self.label(item, number)))
            for number, item in enumerate(value)
        ]

    def label(self, item: Any, number: int) -> str:
        """What messages call the thing."""
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and len(name) <= 100:
            return f"{self.word} {name!r}"
        return f"{self.word} {number + 1}"

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "array", "items": self.table.schema()}


def read_params(table: dict[str, Any], place: Place) -> dict[str, Any]:
    """Parameters of a plug-in: suffixes are turned into SI and taken off, at any depth."""
    made: dict[str, Any] = {}
    for written, value in table.items():
        here = place / written
        name, factor = split_unit(written)
        if name != written and numeric(value):
            if split_unit(name)[0] != name:
                raise here.wrong("has two units; one is enough.")
            read = Any_().read(value, here, factor)
        else:
            name, read = written, _read_param(value, here)
        if name in made:
            raise here.wrong(f"gives {name!r} a second time; one is enough.")
        made[name] = read
    return made


def _read_param(value: Any, place: Place) -> Any:
    if isinstance(value, dict):
        return read_params(value, place)
    if isinstance(value, list):
        return [_read_param(item, place / number) for number, item in enumerate(value)]
    return Any_().read(value, place, 1.0)


def numeric(value: Any) -> bool:
    """Whether a value holds numbers and nothing else, so that a unit can apply to it."""
    if isinstance(value, list):
        return bool(value) and all(numeric(item) for item in value)
    if isinstance(value, dict):
        return bool(value) and all(numeric(item) for item in value.values())
    return isinstance(value, int | float) and not isinstance(value, bool)
