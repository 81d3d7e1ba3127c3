"""Project files: finds the file of an object, protects kit files, saves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from linkwork.core.atomic import replace_file
from linkwork.core.errors import FormatError, LinkworkError, Origin, not_found, os_error_text
from linkwork.model.parts import Part
from linkwork.model.parts.kit import find_kits
from linkwork.model.scene import Scene
from linkwork.project import Project
from linkwork.project.edits import read_data, value_set
from linkwork.project.relocate import reference_path, references, relocate
from linkwork.project.stable_ids import names_of

_PACKAGE = Path(__file__).resolve().parents[2] / "kits"


class PathTakenError(FormatError):
    """The file exists and may not be replaced."""


def kit_name(file: str) -> str:
    """The kit name of a file in another's kit; empty if the file is the user's."""
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
    """A free path in a folder: ``arm.toml``, else ``arm_2.toml`` and so on."""
    number, path = 1, os.path.join(folder, f"{stem}.toml")
    taken = {os.path.realpath(each) for each in taken}
    while os.path.exists(path) or os.path.realpath(path) in taken:
        number += 1
        path = os.path.join(folder, f"{stem}_{number}.toml")
    return path


def copy_on_write(project: Project, chain: tuple[str, ...]) -> str:
    """The file to edit: the last of a chain, or the user's copy of it.

    Kit files are never overwritten. If the user's file refers to a kit file, directly or through
    others, that file and those between are copied beside the user's, which then refers to its copy.
    If the open file itself is a kit's, edits are kept until it is saved under another name.

    Args:
        project: The project, inside a step.
        chain: Files from the open one to the one with the object.
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
        project.create(relocate(project.document(file).text, file, new, naming), new)
    above = project.document(chain[first - 1])
    text, meant = above.text, os.path.realpath(chain[first])
    for path, reference, part in references(read_data(text)):
        if part and os.path.realpath(reference_path(reference, above.path, part=True)) == meant:
            name = os.path.relpath(copies[meant], os.path.dirname(os.path.abspath(above.path)))
            text = value_set(text, path, name if name.startswith("..") else f"./{name}")
    above.rewrite(f"own copy of {Path(chain[first]).stem}", text)
    return copies[os.path.realpath(chain[-1])]


