"""STEP assemblies (ISO 10303-21) as parts: an element for each component, with its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.errors import FormatError, MeshError, Origin
from linkwork.formats.gltf.read import read_gltf_part
from linkwork.formats.step.triangles import triangles_of
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["StepFormat"]


class StepFormat:
    """Reads STEP files, with the extra ``cad`` (cascadio, which holds Open CASCADE).

    The triangles are kept in the user's cache; ``linkwork convert`` and ``linkwork new --from``
    copy them beside what they write.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".step", ".stp")
    writes: ClassVar[bool] = False

    def read(self, path: str | os.PathLike[str]) -> Part:
        """The part that an assembly makes; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """The part that an assembly makes, and what had to be assumed.

        Raises:
            LinkworkError: If the file cannot be read, or the extra is not installed.
        """
        file = Path(path)
        kept = triangles_of(file)
        try:
            return read_gltf_part(kept, up="Z", of=file)
        except MeshError as error:
            raise FormatError(f"its triangles: {error.message}", origin=Origin(str(file))) from None

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Refuses: parts are made of triangles, STEP of surfaces.

        Raises:
            FormatError: Always; it names formats that can be written.
        """
        raise FormatError(
            f"{os.fspath(path)!r}: {thing.name!r} cannot be written as STEP.",
            origin=thing.origin,
            hint="Write it as .toml, .urdf or .glb.",
        )
