"""Attributes: the rows of a table that the attribute panel shows."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from linkwork.core.errors import FormatError, Origin, not_found
from linkwork.core.forms import Key, Section, Table
from linkwork.core.value_types import (
    SUFFIXES,
    BooleanType,
    ChoiceType,
    IntegerType,
    NumberType,
    TextType,
    VectorType,
    split_unit,
)
from linkwork.formats.toml.emit import value_text
from linkwork.formats.toml.index import KeyPath, TomlIndex
from linkwork.formats.toml.scene_keys import FILE_TABLES
from linkwork.formats.toml.write_items import anchor_row, element_row, joint_row
from linkwork.model.parts import Part
from linkwork.model.world import World
from linkwork.project.edits import read_data
from linkwork.studio.protocol import AttributeRow, Source

_SHOWN = {"_deg": "°", "_mm": "mm", "_cm": "cm", "_g": "g", "_ms": "ms", "_hz": "Hz"}
#: Kinds that get a row even where the file does not set them.
_SIMPLE = (NumberType, VectorType, IntegerType, BooleanType, ChoiceType, TextType)

#: Integers shown in hexadecimal.
_IDENTIFIERS = ("can_id", "turn_id")


def table_of(data: dict[str, Any], section: str) -> Table:
    """The keys allowed in a section; those of the file itself for an empty section."""
    table = FILE_TABLES[str(data.get("format"))]
    if not section:
        plain = {k: v for k, v in table.keys.items() if not isinstance(v.kind, Section | Table)}
        return Table(plain, table.example)
    kind = table.keys[section].kind if section in table.keys else None
    return kind.table if isinstance(kind, Section) else Table({}, open=True)


def rows_of(
    text: str, file: str, place: KeyPath, section: str, *, before: Any, kit: bool
) -> list[AttributeRow]:
    """The rows of one table.

    Args:
        text: The file's text as it is now.
        file: Its path.
        place: Path of the table, with indices; empty for the file itself.
        section: Section of the table, or empty.
        before: The table's content when the file was last saved, or None if it did not exist.
        kit: Whether the file belongs to a kit.
    """
    data, index = read_data(text), TomlIndex.of(text)
    table = table_of(data, section)
    content = at(data, place)
    rows: list[AttributeRow] = []
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
    """Keys of a joint's ``bus`` that the file does not set, if the joint has a bus."""
    form, given = table.keys.get("bus"), content.get("bus")
    if form is None or not isinstance(form.kind, Table) or not isinstance(given, dict):
        return
    known = {split_unit(key)[0] for key in given}
    for word, key in form.kind.keys.items():
        if word not in known and isinstance(key.kind, _SIMPLE):
            yield word, key


def plain_rows(content: dict[str, Any], section: str, origin: str) -> list[AttributeRow]:
    """The rows of an object from a file in another format, as a TOML file would write it."""
    table = table_of({"format": "linkwork/part 1"}, section)
    return [
        _row(path, _key(table, path), value, origin, "file", editable=False, changed=False)
        for path, value in _leaves(content, table)
    ]


def at(data: Any, path: KeyPath) -> Any:
    """The value at a path, or None if there is none."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _leaves(content: Any, table: Table | None) -> Iterator[tuple[KeyPath, Any]]:
    """Every value of a table; nested tables are flattened."""
    for key, value in content.items():
        if table is not None and isinstance(table.keys.get(key, Key(TextType(), "")).kind, Section):
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
    """The format's description of a path inside a table."""
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
) -> AttributeRow:
    kind = key.kind if key is not None else None
    lo = hi = None
    if isinstance(kind, NumberType):
        lo, hi = kind.low, kind.high
    elif isinstance(kind, IntegerType):
        lo = float(kind.low)
    words = list(kind.words) if isinstance(kind, ChoiceType) else None
    if isinstance(value, int) and not isinstance(value, bool) and str(path[-1]) in _IDENTIFIERS:
        value = f"0x{value:X}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = float(value)
    elif not isinstance(value, str | bool):
        value = value_text(value)
    return AttributeRow(
        ".".join(map(str, path)), value, _unit(str(path[-1]), key), lo, hi, words, origin,
        editable, changed, source, key.help if key is not None else "",
    )  # fmt: skip


def _unit(word: str, key: Key | None) -> str:
    unit = key.si_unit if key is not None else ""
    for suffix in SUFFIXES:
        if word.endswith(suffix):
            rate = unit.partition(" or ")[0].endswith("/s")
            return _SHOWN[suffix] + ("/s" if rate else "")
    return unit


def path_of(key: str) -> KeyPath:
    """The path inside a table for a row's key: ``shapes.0.box.size``."""
    # ASCII only: isdigit() also accepts digits of other scripts and signs such as ².
    steps = key.split(".")
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in steps)


def value_of(text: str, place: KeyPath, section: str, key: str, given: str | float | bool) -> Any:
    """Converts typed text to the value that the file is to hold; None removes the key.

    Raises:
        FormatError: If the text is not a value.
    """
    data, path = read_data(text), path_of(key)
    standing = at(data, (*place, *path))
    words = _key(table_of(data, section), path)
    kind = words.kind if words is not None else None
    if isinstance(given, float) and (isinstance(standing, int) or isinstance(kind, IntegerType)):
        return int(given) if given.is_integer() else given
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    if isinstance(standing, str) or isinstance(kind, TextType | ChoiceType):
        return given
    try:
        return tomllib.loads(f"value = {given}")["value"]
    except (ValueError, RecursionError):  # also raised for an integer of thousands of digits
        if standing is None and kind is None:
            return given
        shown = given if len(given) <= 60 else f"{given[:60]}…"
        raise FormatError(
            f"{key} cannot be {shown!r}.", hint="Write a number, a list [1, 2, 3], true or false."
        ) from None


def read_only_rows(world: World, kind: str, name: str) -> list[AttributeRow]:
    """The attributes of an object, read-only.

    Raises:
        NameNotFound: If the scene has no such object.
    """
    if kind in ("scene", "part", "sensor", "agent", "loop", "posture", "light", "viewpoint"):
        return []
    if kind not in ("element", "joint", "anchor"):
        raise not_found("kind of thing", kind, ["element", "joint", "anchor"])
    part, short = _part_of(world, name)
    content: dict[str, Any] | None = None
    origin = Origin()
    if kind == "element":
        element = part.elements.get(short) if part is not None else world.scene.scenery.get(name)
        if element is not None:
            folder = os.path.dirname(os.path.abspath(element.origin.file or "."))
            content, origin = element_row(element, folder), element.origin
        elif name not in world.element_names:
            raise not_found("element", name, world.element_names)
    elif kind == "joint":
        joint = world.joints[world.joint(name)]
        content, origin = joint_row(joint), joint.origin
    elif part is not None and short in part.anchors:
        content, origin = anchor_row(part.anchors[short]), part.anchors[short].origin
    else:
        raise not_found("anchor", name, world.anchors)
    where = str(origin) if origin.file else ""
    return plain_rows(content or {}, kind, where)


def _part_of(world: World, name: str) -> tuple[Part | None, str]:
    """The part that contains an object, and the object's name within it."""
    scope, _, rest = name.partition("/")
    placement = world.scene.parts.get(scope)
    if placement is None or not rest:
        return None, name
    part = placement.part
    while True:
        head, _, tail = rest.partition("/")
        if not tail or head not in part.attachments:
            return part, rest
        part, rest = part.attachments[head].part, tail
