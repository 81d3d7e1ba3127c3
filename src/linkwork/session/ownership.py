"""Which engine moves which bodies: whole joint-connected islands each."""

from __future__ import annotations

import numpy as np

from linkwork.engines import Engine
from linkwork.errors import SceneError
from linkwork.parts import Spec
from linkwork.registry import ENGINES
from linkwork.world import World


def build_engines(world: World) -> list[Engine]:
    """Builds the scene's engines, or one Mujoco where it names none.

    An engine's ``owns`` lists placed parts or elements; their islands become its own. The one
    engine without ``owns`` takes what is left. Islands that nobody owns are scenery and stand
    still.

    Raises:
        SceneError: If two engines claim one island, or two take what is left.
    """
    specs = world.scene.engines or [Spec("engine", "mujoco", origin=world.scene.origin)]
    claims = [_claimed(world, spec) for spec in specs]
    owner: dict[int, Spec] = {}
    for spec, islands in zip(specs, claims, strict=True):
        for island in islands or ():
            if island in owner:
                part = _part_of(world, island)
                raise SceneError(
                    f"two engines own {part!r}: {owner[island].type} and {spec.type}.",
                    origin=spec.origin,
                    hint="Joint-connected bodies have one engine; single joints may be prescribed.",
                )
            owner[island] = spec
    rest = [spec for spec, islands in zip(specs, claims, strict=True) if islands is None]
    if len(rest) > 1:
        raise SceneError(
            "two engines have no 'owns', so both would take all that is left.",
            origin=rest[1].origin,
        )
    engines = []
    for number, (spec, islands) in enumerate(zip(specs, claims, strict=True)):
        if islands is None:
            islands = set(world.island[world.island >= 0].tolist()) - set(owner)
        owned = np.isin(world.island, sorted(islands)) & (world.island >= 0)
        name = f"engine/{number}-{spec.type}"
        engines.append(ENGINES.get(spec.type, origin=spec.origin)(world, spec, name, owned))
    return engines


def _claimed(world: World, spec: Spec) -> set[int] | None:
    owns = spec.params.get("owns")
    if owns is None:
        return None
    if not isinstance(owns, list | tuple) or not all(isinstance(n, str) for n in owns):
        raise SceneError("owns must be a list of names.", origin=spec.origin)
    islands: set[int] = set()
    for name in owns:
        bodies = [b for b, part in enumerate(world.body_part) if part == name]
        bodies = bodies or [world.body(name, origin=spec.origin)]
        found = {int(world.island[b]) for b in bodies if world.island[b] >= 0}
        if not found:
            raise SceneError(f"{name!r} has nothing that moves.", origin=spec.origin)
        islands |= found
    return islands


def _part_of(world: World, island: int) -> str:
    return world.body_names[int(np.flatnonzero(world.island == island)[0])]
