"""Typed interface of the forward kinematics kernels."""

from __future__ import annotations

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.kernels import rotate
from linkwork.geometry.pose import Numbers
from linkwork.kinematics import kernels
from linkwork.model.world import World


def _coordinates(world: World, q: np.ndarray) -> np.ndarray:
    return shaped("q", q, (world.nq,))


def shaped(what: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Returns the values as float64 of the required shape."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != shape:
        numbers = "×".join(map(str, shape))
        raise LinkworkError(f"{what} must have {numbers} numbers, not shape {values.shape}.")
    return values


def forward(world: World, q: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Returns the poses of all bodies (nb×7: position [m], quaternion wxyz) at ``q``."""
    pose = np.empty((world.nb, 7)) if out is None else out
    if pose.shape != (world.nb, 7) or pose.dtype != np.float64:
        raise LinkworkError(f"out must have {world.nb}×7 float64, not {pose.dtype} {pose.shape}.")
    kernels.forward_poses(*world.tree, _coordinates(world, q), pose)
    return pose


def velocities(world: World, q: np.ndarray, v: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Returns the twists of all bodies (nb×6: center of mass [m/s], angular [rad/s], world)."""
    twist = np.empty((world.nb, 6))
    v = shaped("v", v, (world.nv,))
    pose = shaped("pose", pose, (world.nb, 7))
    kernels.forward_twists(*world.tree, world.com, _coordinates(world, q), v, pose, twist)
    return twist


def jacobian(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    point: Numbers = (0.0, 0.0, 0.0),
    pose: np.ndarray | None = None,
) -> np.ndarray:
    """Returns the geometric Jacobian (6×nv) of a point of an element or anchor, world axes.

    Args:
        world: The world.
        q: Coordinates.
        frame: Name of the element or anchor.
        point: The point in that frame [m].
        pose: Poses at ``q``, if already computed.
    """
    q = _coordinates(world, q)
    pose = forward(world, q) if pose is None else shaped("pose", pose, (world.nb, 7))
    body, local = world.frame(frame)
    x, y, z = local.apply(point)
    out = np.zeros((6, world.nv))
    px, py, pz = rotate(pose[body, 3:], x, y, z)
    at = pose[body, :3] + (px, py, pz)
    kernels.point_jacobian(*world.tree, q, pose, body, at[0], at[1], at[2], out)
    return out


def integrate(world: World, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """Returns the coordinates after moving with ``v`` for the time ``h`` [s]."""
    out = np.empty(world.nq)
    v = shaped("v", v, (world.nv,))
    kernels.integrate_coordinates(
        world.kind, world.qadr, world.vadr, _coordinates(world, q), v, h, out
    )
    return out
