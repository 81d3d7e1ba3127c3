"""Mesh folder: the meshes and textures of a written file, saved beside it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from linkwork.core.errors import FormatError, Origin, os_error_text
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import unique
from linkwork.geometry.meshes import mesh_files, write_obj, write_stl
from linkwork.geometry.pose import IDENTITY
from linkwork.model.parts import Mesh

#: Maximum number of triangles of STL readers.
MAX_FACES = 200_000


class MeshFolder:
    """The folder ``<name>_meshes`` beside a written file, created with the first mesh.

    Args:
        path: The file that will refer to the meshes.
        notes: Receives simplifications.
    """

    def __init__(self, path: Path, notes: ConversionNotes) -> None:
        self.parent = Path(os.path.abspath(path)).parent
        self.folder = self.parent / f"{path.stem}_meshes"
        self.notes = notes
        self._written: dict[str, str] = {}
        self._taken: set[str] = set()

    def stl(self, shape: Mesh) -> str:
        """Writes a mesh's unscaled triangles as binary STL; returns the relative path.

        Raises:
            LinkworkError: If the mesh cannot be read, or the file cannot be written.
        """
        return self._made(shape, ".stl")

    def obj(self, shape: Mesh) -> str:
        """Writes the same as OBJ, without rounding; returns the relative path.

        Raises:
            LinkworkError: If the mesh cannot be read, or the file cannot be written.
        """
        return self._made(shape, ".obj")

    def _made(self, shape: Mesh, suffix: str) -> str:
        plain = replace(shape, at=IDENTITY, scale=(1.0, 1.0, 1.0), color="", texture="")
        key = repr(replace(plain, visible=True, collide=True))
        if key not in self._written:
            mesh, file = plain.triangles(), shape.file
            if suffix == ".stl" and len(mesh.faces) > MAX_FACES:
                self.notes.about(
                    f"meshes simplified to the {MAX_FACES} triangles that STL readers take",
                    Path(file).name,
                )
                mesh = mesh.simplified(MAX_FACES)
            target = self.folder / f"{unique(Path(file).stem, self._taken)}{suffix}"
            try:
                self.folder.mkdir(exist_ok=True)
            except OSError as error:
                raise _unwritten(target, error) from error
            (write_stl if suffix == ".stl" else write_obj)(mesh, target)
            self._written[key] = target.relative_to(self.parent).as_posix()
        return self._written[key]

    def copy(self, shape: Mesh) -> str:
        """Copies a mesh's file unless it is in the folder; returns the relative path.

        One node of a glTF file gets its own file.

        Raises:
            LinkworkError: If the mesh cannot be read, or the file cannot be written.
        """
        if shape.node:
            self.notes.about("nodes of glTF files, written as STL files", shape.node)
            return self.stl(shape)
        return self._copied(shape.file, mesh_files)

    def texture(self, file: str) -> str:
        """Copies a texture unless it is in the folder; returns the relative path.

        Raises:
            FormatError: If it cannot be read, or the file cannot be written.
        """
        source = Path(os.path.abspath(file))
        if not source.is_file() and not source.is_relative_to(self.parent):
            self.notes.about("missing textures", file)
            return source.as_posix()
        return self._copied(file, lambda source: [source])

    def _copied(self, file: str, files_of: Callable[[Path], list[Path]]) -> str:
        if file not in self._written:
            source = Path(os.path.abspath(file))
            if source.is_relative_to(self.parent):
                self._written[file] = source.relative_to(self.parent).as_posix()
                return self._written[file]
            folder = self.folder / unique(source.stem, self._taken)
            for each in files_of(source):
                target = folder / os.path.relpath(each, source.parent)
                if not target.resolve().is_relative_to(folder.resolve()):
                    target = folder / each.name
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(each, target)
                except OSError as error:
                    raise _unwritten(target, error) from error
            self._written[file] = (folder / source.name).relative_to(self.parent).as_posix()
        return self._written[file]


def _unwritten(target: Path, error: OSError) -> FormatError:
    why = os_error_text(error)
    return FormatError(f"the mesh cannot be written: {why}.", origin=Origin(str(target)))
