"""glTF: scene graphs of meshes, read as elements and written with joints that can be moved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.formats.gltf.read import read_gltf_part
from linkwork.formats.gltf.write import write_gltf
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["GltfFormat"]


class GltfFormat:
    """Reads glTF files as parts: an element for each node with triangles."""

    suffixes: ClassVar[tuple[str, ...]] = (".gltf", ".glb")

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
        """Writes a part or scene, with its joints as nodes that can be moved.

        Returns:
            What glTF cannot say and was left out, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_gltf(thing, Path(path))
