"""Movements in files: those of our own, and those that other formats hold beside a robot."""

from __future__ import annotations

import os

from linkwork.errors import FormatError, Origin, not_found
from linkwork.formats.explain import format_for
from linkwork.formats.find import find_file
from linkwork.scene import Movement


def read_movements(path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
    """Every movement that a file holds; none if it holds something else.

    A format that knows movements has a method ``movements(path, *, text=None)``.

    Args:
        path: The file.
        text: What it holds, if it need not be read.

    Raises:
        LinkworkError: Naming the file and line, what was found and what would be allowed.
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
        name: Which one, where the file holds several.
        text: What the file holds, if it need not be read.
        origin: Where the movement is named; the file itself if absent.

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
            hint="Say which one.",
        )
    return next(iter(found.values()))
