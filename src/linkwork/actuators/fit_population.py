"""Populations: points that look together for the best one, and for all that are likely."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from linkwork.actuators.fit_trial import Trial

#: How many values are looked at, from the lowest to the highest, of what was 0.
_GLANCES = 16
#: Of the population that looks for a place to start: members for each number, generations, and how
#: much of a child is new.
_POPULATION, GENERATIONS, _TAKEN = 12, 40, 0.9
#: Of the walkers: how many for each number, steps, and how many of these at first do not count.
_WALKERS, STEPS, _FIRST = 4, 150, 50


def glance(trial: Trial) -> np.ndarray | None:
    """Better places for what was 0, one after the other; None if nothing was."""
    fresh = [n for n, each in enumerate(trial.numbers) if each.from_zero]
    if not fresh:
        return None
    best = trial.given.copy()
    for n in fresh:
        costs = []
        tries = np.linspace(trial.low[n], trial.high[n], _GLANCES)
        for tried in tries:
            best[n] = tried
            costs.append(trial.cost(best))
        best[n] = tries[int(np.argmin(costs))]
    return best


def evolved(
    trial: Trial, x: np.ndarray, around: float, tell: Callable[[int], object]
) -> np.ndarray:
    """The best of a population around x, by differential evolution (Storn and Price 1997).

    It begins with each number up to ``around`` times as large or small, and x itself. A child takes
    on average ``_TAKEN`` of its numbers from another one and the difference of two more. Once all
    are as good as the best, by a tenth of a reading's variance, there is no more to find.
    """
    chance, many, wide = np.random.default_rng(len(x)), _POPULATION * len(x), math.log(around)
    spread = chance.uniform(-wide, wide, (many, len(x)))
    spread[0] = spread[:, -1] = 0.0
    people = np.clip(x + spread, trial.low, trial.high)
    costs = np.array([trial.cost(each) for each in people])
    for generation in range(GENERATIONS):
        tell(generation)
        for n in range(many):
            one, two, three = people[chance.choice(many, 3, replace=False)]
            child = one + chance.uniform(0.4, 0.9) * (two - three)
            child = np.clip(child, trial.low, trial.high)
            child = np.where(chance.random(len(x)) < _TAKEN, child, people[n])
            cost = trial.cost(child)
            if cost < costs[n]:
                people[n], costs[n] = child, cost
        if costs.max() <= costs.min() * (1.0 + 0.1 / len(trial.time)):
            break
    return people[int(np.argmin(costs))]


def likely(
    trial: Trial, x: np.ndarray, spread: np.ndarray, variance: float, tell: Callable[[int], object]
) -> tuple[np.ndarray, np.ndarray]:
    """Points as frequent as they are likely with readings of that variance, and the best of all.

    Walkers begin around x, as far as ``spread``. Each goes by the difference of two others, and
    is taken there with the ratio of the likelihoods (differential evolution Markov chain, ter Braak
    2006), so that valleys of any form, edges and bounds are seen as they are.

    Returns:
        The points (n×len(x)), and the best that was met.
    """
    size = len(x)
    chance, many = np.random.default_rng(size), _WALKERS * size
    people = np.clip(x + spread * chance.normal(size=(many, size)), trial.low, trial.high)
    people[0] = x
    costs = np.array([trial.cost(each) for each in people])
    best, least = x, float(costs[0])
    met = []
    for step in range(STEPS):
        tell(step)
        far = 1.0 if step % 10 == 9 else 2.38 / math.sqrt(2.0 * size)
        for n in range(many):
            one, two = people[chance.choice(many, 2, replace=False)]
            tried = people[n] + far * (one - two) + chance.normal(0.0, 1e-4, size)
            if (tried < trial.low).any() or (tried > trial.high).any():
                continue
            cost = trial.cost(tried)
            if math.log(1.0 - chance.random()) < 0.5 * (costs[n] - cost) / variance:
                people[n], costs[n] = tried, cost
            if cost < least:
                best, least = tried, cost
        if step >= _FIRST:
            met.append(people.copy())
    return np.concatenate(met), best
