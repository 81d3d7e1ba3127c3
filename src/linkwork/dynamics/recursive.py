"""Typed layer over the recursive dynamics kernels.

Efforts and the mass matrix belong to the spanning tree: loops and couplings are not in them, nor
are damping, friction and springs of the joints. Rotor inertia (``armature``) is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork.dynamics import articulated_kernels, kernels
from linkwork.errors import LinkworkError
from linkwork.kinematics.forward import shaped
from linkwork.spatial.kernels import rotate
from linkwork.spatial.pose import Numbers
from linkwork.world import World

Work = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class Arrays:
    """What the kernels read of a world, and room for what they compute.

    Attributes:
        world: The world.
        order: All bodies but the world itself, parents first.
        inert: By body: mass [kg], centre of mass [m], inertia about it [kg m²] (nb×13).
        work: Poses, columns, twists, rates, wrenches and scratch.
    """

    world: World
    order: np.ndarray = field(init=False)
    inert: np.ndarray = field(init=False)
    work: Work = field(init=False)

    def __post_init__(self) -> None:
        world = self.world
        self.order = np.arange(1, world.nb)
        turns = world.inertia.reshape(world.nb, 9)
        self.inert = np.ascontiguousarray(np.column_stack([world.mass, world.com, turns]))
        self.work = workspace(world)


def workspace(world: World) -> Work:
    """Room for poses (nb×7), columns (nv×6), twists, rates and wrenches (nb×6), and scratch."""
    twist, rate, force = (np.zeros((world.nb, 6)) for _ in range(3))
    pose, motion = np.zeros((world.nb, 7)), np.zeros((world.nv, 6))
    return pose, motion, twist, rate, force, np.zeros((5, 7))


def _gravity(world: World, gravity: Numbers | None) -> np.ndarray:
    chosen = world.scene.gravity if gravity is None else gravity
    return shaped("gravity", np.asarray(chosen), (3,))


def rnea(
    world: World, q: np.ndarray, v: np.ndarray, a: np.ndarray, *, gravity: Numbers | None = None
) -> np.ndarray:
    """Efforts [N m or N] that move the joints with the accelerations ``a``: M(q) a + c(q, v).

    Args:
        world: The world.
        q: Coordinates.
        v: Velocities of the degrees of freedom.
        a: Their accelerations.
        gravity: [m/s²]; the scene's if absent.
    """
    arrays = Arrays(world)
    made = np.zeros(world.nv)
    kernels.rnea(
        world.tree, arrays.order, arrays.inert, world.armature, _gravity(world, gravity),
        shaped("q", q, (world.nq,)), shaped("v", v, (world.nv,)), shaped("a", a, (world.nv,)),
        arrays.work, made,
    )  # fmt: skip
    return made


def bias(
    world: World, q: np.ndarray, v: np.ndarray, *, gravity: Numbers | None = None
) -> np.ndarray:
    """Efforts c(q, v) [N m or N] of gravity, centrifugal and Coriolis forces."""
    return rnea(world, q, v, np.zeros(world.nv), gravity=gravity)


def crba(world: World, q: np.ndarray) -> np.ndarray:
    """Mass matrix M(q) (nv×nv)."""
    arrays = Arrays(world)
    made = np.zeros((world.nv, world.nv))
    kernels.crba(
        world.tree, arrays.order, arrays.inert, world.armature, shaped("q", q, (world.nq,)),
        arrays.work, np.zeros((world.nb, 10)), made,
    )  # fmt: skip
    return made


def aba(
    world: World, q: np.ndarray, v: np.ndarray, effort: np.ndarray, *,
    gravity: Numbers | None = None,
) -> np.ndarray:  # fmt: skip
    """Accelerations that the joint efforts cause: M(q)⁻¹ (effort − c(q, v)), without M.

    Raises:
        LinkworkError: A degree of freedom moves nothing that has mass.
    """
    arrays = Arrays(world)
    made = np.zeros(world.nv)
    bad = articulated_kernels.aba(
        world.tree, arrays.order, arrays.inert, world.armature, _gravity(world, gravity),
        shaped("q", q, (world.nq,)), shaped("v", v, (world.nv,)),
        shaped("effort", effort, (world.nv,)), arrays.work, np.zeros((world.nb, 6, 6)),
        np.zeros((world.nv, 8)), made,
    )  # fmt: skip
    if bad >= 0:
        raise LinkworkError(
            f"joint {world.dof_name(bad)!r} moves nothing that has mass, so that no effort moves "
            "it at a definite acceleration.",
            hint="Give what it carries a mass, or the joint an armature.",
        )
    return made


def accelerations(world: World, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Accelerations of all bodies (nb×6: centre of mass [m/s²], angular [rad/s²], world axes)."""
    arrays = Arrays(world)
    pose, motion, twist, rate, _, scratch = arrays.work
    kernels.move_bodies(
        world.tree, arrays.order, np.zeros(3), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), shaped("a", a, (world.nv,)), pose, motion, twist, rate,
        scratch,
    )  # fmt: skip
    made = np.zeros((world.nb, 6))
    for b in range(1, world.nb):
        made[b, :3] = kernels.at_centre(arrays.inert, pose, twist, rate, b)[6:]
        made[b, 3:] = rate[b, 3:]
    return made


def drift(
    world: World, q: np.ndarray, v: np.ndarray, frame: str, *, point: Numbers = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """J̇ v: acceleration of a point of an element or anchor while the joints keep their speed.

    Six numbers: of the point [m/s²], then angular [rad/s²], world axes.
    """
    arrays = Arrays(world)
    pose, motion, twist, rate, _, scratch = arrays.work
    kernels.move_bodies(
        world.tree, arrays.order, np.zeros(3), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), np.zeros(world.nv), pose, motion, twist, rate, scratch,
    )  # fmt: skip
    body, local = world.frame(frame)
    at = pose[body, :3] + rotate(pose[body, 3:], *local.apply(point))
    turn = twist[body, 3:]
    speed = twist[body, :3] + np.cross(turn, at)
    linear = rate[body, :3] + np.cross(rate[body, 3:], at) + np.cross(turn, speed)
    return np.concatenate([linear, rate[body, 3:]])
