"""Humanoid XML (004 §3.2): solids, articulations and movements, described in two languages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.errors import FormatError, listing
from linkwork.formats.humanoid_xml.movements import read_movements
from linkwork.formats.humanoid_xml.read import read_robot
from linkwork.formats.humanoid_xml.write import write_robot
from linkwork.formats.humanoid_xml.write_movement import write_movement
from linkwork.formats.xml_tree import root_tag
from linkwork.parts import Part
from linkwork.scene import Movement, Scene

__all__ = ["HumanoidXmlFormat"]


class HumanoidXmlFormat:
    """Reads and writes the robot description of 004."""

    suffixes: ClassVar[tuple[str, ...]] = (".humanoid.xml", ".xml")
    written: ClassVar[tuple[str, ...]] = (".humanoid.xml",)

    def recognises(self, head: bytes) -> bool:
        """Whether a file begins as these do, with ``<robot>``."""
        return root_tag(head) == "robot"

    def read(self, path: str | os.PathLike[str]) -> Part:
        """The robot in a file."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """The robot in a file, and what was left out or assumed to read it.

        Raises:
            LinkworkError: If the file does not follow the format; names file and line.
        """
        robot = read_robot(Path(path))
        return robot.part, robot.notes.lines()

    def movements(self, path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
        """Every movement that the file holds beside its robot.

        Args:
            path: The file.
            text: What it holds, if it need not be read.

        Raises:
            LinkworkError: If the file does not follow the format; names file and line.
        """
        return read_movements(Path(path), text=text)

    def write_movement(
        self, movement: Movement, path: str | os.PathLike[str], *, robot: Part | None = None
    ) -> list[str]:
        """Writes a movement beside its robot; a movement of that name is replaced.

        Args:
            movement: What to write.
            path: The file; without a robot one that is there, whose other content stays.
            robot: Whose movement it is: the file then holds this robot, and nothing else.

        Returns:
            What the format cannot say and was left out or said differently, one line each.

        Raises:
            LinkworkError: If there is no robot, or it lacks a joint, or the file cannot be written.
        """
        return write_movement(movement, Path(path), robot=robot)

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part of cuboids and hinges.

        Returns:
            What the format cannot say and was left out or said differently, one line each.

        Raises:
            LinkworkError: If it is a scene, or the file cannot be written.
        """
        if isinstance(thing, Scene):
            raise FormatError(
                f"{os.fspath(path)!r}: such a file holds one robot, but {thing.name!r} is a scene.",
                origin=thing.origin,
                hint=f"Write one of its parts: {listing(thing.parts)}.",
            )
        return write_robot(thing, Path(path))
