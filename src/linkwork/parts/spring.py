"""Spring: a spring and damper between two anchors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from linkwork.errors import LinkworkError, Origin, PartError, suggestion
from linkwork.parts.names import check_name
from linkwork.spatial.pose import Vec3, unit

#: What a spring acts along: the line between its anchors, or the turn about an axis.
SPRING_TYPES = ("linear", "torsion")


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two anchors.

    A linear one pulls the anchors together along the line between them, by
    stiffness · (length − rest) + damping · speed [N]; with a rest length of 0 it damps all motion
    of one against the other. A torsion spring turns them back about an axis, likewise [N m].

    Attributes:
        name: Name in its part.
        a: First anchor, by name.
        b: Second anchor.
        type: "linear" or "torsion".
        stiffness: [N/m or N m/rad].
        damping: [N s/m or N m s/rad].
        rest: Length [m] or angle [rad] at which it is slack; None for the one at the start.
        axis: Axis of a torsion spring, in the first anchor's frame.
        origin: Where it was said.
    """

    name: str
    a: str
    b: str
    type: str = "linear"
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    axis: Vec3 = (0.0, 0.0, 1.0)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "spring", origin=self.origin)
        if self.type not in SPRING_TYPES:
            self._refuse(
                f"there is no type {self.type!r}. "
                + suggestion(self.type, SPRING_TYPES, kind="types")
            )
        for what in ("stiffness", "damping"):
            value = getattr(self, what)
            if not (math.isfinite(value) and value >= 0.0):
                self._refuse(f"{what} must be 0 or more, not {value:g}.")
        if self.rest is not None:
            if not math.isfinite(self.rest):
                self._refuse(f"rest must be a finite number, not {self.rest:g}.")
            if self.type == "linear" and self.rest < 0.0:
                self._refuse(f"the rest length must be 0 or more, not {self.rest:g}.")
        try:
            object.__setattr__(self, "axis", unit(self.axis))
        except LinkworkError as error:
            self._refuse(f"axis: {error.message}")

    def _refuse(self, why: str) -> None:
        raise PartError(f"spring {self.name!r}: {why}", origin=self.origin)
