"""References to meshes and textures in a written URDF: relative, by package, or absolute."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.notes import Notes
from linkwork.formats.urdf.locate import package_name
from linkwork.parts import Mesh


class References:
    """Spells file names for a URDF that will stand at ``path``."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self.folder = Path(os.path.abspath(path)).parent
        self.notes = notes
        self.meshes = MeshFolder(path, notes)
        self.package, self.package_folder = "", self.folder
        for parent in (self.folder, *self.folder.parents):
            if name := package_name(parent):
                self.package, self.package_folder = name, parent
                break

    def spell_mesh(self, shape: Mesh) -> str:
        """The file of a mesh; a single node of a glTF file gets a file of its own.

        Raises:
            MeshError: If the triangles cannot be read, or the file cannot be written.
        """
        if not shape.node:
            return self.spell(shape.file)
        name = self.meshes.stl(shape)
        self.notes.about("nodes of glTF files, written as STL files", name)
        return name

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
