"""Reads the records of an MCAP file one after the other, trusting no length in it."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from linkwork.errors import Origin, RecordingError
from linkwork.session.recording import container

_PREFIX = container.PREFIX.unpack_from
_PREFIX_SIZE = container.PREFIX.size
_OPCODES = frozenset(range(0x01, 0x10))

#: A file in memory, or mapped to it.
Data = mmap.mmap | bytes


class Damage(Exception):
    """What is wrong with the bytes at one place. Reading ends there."""


def map_file(path: Path) -> mmap.mmap:
    """Maps a file for reading.

    Raises:
        RecordingError: There is no such file, it is empty, or it cannot be read.
    """
    origin = Origin(str(path))
    try:
        if path.exists() and not path.is_file():
            raise RecordingError("this is not a file.", origin=origin)
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise RecordingError("this file is empty, not a recording.", origin=origin)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingError(f"the file cannot be read: {reason}.", origin=origin) from None


def check_magic(data: Data) -> None:
    """Refuses a file that does not start as an MCAP file does.

    Raises:
        RecordingError: It shows how the file starts.
    """
    start = bytes(data[: len(container.MAGIC)])
    if start != container.MAGIC:
        raise RecordingError(
            f"this is not a recording: it starts with {start!r}, "
            f"where an MCAP file has {container.MAGIC!r}."
        )


def records(data: Data, position: int) -> Iterator[tuple[int, int, int, int]]:
    """Records from one place on.

    Yields:
        Opcode, where the record starts, where its content starts and ends [byte].

    Raises:
        Damage: The file ends, or what follows is no whole record.
    """
    size = len(data)
    while True:
        start = position + _PREFIX_SIZE
        if start > size:
            raise Damage("the file is cut off")
        opcode, length = _PREFIX(data, position)
        if opcode not in _OPCODES:
            raise Damage("there is no record")
        if length > size - start:
            raise Damage("the file is cut off in the middle of a record")
        if length > container.LARGEST:
            raise Damage(f"a record claims to have {length} bytes")
        yield opcode, position, start, start + length
        position = start + length


class Cursor:
    """Reads numbers and texts out of the content of a record.

    Args:
        data: The file.
        place: Where the content starts [byte].
        end: Where it ends.
    """

    def __init__(self, data: Data, place: int, end: int) -> None:
        self._data = data
        self._end = end
        self.place = place

    def number(self, form: str) -> int:
        """The next number."""
        start = self.place
        self.place += struct.calcsize(form)
        if self.place > self._end:
            raise Damage("a record is too short")
        return struct.unpack_from(form, self._data, start)[0]

    def text(self) -> str:
        """The next text."""
        length = self.number("<I")
        start = self.place
        self.place += length
        if self.place > self._end:
            raise Damage("a text in a record is longer than the record")
        try:
            return bytes(self._data[start : self.place]).decode()
        except UnicodeDecodeError:
            raise Damage("a text in a record is not UTF-8") from None


def read_profile(data: Data, start: int, end: int) -> str:
    """Profile that a header record names."""
    return Cursor(data, start, end).text()


def read_channel(data: Data, start: int, end: int) -> tuple[int, str]:
    """Number and topic of a channel."""
    cursor = Cursor(data, start, end)
    number = cursor.number("<H")
    cursor.number("<H")
    return number, cursor.text()


def read_attachment(data: Data, position: int, start: int, end: int) -> container.Attachment:
    """Where an attached file stands."""
    cursor = Cursor(data, start, end)
    time, created = cursor.number("<Q"), cursor.number("<Q")
    name = cursor.text()
    cursor.text()
    size = cursor.number("<Q")
    if size + 4 != end - cursor.place:
        raise Damage(f"the file {name[:100]!r} does not fill its record")
    return container.Attachment(
        name=name,
        offset=position,
        length=end - position,
        start=cursor.place,
        size=size,
        time=time,
        created=created,
    )
