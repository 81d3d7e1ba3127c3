"""Editor: the file behind the scene that runs, looked at and changed from browsers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import FormatError, Origin, not_found
from linkwork.parts import Part
from linkwork.scene import Scene
from linkwork.scene.document import Document
from linkwork.scene.edits import locate, read_data
from linkwork.scene.ids import names_of
from linkwork.scene.toml_index import KeyPath
from linkwork.server.host.attributes import path_of, rows_of, value_of
from linkwork.server.messages import Row, UndoState
from linkwork.world import World, compile_scene

#: The section of a file in which a thing of each kind stands.
SECTIONS = {"scene": "", "part": "part", "attach": "attach"}
_PACKAGE = Path(__file__).resolve().parents[2] / "kits"


@dataclass
class Opened:
    """What was asked to be opened, ready to run.

    Attributes:
        scene: The scene.
        file: The file it came from; empty if there is none.
        notes: Remarks for people.
        scene_of: Makes a scene to run of what the file holds, which may be a part.
    """

    scene: Scene
    file: str = ""
    notes: list[str] = field(default_factory=list)
    scene_of: Callable[[Part | Scene], Scene] | None = None


class Editor:
    """Edits the file of the scene that runs.

    Things of parts that the scene takes from other files are shown, not changed: their own file
    is the place for that.

    Args:
        opened: What runs.
    """

    def __init__(self, opened: Opened) -> None:
        self._scene_of = opened.scene_of or _itself
        self.document: Document | None = None
        if opened.file.endswith(".toml"):
            self.document = Document.open(opened.file, check=self._check)
            self._saved = self.document.text

    def _check(self, content: Part | Scene) -> None:
        compile_scene(self._scene_of(content))

    @property
    def state(self) -> UndoState:
        """What can be undone, redone and saved."""
        d = self.document
        if d is None:
            return UndoState(False, False, False)
        return UndoState(bool(d.history), bool(d.future), d.changed)

    @property
    def scene(self) -> Scene:
        """The scene as the file says it now."""
        return self._scene_of(self._file().content)

    @property
    def ids(self) -> dict[str, str]:
        """Stable ids by full name in the scene that runs."""
        document = self._file()
        if isinstance(document.content, Scene):
            return document.ids
        (scope,) = self._scene_of(document.content).parts
        return {f"{scope}/{name}": f"{scope}/{born}" for name, born in document.ids.items()}

    def _file(self) -> Document:
        if self.document is None:
            raise FormatError(
                "only TOML files can be edited here.",
                hint="Convert it first: linkwork convert robot.urdf robot.toml.",
            )
        return self.document

    # ---- looking -------------------------------------------------------------------------

    def rows(self, world: World, kind: str, name: str) -> list[Row]:
        """The attributes of a thing.

        Raises:
            LinkworkError: If there is no such thing.
        """
        section = SECTIONS.get(kind, kind)
        d = self.document
        if d is not None and (place := self._place(section, name)) is not None:
            return rows_of(d.text, d.path, place, section, saved=self._saved, editable=True)
        origin = _origin(world, kind, name)
        if origin.file.endswith(".toml"):
            found = _elsewhere(origin, section, name)
            if found:
                return found
        return _plain_rows(world, kind, name)

    def _place(self, section: str, name: str) -> KeyPath | None:
        """Where a thing stands in the file; None if it does not."""
        d = self._file()
        if not section:
            return ()
        names = names_of(d.content)
        short = name
        if isinstance(d.content, Part):
            (scope,) = self._scene_of(d.content).parts
            short = name.removeprefix(f"{scope}/")
            if section == "part" and name == scope:
                return ()
        if short not in names.get(section, []):
            return None
        return locate(read_data(d.text), (section, short), names)

    # ---- changing ------------------------------------------------------------------------

    def edit(self, world: World, kind: str, name: str, key: str, given: str | float | bool) -> None:
        """Sets an attribute in the file's text.

        Raises:
            LinkworkError: If it is refused; the file is as before.
        """
        d, section = self._file(), SECTIONS.get(kind, kind)
        place = self._place(section, name)
        if place is None:
            origin = _origin(world, kind, name)
            raise FormatError(
                f"{name} stands in {origin}, not in the file that is open.",
                hint=f"Open {Path(origin.file).name} to change it." if origin.file else "",
            )
        value = value_of(d.text, place, "" if not place else section, key, given)
        d.set_value((*place, *path_of(key)), value)

    def take_back(self) -> None:
        """Drops the last edit, which cannot be used, for good."""
        d = self._file()
        if d.history:
            d.undo()
            d.future.pop()

    def undo(self) -> None:
        """Takes the last edit back."""
        self._file().undo()

    def redo(self) -> None:
        """Does it again."""
        self._file().redo()

    def save(self) -> None:
        """Writes the file.

        Raises:
            LinkworkError: If it cannot be written, or belongs to the package.
        """
        d = self._file()
        path = Path(d.path).resolve()
        if path.is_relative_to(_PACKAGE):
            raise FormatError(
                f"{path.name} belongs to Linkwork itself and is not written over.",
                hint=f"Copy the folder {path.parent} to ~/.linkwork/kits and open it there.",
            )
        d.save()
        self._saved = d.text


def _itself(content: Part | Scene) -> Scene:
    if isinstance(content, Scene):
        return content
    raise FormatError("this is a part; it needs a scene to stand in.")


def _origin(world: World, kind: str, name: str) -> Origin:
    """Where a thing of the world was said.

    Raises:
        NameNotFound: If there is no such thing.
    """
    if kind == "joint":
        return world.joints[world.joint(name)].origin
    if kind == "element":
        if name not in world.element_names:
            raise not_found("element", name, world.element_names)
        return world.element_origins[world.element_names.index(name)]
    specs = {
        s.name: s.origin
        for s in (*world.sensors, *world.actuators, *world.agents, *world.buses, *world.ports)
    }
    if name in specs:
        return specs[name]
    scope, _, rest = name.partition("/")
    if kind == "anchor" and scope in world.scene.parts:
        return world.scene.parts[scope].part.find_anchor(rest).origin
    if kind == "part" and scope in world.scene.parts:
        return world.scene.parts[scope].origin
    if kind in ("scene", "part", "loop", "light", "viewpoint"):
        return world.scene.origin
    raise not_found(kind, name, [*world.element_names, *world.joint_names, *specs])


def _elsewhere(origin: Origin, section: str, name: str) -> list[Row]:
    """The rows of a thing that another file holds; none where it is not found there."""
    try:
        text = Path(origin.file).read_text(encoding="utf-8")
        tables = read_data(text).get(section, [])
    except (OSError, ValueError):
        return []
    short = name.rpartition("/")[2]
    for number, table in enumerate(tables):
        if isinstance(table, dict) and table.get("name") == short:
            place = (section, number)
            return rows_of(text, origin.file, place, section, saved=text, editable=False)
    return []


def _plain_rows(world: World, kind: str, name: str) -> list[Row]:
    """What is known of a thing that no TOML file holds."""
    if kind != "joint":
        return []
    joint, made = world.joints[world.joint(name)], []
    for each in dataclasses.fields(joint):
        value = getattr(joint, each.name)
        if each.name in ("origin", "labels", "bus") or value is None:
            continue
        number = isinstance(value, int | float)
        shown = float(value) if number else str(value)
        made.append(
            Row(each.name.rstrip("_"), shown, "", None, None, None, str(joint.origin), False, False)
        )
    return made
