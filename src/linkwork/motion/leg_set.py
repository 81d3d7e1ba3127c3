"""LegSet: joint motion of several legs from the motion of their feet and the torso."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError, Origin, not_found
from linkwork.dynamics import kernels
from linkwork.dynamics.recursive import workspace
from linkwork.geometry.pose import Pose
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.leg import KNEES, Leg
from linkwork.model.world import World

#: Joint velocity above which a leg counts as straight (singular) [rad/s].
_MAX_JOINT_SPEED = 1e4


@dataclass(frozen=True)
class FootTrajectory:
    """Wanted motion of a foot's contact point, in the world.

    Attributes:
        pose: Pose.
        velocity: Of the point [m/s], then angular [rad/s].
        acceleration: Of the point [m/s²], then angular [rad/s²].
    """

    pose: Pose
    velocity: np.ndarray
    acceleration: np.ndarray


class LegSet:
    """Legs that one body carries.

    Args:
        world: The world.
        feet: An anchor or element of each foot: its virtual contact point.
        knee: "human" or "bird".
        origin: Origin of the feet in the file.

    Attributes:
        legs: One for each foot.
        carrier: The body that carries the hips.
        base: Degrees of freedom that carry it, if all are of hinges or sliders.

    Raises:
        LinkworkError: If a foot is not that of such a leg, or they are on different bodies.
    """

    def __init__(
        self, world: World, feet: Sequence[str], *, knee: str = "human", origin: Origin
    ) -> None:
        if knee not in KNEES:
            raise not_found("knee", knee, list(KNEES), origin=origin)
        if not feet:
            raise LinkworkError("it needs at least one foot.", origin=origin)
        self.world, self.knee = world, knee
        for foot in feet:
            world.frame(foot, origin=origin)
        self.legs = [Leg(world, foot) for foot in feet]
        self.carrier = self.legs[0].carrier
        if any(leg.carrier != self.carrier for leg in self.legs):
            raise LinkworkError("the legs are attached to different bodies.", origin=origin)
        if len({leg.body for leg in self.legs}) < len(self.legs):
            raise LinkworkError("two of the feet are the same body.", origin=origin)
        above = set(world.ancestors(self.carrier))
        self.base = [
            d for d, b in enumerate(world.dof_body.tolist())
            if b in above and world.kind[b] not in (BALL, FREE)
        ]  # fmt: skip
        needed = {b for leg in self.legs for b in world.ancestors(leg.body)} | above
        self._order = np.array(sorted(needed), np.int64)
        self._work = workspace(world)
        self._still = np.zeros(3)

    def carrier_pose(self, q: np.ndarray) -> Pose:
        """Returns the pose of the body that carries the hips."""
        self._move(q, np.zeros(self.world.nv), np.zeros(self.world.nv))
        row = self._work[0][self.carrier]
        return Pose(tuple(row[:3]), tuple(row[3:]))

    def _move(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        pose, motion, twist, rate, _, scratch = self._work
        kernels.body_motions(
            self.world.tree, self._order, self._still, q, v, a, pose, motion, twist, rate, scratch
        )

    def solve(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, feet: Sequence[FootTrajectory]
    ) -> tuple[list[bool], list[bool]]:
        """Computes coordinates, velocities and accelerations of the legs' joints.

        Args:
            q: Coordinates (nq); given for the base, previous ones for the legs.
            v: Velocities (nv), given for the base.
            a: Accelerations (nv), likewise.
            feet: Wanted motion of each foot.

        Returns:
            For each leg, whether it reaches its target, and whether its velocities are determined
            (not for a straight leg).
        """
        carrier = self.carrier_pose(q)
        reached = []
        for leg, foot in zip(self.legs, feet, strict=True):
            v[leg.dofs], a[leg.dofs] = 0.0, 0.0
            found = leg.angles(carrier, foot.pose, seed=q[leg.coordinates], knee=self.knee)
            reached.append(found is not None)
            if found is not None:
                q[leg.coordinates] = found
        self._move(q, v, a)
        columns, twist, rate = self._work[1].copy(), self._work[2], self._work[3]
        known = []
        for leg, foot in zip(self.legs, feet, strict=True):
            turn, at = foot.velocity[3:], np.array(foot.pose.xyz)
            wanted = np.concatenate([foot.velocity[:3] - _cross(turn, at), turn])
            v[leg.dofs] = self._divide(columns[leg.dofs], wanted - twist[leg.body])
        self._move(q, v, a)
        for leg, foot, here in zip(self.legs, feet, reached, strict=True):
            turn, change, at = foot.velocity[3:], foot.acceleration[3:], np.array(foot.pose.xyz)
            linear = foot.acceleration[:3] - _cross(change, at)
            linear -= _cross(turn, foot.velocity[:3])
            wanted = np.concatenate([linear, change])
            a[leg.dofs] = self._divide(columns[leg.dofs], wanted - rate[leg.body])
            fast = max(np.abs(v[leg.dofs]).max(), 1e-2 * np.abs(a[leg.dofs]).max())
            known.append(bool(here and np.isfinite(fast) and fast < _MAX_JOINT_SPEED))
        return reached, known

    @staticmethod
    def _divide(columns: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        try:
            return np.linalg.solve(columns.T, wanted)
        except np.linalg.LinAlgError:
            return np.full(6, np.inf)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the cross product; numpy's own takes ten times as long for so few numbers."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
