"""Linkwork's TOML files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from linkwork.core.atomic import replace_file
from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.movement import movement_text
from linkwork.formats.toml.read import read_movements, read_source
from linkwork.formats.toml.source import TomlSource
from linkwork.formats.toml.write import write_file, write_text
from linkwork.model.parts import Part
from linkwork.model.scene import Movement, Scene


class TomlFormat:
    """Parts and scenes in TOML."""

    suffixes: ClassVar[tuple[str, ...]] = (".toml",)

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """Reads a part or a scene, according to the file's ``format``.

        Raises:
            LinkworkError: Naming the item, its file and line, and what is allowed.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """Reads a part or a scene, with notes on included files and renamed keys.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        includes = Includes(read_source)
        return read_source(TomlSource.read(path), includes), includes.notes

    def parse(
        self, text: str, path: str | os.PathLike[str], *, texts: Mapping[str, str] | None = None
    ) -> Part | Scene:
        """Reads a text of the file ``path``, which need not exist.

        Args:
            text: The text.
            path: Its file.
            texts: Unsaved texts of other files, by real path.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        includes = Includes(read_source, texts=texts or {})
        return read_source(TomlSource.of(text, os.fspath(path)), includes)

    def movements(self, path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
        """Returns the movement that a file holds; none if it is a part or a scene.

        Args:
            path: The file.
            text: Its text, if it need not be read.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        source = TomlSource.read(path) if text is None else TomlSource.of(text, os.fspath(path))
        return read_movements(source)

    def write_movement(
        self, movement: Movement, path: str | os.PathLike[str], *, robot: Part | None = None
    ) -> None:
        """Writes a movement; ``robot`` is not used."""
        replace_file(os.fspath(path), movement_text(movement).encode("utf-8"))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> None:
        """Writes a part or a scene, and beside it its parts without a file."""
        write_file(thing, path)

    def text(self, thing: Part | Scene, path: str | os.PathLike[str] = "") -> str:
        """Returns the text that :meth:`write` would write to ``path``."""
        return write_text(thing, path)


__all__ = ["TomlFormat"]
