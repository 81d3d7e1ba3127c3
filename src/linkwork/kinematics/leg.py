"""Closed-form inverse kinematics of legs with six hinges: hip z-y-x, knee x, ankle x-y."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics.chain import carriers, goal_of, meeting_point
from linkwork.kinematics.forward import forward, shaped
from linkwork.kinematics.kernels import HINGE
from linkwork.kinematics.leg_kernels import leg_angles
from linkwork.spatial.pose import Numbers, Pose, quat_from_matrix
from linkwork.world import World

#: Ways to bend the knee: sign of its angle.
KNEES = {"human": -1.0, "bird": 1.0}

_EXACT = 1e-9
_FULL = 2.0 * math.pi


@dataclass(frozen=True)
class LegGeometry:
    """Lengths of a leg, for planning without a world.

    The hip's axes are x to the right, y forward, z up, as in 002; the straight leg hangs down.
    Angles are those of 002: q₁, q₂, q₃ about z, y, x in the hip, q₄ about x in the knee, q₅, q₆
    about x, y in the ankle [rad].

    Attributes:
        thigh: From hip to knee [m] (002's l₂).
        shank: From knee to ankle [m] (l₃).
        foot: From ankle to the foot's point of contact [m] (l₄).
    """

    thigh: float
    shank: float
    foot: float = 0.0

    def __post_init__(self) -> None:
        lengths = self.thigh, self.shank, self.foot
        if not all(math.isfinite(length) and length >= 0.0 for length in lengths):
            raise LinkworkError(
                "thigh, shank and foot must be 0 m long or more, not "
                f"{self.thigh:g}, {self.shank:g} and {self.foot:g} m."
            )

    def place(self, q: np.ndarray) -> Pose:
        """Pose of the foot's point of contact in the hip's frame (002 §3.1)."""
        yaw, roll, pitch, knee, ankle, tilt = (float(x) for x in shaped("q", q, (6,)))
        hip = _turn(2, yaw) @ _turn(1, roll) @ _turn(0, pitch) @ Pose((0.0, 0.0, -self.thigh))
        shin = hip @ _turn(0, knee) @ Pose((0.0, 0.0, -self.shank))
        return shin @ _turn(0, ankle) @ _turn(1, tilt) @ Pose((0.0, 0.0, -self.foot))

    def solve(
        self, target: Pose, *, knee: str = "human", turned: bool = False, over: bool = False
    ) -> np.ndarray | None:
        """Six angles whose foot stands at ``target`` in the hip's frame; None if out of reach.

        Args:
            target: Pose of the foot's point of contact.
            knee: "human" (forward, q₄ ≤ 0) or "bird" (backward, q₄ ≥ 0).
            turned: The ankle half a turn on, from where it looks at the hip from below.
            over: The hip the other way round, with q₂ beyond a quarter turn.
        """
        if knee not in KNEES:
            raise not_found("knee", knee, list(KNEES))
        made = np.zeros(6)
        lengths = self.thigh, self.shank, self.foot
        if leg_angles(*lengths, goal_of(target), KNEES[knee], turned, over, made) != 1:
            return None
        return made


def _turn(axis: int, angle: float) -> Pose:
    """A turn about x, y or z."""
    quat = [math.cos(0.5 * angle), 0.0, 0.0, 0.0]
    quat[1 + axis] = math.sin(0.5 * angle)
    return Pose((0.0, 0.0, 0.0), (quat[0], quat[1], quat[2], quat[3]))


class Leg:
    """A leg of a world: six hinges about z, y, x in the hip, x in the knee, x and y in the ankle.

    002's BARt-UH II, and most humanoids whose hip axes meet in a point, are built so.

    Args:
        world: The world.
        foot: Element or anchor that the ankle carries.
        forward_: Which way a human-like knee points, in the world while all angles are 0; along
            z × x of the hip's axes if absent, as in 002.

    Any anchor of the foot may be named, its heel, its toe, the middle of its sole: the foot's
    virtual contact point (002 §3.1), which targets are given for and about which it turns.

    Attributes:
        geometry: Lengths.
        body: The foot.
        carrier: The body that carries the hip.
        coordinates: Of the six joints, in the world's.
        dofs: Degrees of freedom of the six joints.
        flat: How the named frame is turned in the world while all angles are 0.

    Raises:
        LinkworkError: The leg is not built like that; the message says why.
    """

    def __init__(self, world: World, foot: str, *, forward_: Numbers | None = None) -> None:
        self.world, self.foot = world, foot
        self.body, local = world.frame(foot)
        path, at = [], self.body
        while at > 0 and len(path) < 6:
            if world.kind[at] != 0:
                path.append(at)
            at = int(world.parent[at])
        self._path = path[::-1]
        if len(path) != 6 or {int(world.kind[b]) for b in path} != {HINGE}:
            raise self._refusal(f"{carriers(len(path))} it, where six hinges are needed")
        self.coordinates = world.qadr[self._path]
        self.dofs = world.vadr[self._path]
        if set(self.dofs.tolist()) & set(world.coupling_dof.ravel().tolist()):
            raise self._refusal("some of its joints follow others")
        self._measure(local, forward_)

    def _refusal(self, why: str) -> LinkworkError:
        return LinkworkError(
            f"{self.foot!r} is not the foot of a leg z-y-x, x, x-y: {why}.",
            hint="Solve it numerically, with Solver and PoseTask.",
        )

    def _measure(self, local: Pose, ahead: Numbers | None) -> None:
        """Lengths, axes and signs from the posture in which all angles are 0."""
        world = self.world
        q = world.q0.copy()
        q[self.coordinates] = 0.0
        pose = forward(world, q)
        here = [Pose(tuple(pose[b, :3]), tuple(pose[b, 3:])) for b in self._path]
        axes = np.array([p.rotate(world.axis[b]) for p, b in zip(here, self._path, strict=True)])
        points = np.array([p.apply(world.pivot[b]) for p, b in zip(here, self._path, strict=True)])
        hip = self._meet(axes[:3], points[:3], "hip")
        ankle = self._meet(axes[4:], points[4:], "ankle")
        x = axes[2]
        # the knee's point is where its axis passes the plane of hip and ankle
        knee = points[3] + ((hip - points[3]) @ x) * x
        thigh, shank = hip - knee, knee - ankle
        lengths = float(np.linalg.norm(thigh)), float(np.linalg.norm(shank))
        if min(lengths) < _EXACT:
            raise self._refusal("hip, knee and ankle do not stand apart")
        z = thigh / lengths[0]
        y = np.cross(z, x)
        if np.linalg.norm(np.cross(z, shank)) > _EXACT or z @ shank < 0.0 or abs(z @ x) > _EXACT:
            raise self._refusal("hip, knee and ankle do not stand below each other at angles 0")
        frame = np.array([x, y, z])
        wanted = (2, 1, 0, 0, 0, 1)
        self._signs = np.array([axes[n] @ frame[k] for n, k in enumerate(wanted)])
        if np.abs(np.abs(self._signs) - 1.0).max() > _EXACT:
            worst = int(np.argmax(np.abs(np.abs(self._signs) - 1.0)))
            raise self._refusal(f"axis {worst + 1} does not point along {'xyz'[wanted[worst]]}")
        self._signs = np.round(self._signs)
        self._swap = -1.0 if ahead is not None and np.dot(ahead, y) < 0.0 else 1.0
        self.geometry = LegGeometry(*lengths)
        whole = Pose(tuple(hip.tolist()), quat_from_matrix(frame.T))
        row = pose[self.body]
        sole = Pose(tuple(row[:3]), tuple(row[3:])) @ local
        straight = whole @ self.geometry.place(np.zeros(6))
        self.flat = Pose((0.0, 0.0, 0.0), sole.quat)
        self._tool = sole.inverse() @ straight  # from the named frame to the ankle's
        carrier = int(world.parent[self._path[0]])
        row = pose[carrier]
        self.carrier = carrier
        self._hip = Pose(tuple(row[:3]), tuple(row[3:])).inverse() @ whole

    def _meet(self, axes: np.ndarray, points: np.ndarray, where: str) -> np.ndarray:
        """The point where the lines meet."""
        found, gap = meeting_point(axes, points)
        if gap > _EXACT:
            raise self._refusal(f"the axes of its {where} miss each other by {gap:.3g} m")
        return found

    def solve(
        self, target: Pose, *, near: np.ndarray | None = None, knee: str = "human"
    ) -> np.ndarray | None:
        """Coordinates of the world whose foot stands at ``target``; None if no posture does.

        Of all postures with this knee within the ranges it is the one next to ``near``.

        Args:
            target: Pose of the foot in the world.
            near: Coordinates, also of what carries the hip; the world's if absent.
            knee: "human" (forward) or "bird" (backward).
        """
        world = self.world
        q = world.q0.copy() if near is None else shaped("near", near, (world.nq,)).copy()
        row = forward(world, q)[self.carrier]
        carrier = Pose(tuple(row[:3]), tuple(row[3:]))
        values = self.angles(carrier, target, near=q[self.coordinates], knee=knee)
        if values is None:
            return None
        q[self.coordinates] = values
        return q

    def angles(
        self, carrier: Pose, target: Pose, *, near: np.ndarray, knee: str = "human"
    ) -> np.ndarray | None:
        """The six coordinates of the leg alone; as :meth:`solve`, without moving the world.

        Args:
            carrier: Pose of the body that carries the hip, in the world.
            target: Pose of the foot in the world.
            near: The leg's own six coordinates.
            knee: "human" (forward) or "bird" (backward).
        """
        if knee not in KNEES:
            raise not_found("knee", knee, list(KNEES))
        world, hip = self.world, carrier @ self._hip
        goal = goal_of(hip.inverse() @ target @ self._tool)
        lo, hi = world.dof_lo[self.dofs], world.dof_hi[self.dofs]
        made, best, chosen = np.zeros(6), math.inf, None
        lengths = self.geometry.thigh, self.geometry.shank, self.geometry.foot
        for number in range(4):
            bend = KNEES[knee] * self._swap
            if leg_angles(*lengths, goal, bend, number % 2 == 1, number > 1, made) != 1:
                return None
            values = self._signs * made
            values -= _FULL * np.round((values - near) / _FULL)
            below, above = values < lo, values > hi  # never where a joint has no end
            values[below] += _FULL * np.ceil((lo - values)[below] / _FULL - 1e-12)
            values[above] -= _FULL * np.ceil((values - hi)[above] / _FULL - 1e-12)
            far = float(np.abs(values - near).max())
            fits = ((values >= lo - 1e-12) & (values <= hi + 1e-12)).all()
            if fits and far < best:
                best, chosen = far, values
                if far < 0.5 * math.pi:  # in all other branches a joint is half a turn away
                    break
        return chosen
