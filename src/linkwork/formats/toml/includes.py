"""Includes: the other files that a file names, each read once, none inside itself."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from linkwork.errors import FormatError, MeshError, NameNotFound, listing
from linkwork.formats.choose import Format
from linkwork.formats.explain import format_for
from linkwork.formats.toml.source import Place, Source
from linkwork.parts import Part, kit_part
from linkwork.scene import Scene

#: How many parts may sit in one another, and how many a file may bring in all.
DEEPEST = 32
MOST_PARTS = 5000

_KIT_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9_-]{1,100}\Z")


def is_kit_name(text: str) -> bool:
    """Whether ``text`` has the form of a kit name, ``kit/part``, rather than of a path."""
    return bool(_KIT_NAME.match(text))


def locate(given: str, place: Place, *, what: str) -> str:
    """The absolute path of a mesh or texture that a file names.

    Raises:
        MeshError: If there is no such file; the message lists every place tried.
    """
    folder = place.source.folder
    tried = [os.path.join(folder, given), os.path.join(folder, "meshes", given)]
    for path in tried:
        if os.path.isfile(path):
            return os.path.abspath(path)
    places = ", ".join(dict.fromkeys(os.path.abspath(path) for path in tried))
    raise MeshError(
        f"{place.label}: the {what} file {given!r} is missing.",
        origin=place.origin,
        hint=f"Tried: {places}.",
    )


@dataclass
class Includes:
    """Parts brought in by file, while one file is being read.

    Attributes:
        reader: Reads one TOML source, bringing in further parts through this.
        open: Files that are being read, outermost first, as (real path, path to show).
        parts: Parts by the real path of their file.
        sizes: How many parts each holds, itself included.
        texts: Texts that stand for those of files, by real path: they are not saved yet.
        notes: What had to be assumed or left out of files in formats of others, each with its file.
    """

    reader: Callable[[Source, Includes], Part | Scene]
    open: list[tuple[str, str]] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)

    @contextmanager
    def inside(self, file: str) -> Iterator[None]:
        """While ``file`` is being read."""
        self.open.append((os.path.realpath(file), file))
        self._counts.append(1)
        try:
            yield
        finally:
            self.sizes[self.open.pop()[0]] = self._counts.pop()

    def part(self, given: str, place: Place) -> Part:
        """The part that a file calls ``given``: a kit name, or a path from its own folder.

        Raises:
            LinkworkError: If it is missing, broken, a scene, or holds the file that asks for it.
        """
        path = self._path(given, place)
        real = os.path.realpath(path)
        if real in (opened for opened, _ in self.open):
            chain = " → ".join([*(shown for _, shown in self.open), path])
            raise FormatError(
                f"{place.label}: the part {given!r} would hold itself: {chain}.",
                origin=place.origin,
            )
        if len(self.open) > DEEPEST:
            raise FormatError(
                f"{place.label}: parts sit in one another more than {DEEPEST} deep.",
                origin=place.origin,
            )
        if real not in self.parts:
            self.parts[real] = self._read(path, place)
        self._counts[-1] += self.sizes.get(real, 1)
        if self._counts[-1] > MOST_PARTS:
            raise FormatError(
                f"{place.label}: the file brings more than {MOST_PARTS} parts.",
                origin=place.origin,
            )
        return self.parts[real]

    def _path(self, given: str, place: Place) -> str:
        if is_kit_name(given):
            try:
                return os.fspath(kit_part(given, origin=place.origin))
            except NameNotFound as error:
                hint = f"{error.hint} A path begins with ./ or ends in .toml or .urdf."
                raise NameNotFound(error.message, origin=place.origin, hint=hint) from error
        path = os.path.normpath(os.path.join(place.source.folder, given))
        if not os.path.isfile(path) and os.path.realpath(path) not in self.texts:
            raise FormatError(
                f"{place.label}: there is no file {given!r}.",
                origin=place.origin,
                hint=f"Tried: {os.path.abspath(path)}.",
            )
        return path

    def _read(self, path: str, place: Place) -> Part:
        form = format_for(path, origin=place.origin)
        if ".toml" in form.suffixes:
            # Read here rather than by the format, which would begin a new chain of files.
            text = self.texts.get(os.path.realpath(path))
            source = Source.read(path) if text is None else Source.of(text, path)
            thing = self.reader(source, self)
        else:
            thing = self._foreign(form, path)
        if not isinstance(thing, Part):
            raise FormatError(
                f"{place.label}: {path} is a scene, not a part.",
                origin=place.origin,
                hint=_of_a_scene(thing, path),
            )
        return thing

    def _foreign(self, form: Format, path: str) -> Part | Scene:
        """What a file in a format of others holds; what was assumed goes to the notes."""
        reader = getattr(form, "read_with_notes", None)
        if reader is None:
            return form.read(path)
        thing, notes = reader(path)
        self.notes += [note if path in note else f"{path}: {note}" for note in notes]
        return thing


def _of_a_scene(scene: Scene, path: str) -> str:
    """How to come to a part of a scene that was taken for one."""
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
