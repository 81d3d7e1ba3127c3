"""Motor: turns a joint at a wanted speed."""

from __future__ import annotations

from typing import ClassVar

from linkwork.actuators.drives import DriveParams, Drives, Gain
from linkwork.actuators.kernels import drive_motors
from linkwork.state import State


class MotorParams(DriveParams):
    """Parameters of ``Motor``.

    Attributes:
        gain: Effort per missing speed [N m s/rad or N s/m].
    """

    gain: Gain = 1.0


class Motor(Drives):
    """Velocity motors: ``<joint>.target_speed`` [rad/s or m/s] in, with its sign.

    The effort is gain·(w − v), within ±max_effort, with w the target speed within the joint's
    max_speed; engines integrate it implicitly.
    """

    type: ClassVar[str] = "motor"
    form = MotorParams
    inputs = ("target_speed",)
    gains = ("gain",)

    def offer(self, number: int, unit: str, effort: str) -> None:  # noqa: D102
        fastest = float(self.world.dof_speed[self.dofs[number]])
        self.offer_input(number, "target_speed", f"{unit}/s", -fastest, fastest)
        super().offer(number, unit, effort)

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        fastest = self.world.dof_speed[self.dofs].reshape(-1, 1)
        self._tables = state.data, self._where, fastest

    def reset(self) -> None:
        """Wants every joint to stand still."""
        super().reset()
        self.state.target_speed[self.dofs] = 0.0

    def drive(self, step: int) -> None:  # noqa: D102
        drive_motors(self._stride, *self._tables)
