"""Mesh files (STL, OBJ, Collada) as parts of one element."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.errors import FormatError
from linkwork.formats.mesh.element import mesh_element
from linkwork.formats.notes import Notes
from linkwork.parts import Part
from linkwork.parts.names import plain
from linkwork.scene import Scene

__all__ = ["MeshFormat"]


class MeshFormat:
    """Reads a mesh file as a part with one element, named as the file."""

    suffixes: ClassVar[tuple[str, ...]] = (".stl", ".obj", ".dae")
    writes: ClassVar[bool] = False

    def read(self, path: str | os.PathLike[str]) -> Part:
        """The part that a mesh makes; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """The part that a mesh makes, and what had to be assumed.

        A mesh says nothing of units and matter: numbers are metres, the density is that of water.

        Raises:
            MeshError: If the file cannot be read.
        """
        file, notes = Path(path), Notes()
        name = plain(file.stem)
        element = mesh_element(file, name, notes)
        part = Part(name, origin=element.origin)
        if name != file.stem:
            part.title = file.stem
        return part.add(element), notes.lines()

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Refuses: a mesh holds no robot.

        Raises:
            FormatError: Always; it names formats that can be written.
        """
        raise FormatError(
            f"{os.fspath(path)!r}: {thing.name!r} cannot be written as a mesh.",
            origin=thing.origin,
            hint="Write it as .toml or .urdf, which name mesh files.",
        )
