"""Movements as browsers edit them, and what keeps one from being played."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from linkwork.agents.servo_limits import servo_limits
from linkwork.errors import LinkworkError, SceneError, not_found
from linkwork.motion.profiles.movements import courses
from linkwork.scene import Movement, TimedPosture
from linkwork.scene.planning import Limits
from linkwork.scene.track import Course, Track
from linkwork.server import messages as m
from linkwork.server.host.movement_robot import MovementRobot

#: So many problems are told; more would not be read.
_MOST = 5


def draft_of(movement: Movement) -> m.MovementDraft:
    """A movement as a browser edits it."""
    postures = [
        m.TimedPosture(p.time, dict(p.joints), dict(p.speeds), p.planner)  # type: ignore[arg-type]
        for p in movement.postures
    ]
    limits = {
        joint: m.JointLimits(*(_number(each) for each in (has.speed, has.acceleration, has.jerk)))
        for joint, has in movement.limits.items()
    }
    return m.MovementDraft(
        movement.name, postures, movement.interpolation, movement.planner, limits,  # type: ignore[arg-type]
        movement.title,
    )  # fmt: skip


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def movement_of(
    draft: m.MovementDraft, robot: MovementRobot, before: Movement | None
) -> tuple[Movement, list[int]]:
    """A movement from what a browser says, its postures in the order of time.

    Args:
        draft: What is said.
        robot: Whose joints are meant.
        before: The movement it is made of; what a browser does not see is kept.

    Returns:
        The movement, and for each of its postures the number it had in the draft.

    Raises:
        LinkworkError: If it cannot be: two postures at one time, no joint, a joint not known.
    """
    order = sorted(range(len(draft.postures)), key=lambda n: draft.postures[n].time)
    postures = []
    for n in order:
        said = draft.postures[n]
        for joint in said.joints:
            if joint not in robot.dofs:
                raise not_found("joint", joint, robot.dofs)
        if postures and postures[-1].time == said.time:
            raise SceneError(
                f"there is a posture at {said.time:g} s already.", hint="Give it another time."
            )
        if not said.joints:
            raise SceneError(
                f"the posture at {said.time:g} s would name no joint.", hint="Delete it instead."
            )
        speeds = {j: v for j, v in said.speeds.items() if j in said.joints and draft.planner}
        planner = said.planner if draft.planner else ""
        postures.append(TimedPosture(said.time, dict(said.joints), speeds=speeds, planner=planner))
    named = dict.fromkeys(joint for each in postures for joint in each.joints)
    limits = {
        joint: Limits(said.speed or math.inf, said.acceleration or math.inf, said.jerk or math.inf)
        for joint, said in draft.limits.items()
        if joint in named and draft.planner and (said.speed or said.acceleration or said.jerk)
    }
    kept = before.losses if before is not None and draft.planner else {}
    made = Movement(
        draft.name, tuple(postures), "linear" if draft.planner else draft.interpolation,
        title=draft.title, labels=before.labels if before is not None else {},
        angles=_angles(robot), planner=draft.planner, limits=limits,
        losses={joint: each for joint, each in kept.items() if joint in named},
    )  # fmt: skip
    return made, order


def _angles(robot: MovementRobot) -> frozenset[str]:
    return frozenset(name for name, dof in robot.dofs.items() if robot.world.dof_is_angle(dof))


def renamed(movement: Movement, robot: MovementRobot) -> Movement:
    """A movement of a file with the names that its joints have in the robot.

    Raises:
        NameNotFound: If the robot lacks one of them.
    """
    names = {joint: robot.named(joint) for joint in movement.joints()}
    for joint, name in names.items():
        if name not in robot.dofs:
            raise not_found("joint", joint, robot.dofs, origin=movement.origin)
    postures = tuple(
        replace(
            p, joints={names[j]: v for j, v in p.joints.items()},
            speeds={names[j]: v for j, v in p.speeds.items()},
        )
        for p in movement.postures
    )  # fmt: skip
    return replace(
        movement, postures=postures, angles=_angles(robot), lengths=frozenset(),
        limits={names[j]: each for j, each in movement.limits.items()},
        losses={names[j]: each for j, each in movement.losses.items()},
    )  # fmt: skip


def ways_of(movement: Movement, robot: MovementRobot) -> tuple[Mapping[str, Course], list[str]]:
    """The way of each joint, and what keeps the robot from going it.

    Where a planner cannot meet what is asked, the ways are straight.
    """
    problems: list[str] = []
    for posture in movement.postures:
        for joint, value in posture.joints.items():
            if wrong := robot.beyond(joint, value, value):
                problems.append(f"Posture at {posture.time:g} s: {wrong}.")
    limits = {joint: servo_limits(robot.world, robot.dofs[joint]) for joint in movement.joints()}
    units = {
        joint: "rad" if robot.world.dof_is_angle(robot.dofs[joint]) else "m" for joint in limits
    }
    made = _attempt(lambda: courses(movement, limits, units), problems)
    if made is None:
        plain = replace(movement, planner="", limits={}, losses={}, postures=tuple(
            replace(each, planner="", speeds={}) for each in movement.postures
        ))  # fmt: skip
        made = {joint: plain.track(joint) for joint in plain.joints()}
    elif not problems:
        for joint, way in made.items():
            if not isinstance(way, Track) and (wrong := robot.beyond(joint, *way.extent())):
                problems.append(f"Between postures: {wrong}.")
    return made, problems[:_MOST]


def _attempt(
    make: Callable[[], Mapping[str, Course]], problems: list[str]
) -> Mapping[str, Course] | None:
    try:
        return make()
    except LinkworkError as error:
        problems.append(f"{error.message} {error.hint}".strip())
        return None
