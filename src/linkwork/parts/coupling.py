"""Coupling: a joint that follows another."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from linkwork.errors import Origin, PartError


@dataclass(frozen=True)
class Coupling:
    """A joint that follows another: value = ratio · value(of) + offset (mimic, gears).

    Attributes:
        joint: The joint that follows.
        of: The joint that leads.
        ratio: [rad/rad, m/rad, …].
        offset: [rad or m].
        origin: Where it was said.
    """

    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        for what in ("ratio", "offset"):
            if not math.isfinite(getattr(self, what)):
                raise PartError(
                    f"coupling of {self.joint!r}: {what} must be a finite number, not "
                    f"{getattr(self, what):g}.",
                    origin=self.origin,
                )
