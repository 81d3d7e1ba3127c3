"""Coupling: a joint that follows another."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import Origin, PartError
from linkwork.parts.engine_words import MUJOCO_COUPLING, check_words


@dataclass(frozen=True)
class Coupling:
    """A joint that follows another: value = ratio · value(of) + offset (mimic, gears).

    Attributes:
        joint: The joint that follows.
        of: The joint that leads.
        ratio: [rad/rad, m/rad, …].
        offset: [rad or m].
        mujoco: What only the Mujoco engine understands of it.
        origin: Where it was said.
    """

    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        who = f"coupling of {self.joint!r}"
        check_words(self.mujoco, MUJOCO_COUPLING, who, origin=self.origin)
        for what in ("ratio", "offset"):
            if not math.isfinite(getattr(self, what)):
                raise PartError(
                    f"coupling of {self.joint!r}: {what} must be a finite number, not "
                    f"{getattr(self, what):g}.",
                    origin=self.origin,
                )
