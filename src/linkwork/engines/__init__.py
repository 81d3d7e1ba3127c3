"""Engines: the base class of all engines, which move bodies by one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linkwork.core.errors import listing
from linkwork.core.state import Report, State
from linkwork.engines.common import energy_arrays
from linkwork.engines.common.kernels import add_energies, spring_state
from linkwork.engines.constraint_report import ConstraintAccuracy, LoopMobility
from linkwork.engines.limit_report import LimitFinding
from linkwork.geometry import Pose
from linkwork.kinematics.forward import forward
from linkwork.kinematics.kernels import FREE
from linkwork.model.blocks import Block
from linkwork.model.parts import Box, Plane, Spec
from linkwork.model.world import Finding, World
from linkwork.model.world.world import WorldShape


class Engine(Block):
    """Base class of all engines.

    An engine owns whole joint-connected islands. It reads the poses of bodies of other engines (at
    the start of the step, and at its end for kinematic engines, which advance first), advances its
    own bodies by one step and fills both sets of coordinates, so that after :meth:`advance` q, v,
    pose and twist describe the same instant.

    Args:
        world: The world.
        spec: The specification in the scene.
        name: Unique name of its state slots.
        owned: Mask over bodies (nb) of those it moves.

    Attributes:
        kinematic: Whether joints follow their targets without forces.
        prescribed: Degrees of freedom that follow their targets exactly.
        all_engines: Every engine of the world in the order of advance, this one included.
        one_way: Mask over bodies of other dynamic engines that push this one's as infinite masses.
        inputs: Which targets the actuator of each driven degree of freedom reads.
        max_acceleration, max_effort: Limits of each degree of freedom with its actuator.
        notices: Warnings of the last step, which the session logs.
        start_pose, start_twist: All bodies at the start of the step.
        reports_contacts: Whether each step's contacts are reported (a sensor reads them).
    """

    kind: ClassVar[str] = "engine"
    kinematic: ClassVar[bool] = False

    def __init__(self, world: World, spec: Spec, name: str, owned: np.ndarray) -> None:
        super().__init__(world, [spec], name)
        self.spec = spec
        self.owned = owned
        self.prescribed: list[int] = []
        self.all_engines: list[Engine] = [self]
        self.one_way: np.ndarray = np.zeros(world.nb, bool)
        self.inputs: dict[int, Sequence[str]] = {}
        self.max_acceleration: np.ndarray = np.full(world.nv, np.inf)
        self.max_effort: np.ndarray = world.dof_effort.copy()
        self.notices: list[str] = []
        self.reports_contacts = False
        self.start_pose: np.ndarray
        self.start_twist: np.ndarray

    def check(self) -> list[Finding]:
        """Returns findings, such as parts of other dynamic engines that pass through this one's."""
        found = [*self._ignored_native_attributes(), *self._falling_parts()]
        for fellow in self.all_engines[self.all_engines.index(self) + 1 :]:
            if self.kinematic or fellow.kinematic:
                continue
            mine = self._colliding_parts(self.owned & ~fellow.one_way)
            theirs = self._colliding_parts(fellow.owned & ~self.one_way)
            if mine and theirs:
                text = (
                    f"does not collide with {listing(theirs, most=4)}: each has a dynamic engine "
                    "of its own. To let one push the other without reaction, name it in one_way "
                    "of the other's engine."
                )
                found.append(Finding("approximated", listing(mine, most=4), text, self.spec.origin))
        return found

    def _ignored_native_attributes(self) -> list[Finding]:
        """Notes attributes that only the Mujoco engine supports."""
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
        text = f"{self.type} ignores the attributes in 'mujoco = {{ … }}'."
        return [Finding("note", listing(sorted(names), most=4), text, self.spec.origin)]

    def stops_at_scenery(self) -> bool:
        """Whether bodies of this engine touch the scenery; the impulse engine has no contacts."""
        return self.kinematic or self.type != "impulse"

    def _falling_parts(self) -> list[Finding]:
        """Refuses free bodies that would fall through a floor on which they should collide."""
        world, found = self.world, []
        if self.stops_at_scenery():
            return []
        poses, gravity = forward(world, world.q0), np.array(world.scene.gravity)
        held = _held_islands(world)
        for b in np.flatnonzero(self.owned & (world.kind == FREE)):
            mine = [s for s in world.shapes if world.island[s.body] == world.island[b]]
            mine = [s for s in mine if s.shape.collide]
            if int(world.island[b]) in held:
                continue
            floors = [s for s in world.shapes if world.is_static(s.body)]
            floors = [s for s in floors if _is_below(s, poses, poses[b, :3], gravity)]
            for floor in floors:
                if all(_never_collide(world, each, floor) for each in mine):
                    continue
                name = world.element_names[floor.element]
                text = (
                    f"it would fall through {name!r}: {self.type} has no contacts. Use mujoco or "
                    "fix it; if it shall, give its shapes or the floor collide = false, or the "
                    "scene [collide] never."
                )
                origin = world.body_origins[b]
                found.append(Finding("error", world.body_names[b], text, origin))
                break
        return found

    def _colliding_parts(self, bodies: np.ndarray) -> list[str]:
        """Returns the names of the parts with colliding shapes among the bodies of a mask."""
        world = self.world
        touching = {s.body for s in world.shapes if s.shape.collide and bodies[s.body]}
        return sorted({world.body_part[b] or world.body_names[b] for b in touching})

    def prepare(self, driven: list[int]) -> None:
        """Receives the degrees of freedom with an actuator, before the state is laid out."""

    def advance(self, h: float) -> None:
        """Moves the owned bodies by ``h`` [s] and fills state and report.

        Raises:
            EngineError: If the step fails (divergence); the state is unchanged.
        """
        raise NotImplementedError

    def assemble(self) -> list[Finding]:
        """Makes the initial state satisfy the constraints; returns what had to move."""
        return []

    def carry(self, before: Engine, dofs: list[tuple[int, int]]) -> None:
        """Takes over carried velocities of joints that persist after an edit.

        Args:
            before: The engine that moved them.
            dofs: Their degrees of freedom, there and here.
        """

    def summary(self) -> str:
        """Returns choices that the engine made itself, for ``linkwork check``."""
        return ""

    def code(self) -> str:
        """Returns the code that moves the bodies, for recordings, if it depends on the machine."""
        return ""

    def follows_exactly(self, dof: int) -> bool:
        """Whether a prescribed motion of this degree of freedom is followed, beyond limits too."""
        return False

    def place_start(self) -> bool:
        """Moves joints to their prescribed motions at t = 0; returns whether it moved any."""
        return False

    def limits(self) -> list[LimitFinding]:
        """Returns the limits that prescribed motions exceeded since the start."""
        return []

    def note_gap(self, found: tuple[float, int]) -> None:
        """Records the largest gap of the engine's loops in the report, if none is larger."""
        gap = self.state.report.gap
        if found[0] > gap[0]:
            gap[0], gap[1] = found

    def accuracy(self) -> ConstraintAccuracy | None:
        """Returns the constraint errors since the start, of engines with exact constraints."""
        return None

    def mobilities(self) -> list[LoopMobility]:
        """Returns the mobility of each mechanism with loops, of engines that compute it."""
        return []

    def add_energy(self) -> None:
        """Adds the energy of the present state to the report, of engines with forces."""
        if self.kinematic:
            return
        state, world = self.state, self.world
        add_energies(*energy_arrays(state, world, np.flatnonzero(self.owned), self.owned_dofs))
        springs = np.flatnonzero(self.owned[world.spring_body].any(axis=1))
        if len(springs):
            state.report.energy[1] += spring_state(
                springs, *world.spring_arrays, state["param/spring"], state.pose, state.twist,
                world.com, state.report.spring,
            )  # fmt: skip

    def add_contacts(self, report: Report) -> None:
        """Adds the contacts of the last step to a report's table, of engines that have any."""

    def joint_forces(self) -> np.ndarray:
        """Returns the reaction forces of joints and loops in the last step.

        Returns:
            A row each: position [m], force on the second body [N], and the index of the joint, or
            the number of joints plus the index of the loop (n×7).
        """
        return np.zeros((0, 7))

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self.start_pose, self.start_twist = state.pose, state.twist

    @property
    def owned_dofs(self) -> np.ndarray:
        """Degrees of freedom of the owned bodies, in order."""
        return np.flatnonzero(self.owned[self.world.dof_body])

    @property
    def collidable(self) -> np.ndarray:
        """Mask over bodies that may collide with the owned ones.

        Excludes bodies of other dynamic engines: each of the two would treat the other's body as an
        infinite mass.
        """
        hidden = np.zeros(self.world.nb, bool)
        for fellow in self.all_engines:
            if fellow is not self and not fellow.kinematic:
                hidden |= fellow.owned
        return ~hidden | self.one_way

    def speed_driven(self, dofs: list[int]) -> np.ndarray:
        """Returns the degrees of freedom that are driven by a signed target velocity."""
        driven = [d for d in dofs if "target_speed" in self.inputs.get(d, ())]
        return np.array([d for d in driven if "target" not in self.inputs[d]], np.int64)

    def ineffective_drives(self, dofs: list[int]) -> list[Finding]:
        """Notes actuators whose efforts have no effect, because the engine sets the motion."""
        found = []
        for dof in dofs:
            if dof in self.inputs and not {"target", "target_speed"} & {*self.inputs[dof]}:
                text = (
                    f"the effort on it has no effect: {self.type} moves it to its target. "
                    "Give it a servo or a motor, or another engine."
                )
                origin = self.world.body_origins[int(self.world.dof_body[dof])]
                found.append(Finding("approximated", self.world.dof_name(dof), text, origin))
        return found


