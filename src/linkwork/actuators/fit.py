"""Fit: finds the parameters with which a servo's response is nearest to a measured one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from linkwork.actuators.response import respond_to
from linkwork.actuators.smart_params import SmartServoParams
from linkwork.errors import LinkworkError, SceneError, not_found

#: Names of the fit's own for what is not one parameter, or none of the servo.
_TOGETHER = {"slope": ("slope_cw", "slope_ccw"), "margin": ("margin_cw", "margin_ccw")}
_OF_THE_TEST = ("inertia", "delay", "load")
#: Lowest and highest value of what is fitted; others go from a hundredth to a hundred times.
_BOUNDS = {
    "delay": (1e-4, 0.5), "friction": (1e-4, 1e2), "damping": (1e-5, 1e2), "kd": (1e-4, 1e2),
    "ki": (1e-3, 1e3), "kp": (1e-2, 1e4), "margin": (1e-4, 0.5), "slope": (1e-3, 3.0),
    "max_duty": (0.05, 1.0),
}  # fmt: skip
#: Of normal errors, 95 % lie within so many deviations.
_WITHIN = 1.96
_TRIES = 40
#: How far from the first reading the servo may have stood [rad].
_START = 0.005


@dataclass(frozen=True)
class Fitted:
    """One number that was found.

    Attributes:
        name: Parameter of ``smart_servo``, or ``slope``, ``margin``, ``inertia``, ``delay``.
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
    stays positive and steps are relative, and in where the servo really stood at first, since the
    first reading has an error too; intervals from the curvature at the best,
    cov = s² (JᵀJ)⁻¹ with s² = Σr²/(n − p).

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
        LinkworkError: If a name is none, or there are fewer rows than numbers to find.
    """
    names = list(dict.fromkeys(free))
    known = {f.name for f in msgspec.structs.fields(SmartServoParams) if f.type is not str}
    known |= {*_TOGETHER, *_OF_THE_TEST}
    for name in names:
        if name not in known:
            raise not_found("parameter to fit", name, sorted(known))
    if len(time) <= len(names) + 1:
        raise SceneError(f"{len(time)} rows are too few to find {len(names)} numbers.")
    test = {"inertia": inertia, "delay": delay, "load": load}
    trial = _Trial(time, angle, target, params, names, test, step)
    low, high = np.log(np.array([_bounds(name, trial.first[name]) for name in names])).T
    low, high = np.append(low, -1.0), np.append(high, 1.0)
    x = np.clip(np.append(np.log([trial.first[name] for name in names]), 0.0), low, high)
    residual = trial.residual(x)
    first = float(np.sqrt(np.mean(residual**2)))
    x, residual = _descend(trial, x, residual, low, high)
    jacobian = trial.jacobian(x, low, high)
    freedom = max(len(time) - len(x), 1)
    curvature = jacobian.T @ jacobian
    told = np.diag(curvature) > 1e-12 * max(float(np.diag(curvature).max()), 1e-30)
    spread = np.full(len(x), np.inf)
    inverse = np.linalg.pinv(curvature[np.ix_(told, told)])
    spread[told] = np.sqrt(np.diag(inverse) * float(residual @ residual) / freedom)
    found = [
        Fitted(
            name, math.exp(x[n]), math.exp(x[n]) * _WITHIN * float(spread[n]),
            bool(x[n] <= low[n] + 1e-6 or x[n] >= high[n] - 1e-6),
        )
        for n, name in enumerate(names)
    ]  # fmt: skip
    values = dict(zip(names, np.exp(x[:-1]), strict=True))
    made, test = trial.split(values)
    return Fit(
        found, made, test["inertia"], angle + residual, float(np.sqrt(np.mean(residual**2))),
        float(np.abs(residual).max()), first,
    )  # fmt: skip


def _bounds(name: str, first: float) -> tuple[float, float]:
    lo, hi = _BOUNDS.get(name, (first / 100.0, first * 100.0))
    return min(lo, first), max(hi, first)


class _Trial:
    """The servo with numbers that are tried, against the measurement."""

    def __init__(
        self, time: np.ndarray, angle: np.ndarray, target: np.ndarray, params: dict[str, Any],
        names: list[str], test: dict[str, float], step: float,
    ) -> None:  # fmt: skip
        self.names, self.params, self.test, self.step = names, params, test, step
        self.time, self.angle = time - time[0], angle
        count = math.ceil(self.time[-1] / step) + 1
        rows = np.searchsorted(self.time, step * np.arange(count) + 1e-9, side="right") - 1
        self.targets = target[rows]
        self.first = {name: self._first(name) for name in names}

    def _first(self, name: str) -> float:
        if name in self.test:
            return max(self.test[name], 1e-3 if name == "delay" else 1e-6)
        one = _TOGETHER.get(name, (name,))[0]
        given = self.params.get(one)
        if given is None:
            given = {"max_speed": self._fastest(), "max_acceleration": self._hardest()}.get(
                one, getattr(SmartServoParams(joint="J"), one)
            )
        if not isinstance(given, int | float):
            raise SceneError(f"{name} is no number that could be fitted.")
        if name == "free_speed":
            given = max(given, self._fastest())
        return max(float(given), _BOUNDS.get(name, (1e-9, 0.0))[0])

    def _fastest(self) -> float:
        return max(float(np.abs(np.diff(self.angle) / np.diff(self.time)).max()), 1e-3)

    def _hardest(self) -> float:
        speed = np.diff(self.angle) / np.diff(self.time)
        return max(float(np.abs(np.diff(speed)).max() / np.diff(self.time).mean()), 1e-3)

    def split(self, values: dict[str, float]) -> tuple[dict[str, Any], dict[str, float]]:
        """Parameters of the servo, and of the test, with the values that are tried."""
        params, test = dict(self.params), dict(self.test)
        for name, value in values.items():
            if name in test:
                test[name] = float(value)
            for each in _TOGETHER.get(name, () if name in test else (name,)):
                params[each] = float(value)
        return params, test

    def residual(self, x: np.ndarray) -> np.ndarray:
        """Simulated minus measured angle in each row [rad]."""
        params, test = self.split(dict(zip(self.names, np.exp(x[:-1]), strict=True)))
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

    def jacobian(self, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """How the residuals change with each logarithm, by central differences of one per cent."""
        columns = []
        for n in range(len(x)):
            up, down = x.copy(), x.copy()
            up[n], down[n] = min(x[n] + 0.01, high[n]), max(x[n] - 0.01, low[n])
            columns.append((self.residual(up) - self.residual(down)) / (up[n] - down[n]))
        return np.array(columns).T


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
