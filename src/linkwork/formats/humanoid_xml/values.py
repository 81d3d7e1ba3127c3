"""Values of the format: each in an element of its own, checked with file and line."""

from __future__ import annotations

from linkwork.errors import FormatError, listing
from linkwork.formats.notes import Notes
from linkwork.formats.urdf import values
from linkwork.formats.xml_tree import Node
from linkwork.parts.names import plain
from linkwork.spatial.pose import Vec3

#: Attributes of ``<desc>`` and the languages they are in.
LANGUAGES = {"Pt": "pt", "Eng": "en"}


def need(node: Node, tag: str) -> Node:
    """The child ``tag``, which must be there."""
    child = node.first(tag)
    if child is None:
        raise FormatError(
            f"<{node.tag}> needs <{tag} …/>.",
            origin=node.origin,
            hint=f"It has: {listing(c.tag for c in node.children)}.",
        )
    return child


def ident(node: Node) -> str:
    """The number of a thing."""
    return values.word(need(node, "ID"), "value")


def number(node: Node, tag: str, name: str) -> float:
    """A number in the child ``tag``."""
    return values.number(need(node, tag), name)


def triple(node: Node, tag: str) -> Vec3:
    """Three numbers x, y, z in the child ``tag``."""
    child = need(node, tag)
    return (values.number(child, "x"), values.number(child, "y"), values.number(child, "z"))


def optional(node: Node, tag: str, name: str) -> float | None:
    """A positive number in the child ``tag``, None without it."""
    child = node.first(tag)
    if child is None:
        return None
    value = values.number(child, name)
    if value <= 0.0:
        raise FormatError(
            f"{name}={child.attributes[name]!r} of <{tag}> must be more than 0.",
            origin=child.origin,
        )
    return value


def described(node: Node) -> dict[str, str]:
    """The texts of ``<desc Pt='…'/>`` and ``<desc Eng='…'/>`` by language; others by their own."""
    found: dict[str, str] = {}
    for child in node.all("desc"):
        for name, text in child.attributes.items():
            if text.strip():
                found[LANGUAGES.get(name, name.lower())] = text.strip()
    return found


def name_of(node: Node, labels: dict[str, str], otherwise: str, taken: set[str]) -> str:
    """A name that is free: that in ``<name value='…'/>``, else made of the English description."""
    said = node.first("name")
    if said is not None:
        return plain(values.word(said, "value"), taken)
    return plain((labels.get("en") or otherwise).lower(), taken)


def inside(root: Node, section: str, tag: str, notes: Notes) -> list[Node]:
    """The children ``tag`` of a section; others are noted."""
    found: list[Node] = []
    for part in root.all(section):
        found += part.all(tag)
        for child in part.children:
            if child.tag != tag:
                notes.about("elements that are not read", f"{section}/{child.tag}")
    return found
