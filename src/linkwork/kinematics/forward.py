"""Typed layer over the kinematics kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import kernels
from linkwork.world import World


def _coordinates(world: World, q: np.ndarray) -> np.ndarray:
    q = np.ascontiguousarray(q, dtype=np.float64)
    if q.shape != (world.nq,):
        raise LinkworkError(f"q must have {world.nq} numbers, not shape {q.shape}.")
    return q


def forward(world: World, q: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Poses of all bodies (nb×7: position [m], quaternion wxyz) at the coordinates ``q``."""
    pose = np.empty((world.nb, 7)) if out is None else out
    kernels.forward_poses(*world.tree, _coordinates(world, q), pose)
    return pose


def velocities(world: World, q: np.ndarray, v: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Twists of all bodies (nb×6: centre of mass [m/s], angular [rad/s], world axes)."""
    twist = np.empty((world.nb, 6))
    v = np.ascontiguousarray(v, dtype=np.float64)
    kernels.forward_twists(*world.tree, world.com, _coordinates(world, q), v, pose, twist)
    return twist


def jacobian(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    point: Sequence[float] = (0.0, 0.0, 0.0),
    pose: np.ndarray | None = None,
) -> np.ndarray:
    """Geometric Jacobian (6×nv) of a point of an element or anchor, world axes.

    Args:
        world: The world.
        q: Coordinates.
        frame: Name of the element or anchor.
        point: The point in that frame [m].
        pose: Poses at ``q``, if they are known already.
    """
    q = _coordinates(world, q)
    if pose is None:
        pose = forward(world, q)
    body, local = world.frame(frame)
    x, y, z = local.apply(point)
    out = np.zeros((6, world.nv))
    px, py, pz = kernels.rotate(pose[body, 3:], x, y, z)
    at = pose[body, :3] + (px, py, pz)
    kernels.point_jacobian(*world.tree, q, pose, body, at[0], at[1], at[2], out)
    return out


def integrate(world: World, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """Coordinates after moving with ``v`` for the time ``h`` [s]."""
    out = np.empty(world.nq)
    v = np.ascontiguousarray(v, dtype=np.float64)
    kernels.integrate_coordinates(
        world.kind, world.qadr, world.vadr, _coordinates(world, q), v, h, out
    )
    return out
