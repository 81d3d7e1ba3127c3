"""References to meshes and textures in a written URDF: of its package, or beside it."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.formats.mesh_folder import MeshFolder
from linkwork.formats.notes import Notes
from linkwork.formats.urdf.locate import package_name
from linkwork.parts import Mesh


class References:
    """Spells file names for a URDF that will stand at ``path``."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self.folder = Path(os.path.abspath(path)).parent
        self.meshes = MeshFolder(path, notes)
        self.package, self.package_folder = "", self.folder
        for parent in (self.folder, *self.folder.parents):
            if name := package_name(parent):
                self.package, self.package_folder = name, parent
                break

    def spell_mesh(self, shape: Mesh) -> str:
        """The file of a mesh; a single node of a glTF file gets a file of its own.

        Raises:
            LinkworkError: If the mesh cannot be read, or its copy not be written.
        """
        return (not shape.node and self._near(shape.file)) or self.meshes.copy(shape)

    def spell_texture(self, file: str) -> str:
        """The file of a picture.

        Raises:
            FormatError: If it cannot be read, or its copy not be written.
        """
        return self._near(file) or self.meshes.texture(file)

    def _near(self, file: str) -> str:
        """``package://`` of a file in the URDF's package but not below it; else empty."""
        path = Path(os.path.abspath(file))
        if path.is_relative_to(self.folder) or not self.package:
            return ""
        if not path.is_relative_to(self.package_folder):
            return ""
        return f"package://{self.package}/{path.relative_to(self.package_folder).as_posix()}"
