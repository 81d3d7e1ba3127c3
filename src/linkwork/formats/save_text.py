"""Saving: the text or bytes of a written file, with an error of ours if the place is no good."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import escape

from linkwork.errors import FormatError, Origin

#: Levels of nesting that a line's indent shows; more would fill deep files with blanks.
DEEPEST_INDENT = 40
_IN_ATTRIBUTES = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}


def save_bytes(path: Path, data: bytes) -> None:
    """Writes a file.

    Raises:
        FormatError: If it cannot be written.
    """
    try:
        path.write_bytes(data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(
            f"the file cannot be written: {why}.", origin=Origin(str(path))
        ) from error


def save_xml(path: Path, root: ET.Element, *, head: str = '<?xml version="1.0"?>') -> None:
    """Writes an XML file, indented.

    Raises:
        FormatError: If it cannot be written.
    """
    save_bytes(path, f"{head}\n{xml_text(root)}\n".encode("utf-8", "xmlcharrefreplace"))


def xml_text(root: ET.Element) -> str:
    """The element and all inside it, a line each, however deep they are nested.

    The standard library's own writer calls itself for each level and gives up at a thousand.
    """
    lines: list[str] = []
    waiting: list[tuple[ET.Element | str, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        indent = "  " * min(depth, DEEPEST_INDENT)
        if isinstance(node, str):
            lines.append(f"{indent}</{node}>")
            continue
        body = "".join(f" {key}={_quoted(value)}" for key, value in node.items())
        text = escape(node.text or "")
        if len(node):
            lines.append(f"{indent}<{node.tag}{body}>{text.strip()}")
            waiting.append((node.tag, depth))
            waiting.extend((child, depth + 1) for child in reversed(node))
        elif text:
            lines.append(f"{indent}<{node.tag}{body}>{text}</{node.tag}>")
        else:
            lines.append(f"{indent}<{node.tag}{body} />")
    return "\n".join(lines)


def _quoted(value: str) -> str:
    return '"' + escape(value, _IN_ATTRIBUTES) + '"'
