"""Source: the text of one TOML file with the location of each value."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from linkwork.core.errors import FormatError, LinkworkError, Origin, os_error_text
from linkwork.core.mistakes import location_name, mistake
from linkwork.formats.toml.index import KeyPath, TomlIndex

#: Maximum size of a text [bytes].
MAX_BYTES = 1_000_000

_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")


@dataclass(frozen=True)
class TomlSource:
    """A valid TOML text.

    Attributes:
        file: Path as the user gave it.
        data: The values.
        index: Their positions.
    """

    file: str
    data: dict[str, Any]
    index: TomlIndex

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TomlSource:
        """Reads a file.

        Raises:
            FormatError: If it cannot be read, is too large, or is not TOML.
        """
        file = os.fspath(path)
        try:
            if os.path.getsize(file) > MAX_BYTES:
                raise _too_large(file, os.path.getsize(file))
            with open(file, "rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            raise FormatError(f"the file cannot be read: {why}.", origin=Origin(file)) from error
        return cls.of(decode(raw, file), file)

    @classmethod
    def of(cls, text: str, file: str) -> TomlSource:
        """Reads a text of ``file``, which need not exist."""
        if len(text) > MAX_BYTES:
            raise _too_large(file, len(text))
        try:
            index = TomlIndex.of(text)
            data = tomllib.loads(text.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError as error:
            raise _syntax(str(error), text, file) from error
        except RecursionError as error:
            raise FormatError("tables and arrays nest too deep.", origin=Origin(file)) from error
        except FormatError as error:
            line = error.origin.line if error.origin else 0
            raise FormatError(error.message, origin=Origin(file, line)) from error
        except ValueError as error:
            raise FormatError(f"this is not TOML: {error}.", origin=Origin(file)) from error
        return cls(file, data, index)

    @property
    def folder(self) -> str:
        """Folder of the file."""
        return os.path.dirname(self.file)


def decode(raw: bytes, file: str) -> str:
    """Returns the text of a file's bytes, with its line breaks.

    Raises:
        FormatError: If they are not UTF-8; the message names the line.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"byte 0x{raw[error.start]:02x} is not text in UTF-8.",
            origin=Origin(file, line),
            hint="Save the file as UTF-8.",
        ) from error


def _too_large(file: str, size: int) -> FormatError:
    return FormatError(
        f"the file has {size / 1e6:.1f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read.",
        origin=Origin(file),
        hint="Put large data into files of its own, such as meshes.",
    )


def _syntax(message: str, text: str, file: str) -> FormatError:
    found = _POSITION.search(message)
    line = 0
    if found:
        message = message[: found.start()]
        line = int(found[1]) if found[1] else text.count("\n") + (not text.endswith("\n"))
    return FormatError(
        f"this is not TOML: {message[:1].lower()}{message[1:200]}.",
        origin=Origin(file, max(line, 1)),
    )


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Location of a value in a source.

    Attributes:
        source: The file.
        path: Keys and numbers that lead there.
        label: Label of its owner in messages, ``joint 'elbow'``.
        inside: Keys from the owner to here.
    """

    source: TomlSource
    path: KeyPath = ()
    label: str = ""
    inside: tuple[str, ...] = ()

    def __truediv__(self, key: str | int) -> Self:
        inside = self.inside if isinstance(key, int) else (*self.inside, key)
        return type(self)(self.source, (*self.path, key), self.label, inside)

    def labeled(self, label: str) -> Self:
        """Returns the same location with its own label in messages."""
        return type(self)(self.source, self.path, label)

    @property
    def name(self) -> str:
        """Name in messages."""
        return location_name(self.label, self.inside)

    @property
    def origin(self) -> Origin:
        """File and line."""
        return Origin(self.source.file, self.source.index.line(self.path))

    def mistake(self, message: str, *, hint: str = "") -> FormatError:
        """Returns an error whose sentence continues the name of the value."""
        return mistake(self, message, hint=hint)

    @contextmanager
    def with_origin(self) -> Iterator[None]:
        """Gives errors raised inside without an origin this location and its label."""
        try:
            yield
        except LinkworkError as error:
            placed = error.origin is not None and error.origin.file
            if not placed and self.label:
                error.message = f"{self.label}: {error.message}"
            raise error.at(self.origin) from error.__cause__
