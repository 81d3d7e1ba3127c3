"""Actuator: turns targets into affine efforts, which engines integrate implicitly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from linkwork.blocks import Block
from linkwork.parts import Spec


class Actuator(Block):
    """Base of all actuator blocks: every actuator of one type in a scene, run by one call.

    :meth:`drive` fills columns of ``state.drive``: bias, kp, kd, lowest, highest, so that the
    effort is clip(bias − kp·q − kd·v, lowest, highest). One actuator drives a degree of freedom.

    Attributes:
        dofs: Degrees of freedom that the rows drive.
        inputs: Fields of the state, by degree of freedom, that it reads: what it is told.
        metered: Whether :meth:`meter` is to be called after each step.
    """

    kind: ClassVar[str] = "actuator"
    inputs: ClassVar[Sequence[str]] = ()
    metered: ClassVar[bool] = False
    dofs: list[int]

    def inputs_of(self, number: int) -> Sequence[str]:
        """What the drive of ``dofs[number]`` is told."""
        return self.inputs

    def armature(self) -> dict[int, float]:
        """Inertia that its rotors add to degrees of freedom [kg m² or kg]."""
        return {}

    def spec_of(self, number: int) -> Spec:
        """What was said of the drive of ``dofs[number]``."""
        return self.specs[number]

    def drive(self, step: int) -> None:
        """Fills the efforts of the driven degrees of freedom for this step."""
        raise NotImplementedError

    def meter(self) -> None:
        """Looks at the step that the engines have made; for those that are ``metered``."""
