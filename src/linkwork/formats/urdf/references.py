"""References to meshes and textures in a written URDF: relative, by package, or absolute."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from linkwork.formats.urdf.locate import package_name
from linkwork.formats.urdf.notes import Notes


class References:
    """Spells file names for a URDF that will stand in ``folder``."""

    def __init__(self, folder: Path, notes: Notes) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.notes = notes
        self.package, self.package_folder = "", self.folder
        for parent in (self.folder, *self.folder.parents):
            if name := package_name(parent):
                self.package, self.package_folder = name, parent
                break

    def spell(self, file: str) -> str:
        """A relative path below the URDF, ``package://`` in its package, else ``file://``."""
        path = Path(os.path.abspath(file))
        if path.is_relative_to(self.folder):
            return path.relative_to(self.folder).as_posix()
        if self.package and path.is_relative_to(self.package_folder):
            return f"package://{self.package}/{path.relative_to(self.package_folder).as_posix()}"
        self.notes.about(
            "meshes and textures outside the file's folder, written with their absolute paths",
            path.name,
        )
        return f"file://{quote(path.as_posix())}"
