"""Movements in files of every format that holds them."""

from __future__ import annotations

import os

from linkwork.core.errors import FormatError, Origin, not_found
from linkwork.formats.lookup import find_file, format_for
from linkwork.model.scene import Movement


def read_movements(path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
    """Returns all movements in a file; none for other content.

    A format with movements has a method ``movements(path, *, text=None)``.

    Args:
        path: The file.
        text: Its text, if it need not be read.

    Raises:
        LinkworkError: Naming the file and line, what was found and what is allowed.
    """
    reader = getattr(format_for(path), "movements", None)
    return list(reader(path, text=text)) if reader is not None else []


def load_movement(
    path: str | os.PathLike[str],
    name: str = "",
    *,
    text: str | None = None,
    origin: Origin | None = None,
) -> Movement:
    """Loads a movement from a file, or from a kit by name (``"bioloid/greet"``).

    Args:
        path: The file.
        name: Name of the movement, if the file holds several.
        text: Text of the file, if it need not be read.
        origin: Where the movement is named; the file if absent.

    Raises:
        LinkworkError: If there is none, or several and no name.
    """
    file = find_file(path) if text is None else os.fspath(path)
    found = {movement.name: movement for movement in read_movements(file, text=text)}
    here = origin or Origin(file)
    if not found:
        raise FormatError(
            f"the file {file!r} holds no movement.",
            origin=here,
            hint='A movement\'s file begins with format = "linkwork/movement 1".',
        )
    if name:
        if name not in found:
            raise not_found("movement", name, found, origin=here)
        return found[name]
    if len(found) > 1:
        raise FormatError(
            f"the file {file!r} holds {len(found)} movements: {', '.join(found)}.",
            origin=here,
            hint="Name one of them.",
        )
    return next(iter(found.values()))
