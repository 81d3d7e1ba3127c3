"""Grammar of the robot text (RoboTiX thesis §3.3).

``ROBOT = n { JOINT name { AXIS = … TYPE = … QMIN = … QMAX = … } … }``.

White space separates tokens, ``#`` begins a comment. Keywords are case-insensitive.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import FormatError, Origin, os_error_text, suggestion
from linkwork.core.mistakes import ascii_float

#: Maximum size of a file [bytes].
MAX_BYTES = 4 * 2**20

_WORD = re.compile(r"[{}=]|\"[^\"\n]*\"|[^\s{}=#\"]+")
_KEYS = ("AXIS", "TYPE", "QMIN", "QMAX")


@dataclass(frozen=True)
class JointText:
    """The definition of a joint.

    Attributes:
        name: Its name in the scene graph.
        axis: Name of its axis there.
        slides: Whether it is prismatic.
        stroke: Lowest and highest value [deg or m], or None.
        swapped: Whether QMIN was greater than QMAX.
        origin: Where it is defined.
    """

    name: str
    axis: str
    slides: bool
    stroke: tuple[float, float] | None
    swapped: bool
    origin: Origin


@dataclass(frozen=True)
class RobotText:
    """The definition of a robot: its number and its joints, in the order of the links."""

    number: str
    origin: Origin
    joints: list[JointText] = field(default_factory=list)


@dataclass(frozen=True)
class _Token:
    text: str
    origin: Origin


def parse(path: Path) -> list[RobotText]:
    """Returns the robots of a file.

    Raises:
        FormatError: Naming the line, what was found and what is expected there.
    """
    words = _Tokenizer(path)
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


def _joint(words: _Tokenizer, origin: Origin) -> JointText:
    name = words.plain(words.need("the joint's name"), "a joint's name")
    words.expect(words.need("{"), "{")
    given: dict[str, _Token] = {}
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


def _number(word: _Token, joint: str, key: str) -> float:
    try:
        value = ascii_float(word.text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1e6:
        raise FormatError(
            f"joint {joint!r}: {key} = {word.text[:60]} is not a number of degrees or meters.",
            origin=word.origin,
        )
    return value


class _Tokenizer:
    """The tokens of a file."""

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        self._words = self._split(self._text(path))
        self._last = Origin(self.file, 1)

    def _text(self, path: Path) -> str:
        try:
            if path.stat().st_size > MAX_BYTES:
                raise FormatError("the file is too large for a robot.", origin=Origin(self.file))
            return path.read_bytes().decode("latin-1")
        except (OSError, ValueError) as error:
            why = os_error_text(error)
            raise FormatError(
                f"the file cannot be read: {why}.", origin=Origin(self.file)
            ) from error

    def _split(self, text: str) -> Iterator[_Token]:
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
            for found in _WORD.finditer(line.partition("#")[0]):
                yield _Token(found[0].strip('"'), Origin(self.file, number))

    def take(self) -> _Token | None:
        """Returns the next token, or None at the end."""
        word = next(self._words, None)
        if word is not None:
            self._last = word.origin
        return word

    def need(self, what: str) -> _Token:
        """Returns the next token, which is required."""
        word = self.take()
        if word is None:
            raise FormatError(f"the file ends where {what} is expected.", origin=self._last)
        return word

    def expect(self, word: _Token, *texts: str) -> None:
        """Checks that a token is one of ``texts``."""
        if word.text.upper() not in texts:
            raise FormatError(
                f"{word.text[:60]!r} found where {' or '.join(texts)} is expected.",
                origin=word.origin,
            )

    def plain(self, word: _Token, what: str) -> str:
        """Returns a name, which is not a punctuation mark of the grammar."""
        if word.text in ("{", "}", "=", ""):
            raise FormatError(f"{word.text!r} found where {what} is expected.", origin=word.origin)
        return word.text
