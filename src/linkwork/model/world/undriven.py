"""Undriven joints: joints of a scene that a servo could move, and none does."""

from __future__ import annotations

from dataclasses import replace

from linkwork.model.parts import Part, Spec
from linkwork.model.scene import UNDRIVEN, Scene, can_be_driven, taken_joints
from linkwork.model.world.flatten import flatten

#: The drive of joints without one: its gains follow from inertia and weight.
AUTO_SERVO = "auto_servo"


def undriven_joints(scene: Scene) -> dict[str, list[str]]:
    """Returns the joints without a drive that can have one, by placed part.

    They have one degree of freedom and no spring, and follow no other joint; names are within the
    part.
    """
    flat = flatten(scene)
    taken = taken_joints(flat.couplings, scene.actuators, flat.aliases)
    found: dict[str, list[str]] = {}
    for name, joint in flat.joints.items():
        scope, _, inner = name.partition("/")
        if inner and scope in scene.parts and name not in taken and can_be_driven(joint):
            found.setdefault(scope, []).append(inner)
    return found


def auto_drives(scene: Scene) -> dict[str, dict[str, dict[str, object]]]:
    """Returns the drives that give servos to all undriven joints, by placed part.

    It is one pattern for a part, ``{"*": {"type": "auto_servo", "undriven": True}}``, or an entry
    for each joint if the scene has that pattern already.
    """
    made: dict[str, dict[str, dict[str, object]]] = {}
    for part, joints in undriven_joints(scene).items():
        if "*" not in scene.parts[part].drives:
            made[part] = {"*": {"type": AUTO_SERVO, UNDRIVEN: True}}
        else:
            made[part] = {joint: {"type": AUTO_SERVO} for joint in joints}
    return made


def with_auto_servos(scene: Scene) -> Scene:
    """Returns the scene with servos for all undriven joints; the same if there are none."""
    parts = dict(scene.parts)
    for name, drives in auto_drives(scene).items():
        specs = {
            word: Spec("actuator", AUTO_SERVO, params={k: v for k, v in row.items() if k != "type"})
            for word, row in drives.items()
        }
        parts[name] = replace(parts[name], drives={**parts[name].drives, **specs})
    return replace(scene, parts=parts)


def with_servos(thing: Part | Scene) -> Part | Scene:
    """Returns a part or scene with servos for its undriven joints; of a part, for its own."""
    if isinstance(thing, Scene):
        return with_auto_servos(thing)
    found = undriven_joints(Scene(thing.name).place(thing, name="part")).get("part", [])
    drive = Spec("actuator", AUTO_SERVO)
    return replace(
        thing,
        joints={n: replace(j, drive=drive) if n in found else j for n, j in thing.joints.items()},
    )
