"""Values per degree of freedom of a joint, each in its own unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkwork.core.errors import suggestion
from linkwork.core.forms import UNITS, Fields
from linkwork.core.mistakes import ValueLocation, mistake, repeated_key, wrong_value
from linkwork.core.value_types import SUFFIXES, NumberType, ValueType, split_unit
from linkwork.model.parts import Joint, Part
from linkwork.model.parts.joint import JointType, Range
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import Scene


@dataclass(frozen=True)
class DofValue:
    """Value of one degree of freedom in a table, with the suffix of its unit and its location."""

    name: str
    suffix: str
    value: Any
    location: ValueLocation


@dataclass(frozen=True)
class PerDofTable:
    """A table with a value per degree of freedom: ``{ x = 0.1, angle_deg = 30 }``."""

    item: ValueType
    allowed = "a table of values by degree of freedom"

    def read(self, value: Any, location: ValueLocation, factor: float) -> list[DofValue]:  # noqa: D102
        if factor != 1.0:
            raise mistake(
                location,
                "is a table and has a unit.",
                hint="Put the unit into its keys: { x_mm = …, angle_deg = … }.",
            )
        made: list[DofValue] = []
        for written, item in value.items():
            name = split_unit(written)[0]
            suffix, here = written[len(name) :], location / written
            if any(dof.name == name for dof in made):
                raise mistake(here, f"gives {name!r} a second time; one is enough.")
            read = self.item.read(item, here, SUFFIXES.get(suffix, 1.0))
            made.append(DofValue(name, suffix, read, here))
        return made

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass(frozen=True)
class NumberOrArray:
    """A number, or an array with one number for each degree of freedom."""

    allowed = "a number or an array of numbers"

    def read(self, value: Any, location: ValueLocation, factor: float) -> tuple[float, ...]:  # noqa: D102
        if isinstance(value, list):
            return tuple(NumberType().read(v, location / i, factor) for i, v in enumerate(value))
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_value(location, self.allowed, value)
        return (NumberType().read(value, location, factor),)

    def schema(self) -> dict[str, Any]:  # noqa: D102
        return {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}


def check_unit(fields: Fields, name: str, kind: JointType, type: str) -> None:
    """Checks that a suffix fits all degrees of freedom of the joint.

    Raises:
        FormatError: For a slider's angle, a hinge's length, or a unit for a joint that has both.
    """
    suffix = fields.suffixes.get(name, "")
    if suffix and name in fields:
        for number, dof in enumerate(kind.dofs):
            if not _fits(suffix, angle=kind.is_angle(number)):
                raise mistake(
                    fields.at(name),
                    f"does not fit: the {dof} of a {type} joint is "
                    f"{'an angle' if kind.is_angle(number) else 'a length'}.",
                    hint=_forms(name, kind),
                )


def _fits(suffix: str, *, angle: bool) -> bool:
    return suffix in UNITS["angle" if angle else "length"] if suffix else True


def _forms(name: str, kind: JointType) -> str:
    angles = {kind.is_angle(number) for number in range(kind.nv)}
    if len(angles) == 2:
        example = ", ".join(
            f"{dof}{'_deg' if kind.is_angle(number) else '_mm'} = …"
            for number, dof in enumerate(kind.dofs)
        )
        return f"Write {name} in rad and m, or by degree of freedom: {{ {example} }}."
    suffixes = UNITS["angle" if True in angles else "length"]
    return f"Write {' or '.join([name, *(name + suffix for suffix in suffixes)])}."


def _by_dof_index(dof_values: list[DofValue], kind: JointType, type: str) -> dict[int, Any]:
    made: dict[int, Any] = {}
    for dof in dof_values:
        if dof.name not in kind.dofs:
            raise mistake(
                dof.location,
                f"is not a degree of freedom of a {type} joint.",
                hint=suggestion(dof.name, kind.dofs, kind="degrees of freedom"),
            )
        number = kind.dofs.index(dof.name)
        if not _fits(dof.suffix, angle=kind.is_angle(number)):
            what = "an angle" if kind.is_angle(number) else "a length"
            raise mistake(dof.location, f"does not fit: {dof.name} is {what}.")
        made[number] = dof.value
    return made


def read_ranges(fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    """Returns the joint's ``range`` from the keys ``range`` or ``ranges``, as keyword argument."""
    for name in ("range", "ranges"):
        check_unit(fields, name, kind, type)
    if "range" in fields:
        if "ranges" in fields:
            raise repeated_key(fields.at("ranges"), "range")
        if kind.nv == 0:
            raise mistake(
                fields.at("range"), f"has no effect: a {type} joint has no degree of freedom."
            )
        return {"range": (fields["range"], *[None] * (kind.nv - 1))}
    if "ranges" not in fields:
        return {}
    given = fields["ranges"]
    if isinstance(given, list):
        by_number = _by_dof_index(given, kind, type)
        ranges: tuple[Range | None, ...] = tuple(by_number.get(k) for k in range(kind.nv))
    else:
        ranges = tuple(pair or None for pair in given)
    if len(ranges) != kind.nv:
        raise mistake(
            fields.at("ranges"),
            f"must hold {kind.nv} pairs for a {type} joint, not {len(ranges)}.",
            hint="An empty pair [] is no limit.",
        )
    return {"range": ranges}


def read_value(fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    """Returns the joint's initial ``value`` and ``speed``; omitted ones start at 0."""
    return _read_each("value", fields, kind, type) | _read_each("speed", fields, kind, type)


def _read_each(name: str, fields: Fields, kind: JointType, type: str) -> dict[str, Any]:
    check_unit(fields, name, kind, type)
    if name not in fields:
        return {}
    given = fields[name]
    if isinstance(given, list):
        by_number = _by_dof_index(given, kind, type)
        given = tuple(by_number.get(k, 0.0) for k in range(kind.nv))
    if len(given) != kind.nv:
        raise mistake(
            fields.at(name), f"must hold {kind.nv} numbers for a {type} joint, not {len(given)}."
        )
    return {name: given}


def find_joint(part: Part, name: str) -> Joint | None:
    """Returns the joint ``name`` of a part or of parts attached to it; None if there is none."""
    name = part.aliases.get(name, name)
    scope, _, rest = name.partition("/")
    if rest and scope in part.attachments:
        return find_joint(part.attachments[scope].part, rest)
    return part.joints.get(name)


def joint_names(part: Part) -> Iterator[str]:
    """Yields the names of a part's joints, with those of attached parts."""
    yield from part.joints
    for scope, attachment in part.attachments.items():
        yield from (scoped_name_of(scope, name) for name in joint_names(attachment.part))


def is_angle(scene: Scene, name: str) -> bool | None:
    """Whether a posture's ``arm/elbow`` or ``cart.x`` is an angle; None if that is unknown."""
    joint_name, _, dof = name.partition(".")
    scope, _, rest = joint_name.partition("/")
    if scope not in scene.parts or not rest:
        return None
    joint = find_joint(scene.parts[scope].part, rest)
    if joint is None:
        return None
    if dof in joint.kind.dofs:
        return joint.kind.is_angle(joint.kind.dofs.index(dof))
    if joint.kind.nv == 1 and not dof:
        return joint.kind.is_angle(0)
    return None
