"""Attributes: the rows of a table in a file, as the studio's panel shows them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from linkwork.errors import FormatError
from linkwork.formats.toml.kinds import Flag, Integer, Number, Numbers, Text, Word
from linkwork.formats.toml.tables import Key, Section, Table
from linkwork.formats.toml.words import FORMS
from linkwork.scene.edits import read_data
from linkwork.scene.toml_index import KeyPath, TomlIndex
from linkwork.scene.toml_values import value_text
from linkwork.server.messages import Row, Source
from linkwork.units import SUFFIXES, split_unit

_UNIT = re.compile(r"\[([^\]]+)\]")
_SHOWN = {"_deg": "°", "_mm": "mm", "_cm": "cm", "_g": "g", "_ms": "ms", "_hz": "Hz"}
#: Kinds that have a row of their own where the file says nothing.
_SIMPLE = (Number, Numbers, Integer, Flag, Word, Text)

#: Numbers that people write in hexadecimal.
_IDENTIFIERS = ("can_id", "turn_id")


def table_of(data: dict[str, Any], section: str) -> Table:
    """What a file may say in a section; the file itself for an empty one."""
    table = FORMS[str(data.get("format"))]
    if not section:
        plain = {k: v for k, v in table.keys.items() if not isinstance(v.kind, Section | Table)}
        return Table(plain, table.example)
    kind = table.keys[section].kind if section in table.keys else None
    return kind.table if isinstance(kind, Section) else Table({}, open=True)


def rows_of(
    text: str, file: str, place: KeyPath, section: str, *, before: Any, kit: bool
) -> list[Row]:
    """The rows of one table.

    Args:
        text: The file's text as it is now.
        file: Its path.
        place: The table, with numbers; empty for the file itself.
        section: Its section, or empty.
        before: What stood in the table when the file was saved; None if it was not there.
        kit: Whether the file belongs to a kit.
    """
    data, index = read_data(text), TomlIndex.of(text)
    table = table_of(data, section)
    content = at(data, place)
    rows: list[Row] = []
    known: set[str] = set()
    for path, value in _leaves(content, table):
        key = _key(table, path)
        known.add(split_unit(str(path[0]))[0])
        full = (*place, *path)
        fixed = path in (("format",), ("name",)) and not place
        rows.append(
            _row(
                path, key, value, f"{file}:{index.line(full)}", "kit" if kit else "file",
                editable=not fixed, changed=at(before, path) != value,
            )
        )  # fmt: skip
    for word, key in _within_bus(content, table):
        rows.append(_row(("bus", word), key, "", "", "default", editable=True, changed=False))
    for word, key in table.keys.items():
        if word not in known and isinstance(key.kind, _SIMPLE):
            gone = before is not None and any(split_unit(k)[0] == word for k in before)
            rows.append(_row((word,), key, "", "", "default", editable=True, changed=gone))
    return rows


def _within_bus(content: dict[str, Any], table: Table) -> Iterator[tuple[str, Key]]:
    """What a joint's ``bus`` may say and does not, where it has one."""
    form, given = table.keys.get("bus"), content.get("bus")
    if form is None or not isinstance(form.kind, Table) or not isinstance(given, dict):
        return
    known = {split_unit(key)[0] for key in given}
    for word, key in form.kind.keys.items():
        if word not in known and isinstance(key.kind, _SIMPLE):
            yield word, key


def plain_rows(content: dict[str, Any], section: str, origin: str) -> list[Row]:
    """The rows of a thing of a file in another format, as a file of ours would say it."""
    table = table_of({"format": "linkwork/part 1"}, section)
    return [
        _row(path, _key(table, path), value, origin, "file", editable=False, changed=False)
        for path, value in _leaves(content, table)
    ]


def at(data: Any, path: KeyPath) -> Any:
    """What stands at a path; None if nothing does."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _leaves(content: Any, table: Table | None) -> Iterator[tuple[KeyPath, Any]]:
    """Every value of a table, those of tables inside it one by one."""
    for key, value in content.items():
        if table is not None and isinstance(table.keys.get(key, Key(Text(), "")).kind, Section):
            continue
        if isinstance(value, dict):
            yield from (((key, *rest), inner) for rest, inner in _leaves(value, None))
        elif isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            if table is None or key in table.keys:
                for number, item in enumerate(value):
                    yield from (((key, number, *r), inner) for r, inner in _leaves(item, None))
        else:
            yield (key,), value


def _key(table: Table, path: KeyPath) -> Key | None:
    """What the words of the format say of a path inside a table."""
    kind: Any = table
    key: Key | None = None
    for step in path:
        if isinstance(step, int):
            kind = getattr(kind, "item", None)
            continue
        if not isinstance(kind, Table):
            return None
        key = kind.keys.get(step) or kind.keys.get(split_unit(step)[0])
        if key is None:
            return None
        kind = key.kind
    return key


def _row(
    path: KeyPath,
    key: Key | None,
    value: Any,
    origin: str,
    source: Source,
    *,
    editable: bool,
    changed: bool,
) -> Row:
    kind = key.kind if key is not None else None
    lo = hi = None
    if isinstance(kind, Number):
        lo, hi = kind.low, kind.high
    elif isinstance(kind, Integer):
        lo = float(kind.low)
    words = list(kind.words) if isinstance(kind, Word) else None
    if isinstance(value, int) and not isinstance(value, bool) and str(path[-1]) in _IDENTIFIERS:
        value = f"0x{value:X}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = float(value)
    elif not isinstance(value, str | bool):
        value = value_text(value)
    return Row(
        ".".join(map(str, path)), value, _unit(str(path[-1]), key), lo, hi, words, origin,
        editable, changed, source, key.help if key is not None else "",
    )  # fmt: skip


def _unit(word: str, key: Key | None) -> str:
    found = _UNIT.search(key.help) if key is not None else None
    unit = found[1] if found else ""
    for suffix in SUFFIXES:
        if word.endswith(suffix):
            rate = unit.partition(" or ")[0].endswith("/s")
            return _SHOWN[suffix] + ("/s" if rate else "")
    return unit


def path_of(key: str) -> KeyPath:
    """The path inside a table that a row's key names: ``shapes.0.box.size``."""
    # ASCII: other scripts have digits too, and signs like ² that only look like them.
    steps = key.split(".")
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in steps)


def value_of(text: str, place: KeyPath, section: str, key: str, given: str | float | bool) -> Any:
    """What was typed as the value that the file is to hold; None takes the key away.

    Raises:
        FormatError: If it cannot be a value at all.
    """
    data, path = read_data(text), path_of(key)
    standing = at(data, (*place, *path))
    words = _key(table_of(data, section), path)
    kind = words.kind if words is not None else None
    if isinstance(given, float) and (isinstance(standing, int) or isinstance(kind, Integer)):
        return int(given) if given.is_integer() else given
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    if isinstance(standing, str) or isinstance(kind, Text | Word):
        return given
    try:
        return tomllib.loads(f"value = {given}")["value"]
    except (ValueError, RecursionError):  # also a number of thousands of digits
        if standing is None and kind is None:
            return given
        shown = given if len(given) <= 60 else f"{given[:60]}…"
        raise FormatError(
            f"{key} cannot be {shown!r}.", hint="Write a number, a list [1, 2, 3], true or false."
        ) from None
