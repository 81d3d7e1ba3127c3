"""Holding efforts: static joint efforts of a posture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.recursive import bias
from linkwork.geometry.pose import Numbers
from linkwork.kinematics import jacobian
from linkwork.kinematics.closed_motion import SMALL, closed_motion
from linkwork.kinematics.forward import shaped
from linkwork.model.world import World


@dataclass(frozen=True)
class Load:
    """A force and a moment on a point of an element or anchor, in world axes.

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
    """Returns the joint efforts [N m or N] that hold a posture against gravity and loads.

    By the duality of statics and kinematics (RoboTiX thesis §5.3) a wrench F at a point with the
    Jacobian J is held by the efforts −Jᵀ F. Those of a free base are the reaction of the ground.

    Couplings and loops carry a part themselves. If they leave the motion q̇ = T y, with the part D
    y at the holding joints, efforts τ hold g if Dᵀ τ = Tᵀ g: a leader holds the load of its
    followers, and for a loop this is the solution with the least sum of squares.

    Args:
        world: The world.
        q: Coordinates.
        loads: Forces and moments on it.
        gravity: [m/s²]; the world's if absent.
        joints: Joints that hold; connected ones are passive. If absent, all hold, but in loops only
            the driven ones, if there are any.

    Returns:
        Efforts by degree of freedom (nv), 0 for passive ones.

    Raises:
        LinkworkError: If a load is not one, or those joints cannot hold the posture.
    """
    made = bias(world, q, np.zeros(world.nv), gravity=gravity)
    for load in _checked(loads):
        force = shaped("force", np.asarray(load.force), (3,))
        moment = shaped("moment", np.asarray(load.moment), (3,))
        if not np.isfinite([*force, *moment]).all():
            raise LinkworkError(f"the load on {load.frame!r} must be made of finite numbers.")
        whole = jacobian(world, q, load.frame, point=load.point)
        made -= whole.T @ np.concatenate([force, moment])
    if joints is None and not len(world.loop_names) and not len(world.coupling_dof):
        return made
    return _redistribute(world, q, made, joints)


def _checked(loads: object) -> Sequence[Load]:
    """Returns the loads, if they are some.

    Raises:
        LinkworkError: If they are something else; says what is taken.
    """
    hint = "Write loads=[Load('arm/tip', force=(0, 0, -10))], from linkwork.dynamics."
    if isinstance(loads, Load) or not isinstance(loads, Sequence) or isinstance(loads, str):
        raise LinkworkError(f"loads is a list of Load, not {loads!r}.", hint=hint)
    for load in loads:
        if not isinstance(load, Load):
            raise LinkworkError(f"a load is a Load, not {load!r}.", hint=hint)
    return loads


def _redistribute(
    world: World, q: np.ndarray, efforts: np.ndarray, joints: Sequence[str] | None
) -> np.ndarray:
    """Returns efforts of the holding joints, given those of a tree in which all hold."""
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
            f"{names} cannot hold this posture: it can still move while they are fixed.",
            hint="Name all joints that drive it, leaders in place of their followers.",
        )
    made = np.zeros(world.nv)
    made[motion.dofs[counted]] = found
    return made
