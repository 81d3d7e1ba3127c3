"""Values per freedom of a joint: ranges and initial values, in the unit that each freedom has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.errors import suggestion
from linkwork.formats.toml.kinds import Kind, Number
from linkwork.formats.toml.source import Place, found
from linkwork.formats.toml.tables import UNITS, Fields
from linkwork.parts.joint import JointType, Range
from linkwork.units import SUFFIXES, split_unit


@dataclass(frozen=True)
class Freedom:
    """What a table says of one freedom: its name, the unit's suffix, the value and the place."""

    name: str
    suffix: str
    value: Any
    place: Place


@dataclass(frozen=True)
class ByFreedom:
    """A table with a value per freedom: ``{ x = 0.1, angle_deg = 30 }``."""

    item: Kind

    def read(self, value: Any, place: Place, factor: float) -> list[Freedom]:  # noqa: D102
        if factor != 1.0:
            raise place.wrong(
                "is a table and has a unit of its own.",
                hint="Put the unit into its keys: { x_mm = …, angle_deg = … }.",
            )
        made: list[Freedom] = []
        for written, item in value.items():
            name = split_unit(written)[0]
            suffix, here = written[len(name) :], place / written
            if any(freedom.name == name for freedom in made):
                raise here.wrong(f"gives {name!r} a second time; one is enough.")
            read = self.item.read(item, here, SUFFIXES.get(suffix, 1.0))
            made.append(Freedom(name, suffix, read, here))
        return made

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass(frozen=True)
class OneOrMore:
    """A number, or an array with one for each freedom."""

    def read(self, value: Any, place: Place, factor: float) -> tuple[float, ...]:  # noqa: D102
        if isinstance(value, list):
            return tuple(Number().read(v, place / i, factor) for i, v in enumerate(value))
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise place.wrong(f"must be a number or an array of numbers, not {found(value)}.")
        return (Number().read(value, place, factor),)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}


def check_unit(fields: Fields, name: str, kind: JointType, type: str) -> None:
    """Refuses a suffix that does not fit all freedoms of the joint.

    Raises:
        FormatError: For a slider's angle, a hinge's length, or a unit for a joint that has both.
    """
    suffix = fields.suffixes.get(name, "")
    if suffix and name in fields:
        for number, freedom in enumerate(kind.dofs):
            if not _fits(suffix, angle=kind.is_angle(number)):
                raise fields.at(name).wrong(
                    f"does not fit: the {freedom} of a {type} joint is "
                    f"{'an angle' if kind.is_angle(number) else 'a length'}.",
                    hint=_forms(name, kind),
                )


def _fits(suffix: str, *, angle: bool) -> bool:
    return suffix in UNITS["angle" if angle else "length"] if suffix else True


def _forms(name: str, kind: JointType) -> str:
    angles = {kind.is_angle(number) for number in range(kind.nv)}
    if len(angles) == 2:
        example = ", ".join(
            f"{freedom}{'_deg' if kind.is_angle(number) else '_mm'} = …"
            for number, freedom in enumerate(kind.dofs)
        )
        return f"Write {name} in rad and m, or by freedom: {{ {example} }}."
    suffixes = UNITS["angle" if True in angles else "length"]
    return f"Write {' or '.join([name, *(name + suffix for suffix in suffixes)])}."


def _numbered(freedoms: list[Freedom], kind: JointType, type: str) -> dict[int, Any]:
    made: dict[int, Any] = {}
    for freedom in freedoms:
        if freedom.name not in kind.dofs:
            raise freedom.place.wrong(
                f"is no freedom of a {type} joint.",
                hint=suggestion(freedom.name, kind.dofs, kind="freedoms"),
            )
        number = kind.dofs.index(freedom.name)
        if not _fits(freedom.suffix, angle=kind.is_angle(number)):
            what = "an angle" if kind.is_angle(number) else "a length"
            raise freedom.place.wrong(f"does not fit: {freedom.name} is {what}.")
        made[number] = freedom.value
    return made


def read_ranges(fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    """The joint's ``range`` from the file's ``range`` or ``ranges``, as keyword argument."""
    for name in ("range", "ranges"):
        check_unit(fields, name, kind, type)
    if "range" in fields:
        if "ranges" in fields:
            raise fields.at("ranges").wrong("and range are both given; one is enough.")
        if kind.nv == 0:
            raise fields.at("range").wrong(f"says nothing: a {type} joint has no freedom.")
        return {"range": (fields["range"], *[None] * (kind.nv - 1))}
    if "ranges" not in fields:
        return {}
    given = fields["ranges"]
    if isinstance(given, list):
        by_number = _numbered(given, kind, type)
        ranges: tuple[Range | None, ...] = tuple(by_number.get(k) for k in range(kind.nv))
    else:
        ranges = tuple(pair or None for pair in given)
    if len(ranges) != kind.nv:
        raise fields.at("ranges").wrong(
            f"must hold {kind.nv} pairs for a {type} joint, not {len(ranges)}.",
            hint="An empty pair [] sets no limit.",
        )
    return {"range": ranges}


def read_value(fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    """The joint's initial ``value`` and ``speed``; freedoms left out start at 0."""
    return _read_each("value", fields, kind, type) | _read_each("speed", fields, kind, type)


def _read_each(name: str, fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    check_unit(fields, name, kind, type)
    if name not in fields:
        return {}
    given = fields[name]
    if isinstance(given, list):
        by_number = _numbered(given, kind, type)
        given = tuple(by_number.get(k, 0.0) for k in range(kind.nv))
    if len(given) != kind.nv:
        raise fields.at(name).wrong(
            f"must hold {kind.nv} numbers for a {type} joint, not {len(given)}."
        )
    return {name: given}
