"""Which format a file has, by its suffix and, where several share one, by what it holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

from linkwork.errors import FormatError, Origin
from linkwork.parts import Part
from linkwork.registry import FORMATS
from linkwork.scene import Scene

#: How much of a file a format may look at to recognise it [bytes].
HEAD = 65536


class Format(Protocol):
    """A file format, registered in :data:`linkwork.registry.FORMATS`.

    A format whose suffix is also another's has a method ``recognises(head: bytes) -> bool`` too:
    whether a file that begins so is one of its own. One that reads more suffixes than it writes has
    an attribute ``written`` with those it writes.

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

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str] | None:
        """Writes a file; tells what the format could not say."""
        ...


def format_for(
    path: str | os.PathLike[str], *, origin: Origin | None = None, writing: bool = False
) -> Format:
    """The format of a file: by its longest known suffix, and by its content where formats share it.

    A file that is to be written has the format that writes its suffix, whatever it holds now; of
    several, and of a file to be read that does not exist, the one that names the suffix earliest
    among its own.

    Raises:
        FormatError: If no format has that suffix, or none of those that have it recognises the
            file; the message lists what exists.
    """
    file = os.fspath(path)
    suffix = os.path.splitext(file)[1].lower()
    sharing: dict[str, list[Format]] = {}
    for form in _likely_first(suffix):
        endings = getattr(form, "written", form.suffixes) if writing else form.suffixes
        claimed = [ending for ending in endings if file.lower().endswith(ending)]
        for ending in claimed:
            sharing.setdefault(ending, []).append(form)
        if claimed and not hasattr(form, "recognises"):
            break  # nobody else claims what it claims
    if sharing:
        ending = max(sharing, key=len)
        forms = sorted(sharing[ending], key=lambda form: form.suffixes.index(ending))
        return forms[0] if writing or len(forms) == 1 else _recognised(file, forms)
    suffixes = sorted({s for form in _likely_first("") for s in form.suffixes})
    what = f"suffix {suffix!r}" if suffix else "file without a suffix"
    raise FormatError(
        f"no format reads {file!r}: the {what} is not known.",
        origin=origin,
        hint=f"Known: {', '.join(suffixes)} (formats {', '.join(FORMATS)}).",
    )


def _recognised(file: str, forms: list[Format]) -> Format:
    try:
        with open(file, "rb") as stream:
            head = stream.read(HEAD)
    except (OSError, ValueError):
        return forms[0]  # the reader tells why it cannot be read
    for form in forms:
        if form.recognises(head):  # type: ignore[attr-defined] - those that share have it
            return form
    kinds = " nor ".join(type(form).__name__.removesuffix("Format") for form in forms)
    raise FormatError(
        f"the file is neither {kinds}.", origin=Origin(file), hint="Look at how it begins."
    )


def _likely_first(suffix: str) -> Iterator[Format]:
    """The formats, the one named as the suffix before others, so that few are imported."""
    names = FORMATS.names()
    for name in sorted(names, key=lambda name: f".{name}" != suffix):
        yield FORMATS.get(name)()
