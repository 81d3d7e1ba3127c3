"""The scene graph that X3D and VRML97 share: nodes with fields, printed in either spelling."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.save_text import DEEPEST_INDENT


@dataclass
class GraphNode:
    """A node.

    Attributes:
        type: "Transform", "Shape", …
        name: What others call it by, or empty.
        fields: Values: numbers, flags, a text, tuples of numbers; lists are fields of several
            values.
        nodes: The nodes in each field that holds nodes; lists where it holds several.
        use: Name of a node of this type, earlier in the file, in whose place it stands.
    """

    type: str
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, GraphNode | list[GraphNode]] = field(default_factory=dict)
    use: str = ""

    def add(self, child: GraphNode) -> GraphNode:
        """Adds a child and returns it."""
        children = self.nodes.setdefault("children", [])
        assert isinstance(children, list)
        children.append(child)
        return child


def as_xml(node: GraphNode) -> ET.Element:
    """X3D's spelling."""
    top = ET.Element("top")
    waiting = [(node, top)]
    while waiting:
        here, above = waiting.pop()
        element = ET.SubElement(above, here.type)
        if here.name:
            element.set("DEF", here.name)
        if here.use:
            element.set("USE", here.use)
        for name, value in here.fields.items():
            element.set(name, _attribute(value))
        inside = [
            child
            for found in here.nodes.values()
            for child in (found if isinstance(found, list) else [found])
        ]
        waiting.extend((child, element) for child in reversed(inside))
    return top[0]


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


def as_vrml(node: GraphNode) -> str:
    """VRML97's spelling."""
    lines: list[str] = []
    waiting: list[tuple[GraphNode | str, str, int]] = [(node, "", 0)]
    while waiting:
        here, key, depth = waiting.pop()
        indent, inner = ("  " * min(d, DEEPEST_INDENT) for d in (depth, depth + 1))
        if isinstance(here, str):
            lines.append(indent + here)
            continue
        if here.use:
            lines.append(f"{indent}{key}USE {here.use}")
            continue
        name = f"DEF {here.name} " if here.name else ""
        lines.append(f"{indent}{key}{name}{here.type} {{")
        lines += [f"{inner}{word} {_classic(value)}" for word, value in here.fields.items()]
        waiting.append(("}", "", depth))
        for word, inside in reversed(here.nodes.items()):
            if isinstance(inside, list):
                waiting.append(("]", "", depth + 1))
                waiting.extend((child, "", depth + 2) for child in reversed(inside))
                waiting.append((f"{word} [", "", depth + 1))
            else:
                waiting.append((inside, f"{word} ", depth + 1))
    return "\n".join(lines)


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
