"""MJCF: MuJoCo's models, read into scenes and written from parts and scenes."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.formats.mjcf.write import write_mjcf
from linkwork.formats.xml_tree import root_tag
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["MjcfFormat", "write_mjcf"]


class MjcfFormat:
    """Reads and writes MuJoCo's models."""

    suffixes = (".mjcf", ".xml")

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins so is a model of MuJoCo."""
        return root_tag(head) == "mujoco"

    def read(self, path: str | os.PathLike[str]) -> Scene:
        """The model in a file.

        Raises:
            LinkworkError: If MuJoCo would not take it; the message names file and line.
        """
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Scene, list[str]]:
        """The model in a file, and what was left out or changed to read it."""
        from linkwork.formats.mjcf.read import read_mjcf  # MuJoCo itself is loaded to read

        return read_mjcf(Path(path))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part or scene.

        Returns:
            What MJCF cannot say and was left out or said differently, one line each.
        """
        return write_mjcf(thing, Path(path))
