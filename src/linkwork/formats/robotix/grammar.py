"""The grammar of 003 §3.3: ``ROBOT = n { JOINT name { AXIS = … TYPE = … QMIN = … QMAX = … } … }``.

Spaces and line breaks separate words, ``#`` begins a comment. Words are upper or lower case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import FormatError, Origin, suggestion

#: A larger file is no robot [bytes].
LARGEST = 4 * 2**20

_WORD = re.compile(r"[{}=]|\"[^\"\n]*\"|[^\s{}=#\"]+")
_KEYS = ("AXIS", "TYPE", "QMIN", "QMAX")


@dataclass(frozen=True)
class JointText:
    """What the text says of a joint.

    Attributes:
        name: As in the scene graph.
        axis: Name of its axis there.
        slides: Whether it is prismatic.
        stroke: Lowest and highest value [deg or m], or None.
        swapped: Whether QMIN was the higher of both.
        origin: Where it was said.
    """

    name: str
    axis: str
    slides: bool
    stroke: tuple[float, float] | None
    swapped: bool
    origin: Origin


@dataclass(frozen=True)
class RobotText:
    """What the text says of a robot: its number and its joints, in the order of the links."""

    number: str
    origin: Origin
    joints: list[JointText] = field(default_factory=list)


@dataclass(frozen=True)
class _Word:
    text: str
    origin: Origin


def parse(path: Path) -> list[RobotText]:
    """The robots of a file.

    Raises:
        FormatError: Naming the line, what was found and what is expected there.
    """
    words = _Words(path)
    robots: dict[str, RobotText] = {}
    while (word := words.take()) is not None:
        words.expect(word, "ROBOT")
        words.expect(words.need("="), "=")
        number = words.need("the robot's number")
        if number.text in robots:
            raise FormatError(
                f"robot {number.text!r} is defined twice, first at {robots[number.text].origin}.",
                origin=number.origin,
            )
        robot = RobotText(words.plain(number, "a robot's number"), word.origin)
        words.expect(words.need("{"), "{")
        names: dict[str, Origin] = {}
        while (word := words.need("JOINT or }")).text != "}":
            words.expect(word, "JOINT", "}")
            joint = _joint(words, word.origin)
            if joint.name in names:
                raise FormatError(
                    f"joint {joint.name!r} is defined twice, first at {names[joint.name]}.",
                    origin=joint.origin,
                )
            names[joint.name] = joint.origin
            robot.joints.append(joint)
        if not robot.joints:
            raise FormatError(f"robot {robot.number!r} has no joints.", origin=robot.origin)
        robots[number.text] = robot
    if not robots:
        raise FormatError(
            "the file names no robot.", origin=Origin(str(path)),
            hint="It begins with ROBOT = 1 { JOINT name { AXIS = … TYPE = 1 QMIN = … QMAX = … } }.",
        )  # fmt: skip
    return list(robots.values())


def _joint(words: _Words, origin: Origin) -> JointText:
    name = words.plain(words.need("the joint's name"), "a joint's name")
    words.expect(words.need("{"), "{")
    given: dict[str, _Word] = {}
    while (key := words.need("AXIS, TYPE, QMIN, QMAX or }")).text != "}":
        which = key.text.upper()
        if which not in _KEYS:
            raise FormatError(
                f"joint {name!r}: {key.text[:60]!r} is not known here.", origin=key.origin,
                hint=suggestion(which, _KEYS, kind="words"),
            )  # fmt: skip
        if which in given:
            raise FormatError(f"joint {name!r}: {which} is given twice.", origin=key.origin)
        words.expect(words.need("="), "=")
        given[which] = words.need(f"the value of {which}")
    for which in ("AXIS", "TYPE"):
        if which not in given:
            raise FormatError(f"joint {name!r} needs {which} = ….", origin=origin)
    kind = given["TYPE"]
    if kind.text not in ("1", "2"):
        raise FormatError(
            f"joint {name!r}: TYPE = {kind.text[:60]} is not known.", origin=kind.origin,
            hint="1 is revolute, 2 is prismatic.",
        )  # fmt: skip
    ends = [_number(given[which], name, which) for which in ("QMIN", "QMAX") if which in given]
    if len(ends) == 1:
        missing = "QMAX" if "QMIN" in given else "QMIN"
        raise FormatError(f"joint {name!r} needs {missing} too, or none of both.", origin=origin)
    stroke = (min(ends), max(ends)) if ends else None
    axis = words.plain(given["AXIS"], "an axis' name")
    swapped = bool(ends) and ends[0] > ends[1]
    return JointText(name, axis, kind.text == "2", stroke, swapped, origin)


def _number(word: _Word, joint: str, key: str) -> float:
    try:
        value = float(word.text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1e6:
        raise FormatError(
            f"joint {joint!r}: {key} = {word.text[:60]} is not a number of degrees or metres.",
            origin=word.origin,
        )
    return value


class _Words:
    """The words of a file, one after the other."""

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        self._words = self._split(self._text(path))
        self._last = Origin(self.file, 1)

    def _text(self, path: Path) -> str:
        try:
            if path.stat().st_size > LARGEST:
                raise FormatError("the file is too large for a robot.", origin=Origin(self.file))
            return path.read_bytes().decode("latin-1")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FormatError(
                f"the file cannot be read: {why}.", origin=Origin(self.file)
            ) from error

    def _split(self, text: str) -> Iterator[_Word]:
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
            for found in _WORD.finditer(line.partition("#")[0]):
                yield _Word(found[0].strip('"'), Origin(self.file, number))

    def take(self) -> _Word | None:
        """The next word, or None at the end."""
        word = next(self._words, None)
        if word is not None:
            self._last = word.origin
        return word

    def need(self, what: str) -> _Word:
        """The next word, which must be there."""
        word = self.take()
        if word is None:
            raise FormatError(f"the file ends where {what} is expected.", origin=self._last)
        return word

    def expect(self, word: _Word, *texts: str) -> None:
        """Refuses another word than one of those."""
        if word.text.upper() not in texts:
            raise FormatError(
                f"{word.text[:60]!r} stands where {' or '.join(texts)} is expected.",
                origin=word.origin,
            )

    def plain(self, word: _Word, what: str) -> str:
        """A name, which is none of the signs of the grammar."""
        if word.text in ("{", "}", "=", ""):
            raise FormatError(f"{word.text!r} stands where {what} is expected.", origin=word.origin)
        return word.text
