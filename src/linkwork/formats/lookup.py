"""Lookup of files by name, of formats by file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Protocol

from linkwork.core.errors import FormatError, Origin, os_error_text, suggestion
from linkwork.core.registry import FORMATS
from linkwork.model.parts import Part, find_kits, kit_part
from linkwork.model.scene import Scene

#: Length of the start of a file that formats use to recognize it [bytes].
HEAD_BYTES = 65536


class FileFormat(Protocol):
    """A file format, registered in :data:`linkwork.core.registry.FORMATS`.

    A format that shares a suffix with another has a method ``recognizes(head: bytes) -> bool``,
    which checks the start of a file. A format that reads more suffixes than it writes has an
    attribute ``written`` with those it writes. A format without masses and drives has an attribute
    ``default_engine``, which moves its robots where no engine is named.

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
        """Writes a file; returns what was left out."""
        ...


def match_format(
    path: str | os.PathLike[str], *, origin: Origin | None = None, writing: bool = False
) -> FileFormat:
    """Returns the format of a file by its longest known suffix, and by content if shared.

    A file to be written has the format that writes its suffix. Of several formats, and for a file
    that does not exist, the one that lists the suffix earliest is returned.

    Raises:
        FormatError: If no format has that suffix, or none of those that have it recognizes the
            file; the message lists what exists.
    """
    file = os.fspath(path)
    suffix = os.path.splitext(file)[1].lower()
    sharing: dict[str, list[FileFormat]] = {}
    for form in _by_likelihood(suffix):
        endings = getattr(form, "written", form.suffixes) if writing else form.suffixes
        claimed = [ending for ending in endings if file.lower().endswith(ending)]
        for ending in claimed:
            sharing.setdefault(ending, []).append(form)
        if claimed and not hasattr(form, "recognizes"):
            break  # no other format has its suffixes
    if sharing:
        ending = max(sharing, key=len)
        forms = sorted(sharing[ending], key=lambda form: form.suffixes.index(ending))
        return forms[0] if writing or len(forms) == 1 else _recognized(file, forms)
    suffixes = sorted({s for form in _by_likelihood("") for s in form.suffixes})
    what = f"suffix {suffix!r}" if suffix else "file without a suffix"
    raise FormatError(
        f"no format reads {file!r}: the {what} is not known.",
        origin=origin,
        hint=f"Known: {', '.join(suffixes)} (formats {', '.join(FORMATS)}).",
    )


def _recognized(file: str, forms: list[FileFormat]) -> FileFormat:
    try:
        with open(file, "rb") as stream:
            head = stream.read(HEAD_BYTES)
    except (OSError, ValueError):
        return forms[0]  # the reader reports why it cannot be read
    for form in forms:
        if form.recognizes(head):  # type: ignore[attr-defined] - those that share have it
            return form
    kinds = " nor ".join(type(form).__name__.removesuffix("Format") for form in forms)
    raise FormatError(
        f"the file is neither {kinds}.", origin=Origin(file), hint="Look at how it begins."
    )


def _by_likelihood(suffix: str) -> Iterator[FileFormat]:
    """Yields the formats, the one named as the suffix first, so that few are imported."""
    names = FORMATS.names()
    for name in sorted(names, key=lambda name: f".{name}" != suffix):
        yield FORMATS.get(name)()


#: Suffixes of files that are read, in the order of messages.
READABLE_TEXT = (
    ".toml", ".urdf", ".sdf", ".world", ".xml", ".mjcf", ".glb", ".gltf", ".stl", ".obj", ".dae",
    ".step", ".stp", ".cfg", ".robot",
)  # fmt: skip
#: Suffixes of files that are written.
WRITABLE_TEXT = (
    ".toml", ".urdf", ".sdf", ".world", ".mjcf", ".xml", ".humanoid.xml", ".glb", ".gltf", ".cfg",
    ".robot", ".x3d", ".wrl", ".vrml",
)  # fmt: skip


def format_for(path: str | os.PathLike[str], *, origin: Origin | None = None) -> FileFormat:
    """Returns the format of a file, as :func:`match_format`.

    Raises:
        FormatError: If there is none; for an XML file it names the root element.
    """
    try:
        return match_format(path, origin=origin)
    except FormatError:
        file = os.fspath(path)
        if not file.lower().endswith(".xml") or not os.path.isfile(file):
            raise
    raise FormatError(
        f"the file {_describe_file(file)}.",
        origin=Origin(file),
        hint="<mujoco> begins a MuJoCo model, <robot> a humanoid; a URDF's name ends in .urdf.",
    ) from None


def format_to_write(path: str | os.PathLike[str]) -> FileFormat:
    """Returns the format in which a file is written.

    Raises:
        FormatError: If there is none; lists the suffixes that are written.
    """
    file = os.fspath(path)
    try:
        return match_format(path, writing=True)
    except FormatError:
        pass
    suffix = os.path.splitext(file)[1]
    what = f"the suffix {suffix!r} is not known" if suffix else "it has no suffix"
    raise FormatError(
        f"no format writes {file!r}: {what}.", hint=f"Written are {', '.join(WRITABLE_TEXT)}."
    ) from None


def _describe_file(file: str) -> str:
    """Describes an XML file that no format recognizes."""
    try:
        with open(file, "rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as error:
        return f"cannot be read: {os_error_text(error)}"
    if not head.strip():
        return "is empty"
    text = re.sub(r"<\?.*?\?>|<!--.*?-->|<![^>]*>", "", head.decode("utf-8", "replace"), flags=re.S)
    first = re.match(r"\s*\ufeff?\s*<([A-Za-z_][\w:.-]{0,60})", text)
    if first is None:
        return "is not XML"
    return f"begins with <{first[1]}>, which no format reads"


def find_file(path: str | os.PathLike[str]) -> str:
    """Returns the path of a file, or of a kit's (``"tripod/tripod"``).

    Raises:
        LinkworkError: If there is none; the message lists similar names.
    """
    file = os.fspath(path)
    if os.path.isfile(file):
        return file
    if isinstance(path, str) and "/" in path and not os.path.splitext(path)[1]:
        return os.fspath(kit_part(path))
    if isinstance(path, str) and (kit := find_kits().get(path.rstrip("/"))) is not None:
        first = [*kit.scenes(), *kit.parts()]
        raise FormatError(
            f"{kit.name!r} is a kit, not a file.",
            hint=f"Say {first[0]!r}."
            if len(first) == 1
            else f"Say one of {', '.join(first[:12])}.",
        )
    if os.path.isdir(file):
        raise FormatError(f"{file!r} is a folder, not a file.", hint=_neighbors(file, ""))
    raise FormatError(
        f"there is no file {file!r}.",
        hint=_neighbors(os.path.dirname(file) or ".", os.path.basename(file)),
    )


def _neighbors(folder: str, name: str) -> str:
    try:
        names = [n for n in os.listdir(folder) if os.path.splitext(n)[1].lower() in READABLE_TEXT]
    except (OSError, ValueError):
        return f"The folder {folder!r} does not exist either."
    return suggestion(name, names, kind=f"files in {folder!r}")
