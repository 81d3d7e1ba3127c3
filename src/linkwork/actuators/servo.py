"""Servo: holds a joint at a wanted value, going there at a wanted speed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.actuators.drives import DriveParams, Drives, Gain
from linkwork.actuators.kernels import drive_servos
from linkwork.blocks import SignalSpec
from linkwork.state import State


class ServoParams(DriveParams):
    """Parameters of ``Servo``.

    Attributes:
        kp: Stiffness [N m/rad or N/m]. The default suits a hobby servo on a light link; a slider
            or a heavy arm needs its own.
        kd: Damping [N m s/rad or N s/m].
    """

    kp: Gain = 20.0
    kd: Gain = 0.5


class Servo(Drives):
    """Position servos: ``<joint>.target``, ``<joint>.target_speed`` in, ``<joint>.setpoint`` out.

    Each step the setpoint s moves towards the target, within the joint's range, by at most
    target_speed·h; the effort is kp (s − q) + kd (ṡ − v), within ±max_effort. It is handed on as
    an affine law, which engines integrate implicitly, so that stiff gains stay quiet. ṡ is 0 when
    the target is reached within the step, so that targets in small stairs do not kick the joint,
    unless the agent that sets the target knows its speed (a walk, a formula, a table);
    without a target speed or the joint's max_speed the setpoint jumps there at once.
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

    def places(self, state: State, number: int) -> list[int]:  # noqa: D102
        *first, gains = super().places(state, number)
        return [*first, state.address(self.field("setpoint"), number), gains]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world, dofs = self.world, self.dofs
        limits = world.dof_lo[dofs], world.dof_hi[dofs], world.dof_speed[dofs]
        form = np.ascontiguousarray(np.stack(limits, axis=1))
        self._tables = state.data, self._where, form

    def reset(self) -> None:
        """Wants every joint to stay where it stands, and to move as fast as it may."""
        super().reset()
        state, dofs = self.state, self.dofs
        here = np.clip(state.q[self.coordinates], self.world.dof_lo[dofs], self.world.dof_hi[dofs])
        state.target[dofs] = here
        state.target_speed[dofs] = self.world.dof_speed[dofs]
        self.slot("setpoint")[:] = here

    def drive(self, step: int) -> None:  # noqa: D102
        drive_servos(self.world.scene.step, self._stride, *self._tables)
        lead = self.state.lead
        if lead[0].any():  # bias = kp s + kd ṡ, where the agent knows ṡ
            dofs, world = np.array(self.dofs, np.int64), self.world
            wanted = np.clip(self.state.target[dofs], world.dof_lo[dofs], world.dof_hi[dofs])
            led = dofs[(self.slot("setpoint") == wanted) & (lead[0, dofs] > 0.0)]
            self.state.drive[0, led] += self.state.drive[2, led] * lead[1, led]
