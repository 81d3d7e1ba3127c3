"""Which format a file has, by its suffix."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

from linkwork.errors import FormatError, Origin
from linkwork.parts import Part
from linkwork.registry import FORMATS
from linkwork.scene import Scene


class Format(Protocol):
    """A file format, registered in :data:`linkwork.registry.FORMATS`.

    Attributes:
        suffixes: Endings of its files, ``(".toml",)``.
    """

    suffixes: tuple[str, ...]

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """Reads a file.

        Raises:
            LinkworkError: If it cannot; the message names file and line.
        """
        ...

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> None:
        """Writes a file."""
        ...


def format_for(path: str | os.PathLike[str], *, origin: Origin | None = None) -> Format:
    """The format of a file, by its suffix.

    Raises:
        FormatError: If no format has that suffix; the message lists those that exist.
    """
    file = os.fspath(path)
    suffix = os.path.splitext(file)[1].lower()
    for form in _likely_first(suffix):
        if suffix in form.suffixes:
            return form
    suffixes = sorted({s for form in _likely_first("") for s in form.suffixes})
    what = f"suffix {suffix!r}" if suffix else "file without a suffix"
    raise FormatError(
        f"no format reads {file!r}: the {what} is not known.",
        origin=origin,
        hint=f"Known: {', '.join(suffixes)} (formats {', '.join(FORMATS)}).",
    )


def _likely_first(suffix: str) -> Iterator[Format]:
    """The formats, the one named as the suffix before others, so that few are imported."""
    names = FORMATS.names()
    for name in sorted(names, key=lambda name: f".{name}" != suffix):
        yield FORMATS.get(name)()
