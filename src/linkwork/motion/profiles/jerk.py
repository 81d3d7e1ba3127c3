"""Jerk: ways of limited speed, acceleration and jerk, by Ruckig (Berscheid and Kröger 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reference import Reference
from linkwork.scene.planning import Limits

#: Rounding that is forgiven.
_OVER = 1.0 + 1e-9
#: How much later than wanted still counts as in time [s].
_LATE = 1e-9


def jerk_limited(start: Reference, end: Reference, limits: Limits) -> Profile | float:
    """The way from one reference to the next without acceleration at either.

    Returns:
        The way; or, where the limits ask for more time, how much in all [s].

    Raises:
        LinkworkError: If Ruckig finds no way for another reason.
    """
    wanted = end.time - start.time
    found = _calculated(start, end, limits, wanted)
    if found.duration <= wanted + _LATE:
        return _profile(start, found, end, limits)
    return float(found.duration)


def soonest_with_jerk(
    start: Reference, end: Reference, limits: Limits, after: float = 0.0
) -> float:
    """The shortest time for the way that is not below ``after`` [s]."""
    return float(_calculated(start, end, limits, after or None).duration)


def _calculated(start: Reference, end: Reference, limits: Limits, duration: float | None) -> Any:
    import ruckig

    given = ruckig.InputParameter(1)
    given.current_position, given.target_position = [start.position], [end.position]
    given.current_velocity, given.target_velocity = [start.speed], [end.speed]
    given.current_acceleration = given.target_acceleration = [0.0]
    # Ruckig wants finite limits. Within the jerk nothing quick comes near these.
    way, speeds = abs(end.position - start.position), abs(start.speed) + abs(end.speed)
    fast = 10.0 * ((way * way * limits.jerk) ** (1.0 / 3.0) + speeds) + 1e-3
    hard = 10.0 * ((way * limits.jerk**2) ** (1.0 / 3.0) + (limits.jerk * speeds) ** 0.5) + 1e-3
    given.max_velocity = [min(limits.speed, fast)]
    given.max_acceleration = [min(limits.acceleration, hard)]
    given.max_jerk = [limits.jerk]
    if duration is not None:
        given.minimum_duration = duration
    made = ruckig.Trajectory(1)
    try:
        result = ruckig.Ruckig(1).calculate(given, made)
    except Exception:  # errors of its own, and codes that it does not know itself
        result = None
    if result != ruckig.Result.Working:
        raise LinkworkError(
            "the planner 'jerk' found no way.",
            origin=end.origin,
            hint="Limits and times may be too far apart; the planner 'cruise' has no jerk to keep.",
        )
    return made


def _profile(start: Reference, found: Any, end: Reference, limits: Limits) -> Profile:
    """Ruckig's phases of constant jerk: those that bring it within limits first, then seven.

    Ruckig meets the last state to about 1e-9; the least change of all jerks takes the rest away,
    unless that would pass a limit.
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
    made = [_pieces(start, end, t, each) for each in (better, jerks)]
    speed, acceleration = limits.speed * _OVER, limits.acceleration * _OVER
    fits = (
        made[0].peak_jerk <= limits.jerk * _OVER
        and made[0].peak_acceleration <= acceleration
        and made[0].peak_speed <= speed
    )
    return made[0] if fits else made[1]


def _pieces(start: Reference, end: Reference, t: np.ndarray, jerks: np.ndarray) -> Profile:
    speeding = np.concatenate([[0.0], np.cumsum(t * jerks)[:-1]])
    pieces = list(zip(t.tolist(), speeding.tolist(), jerks.tolist(), strict=True))
    return Profile.of_pieces(*start.state, pieces, end.state)
