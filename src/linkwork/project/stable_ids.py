"""Stable ids: an object keeps its first name as id across renames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwork.model.parts import Part
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import Scene
from linkwork.project.edits import Ids

#: Sections with names; of equal names the earlier section gets the id.
NAMED = (
    "element", "joint", "part", "attach", "sensor", "actuator", "agent", "engine", "bus",
    "anchor", "loop", "spring", "posture", "light", "viewpoint", "port", "fault",
)  # fmt: skip


def names_of(content: Part | Scene) -> dict[str, list[str]]:
    """Returns the names of the objects of each section, in the file's order."""
    if isinstance(content, Part):
        return {
            "element": list(content.elements),
            "joint": list(content.joints),
            "anchor": list(content.anchors),
            "attach": list(content.attachments),
            "loop": list(content.loops),
            "spring": list(content.springs),
            "sensor": [spec.name for spec in content.sensors],
            "port": [spec.name for spec in content.ports],
        }
    return {
        "part": list(content.parts),
        "element": list(content.scenery),
        "loop": list(content.loops),
        "spring": list(content.springs),
        "posture": list(content.postures),
        "light": [light.name for light in content.lights],
        "viewpoint": [view.name for view in content.viewpoints],
        "engine": [spec.name for spec in content.engines],
        "sensor": [spec.name for spec in content.sensors],
        "actuator": [spec.name for spec in content.actuators],
        "agent": [spec.name for spec in content.agents],
        "bus": [spec.name for spec in content.buses],
        "port": [spec.name for spec in content.ports],
        "fault": [spec.name for spec in content.faults],
    }


def updated_ids(ids: Ids, names: dict[str, list[str]], used: set[tuple[str, str]]) -> Ids:
    """Ids after an edit: removed objects lose theirs, new ones get one never used before.

    Args:
        ids: The ids before, with renames already applied.
        names: The names after the edit.
        used: Every id ever given, by section; grows.
    """
    made: Ids = {}
    for section, things in names.items():
        for name in things:
            known = ids.get((section, name))
            if known is None and name:
                known = _unused(section, name, used)
            if known is not None:
                made[section, name] = known
                used.add((section, known))
    return ids if made == ids else made  # histories share them


def _unused(section: str, name: str, used: set[tuple[str, str]]) -> str:
    made, number = name, 2
    while (section, made) in used:
        made, number = f"{name}~{number}", number + 1
    return made


def full_ids(
    content: Part | Scene, ids: Ids, known: Callable[[Part], Ids | None] = lambda _: None
) -> dict[str, str]:
    """Returns the ids by full name, with everything inside attached and placed parts.

    Args:
        content: The part or scene.
        ids: Ids of the objects in its own file.
        known: Ids of the objects in a part's file; None if they are the names.
    """
    made: dict[str, str] = {}
    for section in NAMED:
        for (where, name), born in ids.items():
            if where == section:
                made.setdefault(name, born)
                if section == "joint":  # each joint of a chain has a massless link
                    made.setdefault(f"{name}-link", f"{born}-link")
    holders: dict[str, Any] = content.attachments if isinstance(content, Part) else content.parts
    section = "attach" if isinstance(content, Part) else "part"
    for scope, holder in holders.items():
        inside = known(holder.part)
        if inside is None:
            inside = {(s, n): n for s, names in names_of(holder.part).items() for n in names if n}
        for name, born in full_ids(holder.part, inside, known).items():
            made[scoped_name_of(scope, name)] = scoped_name_of(ids[section, scope], born)
    return made
