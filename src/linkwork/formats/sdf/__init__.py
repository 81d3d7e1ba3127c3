"""SDF: models and worlds of Gazebo and Drake, read into parts and scenes and written from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from linkwork.formats.sdf.read import read_sdf
from linkwork.formats.sdf.write import write_sdf
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["SdfFormat"]


class SdfFormat:
    """Reads and writes SDF files.

    Args:
        missing: "error" refuses a file whose meshes or included models cannot be found, "skip"
            leaves them out and notes it.

    Attributes:
        part_notes: What the last read left out or changed, one line each.
    """

    suffixes = (".sdf", ".world")

    def __init__(self, *, missing: Literal["error", "skip"] = "error") -> None:
        self.missing = missing
        self.part_notes: list[str] = []

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """The model or world in a file (notes are in ``part_notes``).

        Raises:
            LinkworkError: If the file is not an SDF, or something that it names is missing.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """The model or world in a file, and what was left out or changed to read it."""
        thing, self.part_notes = read_sdf(Path(path), skip_missing=self.missing == "skip")
        return thing, self.part_notes

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part as a model, or a scene as a world.

        Returns:
            What SDF cannot say and was left out or said differently, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_sdf(thing, Path(path))
