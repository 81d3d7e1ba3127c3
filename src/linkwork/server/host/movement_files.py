"""Files of movements: which can be opened, and where one may be written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.formats import format_for, load_movement, save
from linkwork.parts import Part
from linkwork.parts.kit import find_kits
from linkwork.scene import Movement
from linkwork.scene.toml_index import has_comments
from linkwork.server.access import allowed, is_kit_name
from linkwork.server.host import own_files

SUFFIXES = (".toml", ".humanoid.xml")
_MARK = b"linkwork/movement "
_FORMAT = re.compile(r"""^\s*["']?format["']?\s*=\s*["']linkwork/movement """, re.MULTILINE)
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


def _takes_movements(path: Path) -> bool:
    """Whether a file is there that movements are put into: a robot's XML.

    Raises:
        FormatError: If it is XML of something else.
    """
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    return hasattr(format_for(path), "write_movement")


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from None


def opened(path: str, name: str, folders: list[Path]) -> tuple[Movement, str]:
    """A movement, and its file; empty where that is a kit's, which is not written over.

    Args:
        path: A kit's name of it, or a file; a relative path is in the first folder.
        name: Which movement, where the file holds several.
        folders: Where files may be opened.

    Raises:
        LinkworkError: If it may not be opened, or holds none, or several and no name.
    """
    place = path if is_kit_name(path) else str(own_files.placed(path, folders))
    place = allowed(place, folders, [])
    movement = load_movement(place, name)
    file = movement.origin.file if os.path.isfile(movement.origin.file) else place
    return movement, "" if own_files.kit_name(file) else file


def saved(
    movement: Movement,
    path: str,
    robot: Part | None,
    folders: list[Path],
    *,
    overwrite: bool,
    taken: Iterable[str] = (),
) -> tuple[str, list[str]]:
    """Writes a movement.

    Args:
        movement: What to write.
        path: Where: TOML, or the XML of document 004, which holds the robot too.
        robot: Whose movement it is.
        folders: Where files may be written; a relative path is in the first.
        overwrite: Whether a file that is there may be replaced; of a robot's XML only the movement
            of this name is.
        taken: Files that make the scene, by real path.

    Returns:
        The file, and what its format could not say, or what was in it and is no more.

    Raises:
        TakenError: If the file is there and may not be replaced.
        LinkworkError: If it cannot be written, or not there.
    """
    target = own_files.writable(path, folders)
    there, plain = target.exists(), target.name.lower().endswith(".toml")
    if not target.name.lower().endswith(SUFFIXES) and not _takes_movements(target):
        raise FormatError(
            f"{target.name!r} must end in .toml, or in .humanoid.xml.", hint="Add .toml."
        )
    if plain and str(target) in taken:
        raise FormatError(
            f"{target.name} is a file of the scene that is open.", hint="Choose another name."
        )
    before = _text_of(target) if there and plain else ""
    if there and plain and not _FORMAT.search(before):
        raise FormatError(
            f"{target.name} is there, and is no movement.", hint="Choose another name."
        )
    if there and not overwrite:
        raise own_files.TakenError("there is such a file already.", origin=Origin(str(target)))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{target.parent} cannot be made: {error.strerror}.") from None
    whole = target.name.lower().endswith(".humanoid.xml")
    if not whole or there:
        notes = save(movement, target)
        if has_comments(before):
            notes = [*notes, f"{target.name}: comments are not kept."]
        return str(target), notes
    if robot is None:
        raise FormatError("joints of the scene itself have no part to write beside the movement.")
    return str(target), save(movement, target, robot=robot)
