"""Linkwork's own files: parts, scenes and movements in TOML, with a line for every mistake."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.movement import movement_text
from linkwork.formats.toml.read import read_movements, read_source
from linkwork.formats.toml.source import Source
from linkwork.formats.toml.write import write_file, write_text
from linkwork.parts import Part
from linkwork.scene import Movement, Scene
from linkwork.scene.atomic import replace_file


class TomlFormat:
    """Parts and scenes in TOML."""

    suffixes: ClassVar[tuple[str, ...]] = (".toml",)

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """Reads a part or a scene, as the file's ``format`` says.

        Raises:
            LinkworkError: Naming the thing, its file and line, and what would be allowed.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """Reads a part or a scene, and what had to be assumed of files in other formats in it.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        includes = Includes(read_source)
        return read_source(Source.read(path), includes), includes.notes

    def parse(
        self, text: str, path: str | os.PathLike[str], *, texts: Mapping[str, str] | None = None
    ) -> Part | Scene:
        """Reads a text as if it stood in the file ``path``, which need not exist.

        Args:
            text: The text.
            path: Its file.
            texts: Texts that stand for those of other files, by real path.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        includes = Includes(read_source, texts=texts or {})
        return read_source(Source.of(text, os.fspath(path)), includes)

    def movements(self, path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
        """The movement that a file holds; none if it is a part or a scene.

        Args:
            path: The file.
            text: What it holds, if it need not be read.

        Raises:
            LinkworkError: As :meth:`read`.
        """
        source = Source.read(path) if text is None else Source.of(text, os.fspath(path))
        return read_movements(source)

    def write_movement(
        self, movement: Movement, path: str | os.PathLike[str], *, robot: Part | None = None
    ) -> None:
        """Writes a movement; whose it is need not be said."""
        replace_file(os.fspath(path), movement_text(movement).encode("utf-8"))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> None:
        """Writes a part or a scene, and beside it the parts it holds that have no file."""
        write_file(thing, path)

    def text(self, thing: Part | Scene, path: str | os.PathLike[str] = "") -> str:
        """The text that :meth:`write` would write to ``path``."""
        return write_text(thing, path)


__all__ = ["TomlFormat"]
