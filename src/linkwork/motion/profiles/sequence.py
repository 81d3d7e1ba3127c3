"""Sequence: one joint through many references, many joints at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.motion.profiles.jerk import soonest_with_jerk
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.reach import soonest
from linkwork.motion.profiles.reference import Reference
from linkwork.motion.profiles.refusal import out_of_reach
from linkwork.motion.profiles.segment import segment
from linkwork.scene.planning import UNLIMITED, Limits, Losses


def passing_speeds(
    times: Sequence[float],
    positions: Sequence[float],
    given: Sequence[float | None] = (),
    limit: float = math.inf,
) -> list[float]:
    """Speeds with which references are passed: those given, the others gentle, without overshoot.

    It rests at both ends and wherever it turns back. Between such stops, and speeds that are given,
    it passes with the speeds of the cubic spline, the curve of the least ∫a² dt through the same
    references; at most with twice the lower of the mean speeds before and after. Then the least
    acceleration in two pieces never goes beyond two references, since ω1² + ω2² ≤ 2(ω1 + ω2)·D/T
    holds for all speeds up to 2D/T.
    """
    widths = [b - a for a, b in pairwise(times)]
    means = [(b - a) / w for (a, b), w in zip(pairwise(positions), widths, strict=True)]
    fixed: list[float | None] = [0.0, *([None] * (len(times) - 2)), 0.0][: len(times)]
    for n, (before, after) in enumerate(pairwise(means), start=1):
        if before * after <= 0.0:
            fixed[n] = 0.0
    for n, speed in enumerate(given):
        fixed[n] = fixed[n] if speed is None else speed
    found = [speed or 0.0 for speed in fixed]
    stops = [n for n, speed in enumerate(fixed) if speed is not None]
    for first, last in pairwise(stops):
        inner = range(first + 1, last)
        if not inner:
            continue
        left, right = np.zeros((len(inner), len(inner))), np.zeros(len(inner))
        for row, n in enumerate(inner):
            a, b = 1.0 / widths[n - 1], 1.0 / widths[n]
            left[row, row] = 2.0 * (a + b)
            right[row] = 3.0 * (a * means[n - 1] + b * means[n])
            for other, weight in ((n - 1, a), (n + 1, b)):
                if other in inner:
                    left[row, other - inner.start] = weight
                else:
                    right[row] -= weight * found[other]
        for n, speed in zip(inner, np.linalg.solve(left, right).tolist(), strict=True):
            sign = math.copysign(1.0, means[n])
            most = min(2.0 * abs(means[n - 1]), 2.0 * abs(means[n]), limit)
            found[n] = sign * min(max(sign * speed, 0.0), most)
    return found


def plan(
    references: Sequence[Reference],
    planner: str | Sequence[str] = "acceleration",
    limits: Limits = UNLIMITED,
    *,
    losses: Losses | None = None,
    name: str = "the joint",
    unit: str = "rad",
) -> Profile:
    """The way through references, each met with its speed.

    Args:
        references: In the order of time; one alone is rest there.
        planner: As in :func:`segment`; or one for each step from a reference to the next.
        limits: Largest speed, acceleration and jerk.
        losses: What "energy" counts.
        name: Who moves, for messages.
        unit: Of the position, for messages.

    Raises:
        OutOfReach: If limits do not allow a step; says what is nearest.
        LinkworkError: If there is no such planner, or it lacks a limit.
    """
    if not references:
        raise LinkworkError(f"{name}: there is no reference to go to.")
    steps = [planner] * (len(references) - 1) if isinstance(planner, str) else list(planner)
    if len(steps) != len(references) - 1:
        raise LinkworkError(
            f"{name}: {len(references)} references are {len(references) - 1} steps, but "
            f"{len(steps)} planners are given."
        )
    if len(references) == 1:
        return Profile.of_pieces(references[0].time, references[0].position, 0.0, [])
    made = [
        segment(a, b, how, limits, losses=losses, name=name, unit=unit)
        for (a, b), how in zip(pairwise(references), steps, strict=True)
    ]
    return Profile.joined(made)


def together(
    starts: Mapping[str, float],
    ends: Mapping[str, float],
    limits: Mapping[str, Limits],
    *,
    planner: str = "cruise",
    begin: float = 0.0,
    duration: float | None = None,
    losses: Mapping[str, Losses] | None = None,
) -> dict[str, Profile]:
    """Joints that begin and end at rest together.

    Args:
        starts: Where each begins.
        ends: Where each is to be.
        limits: What each may do.
        planner: As in :func:`segment`.
        begin: When they begin [s].
        duration: How long they take [s]; as short as the slowest joint allows if absent.
        losses: What "energy" counts, by joint.

    Raises:
        OutOfReach: If a joint cannot do it within ``duration``.
        LinkworkError: If joints do not fit together, or nothing limits them.
    """
    if set(starts) != set(ends) or not starts:
        raise LinkworkError("the same joints must have a beginning and an end, one at least.")
    pairs = {
        name: (Reference(begin, starts[name]), Reference(begin, ends[name])) for name in starts
    }
    if duration is None:
        times = [
            least_time(a, b, planner, limits.get(name, UNLIMITED), name=name)
            for name, (a, b) in pairs.items()
        ]
        duration = max(times)
    if duration == 0.0:
        return {
            name: Profile.of_pieces(begin, a.position, 0.0, []) for name, (a, _) in pairs.items()
        }
    return {
        name: segment(
            a, Reference(begin + duration, b.position), planner, limits.get(name, UNLIMITED),
            losses=(losses or {}).get(name), name=name,
        )
        for name, (a, b) in pairs.items()
    }  # fmt: skip


def least_time(
    start: Reference,
    end: Reference,
    planner: str,
    limits: Limits,
    *,
    after: float = 0.0,
    name: str = "the joint",
    unit: str = "rad",
) -> float:
    """The shortest time, not below ``after``, in which a planner can do a step [s].

    Raises:
        LinkworkError: If nothing limits the speed, or no time is enough.
    """
    lacks = {"jerk": "jerk"}.get(planner, "acceleration")
    if math.isinf(getattr(limits, lacks)):
        raise LinkworkError(
            f"{name}: without a largest {lacks} it could be there at once.",
            origin=end.origin, hint=f"Give max_{lacks}.",
        )  # fmt: skip
    if planner == "jerk":
        return soonest_with_jerk(start, end, limits, after)
    way = end.position - start.position
    cruise = planner == "cruise"
    found = soonest(way, start.speed, end.speed, limits, after=after, cruise=cruise)
    if found is None:
        wanted = Reference(start.time + max(after, 1e-9), end.position, end.speed, end.origin)
        raise out_of_reach(start, wanted, limits, name, unit, cruise=cruise, whenever=True)
    return found
