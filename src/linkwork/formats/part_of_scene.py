"""Extraction of one part from a scene."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import flatten
from linkwork.model.parts import Part
from linkwork.model.scene import Scene, placed_drives


def extract_part(scene: Scene, name: str) -> tuple[Part, list[str]]:
    """Returns a part of a scene with its drives in the scene, and notes on omissions."""
    placement, notes = scene.parts[name], ConversionNotes()
    part = placement.part
    links = flatten(part).links
    joints = {f"{name}/{link.joint_name}": link.joint for link in links if link.joint is not None}
    own = dict(part.joints)
    for joint, drive in placed_drives(placement, joints).items():
        inner = joint.removeprefix(f"{name}/")
        if inner in own:
            own[inner] = replace(own[inner], drive=drive)
        else:
            notes.about(
                f"drives of attached parts that the scene has for {name!r}, left out", inner
            )
    return replace(part, joints=own), [*notes.lines(), *_not_extracted(scene, name)]


def _not_extracted(scene: Scene, name: str) -> list[str]:
    """Returns notes on settings of the scene for a part that the part cannot hold."""
    notes = ConversionNotes()
    for what, specs in (
        ("drives", scene.actuators), ("sensors", scene.sensors), ("agents", scene.agents),
        ("ports", scene.ports), ("faults", scene.faults),
    ):  # fmt: skip
        for spec in specs:
            if _names(spec.params, name):
                notes.about(f"{what} that the scene has for {name!r}, left out", spec.name)
    for loop in scene.loops.values():
        if _names([loop.a, loop.b], name):
            notes.about(f"loops that the scene has for {name!r}, left out", loop.name)
    for spring in scene.springs.values():
        if _names([spring.a, spring.b], name):
            notes.about(f"springs that the scene has for {name!r}, left out", spring.name)
    for coupling in scene.couplings:
        if _names([coupling.joint, coupling.of], name):
            notes.about(f"couplings that the scene has for {name!r}, left out", coupling.joint)
    for posture, values in scene.postures.items():
        if _names(values, name):
            notes.about(f"postures that the scene has for {name!r}, left out", posture)
    return notes.lines()


def _names(reference: Any, part: str) -> bool:
    """Whether a value refers to the part or something in it."""
    if isinstance(reference, str):
        return reference == part or reference.startswith((f"{part}/", f"{part}."))
    if isinstance(reference, dict):
        return any(_names(key, part) or _names(value, part) for key, value in reference.items())
    return isinstance(reference, list | tuple) and any(_names(each, part) for each in reference)
