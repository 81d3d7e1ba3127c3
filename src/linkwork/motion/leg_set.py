"""LegSet: the joints of several legs from where their feet and what carries them are to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.dynamics import kernels
from linkwork.dynamics.recursive import workspace
from linkwork.errors import LinkworkError, Origin, not_found
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.kinematics.leg import KNEES, Leg
from linkwork.spatial.pose import Pose
from linkwork.world import World

#: A joint that would have to turn faster than this stands at a straight leg [rad/s].
_FASTEST = 1e4


@dataclass(frozen=True)
class FootCourse:
    """Where a foot's contact point is to be, in the world.

    Attributes:
        pose: Place and turn.
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
        origin: Where the feet are named.

    Attributes:
        legs: One for each foot.
        carrier: The body that carries the hips.
        base: Degrees of freedom that carry it, where each is a hinge's or slider's.

    Raises:
        LinkworkError: If a foot is not that of such a leg, or they hang on different bodies.
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
            raise LinkworkError("the feet's legs hang on different bodies.", origin=origin)
        if len({leg.body for leg in self.legs}) < len(self.legs):
            raise LinkworkError("two of the feet are the same body.", origin=origin)
        above, body = set(), self.carrier
        while body > 0:
            above.add(body)
            body = int(world.parent[body])
        self.base = [
            d for d, b in enumerate(world.dof_body.tolist())
            if b in above and world.kind[b] not in (BALL, FREE)
        ]  # fmt: skip
        needed = {b for leg in self.legs for b in self._up(leg.body)} | above
        self._order = np.array(sorted(needed), np.int64)
        self._work = workspace(world)
        self._still = np.zeros(3)

    def _up(self, body: int) -> list[int]:
        found = []
        while body > 0:
            found.append(body)
            body = int(self.world.parent[body])
        return found

    def carrier_pose(self, q: np.ndarray) -> Pose:
        """Where the body that carries the hips stands."""
        self._move(q, np.zeros(self.world.nv), np.zeros(self.world.nv))
        row = self._work[0][self.carrier]
        return Pose(tuple(row[:3]), tuple(row[3:]))

    def _move(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        pose, motion, twist, rate, _, scratch = self._work
        kernels.move_bodies(
            self.world.tree, self._order, self._still, q, v, a, pose, motion, twist, rate, scratch
        )

    def solve(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, feet: Sequence[FootCourse]
    ) -> tuple[list[bool], list[bool]]:
        """Fills coordinates, speeds and accelerations of the legs' joints.

        Args:
            q: Coordinates (nq); those of the base are given, of the legs where they were.
            v: Speeds (nv), of the base given.
            a: Accelerations (nv), likewise.
            feet: Where each foot is to be.

        Returns:
            For each leg, whether it reaches, and whether its speeds are known, which those of a
            straight leg are not.
        """
        carrier = self.carrier_pose(q)
        reached = []
        for leg, foot in zip(self.legs, feet, strict=True):
            v[leg.dofs], a[leg.dofs] = 0.0, 0.0
            found = leg.angles(carrier, foot.pose, near=q[leg.coordinates], knee=self.knee)
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
            known.append(bool(here and np.isfinite(fast) and fast < _FASTEST))
        return reached, known

    @staticmethod
    def _divide(columns: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        try:
            return np.linalg.solve(columns.T, wanted)
        except np.linalg.LinAlgError:
            return np.full(6, np.inf)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross product; numpy's own takes ten times as long for so few numbers."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
