"""Moved: the text of a file for another folder, its references to other files still right."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from linkwork.formats.toml.includes import is_kit_name
from linkwork.formats.toml.kinds import FILE, ListOf
from linkwork.formats.toml.rows import relative_path
from linkwork.formats.toml.tables import Section, Table
from linkwork.formats.toml.words import FORMS
from linkwork.parts import kit_part
from linkwork.scene.edits import read_data, value_set
from linkwork.scene.toml_index import KeyPath

#: Given the file that is meant, says how the moved text names it; None for a path as usual.
Naming = Callable[[str, bool], str | None]


def references(data: dict[str, Any]) -> Iterator[tuple[KeyPath, str, bool]]:
    """Every file that a file names: where, what it says, and whether that is a part."""
    table = FORMS.get(str(data.get("format")))
    if table is not None:
        yield from _within(data, table, ())


def _within(value: Any, kind: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str, bool]]:
    if kind is FILE and isinstance(value, str):
        yield path, value, path[-1] == "part"
    elif isinstance(kind, Section | ListOf) and isinstance(value, list):
        inner = kind.table if isinstance(kind, Section) else kind.item
        for number, item in enumerate(value):
            yield from _within(item, inner, (*path, number))
    elif isinstance(kind, Table) and isinstance(value, dict):
        for word, item in value.items():
            if word in kind.keys:
                yield from _within(item, kind.keys[word].kind, (*path, word))


def target(said: str, file: str, *, part: bool) -> str:
    """The path that a reference in ``file`` leads to, whether it exists or not."""
    if part and is_kit_name(said):
        return os.path.abspath(kit_part(said))
    folder = os.path.dirname(os.path.abspath(file))
    plain = os.path.normpath(os.path.join(folder, said))
    beside = os.path.join(folder, "meshes", said)
    return beside if not part and not os.path.isfile(plain) and os.path.isfile(beside) else plain


def moved(text: str, old: str, new: str, naming: Naming) -> str:
    """The text of the file ``old`` as it has to be in the file ``new``.

    Args:
        text: The text.
        old: Its file.
        new: The file it is for.
        naming: Asked for each file that is named, with whether it is a part.
    """
    folder = os.path.dirname(os.path.abspath(new))
    for path, said, part in list(references(read_data(text))):
        file = target(said, old, part=part)
        name = naming(file, part)
        if name is None:
            if part and is_kit_name(said):
                continue
            name = relative_path(file, folder)
            if part and not name.startswith(("/", "../")):
                name = f"./{name}"
        if name != said:
            text = value_set(text, path, name)
    return text
