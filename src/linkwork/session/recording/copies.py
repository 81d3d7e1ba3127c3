"""Copies of records, at the end of a recording, that it cannot be read without.

The descriptions of the worlds and small files (the scene, its programs) are few bytes, but nothing
can be read without them. So they are repeated in one record of type ``COPIES`` before the end of
the data, which is checked as any other and which readers of MCAP skip. Where the first one is
damaged, its copy is used. A recording that was not closed has no copies.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from linkwork.session.recording.checksums import ATTACHED, CHECK_SIZE, fields_at
from linkwork.session.recording.mcap_format import LARGEST, PREFIX, Data, record

#: Record types for applications: copies of records, and what a repaired recording lacks.
COPIES = 0x83
MISSING = 0x84

_MARK = b"linkwork copies\0"
_KEY = struct.Struct("<HI")
#: Largest file that is repeated, and most bytes of files [byte].
_LARGEST_FILE, _MAX_FILES = 2**16, 2**20


class CopiedRecord(NamedTuple):
    """A copy of a record.

    Attributes:
        position: Where it starts [byte].
        start, end: Where its content starts and ends [byte].
    """

    position: int
    start: int
    end: int


#: Copies by channel and number of the world, or by ``ATTACHED`` and number of the file.
Copies = dict[tuple[int, int], CopiedRecord]


class CopyCollector:
    """Collects the records to be repeated while a recording is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._files = self._file_bytes = 0

    def add_file(self, data: bytes) -> None:
        """Notes the record of the next attached file."""
        number, self._files = self._files, self._files + 1
        if len(data) <= _LARGEST_FILE and self._file_bytes + len(data) <= _MAX_FILES:
            self._file_bytes += len(data)
            self._add(ATTACHED, number, data)

    def add_opener(self, channel: int, number: int, data: bytes) -> None:
        """Notes the message that opens a world."""
        self._add(channel, number, data)

    def _add(self, channel: int, number: int, data: bytes) -> None:
        self._parts += [_KEY.pack(channel, number & 0xFFFF), data]

    def record(self) -> bytes:
        """The record with all copies."""
        return record(COPIES, _MARK + b"".join(self._parts))


def find_copies(data: Data) -> Copies:
    """Finds the copies in a recording; none if there are none, or they are damaged.

    The first ones count: behind the end of the recording another one may follow.
    """
    place = data.find(_MARK)
    while place >= 0:
        if end := _checked_end(data, place - PREFIX.size):
            return _read(data, place, end)
        place = data.find(_MARK, place + 1)
    return {}


def _checked_end(data: Data, start: int) -> int:
    """Where a record with copies ends, if it is intact; else 0."""
    fields = fields_at(data, start - CHECK_SIZE) if start >= CHECK_SIZE else None
    if fields is None or data[start] != COPIES:
        return 0
    end = start + fields.length
    return end if end <= len(data) and zlib.crc32(data[start:end]) == fields.crc else 0


def _read(data: Data, place: int, end: int) -> Copies:
    found: Copies = {}
    at = place + len(_MARK)
    while at + _KEY.size + PREFIX.size <= end:
        key = _KEY.unpack_from(data, at)
        position = at + _KEY.size
        _, length = PREFIX.unpack_from(data, position)
        at = position + PREFIX.size + min(length, LARGEST)
        if at > end:
            break
        found.setdefault(key, CopiedRecord(position, position + PREFIX.size, at))
    return found
