"""References to meshes and textures in a written URDF: relative, by package, or absolute."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from linkwork.formats.notes import Notes
from linkwork.formats.urdf.locate import package_name
from linkwork.meshes import load_mesh, write_stl
from linkwork.parts import Mesh
from linkwork.parts.names import plain


class References:
    """Spells file names for a URDF that will stand in ``folder``."""

    def __init__(self, folder: Path, notes: Notes) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.notes = notes
        self.package, self.package_folder = "", self.folder
        self._nodes: dict[tuple[str, str], str] = {}
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
        key = (shape.file, shape.node)
        if key not in self._nodes:
            name = plain(f"{Path(shape.file).stem}_{shape.node}", {*self._nodes.values()})
            write_stl(load_mesh(Path(shape.file), node=shape.node), self.folder / f"{name}.stl")
            self.notes.about("nodes of glTF files, written as STL files", f"{name}.stl")
            self._nodes[key] = name
        return f"{self._nodes[key]}.stl"

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
