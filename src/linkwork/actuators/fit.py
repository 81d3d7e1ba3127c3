"""Fit: finds the parameters with which a servo's response is nearest to a measured one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.actuators.fit_numbers import FITTABLE, TOGETHER, Number, number
from linkwork.actuators.response import respond_to
from linkwork.actuators.smart_params import SmartServoParams, without_effect
from linkwork.errors import LinkworkError, SceneError, not_found

#: Of normal errors, 95 % lie within so many deviations.
_WITHIN = 1.96
_TRIES = 40
#: How many values are looked at, from the lowest to the highest, of what was 0.
_GLANCES = 16
#: Of the population that looks for a place to start: members for each number, generations, how far
#: around it begins, and how much of a child is new.
_POPULATION, _GENERATIONS, _AROUND, _TAKEN = 12, 40, (4.0, 8.0), 0.9
#: Over which difference of a number its interval is judged: edges at the best are no curvature.
_OVER = 0.05
#: How far from the first reading the servo may have stood [rad].
_START = 0.005


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
) -> Fit:
    """Fits ``free`` parameters of a servo to what was measured.

    Least squares by Levenberg and Marquardt in the logarithms of the parameters, so that each
    stays positive and steps are relative, in the load itself, which has a sign, and in where the
    servo really stood at first, since the first reading has an error too. Steps of the encoder,
    margins and play make many valleys: the descent starts at what is given and at what a population
    around it finds, and the lower end counts. What starts at 0 starts both at its lowest value
    and at the best of some up to its highest.
    Intervals from the curvature at the best, cov = s² (JᵀJ)⁻¹ with s² = Σr²/(n − p), wider where
    neighbouring errors are alike.

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

    Raises:
        LinkworkError: If a name is none that can be fitted, or there are fewer rows than numbers to
            find.
    """
    names = list(dict.fromkeys(free))
    for name in names:
        if name not in FITTABLE:
            raise not_found("parameter to fit", name, FITTABLE)
        idle = without_effect({**params, **dict.fromkeys(names, 1.0)})
        for each in TOGETHER.get(name, (name,)):
            if each in idle:
                raise SceneError(f"{name} does nothing here: {idle[each]}.")
    if len(time) <= len(names) + 1:
        raise SceneError(f"{len(time)} rows are too few to find {len(names)} numbers.")
    test = {"inertia": inertia, "delay": delay, "load": load}
    trial = _Trial(time, angle, target, params, names, test, step)
    numbers = trial.numbers
    low = np.array([*(each.x(each.low) for each in numbers), -1.0])
    high = np.array([*(each.x(each.high) for each in numbers), 1.0])
    given = x = np.array([*(each.x(each.first) for each in numbers), 0.0])
    residual = trial.residual(x)
    first = float(np.sqrt(np.mean(residual**2)))
    glanced = _glance(trial, x, low, high)
    starts = [x] if glanced is None else [x, glanced]
    starts += [_evolved(trial, starts[-1], low, high, around) for around in _AROUND]
    ends = [_descend(trial, start, trial.residual(start), low, high) for start in starts]
    x, residual = min(ends, key=lambda end: float(end[1] @ end[1]))
    jacobian = trial.jacobian(x, low, high, _OVER)
    freedom = max(len(time) - len(x), 1)
    curvature = jacobian.T @ jacobian
    told = np.diag(curvature) > 1e-12 * max(float(np.diag(curvature).max()), 1e-30)
    spread = np.full(len(x), np.inf)
    inverse = np.linalg.pinv(curvature[np.ix_(told, told)])
    spread[told] = np.sqrt(np.diag(inverse) * float(residual @ residual) / freedom)
    spread *= _alike(residual)
    for n in np.flatnonzero(~told):  # it stays as it was given, where that is as good
        back = x.copy()
        back[n] = given[n]
        if trial.cost(back) <= float(residual @ residual) * (1.0 + 1e-9):
            x, residual = back, trial.residual(back)
    found = [
        Fitted(
            each.name, each.value(float(x[n])), each.width(float(x[n]), _WITHIN * float(spread[n])),
            bool(x[n] <= low[n] + 1e-6 or x[n] >= high[n] - 1e-6),
        )
        for n, each in enumerate(numbers)
    ]  # fmt: skip
    made, test = trial.split(x)
    return Fit(
        found, made, test["inertia"], angle + residual, float(np.sqrt(np.mean(residual**2))),
        float(np.abs(residual).max()), first,
    )  # fmt: skip


def _alike(residual: np.ndarray) -> float:
    """How much wider intervals are because neighbouring errors are alike: √((1 + ρ)/(1 − ρ)).

    ρ is the correlation of each with the next; n readings then tell as much as n (1 − ρ)/(1 + ρ).
    """
    together = float(residual[1:] @ residual[:-1]) / max(float(residual @ residual), 1e-300)
    rho = min(max(together, 0.0), 0.95)
    return math.sqrt((1.0 + rho) / (1.0 - rho))


class _Trial:
    """The servo with numbers that are tried, against the measurement."""

    def __init__(
        self, time: np.ndarray, angle: np.ndarray, target: np.ndarray, params: dict[str, Any],
        names: list[str], test: dict[str, float], step: float,
    ) -> None:  # fmt: skip
        self.params, self.test, self.step = params, test, step
        self.time, self.angle = time - time[0], angle
        count = math.ceil(self.time[-1] / step) + 1
        rows = np.searchsorted(self.time, step * np.arange(count) + 1e-9, side="right") - 1
        self.targets = target[rows]
        self.numbers: list[Number] = [number(name, self._first(name), params) for name in names]

    def _first(self, name: str) -> float:
        if name in self.test:
            return max(self.test[name], 1e-3) if name == "delay" else self.test[name]
        one = TOGETHER.get(name, (name,))[0]
        given = self.params.get(one)
        if given is None:
            usual = SmartServoParams(joint="J")
            given = {
                "max_speed": self._fastest(), "max_acceleration": self._hardest(),
                "supply": self.params.get("voltage", usual.voltage),
            }.get(one, getattr(usual, one))  # fmt: skip
        if not isinstance(given, int | float):
            raise SceneError(f"{name} is no number that could be fitted.")
        if name == "free_speed":
            given = max(given, self._fastest())
        return float(given)

    def _fastest(self) -> float:
        return max(float(np.abs(np.diff(self.angle) / np.diff(self.time)).max()), 1e-3)

    def _hardest(self) -> float:
        speed = np.diff(self.angle) / np.diff(self.time)
        return max(float(np.abs(np.diff(speed)).max() / np.diff(self.time).mean()), 1e-3)

    def split(self, x: np.ndarray) -> tuple[dict[str, Any], dict[str, float]]:
        """Parameters of the servo, and of the test, with the values that are tried."""
        params, test = dict(self.params), dict(self.test)
        for tried, count in zip(self.numbers, x[:-1].tolist(), strict=True):
            name, value = tried.name, tried.value(count)
            if name in test:
                test[name] = value
            for each in TOGETHER.get(name, () if name in test else (name,)):
                params[each] = value
        return params, test

    def residual(self, x: np.ndarray) -> np.ndarray:
        """Simulated minus measured angle in each row [rad]."""
        params, test = self.split(x)
        start = float(self.angle[0] + _START * x[-1])
        try:
            made = respond_to(
                self.targets, params, inertia=test["inertia"], step=self.step,
                start=start, load=test["load"],
            )  # fmt: skip
        except SceneError:  # a motor that cannot be
            return np.full(len(self.time), 1e3)
        when = np.maximum(self.time - test["delay"], 0.0)
        time, way = np.append(0.0, made.time), np.append(start, made.angle)
        return np.interp(when, time, way) - self.angle

    def cost(self, x: np.ndarray) -> float:
        """Sum of the squared residuals [rad²]."""
        residual = self.residual(x)
        return float(residual @ residual)

    def jacobian(
        self, x: np.ndarray, low: np.ndarray, high: np.ndarray, by: float = 0.01
    ) -> np.ndarray:
        """How the residuals change with each x, by central differences."""
        columns = []
        for n in range(len(x)):
            up, down = x.copy(), x.copy()
            up[n], down[n] = min(x[n] + by, high[n]), max(x[n] - by, low[n])
            columns.append((self.residual(up) - self.residual(down)) / (up[n] - down[n]))
        return np.array(columns).T


def _evolved(
    trial: _Trial, x: np.ndarray, low: np.ndarray, high: np.ndarray, around: float
) -> np.ndarray:
    """The best of a population around x, by differential evolution (Storn and Price 1997).

    It begins with each number up to ``around`` times as large or small, and x itself. A child takes
    on average ``_TAKEN`` of its numbers from another one and the difference of two more.
    """
    chance, many, wide = np.random.default_rng(len(x)), _POPULATION * len(x), math.log(around)
    spread = chance.uniform(-wide, wide, (many, len(x)))
    spread[0] = spread[:, -1] = 0.0
    people = np.clip(x + spread, low, high)
    costs = np.array([trial.cost(each) for each in people])
    for _ in range(_GENERATIONS):
        for n in range(many):
            one, two, three = people[chance.choice(many, 3, replace=False)]
            child = one + chance.uniform(0.4, 0.9) * (two - three)
            child = np.where(chance.random(len(x)) < _TAKEN, np.clip(child, low, high), people[n])
            cost = trial.cost(child)
            if cost < costs[n]:
                people[n], costs[n] = child, cost
    return people[int(np.argmin(costs))]


def _glance(trial: _Trial, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    """Better places for what was 0, one after the other; None if nothing was."""
    fresh = [n for n, each in enumerate(trial.numbers) if each.from_zero]
    if not fresh:
        return None
    best = x.copy()
    for n in fresh:
        costs = []
        tries = np.linspace(low[n], high[n], _GLANCES)
        for tried in tries:
            best[n] = tried
            residual = trial.residual(best)
            costs.append(float(residual @ residual))
        best[n] = tries[int(np.argmin(costs))]
    return best


def _descend(
    trial: _Trial, x: np.ndarray, residual: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg-Marquardt within bounds."""
    damp, cost = 1e-2, float(residual @ residual)
    if not math.isfinite(cost) or cost >= 1e6:
        raise LinkworkError(
            "the servo cannot be simulated with the parameters to start from.",
            hint="Give a model that can be with --model.",
        )
    for _ in range(_TRIES):
        jacobian = trial.jacobian(x, low, high)
        slope, curvature = jacobian.T @ residual, jacobian.T @ jacobian
        before = cost
        for _ in range(12):
            scaled = curvature + damp * np.diag(np.maximum(np.diag(curvature), 1e-12))
            move = np.clip(np.linalg.solve(scaled, -slope), -1.0, 1.0)
            tried = np.clip(x + move, low, high)
            found = trial.residual(tried)
            if float(found @ found) < cost:
                x, residual, cost, damp = tried, found, float(found @ found), damp / 5.0
                break
            damp *= 4.0
        if cost > (1.0 - 1e-7) * before:
            x, residual = _shaken(trial, x, residual, low, high)
            if float(residual @ residual) > (1.0 - 1e-4) * cost:
                break
            cost, damp = float(residual @ residual), 1e-2
    return x, residual


def _shaken(
    trial: _Trial, x: np.ndarray, residual: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best of some neighbours: friction that sticks makes edges at which a descent stops."""
    best, chance = float(residual @ residual), np.random.default_rng(len(x))
    for width in (0.1, 0.03, 0.01):
        for _ in range(3 * len(x)):
            tried = np.clip(x + chance.normal(0.0, width, len(x)), low, high)
            found = trial.residual(tried)
            if float(found @ found) < best:
                x, residual, best = tried, found, float(found @ found)
    return x, residual
