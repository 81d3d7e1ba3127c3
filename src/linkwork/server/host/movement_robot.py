"""MovementRobot: the joints of a part that a movement can move, by their names in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.agents.lookup import find_dof
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.parts.names import scoped
from linkwork.units import SUFFIXES, degrees
from linkwork.world import World

_DEG = SUFFIXES["_deg"]


def robots(world: World) -> list[str]:
    """Parts with joints that a movement can move; an empty name for joints of the scene itself."""
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
        """The name here of a joint as a file names it.

        Raises:
            NameNotFound: If the part has no such joint.
        """
        if joint in self.dofs:
            return joint
        dof = find_dof(self.world, joint, scope=self.on)
        return self._names[dof] if dof in self._names else scoped(self.on, joint)

    def values(self, q: np.ndarray) -> dict[str, float]:
        """The joints' values at coordinates, as people write them and within their ranges."""
        return {
            name: self.tidy(name, float(q[self._place(dof)])) for name, dof in self.dofs.items()
        }

    def tidy(self, name: str, value: float) -> float:
        """A value to a ten-thousandth of a degree, or to the micrometre, within the range."""
        dof = self.dofs[name]
        angle = self.world.dof_is_angle(dof)
        near = round(value / _DEG, 4) * _DEG if angle else round(value, 6)
        return min(max(near, float(self.world.dof_lo[dof])), float(self.world.dof_hi[dof])) + 0.0

    def arranged(self, q: np.ndarray, values: Mapping[str, float]) -> dict[str, list[float]]:
        """Coordinates by joint that give some of them values, for ``inbox.Arrange``."""
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
        """A value as people read it."""
        angle = self.world.dof_is_angle(self.dofs[name])
        text = f"{degrees(value):.4g}°" if angle else f"{1000.0 * value:.4g} mm"
        return text.replace("-", "−")

    def beyond(self, name: str, lo: float, hi: float) -> str:
        """What is wrong with values from ``lo`` to ``hi`` of a joint; empty if nothing is."""
        dof = self.dofs[name]
        least, most = float(self.world.dof_lo[dof]), float(self.world.dof_hi[dof])
        if lo >= least - 1e-9 and hi <= most + 1e-9:
            return ""
        there = self.words(name, lo if lo < least - 1e-9 else hi)
        allowed = f"{self.words(name, least)} … {self.words(name, most)}"
        return f"{name} is to go to {there}, but goes from {allowed}"
