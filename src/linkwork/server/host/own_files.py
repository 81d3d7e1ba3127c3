"""Own files: whose a file is, copies of what is a kit's, and saving under another name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from linkwork.errors import FormatError, LinkworkError, Origin
from linkwork.formats.toml.moved import moved, references, target
from linkwork.parts.kit import find_kits
from linkwork.scene.atomic import replace_file
from linkwork.scene.edits import read_data, value_set
from linkwork.scene.project import Project

_PACKAGE = Path(__file__).resolve().parents[2] / "kits"


class TakenError(FormatError):
    """A file is there already, and nobody said that it may be replaced."""


def kit_name(file: str) -> str:
    """The kit name of a file that belongs to a kit of others; empty if it is the user's."""
    path = Path(file).resolve()
    if path.is_relative_to(_PACKAGE):
        return f"{path.parent.name}/{path.stem}"
    try:
        kits = find_kits().values()
    except LinkworkError:
        return ""
    for kit in kits:
        if kit.source != "user" and path.is_relative_to(kit.folder.resolve()):
            return f"{kit.name}/{path.stem}"
    return ""


def free_path(folder: str, stem: str, taken: Iterable[str] = ()) -> str:
    """A path in a folder that is free: ``arm.toml``, else ``arm_2.toml`` and so on."""
    number, path = 1, os.path.join(folder, f"{stem}.toml")
    taken = {os.path.realpath(each) for each in taken}
    while os.path.exists(path) or os.path.realpath(path) in taken:
        number += 1
        path = os.path.join(folder, f"{stem}_{number}.toml")
    return path


def own(project: Project, chain: tuple[str, ...]) -> str:
    """The file that an edit goes into: the last of a chain, or the user's copy of it.

    Files of kits are never written over. Where the user's file names one, directly or through
    others, it and those between get copies beside the user's, which then names its copy. Where
    the file that is open is itself a kit's, edits wait for it to be saved under another name.

    Args:
        project: The project; a step of it is under way.
        chain: Files from the one that is open to the one with the thing.
    """
    first = next((n for n, file in enumerate(chain) if kit_name(file)), 0)
    if first == 0:
        return chain[-1]
    folder = os.path.dirname(os.path.abspath(project.main.path))
    copies: dict[str, str] = {}
    for file in chain[first:]:
        stem, real = Path(file).stem, os.path.realpath(file)
        copies[real] = free_path(folder, stem, [*project.documents, *copies.values()])

    def naming(file: str, part: bool) -> str | None:
        copy = copies.get(os.path.realpath(file))
        if copy is not None:
            return f"./{os.path.basename(copy)}"
        return (kit_name(file) or None) if part else None

    for file in reversed(chain[first:]):
        new = copies[os.path.realpath(file)]
        project.create(moved(project.document(file).text, file, new, naming), new)
    above = project.document(chain[first - 1])
    text, meant = above.text, os.path.realpath(chain[first])
    for path, said, part in references(read_data(text)):
        if part and os.path.realpath(target(said, above.path, part=True)) == meant:
            name = os.path.relpath(copies[meant], os.path.dirname(os.path.abspath(above.path)))
            text = value_set(text, path, name if name.startswith("..") else f"./{name}")
    above.rewrite(f"own copy of {Path(chain[first]).stem}", text)
    return copies[os.path.realpath(chain[-1])]


