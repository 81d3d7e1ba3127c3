"""Servo limits: what a joint and the servo that drives it can do at most."""

from __future__ import annotations

import math

from linkwork.actuators.smart_models import with_model
from linkwork.errors import LinkworkError
from linkwork.motion.profiles import Limits
from linkwork.parts import Spec
from linkwork.world import World


def servo_limits(world: World, dof: int) -> Limits:
    """The lower of the joint's speed and its servo's, and the servo's acceleration."""
    found = Limits(speed=float(world.dof_speed[dof]))
    for spec in _drives(world, dof):
        try:
            params = with_model(spec).params
            limits = {
                word: float(params[f"max_{word}"] or math.inf)
                for word in ("speed", "acceleration")
                if params.get(f"max_{word}") is not None
            }
            found = found.within(Limits(**limits))
        except (LinkworkError, TypeError, ValueError):
            continue  # the servo itself says what is wrong with it
    return found


def _drives(world: World, dof: int) -> list[Spec]:
    """Smart servos of a joint: on the joint itself, or among the scene's actuators."""
    name = world.dof_name(dof)
    joint = world.joints[world.joint(name.partition(".")[0])]
    own = [joint.drive] if joint.drive is not None else []
    others = [each for each in world.actuators if each.params.get("joint") == name]
    return [each for each in (*own, *others) if each.type == "smart_servo"]
