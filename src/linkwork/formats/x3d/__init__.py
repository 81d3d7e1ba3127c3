"""X3D and VRML97: scenes to look at, written from parts and scenes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from linkwork.errors import FormatError, Origin
from linkwork.formats.x3d.write import write_x3d
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["VrmlFormat", "X3dFormat"]


class X3dFormat:
    """Writes X3D files, the XML of the scene graph."""

    suffixes = (".x3d",)

    def read(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuses: a drawing has no joints.

        Raises:
            FormatError: Always; it says what can be read.
        """
        raise FormatError(
            f"{self.suffixes[0]} files are written, not read.",
            origin=Origin(os.fspath(path)),
            hint="Bring its meshes as .glb, .gltf, .obj, .dae or .stl.",
        )

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part or scene as it stands at the start.

        Returns:
            What the format cannot say and was left out, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_x3d(thing, Path(path), classic=self.suffixes[0] == ".wrl")


class VrmlFormat(X3dFormat):
    """Writes VRML97 files, the older text of the same scene graph."""

    suffixes = (".wrl", ".vrml")
