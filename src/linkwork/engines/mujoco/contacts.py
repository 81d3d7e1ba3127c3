"""Contacts of a MuJoCo model: which shapes touch, their friction and restitution."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.core.mujoco_library import ROLLING_FRICTION, TORSIONAL_FRICTION
from linkwork.engines.common.geoms import add_shape
from linkwork.engines.mujoco.restitution import IMPEDANCE, contact_for_restitution
from linkwork.engines.mujoco.spec_builder import ModelBuilder, body_name
from linkwork.geometry.pose import Pose
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.world import World
from linkwork.model.world.world import WorldShape

#: Shortest default time constant of contacts [s].
CONTACT_TIME = 0.004

#: Damping ratio of contacts. A contact cannot pull, so that even at 1 a sixth of the velocity
#: returns; at 2 it is a fourteenth.
CONTACT_DAMPING = 2.0

#: Impedance of contacts: zero at the surface, full at a depth of 1 mm. An immediate impedance makes
#: sliding boxes hop.
IMPEDANCE_BY_DEPTH = (0.0, 0.95, 0.001, 0.5, 2.0)


def add_contacts(build: ModelBuilder, contact_time: float) -> None:
    """Adds the shapes that collide, and the exclusions.

    Args:
        build: The model being built.
        contact_time: Time constant of contacts [s]; 0 is the default.
    """
    world = build.world
    time = contact_time or max(CONTACT_TIME, 2.0 * world.scene.step)
    for number, world_shape in enumerate(world.shapes):
        own = _geom_name(world, world_shape)
        touches = (
            world_shape.shape.collide or own in build.wanted or "fluid" in world_shape.shape.mujoco
        )
        if not touches or world_shape.body not in build.bodies:
            continue
        name = f"{world.element_names[world_shape.element]}#{number}"
        if own:
            build.named[own] = name
        carrier, pose = build.bodies[world_shape.body], world_shape.pose
        if world_shape.element in build.element_bodies:
            carrier, row = (
                build.element_bodies[world_shape.element],
                world.element_pose[world_shape.element],
            )
            pose = Pose.of(row[:3], quat=row[3:]).inverse() @ pose
        add_shape(
            build.spec, carrier, world_shape, name, pose=pose,
            moving=not world.is_static(world_shape.body),
            whole=build.meshes if build.native else None,
            **_geom_attributes(build, world_shape, time),
        )  # fmt: skip
        build.geoms.append((name, world_shape.body, world_shape.element, world_shape.restitution))
    apart = excluded(world, joined_too=not build.native)
    for one, other in _exclusions(build, apart):
        build.spec.add_exclude(bodyname1=one, bodyname2=other)
    _add_restitution_pairs(build, apart)


def _exclusions(build: ModelBuilder, apart: set[tuple[int, int]]) -> list[tuple[str, str]]:
    """Returns the names of the pairs of MuJoCo's bodies that do not collide."""
    world = build.world
    if not build.element_bodies:
        known = [(a, b) for a, b in sorted(apart) if a in build.bodies and b in build.bodies]
        return [(body_name(world, a), body_name(world, b)) for a, b in known]
    made: set[tuple[str, str]] = set()
    for pair in world.scene.collide.never:
        ends = []
        for given in pair:
            numbers = [n for n, name in enumerate(world.element_names) if name == given]
            if not numbers:
                bodies = _bodies_named(world, given)
                numbers = np.flatnonzero(np.isin(world.element_body, bodies)).tolist()
            ends.append(sorted({_carrying_body(build, n) for n in numbers} - {""}))
        made |= {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if a != b}
    for bodies in world.apart & apart:
        numbers = [np.flatnonzero(world.element_body == body).tolist() for body in bodies]
        ends = [sorted({_carrying_body(build, n) for n in each} - {""}) for each in numbers]
        made |= {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if a != b}
    return sorted(made)


def _carrying_body(build: ModelBuilder, element: int) -> str:
    """Returns the name of the MuJoCo body of an element's shapes; empty if it has none."""
    if element in build.element_bodies:
        return build.element_bodies[element].name
    body = int(build.world.element_body[element])
    return build.bodies[body].name if body in build.bodies else ""


def _geom_name(world: World, world_shape: WorldShape) -> str:
    """Returns the scoped name of a named shape."""
    name = world_shape.shape.mujoco.get("name", "")
    return scoped_name_of(world.body_part[world_shape.body], name) if name else ""


