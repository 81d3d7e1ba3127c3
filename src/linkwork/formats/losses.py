"""Losses: what a part or scene says that a format has no words for, told in its writer's notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from linkwork.formats.flat import Flat
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numerals
from linkwork.parts import Element, Joint, Part
from linkwork.parts.names import scoped
from linkwork.scene import Collide, Scene

#: What a part holds beside elements and joints: word, and the names of what is there.
_OF_PARTS: dict[str, Callable[[Part], Iterable[str]]] = {
    "anchors": lambda part: part.anchors,
    "loops": lambda part: part.loops,
    "couplings": lambda part: [c.joint for c in part.couplings],
    "springs": lambda part: part.springs,
    "sensors": lambda part: [s.name or s.type for s in part.sensors],
    "ports": lambda part: [s.name for s in part.ports],
}
_OF_ELEMENTS: dict[str, Callable[[Element], Any]] = {
    "masses": lambda e: e.mass or e.density,
    "friction": lambda e: e.friction != Element.friction,
    "restitution": lambda e: e.restitution,
    "collision groups": lambda e: e.group,
    "initial motion": lambda e: any((*e.velocity, *e.spin)),
    "labels": lambda e: e.labels,
    "textures": lambda e: any(s.texture for s in e.shapes),
    "engine words": lambda e: e.mujoco or any(s.mujoco for s in e.shapes),
}
_OF_JOINTS: dict[str, Callable[[Joint], Any]] = {
    "largest speeds": lambda j: j.max_speed,
    "largest efforts": lambda j: j.max_effort,
    "damping": lambda j: j.damping,
    "friction": lambda j: j.friction,
    "springs": lambda j: j.stiffness,
    "rotor inertias": lambda j: j.armature,
    "restitution": lambda j: j.restitution,
    "initial values": lambda j: any(j.values),
    "initial speeds": lambda j: any(j.speeds),
    "drives": lambda j: j.drive is not None,
    "bus settings": lambda j: j.bus is not None,
    "labels": lambda j: j.labels,
    "engine words": lambda j: j.mujoco,
}
_OF_SCENES: dict[str, Callable[[Scene], Iterable[str]]] = {
    "loops": lambda scene: scene.loops,
    "couplings": lambda scene: [c.joint for c in scene.couplings],
    "springs": lambda scene: scene.springs,
    "postures": lambda scene: scene.postures,
    "engines": lambda scene: [s.type for s in scene.engines],
    "sensors": lambda scene: [s.name for s in scene.sensors],
    "actuators": lambda scene: [s.name for s in scene.actuators],
    "agents": lambda scene: [s.name for s in scene.agents],
    "buses": lambda scene: [s.name for s in scene.buses],
    "ports": lambda scene: [s.name for s in scene.ports],
    "faults": lambda scene: [s.name for s in scene.faults],
    "lights": lambda scene: [light.name for light in scene.lights],
    "lights without shadows": lambda scene: [x.name for x in scene.lights if not x.shadows],
    "viewpoints": lambda scene: [view.name for view in scene.viewpoints],
    "background": lambda scene: [scene.background] if scene.background else [],
    "gravity": lambda scene: [numerals(scene.gravity)] if scene.gravity != Scene.gravity else [],
    "time step": lambda scene: [f"{scene.step:g} s"] if scene.step != Scene.step else [],
    "seed": lambda scene: [str(scene.seed)] if scene.seed != Scene.seed else [],
    "collision rules": lambda scene: ["collide"] if scene.collide != Collide() else [],
}


def note_losses(flat: Flat, says: Collection[str], notes: Notes) -> None:
    """Notes everything that is there and that the format does not say.

    Args:
        flat: What is written.
        says: Words of the format, from the tables above: ``"anchors"``, ``"masses"``, and for
            joints and elements with what they belong to: ``"joints: damping"``.
        notes: Where to tell it.
    """
    if flat.scene is not None:
        for what, names in _OF_SCENES.items():
            for name in names(flat.scene) if what not in says else ():
                notes.about(f"{what}, left out", name)
    for scope, part in flat.parts:
        for what, names in _OF_PARTS.items():
            for name in names(part) if what not in says else ():
                notes.about(f"{what}, left out", scoped(scope, name))
        if part.labels and "labels" not in says:
            notes.about("labels, left out", scope or part.name)
    for link in flat.links:
        if link.element is not None:
            _note("elements", _OF_ELEMENTS, link.element, link.name, says, notes)
        if link.joint is not None:
            _note("joints", _OF_JOINTS, link.joint, link.joint_name, says, notes)


def _note(
    kind: str,
    table: dict[str, Callable[[Any], Any]],
    thing: Element | Joint,
    name: str,
    says: Collection[str],
    notes: Notes,
) -> None:
    for what, given in table.items():
        if f"{kind}: {what}" not in says and given(thing):
            notes.about(f"{what} of {kind}, left out", name)
