"""Source: the text of one TOML file with its values, and the place of each for messages."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.scene.toml_index import KeyPath, TomlIndex

#: The largest text read [bytes]; a file for people stays far below.
LARGEST = 1_000_000

_WHERE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")


@dataclass(frozen=True)
class Source:
    """A TOML text that follows TOML's own rules.

    Attributes:
        file: Path as the user gave it.
        data: The values.
        index: Where they stand.
    """

    file: str
    data: dict[str, Any]
    index: TomlIndex

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Source:
        """Reads a file.

        Raises:
            FormatError: If it cannot be read, is no text, too large, or not TOML.
        """
        file = os.fspath(path)
        try:
            if os.path.getsize(file) > LARGEST:
                raise _too_large(file, os.path.getsize(file))
            with open(file, "rb") as stream:
                raw = stream.read(LARGEST + 1)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise FormatError(f"the file cannot be read: {why}.", origin=Origin(file)) from error
        return cls.of(decode(raw, file), file)

    @classmethod
    def of(cls, text: str, file: str) -> Source:
        """Reads a text that stands, or will stand, in ``file``."""
        if len(text) > LARGEST:
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
        """The folder that paths in the file start from."""
        return os.path.dirname(self.file)


def decode(raw: bytes, file: str) -> str:
    """The text of a file's bytes, line breaks and all.

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
        f"the file has {size / 1e6:.1f} MB; at most {LARGEST / 1e6:.0f} MB are read.",
        origin=Origin(file),
        hint="Put large data into files of its own, such as meshes.",
    )


def _syntax(message: str, text: str, file: str) -> FormatError:
    found = _WHERE.search(message)
    line = 0
    if found:
        message = message[: found.start()]
        line = int(found[1]) if found[1] else text.count("\n") + (not text.endswith("\n"))
    return FormatError(
        f"this is not TOML: {message[:1].lower()}{message[1:200]}.",
        origin=Origin(file, max(line, 1)),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source, for reading what stands there and for naming it in messages.

    Attributes:
        source: The file.
        path: Keys and numbers that lead there.
        label: What people call the thing around it, ``joint 'elbow'``.
        inside: Keys from that thing to here.
    """

    source: Source
    path: KeyPath = ()
    label: str = ""
    inside: tuple[str, ...] = ()

    def __truediv__(self, key: str | int) -> Place:
        inside = self.inside if isinstance(key, int) else (*self.inside, key)
        return Place(self.source, (*self.path, key), self.label, inside)

    def called(self, label: str) -> Place:
        """The same place, as the thing that messages name."""
        return Place(self.source, self.path, label)

    @property
    def origin(self) -> Origin:
        """File and line."""
        return Origin(self.source.file, self.source.index.line(self.path))

    def wrong(self, message: str, *, hint: str = "") -> FormatError:
        """An error about what stands here; ``message`` goes on from the key's name."""
        key = ".".join(self.inside)
        head = f"{self.label}: {key}" if self.label and key else self.label or key or "the file"
        return FormatError(f"{head} {message}", origin=self.origin, hint=hint)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors raised inside that name no place name this one, and what stands here."""
        try:
            yield
        except LinkworkError as error:
            placed = error.origin is not None and error.origin.file
            if not placed and self.label:
                error.message = f"{self.label}: {error.message}"
            raise error.at(self.origin) from error.__cause__


def found(value: Any) -> str:
    """What stands in the file, in few words."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            shown = value if len(value) <= 40 else f"{value[:37]}…"
            return json.dumps(shown, ensure_ascii=False)
        case int() if abs(value) >= 10**20:
            return "a number with more than 20 digits"
        case int() | float():
            return f"{value}"
        case []:
            return "an empty array"
        case list():
            return f"an array of {len(value)}"
        case dict():
            return "a table"
    return f"a date or time ({value})"
