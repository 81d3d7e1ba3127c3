"""Dead: a drive that no longer does anything."""

from __future__ import annotations

from typing import ClassVar

from linkwork.blocks import scoped_name
from linkwork.faults.fault import Fault, FaultParams, Phase, Targets


class DeadParams(FaultParams, kw_only=True):
    """Parameters of ``Dead``.

    Attributes:
        joint: The joint whose drive it is, or ``joint.dof``.
    """

    joint: str


class Dead(Fault):
    """A drive without effort: the joint is limp while its target still moves.

    Where Kinematic moves the joint there is no effort; the joint stands still then.
    """

    type: ClassVar[str] = "dead"
    form = DeadParams
    what: ClassVar[str] = "joint"

    def join(self, targets: Targets) -> None:  # noqa: D102
        origin = self.spec.origin
        dofs = self.world.dofs(scoped_name(self.spec, self.params.joint), origin=origin)
        self._limp = [d for d in dofs if d in targets.driven and d not in targets.prescribed]
        self._still = [d for d in dofs if d in targets.prescribed]
        if not self._limp and not self._still:
            raise self.wrong(
                f"joint {self.params.joint!r} has no drive that could die.",
                "Name a joint with a drive or an actuator.",
            )

    def strike(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.active:
            return
        state = self.state
        state.drive[:, self._limp] = 0.0
        for row, dof in zip(self.rows, self._still, strict=False):
            row[:2] = 1.0, state.target_speed[dof]
            state.target_speed[dof] = 0.0

    def lift(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.mine:
            return
        for row, dof in zip(self.rows, self._still, strict=False):
            if row[0]:
                self.state.target_speed[dof] = row[1]
                row[:2] = 0.0
