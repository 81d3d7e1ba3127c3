"""Tasks: what inverse kinematics shall achieve, each with its weights, priority and gain.

A task measures an error e(q) that points from what is to what is wanted. Tasks of the same
priority share what they cannot all have by their weights; those of a lower one (a larger number)
move only what the higher ones leave free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.spatial.pose import Numbers, Pose

#: A weight for all three axes, or one for each.
Weights = float | Numbers


@dataclass(frozen=True, kw_only=True)
class Task:
    """What all tasks have.

    Attributes:
        priority: 0 comes first.
        gain: Part of the error that one tick shall remove, 0 to 1.
        lm: Damping by the squared weighted error, for targets out of reach.
        near: Error [m, or the task's own unit] from which the task counts as reached.
        near_turn: Angle from which it does [rad].
        name: What results and messages call it; its frame if absent.
    """

    priority: int = 0
    gain: float = 1.0
    lm: float = 0.0
    near: float = 1e-6
    near_turn: float = 1e-6
    name: str = ""
    about: ClassVar[str] = "task"

    @property
    def title(self) -> str:
        """The name, or what there is instead."""
        return self.name or getattr(self, "frame", "") or self.about


@dataclass(frozen=True)
class PoseTask(Task):
    """An element or anchor stands at a pose.

    Attributes:
        frame: Element or anchor.
        target: Where it shall stand, in the world or in ``relative_to``; where it is if absent.
        point: Control point in the frame [m]; anywhere on the arm.
        position: Weight of the position, for all axes or by axis of the target's frame; 0 leaves
            it free.
        orientation: Weight of the orientation, likewise.
        relative_to: Element or anchor in which the target stands.
        error: "split" (distance and rotation vector) or "twist" (the logarithm of SE(3), as mink
            and pink measure it).
    """

    frame: str
    target: Pose | None = None
    point: Numbers = (0.0, 0.0, 0.0)
    position: Weights = 1.0
    orientation: Weights = 1.0
    relative_to: str = ""
    error: str = "split"
    about: ClassVar[str] = "pose"


@dataclass(frozen=True)
class PositionTask(Task):
    """A point of an element or anchor stands at a place; how it is turned is left free.

    Attributes:
        frame: Element or anchor.
        target: Where it shall be [m], in the world or in ``relative_to``; where it is if absent.
        point: Control point in the frame [m].
        weight: For all axes, or by axis.
        relative_to: Element or anchor in whose axes the target is.
    """

    frame: str
    target: Numbers | None = None
    point: Numbers = (0.0, 0.0, 0.0)
    weight: Weights = 1.0
    relative_to: str = ""
    about: ClassVar[str] = "position"


@dataclass(frozen=True)
class OrientationTask(Task):
    """An element or anchor is turned as the target is; where it stands is left free.

    Attributes:
        frame: Element or anchor.
        target: A pose whose orientation counts; the present one if absent.
        weight: For all axes, or by axis of the target.
        relative_to: Element or anchor in which the target is turned.
    """

    frame: str
    target: Pose | None = None
    weight: Weights = 1.0
    relative_to: str = ""
    about: ClassVar[str] = "orientation"


@dataclass(frozen=True)
class AlignTask(Task):
    """An axis of a frame points along a direction; the turn about it is left free.

    Attributes:
        frame: Element or anchor.
        axis: In the frame.
        direction: In the world, or in ``relative_to``.
        weight: Of the angle.
        relative_to: Element or anchor that carries the direction.
    """

    frame: str
    axis: Numbers = (0.0, 0.0, 1.0)
    direction: Numbers = (0.0, 0.0, 1.0)
    weight: float = 1.0
    relative_to: str = ""
    about: ClassVar[str] = "axis"


@dataclass(frozen=True)
class LookAtTask(Task):
    """An axis of a frame points at a place: a camera's, a pointer's, a welding torch's.

    Attributes:
        frame: Element or anchor that looks.
        target: The place [m], in the world or in ``at``.
        axis: Which axis of the frame looks.
        at: Element or anchor that is looked at.
        weight: Of the angle.
    """

    frame: str
    target: Numbers = (0.0, 0.0, 0.0)
    axis: Numbers = (1.0, 0.0, 0.0)
    at: str = ""
    weight: float = 1.0
    about: ClassVar[str] = "view"


@dataclass(frozen=True)
class CentreOfMassTask(Task):
    """The centre of mass of a placed part, or of all that moves, stands at a place.

    Attributes:
        target: [m]; where it is if absent.
        part: Name of the placed part; all moving bodies if empty.
        weight: For all axes, or by axis: (1, 1, 0) leaves the height free.
    """

    target: Numbers | None = None
    part: str = ""
    weight: Weights = 1.0
    about: ClassVar[str] = "centre of mass"


@dataclass(frozen=True)
class PostureTask(Task):
    """Joints stand at values: the rest of what other tasks leave free.

    Attributes:
        target: Values by joint (``joint`` or ``joint.dof``) [rad or m]; the present ones if absent.
        weight: Of every joint that is named; of all that can move if none is.
        weights: Other weights by joint.
        near: Beside or below other tasks a posture counts as reached wherever it is, if nothing
            else is said.
    """

    target: Mapping[str, float] | None = None
    weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    near: float = field(default=math.inf, kw_only=True)
    about: ClassVar[str] = "posture"


@dataclass(frozen=True)
class CouplingTask(Task):
    """Joints keep Σ ratio · value = offset.

    Attributes:
        ratios: By joint with one degree of freedom.
        offset: [rad or m].
        weight: Of the sum.
    """

    ratios: Mapping[str, float] = field(default_factory=dict)
    offset: float = 0.0
    weight: float = 1.0
    about: ClassVar[str] = "coupling"


@dataclass(frozen=True)
class DistanceTask(Task):
    """Two points keep a distance.

    Attributes:
        frame: Element or anchor of the first point.
        other: Element or anchor of the second; the world if empty.
        distance: [m].
        point: First point, in its frame [m].
        other_point: Second point, in its frame or the world [m].
        keep: "exactly", "at least" or "at most".
        weight: Of the difference.
    """

    frame: str
    other: str = ""
    distance: float = 0.0
    point: Numbers = (0.0, 0.0, 0.0)
    other_point: Numbers = (0.0, 0.0, 0.0)
    keep: str = "exactly"
    weight: float = 1.0
    about: ClassVar[str] = "distance"
