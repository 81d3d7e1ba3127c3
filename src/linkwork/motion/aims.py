"""Aims: what reaching wants, each with its priority and weight."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import (
    CentreOfMassTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    Task,
)
from linkwork.spatial.pose import Numbers

#: Part of the way that a step takes: with all of it, a tool out of reach would go to and fro.
GAIN = 0.4
#: The least of the weights that a task may have; without any it would not be there.
LIGHTEST = 1e-3


@dataclass(frozen=True)
class Aim:
    """One of the things that reaching wants.

    Attributes:
        kind: "position" and "orientation" of the tool, "hand" (a point that is dragged),
            "posture", "centre of mass" or "point" (a control point that stays where it is).
        priority: 0 comes first; what has the same shares by weight.
        weight: Above 0.
        frame: Element or anchor of a hand or point.
        point: The point in that frame [m].
    """

    kind: str
    priority: int = 0
    weight: float = 1.0
    frame: str = ""
    point: Numbers = (0.0, 0.0, 0.0)


#: The tool, its place more than its turn, then the posture at the beginning.
USUAL = (Aim("position"), Aim("orientation", 0, 0.2), Aim("posture", 1, 0.1))
KINDS = ("position", "orientation", "hand", "posture", "centre of mass", "point")


def task_of(aim: Aim, number: int, tip: str, point: Numbers, part: str) -> Task:
    """The task that an aim is for a solver.

    Args:
        aim: What is wanted.
        number: Its place among all that is.
        tip: Element or anchor of the tool.
        point: Tool point in it [m].
        part: Placed part whose centre of mass counts.

    Raises:
        LinkworkError: If its kind or weight is none.
    """
    name, level = f"{aim.kind} {number}", aim.priority
    if not aim.weight > 0.0:
        raise LinkworkError(f"the weight of {aim.kind!r} must be above 0, not {aim.weight:g}.")
    weight = max(aim.weight, LIGHTEST)
    match aim.kind:
        case "position":
            return PositionTask(
                tip, point=point, weight=weight, priority=level, name=name, gain=GAIN
            )
        case "orientation":
            return OrientationTask(tip, weight=weight, priority=level, name=name, gain=GAIN)
        case "hand" | "point":
            return PositionTask(
                aim.frame, point=aim.point, weight=weight, priority=level, name=name, gain=GAIN
            )
        case "posture":
            return PostureTask(weight=weight, gain=0.2, priority=level, name=name)
        case "centre of mass":
            over = (weight, weight, 0.0)
            return CentreOfMassTask(part=part, weight=over, priority=level, name=name, gain=GAIN)
    raise not_found("kind of aim", aim.kind, list(KINDS))
