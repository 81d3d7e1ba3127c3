"""Editor: shows and changes the files of the running scene."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from linkwork.core.errors import FormatError, NameNotFound, SceneError, listing
from linkwork.core.value_types import split_unit
from linkwork.formats.toml.index import KeyPath
from linkwork.geometry.pose import Vec3
from linkwork.model.parts import Loop, Part
from linkwork.model.parts.constraints import free_loop_name
from linkwork.model.scene import Scene, drive_pattern
from linkwork.model.world import World, compile_scene
from linkwork.model.world.undriven import AUTO_SERVO, auto_drives, undriven_joints
from linkwork.project import Project
from linkwork.project.document import Document
from linkwork.project.edits import locate, read_data, references_changed
from linkwork.project.stable_ids import names_of
from linkwork.studio.host import project_files
from linkwork.studio.host.attributes import at, path_of, read_only_rows, rows_of, value_of
from linkwork.studio.host.posture_edits import Values, posture_text
from linkwork.studio.host.project_files import FoundTable, find_table, scopes_of
from linkwork.studio.host.spawned_people import SpawnedPeople
from linkwork.studio.protocol import AttributeRow, UndoState


@dataclass
class OpenedFile:
    """A loaded scene, ready to run.

    Attributes:
        scene: The scene.
        file: The source file; empty if there is none.
        notes: Remarks for the user.
        scene_of: Makes a scene from the file's content, which may be a part.
        text: Text of a file that is not saved yet, or None.
        folders: Folders with the user's files; only these are written. New files go to the first.
        allow: What its buses may do; see :class:`Session`.
        trusted: Keys of programs that run although no decision about them is kept.
        servos: Whether its first edit gives servos to joints without a drive.
    """

    scene: Scene
    file: str = ""
    notes: list[str] = field(default_factory=list)
    scene_of: Callable[[Part | Scene], Scene] | None = None
    text: str | None = None
    folders: list[Path] = field(default_factory=list)
    allow: frozenset[str] = frozenset()
    trusted: frozenset[str] = frozenset()
    servos: bool = False


class Editor:
    """Edits the file of the running scene and those of its parts.

    Args:
        opened: The running scene.

    Attributes:
        project: The files; None if the scene's file is not TOML.
        spawned_people: People in the scene that no file contains.
        elsewhere: The number of the last step of another history that is not undone; steps undone
            here before it cannot be redone.
    """

    def __init__(self, opened: OpenedFile) -> None:
        self._scene_of = opened.scene_of or _without_subtables
        self._folders = opened.folders
        self._opened = opened
        self.spawned_people = SpawnedPeople()
        self.elsewhere = 0
        self.project: Project | None = None
        if opened.text is not None:
            self.project = self._begin(Document(opened.text, opened.file))
        elif opened.file.endswith(".toml"):
            self.project = self._begin(Document.open(opened.file))

    def _begin(self, main: Document) -> Project:
        return Project(main, check=lambda content: compile_scene(self._scene_of(content)))

    @property
    def state(self) -> UndoState:
        """The undo state: steps to undo and redo, files to save."""
        p = self.project
        if p is None:
            return UndoState(False, False, False)
        changed = [document.path for document in p.changed]
        own = not any(map(project_files.kit_name, [p.main.path, *changed]))
        return UndoState(
            bool(p.history), bool(self.next_step), bool(changed),
            p.history[-1].what if p.history else "", p.future[-1].what if self.next_step else "",
            changed, own, self._suggestion(p),
        )  # fmt: skip

    def _suggestion(self, project: Project) -> str:
        """A suggested path for saving the scene under another name."""
        path = project.main.path
        folder = os.path.dirname(os.path.abspath(path))
        if project_files.kit_name(path):
            folder = str(self._folders[0]) if self._folders else os.getcwd()
        return project_files.free_path(folder, Path(path).stem)

    @property
    def folders(self) -> list[Path]:
        """Folders where files may be written; new files go to the first."""
        beside = [Path(self.file).resolve().parent] if self.file else []
        return [*self._folders, *beside] or [Path.cwd()]

    @property
    def file(self) -> str:
        """The open file; empty if there is none."""
        return self.project.main.path if self.project is not None else self._opened.file

    @property
    def files(self) -> list[str]:
        """Real paths of the files that define the open scene."""
        if self.project is not None:
            return self.project.files
        return [os.path.realpath(self.file)] if self.file else []

    @property
    def scene(self) -> Scene:
        """The scene as defined by the files now, with the spawned people."""
        project = self.project
        scene = self._opened.scene if project is None else self._scene_of(project.content)
        return self.spawned_people.joined(scene)

    @property
    def ids(self) -> dict[str, str]:
        """Stable ids by full name in the running scene."""
        project = self.project
        if project is None:
            return {}
        if isinstance(project.content, Scene):
            return project.ids
        scope = self._scope(project.content)
        return {f"{scope}/{name}": f"{scope}/{born}" for name, born in project.ids.items()}

    def _scope(self, part: Part) -> str:
        """The name of the open file's part in the running scene."""
        scene = self._scene_of(part)
        for name, placement in scene.parts.items():
            if placement.part is part:
                return name
        raise FormatError(
            f"the part {part.name!r} is not in the scene {scene.name!r}.",
            origin=part.origin,
            hint=f"There: {listing(scene.parts, most=4)}.",
        )

    def _files(self) -> Project:
        if self.project is None:
            raise FormatError(
                "only TOML files can be edited here.",
                hint="Edit a copy in TOML: choose Edit as TOML in the file menu.",
            )
        return self.project

    # ---- reading -------------------------------------------------------------------------

    def rows(self, world: World, kind: str, name: str) -> tuple[list[AttributeRow], str]:
        """The attributes of an object, and a note about editing them.

        Raises:
            LinkworkError: If there is no such object.
        """
        if self.project is None:
            file = os.path.basename(self._opened.file)
            note = f"{file} is shown, not edited. Edit a copy of it in TOML." if file else ""
            return read_only_rows(world, kind, name), note
        try:
            found = self._find(kind, name)
        except NameNotFound:
            rows = read_only_rows(world, kind, name)  # the ground under a part, a chain's links
            return rows, "Not in any file; generated when the scene is opened."
        if not found.file.endswith(".toml"):
            short = os.path.basename(found.file)
            return read_only_rows(world, kind, name), f"{short} is shown, not edited. " + (
                f"Convert it: linkwork convert {short} {Path(short).stem}.toml"
            )
        document = self.project.document(found.file)
        saved = read_data(document.saved) if document.saved is not None else None
        before = at(saved, self._place(found, document)) if saved is not None else None
        if saved is not None and found.section:
            before = next(
                (t for t in saved.get(found.section, []) if t.get("name") == found.name), before
            )
        kit = bool(project_files.kit_name(found.file))
        rows = rows_of(
            document.text, document.path, self._place(found, document), found.section,
            before=before, kit=kit,
        )  # fmt: skip
        words = self._overridden(kind, name)
        if words:
            rows = [_without_edits(row, words) if _is_drive(row) else row for row in rows]
        return rows, " ".join(filter(None, (words, self._note(found))))

    def placement(self, kind: str, name: str) -> str:
        """The placed part whose drives in the scene replace a joint's own; empty for none."""
        content, (scope, _, joint) = self.project and self.project.content, name.partition("/")
        if kind != "joint" or not isinstance(content, Scene) or scope not in content.parts:
            return ""
        return scope if drive_pattern(content.parts[scope], joint) else ""

    def _overridden(self, kind: str, name: str) -> str:
        """A note naming a joint's drive, if the scene replaces the part's own."""
        scope, content = self.placement(kind, name), self._files().content
        if not scope or not isinstance(content, Scene):
            return ""
        word = drive_pattern(content.parts[scope], name.partition("/")[2])
        return f"Its drive is not this one but {word!r} of the drives of part {scope!r}: edit that."

    def _note(self, found: FoundTable) -> str:
        """A note on side effects of editing an object."""
        project, file = self._files(), os.path.realpath(found.file)
        notes = []
        if len(found.chain) > 1 and project_files.kit_name(found.file):
            if not project_files.kit_name(project.main.path):
                name = project_files.kit_name(found.file)
                notes.append(f"{name} is a kit's: an edit makes your own copy beside the scene.")
        elif len(found.chain) > 1:
            notes.append(f"An edit goes into {os.path.basename(found.file)}.")
        times = len(list(scopes_of(project.content, file)))
        if times > 1:
            notes.append(f"The part is used {times} times; all of them change.")
        return " ".join(notes)

    def _find(self, kind: str, name: str) -> FoundTable:
        project, scope = self._files(), ""
        if isinstance(project.content, Part):
            scope = self._scope(project.content)
        return find_table(project.content, project.main.path, scope, kind, name)

    def _place(self, found: FoundTable, document: Document) -> KeyPath:
        if not found.section:
            return ()
        place = (found.section, found.name)
        return locate(read_data(document.text), place, names_of(document.content))

    # ---- editing -------------------------------------------------------------------------

    def edit(self, kind: str, name: str, key: str, given: str | float | bool) -> None:
        """Sets an attribute in the text of the file that holds the object.

        Raises:
            LinkworkError: If it is refused; all files stay unchanged.
        """
        project, found = self._files(), self._find(kind, name)
        if not found.file.endswith(".toml"):
            raise FormatError(f"{os.path.basename(found.file)} is not TOML and is not edited here.")
        words = split_unit(key.rpartition(".")[2])[0].replace("_", " ")
        with project.step(f"{words} of {name or 'the scene'}"):
            document = project.document(project_files.copy_on_write(project, found.chain))
            place = self._place(found, document)
            value = value_of(document.text, place, found.section, key, given)
            if key == "name" and found.section and isinstance(value, str):
                document.rename(found.section, found.name, value)
                self._rename_elsewhere(document, found, value)
            else:
                document.set_value((*place, *path_of(key)), value)

    def _rename_elsewhere(self, document: Document, found: FoundTable, new: str) -> None:
        """Renames a part's object in the other files that refer to it."""
        project, real = self._files(), os.path.realpath(document.path)
        for file in project.files:
            if file == real or not file.endswith(".toml") or project_files.kit_name(file):
                continue
            other = project.document(file)
            text = other.text
            for scope in scopes_of(other.content, real):
                old = f"{scope}/{found.name}"
                text = references_changed(text, found.section, old, f"{scope}/{new}")
            if text != other.text:
                other.rewrite(f"rename {found.name} to {new}", text)

    def store_posture(self, name: str, values: Values) -> None:
        """Writes joint values into the scene's file as a new or replaced posture.

        Raises:
            LinkworkError: If it is refused, or the file is not a scene's.
        """
        project = self._files()
        if not isinstance(project.content, Scene):
            raise FormatError(
                "only scenes have postures, not parts.",
                hint="Make a new scene with this part first.",
            )
        with project.step(f"posture {name}"):
            text = posture_text(project.main.text, name, values)
            project.main.rewrite(f"store posture {name}", text)

    def close_loop(self, a: str, b: str, joint: str, axis: Vec3) -> None:
        """Connects two anchors by a joint that closes a loop, in the open file.

        Raises:
            LinkworkError: If it is refused; all files stay unchanged.
        """
        project = self._files()
        content, scope = project.content, ""
        if isinstance(content, Part):
            scope = f"{self._scope(content)}/"
        name = free_loop_name(content.loops)
        table: dict[str, object] = {
            "name": name, "a": a.removeprefix(scope), "b": b.removeprefix(scope), "joint": joint
        }  # fmt: skip
        if tuple(axis) != Loop(name, a, b).axis:
            table["axis"] = [float(c) for c in axis]
        with project.step(f"loop {name}"):
            project.main.add("loop", table)

    def give_servos(self) -> None:
        """Gives servos to all joints without a drive, in the open file.

        Raises:
            LinkworkError: If it is refused, or each joint has a drive; all files stay unchanged.
        """
        project = self._files()
        content = project.content
        scene = self._scene_of(content)
        with project.step("servos of the joints"):
            if isinstance(content, Part):
                joints = undriven_joints(scene).get(self._scope(content), [])
                own = [joint for joint in joints if joint in content.joints]
                made = {("joint", joint, "drive"): {"type": AUTO_SERVO} for joint in own}
            else:
                made = {
                    ("part", part, "drives", word): row
                    for part, drives in auto_drives(scene).items()
                    for word, row in drives.items()
                }
            if not made:
                raise SceneError("each joint that can have a drive in this file has one.")
            for path, row in made.items():
                project.main.set_value(path, row)

    @property
    def last_step(self) -> int:
        """The number of the last step that is not undone, 0 for none."""
        project = self.project
        return project.history[-1].number if project is not None and project.history else 0

    @property
    def next_step(self) -> int:
        """The number of the step that would be redone, 0 for none."""
        future = self.project.future if self.project is not None else []
        return future[-1].number if future and future[-1].number > self.elsewhere else 0

    def undo_last(self) -> None:
        """Discards the last step, which the session cannot use; it cannot be redone."""
        project = self._files()
        if project.history:
            project.undo()
            project.future.pop()

    def undo(self) -> None:
        """Undoes the last step."""
        self._files().undo()

    def redo(self) -> None:
        """Redoes the last undone step."""
        project = self._files()
        if project.future and not self.next_step:
            raise SceneError("there is nothing to redo.")
        project.redo()

    def redo_last(self) -> None:
        """Redoes the step undone just now, because the session cannot use the result."""
        self._files().redo()

    # ---- saving --------------------------------------------------------------------------

    def save(self) -> list[str]:
        """Writes the changed files and returns them.

        Raises:
            LinkworkError: If one cannot be written, or belongs to a kit.
        """
        return project_files.save(self._files())

    def save_as(self, path: str, *, overwrite: bool) -> list[str]:
        """Writes the scene to another file, edits that file from now on, and returns the files.

        Raises:
            LinkworkError: If the file cannot be written, or the folder is not allowed.
        """
        project = self._files()
        target = project_files.resolve_writable(path, self.folders)
        written = project_files.save_as(project, str(target), overwrite=overwrite)
        self.project = self._begin(Document.open(str(target)))
        return written


def _without_subtables(content: Part | Scene) -> Scene:
    if isinstance(content, Scene):
        return content
    raise FormatError("this is a part; it needs a scene.")


def _is_drive(row: AttributeRow) -> bool:
    return row.key == "drive" or row.key.startswith("drive.")


def _without_edits(row: AttributeRow, words: str) -> AttributeRow:
    """A read-only row for an attribute that is overridden; ``words`` name the override."""
    return msgspec.structs.replace(row, editable=False, help=words)
