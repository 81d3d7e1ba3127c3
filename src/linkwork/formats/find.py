"""Which file a name means: a path, or a kit's part or scene."""

from __future__ import annotations

import os

from linkwork.errors import FormatError, suggestion
from linkwork.parts import kit_part

#: Suffixes of the files that a misspelled name may have meant.
_ROBOTS = (".toml", ".urdf", ".sdf", ".world", ".xml", ".mjcf")


def find_file(path: str | os.PathLike[str]) -> str:
    """The path of a file, or of a kit's (``"tripod/tripod"``).

    Raises:
        LinkworkError: If there is none; the message lists what is near.
    """
    file = os.fspath(path)
    if os.path.isfile(file):
        return file
    if isinstance(path, str) and "/" in path and not os.path.splitext(path)[1]:
        return os.fspath(kit_part(path))
    if os.path.isdir(file):
        raise FormatError(f"{file!r} is a folder, not a file.", hint=_neighbours(file, ""))
    raise FormatError(
        f"there is no file {file!r}.",
        hint=_neighbours(os.path.dirname(file) or ".", os.path.basename(file)),
    )


def _neighbours(folder: str, name: str) -> str:
    try:
        names = [n for n in os.listdir(folder) if os.path.splitext(n)[1] in _ROBOTS]
    except (OSError, ValueError):
        return f"The folder {folder!r} does not exist either."
    return suggestion(name, names, kind=f"files in {folder!r}")
