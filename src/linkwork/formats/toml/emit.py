"""Whole documents as TOML text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkwork.scene.toml_values import key_text, value_text


def pairs_text(table: Mapping[str, Any]) -> str:
    """Lines ``key = value``; arrays of tables get a line for each table."""
    lines = []
    for key, value in table.items():
        if isinstance(value, list | tuple) and len(value) > 1 and isinstance(value[0], Mapping):
            items = "".join(f"    {value_text(item)},\n" for item in value)
            lines.append(f"{key_text(key)} = [\n{items}]\n")
        else:
            lines.append(f"{key_text(key)} = {value_text(value)}\n")
    return "".join(lines)


def document_text(top: Mapping[str, Any], sections: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """A whole document: keys at the top, then a table under each header (``[[joint]]``)."""
    blocks = [pairs_text(top), *(f"{header}\n{pairs_text(table)}" for header, table in sections)]
    return "\n".join(blocks)