def placed(path: str, folders: list[Path]) -> Path:
    """The file that a path names; a relative one is in the first folder.

    Raises:
        FormatError: If it is no path at all.
    """
    try:
        return (folders[0] / Path(path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # ~nobody, or a NUL in it
        raise FormatError(f"{path!r} is no path of a file: {error}.") from None


def writable(path: str, folders: list[Path]) -> Path:
    """The file that a path names, where it may be written.

    Args:
        path: What somebody gave; a relative one is in the first folder.
        folders: Where files may be written.

    Raises:
        FormatError: If it is elsewhere, in a kit of others, or no path at all.
    """
    target = placed(path, folders)
    if not any(target.is_relative_to(folder.resolve()) for folder in folders):
        places = ", ".join(str(folder) for folder in folders)
        raise FormatError(
            f"{target} is not in a folder that the studio writes to.", hint=f"Folders: {places}."
        )
    if kit_name(str(target)):
        raise FormatError(f"{target} is in a kit that is not yours.", hint="Choose another folder.")
    return target


def save(project: Project) -> list[str]:
    """Writes all files that changed and returns them.

    Raises:
        LinkworkError: If one cannot be written, or belongs to a kit.
    """
    changed = project.changed
    for document in changed:
        if name := kit_name(document.path):
            raise FormatError(
                f"{name} belongs to a kit and is not written over.",
                hint="Save it under another name.",
            )
    for document in changed:
        folder = os.path.dirname(os.path.abspath(document.path))
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{folder} cannot be made: {error.strerror}.") from None
        document.save()
    return [document.path for document in changed]


def save_as(project: Project, path: str, *, overwrite: bool) -> list[str]:
    """Writes the main file, and what it needs, to another place.

    Parts of kits stay where they are unless they were changed: then a copy goes beside the new
    file, as do programs and meshes of a kit. Files of the user's own that changed are saved where
    they are.

    Args:
        project: The project.
        path: The new file.
        overwrite: Whether it may replace one that is there.

    Returns:
        The files that were written.

    Raises:
        TakenError: If the file is there and may not be replaced.
        LinkworkError: If something cannot be written.
    """
    if os.path.splitext(path)[1] != ".toml":
        raise FormatError(f"{os.path.basename(path)!r} must end in .toml.", hint="Add .toml.")
    main, folder = os.path.realpath(project.main.path), os.path.dirname(os.path.abspath(path))
    if os.path.exists(path) and not overwrite and os.path.realpath(path) != main:
        raise TakenError("there is such a file already.", origin=Origin(path))
    copies = {main: path}
    for real in _touched_kit_files(project):
        copies.setdefault(real, free_path(folder, Path(real).stem, copies.values()))
    beside: dict[str, str] = {}

    def naming(file: str, part: bool) -> str | None:
        real = os.path.realpath(file)
        if real in copies:
            return f"./{os.path.basename(copies[real])}"
        if not kit_name(file):
            return None
        if part:
            return kit_name(file)
        if not os.path.isfile(file):
            return None
        new = _place_beside(folder, real, beside)
        beside[new] = real
        return os.path.basename(new)

    texts = {
        new: moved(project.document(real).text, real, new, naming) for real, new in copies.items()
    }
    try:
        os.makedirs(folder, exist_ok=True)
        for new, file in beside.items():
            if not os.path.exists(new):
                replace_file(new, Path(file).read_bytes())
    except OSError as error:
        raise FormatError(f"{folder} cannot be written: {error.strerror}.") from None
    for document in project.changed:
        if not kit_name(document.path) and document is not project.main:
            document.save()
    for new, text in reversed(texts.items()):
        replace_file(new, text.encode("utf-8"))
    return [*texts, *beside]


def _place_beside(folder: str, file: str, taken: dict[str, str]) -> str:
    """Where a copy of a file goes in a folder: under its own name, or with a number behind it.

    Raises:
        FormatError: If a file cannot be read.
    """
    number, (stem, ending) = 1, os.path.splitext(os.path.basename(file))
    while True:
        place = os.path.join(folder, f"{stem}_{number}{ending}" if number > 1 else stem + ending)
        if place in taken:
            if taken[place] == file:
                return place
        elif not os.path.exists(place) or _is_same(place, file):
            return place
        number += 1


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.isfile(one) and Path(one).read_bytes() == Path(other).read_bytes()
    except OSError as error:
        raise FormatError(f"{error.filename} cannot be read: {error.strerror}.") from None


def _touched_kit_files(project: Project) -> list[str]:
    """Files of kits that changed, or that name one that did."""
    kits = [file for file in project.files if kit_name(file) and file.endswith(".toml")]
    touched = {os.path.realpath(d.path) for d in project.changed}
    while True:
        more = {
            file
            for file in kits
            if file not in touched
            and any(
                part and os.path.realpath(target(said, file, part=True)) in touched
                for _, said, part in references(read_data(project.document(file).text))
            )
        }
        if not more:
            return [file for file in kits if file in touched]
        touched |= more
