"""Engine: moves the bodies it owns by one step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.blocks import Block
from linkwork.parts import Spec
from linkwork.state import Report, State
from linkwork.world import World


class Engine(Block):
    """Base of all engines.

    An engine owns whole joint-connected islands. It reads the poses of bodies that others own
    (as they stand at the start of the step), advances its own by one step and fills both sets of
    coordinates, so that after :meth:`advance` q, v, pose and twist describe the same instant.

    Args:
        world: The world.
        spec: What the scene says.
        name: Unique name of its memory.
        owned: Mask over bodies (nb) of those it moves.

    Attributes:
        kinematic: Joints go where their targets say; efforts play no role.
        prescribed: Degrees of freedom that follow their targets whatever it takes.
        seen_pose, seen_twist: All bodies as they stood at the start of the step.
        reports_contacts: Whether each step's contacts go into the report (a sensor reads them).
    """

    kind: ClassVar[str] = "engine"
    kinematic: ClassVar[bool] = False

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, [spec], name)
        self.spec = spec
        self.owned = owned
        self.prescribed: list[int] = []
        self.reports_contacts = False
        self.seen_pose: np.ndarray
        self.seen_twist: np.ndarray

    def prepare(self, driven: list[int]) -> None:
        """Told which degrees of freedom have an actuator, before memory is laid out."""

    def advance(self, h: float) -> None:
        """Moves the owned bodies by ``h`` [s] and fills state and report.

        Raises:
            EngineError: If the motion cannot go on (divergence); the state is as before.
        """
        raise NotImplementedError

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts of the last step to a report's table; for engines that have some."""

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self.seen_pose, self.seen_twist = state.pose, state.twist

    @property
    def owned_dofs(self) -> np.ndarray:
        """Degrees of freedom of the owned bodies, in order."""
        return np.flatnonzero(self.owned[self.world.dof_body]) if self.world.nv else np.zeros(0, int)
