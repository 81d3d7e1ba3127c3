"""Saving: the text or bytes of a written file, with an error of ours if the place is no good."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.errors import FormatError, Origin


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
    try:
        ET.indent(root)
        text = ET.tostring(root, encoding="unicode")
    except RecursionError:
        raise FormatError(
            "the tree of bodies is too deep for nested XML.",
            origin=Origin(str(path)),
            hint="URDF and SDF write it as a flat list.",
        ) from None
    save_bytes(path, f"{head}\n{text}\n".encode("utf-8", "xmlcharrefreplace"))
