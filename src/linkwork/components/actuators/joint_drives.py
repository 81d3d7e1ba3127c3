"""Joint drives: ideal servo, motor or effort of one joint."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.components.actuators import DriveParams, Gain, JointDrive
from linkwork.components.actuators.kernels import drive_efforts, drive_motors, drive_servos
from linkwork.core.state import State
from linkwork.model.blocks import SignalSpec


class ServoParams(DriveParams):
    """Parameters of ``Servo``.

    Attributes:
        kp: Stiffness [N m/rad or N/m]. The default suits a hobby servo on a light link; a slider
            or a heavy arm needs its own.
        kd: Damping [N m s/rad or N s/m].
    """

    kp: Gain = 20.0
    kd: Gain = 0.5


class Servo(JointDrive):
    """Position servos: ``<joint>.target``, ``<joint>.target_speed`` in, ``<joint>.setpoint`` out.

    Each step the setpoint s moves toward the target, within the joint's range, by at most
    target_speed·h; the effort is kp (s − q) + kd (ṡ − v), within ±max_effort. It is an affine law,
    which engines integrate implicitly, so that stiff gains are stable. ṡ is 0 when the target is
    reached within the step, so that targets in small steps do not excite the joint, unless the
    agent that sets the target provides its speed (a walk, a formula, a table); without a target
    speed or the joint's max_speed the setpoint jumps to the target.
    """

    type: ClassVar[str] = "servo"
    form = ServoParams
    inputs = ("target", "target_speed")
    gains = ("kp", "kd")

    def offer(self, number: int, unit: str, effort: str) -> None:  # noqa: D102
        world, dof = self.world, self.dofs[number]
        lo, hi = float(world.dof_lo[dof]), float(world.dof_hi[dof])
        self.offer_input(number, "target", unit, lo, hi)
        self.offer_input(number, "target_speed", f"{unit}/s", 0.0, float(world.dof_speed[dof]))
        name = f"{world.dof_name(dof)}.setpoint"
        self._signals.append(SignalSpec(name, self.field("setpoint"), (number,), unit, lo, hi))
        super().offer(number, unit, effort)

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {**super().slots(), "setpoint": (len(self.specs),)}

    def addresses(self, state: State, number: int) -> list[int]:  # noqa: D102
        *first, gains = super().addresses(state, number)
        return [*first, state.address(self.field("setpoint"), number), gains]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world, dofs = self.world, self.dofs
        limits = world.dof_lo[dofs], world.dof_hi[dofs], world.dof_speed[dofs]
        form = np.ascontiguousarray(np.stack(limits, axis=1))
        self._tables = state.data, self._where, form

    def reset(self) -> None:
        """Sets every target to the joint's position, with the maximum speed."""
        super().reset()
        state, dofs = self.state, self.dofs
        here = np.clip(state.q[self.coordinates], self.world.dof_lo[dofs], self.world.dof_hi[dofs])
        state.target[dofs] = here
        state.target_speed[dofs] = self.world.dof_speed[dofs]
        self.slot("setpoint")[:] = here

    def drive(self, step: int) -> None:  # noqa: D102
        drive_servos(self.world.scene.step, self._stride, *self._tables)
        lead = self.state.lead
        if lead[0].any():  # bias = kp s + kd ṡ, if the agent provides ṡ
            dofs, world = np.array(self.dofs, np.int64), self.world
            wanted = np.clip(self.state.target[dofs], world.dof_lo[dofs], world.dof_hi[dofs])
            led = dofs[(self.slot("setpoint") == wanted) & (lead[0, dofs] > 0.0)]
            self.state.drive[0, led] += self.state.drive[2, led] * lead[1, led]


class MotorParams(DriveParams):
    """Parameters of ``Motor``.

    Attributes:
        gain: Effort per speed error [N m s/rad or N s/m].
    """

    gain: Gain = 1.0


class Motor(JointDrive):
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
        """Sets every target speed to 0."""
        super().reset()
        self.state.target_speed[self.dofs] = 0.0

    def drive(self, step: int) -> None:  # noqa: D102
        drive_motors(self._stride, *self._tables)


class EffortDrive(JointDrive):
    """Direct efforts: ``<joint>.target_effort`` [N m or N], within ±max_effort."""

    type: ClassVar[str] = "effort"
    inputs = ("target_effort",)

    def offer(self, number: int, unit: str, effort: str) -> None:  # noqa: D102
        most = self.max_effort(number)
        self.offer_input(number, "target_effort", effort, -most, most)
        super().offer(number, unit, effort)

    def reset(self) -> None:
        """Sets every target effort to 0."""
        super().reset()
        self.state.target_effort[self.dofs] = 0.0

    def drive(self, step: int) -> None:  # noqa: D102
        drive_efforts(self._stride, self.state.data, self._where)
