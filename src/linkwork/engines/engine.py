"""Engine: moves the bodies it owns by one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linkwork.blocks import Block
from linkwork.engines.account import Account
from linkwork.engines.mobility import Mobility
from linkwork.errors import listing
from linkwork.parts import Spec
from linkwork.state import Report, State
from linkwork.world import Finding, World


class Engine(Block):
    """Base of all engines.

    An engine owns whole joint-connected islands. It reads the poses of bodies that others own
    (as they stood at the start of the step, and where a kinematic engine, which goes first, has put
    them), advances its own by one step and fills both sets of
    coordinates, so that after :meth:`advance` q, v, pose and twist describe the same instant.

    Args:
        world: The world.
        spec: What the scene says.
        name: Unique name of its memory.
        owned: Mask over bodies (nb) of those it moves.

    Attributes:
        kinematic: Joints go where their targets say; efforts play no role.
        prescribed: Degrees of freedom that follow their targets whatever it takes.
        fellows: Every engine of the world in the order of their moves, this one included.
        one_way: Mask over bodies of other dynamic engines that push this one's as infinite
            masses.
        inputs: Which targets the actuator of each driven degree of freedom reads.
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
        self.fellows: list[Engine] = [self]
        self.one_way: np.ndarray = np.zeros(world.nb, bool)
        self.inputs: dict[int, Sequence[str]] = {}
        self.reports_contacts = False
        self.seen_pose: np.ndarray
        self.seen_twist: np.ndarray

    def check(self) -> list[Finding]:
        """Parts of other dynamic engines that pass through this one's (said once a pair)."""
        found = self._ignored_words()
        for fellow in self.fellows[self.fellows.index(self) + 1 :]:
            if self.kinematic or fellow.kinematic:
                continue
            mine = self._touchable(self.owned & ~fellow.one_way)
            theirs = self._touchable(fellow.owned & ~self.one_way)
            if mine and theirs:
                text = (
                    f"touches nothing of {listing(theirs, most=4)}: each has a dynamic engine of "
                    "its own. To let one push the other and feel nothing itself, name it in "
                    "one_way of the other's engine."
                )
                found.append(Finding("soft", listing(mine, most=4), text, self.spec.origin))
        return found

    def _ignored_words(self) -> list[Finding]:
        """Notes what is said in words that only the Mujoco engine understands."""
        world = self.world
        if self.type == "mujoco":
            return []
        names = {world.element_names[s.element] for s in world.shapes
                 if self.owned[s.body] and s.shape.mujoco.keys() - {"name"}}  # fmt: skip
        names |= {name for name, joint, body in
                  zip(world.joint_names, world.joints, world.joint_body, strict=True)
                  if self.owned[body] and joint.mujoco}  # fmt: skip
        if not names:
            return []
        text = f"{self.type} ignores the words in 'mujoco = {{ … }}'."
        return [Finding("note", listing(sorted(names), most=4), text, self.spec.origin)]

    def _touchable(self, bodies: np.ndarray) -> list[str]:
        """Names of the parts with shapes that touch, among the bodies of a mask."""
        world = self.world
        touching = {s.body for s in world.shapes if s.shape.collide and bodies[s.body]}
        return sorted({world.body_part[b] or world.body_names[b] for b in touching})

    def prepare(self, driven: list[int]) -> None:
        """Told which degrees of freedom have an actuator, before memory is laid out."""

    def advance(self, h: float) -> None:
        """Moves the owned bodies by ``h`` [s] and fills state and report.

        Raises:
            EngineError: If the motion cannot go on (divergence); the state is as before.
        """
        raise NotImplementedError

    def assemble(self) -> list[Finding]:
        """Makes the first state fit what the engine holds together; says what it had to move."""
        return []

    def carry(self, before: Engine, dofs: list[tuple[int, int]]) -> None:
        """Takes over, after an edit, what belongs to the speeds of joints that go on.

        Args:
            before: The engine that moved them.
            dofs: Their degrees of freedom, there and here.
        """

    def code(self) -> str:
        """Which code moves the bodies, for recordings, where a choice or the machine decides it."""
        return ""

    def note_gap(self, found: tuple[float, int]) -> None:
        """Takes the widest gap of the engine's loops into the report, if no other is wider."""
        gap = self.state.report.gap
        if found[0] > gap[0]:
            gap[0], gap[1] = found

    def account(self) -> Account | None:
        """How well joints were held since the start; for engines that hold them exactly."""
        return None

    def mobilities(self) -> list[Mobility]:
        """How freely each mechanism with loops can move, as it stands; for engines that know."""
        return []

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts of the last step to a report's table; for engines that have some."""

    def joint_forces(self) -> np.ndarray:
        """What held joints and loops in the last step; for those who look on, of engines that know.

        Returns:
            A row each: place [m], force on the second body [N], and the number of the joint, or of
            joints plus that of the loop (n×7).
        """
        return np.zeros((0, 7))

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self.seen_pose, self.seen_twist = state.pose, state.twist

    @property
    def owned_dofs(self) -> np.ndarray:
        """Degrees of freedom of the owned bodies, in order."""
        return np.flatnonzero(self.owned[self.world.dof_body])

    @property
    def felt(self) -> np.ndarray:
        """Mask over bodies of those that may touch the owned ones.

        All but those of other dynamic engines: two engines that both compute the motion after an
        impact would each take the other's body for an infinite mass.
        """
        hidden = np.zeros(self.world.nb, bool)
        for fellow in self.fellows:
            if fellow is not self and not fellow.kinematic:
                hidden |= fellow.owned
        return ~hidden | self.one_way

    def by_speed(self, dofs: list[int]) -> np.ndarray:
        """Those of the degrees of freedom that are driven by a target speed, with its sign."""
        driven = [d for d in dofs if "target_speed" in self.inputs.get(d, ())]
        return np.array([d for d in driven if "target" not in self.inputs[d]], np.int64)

    def idle_drives(self, dofs: list[int]) -> list[Finding]:
        """Notes actuators whose efforts have no effect, because the engine sets the motion."""
        found = []
        for dof in dofs:
            if dof in self.inputs and not {"target", "target_speed"} & {*self.inputs[dof]}:
                text = (
                    f"the effort on it has no effect: {self.type} moves it to its target. "
                    "Give it a servo or a motor, or another engine."
                )
                origin = self.world.body_origins[int(self.world.dof_body[dof])]
                found.append(Finding("soft", self.world.dof_name(dof), text, origin))
        return found
