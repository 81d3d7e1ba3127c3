"""Closed-form inverse kinematics of legs with six hinges, posed by Cardan angles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Numbers, Pose, Quat, quat_from_matrix, quat_multiply
from linkwork.kinematics.chain import goal_row, intersection, joint_count_text
from linkwork.kinematics.closed_form_kernels import leg_angles
from linkwork.kinematics.forward import forward, shaped
from linkwork.kinematics.kernels import HINGE
from linkwork.model.world import World

#: Sign of the knee's angle by kind.
KNEES = {"human": -1.0, "bird": 1.0}

_EXACT = 1e-9
_FULL = 2.0 * math.pi


@dataclass(frozen=True)
class LegGeometry:
    """Lengths of a leg, for planning without a world.

    The hip's axes are x right, y forward, z up (Schwanen 2002); the straight leg hangs down. Angles
    are q₁, q₂, q₃ about z, y, x in the hip, q₄ about x in the knee, q₅, q₆ about x, y in the ankle
    [rad].

    Attributes:
        thigh: From hip to knee [m] (l₂ of Schwanen 2002).
        shank: From knee to ankle [m] (l₃).
        foot: From ankle to the foot's contact point [m] (l₄).
    """

    thigh: float
    shank: float
    foot: float = 0.0

    def __post_init__(self) -> None:
        lengths = self.thigh, self.shank, self.foot
        if not all(math.isfinite(length) and length >= 0.0 for length in lengths):
            raise LinkworkError(
                "thigh, shank and foot must be 0 m or longer, not "
                f"{self.thigh:g}, {self.shank:g} and {self.foot:g} m."
            )

    def place(self, q: np.ndarray) -> Pose:
        """Returns the pose of the foot's contact point in the hip's frame (Schwanen 2002 §3.1)."""
        yaw, roll, pitch, knee, ankle, tilt = (float(x) for x in shaped("q", q, (6,)))
        hip = _turn(2, yaw) @ _turn(1, roll) @ _turn(0, pitch) @ Pose((0.0, 0.0, -self.thigh))
        shin = hip @ _turn(0, knee) @ Pose((0.0, 0.0, -self.shank))
        return shin @ _turn(0, ankle) @ _turn(1, tilt) @ Pose((0.0, 0.0, -self.foot))

    def solve(
        self, target: Pose, *, knee: str = "human", turned: bool = False, over: bool = False
    ) -> np.ndarray | None:
        """Returns six angles with the foot at ``target`` in the hip's frame; None if out of reach.

        Args:
            target: Pose of the foot's contact point.
            knee: "human" (forward, q₄ ≤ 0) or "bird" (backward, q₄ ≥ 0).
            turned: Whether q₆ is on its second branch, π away.
            over: Whether q₂ is on its second branch, beyond π/2.
        """
        if knee not in KNEES:
            raise not_found("knee", knee, list(KNEES))
        made = np.zeros(6)
        lengths = self.thigh, self.shank, self.foot
        if leg_angles(*lengths, goal_row(target), KNEES[knee], turned, over, made) != 1:
            return None
        return made


def _turn(axis: int, angle: float) -> Pose:
    """Returns the rotation matrix about x, y or z."""
    quat = [math.cos(0.5 * angle), 0.0, 0.0, 0.0]
    quat[1 + axis] = math.sin(0.5 * angle)
    return Pose((0.0, 0.0, 0.0), (quat[0], quat[1], quat[2], quat[3]))


class Leg:
    """A leg of a world: six hinges about z, y, x in the hip, x in the knee, x and y in the ankle.

    BARt-UH II (Schwanen 2002) and most humanoids whose hip axes intersect have such legs.

    Args:
        world: The world.
        foot: Element or anchor of the foot: its heel, its toe, the middle of its sole. Targets are
            given for this virtual contact point (Schwanen 2002 §3.1).
        forward_: Direction of a human-like knee in the world with all angles 0; z × x of the hip's
            axes if absent.

    Attributes:
        geometry: Lengths.
        body: The foot.
        carrier: The body that carries the hip.
        coordinates: Coordinates of the six joints in the world's q.
        dofs: Degrees of freedom of the six joints.
        flat: Orientation of the foot's frame in the world with all angles 0.

    Raises:
        LinkworkError: If the leg has another geometry; the message names the difference.
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
            raise self._refusal(f"{joint_count_text(len(path))} it, where six hinges are needed")
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
        """Measures lengths, axes and signs in the posture with all angles 0."""
        world = self.world
        q = world.q0.copy()
        q[self.coordinates] = 0.0
        pose = forward(world, q)
        here = [Pose(tuple(pose[b, :3]), tuple(pose[b, 3:])) for b in self._path]
        axes = np.array([p.rotate(world.axis[b]) for p, b in zip(here, self._path, strict=True)])
        points = np.array([p.apply(world.pivot[b]) for p, b in zip(here, self._path, strict=True)])
        hip = intersection(axes[:3], points[:3], "hip", self._refusal)
        ankle = intersection(axes[4:], points[4:], "ankle", self._refusal)
        x = axes[2]
        # the knee's point is the intersection of its axis with the plane of hip and ankle
        knee = points[3] + ((hip - points[3]) @ x) * x
        thigh, shank = hip - knee, knee - ankle
        lengths = float(np.linalg.norm(thigh)), float(np.linalg.norm(shank))
        if min(lengths) < _EXACT:
            raise self._refusal("hip, knee and ankle coincide")
        z = thigh / lengths[0]
        y = np.cross(z, x)
        if np.linalg.norm(np.cross(z, shank)) > _EXACT or z @ shank < 0.0 or abs(z @ x) > _EXACT:
            raise self._refusal("hip, knee and ankle are not on one vertical line at angles 0")
        frame = np.array([x, y, z])
        wanted = (2, 1, 0, 0, 0, 1)
        self._signs = np.array([axes[n] @ frame[k] for n, k in enumerate(wanted)])
        if np.abs(np.abs(self._signs) - 1.0).max() > _EXACT:
            worst = int(np.argmax(np.abs(np.abs(self._signs) - 1.0)))
            raise self._refusal(f"axis {worst + 1} is not parallel to {'xyz'[wanted[worst]]}")
        self._signs = np.round(self._signs)
        self._swap = -1.0 if ahead is not None and np.dot(ahead, y) < 0.0 else 1.0
        self.geometry = LegGeometry(*lengths)
        whole = Pose(tuple(hip.tolist()), quat_from_matrix(frame.T))
        row = pose[self.body]
        sole = Pose(tuple(row[:3]), tuple(row[3:])) @ local
        straight = whole @ self.geometry.place(np.zeros(6))
        self.flat = Pose((0.0, 0.0, 0.0), sole.quat)
        self._tool = sole.inverse() @ straight  # from the foot's frame to the ankle's
        carrier = int(world.parent[self._path[0]])
        row = pose[carrier]
        self.carrier = carrier
        self._hip = Pose(tuple(row[:3]), tuple(row[3:])).inverse() @ whole

    def solve(
        self, target: Pose, *, seed: np.ndarray | None = None, knee: str = "human"
    ) -> np.ndarray | None:
        """Returns coordinates of the world with the foot at ``target``; None if there are none.

        Of all postures with this knee within the ranges it is the one nearest to ``seed``.

        Args:
            target: Pose of the foot in the world.
            seed: Coordinates, including those of the hip's carrier; the world's if absent.
            knee: "human" (forward) or "bird" (backward).
        """
        world = self.world
        q = world.q0.copy() if seed is None else shaped("seed", seed, (world.nq,)).copy()
        row = forward(world, q)[self.carrier]
        carrier = Pose(tuple(row[:3]), tuple(row[3:]))
        values = self.angles(carrier, target, seed=q[self.coordinates], knee=knee)
        if values is None:
            return None
        q[self.coordinates] = values
        return q

    def angles(
        self, carrier: Pose, target: Pose, *, seed: np.ndarray, knee: str = "human"
    ) -> np.ndarray | None:
        """Returns the six coordinates of the leg alone, as :meth:`solve`.

        Args:
            carrier: Pose of the body that carries the hip, in the world.
            target: Pose of the foot in the world.
            seed: The leg's own six coordinates.
            knee: "human" (forward) or "bird" (backward).
        """
        if knee not in KNEES:
            raise not_found("knee", knee, list(KNEES))
        world, hip = self.world, carrier @ self._hip
        goal = goal_row(hip.inverse() @ target @ self._tool)
        lo, hi = world.dof_lo[self.dofs], world.dof_hi[self.dofs]
        angles, best, chosen = np.zeros(6), math.inf, None
        lengths = self.geometry.thigh, self.geometry.shank, self.geometry.foot
        for branch in range(4):
            bend = KNEES[knee] * self._swap
            if leg_angles(*lengths, goal, bend, branch % 2 == 1, branch > 1, angles) != 1:
                return None
            values = self._signs * angles
            values -= _FULL * np.round((values - seed) / _FULL)
            below, above = values < lo, values > hi  # never for unlimited joints
            values[below] += _FULL * np.ceil((lo - values)[below] / _FULL - 1e-12)
            values[above] -= _FULL * np.ceil((values - hi)[above] / _FULL - 1e-12)
            distance = float(np.abs(values - seed).max())
            fits = ((values >= lo - 1e-12) & (values <= hi + 1e-12)).all()
            if fits and distance < best:
                best, chosen = distance, values
                if distance < 0.5 * math.pi:  # in all other branches a joint differs by π
                    break
        return chosen


