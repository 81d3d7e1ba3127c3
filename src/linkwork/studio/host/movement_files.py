"""Movement files: lists, opens and saves movements."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from linkwork.core.atomic import make_folder
from linkwork.core.errors import FormatError, LinkworkError, Origin, os_error_text
from linkwork.formats import format_for, load_movement, save
from linkwork.formats.toml.index import has_comments
from linkwork.model.parts import Part
from linkwork.model.parts.kit import find_kits
from linkwork.model.scene import Movement
from linkwork.studio.host import project_files
from linkwork.studio.web.access import is_kit_name, resolve_allowed

SUFFIXES = (".toml", ".humanoid.xml")
_MARK = b"linkwork/movement "
_FORMAT = re.compile(r"""^\s*["']?format["']?\s*=\s*["']linkwork/movement """, re.MULTILINE)
#: Maximum number of files read per folder.
_MOST = 500


def list_movements(folders: Iterable[Path]) -> list[str]:
    """Movements in folders and kits, named as they are opened."""
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
    """Whether a movement can be added to an existing file: a robot's XML.

    Raises:
        FormatError: If the file is another kind of XML.
    """
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    return hasattr(format_for(path), "write_movement")


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {os_error_text(error)}.") from None


def open_movement(path: str, name: str, folders: list[Path]) -> tuple[Movement, str]:
    """A movement and its file; the file is empty for a kit's, which is read-only.

    Args:
        path: A kit's name of it, or a file; relative paths start at the first folder.
        name: The movement's name, if the file holds several.
        folders: Folders from which files may be opened.

    Raises:
        LinkworkError: If the file may not be opened, holds no movement, or holds several and no
            name is given.
    """
    place = path if is_kit_name(path) else str(project_files.resolve_path(path, folders))
    place = resolve_allowed(place, folders, [])
    movement = load_movement(place, name)
    file = movement.origin.file if os.path.isfile(movement.origin.file) else place
    return movement, "" if project_files.kit_name(file) else file


def save_movement(
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
        movement: The movement.
        path: Target file: TOML, or the XML of Lima et al., which also holds the robot.
        robot: The robot of the movement.
        folders: Folders where files may be written; relative paths start at the first.
        overwrite: Whether an existing file may be replaced; in a robot's XML only the movement of
            this name is replaced.
        taken: Files of the scene, by real path.

    Returns:
        The file, and notes on content that the format cannot hold or that was lost.

    Raises:
        TakenError: If the file exists and may not be replaced.
        LinkworkError: If the file cannot be written, or the folder is not allowed.
    """
    target = project_files.resolve_writable(path, folders)
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
            f"{target.name} exists and is not a movement.", hint="Choose another name."
        )
    if there and not overwrite:
        raise project_files.PathTakenError("the file exists already.", origin=Origin(str(target)))
    try:
        make_folder(target.parent)
    except OSError as error:
        raise FormatError(f"{target.parent} cannot be made: {os_error_text(error)}.") from None
    whole = target.name.lower().endswith(".humanoid.xml")
    if not whole or there:
        notes = save(movement, target)
        if has_comments(before):
            notes = [*notes, f"{target.name}: comments are not kept."]
        return str(target), notes
    if robot is None:
        raise FormatError("joints of the scene itself have no part to write beside the movement.")
    return str(target), save(movement, target, robot=robot)


@dataclass
class MovementFile:
    """The file of a movement.

    Attributes:
        file: Its path; empty if it has none, or belongs to a kit.
        saved: The movement last written to or read from it, or None.
    """

    file: str = ""
    saved: Movement | None = None


class MovementFiles:
    """The file of each new or opened movement, by number.

    An edited movement carries the number, so that undoing Open restores the file, too; undo does
    not change what is saved.
    """

    def __init__(self) -> None:
        self._files_by_number = [MovementFile()]

    def __getitem__(self, number: int) -> MovementFile:
        return self._files_by_number[number]

    def begin(self, file: str = "", saved: Movement | None = None) -> int:
        """Creates a file entry and returns its number."""
        self._files_by_number.append(MovementFile(file, saved))
        return len(self._files_by_number) - 1

    def write(self, number: int, file: str, movement: Movement) -> None:
        """Records the file of a movement; other entries of the same file become outdated."""
        self._files_by_number[number].file = file
        for each in self._files_by_number:
            if each.file == file:
                each.saved = movement
