"""Edits: invertible changes of a file's text."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkwork.core.errors import FormatError, not_found
from linkwork.core.value_types import split_unit
from linkwork.formats.toml.emit import key_text, value_text
from linkwork.formats.toml.index import KeyPath, TomlIndex
from linkwork.project.references import reference_changes
from linkwork.project.text import Cut, append_table, apply_cuts, remove_at, set_at

#: Sections that occur once in a file, ``[collide]``.
SINGLE_TABLES = ("collide", "labels", "aliases")

#: Ids by section and name, as :attr:`Document.ids` keeps them.
Ids = dict[tuple[str, str], str]


@dataclass(frozen=True)
class Patch:
    """An exact change of a text: at an offset, ``old`` becomes ``new``."""

    at: int
    old: str
    new: str

    @classmethod
    def between(cls, before: str, after: str) -> Patch:
        """Returns the smallest patch from one text to the other."""
        start = _common_prefix(before, after)
        most = min(len(before), len(after)) - start
        end = min(most, _common_prefix(before[::-1], after[::-1]))
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])

    def apply(self, text: str) -> str:
        """Returns the text after the change."""
        end = self.at + len(self.old)
        if text[self.at : end] != self.old:
            raise FormatError("a change does not fit the text it is applied to.")
        return text[: self.at] + self.new + text[end:]

    def inverse(self) -> Patch:
        """Returns the inverse patch."""
        return Patch(self.at, self.new, self.old)


@dataclass(frozen=True)
class Edit:
    """One step of a document's history.

    Attributes:
        what: Description: "rename joint elbow to knee".
        patch: The exact change of the text.
        before: Stable ids before it.
        after: Stable ids after it.
    """

    what: str
    patch: Patch
    before: Ids
    after: Ids

    def inverse(self) -> Edit:
        """Returns the inverse edit."""
        return Edit(self.what, self.patch.inverse(), self.after, self.before)


def _common_prefix(a: str, b: str) -> int:
    """Returns the length of the common prefix of two texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def read_data(text: str) -> dict[str, Any]:
    """Returns the plain values of a valid text."""
    return tomllib.loads(text.removeprefix("\ufeff"))


def locate(data: dict[str, Any], path: KeyPath, names: Mapping[str, list[str]]) -> KeyPath:
    """Returns a path with names, ``("joint", "elbow", "axis")``, as one with numbers.

    Args:
        data: The file's values.
        path: A section, then a name or number if there are several, then keys.
        names: Names of the objects of each section, in the file's order.

    Raises:
        NameNotFound: If the section has no such object.
    """
    if len(path) < 2 or not isinstance(data.get(str(path[0])), list):
        return path
    section, which = str(path[0]), path[1]
    known = names.get(section, [])
    if isinstance(which, str):
        if which not in known:
            raise not_found(section, which, known)
        return (section, known.index(which), *path[2:])
    if not 0 <= which < len(data[section]):
        raise not_found(section, str(which), map(str, range(len(data[section]))))
    return path


def value_set(text: str, path: KeyPath, value: Any) -> str:
    """Returns the text with ``value`` at a path with numbers; None removes the key.

    A value in one unit replaces the same key in another (``range`` and ``range_deg``).
    """
    if not path:
        raise FormatError("a value needs the path of its key.")
    if value is None:
        return remove_at(text, path)
    key = path[-1]
    around: Any = read_data(text)
    for step in path[:-1]:
        try:
            around = around[step]
        except (KeyError, IndexError, TypeError):
            around = None
            break
    if isinstance(around, dict) and isinstance(key, str) and key not in around:
        name = split_unit(key)[0]
        for other, standing in around.items():
            if split_unit(other)[0] == name and not isinstance(standing, dict):
                entry = TomlIndex.of(text).entries[(*path[:-1], other)]
                return apply_cuts(
                    text, [(*entry.key, key_text(key)), (*entry.value, value_text(value))]
                )
    return set_at(text, path, value)


def table_added(text: str, section: str, table: Mapping[str, Any]) -> str:
    """Returns the text with a new table of a section."""
    if section in SINGLE_TABLES and section in read_data(text):
        raise FormatError(f"there is a [{section}] already.", hint="Set its values one by one.")
    return append_table(text, section, table, array=section not in SINGLE_TABLES)


def references_changed(text: str, section: str, old: str, new: str) -> str:
    """Returns the text with all references to an object of another file renamed.

    Args:
        text: The file.
        section: Section of the object, in its own file.
        old: Its name in this file, ``arm/elbow``.
        new: Its new name.
    """
    index = TomlIndex.of(text)
    cuts: list[Cut] = []
    for place, is_key, made in reference_changes(read_data(text), section, old, new):
        entry = index.entries[place]
        cuts.append((*entry.key, key_text(made)) if is_key else (*entry.value, value_text(made)))
    return apply_cuts(text, cuts)


def name_changed(text: str, path: KeyPath, section: str, old: str, new: str) -> str:
    """Returns the text with an object and all references to it renamed.

    Args:
        text: The file.
        path: The object's table, as a path with numbers.
        section: Its section.
        old: Its name.
        new: Its new name.
    """
    index = TomlIndex.of(text)
    cuts: list[Cut] = []
    for place, is_key, made in reference_changes(read_data(text), section, old, new):
        entry = index.entries[place]
        cuts.append((*entry.key, key_text(made)) if is_key else (*entry.value, value_text(made)))
    named = index.entries.get((*path, "name"))
    if named is not None:
        cuts.append((*named.value, value_text(new)))
    text = apply_cuts(text, cuts)
    return text if named is not None else set_at(text, (*path, "name"), new)
