"""Reference: a state that a joint is to be in at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.errors import Origin
from linkwork.motion.profiles.span import Span


@dataclass(frozen=True)
class Reference:
    """A state to be in at a time.

    Attributes:
        time: [s].
        position: [rad or m].
        speed: [rad/s or m/s].
        origin: Where it was said.
    """

    time: float
    position: float
    speed: float = 0.0
    origin: Origin = field(default=Origin(), compare=False)

    @property
    def state(self) -> tuple[float, float, float]:
        """Time, position and speed."""
        return self.time, self.position, self.speed


def span_between(start: Reference, end: Reference) -> Span:
    """The way between two references, in two pieces."""
    way, time = end.position - start.position, end.time - start.time
    return Span.of(way, start.speed, end.speed, time)
