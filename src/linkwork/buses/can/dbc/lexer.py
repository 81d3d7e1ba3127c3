"""DBC text as a row of tokens that know their line."""

from __future__ import annotations

import re
from typing import NamedTuple

from linkwork.buses.can.dbc.model import DbcError, Number
from linkwork.errors import Origin

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f\v\ufeff]+|//[^\n]*)
    |(?P<string>"(?:\\.|[^"\\])*")
    |(?P<number>(?>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![A-Za-z_]))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>[:;|@+\-(),\[\]])""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A word of the file; the last one is of kind ``end``."""

    kind: str
    text: str
    line: int


class Cursor:
    """Goes through the tokens of a file.

    Args:
        text: The file's text.
        file: Its name, for error messages.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._tokens = self._split(text)
        self._at = 0

    def _split(self, text: str) -> list[Token]:
        tokens, place, line = [], 0, 1
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise self.wrong(_complaint(text, place), line)
            kind = found.lastgroup or ""
            if kind != "space":
                tokens.append(Token(kind, found.group(), line))
            line += found.group().count("\n")
            place = found.end()
        tokens.append(Token("end", "the end of the file", line))
        return tokens

    def wrong(self, message: str, line: int | None = None, hint: str = "") -> DbcError:
        """An error at a line; at the next token's where none is given."""
        origin = Origin(self.file, self.peek().line if line is None else line)
        return DbcError(message, origin=origin, hint=hint)

    def peek(self, ahead: int = 0) -> Token:
        """The next token, which stays."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def next(self) -> Token:
        """The next token, which is gone then."""
        token = self.peek()
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def take(self, kind: str, what: str) -> str:
        """The text of the next token, which must be of a kind."""
        token = self.peek()
        if token.kind != kind:
            raise self.wrong(f"{what} expected, found {token.text!r}.")
        return self.next().text

    def mark(self, text: str) -> None:
        """Goes over a punctuation mark, which must be there."""
        token = self.peek()
        if token.kind != "mark" or token.text != text:
            raise self.wrong(f"{text!r} expected, found {token.text!r}.")
        self.next()

    def skip(self, text: str) -> bool:
        """Goes over a mark or name if it is there."""
        token = self.peek()
        if token.kind in ("mark", "name") and token.text == text:
            self.next()
            return True
        return False

    def name(self, what: str = "a name") -> str:
        """The next token, which must be a name."""
        return self.take("name", what)

    def string(self, what: str = "a text in quotes") -> str:
        """The next token, a text in quotes."""
        return self.take("string", what)[1:-1].replace('\\"', '"')

    def number(self, what: str = "a number") -> Number:
        """The next token, a number; whole where it has no fraction."""
        text = self.take("number", what)
        if re.fullmatch(r"[-+]?[0-9]+", text):
            return int(text)
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise self.wrong(f"the number {text} is too large.")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    def whole(self, what: str = "a whole number") -> int:
        """The next token, a whole number."""
        line = self.peek().line
        value = self.number(what)
        if not isinstance(value, int):
            raise self.wrong(f"{what} expected, found {value!r}.", line)
        return value


def _complaint(text: str, place: int) -> str:
    if text[place] == '"':
        return "a text in quotes begins here and does not end."
    word = re.match(r"\S{1,20}", text[place:])
    return f"{word.group() if word else text[place]!r} cannot be read."
