"""Closed-form inverse kinematics of the Agile Eye: three motors rotate a head about a point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Numbers, Pose, Vec3
from linkwork.kinematics.chain import common_point
from linkwork.kinematics.forward import forward, shaped
from linkwork.kinematics.kernels import BALL, HINGE
from linkwork.model.world import World

_TOLERANCE = 1e-9
_NOTHING = 1e-12


@dataclass(frozen=True)
class AgileEyeGeometry:
    """A spherical parallel mechanism 3-RRR, orthogonal design (Schwanen 2002 figure 2.6).

    Motor n rotates the middle axis v about its own axis u; v is perpendicular to the pin w, which
    is fixed to the head. With w = R u' in the axes of the motors, where u' is the next motor's axis
    and u'' the one after, v · w = 0 gives tan a = (w · u'') / (w · u').

    Attributes:
        motors: Axes of the motors by columns, right-handed, in their carrier's frame (3×3).
    """

    motors: np.ndarray

    @staticmethod
    def about(axis: Numbers, first: Numbers) -> AgileEyeGeometry:
        """Returns three motors evenly around ``axis``, the axis of the first leaning to ``first``.

        Raises:
            LinkworkError: If the two directions are not perpendicular.
        """
        up, side = (shaped(name, np.asarray(given, float), (3,))
                    for name, given in (("axis", axis), ("first", first)))  # fmt: skip
        sizes = float(np.linalg.norm(up)), float(np.linalg.norm(side))
        if min(sizes) < _NOTHING or abs(up @ side) > _TOLERANCE * sizes[0] * sizes[1]:
            raise LinkworkError("axis and first must be perpendicular.")
        up, side = up / sizes[0], side / sizes[1]
        across = np.cross(up, side)
        turns = [2.0 * math.pi * n / 3.0 for n in range(3)]
        flat = [math.cos(turn) * side + math.sin(turn) * across for turn in turns]
        columns = [math.sqrt(2.0 / 3.0) * each + up / math.sqrt(3.0) for each in flat]
        return AgileEyeGeometry(np.column_stack(columns))

    def angles(self, turn: np.ndarray) -> np.ndarray | None:
        """Returns the motor angles at which the head is rotated by ``turn``.

        Args:
            turn: Rotation matrix from the zero posture, in the frame of the motors' carrier (3×3).

        Returns:
            Three angles within ±π [rad]; None if a pin is parallel to its motor's axis (singular).
        """
        given = shaped("turn", np.asarray(turn, float), (3, 3))
        if np.abs(given @ given.T - np.eye(3)).max() > 1e-6 or np.linalg.det(given) < 0.0:
            raise LinkworkError("turn must be a rotation matrix.")
        seen = self.motors.T @ given @ self.motors
        made = np.zeros(3)
        for n in range(3):
            y, z = (n + 1) % 3, (n + 2) % 3
            pin = seen[:, y]
            if math.hypot(pin[y], pin[z]) < _NOTHING:
                return None
            made[n] = math.atan2(pin[z], pin[y])
        return made


class AgileEyeSolver:
    """An Agile Eye of a world.

    Args:
        world: The world; the mechanism is measured with all its hinges at 0.
        drives: The three hinges of the motors, in the order in which their axes are right-handed.
        head: Element or anchor that they rotate.

    Attributes:
        geometry: Its motors.
        center: Intersection of all axes, in the frame of the motors' carrier [m].
        coordinates: Coordinates of the motors in the world's q.

    Raises:
        LinkworkError: If the mechanism has another geometry; the message names the difference.
    """

    def __init__(self, world: World, drives: Sequence[str], head: str) -> None:
        self.world, self.head = world, head
        if len(drives) != 3:
            raise self._refusal(f"{len(drives)} motors are named, where three are needed")
        bodies = [int(world.dof_body[world.single_dof(name)]) for name in drives]
        for body, name in zip(bodies, drives, strict=True):
            if int(world.kind[body]) != HINGE:
                raise self._refusal(f"{name!r} is no hinge")
        carrier = int(world.parent[bodies[0]])
        if any(int(world.parent[b]) != carrier for b in bodies):
            raise self._refusal("its motors are not on one body")
        self.coordinates = world.qadr[bodies]
        pose = forward(world, _zero_posture(world, carrier))
        placed = [_pose(pose[b]) for b in bodies]
        axes = np.array([p.rotate(world.axis[b]) for p, b in zip(placed, bodies, strict=True)])
        points = np.array([p.apply(world.pivot[b]) for p, b in zip(placed, bodies, strict=True)])
        center, gap = common_point(axes, points)
        if gap > _TOLERANCE:
            raise self._refusal(f"the axes of its motors miss each other by {gap:.3g} m")
        if np.abs(axes @ axes.T - np.eye(3)).max() > _TOLERANCE:
            raise self._refusal("the axes of its motors are not perpendicular")
        if np.linalg.det(axes) < 0.0:
            raise self._refusal("the axes of its motors are left-handed; exchange two")
        body, local = world.frame(head)
        pins = [self._pin(b, body, name) for b, name in zip(bodies, drives, strict=True)]
        directions = [_pose(pose[pin.middle]).apply(pin.below) - center for pin in pins]
        for n, (pin, direction) in enumerate(zip(pins, directions, strict=True)):
            middle = _pose(pose[pin.middle]).rotate(world.axis[pin.middle])
            off = np.cross(direction, axes[(n + 1) % 3]), np.cross(middle, axes[(n + 2) % 3])
            size = float(np.linalg.norm(direction))
            if size < _TOLERANCE or np.linalg.norm(off[0]) > _TOLERANCE * size:
                raise self._refusal(f"the pin behind {drives[n]!r} is not on the next motor's axis")
            if np.linalg.norm(off[1]) > _TOLERANCE:
                raise self._refusal(
                    f"the middle axis behind {drives[n]!r} is not perpendicular to its "
                    "motor and its pin"
                )
        base = _pose(pose[carrier]).inverse()
        self.center = np.asarray(base.apply(center))
        self.geometry = AgileEyeGeometry(base.matrix()[:3, :3] @ axes.T)
        held = [np.asarray(pin.above) for pin in pins]
        turn = _rotation_between(
            [held[1] - held[0], held[2] - held[0]],
            [directions[1] - directions[0], directions[2] - directions[0]],
        )
        self._start = base.matrix()[:3, :3] @ turn @ local.matrix()[:3, :3]

    def _pin(self, motor: int, head: int, name: str) -> _PinJoint:
        """Returns the pin that connects the head to the end of a motor's two arcs."""
        world = self.world
        for middle in np.flatnonzero((world.parent == motor) & (world.kind == HINGE)).tolist():
            for ends, poses, kind in zip(
                world.loop_body.tolist(), world.loop_pose, world.loop_kind.tolist(), strict=True
            ):
                if sorted(ends) == sorted((middle, head)) and kind in (HINGE, BALL):
                    first = ends.index(middle)
                    return _PinJoint(middle, tuple(poses[first, :3]), tuple(poses[1 - first, :3]))
        raise self._refusal(f"no pin connects it behind {name!r} and a second hinge")

    def _refusal(self, why: str) -> LinkworkError:
        return LinkworkError(
            f"{self.head!r} is not the head of an Agile Eye: {why}.",
            hint="Solve it numerically, with Solver and PoseTask.",
        )

    def solve(self, target: Pose) -> np.ndarray | None:
        """Returns the motor angles for an attitude of the head in the frame of their carrier.

        The position of ``target`` is ignored. Returns None if a pin is parallel to its motor's
        axis.
        """
        return self.geometry.angles(target.matrix()[:3, :3] @ self._start.T)


class _PinJoint(NamedTuple):
    """A pin: the body of its arc, its position there and its position on the head [m]."""

    middle: int
    below: Vec3
    above: Vec3


def _zero_posture(world: World, carrier: int) -> np.ndarray:
    """Returns coordinates with all hinges on what ``carrier`` carries at 0."""
    q, below = world.q0.copy(), {carrier}
    for body in range(1, world.nb):  # parents precede children
        if int(world.parent[body]) in below and world.kind[body] == HINGE:
            below.add(body)
            q[int(world.qadr[body])] = 0.0
    return q


def _rotation_between(here: list[np.ndarray], there: list[np.ndarray]) -> np.ndarray:
    """Returns the rotation that maps two directions and their cross product from here to there."""
    made = [np.column_stack([a, b, np.cross(a, b)]) for a, b in (here, there)]
    left, _, right = np.linalg.svd(made[1] @ np.linalg.inv(made[0]))
    return left @ right


def _pose(row: np.ndarray) -> Pose:
    return Pose(tuple(row[:3]), tuple(row[3:]))
