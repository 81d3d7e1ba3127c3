"""Spec: the type and parameters of an engine, sensor, actuator, agent, bus or rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import LinkworkError, Origin
from linkwork.forms import plain_values


@dataclass(frozen=True)
class Spec:
    """What a file says of a plug-in, before anyone builds it.

    Attributes:
        kind: "engine", "sensor", "actuator", "agent", …
        type: The registered type, "servo".
        name: Name in the scene; may be empty for engines.
        params: Everything else the file says, in SI units; NumPy's numbers become Python's.
        origin: Where it was said.
        scope: The part whose file said it, for names in ``params``.
        lines: Where the parameters stand in the file, as far as that is known.
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
                f"a spec says kind and type, not {self.kind!r} and {self.type!r}.",
                hint='For example Spec("actuator", "servo", params={"kp": 5.0}).',
            )
        object.__setattr__(self, "params", plain_values(self.params))

    def at(self, param: str) -> Origin:
        """Where a parameter was said."""
        return Origin(self.origin.file, self.lines.get(param, self.origin.line))
