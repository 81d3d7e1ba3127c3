"""Document: a file being edited, with byte-exact undo."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from linkwork.core.atomic import replace_file
from linkwork.core.errors import (
    FormatError,
    LinkworkError,
    Origin,
    SceneError,
    not_found,
    os_error_text,
)
from linkwork.core.registry import FORMATS
from linkwork.formats.toml.index import KeyPath
from linkwork.model.parts import Part
from linkwork.model.scene import Scene
from linkwork.project.edits import (
    Edit,
    Ids,
    Patch,
    locate,
    name_changed,
    read_data,
    table_added,
    value_set,
)
from linkwork.project.stable_ids import full_ids, names_of, updated_ids
from linkwork.project.text import remove_at

#: Checks the result of an edit; raises a LinkworkError to refuse it.
Check = Callable[[Part | Scene], object]
#: Reads a part or scene from the text of a file.
Read = Callable[[str, str], Part | Scene]
#: Snapshot of a document: text, content, ids.
DocumentSnapshot = tuple[str, Part | Scene, Ids]


class Document:
    """A file being edited; comments and formatting are preserved.

    An edit that would break the file is refused with the error that reading it would give, and
    changes nothing.

    Attributes:
        path: The file.
        text: Its current text, saved or not.
        content: The part or scene of the text.
        history: Edits that can be undone, oldest first.
        future: Edits that can be redone, the next one last.
        read: Reads a part or scene from a text; the format by default.
        keeps_history: Whether edits can be undone here; in a project, they are undone there.

    Example:
        >>> document = Document.open("arm.toml")  # doctest: +SKIP
        >>> document.set_value(("joint", "elbow", "range_deg"), [-90, 90])  # doctest: +SKIP
        >>> document.undo(); document.save()  # doctest: +SKIP
    """

    def __init__(
        self,
        text: str,
        path: str | os.PathLike[str],
        *,
        check: Check | None = None,
        read: Read | None = None,
    ) -> None:
        """Returns a document of a text.

        Args:
            text: The text; a part or a scene in TOML.
            path: Its file, which need not exist yet.
            check: Further check, for example by compiling the scene.
            read: Reads a part or scene from the text; the format if None.

        Raises:
            LinkworkError: If the text is not a part or scene.
        """
        self.path = os.fspath(path)
        self.text = text
        self.history: list[Edit] = []
        self.future: list[Edit] = []
        self.keeps_history = True
        self.read: Read = read or FORMATS.get("toml")().parse
        self._check = check
        self._on_disk: bytes | None = None
        self._used: set[tuple[str, str]] = set()
        self.content = self._read(text)
        self._ids: Ids = updated_ids({}, names_of(self.content), self._used)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, check: Check | None = None) -> Document:
        """Opens a file.

        Raises:
            LinkworkError: If it cannot be read or is not a valid part or scene.
        """
        file = os.fspath(path)
        try:
            with open(file, "rb") as stream:
                raw = stream.read()
            document = cls(raw.decode("utf-8"), file, check=check)
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            raise FormatError(f"the file cannot be opened: {why}.", origin=Origin(file)) from error
        document._on_disk = raw
        return document

    @property
    def ids(self) -> dict[str, str]:
        """Stable id by full name: the name of each object when it was created."""
        return full_ids(self.content, self._ids)

    @property
    def changed(self) -> bool:
        """Whether it has unsaved changes."""
        return self._on_disk != self.text.encode("utf-8")

    def set_value(self, path: KeyPath, value: Any) -> Edit:
        """Sets a value, ``("joint", "elbow", "range_deg")``; None removes the key.

        A value in one unit replaces the same key in another.
        """
        if len(path) == 3 and path[2] == "name" and isinstance(value, str):
            return self.rename(str(path[0]), self._called(str(path[0]), path[1]), value)
        what = f"set {' '.join(str(step) for step in path)}"
        return self._apply(what, value_set(self.text, self._place(path), value))

    def add(self, section: str, table: Mapping[str, Any]) -> Edit:
        """Adds a table, ``add("anchor", {"name": "tip", "on": "tube"})``."""
        what = f"add {section} {table.get('name', '')}".rstrip()
        return self._apply(what, table_added(self.text, section, table))

    def remove(self, section: str, name: str | int) -> Edit:
        """Removes an object by name, or by number if it has none."""
        place = self._place((section, name))
        if len(place) == 2 and isinstance(place[1], str):
            raise not_found(section, str(name), [], origin=Origin(self.path))
        return self._apply(f"remove {section} {name}", remove_at(self.text, place))

    def rename(self, section: str, old: str, new: str) -> Edit:
        """Renames an object and rewrites the references to it in this file."""
        place = self._place((section, old))
        if len(place) < 2 or isinstance(place[1], str):
            raise not_found(section, old, [], origin=Origin(self.path))
        text = name_changed(self.text, place, section, old, new)
        ids = {
            (where, new if (where, name) == (section, old) else name): born
            for (where, name), born in self._ids.items()
            if (where, name) != (section, new)
        }
        return self._apply(f"rename {section} {old} to {new}", text, ids)

    def rewrite(self, what: str, text: str) -> Edit:
        """Replaces the whole text; remaining names keep their ids."""
        return self._apply(what, text)

    def keep(self) -> DocumentSnapshot:
        """Returns a snapshot for :meth:`restore`."""
        return self.text, self.content, self._ids

    def restore(self, kept: DocumentSnapshot) -> None:
        """Restores a snapshot; the history does not change."""
        self.text, self.content, self._ids = kept

    @property
    def saved(self) -> str | None:
        """The text in the file when it was last read or written; None if there was none."""
        return None if self._on_disk is None else self._on_disk.decode("utf-8")

    @property
    def own_ids(self) -> Ids:
        """Stable ids by section and name, of the objects in this file."""
        return self._ids

    def undo(self) -> Edit:
        """Undoes the last edit, byte-exact.

        Raises:
            SceneError: If there is nothing to undo.
        """
        if not self.history:
            raise SceneError("there is nothing to undo.", origin=Origin(self.path))
        edit = self.history[-1]
        self._turn(edit.inverse())
        self.future.append(self.history.pop())
        return edit

    def redo(self) -> Edit:
        """Redoes the edit that was undone last.

        Raises:
            SceneError: If there is nothing to redo.
        """
        if not self.future:
            raise SceneError("there is nothing to redo.", origin=Origin(self.path))
        edit = self.future[-1]
        self._turn(edit)
        self.history.append(self.future.pop())
        return edit

    def save(self, *, overwrite: bool = False) -> None:
        """Writes the file atomically, keeping its mode.

        Args:
            overwrite: Whether to overwrite changes of another program.

        Raises:
            FormatError: If the file cannot be written, or changed since it was opened.
        """
        if not overwrite and os.path.exists(self.path):
            try:
                with open(self.path, "rb") as stream:
                    standing = stream.read()
            except OSError as error:
                raise FormatError(
                    f"the file cannot be read: {os_error_text(error)}.", origin=Origin(self.path)
                ) from error
            if standing != self._on_disk:
                raise FormatError(
                    "the file was changed by another program since it was opened.",
                    origin=Origin(self.path),
                    hint="Open it again, or save with overwrite=True.",
                )
        data = self.text.encode("utf-8")
        replace_file(self.path, data)
        self._on_disk = data

    def _read(self, text: str) -> Part | Scene:
        content = self.read(text, self.path)
        if self._check is not None:
            self._check(content)
        return content

    def _place(self, path: KeyPath) -> KeyPath:
        try:
            return locate(read_data(self.text), path, names_of(self.content))
        except LinkworkError as error:
            raise error.at(Origin(self.path)) from None

    def _called(self, section: str, which: str | int) -> str:
        return which if isinstance(which, str) else names_of(self.content)[section][which]

    def _apply(self, what: str, text: str, ids: Ids | None = None) -> Edit:
        content = self._read(text)
        after = updated_ids(self._ids if ids is None else ids, names_of(content), self._used)
        edit = Edit(what, Patch.between(self.text, text), self._ids, after)
        self.text, self.content, self._ids = text, content, after
        if self.keeps_history:
            self.history.append(edit)
            self.future.clear()
        return edit

    def _turn(self, edit: Edit) -> None:
        text = edit.patch.apply(self.text)
        self.content = self._read(text)
        self.text, self._ids = text, edit.after
