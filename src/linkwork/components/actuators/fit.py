"""Fit of servo parameters to a measured response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.components.actuators.fit_search import (
    GENERATIONS,
    STEPS,
    coarse_search,
    descend,
    differential_evolution,
    sample_likely,
)
from linkwork.components.actuators.fit_trial import COUPLED, FITTABLE, FitParameter, Trial
from linkwork.components.actuators.smart_params import unused_params
from linkwork.core.errors import SceneError, not_found

#: Initial widths of populations around the given values, as factors.
_SEARCH_WIDTH = (4.0, 8.0)
#: Difference for estimating the curvature of a parameter, wide enough to smooth over edges.
_CURVATURE_STEP = 0.05
#: Number of rounds of a fit, for its progress.
_TOTAL = len(_SEARCH_WIDTH) * GENERATIONS + STEPS
#: Relative distance to a bound below which a value has no interval.
_EDGE = 0.05


@dataclass(frozen=True)
class Fitted:
    """One fitted parameter.

    Attributes:
        name: Parameter of ``smart_servo``, or ``slope``, ``margin``, ``inertia``, ``delay``,
            ``load``.
        value: Value in SI units.
        deviation: Half of the 95 % interval, in the same unit; inf if the data do not determine it.
        at_bound: Whether it is at a bound of the allowed range.
    """

    name: str
    value: float
    deviation: float
    at_bound: bool


@dataclass(frozen=True)
class Fit:
    """Result of a fit.

    Attributes:
        found: The fitted parameters.
        params: All parameters of the servo, including the fitted ones.
        inertia: Inertia of the flywheel [kg m²].
        angle: Angle of the fitted servo at the times of the measurement [rad].
        rms: Root of the mean squared difference [rad].
        worst: Largest difference [rad].
        first_rms: The same before the fit [rad].
    """

    found: list[Fitted]
    params: dict[str, Any]
    inertia: float
    angle: np.ndarray
    rms: float
    worst: float
    first_rms: float


def fit_servo(
    time: np.ndarray,
    angle: np.ndarray,
    target: np.ndarray,
    params: dict[str, Any],
    free: Sequence[str],
    *,
    inertia: float,
    step: float = 0.001,
    delay: float = 0.0,
    load: float = 0.0,
    progress: Callable[[float], object] | None = None,
) -> Fit:
    """Fits ``free`` parameters of a servo to a measured response.

    Least squares by Levenberg and Marquardt in the logarithms of the parameters, so that each
    stays positive and steps are relative, in the load itself, which has a sign, and in the first
    position of the servo, since the first reading has an error, too. Steps of the encoder, margins
    and backlash make many local minima: descents start at the given values and at the best of a
    population around them, and the lowest minimum is taken. A parameter that is 0 starts both at
    its lowest value and at the best of some up to its highest. Intervals have a probability of 95 %
    with errors of the variance s² = Σr²/(n − p), larger if neighboring errors are correlated.
    Parameters that the measurement does not determine are kept.

    Args:
        time: Times of the rows [s], increasing.
        angle: Measured angles [rad].
        target: Target in each row, constant until the next [rad].
        params: Parameters to start from, in SI units.
        free: Names of the parameters to fit.
        inertia: Inertia of the flywheel [kg m²].
        step: Step of the simulation [s].
        delay: Delay between a target and its arrival at the servo [s].
        load: Constant load torque against the motion [N m].
        progress: Called with the fraction done.

    Raises:
        LinkworkError: If a parameter cannot be fitted, or there are fewer rows than parameters.
    """
    names = list(dict.fromkeys(free))
    idle = unused_params({**params, **dict.fromkeys(names, 1.0)})
    for name in names:
        if name not in FITTABLE:
            raise not_found("fitted parameter", name, FITTABLE)
        for each in COUPLED.get(name, (name,)):
            if each in idle:
                raise SceneError(f"{name} has no effect here: {idle[each]}.")
    if len(time) <= len(names) + 1:
        raise SceneError(f"{len(time)} rows are too few to find {len(names)} numbers.")
    report = progress or (lambda share: None)
    trial = Trial(
        time, angle, target, params, names, {"inertia": inertia, "delay": delay, "load": load}, step
    )
    first = float(np.sqrt(np.mean(trial.residual(trial.given) ** 2)))
    starts = _starts(trial, report)
    x, residual = min((descend(trial, x) for x in starts), key=lambda end: float(end[1] @ end[1]))
    x, points, most = _sample_spread(trial, x, residual, report)
    widths = [_width(each, x[n], points[:, n]) for n, each in enumerate(trial.numbers)]
    untold = [each.name for n, each in enumerate(trial.numbers) if math.isinf(widths[n])]
    kept = [name for name in untold if trial.cost(x, [name]) <= most]
    if trial.cost(x, kept) > most:
        kept = []
    found = [
        Fitted(
            each.name, each.value(float(x[n])), widths[n],
            bool(x[n] <= trial.low[n] + 1e-6 or x[n] >= trial.high[n] - 1e-6),
        )
        for n, each in enumerate(trial.numbers)
    ]  # fmt: skip
    made, test = trial.split(x, kept)
    residual = trial.residual(x, kept)
    return Fit(
        found, made, test["inertia"], angle + residual, float(np.sqrt(np.mean(residual**2))),
        float(np.abs(residual).max()), first,
    )  # fmt: skip


def _starts(trial: Trial, report: Callable[[float], object]) -> list[np.ndarray]:
    """Returns the starts of descents: the given values, an estimate, and those of populations."""
    glanced = coarse_search(trial)
    starts = [trial.given] if glanced is None else [trial.given, glanced]
    base = starts[-1]
    for n, around in enumerate(_SEARCH_WIDTH):
        before = n * GENERATIONS

        def progress(count: int, before: int = before) -> None:
            report((before + count) / _TOTAL)

        starts.append(differential_evolution(trial, base, around, progress))
    return starts


def _sample_spread(
    trial: Trial, x: np.ndarray, residual: np.ndarray, report: Callable[[float], object]
) -> tuple[np.ndarray, np.ndarray, float]:
    """The best point, likely points around it, and the cost below which a point is equivalent.

    If a lower minimum is found meanwhile, the interval is around that.
    """
    again = 2
    while True:
        cost = float(residual @ residual)
        variance = (
            max(cost / max(len(residual) - len(x), 1), 1e-20) * _correlation_factor(residual) ** 2
        )
        points, better = sample_likely(
            trial, x, _spread(trial, x, variance), variance,
            lambda count: report((len(_SEARCH_WIDTH) * GENERATIONS + count) / _TOTAL),
        )  # fmt: skip
        if not again or trial.cost(better) >= cost - variance:
            return x, points, cost + variance
        x, residual = descend(trial, better)
        again -= 1


def _spread(trial: Trial, x: np.ndarray, variance: float) -> np.ndarray:
    """Deviations of x estimated from the curvature: initial distances of the walkers."""
    jacobian = trial.jacobian(x, _CURVATURE_STEP)
    curvature = np.maximum(np.einsum("ij,ij->j", jacobian, jacobian), 1e-30)
    return np.clip(np.sqrt(variance / curvature), 1e-3, 1.0)


def _width(number: FitParameter, x: float, points: np.ndarray) -> float:
    """Returns half of the 95 % interval, on the wider side of ``x``.

    Infinite if it reaches the upper bound, or the lower bound of a signed parameter.
    """
    low, high = np.quantile(points, (0.025, 0.975))
    lowest, highest = number.x(number.low), number.x(number.high)
    near = _EDGE * (highest - lowest)
    if high > highest - near or (number.unit and low < lowest + near):
        return math.inf
    value = number.value(x)
    return max(number.value(float(high)) - value, value - number.value(float(low)))


def _correlation_factor(residual: np.ndarray) -> float:
    """Returns the factor of intervals for correlated neighboring errors: √((1 + ρ)/(1 − ρ)).

    ρ is the correlation of neighbors; n readings are worth n (1 − ρ)/(1 + ρ) independent ones.
    """
    together = float(residual[1:] @ residual[:-1]) / max(float(residual @ residual), 1e-300)
    rho = min(max(together, 0.0), 0.95)
    return math.sqrt((1.0 + rho) / (1.0 - rho))
