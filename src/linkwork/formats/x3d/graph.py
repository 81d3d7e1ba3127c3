"""The scene graph that X3D and VRML97 share: nodes with fields, printed in either spelling."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.numerals import numeral, numerals


@dataclass
class GraphNode:
    """A node.

    Attributes:
        type: "Transform", "Shape", …
        name: What others call it by, or empty.
        fields: Values: numbers, flags, a text, tuples of numbers; lists are fields of several
            values.
        nodes: The nodes in each field that holds nodes; lists where it holds several.
    """

    type: str
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, GraphNode | list[GraphNode]] = field(default_factory=dict)

    def add(self, child: GraphNode) -> GraphNode:
        """Adds a child and returns it."""
        children = self.nodes.setdefault("children", [])
        assert isinstance(children, list)
        children.append(child)
        return child


def as_xml(node: GraphNode) -> ET.Element:
    """X3D's spelling."""
    element = ET.Element(node.type)
    if node.name:
        element.set("DEF", node.name)
    for name, value in node.fields.items():
        element.set(name, _attribute(value))
    for inside in node.nodes.values():
        for child in inside if isinstance(inside, list) else [inside]:
            element.append(as_xml(child))
    return element


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return numerals(value)
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return " ".join(_quoted(text) for text in value)
        return " ".join(_attribute(each) for each in value)
    return numeral(value)


def as_vrml(node: GraphNode, indent: str = "") -> str:
    """VRML97's spelling."""
    inner = indent + "  "
    name = f"DEF {node.name} " if node.name else ""
    lines = [f"{name}{node.type} {{"]
    lines += [f"{inner}{key} {_classic(value)}" for key, value in node.fields.items()]
    for key, inside in node.nodes.items():
        if isinstance(inside, list):
            below = "".join(f"{inner}  {as_vrml(child, inner + '  ')}\n" for child in inside)
            lines.append(f"{inner}{key} [\n{below}{inner}]")
        else:
            lines.append(f"{inner}{key} {as_vrml(inside, inner)}")
    return "\n".join([*lines, f"{indent}}}"])


def _classic(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        return numerals(value)
    if isinstance(value, list):
        return "[" + ", ".join(_classic(each) for each in value) + "]"
    return numeral(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
