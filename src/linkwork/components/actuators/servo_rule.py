"""Servo rule: gains of servos from the inertia and the weight that a joint moves.

With q̇ = T y, where y are the independent joint velocities that couplings and loops leave, the
inertia and the weight of joint j at the start posture, all others fixed, are

    I = (Tᵀ M T)_jj,    L = ‖((Tᵀ g_x)_j, (Tᵀ g_y)_j, (Tᵀ g_z)_j)‖,

with the mass matrix M and the holding efforts g_k under gravity along axis k: L is the largest
gravity load in any orientation of the robot. A free robot of mass m also stands on n feet, the
lowest points of its shapes at the start: a joint that moves a foot by d per unit of its own motion
(a hinge at the distance d) has at least I = m d²/n and L = m g d/n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.recursive import bias, crba
from linkwork.geometry import Pose
from linkwork.kinematics import forward
from linkwork.kinematics.closed_motion import closed_motion
from linkwork.kinematics.kernels import FIXED, FREE
from linkwork.model.parts.shape import lowest_point
from linkwork.model.world import World

#: Static deflection under the weight, of a hinge [rad] and of a slider [m].
SAG = math.radians(0.5), 1e-3
#: Largest bandwidth times step.
STEP_RATIO = 0.1
#: Smallest inertia of a hinge [kg m²] and of a slider [kg] for which gains are computed.
LEAST_INERTIA = 1e-4, 1e-2
#: Distance of a center of mass from the axis of a wheel, relative to the wheel's extent.
CENTERED = 1e-2
#: Most joints between the base and a wheel.
WHEEL_JOINTS = 2
#: Height of feet above the lowest point, relative to the robot's height.
FOOT_HEIGHT = 0.02
#: Relative size of a velocity that counts as independent of others.
INDEPENDENT = 1e-4


@dataclass(frozen=True)
class JointLoad:
    """What a servo of a degree of freedom moves and holds.

    Attributes:
        inertia: I [kg m² or kg].
        weight: L [N m or N].
        holding: Effort that holds the start posture [N m or N], with the base held.
    """

    inertia: float
    weight: float
    holding: float


@dataclass(frozen=True)
class ServoGains:
    """Gains of a servo [N m/rad or N/m] and [N m s/rad or N s/m]; kp is 0 for a motor."""

    kp: float
    kd: float


def servo_gains(
    load: JointLoad,
    *,
    angle: bool,
    step: float,
    bandwidth: float,
    damping_ratio: float,
    sag: float,
    explicit: bool = False,
) -> ServoGains:
    """Returns the gains kp = max(I ω², L/s) and kd = 2 ζ √(kp I), with ω ≤ 0.1/h.

    Args:
        load: What it moves.
        angle: Whether the degree of freedom is a rotation.
        step: Time step h [s].
        bandwidth: ω/2π [Hz].
        damping_ratio: ζ.
        sag: Largest static deflection s [rad or m].
        explicit: Whether the integrator evaluates the servo at the start of the step, which is
            stable only with gains for the true inertia, and below 0.25 I/h².
    """
    inertia = load.inertia
    if not (explicit and inertia > 0.0):
        inertia = max(inertia, LEAST_INERTIA[0 if angle else 1])
    omega = min(2.0 * math.pi * bandwidth, STEP_RATIO / step)
    kp = max(inertia * omega * omega, load.weight / sag)
    if explicit:
        kp = min(kp, 0.25 * inertia / (step * step))
    return ServoGains(kp, 2.0 * damping_ratio * math.sqrt(kp * inertia))


def joint_loads(world: World, dofs: list[int], driven: list[int]) -> dict[int, JointLoad]:
    """Returns inertia, weight and holding effort of independent degrees of freedom.

    Args:
        world: The world.
        dofs: Degrees of freedom that may get a servo, in order of preference.
        driven: Those that other drives move.

    Returns:
        By degree of freedom; ``dofs`` that couplings or loops determine by others are absent.
    """
    motion, chosen = _independent_motion(world, driven, dofs)
    column = {dof: number for number, dof in enumerate(chosen)}
    inertia = np.einsum("ij,ij->j", motion, crba(world, world.q0) @ motion)
    still = np.zeros(world.nv)
    size = float(np.linalg.norm(world.scene.gravity))
    axes = [bias(world, world.q0, still, gravity=tuple(size * axis)) for axis in np.eye(3)]
    weight = np.linalg.norm(np.array(axes) @ motion, axis=0)
    mass, lever = _foot_loads(world, motion)
    holding = np.abs(bias(world, world.q0, still) @ motion)
    made: dict[int, JointLoad] = {}
    for dof in dofs:
        if (k := column.get(dof)) is None:
            continue
        made[dof] = JointLoad(
            max(float(inertia[k]), float(mass[k] * lever[k] ** 2)),
            max(float(weight[k]), float(mass[k] * size * lever[k])),
            float(holding[k]),
        )
    return made


def _independent_motion(
    world: World, driven: list[int], dofs: list[int]
) -> tuple[np.ndarray, list[int]]:
    """Returns T (nv×r) and the degrees of freedom whose velocities are y."""
    if not len(world.loop_names) and not len(world.coupling_dof):
        return np.eye(world.nv), list(range(world.nv))
    try:
        free = closed_motion(world, world.q0, range(1, world.nb), held=False).free
    except LinkworkError:  # a kind of loop without a linear form: every joint by itself
        return np.eye(world.nv), list(range(world.nv))
    followers = set(world.coupling_dof[:, 0].tolist())
    order = [d for d in dict.fromkeys([*driven, *dofs, *range(world.nv)]) if d not in followers]
    left, chosen = free.copy(), list[int]()
    for dof in order:  # Gram-Schmidt on the rows of T
        row = left[dof]
        size = float(np.linalg.norm(row))
        if size > INDEPENDENT * max(float(np.linalg.norm(free[dof])), INDEPENDENT):
            chosen.append(dof)
            left = left - np.outer(left @ row, row) / size**2
        if len(chosen) == free.shape[1]:
            break
    return free @ np.linalg.pinv(free[chosen]), chosen


def _foot_loads(world: World, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns mass on a foot [kg] and its speed per joint speed, d, by column of T."""
    poses = forward(world, world.q0)
    mass, lever = np.zeros(motion.shape[1]), np.zeros(motion.shape[1])
    for island in {int(world.island[b]) for b in range(1, world.nb) if world.kind[b] == FREE}:
        bodies = {b for b in range(1, world.nb) if int(world.island[b]) == island}
        feet = _feet(world, poses, bodies)
        for body, point in feet.items():
            speed = np.linalg.norm(_point_jacobian(world, poses, body, point) @ motion, axis=0)
            moved = speed > lever
            lever[moved] = speed[moved]
            mass[moved] = float(world.mass[list(bodies)].sum()) / len(feet)
    return mass, lever


