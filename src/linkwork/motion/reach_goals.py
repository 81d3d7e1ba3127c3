"""Goals of interactive inverse kinematics, each with its priority and weight."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Numbers
from linkwork.kinematics import (
    CenterOfMassTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    Task,
)

#: Gain of a step: with 1, a tool out of reach would oscillate.
GAIN = 0.4
#: Minimum weight of a task; at 0 it would have no effect.
MIN_WEIGHT = 1e-3


@dataclass(frozen=True)
class ReachGoal:
    """One goal.

    Attributes:
        kind: "position" and "orientation" of the tool, "hand" (a dragged point), "posture", "center
            of mass" or "point" (a fixed control point).
        priority: 0 is the highest; equal priorities share by weight.
        weight: Above 0.
        frame: Element or anchor of a hand or point.
        point: The point in that frame [m].
    """

    kind: str
    priority: int = 0
    weight: float = 1.0
    frame: str = ""
    point: Numbers = (0.0, 0.0, 0.0)


#: The tool, position before orientation by weight, then the initial posture.
DEFAULT_GOALS = (
    ReachGoal("position"),
    ReachGoal("orientation", 0, 0.2),
    ReachGoal("posture", 1, 0.1),
)
KINDS = ("position", "orientation", "hand", "posture", "center of mass", "point")


def goal_task(goal: ReachGoal, number: int, tip: str, point: Numbers, part: str) -> Task:
    """Returns the task of a goal for a solver.

    Args:
        goal: The goal.
        number: Its index.
        tip: Element or anchor of the tool.
        point: Tool point in it [m].
        part: Placed part of the center of mass.

    Raises:
        LinkworkError: If its kind or weight is invalid.
    """
    name, level = f"{goal.kind} {number}", goal.priority
    if not goal.weight > 0.0:
        raise LinkworkError(f"the weight of {goal.kind!r} must be above 0, not {goal.weight:g}.")
    weight = max(goal.weight, MIN_WEIGHT)
    match goal.kind:
        case "position":
            return PositionTask(
                tip, point=point, weight=weight, priority=level, name=name, gain=GAIN
            )
        case "orientation":
            return OrientationTask(tip, weight=weight, priority=level, name=name, gain=GAIN)
        case "hand" | "point":
            return PositionTask(
                goal.frame, point=goal.point, weight=weight, priority=level, name=name, gain=GAIN
            )
        case "posture":
            return PostureTask(weight=weight, gain=0.2, priority=level, name=name)
        case "center of mass":
            over = (weight, weight, 0.0)
            return CenterOfMassTask(part=part, weight=over, priority=level, name=name, gain=GAIN)
    raise not_found("kind of goal", goal.kind, list(KINDS))
