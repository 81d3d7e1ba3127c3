"""Self-collision: pairs of bodies of one robot that do not collide, by the rule of its part.

A part of an imported file has the rule "separate": collision shapes of robots often overlap at the
start, since they are hulls of meshes or coarse boxes, and would push the robot apart. MoveIt's
setup assistant disables such pairs too ("colliding in default posture").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.engines.common.geoms import add_shape
from linkwork.engines.mujoco.contacts import body_pairs
from linkwork.kinematics import forward
from linkwork.model.parts import Plane, Terrain
from linkwork.model.world import Finding, World
from linkwork.model.world.world import WorldShape

#: Smallest depth of an overlap [m]; less is a touch, as of closed fingers.
LEAST_DEPTH = 1e-4
#: Maximum number of pairs that a finding names.
_NAMED = 6


@dataclass(frozen=True)
class Overlap:
    """Two elements of one robot that overlap at the start.

    Attributes:
        bodies: Their bodies, the smaller index first.
        a: One element.
        b: The other.
        depth: Depth of the deepest overlap of their shapes [m].
    """

    bodies: tuple[int, int]
    a: str
    b: str
    depth: float


def separate_bodies(world: World, owned: np.ndarray) -> list[Overlap]:
    """Adds to ``world.apart`` the pairs that do not collide; returns those that overlap.

    Bodies of one robot are those on one tree. The scene's ``[collide]`` comes first: pairs that it
    names are not considered.

    Args:
        world: The world.
        owned: Mask over bodies (nb) of those that may collide.
    """
    shapes = [s for s in world.shapes if _takes_part(world, s, owned)]
    if not shapes:
        return []
    settled = set() if world.scene.collide.joined else set(world.joined)
    for one, other in (*world.scene.collide.never, *world.scene.collide.always):
        settled |= body_pairs(world, one, other)
    pairs, codes = _pairs(world, shapes, settled)
    never = _never(world, shapes, pairs)
    world.apart |= {divmod(code, world.nb) for code in np.unique(codes[never]).tolist()}
    found = _overlaps(world, shapes, pairs[~np.isin(codes, codes[never])])
    world.apart |= {each.bodies for each in found}
    return found


def _pairs(
    world: World, shapes: list[WorldShape], settled: set[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the pairs of shapes (n×2) of different bodies of one tree that are not ``settled``.

    Also returns a number for the pair of bodies of each: the smaller times nb plus the larger.
    """
    body = np.array([shape.body for shape in shapes])
    own = np.unique(body).tolist()
    root, static = np.zeros(world.nb, np.int64), np.zeros(world.nb, bool)
    for b in own:
        root[b], static[b] = world.ancestors(b)[-1], world.is_static(b)
    first, second = np.triu_indices(len(shapes), 1)
    a, b = body[first], body[second]
    kept = (a != b) & (root[a] == root[b]) & ~(static[a] & static[b])
    first, second, a, b = first[kept], second[kept], a[kept], b[kept]
    codes = np.minimum(a, b) * world.nb + np.maximum(a, b)
    kept = ~np.isin(codes, [one * world.nb + other for one, other in settled])
    return np.column_stack([first[kept], second[kept]]), codes[kept]


def _never(world: World, shapes: list[WorldShape], pairs: np.ndarray) -> np.ndarray:
    """Returns which pairs of shapes are of one part whose elements do not collide at all."""
    scopes = [world.element_names[shape.element].rpartition("/")[0] for shape in shapes]
    number = {scope: n for n, scope in enumerate(dict.fromkeys(scopes))}
    scope = np.array([number[each] for each in scopes])
    none = np.array([world.self_collision[shape.element] == "none" for shape in shapes])
    first, second = pairs.T
    return (scope[first] == scope[second]) & none[first] & none[second]


def overlap_findings(world: World, overlaps: list[Overlap]) -> list[Finding]:
    """Returns a note for each robot: the pairs that overlap at the start, the deepest first."""
    robots: dict[int, list[Overlap]] = {}
    for each in overlaps:
        robots.setdefault(world.ancestors(each.bodies[0])[-1], []).append(each)
    findings: list[Finding] = []
    for root, own in robots.items():
        about = world.body_part[root] or world.body_names[root]
        one = len(own) == 1
        pairs = [f"{e.a} and {e.b} ({1e3 * e.depth:.2g} mm deep)" for e in own[:_NAMED]]
        if more := len(own) - len(pairs):
            pairs.append(f"… ({more} more)")
        text = (
            f"{'a pair' if one else f'{len(own)} pairs'} of its elements "
            f"{'overlaps' if one else 'overlap'} at the start and {'does' if one else 'do'} not "
            f"collide: {', '.join(pairs)}. To let a pair collide, name it in [collide] always of "
            'the scene; to let all collide, set self_collision = "all" in a TOML copy of the part.'
        )
        findings.append(Finding("note", about, text, world.body_origins[root]))
    return findings


def _takes_part(world: World, shape: WorldShape, owned: np.ndarray) -> bool:
    """Whether a shape collides, and the rule of its part leaves out pairs."""
    return (
        shape.shape.collide
        and bool(owned[shape.body] or world.is_static(shape.body))
        and shape.body > 0
        and world.self_collision[shape.element] != "all"
        and not isinstance(shape.shape, Plane | Terrain)
    )


def _pair(one: WorldShape, other: WorldShape) -> tuple[int, int]:
    return min(one.body, other.body), max(one.body, other.body)


def _overlaps(world: World, shapes: list[WorldShape], pairs: np.ndarray) -> list[Overlap]:
    """Returns the overlaps at the start, one for each pair of bodies, the deepest first."""
    if not len(pairs):
        return []
    built = _model(world, shapes)
    if built is None:
        return []
    model, data, geom = built
    one, other = geom[pairs[:, 0]], geom[pairs[:, 1]]
    gap = np.linalg.norm(data.geom_xpos[one] - data.geom_xpos[other], axis=1)
    near = gap < model.geom_rbound[one] + model.geom_rbound[other]
    deepest: dict[tuple[int, int], Overlap] = {}
    for (n, m), a, b in zip(pairs[near].tolist(), one[near], other[near], strict=True):
        depth = -float(mujoco.mj_geomDistance(model, data, int(a), int(b), 0.0, None))
        bodies = _pair(shapes[n], shapes[m])
        if depth >= LEAST_DEPTH and (bodies not in deepest or depth > deepest[bodies].depth):
            names = [world.element_names[shapes[k].element] for k in (n, m)]
            deepest[bodies] = Overlap(bodies, names[0], names[1], depth)
    return sorted(deepest.values(), key=lambda each: -each.depth)


def _model(world: World, shapes: list[WorldShape]) -> tuple[Any, Any, np.ndarray] | None:
    """Returns a MuJoCo model of the shapes at the start, its data, and the geom of each shape."""
    spec, poses = mujoco.MjSpec(), forward(world, world.q0)
    bodies: dict[int, Any] = {}
    for number, shape in enumerate(shapes):
        if shape.body not in bodies:
            row = poses[shape.body]
            bodies[shape.body] = spec.worldbody.add_body(pos=row[:3], quat=row[3:])
        add_shape(spec, bodies[shape.body], shape, f"shape{number}")
    try:
        model = spec.compile()
    except ValueError:
        return None  # the engine refuses the shapes, with a better message
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data, np.array([model.geom(f"shape{n}").id for n in range(len(shapes))])
