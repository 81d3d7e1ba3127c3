"""Mesh folder: the meshes and textures of a written file, put beside it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from linkwork.errors import FormatError, Origin
from linkwork.formats.flat import unique
from linkwork.formats.notes import Notes
from linkwork.meshes import mesh_files, write_obj, write_stl
from linkwork.parts import Mesh
from linkwork.spatial.pose import IDENTITY

#: Most triangles that the readers of STL files take.
MOST_FACES = 200_000


class MeshFolder:
    """The folder ``<name>_meshes`` beside a written file, made when the first mesh comes.

    Args:
        path: The file that will refer to the meshes.
        notes: Where simplifications are told.
    """

    def __init__(self, path: Path, notes: Notes) -> None:
        self.parent = Path(os.path.abspath(path)).parent
        self.folder = self.parent / f"{path.stem}_meshes"
        self.notes = notes
        self._written: dict[str, str] = {}
        self._taken: set[str] = set()

    def stl(self, shape: Mesh) -> str:
        """Path, from the written file's folder, of a mesh's triangles, unscaled, as binary STL.

        Raises:
            LinkworkError: If the mesh cannot be read, or the place not be written.
        """
        return self._made(shape, ".stl")

    def obj(self, shape: Mesh) -> str:
        """The same as OBJ, to the last digit.

        Raises:
            LinkworkError: If the mesh cannot be read, or the place not be written.
        """
        return self._made(shape, ".obj")

    def _made(self, shape: Mesh, suffix: str) -> str:
        plain = replace(shape, at=IDENTITY, scale=(1.0, 1.0, 1.0), color="", texture="")
        key = repr(replace(plain, visible=True, collide=True))
        if key not in self._written:
            mesh, file = plain.triangles(), shape.file
            if suffix == ".stl" and len(mesh.faces) > MOST_FACES:
                self.notes.about(
                    f"meshes simplified to the {MOST_FACES} triangles that STL readers take",
                    Path(file).name,
                )
                mesh = mesh.simplified(MOST_FACES)
            target = self.folder / f"{unique(Path(file).stem, self._taken)}{suffix}"
            try:
                self.folder.mkdir(exist_ok=True)
            except OSError as error:
                raise _unwritten(target, error) from error
            (write_stl if suffix == ".stl" else write_obj)(mesh, target)
            self._written[key] = target.relative_to(self.parent).as_posix()
        return self._written[key]

    def copy(self, shape: Mesh) -> str:
        """Path, from the written file's folder, of a mesh's file, copied unless it is below it.

        One node of a glTF file gets a file of its own.

        Raises:
            LinkworkError: If the mesh cannot be read, or the place not be written.
        """
        if shape.node:
            self.notes.about("nodes of glTF files, written as STL files", shape.node)
            return self.stl(shape)
        return self._copied(shape.file, mesh_files)

    def texture(self, file: str) -> str:
        """Path, from the written file's folder, of a picture, copied unless it is below it.

        Raises:
            FormatError: If it cannot be read, or the place not be written.
        """
        source = Path(os.path.abspath(file))
        if not source.is_file() and not source.is_relative_to(self.parent):
            self.notes.about("textures that are not there", file)
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
    why = error.strerror or str(error)
    return FormatError(f"the mesh cannot be written: {why}.", origin=Origin(str(target)))
