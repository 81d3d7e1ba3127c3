"""Includes: part files that a file names, each read once."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from linkwork.core.errors import FormatError, MeshError, NameNotFound, listing
from linkwork.formats.lookup import FileFormat, format_for
from linkwork.formats.toml.source import SourceLocation, TomlSource
from linkwork.model.parts import Part, kit_part
from linkwork.model.scene import Scene

#: Maximum depth and number of included parts.
MAX_DEPTH = 32
MAX_PARTS = 5000

_KIT_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9_-]{1,100}\Z")


def is_kit_name(text: str) -> bool:
    """Whether ``text`` has the form of a kit name, ``kit/part``, rather than of a path."""
    return bool(_KIT_NAME.match(text))


def locate_file(given: str, location: SourceLocation, *, what: str) -> str:
    """Returns the absolute path of a mesh or texture that a file names.

    Raises:
        MeshError: If there is no such file; the message lists the paths tried.
    """
    folder = location.source.folder
    tried = [os.path.join(folder, given), os.path.join(folder, "meshes", given)]
    for path in tried:
        if os.path.isfile(path):
            return os.path.abspath(path)
    paths = ", ".join(dict.fromkeys(os.path.abspath(path) for path in tried))
    raise MeshError(
        f"{location.label}: the {what} file {given!r} is missing.",
        origin=location.origin,
        hint=f"Tried: {paths}.",
    )


@dataclass
class Includes:
    """Parts included while one file is being read.

    Attributes:
        reader: Reads one TOML source with its includes.
        open: Files that are being read, outermost first, as (real path, path to show).
        parts: Parts by the real path of their file.
        sizes: Number of parts in each, itself included.
        texts: Unsaved texts of files, by real path.
        notes: Assumptions about included files, each with its file.
    """

    reader: Callable[[TomlSource, Includes], Part | Scene]
    open: list[tuple[str, str]] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)

    @contextmanager
    def inside(self, file: str) -> Iterator[None]:
        """Marks ``file`` as being read."""
        self.open.append((os.path.realpath(file), file))
        self._counts.append(1)
        try:
            yield
        finally:
            self.sizes[self.open.pop()[0]] = self._counts.pop()

    def part(self, given: str, location: SourceLocation) -> Part:
        """Returns the part that a file names: a kit name, or a path relative to its folder.

        Raises:
            LinkworkError: If it is missing, broken, a scene, or includes the file that names it.
        """
        path = self._path(given, location)
        real = os.path.realpath(path)
        if real in (opened for opened, _ in self.open):
            chain = " → ".join([*(shown for _, shown in self.open), path])
            raise FormatError(
                f"{location.label}: the part {given!r} would include itself: {chain}.",
                origin=location.origin,
            )
        if len(self.open) > MAX_DEPTH:
            raise FormatError(
                f"{location.label}: parts are nested more than {MAX_DEPTH} deep.",
                origin=location.origin,
            )
        if real not in self.parts:
            self.parts[real] = self._read(path, location)
        self._counts[-1] += self.sizes.get(real, 1)
        if self._counts[-1] > MAX_PARTS:
            raise FormatError(
                f"{location.label}: the file includes more than {MAX_PARTS} parts.",
                origin=location.origin,
            )
        return self.parts[real]

    def _path(self, given: str, location: SourceLocation) -> str:
        if is_kit_name(given):
            try:
                return os.fspath(kit_part(given, origin=location.origin))
            except NameNotFound as error:
                hint = f"{error.hint} A path begins with ./ or ends in .toml or .urdf."
                raise NameNotFound(error.message, origin=location.origin, hint=hint) from error
        path = os.path.normpath(os.path.join(location.source.folder, given))
        if not os.path.isfile(path) and os.path.realpath(path) not in self.texts:
            raise FormatError(
                f"{location.label}: there is no file {given!r}.",
                origin=location.origin,
                hint=f"Tried: {os.path.abspath(path)}.",
            )
        return path

    def _read(self, path: str, location: SourceLocation) -> Part:
        form = format_for(path, origin=location.origin)
        if ".toml" in form.suffixes:
            # Read here and not by the format, which would start new includes.
            text = self.texts.get(os.path.realpath(path))
            source = TomlSource.read(path) if text is None else TomlSource.of(text, path)
            thing = self.reader(source, self)
        else:
            thing = self._foreign(form, path)
        if not isinstance(thing, Part):
            raise FormatError(
                f"{location.label}: {path} is a scene, not a part.",
                origin=location.origin,
                hint=_scene_hint(thing, path),
            )
        return thing

    def _foreign(self, form: FileFormat, path: str) -> Part | Scene:
        """Returns the content of a file in another format; collects its notes."""
        reader = getattr(form, "read_with_notes", None)
        if reader is None:
            return form.read(path)
        thing, notes = reader(path)
        self.notes += [note if path in note else f"{path}: {note}" for note in notes]
        return thing


def _scene_hint(scene: Scene, path: str) -> str:
    """Returns a hint for a scene that was named as a part."""
    if not scene.parts:
        return "It holds no part."
    stem = os.path.splitext(os.path.basename(path))[0]
    given, made = shlex.quote(path), shlex.quote(f"{stem}.toml")
    if path.lower().endswith(".toml"):
        first = next(iter(scene.parts.values()))
        return f"Its parts: {listing(scene.parts)}. Name the file of one, {first.source!r}."
    return (
        f"To go on from the whole scene, linkwork convert {given} {made} and add to that file; one "
        f"of its parts ({listing(scene.parts)}), without the scene's drives, is made by linkwork "
        f"convert {given} part.toml --part {next(iter(scene.parts))}."
    )
