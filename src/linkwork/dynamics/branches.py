"""How degrees of freedom and coordinates lie in a world's tree."""

from __future__ import annotations

import numpy as np

from linkwork.kinematics.kernels import BALL, FREE
from linkwork.world import World


def dof_above(world: World) -> np.ndarray:
    """The degree of freedom next to each on its way to the root, −1 for the first."""
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


def owned_coordinates(world: World, owned: np.ndarray) -> np.ndarray:
    """Coordinates of the bodies of a mask, in order."""
    found: list[int] = []
    for b in np.flatnonzero(owned).tolist():
        count = int(np.count_nonzero(world.dof_body == b))
        count += 1 if world.kind[b] in (BALL, FREE) else 0
        found += range(int(world.qadr[b]), int(world.qadr[b]) + count)
    return np.array(found, np.int64)
