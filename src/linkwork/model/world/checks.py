"""Checks of a scene: numbers, lights, names in collision rules."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from linkwork.core.errors import NameNotFound, Origin, SceneError, did_you_mean, listing
from linkwork.core.value_types import is_number
from linkwork.model.scene import Light, Scene, Viewpoint
from linkwork.model.world.world import World


def check_scene(scene: Scene) -> None:
    """Checks step, gravity, lights and viewpoints of a scene.

    Raises:
        SceneError: Naming what was found and what is allowed.
    """
    if not (is_number(scene.step) and 0.0 < scene.step <= 1.0):
        raise SceneError(
            f"step must be more than 0 and at most 1 s, not {_value_text(scene.step)}.",
            origin=scene.origin,
        )
    gravity: Any = scene.gravity
    three = isinstance(gravity, Collection) and not isinstance(gravity, str) and len(gravity) == 3
    if not three or not all(is_number(g) and math.isfinite(g) for g in gravity):
        raise SceneError(
            f"gravity must be three finite numbers, not {_value_text(gravity)}.",
            origin=scene.origin,
            hint="On the moon it is (0, 0, -1.62).",
        )
    for what, things, kind in (
        ("lights", scene.lights, Light), ("viewpoints", scene.viewpoints, Viewpoint),
    ):  # fmt: skip
        for thing in things:
            if not isinstance(thing, kind):
                raise SceneError(
                    f"{what} holds {thing!r}, which is no {kind.__name__}.",
                    origin=scene.origin,
                    hint=f'Write {kind.__name__}("name", …).',
                )


def check_collide(world: World) -> None:
    """Checks that the pairs of ``collide`` name groups, parts or elements.

    Raises:
        NameNotFound: Listing the nearest names.
    """
    collide = world.scene.collide
    for pair in (*collide.never, *collide.always):
        for name in pair:
            _check_name(world, name, collide.origin)


def _check_name(world: World, name: str, origin: Origin) -> None:
    groups = {shape.group for shape in world.shapes} - {""}
    parts = set(world.body_part) - {""}
    if name in groups or name in parts:
        return
    try:
        world.frame(name)
    except NameNotFound:
        hint = did_you_mean(name, {*groups, *parts, *world.element_names})
        there = f"Groups: {listing(groups)}; parts: {listing(parts)}."
        raise NameNotFound(
            f"collide: there is no group, part or element named {name!r}.",
            origin=origin,
            hint=f"{hint} {there}".strip(),
        ) from None


def _value_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return repr(list(value) if isinstance(value, tuple) else value)
