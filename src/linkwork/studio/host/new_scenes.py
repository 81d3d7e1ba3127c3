"""New scenes: scenes created in the studio, and TOML copies of files in other formats."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.core.errors import FormatError
from linkwork.core.registry import FORMATS
from linkwork.formats import load_part, save
from linkwork.formats.lookup import format_for
from linkwork.formats.toml.emit import value_text
from linkwork.formats.toml.includes import is_kit_name
from linkwork.model.parts.spec import check_name
from linkwork.model.scene import Scene
from linkwork.studio.host.editor import OpenedFile
from linkwork.studio.host.project_files import free_path, kit_name

_FLOOR = """format = "linkwork/scene 1"
name = {name}
step = 0.002

[[element]]
name = "floor"
shape = {{ plane = {{ size = [4, 4] }} }}
color = "#dfe3e8"
"""

_PART = """
[[part]]
name = {scope}
part = {part}
"""


def new_scene(name: str, part: str, folder: Path) -> OpenedFile:
    """An unsaved scene: a floor and, if one is named, a kit's part on it.

    Args:
        name: Name of the scene and its file.
        part: A kit's name of a part, or empty.
        folder: Folder for the file.

    Raises:
        LinkworkError: If the name is not allowed or there is no such part.
    """
    check_name(name, "scene")
    text = _FLOOR.format(name=value_text(name))
    if part:
        if not is_kit_name(part):
            raise FormatError(f"{part!r} is not a part of a kit.", hint="Write it as kit/part.")
        scope = load_part(part).name
        scope = scope if scope != "floor" else "part"
        text += _PART.format(scope=value_text(scope), part=value_text(part))
    path = free_path(str(folder), name)
    scene = FORMATS.get("toml")().parse(text, path)
    assert isinstance(scene, Scene)
    return OpenedFile(scene, path, text=text, folders=[folder])


def toml_copy(file: str, folder: Path) -> str:
    """Writes a file's content as TOML, beside it or else into a folder; returns the new file.

    Copies of kit files always go into the folder.

    Raises:
        LinkworkError: If it cannot be read or written.
    """
    home = os.path.dirname(os.path.abspath(file))
    if kit_name(file) or not os.access(home, os.W_OK):
        home = str(folder)
    made = free_path(home, Path(file).stem)
    if kit_name(made):
        raise FormatError(f"{home} is in a kit that is not yours.", hint="Work in another folder.")
    save(format_for(file).read(file), made)
    return made
