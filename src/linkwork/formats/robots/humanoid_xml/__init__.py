"""Humanoid XML (Lima et al. §3.2): solids, articulations, movements; keywords in two languages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from linkwork.core.errors import FormatError, listing
from linkwork.formats.robots.humanoid_xml.movements import read_movements, write_movement
from linkwork.formats.robots.humanoid_xml.read import read_robot
from linkwork.formats.robots.humanoid_xml.write import write_robot
from linkwork.formats.robots.xml import root_tag
from linkwork.model.parts import Part
from linkwork.model.scene import Movement, Scene

__all__ = ["HumanoidXmlFormat"]


class HumanoidXmlFormat:
    """Reads and writes the robot description of Lima et al. §3.2."""

    suffixes: ClassVar[tuple[str, ...]] = (".humanoid.xml", ".xml")
    written: ClassVar[tuple[str, ...]] = (".humanoid.xml",)

    def recognizes(self, head: bytes) -> bool:
        """Whether the root element of a file is ``<robot>``."""
        return root_tag(head) == "robot"

    def read(self, path: str | os.PathLike[str]) -> Part:
        """Returns the robot in a file."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """Returns the robot in a file, and notes on omissions and assumptions.

        Raises:
            LinkworkError: If the file does not follow the format; names file and line.
        """
        robot = read_robot(Path(path))
        return robot.part, robot.notes.lines()

    def movements(self, path: str | os.PathLike[str], *, text: str | None = None) -> list[Movement]:
        """Returns all movements in the robot's file.

        Args:
            path: The file.
            text: Its text, if it need not be read.

        Raises:
            LinkworkError: If the file does not follow the format; names file and line.
        """
        return read_movements(Path(path), text=text)

    def write_movement(
        self, movement: Movement, path: str | os.PathLike[str], *, robot: Part | None = None
    ) -> list[str]:
        """Writes a movement into its robot's file; a movement of the same name is replaced.

        Args:
            movement: The movement.
            path: The file; if ``robot`` is None it must exist, and its other content is kept.
            robot: The robot of the movement; if given, the file is written anew with it.

        Returns:
            Notes on omissions and changes, one line each.

        Raises:
            LinkworkError: If there is no robot, or it lacks a joint, or the file cannot be written.
        """
        return write_movement(movement, Path(path), robot=robot)

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part of cuboids and hinges.

        Returns:
            Notes on omissions and changes, one line each.

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
