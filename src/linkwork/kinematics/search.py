"""Search: the posture that fulfils tasks, or the nearest one, from many starts."""

from __future__ import annotations

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import chain_kernels, solve_kernels
from linkwork.kinematics.chain import Chain
from linkwork.kinematics.problem import Problem

# Measured on iiwa and Panda: damping weight and floor, steps without progress, what progress is.
_WEIGHT, _FLOOR, _PATIENCE, _PROGRESS = 3e-2, 1e-10, 2.0, 0.9
_SPREAD = 0.3
# Out of reach: from the nearest posture on to the nearest there is.
_AGAIN = np.array([300.0, 12.0, 1.0, 1e-8, _SPREAD, 20.0, 1.0 - 1e-7])
_ON = np.array([300.0, 1.0, *_AGAIN[2:]])


class Search:
    """Searches a problem, along its chain where it is one.

    Args:
        problem: The tasks.
        chain: The chain, if the problem is one whole pose of it.
        near: Errors [m, rad] from which that pose counts as reached.
        seed: Of the random starts.
    """

    def __init__(
        self, problem: Problem, chain: Chain | None, near: tuple[float, float], seed: int
    ) -> None:
        self._problem, self._chain, self._near = problem, chain, near
        self._seed = np.array([seed * 2654435761 % (1 << 63) or 1], np.uint64)
        self._made: dict[tuple[int, int], np.ndarray] = {}
        self._again = self._along(_AGAIN)

    def settings(self, iterations: int, starts: int) -> np.ndarray:
        """How the kernels search, for so many steps from so many starts."""
        made = self._made.get((iterations, starts))
        if made is None:
            if iterations < 1 or starts < 1:
                raise LinkworkError("iterations and starts must be 1 or above.")
            made = np.array(
                [iterations, starts, _WEIGHT, _FLOOR, _SPREAD, _PATIENCE, _PROGRESS], np.float64
            )
            if self._chain is not None:
                made = self._along(made)
            self._made[iterations, starts] = made
        return made

    def _along(self, settings: np.ndarray) -> np.ndarray:
        """Settings as the kernels of chains take them."""
        return np.array([*settings[:4], *self._near, *settings[5:]])

    def run(self, q: np.ndarray, iterations: int, starts: int) -> np.ndarray:
        """Moves ``q``; tells: reached, iterations, starts, and a pose's error, distance, angle."""
        if self._chain is not None:
            found = np.zeros((1, 6))
            self.run_poses(self._chain.target, q[None], found, iterations, starts)
            return found[0]
        found, settings = np.zeros(6), self.settings(iterations, starts)
        self._turn(settings, q, found)
        if not found[0]:
            steps, tried = found[1], found[2]
            self._turn(_AGAIN, q, found)
            found[1:3] = found[1] + steps, tried
        return found

    def settle(self, q: np.ndarray, *, whole: bool = False) -> float:
        """Moves ``q`` from next to what is wanted on to it; tells the squared error.

        Args:
            q: Coordinates.
            whole: Whether to go on to the nearest posture, where it is out of reach.
        """
        found = np.zeros(6)
        self._turn(_ON if whole else self.settings(40, 1), q, found)
        return float(found[3])

    def _turn(self, settings: np.ndarray, q: np.ndarray, found: np.ndarray) -> None:
        problem = self._problem
        solve_kernels.search(
            problem.ints, problem.reals, problem.work, self._seed, settings, q, found
        )

    def run_poses(
        self, poses: np.ndarray, q: np.ndarray, found: np.ndarray, iterations: int, starts: int
    ) -> None:
        """Moves each row of ``q`` (m×nq) along the chain to a row of ``poses`` (m×7)."""
        chain = self._chain
        assert chain is not None
        settings = self.settings(iterations, starts)
        values = q if chain.is_all else np.ascontiguousarray(q[:, chain.coordinates])
        chain_kernels.search_poses(
            chain.links, poses, chain.easy, self._seed, settings, self._again, chain.goal,
            chain.scratch, values, found,
        )  # fmt: skip
        if not chain.is_all:
            q[:, chain.coordinates] = values
