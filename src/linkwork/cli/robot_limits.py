"""Robot limits: what the joints and servos of a robot let a movement do, for ``linkwork plan``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from linkwork.units import in_words

if TYPE_CHECKING:
    from linkwork.cli.screen import Screen
    from linkwork.scene import Movement
    from linkwork.scene.planning import Limits


def limits_of(robot: str, movement: Movement) -> tuple[dict[str, Limits], dict[str, str]]:
    """Limits by joint of a movement, and their units, "rad" or "m".

    Raises:
        LinkworkError: If the robot cannot be read, or has not got a joint.
    """
    from linkwork.cli.given import load_with_notes, scene_to_run
    from linkwork.cli.ready import getting_ready

    thing, _ = load_with_notes(robot)
    with getting_ready():
        from linkwork.agents.lookup import SeveralFound, find_dof
        from linkwork.agents.servo_limits import servo_limits
        from linkwork.world import compile_scene

        scene, _ = scene_to_run(thing, robot, free=False)
        world = compile_scene(scene)
    found: dict[str, Limits] = {}
    units: dict[str, str] = {}
    for joint in movement.joints():
        try:
            dof = find_dof(world, joint, origin=movement.origin)
        except SeveralFound as error:
            error.hint = f"Give a part, or a scene with one of them, as --robot, not {robot}."
            raise
        found[joint] = servo_limits(world, dof)
        units[joint] = "rad" if world.dof_is_angle(dof) else "m"
    return found, units


def show_limits(screen: Screen, limits: Mapping[str, Limits], units: Mapping[str, str]) -> None:
    """What is allowed, and by whom."""
    rows = []
    for joint, each in limits.items():
        cells = []
        pairs = zip(each.numbers[:2], each.whose[:2], ("/s", "/s²"), strict=True)
        for value, whose, per in pairs:
            said = in_words(value, units[joint] + per) if math.isfinite(value) else "any"
            cells += [said, whose if math.isfinite(value) else ""]
        rows.append((joint, *cells))
    screen.rows(("joint", "speed at most", "by", "acceleration at most", "by"), rows)
