"""MovementRobot: the joints of a part that a movement can drive."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.components.agents.lookup import find_dof
from linkwork.core.errors import SessionError
from linkwork.core.state import State
from linkwork.core.value_types import SUFFIXES, degrees
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.world import World
from linkwork.session.postures import out_of_range, read_posture
from linkwork.session.session import Session

_DEG = SUFFIXES["_deg"]


def robots(world: World) -> list[str]:
    """Parts with joints that a movement can drive; the empty name stands for the scene itself."""
    return list(dict.fromkeys(_scope(world.dof_name(dof)) for dof in _movable(world)))


def _movable(world: World) -> list[int]:
    return [dof for dof in range(world.nv) if world.kind[world.dof_body[dof]] not in (BALL, FREE)]


def _scope(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


class MovementRobot:
    """A part of a world, and its joints.

    Args:
        world: The world.
        on: The part.

    Attributes:
        dofs: Degrees of freedom by name within the part: ``elbow``, or ``hip.angle1``.
    """

    def __init__(self, world: World, on: str) -> None:
        self.world, self.on = world, on
        begin = f"{on}/" if on else ""
        self.dofs = {
            world.dof_name(dof).removeprefix(begin): dof
            for dof in _movable(world)
            if _scope(world.dof_name(dof)) == on
        }
        self._names = {dof: name for name, dof in self.dofs.items()}

    def name(self, dof: int) -> str:
        """The name of a degree of freedom within the part."""
        return self._names[dof]

    def named(self, joint: str) -> str:
        """The name of a joint within the part, from the name in a file.

        Raises:
            NameNotFound: If the part has no such joint.
        """
        if joint in self.dofs:
            return joint
        dof = find_dof(self.world, joint, scope=self.on)
        return self._names[dof] if dof in self._names else scoped_name_of(self.on, joint)

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joints' values at coordinates, rounded and within their ranges."""
        return {
            name: self.tidy(name, float(q[self._place(dof)])) for name, dof in self.dofs.items()
        }

    def tidy(self, name: str, value: float) -> float:
        """A value rounded to 0.0001° or 1 µm, within the range."""
        dof = self.dofs[name]
        angle = self.world.dof_is_angle(dof)
        near = round(value / _DEG, 4) * _DEG if angle else round(value, 6)
        return min(max(near, float(self.world.dof_lo[dof])), float(self.world.dof_hi[dof])) + 0.0

    def arranged(self, q: np.ndarray, values: Mapping[str, float]) -> dict[str, list[float]]:
        """Coordinates by joint with some of them set to values, for ``inbox.PlaceJoints``."""
        world, made = self.world, q.copy()
        for name, value in values.items():
            dof = self.dofs[name]
            inside = min(max(value, float(world.dof_lo[dof])), float(world.dof_hi[dof]))
            made[self._place(dof)] = inside
        joints = {world.dof_name(self.dofs[name]).partition(".")[0] for name in values}
        found = {}
        for number, joint in enumerate(world.joint_names):
            if joint in joints:
                body = int(world.joint_body[number])
                first = int(world.qadr[body])
                found[joint] = made[first : first + world.joints[number].kind.nq].tolist()
        return found

    def _place(self, dof: int) -> int:
        body = int(self.world.dof_body[dof])
        return int(self.world.qadr[body]) + dof - int(self.world.vadr[body])

    def words(self, name: str, value: float) -> str:
        """A value with its unit, as text."""
        angle = self.world.dof_is_angle(self.dofs[name])
        text = f"{degrees(value):.4g}°" if angle else f"{1000.0 * value:.4g} mm"
        return text.replace("-", "−")

    def out_of_range(self, name: str, lo: float, hi: float) -> str:
        """The error if the values ``lo`` to ``hi`` of a joint are out of range; empty if not."""
        dof = self.dofs[name]
        least, most = float(self.world.dof_lo[dof]), float(self.world.dof_hi[dof])
        if lo >= least - 1e-9 and hi <= most + 1e-9:
            return ""
        there = self.words(name, lo if lo < least - 1e-9 else hi)
        allowed = f"{self.words(name, least)} … {self.words(name, most)}"
        return f"{name} is to go to {there}, but goes from {allowed}"


def driven_joints(session: Session, robot: MovementRobot) -> dict[str, int]:
    """Degrees of freedom that postures contain, by name: those with a target.

    Others are passive or driven by speed or effort; a movement that named them could not be played.
    If none has a target, all are included; such a robot can only be displayed.
    """
    dof_name, signals = session.world.dof_name, session.signals
    found = {
        name: dof
        for name, dof in robot.dofs.items()
        if any(f"{dof_name(dof)}{end}" in signals for end in (".target", "_target"))
    }
    return found or robot.dofs


def current_posture(
    session: Session, robot: MovementRobot, state: State, *, wanted: bool
) -> dict[str, float]:
    """The posture of a robot in a state, or its wanted posture."""
    known, values = driven_joints(session, robot), robot.values(state.q)
    made = {name: values[name] for name in known}
    if wanted:
        for name, dof in known.items():
            if f"{session.world.dof_name(dof)}.target" in session.signals:
                made[name] = robot.tidy(name, float(state.target[dof]))
    return made


def reported_posture(session: Session, robot: MovementRobot, bus: str) -> dict[str, float]:
    """The posture that a machine reports.

    Raises:
        LinkworkError: If it reports no joint of the robot.
    """
    begin = f"{robot.on}/" if robot.on else ""
    found = read_posture(session.cycle, bus)
    by_joint = {name.removeprefix(begin): value for name, value in found.items()}
    values = {name: robot.tidy(name, by_joint[name]) for name in robot.dofs if name in by_joint}
    if not values:
        raise SessionError(f"the machine has no joint of {robot.on or 'the scene'}.")
    for words in out_of_range(session.world, found):
        session.log(f"{words} The posture takes the end.", level="warning", source="movement")
    return values
