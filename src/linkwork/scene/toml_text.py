"""Changing a TOML text in one place and leaving every other byte as it was.

``tomlkit`` as a whole-document editor puts arrays of tables that are interleaved
(``[[element]]``, ``[[joint]]``, ``[[element]]``) into another order, so it is used here for single
values only; the index says where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from linkwork.errors import FormatError
from linkwork.scene.toml_index import Block, Entry, KeyPath, TomlIndex

#: A replacement: start, end, new text.
Cut = tuple[int, int, str]


def render(value: Any) -> str:
    """A value as it stands after ``key =``.

    Raises:
        FormatError: If TOML has no such value.
    """
    return _item(value).as_string()


def _item(value: Any) -> Item:
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.append(str(key), _item(inner))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for inner in value:
            array.append(_item(inner))
        return array
    if isinstance(value, bool | int | float | str):
        try:
            return tomlkit.item(value)
        except (TOMLKitError, ValueError) as error:
            raise FormatError(f"a file cannot hold {value!r}: {error}.") from error
    raise FormatError(f"a file cannot hold {value!r}.")


def render_key(key: str) -> str:
    """A key, in quotes where it needs them."""
    return tomlkit.key(key).as_string()


def newline(text: str) -> str:
    """The line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def cut(text: str, cuts: list[Cut]) -> str:
    """Applies replacements that do not overlap."""
    for start, end, new in sorted(cuts, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def set_at(text: str, path: KeyPath, value: Any) -> str:
    """The text with ``value`` at ``path``, in place of what stands there or added."""
    index = TomlIndex.of(text)
    entry = index.entries.get(path)
    if entry is not None and _has_value(entry):
        return cut(text, [(*entry.value, render(value))])
    if entry is not None:
        text = remove_at(text, path)
        index = TomlIndex.of(text)
    for length in range(len(path) - 1, -1, -1):
        around, rest = path[:length], path[length:]
        holder = index.entries.get(around)
        if holder is not None and _has_value(holder):

            def put(table: Any, key: str | int) -> None:
                table[key] = _item(value)

            return cut(text, [(*holder.value, _inside(text, holder, rest, put))])
        block = next((b for b in index.blocks if b.path == around), None)
        if block is not None:
            return _insert(text, index, block, rest, value)
    raise FormatError(f"there is no place for {path}.")


def remove_at(text: str, path: KeyPath) -> str:
    """The text without what stands at ``path``: a key, or a table with all that is in it."""
    index = TomlIndex.of(text)
    entry = index.entries.get(path)
    if entry is None:
        raise FormatError(f"there is nothing at {path}.")
    if entry.nested:
        return _remove_nested(text, index, path)
    cuts: list[Cut] = []
    removed = [b for b in index.blocks if b.path and b.path[: len(path)] == path]
    cuts += [(*_span(text, index, block), "") for block in removed]
    for inner, found in index.entries.items():
        if inner[: len(path)] == path and _has_value(found) and not found.nested:
            start = text.rfind("\n", 0, found.start) + 1
            if not any(a <= start < b for a, b, _ in cuts):
                cuts.append((start, _line_end(text, found.value[1]), ""))
    return cut(text, cuts)


def append_table(text: str, section: str, table: Mapping[str, Any], *, array: bool) -> str:
    """The text with a new table ``[[section]]``, after the last one of its kind."""
    index = TomlIndex.of(text)
    entry = index.entries.get((section,))
    if entry is not None and _has_value(entry):

        def extend(root: Any, key: str | int) -> None:
            root[key].append(_item(table))

        return cut(text, [(*entry.value, _inside(text, entry, (), extend))])
    end = newline(text)
    header = f"[[{render_key(section)}]]" if array else f"[{render_key(section)}]"
    lines = [header, *(f"{render_key(str(k))} = {render(v)}" for k, v in table.items())]
    made = end.join(lines) + end
    last = [block for block in index.blocks if block.path[:1] == (section,)]
    at = last[-1].end if last else len(text)
    before = text[:at]
    if before.strip("\ufeff") and not before.endswith("\n"):
        made = end + made
    if before.strip():
        made = end + made
    return before + made + text[at:]


def _has_value(entry: Entry) -> bool:
    return entry.value != (0, 0)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _insert(text: str, index: TomlIndex, block: Block, rest: KeyPath, value: Any) -> str:
    """Adds a line to a block; dotted where a table around the key is already written so."""
    keys = [str(key) for key in rest]
    dotted = 1
    while dotted < len(keys) and block.path + rest[:dotted] in index.entries:
        dotted += 1
    for key in reversed(keys[dotted:]):
        value = {key: value}
    end = newline(text)
    line = f"{'.'.join(render_key(k) for k in keys[:dotted])} = {render(value)}{end}"
    before = text[: block.end]
    if before.strip("\ufeff") and not before.endswith("\n"):
        line = end + line
    return before + _indent(text, index, block) + line + text[block.end :]


def _indent(text: str, index: TomlIndex, block: Block) -> str:
    for entry in index.entries.values():
        if block.body <= entry.start < block.end and not entry.nested:
            return text[text.rfind("\n", 0, entry.start) + 1 : entry.start].strip("\ufeff")
    return ""


def _span(text: str, index: TomlIndex, block: Block) -> tuple[int, int]:
    """A block with the comment right above its header and the blank lines after it."""
    start = block.start
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip("\ufeff \t").startswith("#") or above < _floor(
            index, block
        ):
            break
        start = above
    end = block.end
    while end < len(text) and not text[end : _line_end(text, end)].strip():
        end = _line_end(text, end)
    if end == len(text):
        while start > 0 and not text[text.rfind("\n", 0, start - 1) + 1 : start].strip():
            start = text.rfind("\n", 0, start - 1) + 1
    return start, end


def _floor(index: TomlIndex, block: Block) -> int:
    """Where the block before ends; nothing above belongs to this one."""
    return max((b.end for b in index.blocks if b.start < block.start), default=0)


def _inside(
    text: str, entry: Entry, rest: KeyPath, change: Callable[[Any, str | int], None]
) -> str:
    """The text of an inline value after ``change(table, key)`` of the innermost table."""
    try:
        document = tomlkit.parse(f"x = {text[slice(*entry.value)]}\n")
        path: KeyPath = ("x", *rest)
        table: Any = document
        for key in path[:-1]:
            if isinstance(key, str) and key not in table:
                table[key] = tomlkit.inline_table()
            table = table[key]
        change(table, path[-1])
        made = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise FormatError(f"the value cannot be changed there: {error}.") from error
    return made.removeprefix("x = ").removesuffix("\n")


def _remove_nested(text: str, index: TomlIndex, path: KeyPath) -> str:
    for length in range(len(path) - 1, 0, -1):
        holder = index.entries.get(path[:length])
        if holder is not None and _has_value(holder) and not holder.nested:

            def drop(table: Any, key: str | int) -> None:
                del table[key]

            return cut(text, [(*holder.value, _inside(text, holder, path[length:], drop))])
    raise FormatError(f"there is nothing at {path}.")
