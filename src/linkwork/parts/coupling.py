"""Coupling: a joint that follows another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import Origin, PartError
from linkwork.parts.engine_words import MUJOCO_COUPLING, check_words

#: Coefficients of the powers 0 to 4 of the leader's value that make the follower's.
Law = tuple[float, float, float, float, float]


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

    @property
    def law(self) -> Law:
        """The law with what the Mujoco engine adds to it."""
        return law_of(self.ratio, self.offset, self.mujoco)


def law_of(ratio: float, offset: float, words: Mapping[str, Any]) -> Law:
    """The law offset + ratio·x, with the higher powers that the word ``polycoef`` adds."""
    second, third, fourth = words.get("polycoef", (0.0, 0.0, 0.0))
    return offset, ratio, second, third, fourth


def follow(law: Law, leader: float) -> float:
    """Where a joint stands that follows one at ``leader`` [rad or m]."""
    value = 0.0
    for coefficient in reversed(law):
        value = value * leader + coefficient
    return value


def counted_from(law: Law, leader: float, follower: float) -> Law:
    """The law of y' = y − follower over x' = x − leader, both counted from where they start.

    p'(x') = p(leader + x') − follower, as MuJoCo takes the law of joints with reference values.
    """
    a, b, c, d, e = law
    made = (0.0,) * 5
    for coefficient in (e, d, c, b, a):  # made · (leader + x') + coefficient
        a, b, c, d, e = (leader * made[k] + (made[k - 1] if k else coefficient) for k in range(5))
        made = (a, b, c, d, e)
    return (made[0] - follower, *made[1:])
