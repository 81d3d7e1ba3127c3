"""Spec: the type and parameters of an engine, sensor, actuator, agent, bus or rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import Origin


@dataclass(frozen=True)
class Spec:
    """What a file says of a plug-in, before anyone builds it.

    Attributes:
        kind: "engine", "sensor", "actuator", "agent", …
        type: The registered type, "servo".
        name: Name in the scene; may be empty for engines.
        params: Everything else the file says, in SI units.
        origin: Where it was said.
        scope: The part whose file said it, for names in ``params``.
    """

    kind: str
    type: str
    name: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    origin: Origin = field(default=Origin(), compare=False)
    scope: str = ""
