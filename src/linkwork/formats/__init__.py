"""File formats of parts, scenes and movements."""

from __future__ import annotations

import os
from typing import Literal

from linkwork.core.errors import FormatError
from linkwork.formats.lookup import FileFormat, find_file, format_for, format_to_write
from linkwork.formats.movements import load_movement, read_movements
from linkwork.model.parts import Part
from linkwork.model.scene import Movement, Scene


def load(
    path: str | os.PathLike[str], *, missing_meshes: Literal["error", "skip"] = "error"
) -> Part | Scene:
    """Loads a part or scene from a file, or from a kit by name (``"tripod/tripod"``).

    Args:
        path: The file, or a kit's name of it.
        missing_meshes: With "skip", meshes and models that a URDF or SDF names and that are
            missing are left out.

    Raises:
        LinkworkError: Naming the file and line, what was found and what is allowed.
    """
    file = find_file(path)
    if missing_meshes == "error":
        return format_for(file).read(file)
    from linkwork.formats.robots.resources import missing_files_as

    with missing_files_as(missing_meshes):
        return format_for(file).read(file)


def load_part(
    path: str | os.PathLike[str], *, missing_meshes: Literal["error", "skip"] = "error"
) -> Part:
    """Loads a part, as :func:`load`.

    Raises:
        FormatError: If it is a scene.
    """
    thing = load(path, missing_meshes=missing_meshes)
    if not isinstance(thing, Part):
        raise FormatError(
            "this is a scene, not a part.", origin=thing.origin, hint="Load it with load_scene."
        )
    return thing


def load_scene(
    path: str | os.PathLike[str], *, missing_meshes: Literal["error", "skip"] = "error"
) -> Scene:
    """Loads a scene, as :func:`load`.

    Raises:
        FormatError: If it is a part.
    """
    thing = load(path, missing_meshes=missing_meshes)
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
        thing: The part, scene or movement.
        path: The file.
        robot: The robot of a movement, for a format that writes movements with their robot; by
            default the movement is added to the existing file.

    Returns:
        What was left out or written differently; empty if nothing was lost.

    Raises:
        LinkworkError: If no format has the suffix, or it cannot hold ``thing``.
    """
    if not isinstance(thing, Movement):
        if robot is not None:
            raise FormatError("'robot' is for movements only.")
        return format_to_write(path).write(thing, path) or []
    # A movement is added to a robot's file of any suffix.
    form = format_for(path) if os.path.isfile(path) else format_to_write(path)
    writer = getattr(form, "write_movement", None)
    if writer is None:
        raise FormatError(
            f"movements are not written to {os.fspath(path)!r}; use .toml or .humanoid.xml."
        )
    return (writer(thing, path, robot=robot) if robot is not None else writer(thing, path)) or []


__all__ = [
    "FileFormat",
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
