"""Files of movements: which can be opened, and where one may be written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.formats import load_movement, save
from linkwork.parts import Part
from linkwork.parts.kit import find_kits
from linkwork.scene import Movement
from linkwork.server.access import allowed
from linkwork.server.host import own_files

SUFFIXES = (".toml", ".humanoid.xml")
_MARK = b"linkwork/movement "
#: So many files of a folder are looked into.
_MOST = 500


def found(folders: Iterable[Path]) -> list[str]:
    """Movements of folders and of kits, as they are opened."""
    made: list[str] = []
    for folder in dict.fromkeys(each.resolve() for each in folders):
        made += map(str, _movements(folder))
    try:
        kits = find_kits().values()
    except (LinkworkError, OSError):
        return made
    for kit in kits:
        made += [f"{kit.name}/{path.stem}" for path in _movements(kit.folder)]
    return made


def _movements(folder: Path) -> list[Path]:
    try:
        files = sorted(folder.glob("*.toml"))[:_MOST]
    except OSError:
        return []
    return [path for path in files if _is_movement(path)]


def _is_movement(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MARK in file.read(400)
    except OSError:
        return False


def opened(path: str, name: str, folders: Iterable[Path]) -> tuple[Movement, str]:
    """A movement, and its file; empty where that is a kit's, which is not written over.

    Raises:
        LinkworkError: If it may not be opened, or holds none, or several and no name.
    """
    place = allowed(path, folders, [])
    movement = load_movement(place, name)
    file = movement.origin.file if os.path.isfile(movement.origin.file) else place
    return movement, "" if own_files.kit_name(file) else file


def saved(
    movement: Movement, path: str, robot: Part | None, folders: list[Path], *, overwrite: bool
) -> tuple[str, list[str]]:
    """Writes a movement.

    Args:
        movement: What to write.
        path: Where: TOML, or the XML of document 004, which holds the robot too.
        robot: Whose movement it is.
        folders: Where files may be written; a relative path is in the first.
        overwrite: Whether a file that is there may be replaced; of a robot's XML only the movement
            of this name is.

    Returns:
        The file, and what its format could not say.

    Raises:
        TakenError: If the file is there and may not be replaced.
        LinkworkError: If it cannot be written, or not there.
    """
    if not path.lower().endswith(SUFFIXES):
        raise FormatError(
            f"{os.path.basename(path)!r} must end in .toml, or in .humanoid.xml.", hint="Add .toml."
        )
    target = own_files.writable(path, folders)
    there = target.exists()
    if there and not overwrite:
        raise own_files.TakenError("there is such a file already.", origin=Origin(str(target)))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{target.parent} cannot be made: {error.strerror}.") from None
    whole = target.name.lower().endswith(".humanoid.xml")
    if not whole or there:
        return str(target), save(movement, target)
    if robot is None:
        raise FormatError("joints of the scene itself have no part to write beside the movement.")
    return str(target), save(movement, target, robot=robot)
