"""RoboTiX text files (003 §3.3): chains of joints with type and range, several robots per file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.formats.robotix.build import build
from linkwork.formats.robotix.grammar import parse
from linkwork.formats.robotix.write import write_robotix
from linkwork.parts import Part
from linkwork.scene import Scene

__all__ = ["RobotixFormat"]


class RobotixFormat:
    """Reads and writes the robot text of 003, ``robot.cfg``.

    The text names joints and axes of a scene graph that stands in a file of its own: a glTF file
    of the same name beside it, if there is one, gives the shapes and the places of the joints.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".cfg", ".robot")

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """The robot in a file, or a scene with all of them; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """The robot in a file, or a scene with all of them, and what had to be assumed.

        Raises:
            LinkworkError: If the file does not follow the grammar; names file and line.
        """
        file = Path(path)
        return build(parse(file), file)

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes the hinges and sliders of a part, or of all parts of a scene.

        Returns:
            What the text cannot say: nearly all but names, types and ranges.

        Raises:
            LinkworkError: If nothing can be said, or the file cannot be written.
        """
        return write_robotix(thing, Path(path))
