"""RoboTiX text files: chains of joints with type and range, several robots per file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import ClassVar

from linkwork.core.atomic import replace_file
from linkwork.core.errors import FormatError
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import flatten
from linkwork.formats.names import original_keys, original_names
from linkwork.formats.robots.robotix.grammar import parse
from linkwork.formats.robots.robotix.robot_builder import AXIS, build_robots
from linkwork.model.parts import Joint, Part
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import Scene

#: Fields covered by one note for all; others are noted individually.
SUPPORTED_FIELDS = {"elements: masses"}


def write_robotix(thing: Part | Scene, path: Path) -> list[str]:
    """Writes the hinges and sliders of a part, or of each part of a scene.

    Returns:
        Notes on omissions, one line each.

    Raises:
        LinkworkError: If there are none, or the file cannot be written.
    """
    notes = ConversionNotes()
    note_unsupported(flatten(thing), SUPPORTED_FIELDS, notes)
    for name in thing.scenery if isinstance(thing, Scene) else ():
        notes.about("scenery, left out", name)
    parts = [each.part for each in thing.parts.values()] if isinstance(thing, Scene) else [thing]
    lines = [
        "# QMIN is the lower end and QMAX the upper, in degrees, of prismatic joints in meters."
    ]
    number = 0
    for part in parts:
        rows = _joints(part, "", notes)
        if not rows:
            notes.about("parts without hinges and sliders, left out", part.name)
            continue
        number += 1
        lines += [f"ROBOT = {number}", "{", *rows, "}"]
    if not number:
        raise FormatError(
            f"{str(path)!r}: {thing.name!r} has no hinge or slider; the format has only these.",
            origin=thing.origin,
        )
    notes.add("shapes, colors, masses and poses of joints, left out.")
    replace_file(str(path), ("\n".join(lines) + "\n").encode("latin-1", "replace"))
    return notes.lines()


def _joints(part: Part, scope: str, notes: ConversionNotes) -> list[str]:
    """Returns the lines of a part's joints, parents first, then those of attached parts."""
    rows: list[str] = []
    spelled, axes = original_names(part), original_keys(part, AXIS)
    for joint in _in_order(part):
        name = scoped_name_of(scope, joint.name)
        if joint.type not in ("hinge", "slider"):
            notes.about(f"joints of type {joint.type}, left out", name)
            continue
        spelling = spelled.get(joint.name, name)
        rows += [
            f"  JOINT {_word(spelling)}", "  {",
            f"    AXIS = {_word(axes.get(joint.name) or _axis(spelling, joint))}",
            f"    TYPE = {1 if joint.type == 'hinge' else 2}",
        ]  # fmt: skip
        if (pair := joint.ranges[0]) is not None:
            ends = [math.degrees(c) if joint.type == "hinge" else c for c in pair]
            rows += [
                f"    {key} = {end:.12g}" for key, end in zip(("QMIN", "QMAX"), ends, strict=True)
            ]
        rows.append("  }")
    for inner in part.attachments.values():
        rows += _joints(inner.part, scoped_name_of(scope, inner.name), notes)
    return rows


def _in_order(part: Part) -> list[Joint]:
    """Returns the joints of this part, each after its parents."""
    above = {joint.to: joint for joint in part.joints.values()}
    above |= {e.name: above[e.on] for e in part.elements.values() if e.on in above}
    found: dict[str, Joint] = {}
    for joint in part.joints.values():
        chain: dict[str, Joint] = {}
        walker: Joint | None = joint
        while walker is not None and walker.name not in found and walker.name not in chain:
            chain[walker.name] = walker
            walker = above.get(walker.from_)
        found |= dict(reversed(chain.items()))
    return list(found.values())


def _axis(name: str, joint: Joint) -> str:
    """Returns the name of the axis, which ends in x, y or z if it has that direction."""
    for letter, part in zip("xyz", joint.axis, strict=True):
        if part > 1.0 - 1e-9:
            return f"{name}_{letter}"
    return f"{name}_axis"


def _word(name: str) -> str:
    return f'"{name}"' if any(c in " \t{}=#" for c in name) else name


__all__ = ["RobotixFormat"]


class RobotixFormat:
    """Reads and writes the robot text of RoboTiX, ``robot.cfg``.

    The text names joints and axes of a scene graph in another file: a glTF file of the same name
        beside it, if there is one, defines the shapes and the poses of the joints. It holds neither
        masses nor drives: its robots are moved by the kinematic engine unless another is named.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".cfg", ".robot")
    default_engine: ClassVar[str] = "kinematic"

    def read(self, path: str | os.PathLike[str]) -> Part | Scene:
        """Returns the robot in a file, or a scene with all robots; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part | Scene, list[str]]:
        """Returns the robot in a file, or a scene with all robots, and notes on assumptions.

        Raises:
            LinkworkError: If the file does not follow the grammar; names file and line.
        """
        file = Path(path)
        return build_robots(parse(file), file)

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes the hinges and sliders of a part, or of all parts of a scene.

        Returns:
            Notes on omissions: the text holds only names, types and ranges.

        Raises:
            LinkworkError: If there are none, or the file cannot be written.
        """
        return write_robotix(thing, Path(path))