def cardan_quat(phi: float, psi: float, theta: float) -> Quat:
    """Returns Rx(φ) Ry(ψ) Rz(θ) as a quaternion."""
    x = (math.cos(0.5 * phi), math.sin(0.5 * phi), 0.0, 0.0)
    y = (math.cos(0.5 * psi), 0.0, math.sin(0.5 * psi), 0.0)
    z = (math.cos(0.5 * theta), 0.0, 0.0, math.sin(0.5 * theta))
    return quat_multiply(quat_multiply(x, y), z)


def cardan_rates(angles: np.ndarray, rates: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Returns angular velocity [rad/s] and acceleration [rad/s²] in the world, by row.

    ω = E(φ, ψ)·(φ̇, ψ̇, θ̇) and α = E·(φ̈, ψ̈, θ̈) + Ė·(φ̇, ψ̇, θ̇), E's columns being the axes of
    the three angles.
    """
    axes, turned = _axes(angles, rates)
    return np.array([axes @ rates, axes @ changes + turned @ rates])


def _axes(angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns E and its rate of change."""
    s, c = math.sin(angles[0]), math.cos(angles[0])
    sp, cp = math.sin(angles[1]), math.cos(angles[1])
    f, p = float(rates[0]), float(rates[1])
    axes = np.array([[1.0, 0.0, sp], [0.0, c, -s * cp], [0.0, s, c * cp]])
    turned = np.array(
        [
            [0.0, 0.0, cp * p],
            [0.0, -s * f, -c * f * cp + s * sp * p],
            [0.0, c * f, -s * f * cp - c * sp * p],
        ]
    )
    return axes, turned
