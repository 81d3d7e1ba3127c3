"""Step response: a joint's target jumps, and how the joint follows is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.errors import SceneError
from linkwork.session.session import Session
from linkwork.units import in_words

#: Within this share of the step the joint counts as arrived.
BAND = 0.02


@dataclass(frozen=True)
class StepResponse:
    """How a joint followed; times from the step on.

    Attributes:
        time: [s].
        wanted, actual: Of each time [rad or m].
        rise: From 10 to 90 % of the step [s]; None if it does not get there.
        settling: Until it stays within 2 % of the step [s]; None if it does not.
        overshoot: Beyond the target, as a share of the step.
        error: What is missing at the end [rad or m].
        fastest: Highest speed [rad/s or m/s].
        effort: Largest effort [N m or N].
        energy: What its servo took from the supply [J]; None if it has no meter.
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
    """Steps the target of a joint by ``by`` [rad or m], and goes on for ``seconds``.

    Args:
        session: A session; it is left where the step ends.
        joint: A joint of one degree of freedom with a target, or ``joint.dof``.
        by: The step.
        seconds: Simulated time.

    Raises:
        SceneError: If the joint has no target, or the step leads out of its range.
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
        begin, way, low, high = (in_words(value, unit) for value in (start, by, lo, hi))
        raise SceneError(
            f"a step from {begin} by {way} leads out of the range of {name!r}, {low} to {high}."
            if by else "a step needs a way to go.",
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
    outside = np.flatnonzero(np.abs(done - 1.0) > BAND)
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
    """Time between the first passes of 10 and 90 %, between samples by straight lines."""
    if done.max() < 0.9:
        return None
    passes = []
    for share in (0.1, 0.9):
        n = int(np.argmax(done >= share))
        part = (share - done[n - 1]) / (done[n] - done[n - 1])
        passes.append(time[n - 1] + part * (time[n] - time[n - 1]))
    return float(passes[1] - passes[0])
