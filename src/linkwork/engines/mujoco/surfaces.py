"""Surfaces: which shapes touch in a MuJoCo model, with what friction and rebound."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.engines.mujoco.bodies import Build, body_name
from linkwork.engines.mujoco.rebound import IMPEDANCE, rebound
from linkwork.engines.mujoco_geoms import add_shape
from linkwork.world import World

#: Shortest time constant of contacts [s], where the scene gives none.
CONTACT_TIME = 0.004

#: Damping ratio of contacts. A contact cannot pull, so that even at 1 a sixth of the speed comes
#: back; at 2 it is a fourteenth.
CONTACT_DAMPING = 2.0

#: Impedance of contacts: none at the surface, full at a depth of 1 mm. A contact that sets in at
#: once makes sliding boxes hop.
IMPEDANCE_BY_DEPTH = (0.0, 0.95, 0.001, 0.5, 2.0)

#: Turning and rolling friction [m]; both play no role in contacts of three dimensions.
_TURNING, _ROLLING = 0.005, 0.0001


def add_surfaces(build: Build, contact_time: float) -> None:
    """Adds the shapes that touch, and who does not touch whom.

    Args:
        build: The model in the making.
        contact_time: Time constant of contacts [s]; 0 is the default.
    """
    world = build.world
    time = contact_time or max(CONTACT_TIME, 2.0 * world.scene.step)
    for number, piece in enumerate(world.shapes):
        if not piece.shape.collide or piece.body not in build.bodies:
            continue
        name = f"{world.element_names[piece.element]}#{number}"
        add_shape(
            build.spec, build.bodies[piece.body], piece, name,
            moving=not world.is_static(piece.body),
            friction=[piece.friction, _TURNING, _ROLLING],
            solref=[time, CONTACT_DAMPING],
            solimp=list(IMPEDANCE_BY_DEPTH),
            condim=3,
            # what others move touches our bodies only: two infinite masses would fight
            contype=1, conaffinity=int(build.owned[piece.body]),
        )  # fmt: skip
        build.geoms.append((name, piece.body, piece.element, piece.restitution))
    apart = excluded(world)
    for a, b in sorted(apart):
        if a in build.bodies and b in build.bodies:
            names = body_name(world, a), body_name(world, b)
            build.spec.add_exclude(bodyname1=names[0], bodyname2=names[1])
    _add_rebounds(build, apart)


def excluded(world: World) -> set[tuple[int, int]]:
    """Pairs of bodies that do not touch, smaller number first."""
    collide = world.scene.collide
    pairs: set[tuple[int, int]] = set() if collide.joined else set(world.joined)
    for one, other in collide.never:
        pairs |= _between(world, one, other)
    for one, other in collide.always:
        pairs -= _between(world, one, other)
    return pairs


def _between(world: World, one: str, other: str) -> set[tuple[int, int]]:
    ends = _bodies_called(world, one), _bodies_called(world, other)
    return {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if a != b}


def _bodies_called(world: World, name: str) -> list[int]:
    """Bodies of a collision group, a placed part or an element."""
    grouped = {s.body for s in world.shapes if s.group == name}
    placed = [b for b, part in enumerate(world.body_part) if part == name]
    return sorted(grouped) or placed or [world.body(name, origin=world.scene.collide.origin)]


def _add_rebounds(build: Build, apart: set[tuple[int, int]]) -> None:
    """Gives every pair with a bouncing shape its own contact; the bouncier of the two counts."""
    for n, (name, body, _, restitution) in enumerate(build.geoms):
        for other, body2, _, restitution2 in build.geoms[:n]:
            bounce = max(restitution, restitution2)
            joined = (min(body, body2), max(body, body2)) in apart
            ours = build.owned[body] or build.owned[body2]
            if bounce > 0.0 and ours and not joined and body != body2:
                spring, damper, _ = rebound(bounce, build.world.scene.step)
                build.spec.add_pair(
                    geomname1=other, geomname2=name, condim=3,
                    solref=[-spring, -max(damper, 1e-9)], solimp=list(IMPEDANCE),
                    friction=[0.0, 0.0, _TURNING, _ROLLING, _ROLLING],
                )  # fmt: skip


def set_friction(mj: Any, friction: np.ndarray) -> None:
    """Gives every geom its friction (ngeom), so that the smaller one of a pair counts.

    MuJoCo takes the larger one, unless one geom has priority: the smoother gets it.
    """
    mj.geom_friction[:, 0] = friction
    values, rank = np.unique(friction, return_inverse=True)
    mj.geom_priority[:] = len(values) - 1 - rank
    if mj.npair:
        smaller = np.minimum(friction[mj.pair_geom1], friction[mj.pair_geom2])
        mj.pair_friction[:, :2] = smaller[:, None]
