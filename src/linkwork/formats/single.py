"""One part of a scene alone: what the scene says of it and the part itself does not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwork.formats.flat import flatten
from linkwork.formats.notes import Notes
from linkwork.parts import Part
from linkwork.scene import Scene
from linkwork.scene.placed_drives import placed_drives


def taken_alone(scene: Scene, name: str) -> tuple[Part, list[str]]:
    """A part of a scene, with the drives that it is placed with, and what stays behind."""
    placement, notes = scene.parts[name], Notes()
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
    return replace(part, joints=own), [*notes.lines(), *_left_behind(scene, name)]


def _left_behind(scene: Scene, name: str) -> list[str]:
    """What belongs to a part of a scene, and stays behind where the part is taken alone."""
    notes = Notes()
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


def _names(said: Any, part: str) -> bool:
    """Whether what a spec says names the part or something in it."""
    if isinstance(said, str):
        return said == part or said.startswith((f"{part}/", f"{part}."))
    if isinstance(said, dict):
        return any(_names(key, part) or _names(value, part) for key, value in said.items())
    return isinstance(said, list | tuple) and any(_names(each, part) for each in said)
