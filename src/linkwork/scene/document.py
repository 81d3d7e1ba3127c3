"""Document: a part's or scene's file being edited, with undo to the byte."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from linkwork.errors import FormatError, LinkworkError, Origin, SceneError, not_found
from linkwork.parts import Part
from linkwork.registry import FORMATS
from linkwork.scene.atomic import replace_file
from linkwork.scene.edits import (
    Edit,
    Ids,
    Patch,
    locate,
    name_changed,
    read_data,
    table_added,
    value_set,
)
from linkwork.scene.ids import full_ids, names_of, updated
from linkwork.scene.scene import Scene
from linkwork.scene.toml_index import KeyPath
from linkwork.scene.toml_text import remove_at

#: Looks at what an edit would make and raises a LinkworkError to refuse it.
Check = Callable[[Part | Scene], object]
#: Makes a part or scene of a text that stands in a file.
Read = Callable[[str, str], Part | Scene]
#: How a document stood: its text, what that made, and the ids.
Kept = tuple[str, Part | Scene, Ids]


class Document:
    """A file being edited; comments and formatting stay as the user wrote them.

    An edit that would break the file is refused with the error that reading it would give, and
    leaves everything as it was.

    Attributes:
        path: The file.
        text: What it says now, saved or not.
        content: The part or scene that the text makes.
        history: Edits that can be undone, oldest first.
        future: Edits that can be redone, the next one last.
        read: Makes a part or scene of a text in a file; the format itself, unless told otherwise.

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
        """Makes a document of a text.

        Args:
            text: The text; a part or a scene in TOML.
            path: Its file, which need not exist yet.
            check: Looks further than the format does, for example by compiling the scene.
            read: Makes a part or scene of the text; the format itself if None.

        Raises:
            LinkworkError: If the text is not a part or scene.
        """
        self.path = os.fspath(path)
        self.text = text
        self.history: list[Edit] = []
        self.future: list[Edit] = []
        self.read: Read = read or FORMATS.get("toml")().parse
        self._check = check
        self._on_disk: bytes | None = None
        self._used: set[tuple[str, str]] = set()
        self.content = self._read(text)
        self._ids: Ids = updated({}, names_of(self.content), self._used)

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
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise FormatError(f"the file cannot be opened: {why}.", origin=Origin(file)) from error
        document._on_disk = raw
        return document

    @property
    def ids(self) -> dict[str, str]:
        """Stable id by full name: the name that each thing had when it was made."""
        return full_ids(self.content, self._ids)

    @property
    def changed(self) -> bool:
        """Whether there is something to save."""
        return self._on_disk != self.text.encode("utf-8")

    def set_value(self, path: KeyPath, value: Any) -> Edit:
        """Sets a value, ``("joint", "elbow", "range_deg")``; None takes the key away.

        A value in one unit takes the place of the same in another.
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
        """Removes a thing by name, or by number where it has none."""
        place = self._place((section, name))
        if len(place) == 2 and isinstance(place[1], str):
            raise not_found(section, str(name), [], origin=Origin(self.path))
        return self._apply(f"remove {section} {name}", remove_at(self.text, place))

    def rename(self, section: str, old: str, new: str) -> Edit:
        """Renames a thing and rewrites what refers to it in this file."""
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
        """Puts a whole new text in place of the old; names that stay keep their ids."""
        return self._apply(what, text)

    def keep(self) -> Kept:
        """How the document stands, for :meth:`restore`."""
        return self.text, self.content, self._ids

    def restore(self, kept: Kept) -> None:
        """Goes back, or forth, to how it stood; its history is not touched."""
        self.text, self.content, self._ids = kept

    @property
    def saved(self) -> str | None:
        """The text in the file when it was last read or written; None if there was none."""
        return None if self._on_disk is None else self._on_disk.decode("utf-8")

    @property
    def own_ids(self) -> Ids:
        """Stable ids by section and name, of what stands in this file itself."""
        return self._ids

    def undo(self) -> Edit:
        """Takes the last edit back; the text is again what it was before, byte for byte.

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
        """Does again what was undone last.

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
        """Writes the file in one step, keeping its mode.

        Args:
            overwrite: Whether to write over what another program changed in the meantime.

        Raises:
            FormatError: If the file cannot be written, or changed since it was opened.
        """
        if not overwrite and os.path.exists(self.path):
            try:
                with open(self.path, "rb") as stream:
                    standing = stream.read()
            except OSError as error:
                raise FormatError(
                    f"the file cannot be read: {error.strerror}.", origin=Origin(self.path)
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
        after = updated(self._ids if ids is None else ids, names_of(content), self._used)
        edit = Edit(what, Patch.between(self.text, text), self._ids, after)
        self.text, self.content, self._ids = text, content, after
        self.history.append(edit)
        self.future.clear()
        return edit

    def _turn(self, edit: Edit) -> None:
        text = edit.patch.apply(self.text)
        self.content = self._read(text)
        self.text, self._ids = text, edit.after
