"""Movements: the ways that a movement's planner makes of its postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linkwork.errors import LinkworkError
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reference import Reference
from linkwork.motion.profiles.sequence import least_time, passing_speeds, plan
from linkwork.scene import Movement
from linkwork.scene.planning import UNLIMITED, Limits
from linkwork.scene.track import Course


def courses(
    movement: Movement,
    limits: Mapping[str, Limits] | None = None,
    units: Mapping[str, str] | None = None,
) -> dict[str, Course]:
    """The way of each joint: planned, or interpolated where the movement has no planner.

    Args:
        movement: The movement.
        limits: What the robot's joints may do; of these and the movement's own the lower holds.
        units: "rad" or "m" by joint, for messages.

    Raises:
        OutOfReach: If limits do not allow a step; names the posture and says what is nearest.
        LinkworkError: If a planner lacks a limit.
    """
    if not movement.planner:
        return {joint: movement.track(joint) for joint in movement.joints()}
    return dict(plan_movement(movement, limits, units))


def plan_movement(
    movement: Movement,
    limits: Mapping[str, Limits] | None = None,
    units: Mapping[str, str] | None = None,
) -> dict[str, Profile]:
    """The planned way of each joint; arguments and errors as of :func:`courses`."""
    if not movement.planner:
        raise LinkworkError(
            f"movement {movement.name!r} has no planner.",
            origin=movement.origin,
            hint='Give it one: planner = "acceleration" in the file, or --planner.',
        )
    made: dict[str, Profile] = {}
    for joint in movement.joints():
        allowed = _allowed(movement, joint, limits)
        stops = [each for each in movement.postures if joint in each.joints]
        times = [each.time for each in stops]
        places = [each.joints[joint] for each in stops]
        given = [each.speeds.get(joint) for each in stops]
        speeds = passing_speeds(times, places, given, allowed.speed)
        references = [
            Reference(time, place, speed, each.origin)
            for time, place, speed, each in zip(times, places, speeds, stops, strict=True)
        ]
        planners = [each.planner or movement.planner for each in stops[1:]]
        unit = (units or {}).get(joint, "rad" if joint in movement.angles else "")
        losses = movement.losses.get(joint)
        made[joint] = plan(references, planners, allowed, losses=losses, name=joint, unit=unit)
    return made


def as_soon_as_possible(movement: Movement, limits: Mapping[str, Limits] | None = None) -> Movement:
    """The same postures, each as soon as the slowest joint can be there.

    Joints rest at every posture, except where the movement gives their speed.

    Raises:
        LinkworkError: If nothing limits a joint, or no time is enough for a step.
    """
    last: dict[str, Reference] = {}
    postures = []
    now = -1.0
    for posture in movement.postures:
        planner = posture.planner or movement.planner or "acceleration"
        ends = {
            joint: Reference(0.0, value, posture.speeds.get(joint, 0.0), posture.origin)
            for joint, value in posture.joints.items()
        }
        now = posture.time if now < 0.0 else now
        for _ in range(len(ends) + 1):  # after a gap in what one can do, the others must wait too
            before = now
            for joint, end in ends.items():
                start = last.get(joint)
                if start is not None:
                    allowed = _allowed(movement, joint, limits)
                    wait = max(now - start.time, 0.0)
                    unit = "rad" if joint in movement.angles else ""
                    time = least_time(
                        start, end, planner, allowed, after=wait, name=joint, unit=unit
                    )
                    now = max(now, start.time + time)
            if now == before:
                break
        if postures and now <= postures[-1].time:
            now = postures[-1].time + 1e-3  # nobody moves: postures still come one after the other
        speeds = {joint: end.speed for joint, end in ends.items()}
        postures.append(replace(posture, time=now, speeds=speeds))
        last |= {joint: replace(end, time=now) for joint, end in ends.items()}
    planner = movement.planner or "acceleration"
    return replace(movement, postures=tuple(postures), planner=planner, interpolation="linear")


def _allowed(movement: Movement, joint: str, limits: Mapping[str, Limits] | None) -> Limits:
    own = movement.limits.get(joint, UNLIMITED)
    return own.within((limits or {}).get(joint, UNLIMITED))
