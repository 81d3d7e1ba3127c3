"""Tasks of inverse kinematics, each with its weights, priority and gain.

A task has an error e(q) that points from the actual to the wanted value. Tasks of the same priority
share conflicts by their weights; those of a lower one (a larger number) move only what the higher
ones leave free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from linkwork.geometry.pose import Numbers, Pose

#: A weight for all three axes, or one for each.
Weights = float | Numbers


@dataclass(frozen=True, kw_only=True)
class Task:
    """Base class of all tasks.

    Attributes:
        priority: 0 is the highest.
        gain: Share of the error that one step removes, 0 to 1.
        lm_damping: Damping by the squared weighted error, for targets out of reach.
        tolerance: Error [m, or the task's own unit] at which the task counts as reached.
        angle_tolerance: Angle at which it does [rad].
        name: Name in results and messages; its frame if absent.
    """

    priority: int = 0
    gain: float = 1.0
    lm_damping: float = 0.0
    tolerance: float = 1e-6
    angle_tolerance: float = 1e-6
    name: str = ""
    about: ClassVar[str] = "task"

    @property
    def title(self) -> str:
        """The name, or a substitute."""
        return self.name or getattr(self, "frame", "") or self.about


@dataclass(frozen=True)
class PoseTask(Task):
    """Moves an element or anchor to a pose.

    Attributes:
        frame: Element or anchor.
        target: Target pose in the world or in ``relative_to``; the present one if absent.
        point: Control point in the frame [m]; anywhere on the arm.
        position: Weight of the position, for all axes or by axis of the target's frame; 0 leaves it
            free.
        orientation: Weight of the orientation, likewise.
        relative_to: Element or anchor in which the target is given.
        error: "split" (distance and rotation vector) or "twist" (the logarithm of SE(3), as in mink
            and pink).
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
    """Moves a point of an element or anchor to a position; its orientation is free.

    Attributes:
        frame: Element or anchor.
        target: Target [m], in the world or in ``relative_to``; the present position if absent.
        point: Control point in the frame [m].
        weight: For all axes, or by axis.
        relative_to: Element or anchor in whose axes the target is given.
    """

    frame: str
    target: Numbers | None = None
    point: Numbers = (0.0, 0.0, 0.0)
    weight: Weights = 1.0
    relative_to: str = ""
    about: ClassVar[str] = "position"


@dataclass(frozen=True)
class OrientationTask(Task):
    """Rotates an element or anchor to an orientation; its position is free.

    Attributes:
        frame: Element or anchor.
        target: A pose whose orientation is used; the present one if absent.
        weight: For all axes, or by axis of the target.
        relative_to: Element or anchor in which the target is given.
    """

    frame: str
    target: Pose | None = None
    weight: Weights = 1.0
    relative_to: str = ""
    about: ClassVar[str] = "orientation"


@dataclass(frozen=True)
class AlignTask(Task):
    """Aligns an axis of a frame with a direction; the rotation about it is free.

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
    """Points an axis of a frame at a position: a camera's, a pointer's, a welding torch's.

    Attributes:
        frame: Element or anchor that is pointed.
        target: The position [m], in the world or in ``at``.
        axis: Axis of the frame.
        at: Element or anchor of the target.
        weight: Of the angle.
    """

    frame: str
    target: Numbers = (0.0, 0.0, 0.0)
    axis: Numbers = (1.0, 0.0, 0.0)
    at: str = ""
    weight: float = 1.0
    about: ClassVar[str] = "view"


@dataclass(frozen=True)
class CenterOfMassTask(Task):
    """Moves the center of mass of a placed part, or of all moving bodies, to a position.

    Attributes:
        target: [m]; the present position if absent.
        part: Name of the placed part; all moving bodies if empty.
        weight: For all axes, or by axis: (1, 1, 0) leaves the height free.
    """

    target: Numbers | None = None
    part: str = ""
    weight: Weights = 1.0
    about: ClassVar[str] = "centre of mass"


@dataclass(frozen=True)
class PostureTask(Task):
    """Moves joints to values, within the freedom that other tasks leave.

    Attributes:
        target: Values by joint (``joint`` or ``joint.dof``) [rad or m]; the present ones if absent.
        weight: Of every named joint; of all that can move if none is named.
        weights: Other weights by joint.
        tolerance: Beside or below other tasks, a posture counts as reached at any value by default.
    """

    target: Mapping[str, float] | None = None
    weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = field(default=math.inf, kw_only=True)
    about: ClassVar[str] = "posture"


@dataclass(frozen=True)
class CouplingTask(Task):
    """Keeps Σ ratio · value of joints = offset.

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
    """Keeps the distance of two points.

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