def _held_islands(world: World) -> set[int]:
    """Islands with a joint, a loop or a spring that ends on a body that does not move."""
    pairs = [(b, int(world.parent[b])) for b in range(1, world.nb) if world.kind[b] != FREE]
    pairs += [(a, b) for a, b in (*world.loop_body.tolist(), *world.spring_body.tolist())]
    fixed = [pair for pair in pairs if any(world.is_static(b) for b in pair)]
    return {int(world.island[b]) for pair in fixed for b in pair}


def _never_collide(world: World, one: WorldShape, other: WorldShape) -> bool:
    """Whether the scene says that two shapes do not collide."""
    names = [
        {world.element_names[s.element], world.body_part[s.body], s.group} for s in (one, other)
    ]
    return any(
        (a in names[0] and b in names[1]) or (b in names[0] and a in names[1])
        for a, b in world.scene.collide.never
    )


def _is_below(piece: WorldShape, poses: np.ndarray, point: np.ndarray, gravity: np.ndarray) -> bool:
    """Whether a static plane or box is a floor below a point."""
    shape = piece.shape
    if not shape.collide or not isinstance(shape, Plane | Box):
        return False
    row = poses[piece.body]
    at = Pose(tuple(row[:3]), tuple(row[3:])) @ piece.pose
    if float(np.dot(gravity, at.rotate((0.0, 0.0, 1.0)))) >= 0.0:
        return False
    x, y, z = at.inverse().apply(tuple(point.tolist()))
    if isinstance(shape, Plane):
        return z >= 0.0
    wide, deep, high = shape.size
    return z >= 0.5 * high and abs(x) <= 0.5 * wide and abs(y) <= 0.5 * deep


__all__ = ["Engine"]
