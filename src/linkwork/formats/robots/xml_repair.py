"""Repair of XML faults that the parsers of Gazebo, Drake and Bullet (tinyxml2) accept.

The text is changed, never its line breaks, so that lines in messages stay those of the file.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

_SPACE = " \t\r\n"
_VALUE = r"\"[^\"]*\"|'[^']*'"
_KEY = r"[^ \t\r\n=/<>\"']++"
#: One piece of a file. An unclosed comment or declaration extends to the end of the file.
_PIECE = re.compile(
    rf"""(?P<comment><!--(?:.*?-->|.*))
    |(?P<data><!\[CDATA\[(?:.*?\]\]>|.*))
    |(?P<declaration><\?xml\b[^>]*\?>)
    |(?P<unknown><!(?![\[A-Za-z])[^>]*>)
    |(?P<other><[!?][^>]*>?)
    |(?P<end></[^>]*>?)
    |(?P<start><[{_SPACE}]*+(?P<name>[^\W\d]{_KEY.replace("++", "*+")})
       (?P<keys>(?:[{_SPACE}]*{_KEY}[{_SPACE}]*=[{_SPACE}]*(?:{_VALUE}))*)[{_SPACE}]*(?P<close>/?)>)
    |(?P<text>[^<]+|<)""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"([{_SPACE}]*)({_KEY})([{_SPACE}]*=[{_SPACE}]*)({_VALUE})")
#: An "&" that begins no reference to a character, as far as its form tells.
_AMPERSAND = re.compile(r"&(?!(?:#\d{1,7}|#x[\dA-Fa-f]{1,6}|amp|lt|gt|quot|apos);)", re.ASCII)
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LINE_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class XmlFault:
    """A fault that was repaired.

    Attributes:
        line: 1-based line.
        text: What was found, and how it is read.
    """

    line: int
    text: str


class XmlRepair:
    """Repairs the text of a file, piece by piece: comments, tags and the text between them.

    Args:
        data: The file, in an encoding that extends ASCII.

    Attributes:
        faults: What was repaired.
    """

    def __init__(self, data: bytes) -> None:
        self.faults: list[XmlFault] = []
        self._depth, self._ended = 0, False
        wrong = -1
        try:
            self._text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._text, wrong = data.decode("latin-1"), error.start
        self._breaks = [found.end() for found in _LINE_BREAK.finditer(self._text)]
        if wrong >= 0:
            self._fault(wrong, "bytes that are not UTF-8, read as Latin-1")

    def run(self) -> bytes:
        """Returns the repaired file in UTF-8; faults of other kinds stay in it."""
        made = []
        for piece in _PIECE.finditer(self._text):
            if self._ended and piece["comment"] is None and piece[0].strip(_SPACE):
                self._fault(piece.start(), "text after the end of the outermost element, not read")
                break
            made.append(self._repaired(piece))
        return "".join(made).encode("utf-8")

    def _repaired(self, piece: re.Match[str]) -> str:
        if piece["comment"] is not None:
            return self._comment(piece)
        if piece["declaration"] is not None:
            return self._declaration(piece)
        if piece["start"] is not None:
            return self._start(piece)
        if piece["text"] is not None:
            return self._between(piece)
        if piece["unknown"] is not None:
            self._fault(piece.start(), 'a "<!" that begins no comment, skipped')
            return _blank(piece[0])
        if piece["end"] is not None:
            self._depth -= 1
            self._ended = self._depth == 0
        return piece[0]

    def _fault(self, place: int, found: str) -> None:
        self.faults.append(XmlFault(bisect.bisect_right(self._breaks, place) + 1, found))

    def _comment(self, piece: re.Match[str]) -> str:
        inner = piece[0][4:-3]
        if not piece[0].endswith("-->"):
            return piece[0]
        if (wrong := f"{inner}-".find("--")) >= 0:
            self._fault(piece.start() + 4 + wrong, '"--" inside a comment, skipped')
            inner = inner.replace("-", " ")
        return f"<!--{_NO_TEXT.sub(' ', inner)}-->"

    def _declaration(self, piece: re.Match[str]) -> str:
        if piece.start() > 0:
            self._fault(piece.start(), "an XML declaration after the start of the file, skipped")
        return _blank(piece[0])  # the text is in UTF-8, the default

    def _start(self, piece: re.Match[str]) -> str:
        """Writes a start tag with one value per attribute and spaces between them."""
        space = piece[0][1 : piece.start("name") - piece.start()]
        if space:
            self._fault(piece.start(), 'a space after "<", skipped')
        made, seen = [f"<{piece['name']}{space}"], set[str]()
        for found in _ATTRIBUTE.finditer(self._text, *piece.span("keys")):
            before, key, equals, value = found.groups()
            if key in seen:
                self._fault(found.start(2), f"the attribute {key!r} twice, the first one counts")
                made.append(_blank(found[0]))
                continue
            seen.add(key)
            if not before:
                self._fault(found.start(2), f"no space before the attribute {key!r}")
            made.append(f"{before or ' '}{key}{equals}{self._plain(value, found.start(4))}")
        made.append(piece[0][piece.end("keys") - piece.start() :])
        self._depth += not piece["close"]
        self._ended = self._depth == 0
        return "".join(made)

    def _between(self, piece: re.Match[str]) -> str:
        text = piece[0]
        if text == "<" or not text.strip(_SPACE):
            return text
        if self._depth > 0:
            return self._plain(text, piece.start())
        start = piece.start() + len(text) - len(text.lstrip(_SPACE))
        self._fault(start, "text before the outermost element, skipped")
        return _blank(text)

    def _plain(self, text: str, start: int) -> str:
        """Returns text, or a value in quotes, with the characters escaped that XML refuses."""
        made = text
        for wrong, found, right in _ESCAPES:
            if match := wrong.search(text):
                self._fault(start + match.start(), found)
                made = wrong.sub(right, made)
        return made


_ESCAPES = (
    (_NO_TEXT, "control characters, skipped", " "),
    (_AMPERSAND, 'a lone "&", read as that character', "&amp;"),
    (re.compile("<"), 'a "<" in an attribute, read as that character', "&lt;"),
    (re.compile("]]>"), 'a "]]>", read as these characters', "]]&gt;"),
)


def _blank(text: str) -> str:
    """Returns spaces and line breaks in place of ``text``."""
    return re.sub(r"[^\n\r]", " ", text)
