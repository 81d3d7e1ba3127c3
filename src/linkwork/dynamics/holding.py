"""Holding efforts: what the joints must give so that a posture stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.dynamics.recursive import bias
from linkwork.errors import LinkworkError
from linkwork.kinematics import jacobian
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
    world: World, q: np.ndarray, *, loads: Sequence[Load] = (), gravity: Numbers | None = None
) -> np.ndarray:
    """Joint efforts [N m or N] that hold a posture against gravity and loads.

    By the duality of statics and kinematics (003 §5.3) a wrench F at a point whose Jacobian is J
    is held by the efforts −Jᵀ F. Those of a free base say what the ground has to carry.
    """
    made = bias(world, q, np.zeros(world.nv), gravity=gravity)
    for load in loads:
        force = shaped("force", np.asarray(load.force), (3,))
        moment = shaped("moment", np.asarray(load.moment), (3,))
        if not np.isfinite([*force, *moment]).all():
            raise LinkworkError(f"the load on {load.frame!r} must be made of finite numbers.")
        whole = jacobian(world, q, load.frame, point=load.point)
        made -= whole.T @ np.concatenate([force, moment])
    return made
