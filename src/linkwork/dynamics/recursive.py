"""Typed interface of the recursive dynamics kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics import kernels
from linkwork.geometry.kernels import rotate
from linkwork.geometry.pose import Numbers
from linkwork.kinematics.forward import shaped
from linkwork.model.world import World

#: What to do about joints that move nothing that has mass.
NO_MASS_HINT = "Give the moving bodies a mass, or the joints an armature."

Work = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class DynamicsArrays:
    """Arrays of a world that the kernels read, with their workspace.

    Attributes:
        world: The world.
        order: All bodies but the world itself, parents first.
        inert: By body: mass [kg], center of mass [m], inertia about it [kg m²] (nb×13).
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

    @property
    def robot(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """The first arguments of the kernels rnea, crba and aba."""
        return self.world.tree, self.order, self.inert, self.world.armature


def workspace(world: World) -> Work:
    """Returns arrays for poses (nb×7), columns (nv×6), twists, rates, wrenches (nb×6), scratch."""
    twist, rate, force = (np.zeros((world.nb, 6)) for _ in range(3))
    pose, motion = np.zeros((world.nb, 7)), np.zeros((world.nv, 6))
    return pose, motion, twist, rate, force, np.zeros((5, 7))


def _gravity(world: World, gravity: Numbers | None) -> np.ndarray:
    chosen = world.scene.gravity if gravity is None else gravity
    return shaped("gravity", np.asarray(chosen), (3,))


def rnea(
    world: World, q: np.ndarray, v: np.ndarray, a: np.ndarray, *, gravity: Numbers | None = None
) -> np.ndarray:
    """Returns the efforts [N m or N] for the accelerations ``a``: M(q) a + c(q, v).

    Args:
        world: The world.
        q: Coordinates.
        v: Velocities of the degrees of freedom.
        a: Their accelerations.
        gravity: [m/s²]; the scene's if absent.
    """
    arrays = DynamicsArrays(world)
    made = np.zeros(world.nv)
    kernels.rnea(
        *arrays.robot, _gravity(world, gravity), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), shaped("a", a, (world.nv,)), arrays.work, made,
    )  # fmt: skip
    return made


def bias(
    world: World, q: np.ndarray, v: np.ndarray, *, gravity: Numbers | None = None
) -> np.ndarray:
    """Returns the efforts c(q, v) [N m or N] of gravity, centrifugal and Coriolis forces."""
    return rnea(world, q, v, np.zeros(world.nv), gravity=gravity)


def crba(world: World, q: np.ndarray) -> np.ndarray:
    """Returns the mass matrix M(q) (nv×nv)."""
    arrays = DynamicsArrays(world)
    made = np.zeros((world.nv, world.nv))
    kernels.crba(
        *arrays.robot, shaped("q", q, (world.nq,)), arrays.work, np.zeros((world.nb, 10)), made,
    )  # fmt: skip
    return made


def aba(
    world: World, q: np.ndarray, v: np.ndarray, effort: np.ndarray, *,
    gravity: Numbers | None = None,
) -> np.ndarray:  # fmt: skip
    """Returns the accelerations of joint efforts: M(q)⁻¹ (effort − c(q, v)), without M.

    Raises:
        LinkworkError: If a degree of freedom moves nothing that has mass.
    """
    arrays = DynamicsArrays(world)
    made = np.zeros(world.nv)
    bad = kernels.aba(
        *arrays.robot, _gravity(world, gravity), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), shaped("effort", effort, (world.nv,)), arrays.work,
        np.zeros((world.nb, 6, 6)), np.zeros((world.nv, 8)), made,
    )  # fmt: skip
    if bad >= 0:
        raise LinkworkError(
            f"joint {world.dof_name(bad)!r} moves nothing that has mass, so that its "
            "acceleration is undefined.",
            hint=NO_MASS_HINT,
        )
    return made


def accelerations(world: World, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Returns accelerations of all bodies (nb×6: center of mass [m/s²], angular [rad/s²])."""
    arrays = DynamicsArrays(world)
    pose, motion, twist, rate, _, scratch = arrays.work
    kernels.body_motions(
        world.tree, arrays.order, np.zeros(3), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), shaped("a", a, (world.nv,)), pose, motion, twist, rate,
        scratch,
    )  # fmt: skip
    made = np.zeros((world.nb, 6))
    for b in range(1, world.nb):
        made[b, :3] = kernels.center_of_mass_motion(arrays.inert, pose, twist, rate, b)[6:]
        made[b, 3:] = rate[b, 3:]
    return made


def drift(
    world: World, q: np.ndarray, v: np.ndarray, frame: str, *, point: Numbers = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Returns J̇ v: acceleration of a point of an element or anchor at constant joint velocities.

    Six numbers: of the point [m/s²], then angular [rad/s²], world axes.
    """
    arrays = DynamicsArrays(world)
    pose, motion, twist, rate, _, scratch = arrays.work
    kernels.body_motions(
        world.tree, arrays.order, np.zeros(3), shaped("q", q, (world.nq,)),
        shaped("v", v, (world.nv,)), np.zeros(world.nv), pose, motion, twist, rate, scratch,
    )  # fmt: skip
    body, local = world.frame(frame)
    at = pose[body, :3] + rotate(pose[body, 3:], *local.apply(point))
    turn = twist[body, 3:]
    speed = twist[body, :3] + np.cross(turn, at)
    linear = rate[body, :3] + np.cross(rate[body, 3:], at) + np.cross(turn, speed)
    return np.concatenate([linear, rate[body, 3:]])


def parent_dofs(world: World) -> np.ndarray:
    """Returns the next degree of freedom of each toward the root, −1 for the first."""
    made = np.full(world.nv, -1, np.int64)
    for dof, b in enumerate(world.dof_body.tolist()):
        if dof > world.vadr[b]:
            made[dof] = dof - 1
            continue
        parent = int(world.parent[b])
        while parent > 0:
            own = np.flatnonzero(world.dof_body == parent)
            if len(own):
                made[dof] = own[-1]
                break
            parent = int(world.parent[parent])
    return made
