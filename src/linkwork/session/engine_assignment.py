"""Assignment of joint-connected islands to engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.core.errors import SceneError
from linkwork.core.registry import ENGINES
from linkwork.engines import Engine
from linkwork.model.parts import Spec
from linkwork.model.scene import Scene
from linkwork.model.world import World


def build_engines(world: World) -> list[Engine]:
    """Builds the scene's engines, or one Mujoco if it names none.

    An engine's ``owns`` lists placed parts or elements; it owns their islands. The one engine
    without ``owns`` owns the remaining ones. Islands without engine are scenery and do not move.
    Kinematic engines come first, so that the motion of their bodies is known for bodies that ride
    on them; all others follow in the scene's order. In the modes "kinematic" and
    "emulation" the engines of these names replace dynamic ones.

    Raises:
        SceneError: If two engines claim one island, or two claim the rest.
    """
    specs = _in_mode(world.scene)
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
            "two engines have no 'owns', so both would own all remaining bodies.",
            origin=rest[1].origin,
        )
    engines: list[Engine] = []
    for number, (spec, islands) in enumerate(zip(specs, claims, strict=True)):
        if islands is None:
            islands = set(world.island[world.island >= 0].tolist()) - set(owner)
        owned = np.isin(world.island, sorted(islands)) & (world.island >= 0)
        name = f"engine/{number}-{spec.type}"
        engines.append(ENGINES.get(spec.type, origin=spec.origin)(world, spec, name, owned))
    engines.sort(key=lambda engine: not engine.kinematic)
    for engine in engines:
        engine.all_engines = engines
        engine.one_way = _one_way(world, engine, engines)
    return engines


def _in_mode(scene: Scene) -> list[Spec]:
    """The scene's engines, or their replacements in its mode."""
    specs = scene.engines or [Spec("engine", "mujoco", origin=scene.origin)]
    if scene.mode in ("", "simulation"):
        return specs
    made = []
    for spec in specs:
        if not ENGINES.get(spec.type, origin=spec.origin).kinematic:
            owns = {"owns": spec.params["owns"]} if "owns" in spec.params else {}
            spec = replace(spec, type=scene.mode, params=owns)
        made.append(spec)
    return made


def _one_way(world: World, engine: Engine, engines: list[Engine]) -> np.ndarray:
    """Mask of the bodies that an engine's ``one_way`` names."""
    spec, pushing = engine.spec, np.zeros(world.nb, bool)
    for name in _names(spec, "one_way"):
        bodies = _bodies(world, name, spec)
        others = [e for e in engines if e is not engine and e.owned[bodies].any()]
        if not others or others[0].kinematic:
            mover = f"by {others[0].type}" if others else "by this engine or not at all"
            raise SceneError(
                f"one_way names {name!r}, which is moved {mover}.",
                origin=spec.origin,
                hint="It is for parts of another dynamic engine; all others push anyway.",
            )
        pushing[bodies] |= others[0].owned[bodies]
    return pushing


def _names(spec: Spec, key: str) -> list[str]:
    """The list of names in an engine's parameter."""
    given = spec.params.get(key, [])
    if not isinstance(given, list | tuple) or not all(isinstance(n, str) for n in given):
        raise SceneError(f"{key} must be a list of names.", origin=spec.origin)
    return list(given)


def _bodies(world: World, name: str, spec: Spec) -> list[int]:
    """Bodies of a placed part, or of one element."""
    placed = [b for b, part in enumerate(world.body_part) if part == name]
    return placed or [world.body(name, origin=spec.origin)]


def _claimed(world: World, spec: Spec) -> set[int] | None:
    """Returns the islands of an engine's ``owns``; None if it has none."""
    if spec.params.get("owns") is None:
        return None
    islands: set[int] = set()
    for name in _names(spec, "owns"):
        found = {int(world.island[b]) for b in _bodies(world, name, spec)} - {-1}
        if not found:
            raise SceneError(f"{name!r} has nothing that moves.", origin=spec.origin)
        islands |= found
    return islands


def _part_of(world: World, island: int) -> str:
    return world.body_names[int(np.flatnonzero(world.island == island)[0])]
