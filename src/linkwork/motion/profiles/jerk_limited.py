"""Jerk-limited profiles by Ruckig (Berscheid and Kröger 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.model.scene.motion_limits import MotionLimits
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.span import Waypoint

#: Rounding tolerance.
_LIMIT_TOLERANCE = 1.0 + 1e-9
#: Time tolerance [s].
_TIME_TOLERANCE = 1e-9


def jerk_limited(start: Waypoint, end: Waypoint, limits: MotionLimits) -> Profile | float:
    """Returns the profile from one waypoint to the next without acceleration at either.

    Returns:
        The profile; or, if the limits require more time, the required duration [s].

    Raises:
        LinkworkError: If Ruckig finds no profile for another reason.
    """
    wanted = end.time - start.time
    found = _calculated(start, end, limits, wanted)
    if found.duration <= wanted + _TIME_TOLERANCE:
        return _profile(start, found, end, limits)
    return float(found.duration)


def shortest_time_with_jerk(
    start: Waypoint, end: Waypoint, limits: MotionLimits, after: float = 0.0
) -> float:
    """Returns the shortest duration that is not below ``after`` [s]."""
    return float(_calculated(start, end, limits, after or None).duration)


def _calculated(
    start: Waypoint, end: Waypoint, limits: MotionLimits, duration: float | None
) -> Any:
    try:
        import ruckig
    except ImportError as error:
        raise LinkworkError(
            "the planner 'jerk' needs the package ruckig, which is not installed.",
            origin=end.origin,
            hint="Install it (pip install ruckig), or use the planner 'cruise'.",
        ) from error

    given = ruckig.InputParameter(1)
    given.current_position, given.target_position = [start.position], [end.position]
    given.current_velocity, given.target_velocity = [start.speed], [end.speed]
    given.current_acceleration = given.target_acceleration = [0.0]
    # Ruckig requires finite limits; with a jerk limit these are never reached.
    distance, speeds = abs(end.position - start.position), abs(start.speed) + abs(end.speed)
    fast = 10.0 * ((distance * distance * limits.jerk) ** (1.0 / 3.0) + speeds) + 1e-3
    hard = (
        10.0 * ((distance * limits.jerk**2) ** (1.0 / 3.0) + (limits.jerk * speeds) ** 0.5) + 1e-3
    )
    given.max_velocity = [min(limits.speed, fast)]
    given.max_acceleration = [min(limits.acceleration, hard)]
    given.max_jerk = [limits.jerk]
    if duration is not None:
        given.minimum_duration = duration
    made = ruckig.Trajectory(1)
    try:
        result = ruckig.Ruckig(1).calculate(given, made)
    except Exception:  # errors and undocumented result codes
        result = None
    if result != ruckig.Result.Working:
        raise LinkworkError(
            "the planner 'jerk' found no profile.",
            origin=end.origin,
            hint="Limits and times may be too far apart; the planner 'cruise' has no jerk limit.",
        )
    return made


def _profile(start: Waypoint, found: Any, end: Waypoint, limits: MotionLimits) -> Profile:
    """Converts Ruckig's phases of constant jerk: first those back to the limits, then seven.

    Ruckig meets the last state to about 1e-9; a least-squares change of all jerks removes the rest,
    unless that would exceed a limit.
    """
    row = found.profiles[0][0]
    phases = [*zip(row.brake.t, row.brake.j, strict=True), *zip(row.t, row.j, strict=True)]
    phases += zip(row.accel.t, row.accel.j, strict=True)
    kept = np.array([phase for phase in phases if phase[0] > 0.0])
    t, jerks = kept[:, 0], kept[:, 1]
    t[np.argmax(t)] += end.time - start.time - t.sum()
    left = np.cumsum(t[::-1])[::-1] - t  # time after each phase
    effect = np.stack([
        ((left + t) ** 3 - left**3) / 6.0, ((left + t) ** 2 - left**2) / 2.0, t
    ])  # fmt: skip
    wanted = end.position - start.position - start.speed * t.sum(), end.speed - start.speed, 0.0
    better = jerks + np.linalg.pinv(effect) @ (np.array(wanted) - effect @ jerks)
    made = [_phases(start, end, t, each) for each in (better, jerks)]
    speed, acceleration = limits.speed * _LIMIT_TOLERANCE, limits.acceleration * _LIMIT_TOLERANCE
    fits = (
        made[0].peak_jerk <= limits.jerk * _LIMIT_TOLERANCE
        and made[0].peak_acceleration <= acceleration
        and made[0].peak_speed <= speed
    )
    return made[0] if fits else made[1]


def _phases(start: Waypoint, end: Waypoint, t: np.ndarray, jerks: np.ndarray) -> Profile:
    speeding = np.concatenate([[0.0], np.cumsum(t * jerks)[:-1]])
    rows = list(zip(t.tolist(), speeding.tolist(), jerks.tolist(), strict=True))
    return Profile.of_phases(*start.state, rows, end.state)
