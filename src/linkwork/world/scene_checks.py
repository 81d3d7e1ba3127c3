"""Checks of a scene: its numbers and lights before it is compiled, names of what touches after."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from linkwork.errors import NameNotFound, Origin, SceneError, listing, suggestion
from linkwork.scene import Light, Scene, Viewpoint
from linkwork.world.world import World


def check_scene(scene: Scene) -> None:
    """Refuses a scene whose step, gravity, lights or viewpoints are none.

    Raises:
        SceneError: Saying what was found and what is allowed.
    """
    if not (_is_number(scene.step) and 0.0 < scene.step <= 1.0):
        raise SceneError(
            f"step must be more than 0 and at most 1 s, not {_shown(scene.step)}.",
            origin=scene.origin,
        )
    gravity: Any = scene.gravity
    three = isinstance(gravity, Collection) and not isinstance(gravity, str) and len(gravity) == 3
    if not three or not all(map(_is_number, gravity)):
        raise SceneError(
            f"gravity must be three finite numbers, not {_shown(gravity)}.",
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
    """Refuses pairs of ``collide`` that name neither a group nor a part nor an element.

    Raises:
        NameNotFound: Saying which name was probably meant, or which there are.
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
        hint = suggestion(name, {*groups, *parts, *world.element_names})
        if not hint.startswith("Did"):
            hint = ""
        there = f"Groups: {listing(groups)}; parts: {listing(parts)}."
        raise NameNotFound(
            f"collide: there is no group, part or element named {name!r}.",
            origin=origin,
            hint=f"{hint} {there}".strip(),
        ) from None


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, str) and math.isfinite(value)
    except TypeError:
        return False


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return repr(list(value) if isinstance(value, tuple) else value)
