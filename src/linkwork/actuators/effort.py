"""Effort: puts a wanted torque or force on a joint."""

from __future__ import annotations

from typing import ClassVar

from linkwork.actuators.drives import Drives
from linkwork.actuators.kernels import drive_efforts


class Effort(Drives):
    """Efforts passed on as they are: ``<joint>.target_effort`` [N m or N], within ±max_effort."""

    type: ClassVar[str] = "effort"
    inputs = ("target_effort",)

    def offer(self, number: int, unit: str, effort: str) -> None:  # noqa: D102
        most = self.max_effort(number)
        self.offer_input(number, "target_effort", effort, -most, most)
        super().offer(number, unit, effort)

    def reset(self) -> None:
        """Wants no effort."""
        super().reset()
        self.state.target_effort[self.dofs] = 0.0

    def drive(self, step: int) -> None:  # noqa: D102
        drive_efforts(self._stride, self.state.data, self._where)
