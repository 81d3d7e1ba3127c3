"""Foreign: bodies that other engines move, as infinite masses of a MuJoCo model."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.engines.mujoco import kernels
from linkwork.engines.mujoco.model import Model


class Foreign:
    """Leads the infinite masses through each step as their engines move them.

    Args:
        model: The MuJoCo model.
        data: Its MjData.
        com: Centres of mass of all bodies (nb×3) [m].
        ahead: Mask over bodies of those whose engine has its turn before this one.
        last: Their speeds in the step before (n×6); remembered in the state.
    """

    def __init__(
        self, model: Model, data: Any, com: np.ndarray, ahead: np.ndarray, last: np.ndarray
    ) -> None:
        self._bodies, self._com, self._last = model.foreign, com, last
        self._ahead = ahead[model.foreign]
        self._start, self._end = last.copy(), last.copy()
        self._places = (model.foreign, model.foreign_q, model.foreign_v)
        self._arrays = (model.heavy, data.qpos, data.qvel, data.qfrc_applied)

    def __len__(self) -> int:
        return len(self._bodies)

    def reset(self, pose: np.ndarray, twist: np.ndarray) -> None:
        """Starts to remember, from all bodies as they stand."""
        kernels.foreign_speeds(self._bodies, pose, twist, self._com, self._last)

    def look(
        self, seen_pose: np.ndarray, seen_twist: np.ndarray, pose: np.ndarray, h: float
    ) -> None:
        """Finds how they go through this step, from where all stood at its start."""
        kernels.foreign_speeds(self._bodies, seen_pose, seen_twist, self._com, self._start)
        kernels.foreign_motion(
            self._bodies, self._ahead, seen_pose, pose, self._last, h, self._start, self._end
        )

    def enter(self, seen_pose: np.ndarray, h: float) -> None:
        """Writes them into MuJoCo's arrays."""
        kernels.place_foreign(*self._places, seen_pose, self._start, self._end, h, *self._arrays)

    def remember(self) -> None:
        """Keeps their speeds for the next step, once this one has succeeded."""
        self._last[:] = np.where(self._ahead[:, None], self._end, self._start)
