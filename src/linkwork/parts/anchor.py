"""Anchor: a named place on an element where another part fits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from linkwork.errors import Origin, PartError
from linkwork.parts.names import check_name
from linkwork.spatial.pose import IDENTITY, Pose


@dataclass(frozen=True)
class Anchor:
    """A place where another part fits.

    When two parts join, their anchors' frames coincide: z points out of the part that carries
    and into the part that comes.

    Attributes:
        name: Name in its part.
        on: Element that carries the anchor.
        at: Pose in that element's frame.
        fits: Tag; only anchors with the same tag join. Empty fits anything.
        turns: In how many evenly spread turns about z a part may sit; 0 allows any turn.
        origin: Where it was said.
    """

    name: str
    on: str
    at: Pose = IDENTITY
    fits: str = ""
    turns: int = 0
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "anchor", origin=self.origin)
        if self.turns < 0:
            raise PartError(
                f"anchor {self.name!r}: turns must be 0 or more, not {self.turns}.",
                origin=self.origin,
            )

    def allows(self, turn: float) -> bool:
        """Whether a part may sit turned by ``turn`` [rad]."""
        if self.turns == 0:
            return True
        steps = turn * self.turns / (2.0 * math.pi)
        return abs(steps - round(steps)) < 1e-6

    def turns_deg(self) -> list[float]:
        """The allowed turns [deg], for messages."""
        return [360.0 * k / self.turns for k in range(self.turns)]
