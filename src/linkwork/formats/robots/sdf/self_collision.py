"""Self-collision of SDF models: by default links of one model do not collide with each other."""

from __future__ import annotations

from linkwork.formats.robots.gazebo import is_true
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.model import FlatModel
from linkwork.formats.robots.xml import XmlNode


def read_self_collision(model: FlatModel, reading: SdfReadContext) -> str:
    """Returns the rule of a part for the collisions between its elements.

    "none" is SDF's default. Nested models that no joint connects collide with each other in
    Gazebo, so their pairs are "separate"; ``<self_collide>`` of a model or link makes it "all".

    Args:
        model: The model.
        reading: Receives what is approximated.
    """
    solid = {name: link for name, link in model.links.items() if link.node.first("collision")}
    moving = [name for name, link in solid.items() if not link.static]
    if not moving or len(solid) < 2:
        return "all"  # there are no pairs
    colliding = [
        name
        for name in solid
        if any(is_true(node.first("self_collide")) for node in _owners(model, name))
    ]
    if colliding:
        if len(colliding) < len(solid):
            what = "models with <self_collide> in some links, all of their links collide"
            reading.notes.about(what, model.name, kind="motion")
        return "all"
    return "none" if _is_one_group(model, list(solid)) else "separate"


def _owners(model: FlatModel, link: str) -> list[XmlNode]:
    """Returns a link and the model that holds it."""
    return [model.links[link].node, model.links[link].scope.node]


def _is_one_group(model: FlatModel, links: list[str]) -> bool:
    """Whether links belong to one model, or joints connect them."""
    group = {name: name for name in model.links}

    def first(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    firsts: dict[int, str] = {}
    for name, link in model.links.items():
        group[first(name)] = first(firsts.setdefault(id(link.scope), name))
    for joint in model.joints.values():
        if joint.parent:
            group[first(joint.child)] = first(joint.parent)
    return len({first(name) for name in links}) == 1
