"""Fit search: least-squares search of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from linkwork.components.actuators.fit_trial import Trial
from linkwork.core.errors import LinkworkError, SceneError

#: Number of trial values, from the lowest to the highest, for a parameter that was 0.
_COARSE_POINTS = 16
#: Population for finding a start: members per parameter, generations, and crossover rate.
_POPULATION, GENERATIONS, _ACCEPTED = 12, 40, 0.9
#: Walkers: number per parameter, steps, and steps discarded at the beginning.
_WALKERS, STEPS, _FIRST = 4, 150, 50


def coarse_search(trial: Trial) -> np.ndarray | None:
    """Better values for parameters that were 0, one after the other; None if there are none."""
    fresh = [n for n, each in enumerate(trial.numbers) if each.from_zero]
    if not fresh:
        return None
    best = trial.given.copy()
    for n in fresh:
        costs = []
        tries = np.linspace(trial.low[n], trial.high[n], _COARSE_POINTS)
        for tried in tries:
            best[n] = tried
            costs.append(trial.cost(best))
        best[n] = tries[int(np.argmin(costs))]
    return best


def differential_evolution(
    trial: Trial, x: np.ndarray, around: float, progress: Callable[[int], object]
) -> np.ndarray:
    """The best of a population around x, by differential evolution (Storn and Price 1997).

    It begins with each parameter up to ``around`` times as large or small, and x itself. A child
    takes on average ``_ACCEPTED`` of its parameters from another member plus the difference of two
    more. It stops when all members are as good as the best, within a tenth of a reading's variance.
    """
    chance, many, wide = np.random.default_rng(len(x)), _POPULATION * len(x), math.log(around)
    spread = chance.uniform(-wide, wide, (many, len(x)))
    spread[0] = spread[:, -1] = 0.0
    population = np.clip(x + spread, trial.low, trial.high)
    costs = np.array([trial.cost(each) for each in population])
    for generation in range(GENERATIONS):
        progress(generation)
        for n in range(many):
            one, two, three = population[chance.choice(many, 3, replace=False)]
            child = one + chance.uniform(0.4, 0.9) * (two - three)
            child = np.clip(child, trial.low, trial.high)
            child = np.where(chance.random(len(x)) < _ACCEPTED, child, population[n])
            cost = trial.cost(child)
            if cost < costs[n]:
                population[n], costs[n] = child, cost
        if costs.max() <= costs.min() * (1.0 + 0.1 / len(trial.time)):
            break
    return population[int(np.argmin(costs))]


def sample_likely(
    trial: Trial,
    x: np.ndarray,
    spread: np.ndarray,
    variance: float,
    progress: Callable[[int], object],
) -> tuple[np.ndarray, np.ndarray]:
    """Points distributed by their likelihood with readings of that variance, and the best point.

    Walkers begin around x, within ``spread``. Each proposal is the difference of two others,
    accepted with the ratio of the likelihoods (differential evolution Markov chain, ter Braak
    2006), so that valleys of any form, edges and bounds are represented.

    Returns:
        The points (n×len(x)), and the best one found.
    """
    size = len(x)
    chance, many = np.random.default_rng(size), _WALKERS * size
    population = np.clip(x + spread * chance.normal(size=(many, size)), trial.low, trial.high)
    population[0] = x
    costs = np.array([trial.cost(each) for each in population])
    best, least = x, float(costs[0])
    met = []
    for step in range(STEPS):
        progress(step)
        far = 1.0 if step % 10 == 9 else 2.38 / math.sqrt(2.0 * size)
        for n in range(many):
            one, two = population[chance.choice(many, 2, replace=False)]
            tried = population[n] + far * (one - two) + chance.normal(0.0, 1e-4, size)
            if (tried < trial.low).any() or (tried > trial.high).any():
                continue
            cost = trial.cost(tried)
            if math.log(1.0 - chance.random()) < 0.5 * (costs[n] - cost) / variance:
                population[n], costs[n] = tried, cost
            if cost < least:
                best, least = tried, cost
        if step >= _FIRST:
            met.append(population.copy())
    return np.concatenate(met), best


_MAX_RESTARTS = 40


def descend(trial: Trial, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg-Marquardt within bounds; returns the point and its residuals.

    Raises:
        LinkworkError: If the servo cannot be simulated at the start.
    """
    residual = trial.residual(x)
    damp, cost = 1e-2, float(residual @ residual)
    if not math.isfinite(cost) or cost >= 1e6:
        words = "the servo cannot be simulated with the parameters to start from"
        try:
            trial.simulated(x)
        except SceneError as error:
            raise LinkworkError(f"{words}: {error.message}", hint=error.hint) from None
        raise LinkworkError(f"{words}.", hint="Give a valid model with --model.")
    for _ in range(_MAX_RESTARTS):
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
            x, residual = _perturbed(trial, x, residual)
            if float(residual @ residual) > (1.0 - 1e-4) * cost:
                break
            cost, damp = float(residual @ residual), 1e-2
    return x, residual


def _perturbed(trial: Trial, x: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best of some neighbors: stiction makes edges at which a descent stops."""
    best, chance = float(residual @ residual), np.random.default_rng(len(x))
    for width in (0.1, 0.03, 0.01):
        for _ in range(3 * len(x)):
            tried = np.clip(x + chance.normal(0.0, width, len(x)), trial.low, trial.high)
            found = trial.residual(tried)
            if float(found @ found) < best:
                x, residual, best = tried, found, float(found @ found)
    return x, residual
