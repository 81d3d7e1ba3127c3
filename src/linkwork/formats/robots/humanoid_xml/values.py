"""Values of humanoid XML, each in its own element, checked with file and line."""

from __future__ import annotations

from linkwork.core.errors import FormatError, listing
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots import xml
from linkwork.formats.robots.xml import XmlNode
from linkwork.geometry.pose import Vec3
from linkwork.model.parts.spec import plain_name

#: Language of each attribute of ``<desc>``.
LANGUAGES = {"Pt": "pt", "Eng": "en"}


def required_child(node: XmlNode, tag: str) -> XmlNode:
    """Returns the child ``tag``, which is required."""
    child = node.first(tag)
    if child is None:
        raise FormatError(
            f"<{node.tag}> needs <{tag} …/>.",
            origin=node.origin,
            hint=f"It has: {listing(c.tag for c in node.children)}.",
        )
    return child


def identifier(node: XmlNode) -> str:
    """Returns the ID of an element."""
    return xml.required_attribute(required_child(node, "ID"), "value")


def number(node: XmlNode, tag: str, name: str) -> float:
    """Returns a number in the child ``tag``."""
    return xml.number_attribute(required_child(node, tag), name)


def triple(node: XmlNode, tag: str) -> Vec3:
    """Returns three numbers x, y, z in the child ``tag``."""
    child = required_child(node, tag)
    return (
        xml.number_attribute(child, "x"),
        xml.number_attribute(child, "y"),
        xml.number_attribute(child, "z"),
    )


def optional(node: XmlNode, tag: str, name: str) -> float | None:
    """Returns a positive number in the child ``tag``, None without it."""
    child = node.first(tag)
    if child is None:
        return None
    value = xml.number_attribute(child, name)
    if value <= 0.0:
        raise FormatError(
            f"{name}={child.attributes[name]!r} of <{tag}> must be more than 0.",
            origin=child.origin,
        )
    return value


def descriptions(node: XmlNode) -> dict[str, str]:
    """Returns the texts of ``<desc Pt='…'/>`` and ``<desc Eng='…'/>`` by language code."""
    found: dict[str, str] = {}
    for child in node.all("desc"):
        for name, text in child.attributes.items():
            if text.strip():
                found[LANGUAGES.get(name, name.lower())] = text.strip()
    return found


def name_of(node: XmlNode, labels: dict[str, str], otherwise: str, taken: set[str]) -> str:
    """Returns a unique name, from ``<name value='…'/>``, else from the English description."""
    given_name = node.first("name")
    if given_name is not None:
        return plain_name(xml.required_attribute(given_name, "value"), taken)
    return plain_name((labels.get("en") or otherwise).lower(), taken)


def children_in_section(
    root: XmlNode, section: str, tag: str, notes: ConversionNotes
) -> list[XmlNode]:
    """Returns the children ``tag`` of a section; others are noted."""
    found: list[XmlNode] = []
    for part in root.all(section):
        found += part.all(tag)
        for child in part.children:
            if child.tag != tag:
                notes.about("elements that are not read", f"{section}/{child.tag}")
    return found
