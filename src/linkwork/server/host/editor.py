"""Editor: the files behind the scene that runs, looked at and changed from browsers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from linkwork.errors import FormatError, NameNotFound, SceneError, listing
from linkwork.parts import Loop, Part
from linkwork.parts.loop import free_loop_name
from linkwork.scene import Scene
from linkwork.scene.document import Document
from linkwork.scene.edits import locate, read_data, references_changed
from linkwork.scene.ids import names_of
from linkwork.scene.placed_drives import placed_by
from linkwork.scene.project import Project
from linkwork.scene.toml_index import KeyPath
from linkwork.server.host import own_files
from linkwork.server.host.attributes import at, path_of, rows_of, value_of
from linkwork.server.host.finding import Found, find, scopes_of
from linkwork.server.host.foreign import foreign_rows
from linkwork.server.host.guests import Guests
from linkwork.server.host.posture_text import Values, posture_text
from linkwork.server.messages import Row, UndoState
from linkwork.spatial.pose import Vec3
from linkwork.units import split_unit
from linkwork.world import World, compile_scene


@dataclass
class Opened:
    """What was asked to be opened, ready to run.

    Attributes:
        scene: The scene.
        file: The file it came from; empty if there is none.
        notes: Remarks for people.
        scene_of: Makes a scene to run of what the file holds, which may be a part.
        text: Text of a file that does not exist yet, or None.
        folders: Where the user's files are; others are not written. The first is for new ones.
    """

    scene: Scene
    file: str = ""
    notes: list[str] = field(default_factory=list)
    scene_of: Callable[[Part | Scene], Scene] | None = None
    text: str | None = None
    folders: list[Path] = field(default_factory=list)


class Editor:
    """Edits the file of the scene that runs, and those of its parts.

    Args:
        opened: What runs.

    Attributes:
        project: The files; None where the scene's is not TOML.
        guests: People in the scene whom the files do not know.
        elsewhere: The number of the last step of another history that is not undone; what was
            undone here before it is not done again.
    """

    def __init__(self, opened: Opened) -> None:
        self._scene_of = opened.scene_of or _itself
        self._folders = opened.folders
        self._opened = opened
        self.guests = Guests()
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
        """What can be undone, redone and saved."""
        p = self.project
        if p is None:
            return UndoState(False, False, False)
        changed = [document.path for document in p.changed]
        own = not any(map(own_files.kit_name, [p.main.path, *changed]))
        return UndoState(
            bool(p.history), bool(self.next_step), bool(changed),
            p.history[-1].what if p.history else "", p.future[-1].what if self.next_step else "",
            changed, own, self._suggestion(p),
        )  # fmt: skip

    def _suggestion(self, project: Project) -> str:
        """Where the scene could be saved under another name."""
        path = project.main.path
        folder = os.path.dirname(os.path.abspath(path))
        if own_files.kit_name(path):
            folder = str(self._folders[0]) if self._folders else os.getcwd()
        return own_files.free_path(folder, Path(path).stem)

    @property
    def folders(self) -> list[Path]:
        """Where files may be written; the first is for new ones."""
        beside = [Path(self.file).resolve().parent] if self.file else []
        return [*self._folders, *beside] or [Path.cwd()]

    @property
    def file(self) -> str:
        """The file that is open; empty if there is none."""
        return self.project.main.path if self.project is not None else self._opened.file

    @property
    def files(self) -> list[str]:
        """Real paths of the files that make what is open."""
        if self.project is not None:
            return self.project.files
        return [os.path.realpath(self.file)] if self.file else []

    @property
    def scene(self) -> Scene:
        """The scene as the files say it now, and the guests in it."""
        project = self.project
        said = self._opened.scene if project is None else self._scene_of(project.content)
        return self.guests.joined(said)

    @property
    def ids(self) -> dict[str, str]:
        """Stable ids by full name in the scene that runs."""
        project = self.project
        if project is None:
            return {}
        if isinstance(project.content, Scene):
            return project.ids
        scope = self._scope(project.content)
        return {f"{scope}/{name}": f"{scope}/{born}" for name, born in project.ids.items()}

    def _scope(self, part: Part) -> str:
        """The name under which the part of the file that is open stands in the scene that runs."""
        scene = self._scene_of(part)
        for name, placement in scene.parts.items():
            if placement.part is part:
                return name
        raise FormatError(
            f"the part {part.name!r} does not stand in the scene {scene.name!r}.",
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

    # ---- looking -------------------------------------------------------------------------

    def rows(self, world: World, kind: str, name: str) -> tuple[list[Row], str]:
        """The attributes of a thing, and what there is to say about editing them.

        Raises:
            LinkworkError: If there is no such thing.
        """
        if self.project is None:
            file = os.path.basename(self._opened.file)
            note = f"{file} is shown, not edited. Edit a copy of it in TOML." if file else ""
            return foreign_rows(world, kind, name), note
        try:
            found = self._find(kind, name)
        except NameNotFound:
            rows = foreign_rows(world, kind, name)  # the ground under a part, a chain's links
            return rows, "No file says this; it is made when the scene is opened."
        if not found.file.endswith(".toml"):
            short = os.path.basename(found.file)
            return foreign_rows(world, kind, name), f"{short} is shown, not edited. " + (
                f"Convert it: linkwork convert {short} {Path(short).stem}.toml"
            )
        document = self.project.document(found.file)
        saved = read_data(document.saved) if document.saved is not None else None
        before = at(saved, self._place(found, document)) if saved is not None else None
        if saved is not None and found.section:
            before = next(
                (t for t in saved.get(found.section, []) if t.get("name") == found.name), before
            )
        kit = bool(own_files.kit_name(found.file))
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
        return scope if placed_by(content.parts[scope], joint) else ""

    def _overridden(self, kind: str, name: str) -> str:
        """Says where a joint's drive is, if the scene gives it another one than its part."""
        scope, content = self.placement(kind, name), self._files().content
        if not scope or not isinstance(content, Scene):
            return ""
        word = placed_by(content.parts[scope], name.partition("/")[2])
        return f"Its drive is not this one but {word!r} of the drives of part {scope!r}: edit that."

    def _note(self, found: Found) -> str:
        """What an edit of a thing does besides."""
        project, file = self._files(), os.path.realpath(found.file)
        notes = []
        if len(found.chain) > 1 and own_files.kit_name(found.file):
            if not own_files.kit_name(project.main.path):
                name = own_files.kit_name(found.file)
                notes.append(f"{name} is a kit's: an edit makes your own copy beside the scene.")
        elif len(found.chain) > 1:
            notes.append(f"An edit goes into {os.path.basename(found.file)}.")
        times = len(list(scopes_of(project.content, file)))
        if times > 1:
            notes.append(f"The part stands here {times} times; all of them change.")
        return " ".join(notes)

    def _find(self, kind: str, name: str) -> Found:
        project, scope = self._files(), ""
        if isinstance(project.content, Part):
            scope = self._scope(project.content)
        return find(project.content, project.main.path, scope, kind, name)

    def _place(self, found: Found, document: Document) -> KeyPath:
        if not found.section:
            return ()
        place = (found.section, found.name)
        return locate(read_data(document.text), place, names_of(document.content))

    # ---- changing ------------------------------------------------------------------------

    def edit(self, kind: str, name: str, key: str, given: str | float | bool) -> None:
        """Sets an attribute in the text of the file that holds the thing.

        Raises:
            LinkworkError: If it is refused; all files are as before.
        """
        project, found = self._files(), self._find(kind, name)
        if not found.file.endswith(".toml"):
            raise FormatError(f"{os.path.basename(found.file)} is not TOML and is not edited here.")
        words = split_unit(key.rpartition(".")[2])[0].replace("_", " ")
        with project.step(f"{words} of {name or 'the scene'}"):
            document = project.document(own_files.own(project, found.chain))
            place = self._place(found, document)
            value = value_of(document.text, place, found.section, key, given)
            if key == "name" and found.section and isinstance(value, str):
                document.rename(found.section, found.name, value)
                self._rename_elsewhere(document, found, value)
            else:
                document.set_value((*place, *path_of(key)), value)

    def _rename_elsewhere(self, document: Document, found: Found, new: str) -> None:
        """Lets the files that hold a part call a thing in it by its new name."""
        project, real = self._files(), os.path.realpath(document.path)
        for file in project.files:
            if file == real or not file.endswith(".toml") or own_files.kit_name(file):
                continue
            other = project.document(file)
            text = other.text
            for scope in scopes_of(other.content, real):
                old = f"{scope}/{found.name}"
                text = references_changed(text, found.section, old, f"{scope}/{new}")
            if text != other.text:
                other.rewrite(f"rename {found.name} to {new}", text)

    def store_posture(self, name: str, values: Values) -> None:
        """Writes joint values into the scene's file as a posture, new or in place of the old.

        Raises:
            LinkworkError: If it is refused, or the file is not a scene's.
        """
        project = self._files()
        if not isinstance(project.content, Scene):
            raise FormatError(
                "a part has no postures; a scene has.",
                hint="Make a new scene with this part first.",
            )
        with project.step(f"posture {name}"):
            text = posture_text(project.main.text, name, values)
            project.main.rewrite(f"store posture {name}", text)

    def close_loop(self, a: str, b: str, joint: str, axis: Vec3) -> None:
        """Holds two anchors together by a joint, in the file that is open.

        Raises:
            LinkworkError: If it is refused; all files are as before.
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

    @property
    def last_step(self) -> int:
        """The number of the last step that is not undone, 0 for none."""
        project = self.project
        return project.history[-1].number if project is not None and project.history else 0

    @property
    def next_step(self) -> int:
        """The number of the step that would be done again, 0 for none."""
        future = self.project.future if self.project is not None else []
        return future[-1].number if future and future[-1].number > self.elsewhere else 0

    def take_back(self) -> None:
        """Drops the last step, which cannot be used, for good."""
        project = self._files()
        if project.history:
            project.undo()
            project.future.pop()

    def undo(self) -> None:
        """Takes the last step back."""
        self._files().undo()

    def redo(self) -> None:
        """Does it again."""
        project = self._files()
        if project.future and not self.next_step:
            raise SceneError("there is nothing to redo.")
        project.redo()

    def put_back(self) -> None:
        """Does again what was undone just now, for that cannot be used."""
        self._files().redo()

    # ---- saving --------------------------------------------------------------------------

    def save(self) -> list[str]:
        """Writes the files that changed and returns them.

        Raises:
            LinkworkError: If one cannot be written, or belongs to a kit.
        """
        return own_files.save(self._files())

    def save_as(self, path: str, *, overwrite: bool) -> list[str]:
        """Writes the scene to another file, edits that one from now on, and returns the files.

        Raises:
            LinkworkError: If it cannot be written, or not there.
        """
        project = self._files()
        target = own_files.writable(path, self.folders)
        written = own_files.save_as(project, str(target), overwrite=overwrite)
        self.project = self._begin(Document.open(str(target)))
        return written


def _itself(content: Part | Scene) -> Scene:
    if isinstance(content, Scene):
        return content
    raise FormatError("this is a part; it needs a scene to stand in.")


def _is_drive(row: Row) -> bool:
    return row.key == "drive" or row.key.startswith("drive.")


def _without_edits(row: Row, words: str) -> Row:
    """A row of what is not in use; ``words`` say what is."""
    return msgspec.structs.replace(row, editable=False, help=words)
