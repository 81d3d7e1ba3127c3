"""Foreign: attributes of things that no TOML file holds, as one of ours would say them."""

from __future__ import annotations

import os
from typing import Any

from linkwork.errors import Origin, not_found
from linkwork.formats.toml.rows import anchor_row, element_row, joint_row
from linkwork.parts import Part
from linkwork.server.host.attributes import plain_rows
from linkwork.server.messages import Row
from linkwork.world import World


def foreign_rows(world: World, kind: str, name: str) -> list[Row]:
    """The attributes of a thing, to be read only.

    Raises:
        NameNotFound: If the scene has no such thing.
    """
    if kind in ("scene", "part", "sensor", "agent", "loop", "posture", "light", "viewpoint"):
        return []
    if kind not in ("element", "joint", "anchor"):
        raise not_found("kind of thing", kind, ["element", "joint", "anchor"])
    part, short = _home(world, name)
    content: dict[str, Any] | None = None
    origin = Origin()
    if kind == "element":
        element = part.elements.get(short) if part is not None else world.scene.scenery.get(name)
        if element is not None:
            folder = os.path.dirname(os.path.abspath(element.origin.file or "."))
            content, origin = element_row(element, folder), element.origin
        elif name not in world.element_names:
            raise not_found("element", name, world.element_names)
    elif kind == "joint":
        joint = world.joints[world.joint(name)]
        content, origin = joint_row(joint), joint.origin
    elif part is not None and short in part.anchors:
        content, origin = anchor_row(part.anchors[short]), part.anchors[short].origin
    else:
        raise not_found("anchor", name, world.anchors)
    where = str(origin) if origin.file else ""
    return plain_rows(content or {}, kind, where)


def _home(world: World, name: str) -> tuple[Part | None, str]:
    """The part in which a thing stands, and its name there."""
    scope, _, rest = name.partition("/")
    placement = world.scene.parts.get(scope)
    if placement is None or not rest:
        return None, name
    part = placement.part
    while True:
        head, _, tail = rest.partition("/")
        if not tail or head not in part.attachments:
            return part, rest
        part, rest = part.attachments[head].part, tail
