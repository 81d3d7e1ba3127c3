"""Fit: finds the parameters with which a servo's response is nearest to a measured one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.actuators.fit_descent import descend
from linkwork.actuators.fit_numbers import FITTABLE, TOGETHER, Number
from linkwork.actuators.fit_population import GENERATIONS, STEPS, evolved, glance, likely
from linkwork.actuators.fit_trial import Trial
from linkwork.actuators.smart_params import without_effect
from linkwork.errors import SceneError, not_found

#: How far around the given values a population begins, as factors.
_AROUND = (4.0, 8.0)
#: Over which difference of a number its curvature is judged: edges at the best are none.
_OVER = 0.05
#: Rounds of a fit: what its progress is told in.
_TOTAL = len(_AROUND) * GENERATIONS + STEPS
#: How near to the end of what is allowed, as a share, an interval has none.
_EDGE = 0.05


@dataclass(frozen=True)
class Fitted:
    """One number that was found.

    Attributes:
        name: Parameter of ``smart_servo``, or ``slope``, ``margin``, ``inertia``, ``delay``,
            ``load``.
        value: In SI units.
        deviation: Half of the 95 % interval, in the same unit; endless if the data tell nothing.
        at_bound: Whether it lies at the end of what was allowed.
    """

    name: str
    value: float
    deviation: float
    at_bound: bool


@dataclass(frozen=True)
class Fit:
    """What a fit found.

    Attributes:
        found: The numbers.
        params: All parameters of the servo with them.
        inertia: Of the flywheel [kg m²].
        angle: Of the fitted servo at the times of the measurement [rad].
        rms: Root of the mean squared difference [rad].
        worst: Largest difference [rad].
        first_rms: The same before anything was fitted [rad].
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
    tell: Callable[[float], object] | None = None,
) -> Fit:
    """Fits ``free`` parameters of a servo to what was measured.

    Least squares by Levenberg and Marquardt in the logarithms of the parameters, so that each
    stays positive and steps are relative, in the load itself, which has a sign, and in where the
    servo really stood at first, since the first reading has an error too. Steps of the encoder,
    margins and play make many valleys: the descent starts at what is given and at what a population
    around it finds, and the lower end counts. What starts at 0 starts both at its lowest value
    and at the best of some up to its highest.
    Intervals hold 95 % of what is likely with errors of the variance s² = Σr²/(n − p), larger where
    neighbouring errors are alike. What the measurement does not tell stays as given.

    Args:
        time: Of each row [s], rising.
        angle: What was measured [rad].
        target: What was wanted in that row, held until the next [rad].
        params: Parameters to start from, in SI units.
        free: Names of those that are to be found.
        inertia: Of the flywheel [kg m²].
        step: Of the simulation [s].
        delay: Between what is wanted and when the servo knows [s].
        load: Constant torque that pulls back [N m].
        tell: Told now and then which share of the work is done.

    Raises:
        LinkworkError: If a name is none that can be fitted, or there are fewer rows than numbers to
            find.
    """
    names = list(dict.fromkeys(free))
    idle = without_effect({**params, **dict.fromkeys(names, 1.0)})
    for name in names:
        if name not in FITTABLE:
            raise not_found("fitted parameter", name, FITTABLE)
        for each in TOGETHER.get(name, (name,)):
            if each in idle:
                raise SceneError(f"{name} does nothing here: {idle[each]}.")
    if len(time) <= len(names) + 1:
        raise SceneError(f"{len(time)} rows are too few to find {len(names)} numbers.")
    told = tell or (lambda share: None)
    trial = Trial(
        time, angle, target, params, names, {"inertia": inertia, "delay": delay, "load": load}, step
    )
    first = float(np.sqrt(np.mean(trial.residual(trial.given) ** 2)))
    starts = _starts(trial, told)
    x, residual = min((descend(trial, x) for x in starts), key=lambda end: float(end[1] @ end[1]))
    x, points, most = _likely(trial, x, residual, told)
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


def _starts(trial: Trial, told: Callable[[float], object]) -> list[np.ndarray]:
    """Where descents start: at what is given, at a glance, and at what populations find."""
    glanced = glance(trial)
    starts = [trial.given] if glanced is None else [trial.given, glanced]
    base = starts[-1]
    for n, around in enumerate(_AROUND):
        before = n * GENERATIONS

        def tell(count: int, before: int = before) -> None:
            told((before + count) / _TOTAL)

        starts.append(evolved(trial, base, around, tell))
    return starts


def _likely(
    trial: Trial, x: np.ndarray, residual: np.ndarray, told: Callable[[float], object]
) -> tuple[np.ndarray, np.ndarray, float]:
    """The best point, likely ones around it, and the cost up to which one is as good as the best.

    Where a lower valley turns up on the way, what is likely is so around that.
    """
    again = 2
    while True:
        cost = float(residual @ residual)
        variance = max(cost / max(len(residual) - len(x), 1), 1e-20) * _alike(residual) ** 2
        points, better = likely(
            trial, x, _spread(trial, x, variance), variance,
            lambda count: told((len(_AROUND) * GENERATIONS + count) / _TOTAL),
        )  # fmt: skip
        if not again or trial.cost(better) >= cost - variance:
            return x, points, cost + variance
        x, residual = descend(trial, better)
        again -= 1


def _spread(trial: Trial, x: np.ndarray, variance: float) -> np.ndarray:
    """Deviations of x from the curvature there: about how far the walkers begin from each other."""
    jacobian = trial.jacobian(x, _OVER)
    curvature = np.maximum(np.einsum("ij,ij->j", jacobian, jacobian), 1e-30)
    return np.clip(np.sqrt(variance / curvature), 1e-3, 1.0)


def _width(number: Number, x: float, points: np.ndarray) -> float:
    """Half of the interval that holds 95 % of what is likely, the wider side of ``x``.

    Endless where that reaches the highest that is allowed, or the lowest of what has a sign.
    """
    low, high = np.quantile(points, (0.025, 0.975))
    lowest, highest = number.x(number.low), number.x(number.high)
    near = _EDGE * (highest - lowest)
    if high > highest - near or (number.unit and low < lowest + near):
        return math.inf
    value = number.value(x)
    return max(number.value(float(high)) - value, value - number.value(float(low)))


def _alike(residual: np.ndarray) -> float:
    """How much wider intervals are because neighbouring errors are alike: √((1 + ρ)/(1 − ρ)).

    ρ is the correlation of each with the next; n readings then tell as much as n (1 − ρ)/(1 + ρ).
    """
    together = float(residual[1:] @ residual[:-1]) / max(float(residual @ residual), 1e-300)
    rho = min(max(together, 0.0), 0.95)
    return math.sqrt((1.0 + rho) / (1.0 - rho))
