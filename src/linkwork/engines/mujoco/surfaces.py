"""Surfaces: which shapes touch in a MuJoCo model, with what friction and rebound."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.engines.mujoco.bodies import Build, body_name
from linkwork.engines.mujoco.rebound import IMPEDANCE, rebound
from linkwork.engines.mujoco_geoms import add_shape
from linkwork.parts.names import scoped
from linkwork.spatial.pose import Pose
from linkwork.world import World
from linkwork.world.world import WorldShape

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
        own = _own_name(world, piece)
        touches = piece.shape.collide or own in build.wanted or "fluid" in piece.shape.mujoco
        if not touches or piece.body not in build.bodies:
            continue
        name = f"{world.element_names[piece.element]}#{number}"
        if own:
            build.named[own] = name
        carrier, pose = build.bodies[piece.body], piece.pose
        if piece.element in build.pieces:
            carrier, row = build.pieces[piece.element], world.element_pose[piece.element]
            pose = Pose.of(row[:3], quat=row[3:]).inverse() @ pose
        add_shape(
            build.spec, carrier, piece, name, pose=pose,
            moving=not world.is_static(piece.body), **_surface(build, piece, time),
        )  # fmt: skip
        build.geoms.append((name, piece.body, piece.element, piece.restitution))
    apart = excluded(world, joined_too=not build.native)
    for one, other in _exclusions(build, apart):
        build.spec.add_exclude(bodyname1=one, bodyname2=other)
    _add_rebounds(build, apart)


def _exclusions(build: Build, apart: set[tuple[int, int]]) -> list[tuple[str, str]]:
    """Names of the pairs of MuJoCo's bodies that do not touch."""
    world = build.world
    if not build.pieces:
        known = [(a, b) for a, b in sorted(apart) if a in build.bodies and b in build.bodies]
        return [(body_name(world, a), body_name(world, b)) for a, b in known]
    made: set[tuple[str, str]] = set()
    for pair in world.scene.collide.never:
        ends = []
        for given in pair:
            numbers = [n for n, name in enumerate(world.element_names) if name == given]
            if not numbers:
                bodies = _bodies_called(world, given)
                numbers = np.flatnonzero(np.isin(world.element_body, bodies)).tolist()
            ends.append(sorted({_carrier(build, n) for n in numbers} - {""}))
        made |= {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if a != b}
    return sorted(made)


def _carrier(build: Build, element: int) -> str:
    """Name of the MuJoCo body that an element's shapes are on; empty if it has none."""
    if element in build.pieces:
        return build.pieces[element].name
    body = int(build.world.element_body[element])
    return build.bodies[body].name if body in build.bodies else ""


def _own_name(world: World, piece: WorldShape) -> str:
    """Name of a shape that has one: behind its part's, alone in scenery."""
    name = piece.shape.mujoco.get("name", "")
    return scoped(world.body_part[piece.body], name) if name else ""


def _surface(build: Build, piece: WorldShape, time: float) -> dict[str, Any]:
    """Attributes of a geom: ours, or MuJoCo's own, and what the shape's words say."""
    # what others move touches our bodies only: two infinite masses would fight
    owned = bool(build.owned[piece.body]) or build.world.is_static(piece.body)
    made: dict[str, Any] = {
        "friction": [piece.friction, _TURNING, _ROLLING],
        "condim": 3,
        "contype": 1,
        "conaffinity": int(owned if build.native else build.owned[piece.body]),
    }
    if not build.native:
        made |= {"solref": [time, CONTACT_DAMPING], "solimp": list(IMPEDANCE_BY_DEPTH)}
    for word, value in piece.shape.mujoco.items():
        if word == "fluid":
            made |= {"fluid_ellipsoid": 1, "fluid_coefs": list(value)}
        elif word != "name":
            made[word] = list(value) if isinstance(value, tuple | list) else value
    if not piece.shape.collide:  # named in a pair, and otherwise touching nothing
        made |= {"contype": 0, "conaffinity": 0}
    return made


def excluded(world: World, *, joined_too: bool = True) -> set[tuple[int, int]]:
    """Pairs of bodies that do not touch, smaller number first."""
    collide = world.scene.collide
    apart = joined_too and not collide.joined
    pairs: set[tuple[int, int]] = set(world.joined) if apart else set()
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


def scale_friction(mj: Any, first: np.ndarray, share: np.ndarray) -> None:
    """Gives every geom its first friction times a share (ngeom), mixed as MuJoCo does."""
    mj.geom_friction[:, 0] = first * share


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
