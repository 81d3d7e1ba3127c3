"""URDF: robots of the ROS world, read into parts and written from them."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.core.errors import FormatError, listing
from linkwork.formats.robots.resources import MissingFiles, missing_files
from linkwork.formats.robots.urdf.read import read_urdf
from linkwork.formats.robots.urdf.write import write_urdf
from linkwork.model.parts import Part
from linkwork.model.scene import Scene

__all__ = ["UrdfFormat"]


class UrdfFormat:
    """Reads and writes URDF files.

    Args:
        missing_meshes: "error" refuses a file whose meshes cannot be found, "skip" leaves those
            shapes out and notes it; None does as :func:`missing_files` says.

    Attributes:
        part_notes: What the last read left out or changed, one line each.
    """

    suffixes = (".urdf",)

    def __init__(self, *, missing_meshes: MissingFiles | None = None) -> None:
        self.missing_meshes = missing_meshes
        self.part_notes: list[str] = []

    def read(self, path: str | os.PathLike[str]) -> Part:
        """Returns the robot in a file (notes are in ``part_notes``).

        Raises:
            LinkworkError: If the file is not a URDF of one tree, or a mesh is missing.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """Returns the robot in a file, and notes on omissions and changes."""
        skip = (self.missing_meshes or missing_files()) == "skip"
        part, self.part_notes = read_urdf(Path(path), skip_missing=skip)
        return part, self.part_notes

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part with all attached parts.

        Returns:
            Notes on omissions and changes, one line each.

        Raises:
            LinkworkError: If it is a scene, the part is not one tree, or the file cannot be
                written.
        """
        if isinstance(thing, Scene):
            raise FormatError(
                f"a URDF holds one robot, but {thing.name!r} is a scene.",
                origin=thing.origin,
                hint=f"Write one of its parts: {listing(thing.parts)}.",
            )
        return write_urdf(thing, Path(path))