def _geom_attributes(build: ModelBuilder, world_shape: WorldShape, time: float) -> dict[str, Any]:
    """Returns the attributes of a geom: ours, or MuJoCo's own, and those of the shape."""
    # foreign bodies collide with our bodies only: two infinite masses would conflict
    owned = bool(build.owned[world_shape.body]) or build.world.is_static(world_shape.body)
    made: dict[str, Any] = {
        "friction": [world_shape.friction, TORSIONAL_FRICTION, ROLLING_FRICTION],
        "condim": 3,
        "contype": 1,
        "conaffinity": int(owned if build.native else build.owned[world_shape.body]),
    }
    if not build.native:
        made |= {"solref": [time, CONTACT_DAMPING], "solimp": list(IMPEDANCE_BY_DEPTH)}
    for word, value in world_shape.shape.mujoco.items():
        if word == "fluid":
            made |= {"fluid_ellipsoid": 1, "fluid_coefs": list(value)}
        elif word not in ("name", "mesh_inertia", "maxhullvert"):
            made[word] = list(value) if isinstance(value, tuple | list) else value
    if not world_shape.shape.collide:  # named in a pair, otherwise without contacts
        made |= {"contype": 0, "conaffinity": 0}
    return made


def excluded(world: World, *, joined_too: bool = True) -> set[tuple[int, int]]:
    """Returns pairs of bodies that do not collide, smaller index first."""
    collide = world.scene.collide
    apart = joined_too and not collide.joined
    pairs: set[tuple[int, int]] = set(world.joined) if apart else set()
    pairs |= world.apart
    for one, other in collide.never:
        pairs |= body_pairs(world, one, other)
    for one, other in collide.always:
        pairs -= body_pairs(world, one, other)
    return pairs


def body_pairs(world: World, one: str, other: str) -> set[tuple[int, int]]:
    """Returns the pairs of bodies that two names of ``[collide]`` mean, smaller index first."""
    ends = _bodies_named(world, one), _bodies_named(world, other)
    return {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if a != b}


def _bodies_named(world: World, name: str) -> list[int]:
    """Returns the bodies of a collision group, a placed part or an element."""
    grouped = {s.body for s in world.shapes if s.group == name}
    placed = [b for b, part in enumerate(world.body_part) if part == name]
    return sorted(grouped) or placed or [world.body(name, origin=world.scene.collide.origin)]


def _add_restitution_pairs(build: ModelBuilder, apart: set[tuple[int, int]]) -> None:
    """Gives every pair with restitution its own contact, with the larger of the two."""
    elastic: list[int] = []  # geoms before this one that have restitution
    for n, (name, body, _, restitution) in enumerate(build.geoms):
        before = range(n) if restitution > 0.0 else elastic.copy()
        if restitution > 0.0:
            elastic.append(n)
        for other, body2, _, restitution2 in (build.geoms[each] for each in before):
            bounce = max(restitution, restitution2)
            joined = (min(body, body2), max(body, body2)) in apart
            ours = build.owned[body] or build.owned[body2]
            if ours and not joined and body != body2:
                spring, damper, _ = contact_for_restitution(
                    bounce, build.world.scene.step, build.integrator
                )
                build.spec.add_pair(
                    geomname1=other, geomname2=name, condim=3,
                    solref=[-spring, -max(damper, 1e-9)], solimp=list(IMPEDANCE),
                    friction=[0.0, 0.0, TORSIONAL_FRICTION, ROLLING_FRICTION, ROLLING_FRICTION],
                )  # fmt: skip


def scale_friction(mj: Any, first: np.ndarray, share: np.ndarray) -> None:
    """Scales the initial friction of every geom (ngeom), combined as in MuJoCo."""
    mj.geom_friction[:, 0] = first * share


def set_friction(mj: Any, friction: np.ndarray) -> None:
    """Sets the friction of every geom (ngeom), so that the smaller one of a pair is used.

    MuJoCo uses the larger one, unless one geom has priority: the smoother one gets it.
    """
    mj.geom_friction[:, 0] = friction
    values, rank = np.unique(friction, return_inverse=True)
    mj.geom_priority[:] = len(values) - 1 - rank
    if mj.npair:
        smaller = np.minimum(friction[mj.pair_geom1], friction[mj.pair_geom2])
        mj.pair_friction[:, :2] = smaller[:, None]
