"""Local changes of a TOML text; all other bytes are preserved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from linkwork.core.errors import FormatError
from linkwork.formats.toml.emit import key_text, value_text
from linkwork.formats.toml.index import KeyPath, TomlEntry, TomlIndex, TomlTable

#: A replacement: start, end, new text.
Cut = tuple[int, int, str]
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")


def newline(text: str) -> str:
    """Returns the line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def apply_cuts(text: str, cuts: list[Cut]) -> str:
    """Applies replacements that do not overlap."""
    for start, end, new in sorted(cuts, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def set_at(text: str, path: KeyPath, value: Any) -> str:
    """Returns the text with ``value`` at ``path``, replaced or added.

    Raises:
        FormatError: If TOML cannot hold the value, or the path has no table.
    """
    index = TomlIndex.of(text)
    entry = index.entries.get(path)
    if entry is not None and _has_value(entry):
        return apply_cuts(text, [(*entry.value, value_text(value))])
    if entry is not None:
        text = remove_at(text, path)
        index = TomlIndex.of(text)
    for length in range(len(path) - 1, -1, -1):
        around = path[:length]
        holder = index.entries.get(around)
        if holder is not None and _has_value(holder):
            return _add_inside(text, index, path, around, value)
        block = next((b for b in index.blocks if b.path == around), None)
        if block is not None:
            return _add_line(text, index, block, path, value)
    raise FormatError(f"there is no table for {_path_text(path)}.")


def remove_at(text: str, path: KeyPath) -> str:
    """Returns the text without the key, item or table at ``path``.

    Raises:
        FormatError: If there is no such key.
    """
    index = TomlIndex.of(text)
    entry = index.entries.get(path)
    if entry is None:
        raise FormatError(f"there is nothing at {_path_text(path)}.")
    if entry.nested:
        # Several dotted keys may form the table; nested values are removed with them.
        values = [
            p for p in index.entries if p[: len(path)] == path and _has_value(index.entries[p])
        ]
        for inner in values:
            if not any(inner[: len(other)] == other for other in values if other != inner):
                text = _without_nested(text, inner)
        return text
    blocks = [b for b in index.blocks if b.path and b.path[: len(path)] == path]
    cuts: list[Cut] = [(*_span(text, index, block), "") for block in blocks]
    for inner, found in index.entries.items():
        if inner[: len(path)] == path and _has_value(found) and not found.nested:
            start = text.rfind("\n", 0, found.start) + 1
            if not any(a <= start < b for a, b, _ in cuts):
                cuts.append((start, _line_end(text, found.value[1]), ""))
    return apply_cuts(text, cuts)


def append_table(text: str, section: str, table: Mapping[str, Any], *, array: bool) -> str:
    """Returns the text with a new table ``[[section]]``, after the last one of its kind."""
    index = TomlIndex.of(text)
    entry = index.entries.get((section,))
    if entry is not None and _has_value(entry):
        return _append_item(text, index, (section,), table)
    end = newline(text)
    header = f"[[{key_text(section)}]]" if array else f"[{key_text(section)}]"
    lines = [header, *(f"{key_text(k)} = {value_text(v)}" for k, v in table.items())]
    made = end.join(lines) + end
    last = [block for block in index.blocks if block.path[:1] == (section,)]
    at = last[-1].end if last else len(text)
    before = text[:at]
    if before.strip("\ufeff"):
        made = (end if before.endswith("\n") else 2 * end) + made
    return before + made + text[at:]


def _has_value(entry: TomlEntry) -> bool:
    return entry.value != (0, 0)


def _path_text(path: KeyPath) -> str:
    return " ".join(str(step) for step in path) or "the top"


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _pair(index: TomlIndex, around: KeyPath, rest: KeyPath, value: Any) -> str:
    """``key = value``; dotted if the table around it is written with dots."""
    dotted = 1
    while dotted < len(rest) and (*around, *rest[:dotted]) in index.entries:
        dotted += 1
    for key in reversed(rest[dotted:]):
        value = {str(key): value}
    return f"{'.'.join(key_text(str(key)) for key in rest[:dotted])} = {value_text(value)}"


def _add_line(text: str, index: TomlIndex, block: TomlTable, path: KeyPath, value: Any) -> str:
    end = newline(text)
    line = _pair(index, block.path, path[len(block.path) :], value) + end
    before = text[: block.end]
    if before.strip("\ufeff") and not before.endswith("\n"):
        before += end
    return before + _indent(text, index, block) + line + text[block.end :]


def _indent(text: str, index: TomlIndex, block: TomlTable) -> str:
    for entry in index.entries.values():
        if block.body <= entry.start < block.end and not entry.nested:
            return text[text.rfind("\n", 0, entry.start) + 1 : entry.start].strip("\ufeff")
    return ""


def _add_inside(text: str, index: TomlIndex, path: KeyPath, around: KeyPath, value: Any) -> str:
    """Adds a key to an inline table, before its closing brace."""
    start, end = index.entries[around].value
    if text[start] != "{" or not isinstance(path[len(around)], str):
        raise FormatError(f"there is no table for {_path_text(path)}: its parent is not a table.")
    body = text[start + 1 : end - 1].rstrip()
    pair = _pair(index, around, path[len(around) :], value)
    return apply_cuts(text, [(start, end, f"{{{body}, {pair} }}" if body else f"{{ {pair} }}")])


def _append_item(text: str, index: TomlIndex, path: KeyPath, item: Any) -> str:
    """Adds an item to an inline array, after its last one."""
    start, end = index.entries[path].value
    last = None
    while found := index.entries.get((*path, 0 if last is None else last[1] + 1)):
        last = found, 0 if last is None else last[1] + 1
    if text[start] != "[":
        raise FormatError(f"{_path_text(path)} is not an array.")
    if last is None:
        return apply_cuts(text, [(start, end, f"[{value_text(item)}]")])
    at = last[0].value[1]
    return apply_cuts(text, [(at, at, f", {value_text(item)}")])


def _without_nested(text: str, path: KeyPath) -> str:
    """Removes a pair of an inline table or an item of an array, with one comma."""
    index = TomlIndex.of(text)
    entry = index.entries[path]
    start, end = entry.start, entry.value[1]
    after = _skip(text, end)
    if text[after] == ",":
        return text[:start] + text[_blank(text, after + 1) :]
    before = max(
        (e.value[1] for e in index.entries.values() if e.nested and 0 < e.value[1] <= start),
        default=0,
    )
    comma = _skip(text, before)
    opened = max(p for p in (text.rfind("{", 0, start), text.rfind("[", 0, start)))
    if before <= opened or text[comma] != ",":
        return text[:start] + text[end:]
    return text[:comma] + text[comma + 1 : start].rstrip(" \t") + text[end:]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _blank(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _span(text: str, index: TomlIndex, block: TomlTable) -> tuple[int, int]:
    """Returns a block with the comment right above its header and the blank lines after it."""
    floor = max((b.end for b in index.blocks if b.start < block.start), default=0)
    start = block.start
    while start > floor:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    end = block.end
    while end < len(text) and not text[end : _line_end(text, end)].strip():
        end = _line_end(text, end)
    if end == len(text):
        while start > floor and not text[text.rfind("\n", 0, start - 1) + 1 : start].strip():
            start = text.rfind("\n", 0, start - 1) + 1
    return start, end
