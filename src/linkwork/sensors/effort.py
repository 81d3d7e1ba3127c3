"""Effort: what drives, springs and friction put on a joint."""

from __future__ import annotations

from typing import ClassVar

from linkwork.blocks import scoped_name
from linkwork.parts import Spec
from linkwork.sensors.kernels import read_efforts
from linkwork.sensors.readings import ReadingParams, Readings, Row


class EffortParams(ReadingParams):
    """Parameters of ``Effort``.

    Attributes:
        joint: A joint of one degree of freedom, or ``joint.dof``.
        noise: [N m or N].
    """

    joint: str


class Effort(Readings):
    """Reads the effort of joints from the last step's report: ``<name>.effort`` [N m or N]."""

    type: ClassVar[str] = "effort"
    form = EffortParams
    kernel = staticmethod(read_efforts)

    def resolve(self, number: int, spec: Spec, params: EffortParams) -> Row:  # noqa: D102
        dof = self.world.single_dof(scoped_name(spec, params.joint), origin=spec.at("joint"))
        self.offer(number, 0, "effort", "N m" if self.world.dof_is_angle(dof) else "N")
        return Row((("report/effort", dof),), (params.noise,))
