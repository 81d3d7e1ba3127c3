"""Explain: which format reads or writes a file, with words for what it is where none does."""

from __future__ import annotations

import os
import re

from linkwork.errors import FormatError, Origin
from linkwork.formats import choose
from linkwork.formats.choose import Format

#: Suffixes of files that are read; the order is that of messages.
READ = (
    ".toml", ".urdf", ".sdf", ".world", ".xml", ".mjcf", ".glb", ".gltf", ".stl", ".obj", ".dae",
    ".step", ".stp", ".cfg", ".robot",
)  # fmt: skip
#: Suffixes of files that are written.
WRITTEN = (
    ".toml", ".urdf", ".sdf", ".world", ".mjcf", ".xml", ".humanoid.xml", ".glb", ".gltf", ".cfg",
    ".robot", ".x3d", ".wrl", ".vrml",
)  # fmt: skip


def format_for(path: str | os.PathLike[str], *, origin: Origin | None = None) -> Format:
    """The format of a file, as :func:`linkwork.formats.choose.format_for`.

    Raises:
        FormatError: If there is none; of an XML file it says what it is instead.
    """
    try:
        return choose.format_for(path, origin=origin)
    except FormatError:
        file = os.fspath(path)
        if not file.lower().endswith(".xml") or not os.path.isfile(file):
            raise
    raise FormatError(
        f"the file {_what(file)}.",
        origin=Origin(file),
        hint="<mujoco> begins a MuJoCo model, <robot> a humanoid; a URDF's name ends in .urdf.",
    ) from None


def format_to_write(path: str | os.PathLike[str]) -> Format:
    """The format in which a file is written.

    Raises:
        FormatError: If there is none; lists the suffixes that are written.
    """
    file = os.fspath(path)
    try:
        return choose.format_for(path, writing=True)
    except FormatError:
        pass
    suffix = os.path.splitext(file)[1]
    what = f"the suffix {suffix!r} is not known" if suffix else "it has no suffix"
    raise FormatError(
        f"no format writes {file!r}: {what}.", hint=f"Written are {', '.join(WRITTEN)}."
    ) from None


def _what(file: str) -> str:
    """What an XML file that no format recognises is."""
    try:
        with open(file, "rb") as stream:
            head = stream.read(choose.HEAD)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not head.strip():
        return "is empty"
    text = re.sub(r"<\?.*?\?>|<!--.*?-->|<![^>]*>", "", head.decode("utf-8", "replace"), flags=re.S)
    first = re.match(r"\s*\ufeff?\s*<([A-Za-z_][\w:.-]{0,60})", text)
    if first is None:
        return "is no XML"
    return f"begins with <{first[1]}>, which no format knows"
