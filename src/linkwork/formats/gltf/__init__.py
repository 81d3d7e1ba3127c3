"""glTF: scene graphs of meshes, read as elements that keep their names and places."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.errors import FormatError
from linkwork.formats.gltf.read import read_gltf_part
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["GltfFormat"]


class GltfFormat:
    """Reads glTF files as parts: an element for each node with triangles."""

    suffixes: ClassVar[tuple[str, ...]] = (".gltf", ".glb")
    writes: ClassVar[bool] = False

    def read(self, path: str | os.PathLike[str]) -> Part:
        """The part that a file's scene makes; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """The part that a file's scene makes, and what had to be assumed or was left out.

        Raises:
            LinkworkError: If the file cannot be read.
        """
        return read_gltf_part(Path(path))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Refuses, until there is a writer.

        Raises:
            FormatError: Always; it names formats that can be written.
        """
        raise FormatError(
            f"{os.fspath(path)!r}: {thing.name!r} cannot be written as glTF.",
            origin=thing.origin,
            hint="Write it as .toml or .urdf.",
        )
