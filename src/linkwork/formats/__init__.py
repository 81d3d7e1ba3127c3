"""File formats: parts, scenes and movements in Linkwork's own TOML, and in those of others."""

from __future__ import annotations

import os

from linkwork.errors import FormatError
from linkwork.formats.choose import Format
from linkwork.formats.explain import format_for, format_to_write
from linkwork.formats.find import find_file
from linkwork.formats.movements import load_movement, read_movements
from linkwork.parts import Part
from linkwork.scene import Movement, Scene


def load(path: str | os.PathLike[str]) -> Part | Scene:
    """Loads a part or scene from a file, or from a kit by name (``"tripod/tripod"``).

    Raises:
        LinkworkError: Naming the file and line, what was found and what would be allowed.
    """
    file = find_file(path)
    return format_for(file).read(file)


def load_part(path: str | os.PathLike[str]) -> Part:
    """Loads a part, as :func:`load`.

    Raises:
        FormatError: If it is a scene.
    """
    thing = load(path)
    if not isinstance(thing, Part):
        raise FormatError(
            "this is a scene, not a part.", origin=thing.origin, hint="Load it with load_scene."
        )
    return thing


def load_scene(path: str | os.PathLike[str]) -> Scene:
    """Loads a scene, as :func:`load`.

    Raises:
        FormatError: If it is a part.
    """
    thing = load(path)
    if not isinstance(thing, Scene):
        raise FormatError(
            "this is a part, not a scene.",
            origin=thing.origin,
            hint="Load it with load_part, and put it into a scene with Scene.place.",
        )
    return thing


def save(
    thing: Part | Scene | Movement, path: str | os.PathLike[str], *, robot: Part | None = None
) -> list[str]:
    """Saves a part, scene or movement in the format that the path's suffix names.

    Args:
        thing: What to save.
        path: The file.
        robot: Whose movement it is, for a format that writes movements beside their robot; without,
            the movement goes into the file that is there.

    Returns:
        What the format could not say, or says differently; empty if nothing was lost.

    Raises:
        LinkworkError: If no format has the suffix, or it cannot say what the thing holds.
    """
    if not isinstance(thing, Movement):
        if robot is not None:
            raise FormatError("'robot' is for movements; this is none.")
        return format_to_write(path).write(thing, path) or []
    # A robot's file takes a movement whatever its suffix.
    form = format_for(path) if os.path.isfile(path) else format_to_write(path)
    writer = getattr(form, "write_movement", None)
    if writer is None:
        raise FormatError(
            f"movements are not written to {os.fspath(path)!r}; use .toml or .humanoid.xml."
        )
    return (writer(thing, path, robot=robot) if robot is not None else writer(thing, path)) or []


__all__ = [
    "Format",
    "find_file",
    "format_for",
    "format_to_write",
    "load",
    "load_movement",
    "load_part",
    "load_scene",
    "read_movements",
    "save",
]
