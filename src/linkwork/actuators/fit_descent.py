"""Descent: from a point to the lowest one around, by least squares."""

from __future__ import annotations

import math

import numpy as np

from linkwork.actuators.fit_trial import Trial
from linkwork.errors import LinkworkError, SceneError

_TRIES = 40


def descend(trial: Trial, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg-Marquardt within bounds; returns the point and its residuals.

    Raises:
        LinkworkError: If the servo cannot be simulated where it starts.
    """
    residual = trial.residual(x)
    damp, cost = 1e-2, float(residual @ residual)
    if not math.isfinite(cost) or cost >= 1e6:
        words = "the servo cannot be simulated with the parameters to start from"
        try:
            trial.simulated(x)
        except SceneError as error:
            raise LinkworkError(f"{words}: {error.message}", hint=error.hint) from None
        raise LinkworkError(f"{words}.", hint="Give a model that can be with --model.")
    for _ in range(_TRIES):
        jacobian = trial.jacobian(x)
        slope, curvature = jacobian.T @ residual, jacobian.T @ jacobian
        before = cost
        for _ in range(12):
            scaled = curvature + damp * np.diag(np.maximum(np.diag(curvature), 1e-12))
            move = np.clip(np.linalg.solve(scaled, -slope), -1.0, 1.0)
            tried = np.clip(x + move, trial.low, trial.high)
            found = trial.residual(tried)
            if float(found @ found) < cost:
                x, residual, cost, damp = tried, found, float(found @ found), damp / 5.0
                break
            damp *= 4.0
        if cost > (1.0 - 1e-7) * before:
            x, residual = _shaken(trial, x, residual)
            if float(residual @ residual) > (1.0 - 1e-4) * cost:
                break
            cost, damp = float(residual @ residual), 1e-2
    return x, residual


def _shaken(trial: Trial, x: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best of some neighbours: friction that sticks makes edges at which a descent stops."""
    best, chance = float(residual @ residual), np.random.default_rng(len(x))
    for width in (0.1, 0.03, 0.01):
        for _ in range(3 * len(x)):
            tried = np.clip(x + chance.normal(0.0, width, len(x)), trial.low, trial.high)
            found = trial.residual(tried)
            if float(found @ found) < best:
                x, residual, best = tried, found, float(found @ found)
    return x, residual
