"""TomlIndex: positions of the tables, keys and values of a TOML text.

Neither ``tomllib`` nor ``tomlkit`` reports positions. The scanner does not validate: run
``tomllib`` on the same text for that.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from linkwork.core.errors import FormatError, Origin

#: A path in a document: keys, and numbers for the items of arrays.
KeyPath = tuple[str | int, ...]

#: Maximum depth of tables and arrays.
MAX_DEPTH = 32

#: Items of longer arrays are not indexed; they have the array's line.
_MAX_ARRAY = 1000

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_TO_LINE_END = re.compile(r"[^\n]*\n?")
_BARE = re.compile(r"[^\s=.,\]\[{}#\"']+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_LITERAL = re.compile(r"'[^'\n]*'?")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*(?:"{3,5})?')
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*(?:'{3,5})?")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_TEXT_OR_COMMENT = re.compile(
    "|".join(each.pattern for each in (_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL)) + "|#"
)


def has_comments(text: str) -> bool:
    """Whether a TOML text has comments."""
    return any(found[0] == "#" for found in _TEXT_OR_COMMENT.finditer(text))


@dataclass(frozen=True, slots=True)
class TomlEntry:
    """A key with its value.

    Attributes:
        line: 1-based line of the key, or of an array's item.
        key: Start and end of the key in the text; empty for the items of arrays.
        value: Start and end of the value; empty for tables of dotted keys or headers.
        start: Start of the line of the key.
        nested: Whether it is inside an inline table or array.
    """

    line: int
    key: tuple[int, int]
    value: tuple[int, int]
    start: int
    nested: bool


@dataclass(slots=True)
class TomlTable:
    """A header such as ``[[joint]]`` with the lines that belong to it.

    Attributes:
        path: The table it opens; empty for the lines above the first header.
        line: 1-based line of the header.
        start: Start of the header's line.
        body: Start of the line after the header.
        end: End of the last line that holds a key or value, its line break included.
        array: Whether it is an item of an array of tables.
    """

    path: KeyPath
    line: int
    start: int
    body: int
    end: int
    array: bool


@dataclass
class TomlIndex:
    """Positions in a TOML text.

    Attributes:
        blocks: The headers, in order; the first one is the root.
        entries: All keys and tables, by path.
    """

    blocks: list[TomlTable] = field(default_factory=list)
    entries: dict[KeyPath, TomlEntry] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Returns the 1-based line of ``path``, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if entry := self.entries.get(path[:length]):
                return entry.line
        return 1

    @classmethod
    def of(cls, text: str) -> TomlIndex:
        """Scans a text; of invalid TOML the valid beginning.

        Raises:
            FormatError: If tables or arrays nest deeper than ``MAX_DEPTH``.
        """
        return _Scanner(text).scan()


@dataclass(slots=True)
class _Frame:
    """An inline table or array that is being read."""

    path: KeyPath
    opened: int
    entry: KeyPath
    is_table: bool
    count: int = 0


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.index = TomlIndex()
        self.arrays: dict[KeyPath, int] = {}
        self._frames: list[_Frame] = []
        self._lines_to = 0
        self._line = 1

    def scan(self) -> TomlIndex:
        self.index.blocks.append(TomlTable((), 1, self.at, self.at, self.at, False))
        while self._skip(_SPACE) < len(self.text):
            start = self.at
            if self.text[start] == "[":
                self._header()
            else:
                self._pair()
            if self.at == start:
                self._skip(_TO_LINE_END)
        return self.index

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _line_at(self, offset: int) -> int:
        if offset < self._lines_to:
            return self._line - self.text.count("\n", offset, self._lines_to)
        self._line += self.text.count("\n", self._lines_to, offset)
        self._lines_to = offset
        return self._line

    def _too_deep(self, at: int) -> FormatError:
        return FormatError(
            f"tables and arrays nest deeper than {MAX_DEPTH}.", origin=Origin("", self._line_at(at))
        )

    def _keys(self) -> list[tuple[str, int, int]]:
        """Returns the parts of a dotted key, each with its start and end."""
        parts = []
        while True:
            self._skip(_BLANK)
            start = self.at
            pattern = {'"': _BASIC, "'": _LITERAL}.get(self._peek(), _BARE)
            if self._skip(pattern) == start:
                return parts
            parts.append((_plain_key(self.text[start : self.at]), start, self.at))
            if len(parts) > MAX_DEPTH:
                raise self._too_deep(start)
            self._skip(_BLANK)
            if self._peek() != ".":
                return parts
            self.at += 1

    def _header(self) -> None:
        start = self.at
        array = self.text.startswith("[[", start)
        self.at += 2 if array else 1
        keys = self._keys()
        line = self._line_at(start)
        path: KeyPath = ()
        for number, (key, *span) in enumerate(keys):
            path = (*path, key)
            entry = TomlEntry(line, (span[0], span[1]), (0, 0), start, False)
            if array and number == len(keys) - 1:
                self.arrays[path] = self.arrays.get(path, 0) + 1
            self.index.entries.setdefault(path, entry)
            if path in self.arrays:
                path = (*path, self.arrays[path] - 1)
                self.index.entries.setdefault(path, entry)
        self._skip(_TO_LINE_END)
        line_start = self.text.rfind("\n", 0, start) + 1
        self.index.blocks.append(TomlTable(path, line, line_start, self.at, self.at, array))

    def _pair(self) -> None:
        """Reads a key and its value on their own line."""
        block = self.index.blocks[-1]
        self._frames.clear()
        self._value_of(block.path, nested=False)
        while self._frames:
            self._inside()
        self._skip(_TO_LINE_END)
        block.end = self.at

    def _value_of(self, path: KeyPath, *, nested: bool) -> None:
        """Reads a dotted key and its value; an inline table or array is opened, not read."""
        keys = self._keys()
        if not keys:
            return
        start = keys[0][1]
        line = self._line_at(start)
        for key, *span in keys:
            path = (*path, key)
            entry = TomlEntry(line, (span[0], span[1]), (0, 0), start, nested)
            self.index.entries.setdefault(path, entry)
        self._skip(_BLANK)
        if self._peek() == "=":
            self.at += 1
            self._skip(_BLANK)
            self._value(path)

    def _value(self, path: KeyPath) -> None:
        start = self.at
        first = self._peek()
        if first and first in "[{":
            self._frames.append(_Frame(path, start, path, first == "{"))
            if len(self._frames) + len(path) > 2 * MAX_DEPTH or len(self._frames) > MAX_DEPTH:
                raise self._too_deep(start)
            self.at += 1
            return
        if first and first in "\"'":
            long, short = (_LONG_BASIC, _BASIC) if first == '"' else (_LONG_LITERAL, _LITERAL)
            self._skip(long if self.text.startswith(first * 3, start) else short)
        else:
            self._skip(_SCALAR)
            self.at = start + len(self.text[start : self.at].rstrip())
        self._close(path, start)

    def _close(self, path: KeyPath, start: int) -> None:
        if entry := self.index.entries.get(path):
            ended = TomlEntry(entry.line, entry.key, (start, self.at), entry.start, entry.nested)
            self.index.entries[path] = ended

    def _inside(self) -> None:
        """Reads the next token of the innermost open inline table or array."""
        frame = self._frames[-1]
        before = self._skip(_SPACE)
        first = self._peek()
        if not first:
            self._frames.clear()
        elif first in "]}":
            self.at += 1
            self._frames.pop()
            self._close(frame.entry, frame.opened)
        elif first == ",":
            self.at += 1
        elif frame.is_table:
            self._value_of(frame.path, nested=True)
        else:
            self._item(frame, first)
        if self.at == before and self._frames:
            self.at += 1

    def _item(self, frame: _Frame, first: str) -> None:
        path = (*frame.path, frame.count)
        frame.count += 1
        if first in "[{\"'" or frame.count <= _MAX_ARRAY:
            line = self._line_at(self.at)
            entry = TomlEntry(line, (self.at, self.at), (0, 0), self.at, True)
            self.index.entries.setdefault(path, entry)
        self._value(path)


def _plain_key(raw: str) -> str:
    if raw[0] == '"' and "\\" in raw:
        try:
            return tomllib.loads(f"key = {raw}")["key"]
        except ValueError:
            return raw
    return raw[1:-1] if raw[0] in "\"'" else raw