def resolve_path(path: str, folders: list[Path]) -> Path:
    """The file of a path; relative paths start at the first folder.

    Raises:
        FormatError: If it is not a valid path.
    """
    try:
        return (folders[0] / Path(path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # ~nobody, or a path with NUL
        raise FormatError(f"{path!r} is not a file path: {error}.") from None


def resolve_writable(path: str, folders: list[Path]) -> Path:
    """The file of a path where writing is allowed.

    Args:
        path: The given path; relative paths start at the first folder.
        folders: Folders where files may be written.

    Raises:
        FormatError: If it is outside the folders, in another's kit, or not a valid path.
    """
    target = resolve_path(path, folders)
    if not any(target.is_relative_to(folder.resolve()) for folder in folders):
        listed = ", ".join(str(folder) for folder in folders)
        raise FormatError(
            f"{target} is not in a folder that the studio writes to.", hint=f"Folders: {listed}."
        )
    if kit_name(str(target)):
        raise FormatError(f"{target} is in a kit that is not yours.", hint="Choose another folder.")
    return target


def save(project: Project) -> list[str]:
    """Writes all changed files and returns them.

    Raises:
        LinkworkError: If one cannot be written, or belongs to a kit.
    """
    changed = project.changed
    for document in changed:
        if name := kit_name(document.path):
            raise FormatError(
                f"{name} belongs to a kit and is not overwritten.",
                hint="Save it under another name.",
            )
    for document in changed:
        folder = os.path.dirname(os.path.abspath(document.path))
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{folder} cannot be made: {os_error_text(error)}.") from None
        document.save()
    return [document.path for document in changed]


def save_as(project: Project, path: str, *, overwrite: bool) -> list[str]:
    """Writes the main file and the files it needs to a new path.

    Unchanged kit parts stay in their kit. Changed ones are copied beside the new file, as are
    programs and meshes of a kit. The user's own changed files are saved in place.

    Args:
        project: The project.
        path: The new file.
        overwrite: Whether an existing file may be replaced.

    Returns:
        The written files.

    Raises:
        PathTakenError: If the file exists and may not be replaced.
        LinkworkError: If a file cannot be written.
    """
    if os.path.splitext(path)[1] != ".toml":
        raise FormatError(f"{os.path.basename(path)!r} must end in .toml.", hint="Add .toml.")
    main, folder = os.path.realpath(project.main.path), os.path.dirname(os.path.abspath(path))
    if os.path.exists(path) and not overwrite and os.path.realpath(path) != main:
        raise PathTakenError("the file exists already.", origin=Origin(path))
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
        new: relocate(project.document(real).text, real, new, naming)
        for real, new in copies.items()
    }
    try:
        os.makedirs(folder, exist_ok=True)
        for new, file in beside.items():
            if not os.path.exists(new):
                replace_file(new, Path(file).read_bytes())
    except OSError as error:
        raise FormatError(f"{folder} cannot be written: {os_error_text(error)}.") from None
    for document in project.changed:
        if not kit_name(document.path) and document is not project.main:
            document.save()
    for new, text in reversed(texts.items()):
        replace_file(new, text.encode("utf-8"))
    return [*texts, *beside]


def _place_beside(folder: str, file: str, taken: dict[str, str]) -> str:
    """The path of a file's copy in a folder: its own name, numbered if that is taken.

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
        raise FormatError(f"{error.filename} cannot be read: {os_error_text(error)}.") from None


def _touched_kit_files(project: Project) -> list[str]:
    """Kit files that changed, or that refer to a changed one."""
    kits = [file for file in project.files if kit_name(file) and file.endswith(".toml")]
    touched = {os.path.realpath(d.path) for d in project.changed}
    while True:
        more = {
            file
            for file in kits
            if file not in touched
            and any(
                part and os.path.realpath(reference_path(reference, file, part=True)) in touched
                for _, reference, part in references(read_data(project.document(file).text))
            )
        }
        if not more:
            return [file for file in kits if file in touched]
        touched |= more


#: Sections with many entries, besides parts.
_SECTIONS = (
    "element", "joint", "anchor", "sensor", "actuator", "agent", "engine", "loop", "posture",
    "light", "viewpoint", "bus", "port", "fault",
)  # fmt: skip


@dataclass(frozen=True)
class FoundTable:
    """The location of an object in a file.

    Attributes:
        section: Section of the file; empty for the file itself.
        name: Name of the object in that file.
        holder: The part or scene defined by the file.
        chain: Files from the open one to the one that contains the object.
    """

    section: str
    name: str
    holder: Part | Scene
    chain: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file that contains the object."""
        return self.chain[-1]


def find_table(content: Part | Scene, main: str, scope: str, kind: str, name: str) -> FoundTable:
    """Finds an object by its full name.

    Args:
        content: The part or scene defined by the open file.
        main: The open file.
        scope: The scope of a part in the running scene.
        kind: Scene, part, element, joint and so on.
        name: The full name in the running scene.

    Raises:
        NameNotFound: If no file contains such an object.
    """
    if kind == "scene" or (isinstance(content, Part) and kind == "part" and name == scope):
        return FoundTable("", "", content, (main,))
    if kind not in ("part", *_SECTIONS):
        raise not_found("kind of thing", kind, ["scene", "part", *_SECTIONS])
    rest = name
    if isinstance(content, Part):
        rest = name.removeprefix(f"{scope}/")
    holder, chain = content, (main,)
    while True:
        section = "attach" if kind == "part" and isinstance(holder, Part) else kind
        names = names_of(holder).get(section, [])
        if rest in names:
            return FoundTable(section, rest, holder, chain)
        head, _, tail = rest.partition("/")
        held = holder.attachments if isinstance(holder, Part) else holder.parts
        if not tail or head not in held:
            raise not_found(kind, name, [*names, *held])
        holder, rest = held[head].part, tail
        chain = (*chain, holder.origin.file)


def scopes_of(content: Part | Scene, file: str) -> Iterator[str]:
    """The scopes of the parts of a file in ``content``."""
    held = content.attachments if isinstance(content, Part) else content.parts
    for scope, holder in held.items():
        if holder.part.origin.file and os.path.realpath(holder.part.origin.file) == file:
            yield scope
        yield from (f"{scope}/{inner}" for inner in scopes_of(holder.part, file))
