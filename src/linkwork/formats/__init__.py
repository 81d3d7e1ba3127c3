"""File formats: parts and scenes in Linkwork's own TOML, and in the formats of others."""

from __future__ import annotations

import os

from linkwork.errors import FormatError, suggestion
from linkwork.formats.choose import Format, format_for
from linkwork.parts import Part, kit_part
from linkwork.scene import Scene


def load(path: str | os.PathLike[str]) -> Part | Scene:
    """Loads a part or scene from a file, or from a kit by name (``"tripod/tripod"``).

    Raises:
        LinkworkError: Naming the file and line, what was found and what would be allowed.
    """
    file = _find(path)
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


def save(thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
    """Saves a part or scene in the format that the path's suffix names.

    Returns:
        What the format could not say, or says differently; empty if nothing was lost.

    Raises:
        LinkworkError: If no format has the suffix, or it cannot say what the thing holds.
    """
    return format_for(path).write(thing, path) or []


def _find(path: str | os.PathLike[str]) -> str:
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
        names = [n for n in os.listdir(folder) if os.path.splitext(n)[1] in (".toml", ".urdf")]
    except (OSError, ValueError):
        return f"The folder {folder!r} does not exist either."
    return suggestion(name, names, kind=f"files in {folder!r}")


__all__ = ["Format", "format_for", "load", "load_part", "load_scene", "save"]
