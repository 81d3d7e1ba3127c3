"""Declaration of a joint's attribute, from which every user of the attribute follows."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, TypeVar

from linkwork.core.errors import FormatError, Origin, PartError
from linkwork.core.forms import Key, ParameterLocation
from linkwork.core.value_types import is_number

T = TypeVar("T")


@dataclass(frozen=True)
class JointAttribute:
    """An attribute of a joint: one value, the same for all its degrees of freedom.

    Attributes:
        default: Its value where a file does not give it; None if it may be absent.
        key: Type and limits of the value, its description and unit. They are those of the key in
            TOML files, the JSON schema, the documentation and the attribute panel.
        plural: What notes call it where a format does not hold it; empty if the note on another
            attribute is enough.
        array: Name of the :class:`~linkwork.model.world.World` array that holds it by degree of
            freedom, infinity where it is absent; empty if it only describes the joint.
    """

    default: Any
    key: Key
    plural: str
    array: str = ""

    @property
    def is_dof_value(self) -> bool:
        """Whether its unit is that of the joint's degrees of freedom: [rad or m], or per second."""
        return self.key.unit == "dof"

    @property
    def has_force_unit(self) -> bool:
        """Whether its unit holds newtons or kilograms, so that it cannot be scaled by a length."""
        return bool(self.key.si_unit) and not self.is_dof_value

    def in_array(self, value: float | None) -> float:
        """Returns a value as the world's array holds it."""
        return math.inf if value is None else value

    def check(self, name: str, value: Any, owner: str, *, origin: Origin) -> None:
        """Checks a value.

        Raises:
            PartError: Naming the owner, the attribute and what is allowed.
        """
        if value is None and self.default is None:
            return
        try:
            if is_number(value) and not isinstance(value, int | float):
                value = float(value)  # a number of NumPy
            self.key.kind.read(value, ParameterLocation(owner, origin) / name, 1.0)
        except FormatError as error:
            raise PartError(error.message, origin=error.origin, hint=error.hint) from None


def attribute(default: T, key: Key, *, plural: str, array: str = "") -> T:
    """Returns the dataclass field of an attribute; see :class:`JointAttribute`.

    Its type is that of the default, as type checkers expect of :func:`dataclasses.field`.
    """
    declared = JointAttribute(default, key, plural, array)
    return dataclasses.field(default=default, metadata={"attribute": declared})


def declared_attributes(cls: type) -> dict[str, JointAttribute]:
    """Returns the attributes that a dataclass declares, by name."""
    return {
        field.name: field.metadata["attribute"]
        for field in dataclasses.fields(cls)
        if "attribute" in field.metadata
    }
