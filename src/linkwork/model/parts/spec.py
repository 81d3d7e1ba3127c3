"""Spec: type and parameters of a plug-in."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

from linkwork.core.errors import LinkworkError, Origin, PartError
from linkwork.core.forms import plain_values
from linkwork.core.renamed_keys import current_params


@dataclass(frozen=True)
class Spec:
    """Type and parameters of a plug-in that a scene names.

    Attributes:
        kind: "engine", "sensor", "actuator", "agent", …
        type: The registered type, "servo".
        name: Name in the scene; may be empty for engines.
        params: Parameters in SI units; NumPy numbers become Python numbers.
        origin: Where it is defined.
        scope: The part that defines it, for names in ``params``.
        lines: Line of each parameter, if known.
    """

    kind: str
    type: str
    name: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    origin: Origin = field(default=Origin(), compare=False)
    scope: str = ""
    lines: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.kind, str) and isinstance(self.type, str)):
            raise LinkworkError(
                f"kind and type of a spec must be text, not {self.kind!r} and {self.type!r}.",
                hint='For example Spec("actuator", "servo", params={"kp": 5.0}).',
            )
        params, notes = current_params(self.kind, self.type, plain_values(self.params))
        object.__setattr__(self, "params", params)
        for _, note in notes:
            about = f"{self.kind} {self.name or self.type!r}"
            warnings.warn(f"{about}: {note}", DeprecationWarning, stacklevel=3)

    def at(self, param: str) -> Origin:
        """Returns the origin of a parameter."""
        return Origin(self.origin.file, self.lines.get(param, self.origin.line))


_PLAIN = re.compile(r"[A-Za-z0-9_-]+\Z")


def check_name(name: str, kind: str, *, origin: Origin | None = None) -> str:
    """Returns ``name`` if it is a plain name.

    Raises:
        PartError: If it holds anything but letters, digits, ``_`` and ``-``.
    """
    if not isinstance(name, str) or not _PLAIN.match(name):
        raise PartError(
            f"{kind} name {name!r} is not allowed.",
            origin=origin,
            hint="Use letters, digits, '_' and '-'; '/' separates scopes.",
        )
    return name


def plain_name(name: str, taken: set[str] | None = None) -> str:
    """Returns the nearest allowed name, made different from all in ``taken``; for importers.

    >>> plain_name("left arm.link")
    'left_arm_link'
    """
    base = re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "unnamed"
    if not taken or base not in taken:
        return base
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"


def scoped_name_of(scope: str, name: str) -> str:
    """``name`` inside ``scope``; an empty scope adds nothing."""
    return f"{scope}/{name}" if scope else name
