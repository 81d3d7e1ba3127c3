"""Profiles of a movement's joints through its postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linkwork.core.errors import LinkworkError
from linkwork.model.scene import Movement
from linkwork.model.scene.motion_limits import UNLIMITED, MotionLimits
from linkwork.model.scene.movement import Trajectory
from linkwork.motion.profiles.planner import least_time, passing_speeds, plan
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.span import Waypoint


def movement_profiles(
    movement: Movement,
    limits: Mapping[str, MotionLimits] | None = None,
    units: Mapping[str, str] | None = None,
) -> dict[str, Trajectory]:
    """Returns the profile of each joint: planned, or interpolated if the movement has no planner.

    Args:
        movement: The movement.
        limits: Limits of the robot's joints; the lower of these and the movement's own applies.
        units: "rad" or "m" by joint, for messages.

    Raises:
        UnreachableWaypoint: If limits do not permit a step; names the posture and the nearest
            alternative.
        LinkworkError: If a planner lacks a limit.
    """
    if not movement.planner:
        return {joint: movement.track(joint) for joint in movement.joints()}
    return dict(plan_movement(movement, limits, units))


def plan_movement(
    movement: Movement,
    limits: Mapping[str, MotionLimits] | None = None,
    units: Mapping[str, str] | None = None,
) -> dict[str, Profile]:
    """Returns the planned profile of each joint; as :func:`movement_profiles`."""
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
        positions = [each.joints[joint] for each in stops]
        given = [each.speeds.get(joint) for each in stops]
        speeds = passing_speeds(times, positions, given, allowed.speed)
        references = [
            Waypoint(time, position, speed, each.origin)
            for time, position, speed, each in zip(times, positions, speeds, stops, strict=True)
        ]
        planners = [each.planner or movement.planner for each in stops[1:]]
        unit = (units or {}).get(joint, "rad" if joint in movement.angles else "")
        losses = movement.losses.get(joint)
        made[joint] = plan(references, planners, allowed, losses=losses, name=joint, unit=unit)
    return made


def time_optimal(movement: Movement, limits: Mapping[str, MotionLimits] | None = None) -> Movement:
    """Returns the same postures, each as early as the slowest joint permits.

    Joints rest at every posture, unless the movement gives their velocity.

    Raises:
        LinkworkError: If nothing limits a joint, or no duration suffices for a step.
    """
    last: dict[str, Waypoint] = {}
    postures = []
    now = -1.0
    for posture in movement.postures:
        planner = posture.planner or movement.planner or "acceleration"
        ends = {
            joint: Waypoint(0.0, value, posture.speeds.get(joint, 0.0), posture.origin)
            for joint, value in posture.joints.items()
        }
        now = posture.time if now < 0.0 else now
        for _ in range(
            len(ends) + 1
        ):  # after a gap in the feasible times of one joint, the others must wait too
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
            now = postures[-1].time + 1e-3  # no joint moves: postures still need distinct times
        speeds = {joint: end.speed for joint, end in ends.items()}
        postures.append(replace(posture, time=now, speeds=speeds))
        last |= {joint: replace(end, time=now) for joint, end in ends.items()}
    planner = movement.planner or "acceleration"
    return replace(movement, postures=tuple(postures), planner=planner, interpolation="linear")


def _allowed(
    movement: Movement, joint: str, limits: Mapping[str, MotionLimits] | None
) -> MotionLimits:
    own = movement.limits.get(joint, UNLIMITED)
    return own.within((limits or {}).get(joint, UNLIMITED))
