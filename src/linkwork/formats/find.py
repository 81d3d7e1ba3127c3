"""Which file a name means: a path, or a kit's part or scene."""

from __future__ import annotations

import os

from linkwork.errors import FormatError, suggestion
from linkwork.formats.explain import READ
from linkwork.parts import find_kits, kit_part


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
    if isinstance(path, str) and (kit := find_kits().get(path.rstrip("/"))) is not None:
        first = [*kit.scenes(), *kit.parts()]
        raise FormatError(
            f"{kit.name!r} is a kit, not a file.",
            hint=f"Say {first[0]!r}."
            if len(first) == 1
            else f"Say one of {', '.join(first[:12])}.",
        )
    if os.path.isdir(file):
        raise FormatError(f"{file!r} is a folder, not a file.", hint=_neighbours(file, ""))
    raise FormatError(
        f"there is no file {file!r}.",
        hint=_neighbours(os.path.dirname(file) or ".", os.path.basename(file)),
    )


def _neighbours(folder: str, name: str) -> str:
    try:
        names = [n for n in os.listdir(folder) if os.path.splitext(n)[1].lower() in READ]
    except (OSError, ValueError):
        return f"The folder {folder!r} does not exist either."
    return suggestion(name, names, kind=f"files in {folder!r}")
