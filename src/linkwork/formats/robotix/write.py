"""Writing the robot text of 003: names, types and ranges of a robot's joints."""

from __future__ import annotations

import math
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.formats.flat import flatten
from linkwork.formats.losses import note_losses
from linkwork.formats.names import file_names, keys_of
from linkwork.formats.notes import Notes
from linkwork.formats.robotix.build import AXIS
from linkwork.parts import Joint, Part
from linkwork.parts.names import scoped
from linkwork.scene import Scene
from linkwork.scene.atomic import replace_file

#: What is told in one line for all; the rest is told thing by thing.
SAYS = {"elements: masses"}


def write_robotix(thing: Part | Scene, path: Path) -> list[str]:
    """Writes the hinges and sliders of a part, or of each part of a scene.

    Returns:
        What the text cannot say, one line each.

    Raises:
        LinkworkError: If there are none, or the file cannot be written.
    """
    notes = Notes()
    note_losses(flatten(thing), SAYS, notes)
    for name in thing.scenery if isinstance(thing, Scene) else ():
        notes.about("scenery, left out", name)
    parts = [each.part for each in thing.parts.values()] if isinstance(thing, Scene) else [thing]
    lines = [
        "# QMIN is the lower end and QMAX the upper, in degrees, of prismatic joints in metres."
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
            f"{str(path)!r}: {thing.name!r} has no hinge and no slider, and the text says no more.",
            origin=thing.origin,
        )
    notes.say("shapes, colours, masses and where joints stand are not in such a text, left out.")
    replace_file(str(path), ("\n".join(lines) + "\n").encode("latin-1", "replace"))
    return notes.lines()


def _joints(part: Part, scope: str, notes: Notes) -> list[str]:
    """Rows of a part's joints, carriers first, then of what is attached to it."""
    rows: list[str] = []
    spelled, axes = file_names(part), keys_of(part, AXIS)
    for joint in _in_order(part):
        name = scoped(scope, joint.name)
        if joint.type not in ("hinge", "slider"):
            notes.about(f"joints of type {joint.type}, left out", name)
            continue
        said = spelled.get(joint.name, name)
        rows += [
            f"  JOINT {_word(said)}", "  {",
            f"    AXIS = {_word(axes.get(joint.name) or _axis(said, joint))}",
            f"    TYPE = {1 if joint.type == 'hinge' else 2}",
        ]  # fmt: skip
        if (pair := joint.ranges[0]) is not None:
            ends = [math.degrees(c) if joint.type == "hinge" else c for c in pair]
            rows += [
                f"    {key} = {end:.12g}" for key, end in zip(("QMIN", "QMAX"), ends, strict=True)
            ]
        rows.append("  }")
    for inner in part.attachments.values():
        rows += _joints(inner.part, scoped(scope, inner.name), notes)
    return rows


def _in_order(part: Part) -> list[Joint]:
    """The joints, each after those that carry it as far as they are of this part."""
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
    """The axis' name, which ends in its letter where it runs along x, y or z."""
    for letter, part in zip("xyz", joint.axis, strict=True):
        if part > 1.0 - 1e-9:
            return f"{name}_{letter}"
    return f"{name}_axis"


def _word(name: str) -> str:
    return f'"{name}"' if any(c in " \t{}=#" for c in name) else name
