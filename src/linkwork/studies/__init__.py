"""Studies: the step response of a joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import SceneError
from linkwork.core.value_types import format_value
from linkwork.session.session import Session

#: Within this fraction of the step the joint counts as settled.
SETTLING_BAND = 0.02


@dataclass(frozen=True)
class StepResponse:
    """The step response of a joint; times count from the step.

    Attributes:
        time: Times [s].
        wanted, actual: Target and position at each time [rad or m].
        rise: Time from 10 to 90 % of the step [s]; None if it is not reached.
        settling: Time until it stays within 2 % of the step [s]; None if it does not.
        overshoot: Overshoot as a fraction of the step.
        error: Remaining error at the end [rad or m].
        fastest: Highest speed [rad/s or m/s].
        effort: Largest effort [N m or N].
        energy: Energy that its servo took from the supply [J]; None if it has no meter.
    """

    time: np.ndarray
    wanted: np.ndarray
    actual: np.ndarray
    rise: float | None
    settling: float | None
    overshoot: float
    error: float
    fastest: float
    effort: float
    energy: float | None


def step_response(session: Session, joint: str, by: float, seconds: float) -> StepResponse:
    """Steps the target of a joint by ``by`` [rad or m], and runs for ``seconds``.

    Args:
        session: A session; it is left at the end of the step.
        joint: A joint of one degree of freedom with a target, or ``joint.dof``.
        by: The step.
        seconds: Simulated time.

    Raises:
        SceneError: If the joint has no target, or the step leaves its range.
    """
    world, signals = session.world, session.signals
    dof = world.single_dof(joint)
    name = world.dof_name(dof)
    if f"{name}.target" not in signals:
        raise SceneError(
            f"joint {name!r} has no target that could step.",
            hint="Give it a servo, or a smart_servo in mode position.",
        )
    body = int(world.dof_body[dof])
    place = int(world.qadr[body]) + dof - int(world.vadr[body])
    state = session.state
    start = float(state.q[place])
    lo, hi = float(world.dof_lo[dof]), float(world.dof_hi[dof])
    if by == 0.0 or not lo <= start + by <= hi:
        unit = "rad" if world.dof_is_angle(dof) else "m"
        begin, change, low, high = (format_value(value, unit) for value in (start, by, lo, hi))
        raise SceneError(
            f"a step from {begin} by {change} leaves the range of {name!r}, {low} to {high}."
            if by else "a step must not be 0.",
        )  # fmt: skip
    meter = f"{name}.energy"
    before = session[meter] if meter in signals else None
    session[f"{name}.target"] = start + by
    count = max(round(seconds / session.cycle.h), 1)
    actual, speeds, efforts = np.empty(count + 1), np.empty(count), np.empty(count)
    actual[0] = start
    for n in range(count):
        session.step()
        state = session.state
        actual[n + 1], speeds[n] = state.q[place], state.v[dof]
        efforts[n] = state.report.effort[dof]
    time = session.cycle.h * np.arange(count + 1)
    done = (actual - start) / by
    outside = np.flatnonzero(np.abs(done - 1.0) > SETTLING_BAND)
    settled = int(outside[-1]) + 1 if len(outside) else 0
    return StepResponse(
        time=time,
        wanted=np.full(count + 1, start + by),
        actual=actual,
        rise=_rise(time, done),
        settling=float(time[settled]) if settled <= count else None,
        overshoot=max(float(done.max()) - 1.0, 0.0),
        error=float(start + by - actual[-1]),
        fastest=float(np.abs(speeds).max()),
        effort=float(np.abs(efforts).max()),
        energy=None if before is None else session[meter] - before,
    )


def _rise(time: np.ndarray, done: np.ndarray) -> float | None:
    """Time between the first crossings of 10 and 90 %, interpolated linearly between samples."""
    if done.max() < 0.9:
        return None
    passes = []
    for share in (0.1, 0.9):
        n = int(np.argmax(done >= share))
        part = (share - done[n - 1]) / (done[n] - done[n - 1])
        passes.append(time[n - 1] + part * (time[n] - time[n - 1]))
    return float(passes[1] - passes[0])


__all__ = ["StepResponse", "step_response"]
