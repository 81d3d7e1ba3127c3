"""Text output: exact numbers, indented XML, files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from linkwork.core.atomic import whole_file
from linkwork.core.errors import FormatError, Origin, os_error_text
from linkwork.geometry.pose import Pose


def number_text(value: float) -> str:
    """Returns the shortest decimal that reads back as the same number, without ``.0``."""
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def numbers_text(values: Iterable[float]) -> str:
    """Returns numbers separated by spaces."""
    return " ".join(number_text(value) for value in values)


def origin_attributes(pose: Pose) -> dict[str, str]:
    """Returns the attributes of an ``<origin>``; none for the identity."""
    if pose.is_identity():
        return {}
    return {"xyz": numbers_text(pose.xyz), "rpy": numbers_text(pose.rpy())}


#: Maximum indentation of a line [levels].
DEEPEST_INDENT = 40
_IN_ATTRIBUTES = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}


def save_bytes(path: Path, data: bytes) -> None:
    """Writes a file.

    Raises:
        FormatError: If it cannot be written.
    """
    try:
        with whole_file(path) as part:
            part.write_bytes(data)
    except (OSError, ValueError) as error:
        why = os_error_text(error)
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
    """Returns the element and all its descendants, one line each.

    The standard library's writer is recursive and fails at a thousand levels.
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
