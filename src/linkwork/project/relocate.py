"""Relocation: the text of a file for another folder, with adapted references."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from linkwork.core.forms import Section, Table
from linkwork.core.value_types import FILE, ListType
from linkwork.formats.toml.includes import is_kit_name
from linkwork.formats.toml.index import KeyPath
from linkwork.formats.toml.scene_keys import FILE_TABLES
from linkwork.formats.toml.write_items import relative_path
from linkwork.model.parts import kit_part
from linkwork.project.edits import read_data, value_set

#: Returns the reference of the moved text to a file; None for a relative path.
NameReference = Callable[[str, bool], str | None]


def references(data: dict[str, Any]) -> Iterator[tuple[KeyPath, str, bool]]:
    """Yields every file reference in a file: its key path, text, and whether it is a part."""
    table = FILE_TABLES.get(str(data.get("format")))
    if table is not None:
        yield from _within(data, table, ())


def _within(value: Any, kind: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str, bool]]:
    if kind is FILE and isinstance(value, str):
        yield path, value, path[-1] == "part"
    elif isinstance(kind, Section | ListType) and isinstance(value, list):
        inner = kind.table if isinstance(kind, Section) else kind.item
        for number, item in enumerate(value):
            yield from _within(item, inner, (*path, number))
    elif isinstance(kind, Table) and isinstance(value, dict):
        for word, item in value.items():
            if word in kind.keys:
                yield from _within(item, kind.keys[word].kind, (*path, word))


def reference_path(reference: str, file: str, *, part: bool) -> str:
    """Returns the path of a reference in ``file``, whether it exists or not."""
    if part and is_kit_name(reference):
        return os.path.abspath(kit_part(reference))
    folder = os.path.dirname(os.path.abspath(file))
    plain = os.path.normpath(os.path.join(folder, reference))
    beside = os.path.join(folder, "meshes", reference)
    return beside if not part and not os.path.isfile(plain) and os.path.isfile(beside) else plain


def relocate(text: str, old: str, new: str, naming: NameReference) -> str:
    """Returns the text of the file ``old`` adapted to the path ``new``.

    Args:
        text: The text.
        old: Its file.
        new: The new file.
        naming: Returns the reference to each file, given whether it is a part.
    """
    folder = os.path.dirname(os.path.abspath(new))
    for path, reference, part in list(references(read_data(text))):
        file = reference_path(reference, old, part=part)
        name = naming(file, part)
        if name is None:
            if part and is_kit_name(reference):
                continue
            name = relative_path(file, folder)
            if part and not name.startswith(("/", "../")):
                name = f"./{name}"
        if name != reference:
            text = value_set(text, path, name)
    return text
