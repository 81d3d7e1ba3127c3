"""Loop: a closed chain, the frames of two anchors held together by a joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linkwork.errors import LinkworkError, Origin, PartError
from linkwork.parts.engine_words import MUJOCO_LOOP, check_words
from linkwork.parts.joint import JOINT_TYPES
from linkwork.parts.names import check_name
from linkwork.spatial.pose import Vec3, unit


@dataclass(frozen=True)
class Loop:
    """A closed loop: the frames of two anchors held together by a joint.

    Attributes:
        name: Name in its part.
        a: First anchor, by name.
        b: Second anchor.
        joint: Type of the closing joint; its frame is the anchors'.
        axis: Axis in the anchors' frames.
        mujoco: What only the Mujoco engine understands of it.
        origin: Where it was said.
    """

    name: str
    a: str
    b: str
    joint: str = "ball"
    axis: Vec3 = (0.0, 0.0, 1.0)
    origin: Origin = field(default=Origin(), compare=False)
    mujoco: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_name(self.name, "loop", origin=self.origin)
        check_words(self.mujoco, MUJOCO_LOOP, f"loop {self.name!r}", origin=self.origin)
        types = [name for name in JOINT_TYPES if name != "free"]
        if self.joint not in types:
            raise PartError(
                f"loop {self.name!r} cannot be closed by a joint of type {self.joint!r}.",
                origin=self.origin,
                hint=f"Types: {', '.join(types)}.",
            )
        try:
            object.__setattr__(self, "axis", unit(self.axis))
        except LinkworkError as error:
            raise PartError(
                f"loop {self.name!r}: axis: {error.message}", origin=self.origin
            ) from None