def _feet(world: World, poses: np.ndarray, bodies: set[int]) -> dict[int, np.ndarray]:
    """Returns the lowest points of the bodies that a robot stands on."""
    found: dict[int, np.ndarray] = {}
    for each in world.shapes:
        if each.body in bodies and each.shape.collide:
            x, y, z, *quat = (float(c) for c in poses[each.body])
            pose = Pose.of((x, y, z), quat=tuple(quat)) @ each.pose
            low = lowest_point(each.shape, pose)
            if math.isfinite(low) and (each.body not in found or low < found[each.body][2]):
                found[each.body] = np.array([pose.xyz[0], pose.xyz[1], low])
    if not found:
        return {}
    heights = [point[2] for point in found.values()]
    top = max(*heights, *(float(poses[b, 2]) for b in bodies))
    floor = min(heights) + FOOT_HEIGHT * (top - min(heights))
    return {body: point for body, point in found.items() if point[2] <= floor}


def _point_jacobian(world: World, poses: np.ndarray, body: int, point: np.ndarray) -> np.ndarray:
    """Returns velocities of a point by hinges and sliders (3×nv); other joints are fixed."""
    made = np.zeros((3, world.nv))
    for each in world.ancestors(body):
        dofs = np.flatnonzero(world.dof_body == each).tolist()
        if len(dofs) == 1:
            x, y, z, *quat = (float(c) for c in poses[each])
            pose = Pose.of((x, y, z), quat=tuple(quat))
            axis = np.array(pose.rotate(world.axis[each]))
            arm = point - np.array(pose.apply(world.pivot[each]))
            made[:, dofs[0]] = np.cross(axis, arm) if world.dof_is_angle(dofs[0]) else axis
    return made


def is_wheel(world: World, dof: int) -> bool:
    """Whether a hinge turns without end and carries one body, balanced on the axis.

    Gravity does not turn it, so that it keeps its angle at speed 0. The last link of an arm is no
    wheel: at most ``WHEEL_JOINTS`` joints, as of a steered and suspended wheel, come before it.
    """
    body = int(world.dof_body[dof])
    endless = not (np.isfinite(world.dof_lo[dof]) or np.isfinite(world.dof_hi[dof]))
    if not endless or not world.dof_is_angle(dof) or (world.parent == body).any():
        return False
    before = [b for b in world.ancestors(int(world.parent[body])) if world.kind[b] != FREE]
    if sum(1 for b in before if world.kind[b] != FIXED) > WHEEL_JOINTS:
        return False
    mass = float(world.mass[body])
    if mass <= 0.0 or (len(world.loop_names) and (world.loop_body == body).any()):
        return False
    off = float(np.linalg.norm(np.cross(world.axis[body], world.com[body] - world.pivot[body])))
    extent = math.sqrt(float(np.trace(world.inertia[body])) / mass)  # radius of gyration
    return off <= CENTERED * extent
