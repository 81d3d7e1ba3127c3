"""Holding efforts: what the joints must give so that a posture stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.dynamics.recursive import bias
from linkwork.errors import LinkworkError
from linkwork.kinematics import jacobian
from linkwork.kinematics.closed import SMALL, closed_motion
from linkwork.kinematics.forward import shaped
from linkwork.spatial.pose import Numbers
from linkwork.world import World


@dataclass(frozen=True)
class Load:
    """A force and a moment that act on a point of an element or anchor, in world axes.

    Attributes:
        frame: Element or anchor.
        force: [N].
        moment: [N m].
        point: The point in that frame [m].
    """

    frame: str
    force: Numbers = (0.0, 0.0, 0.0)
    moment: Numbers = (0.0, 0.0, 0.0)
    point: Numbers = (0.0, 0.0, 0.0)


def holding_efforts(
    world: World,
    q: np.ndarray,
    *,
    loads: Sequence[Load] = (),
    gravity: Numbers | None = None,
    joints: Sequence[str] | None = None,
) -> np.ndarray:
    """Joint efforts [N m or N] that hold a posture against gravity and loads.

    By the duality of statics and kinematics (003 §5.3) a wrench F at a point whose Jacobian is J
    is held by the efforts −Jᵀ F. Those of a free base say what the ground has to carry.

    Couplings and loops carry a part themselves. Where they leave the motion q̇ = T y, whose part at
    the joints that hold is D y, efforts τ hold g if Dᵀ τ = Tᵀ g: a leader holds what its followers
    carry, and of several ways to hold a loop this is the one with the least sum of squares.

    Args:
        world: The world.
        q: Coordinates.
        loads: Forces and moments on it.
        gravity: [m/s²]; the world's if absent.
        joints: Joints that hold what hangs together with them, the others being passive. If
            absent, all hold, but of those that loops tie together only the driven ones, where
            there are any.

    Returns:
        Efforts by degree of freedom (nv), 0 where nothing holds.

    Raises:
        LinkworkError: If those joints cannot hold the posture.
    """
    made = bias(world, q, np.zeros(world.nv), gravity=gravity)
    for load in loads:
        force = shaped("force", np.asarray(load.force), (3,))
        moment = shaped("moment", np.asarray(load.moment), (3,))
        if not np.isfinite([*force, *moment]).all():
            raise LinkworkError(f"the load on {load.frame!r} must be made of finite numbers.")
        whole = jacobian(world, q, load.frame, point=load.point)
        made -= whole.T @ np.concatenate([force, moment])
    if joints is None and not len(world.loop_names) and not len(world.coupling_dof):
        return made
    return _carried(world, q, made, joints)


def _carried(
    world: World, q: np.ndarray, efforts: np.ndarray, joints: Sequence[str] | None
) -> np.ndarray:
    """Efforts of the joints that hold in place of those of a tree whose joints all do."""
    holding = range(world.nv) if joints is None else [d for j in joints for d in world.dofs(j)]
    islands = {int(world.island[world.dof_body[d]]) for d in holding}
    bodies = [b for b in range(1, world.nb) if int(world.island[b]) in islands]
    motion = closed_motion(world, q, bodies, joints, held=False)
    counted = np.flatnonzero(np.isin(motion.dofs, list(holding)))
    driven, needed = motion.driven[counted].T, motion.free.T @ efforts
    found = np.linalg.pinv(driven, rcond=SMALL) @ needed
    if np.abs(driven @ found - needed).max(initial=0.0) > 1e-6 * (1.0 + np.abs(efforts).max()):
        names = "the drives" if joints is None else ", ".join(joints) or "no joint"
        raise LinkworkError(
            f"{names} cannot hold this posture: it is free to move while they stand.",
            hint="Name all joints that drive it, leaders in place of their followers.",
        )
    made = np.zeros(world.nv)
    made[motion.dofs[counted]] = found
    return made
