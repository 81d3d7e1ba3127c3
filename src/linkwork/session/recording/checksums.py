"""Checksum records of a recording: one before each record of the container.

MCAP has a checksum of the whole file, but none of a message. Readers of MCAP skip record types
that they do not know, so each record is preceded by one of type ``CHECK``, which holds its CRC-32,
its length and its position in the order of records. A damaged record is then found, located and
skipped, whatever its own bytes claim; a missing or repeated one is noticed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from linkwork.session.recording.journal import Journal
from linkwork.session.recording.mcap_format import (
    ATTACHMENT,
    DATA_END,
    FOOTER,
    LARGEST,
    MAGIC,
    MESSAGE,
    PREFIX,
    Data,
)

#: Record types for applications start at 0x80.
CHECK = 0x81
#: Follows the header record: CRC-32 of the bytes before it, and of itself.
START_CHECK = 0x82

#: In the place of a channel: the record holds an attached file.
ATTACHED = 0xFFFF

_FIELDS = struct.Struct("<BQIIIHH")
_CHECK_LENGTH = _FIELDS.size - PREFIX.size + 4
#: Length of a checksum record [byte].
CHECK_SIZE = PREFIX.size + _CHECK_LENGTH
_START_FIELDS = struct.Struct("<BQI")
_START_SIZE = _START_FIELDS.size + 4
_MARK = PREFIX.pack(CHECK, _CHECK_LENGTH)
_START_MARK = PREFIX.pack(START_CHECK, _START_SIZE - PREFIX.size)
#: Bits of the first bytes that may differ in a damaged recording.
_MAX_CHANGED_BITS = 8
#: How far to search for the next checksum record after damage [byte].
_SEARCH = 2**28
#: Length of the records that frame the summary [byte].
_DATA_END_SIZE = PREFIX.size + 4
_FOOTER_SIZE = PREFIX.size + 20


class CheckFields(NamedTuple):
    """Fields of a checksum record.

    Attributes:
        crc: CRC-32 of the next record, with its type and length.
        length: Length of that record [byte].
        ordinal: Its number among the checked records, from 0.
        channel: Its channel if it is a message, ``ATTACHED`` if it is a file, else 0.
        segment: Number of the world that it belongs to, or number of the file.
    """

    crc: int
    length: int
    ordinal: int
    channel: int
    segment: int


def start_check(before: bytes) -> bytes:
    """The checksum record for the bytes before the first checked record."""
    fields = _START_MARK + struct.pack("<I", zlib.crc32(before))
    return fields + struct.pack("<I", zlib.crc32(fields))


def check_record(fields: CheckFields) -> bytes:
    """A checksum record."""
    packed = _MARK + struct.pack("<IIIHH", *fields)
    return packed + struct.pack("<I", zlib.crc32(packed))


class CheckedAppender:
    """Appends records to a journal, each with its checksum record.

    Args:
        journal: The recording's file.

    Attributes:
        segment: Number of the world to which further records belong.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._ordinal = 0
        self._files = 0
        self.segment = 0

    def append(self, head: bytes, payload: bytes = b"", *, channel: int = 0) -> int:
        """Appends one record.

        Args:
            head: Its first bytes.
            payload: The rest.
            channel: Its channel if it is a message, ``ATTACHED`` if it is a file.

        Returns:
            Offset of the record [byte].
        """
        crc = zlib.crc32(payload, zlib.crc32(head))
        number = self.segment
        if channel == ATTACHED:
            number = self._files
            self._files += 1
        fields = CheckFields(crc, len(head) + len(payload), self._ordinal, channel, number & 0xFFFF)
        self._ordinal += 1
        offset = self._journal.position + CHECK_SIZE
        self._journal.append(check_record(fields) + head, payload)
        return offset


class CheckedRecord(NamedTuple):
    """A record whose checksum agrees.

    Attributes:
        opcode: Its type.
        position: Where it starts [byte].
        start, end: Where its content starts and ends [byte].
        segment: Number of its world, or of the attached file.
        channel: Its channel if it is a message, ``ATTACHED`` if it is a file, else 0.
    """

    opcode: int
    position: int
    start: int
    end: int
    segment: int
    channel: int


@dataclass(slots=True)
class DamagedRange:
    """Damaged bytes of a recording.

    Attributes:
        start, end: The bytes.
        records: Records that are lost with them; −1 if their number is not known.
        channel: Channel of the lost message, if it is known and the only one, else 0.
        text: What is wrong, if the bytes themselves are intact.
        number: Number of its world, or of the attached file; −1 if it is not known.
    """

    start: int
    end: int
    records: int
    channel: int = 0
    text: str = ""
    number: int = -1


def starts_as_recording(data: Data) -> bool:
    """Whether a file starts as a recording does, though perhaps its first bytes are damaged."""
    start = bytes(data[: len(MAGIC)])
    if start == MAGIC:
        return True
    changed = sum((a ^ b).bit_count() for a, b in zip(start, MAGIC, strict=False))
    return (changed <= _MAX_CHANGED_BITS or not any(start)) and is_checked(data)


def is_checked(data: Data) -> bool:
    """Whether the file has checksum records, even if its first ones are damaged."""
    window = bytes(data[: 2**16])
    place = window.find(_MARK)
    while place >= 0:
        if fields_at(data, place) is not None:
            return True
        place = window.find(_MARK, place + 1)
    return _START_MARK in window


def fields_at(data: Data, place: int) -> CheckFields | None:
    """The fields of an intact checksum record at a position."""
    record = bytes(data[place : place + CHECK_SIZE])
    if len(record) < CHECK_SIZE or not record.startswith(_MARK):
        return None
    if zlib.crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
        return None
    return CheckFields(*_FIELDS.unpack_from(record)[2:])


class CheckedScan:
    """Reads the records of a checked recording and passes over damage.

    Args:
        data: The file.
        position: Where the records start, after the magic bytes.
        opener: Channel whose messages open a further world.

    Attributes:
        damage: Damaged ranges, in order.
        cut: Whether the file ends without an end of the data.
        stop: Where reading ended [byte].
    """

    def __init__(self, data: Data, position: int, *, opener: int) -> None:
        self._data = data
        self._size = len(data)
        self._position = position
        self._opener = opener
        self._ordinal = 0
        self._segment = 0
        self._files = 0
        self.damage: list[DamagedRange] = []
        self.cut = False
        self.stop = position

    def records(self) -> Iterator[CheckedRecord]:
        """Intact records, the last of them the end of the data if there is one."""
        yield from self._start()
        while True:
            place = self.stop = self._position
            fields = fields_at(self._data, place)
            if fields is not None:
                if place + CHECK_SIZE + fields.length > self._size:
                    self.cut = True
                    return
                yield from self._checked(place, fields)
            elif self._is_data_end(place):
                yield self._record(place, place + _DATA_END_SIZE)
                return
            elif self._ends_at(place):
                self.cut = True
                return
            elif (found := self._behind_damaged_check(place)) is not None:
                yield found
            elif not self._search(place):
                return

    def _start(self) -> Iterator[CheckedRecord]:
        """The header record and its checksum."""
        data, place = self._data, self._position
        mark = data.find(_START_MARK, place, place + 2**12)
        record = bytes(data[mark : mark + _START_SIZE]) if mark >= 0 else b""
        if len(record) < _START_SIZE:
            self._search(place)
            return
        crc, own = struct.unpack_from("<II", record, PREFIX.size)
        sound = crc == zlib.crc32(data[:mark]) and own == zlib.crc32(record[:-4])
        self._position = mark + _START_SIZE
        if not sound:
            self.damage.append(DamagedRange(0, self._position, 0))
        opcode, length = PREFIX.unpack_from(data, place)
        if place + PREFIX.size + length == mark:
            yield CheckedRecord(opcode, place, place + PREFIX.size, mark, 0, 0)

    def _checked(self, place: int, fields: CheckFields) -> Iterator[CheckedRecord]:
        start = place + CHECK_SIZE
        end = self._position = start + fields.length
        missing = fields.ordinal - self._ordinal
        if missing < 0:
            self._damaged(place, end, 0, text="a record is repeated")
            return
        if self.damage and self.damage[-1].end == place and self.damage[-1].records < 0:
            self.damage[-1].records = missing
        elif missing > 0:
            self._damaged(place, place, missing, text="records are missing")
        self._count(fields)
        if zlib.crc32(self._data[start:end]) != fields.crc:
            self._damaged(start, end, 1, fields=fields)
            return
        yield self._record(start, end, fields)

    def _count(self, fields: CheckFields) -> None:
        """Counts a record, to know what the next checksum record must say."""
        self._ordinal = fields.ordinal + 1
        if fields.channel == ATTACHED:
            self._files = fields.segment + 1
        else:
            self._segment = fields.segment

    def _record(self, start: int, end: int, fields: CheckFields | None = None) -> CheckedRecord:
        opcode = self._data[start]
        segment, channel = (fields.segment, fields.channel) if fields else (self._segment, 0)
        return CheckedRecord(opcode, start, start + PREFIX.size, end, segment, channel)

    def _damaged(
        self, start: int, end: int, records: int, *, fields: CheckFields | None = None,
        text: str = "",
    ) -> None:  # fmt: skip
        channel, number = (fields.channel, fields.segment) if fields is not None else (0, -1)
        self.damage.append(DamagedRange(start, end, records, channel, text, number))

    def _is_data_end(self, place: int) -> bool:
        return self._size >= place + _DATA_END_SIZE and bytes(
            self._data[place : place + PREFIX.size]
        ) == PREFIX.pack(DATA_END, 4)

    def _ends_at(self, place: int) -> bool:
        """Whether the file ends here, at a record or inside a checksum record."""
        rest = bytes(self._data[place : place + CHECK_SIZE])
        ending = PREFIX.pack(DATA_END, 4)
        return len(rest) < CHECK_SIZE and (
            rest[: len(_MARK)] == _MARK[: len(rest)] or rest == ending[: len(rest)]
        )

    def _behind_damaged_check(self, place: int) -> CheckedRecord | None:
        """The next record if only its checksum record is damaged.

        The expected checksum record is computed from the record itself; one of the two checksums
        in it must agree with the file.
        """
        start = place + CHECK_SIZE
        if start + PREFIX.size > self._size:
            return None
        opcode, length = PREFIX.unpack_from(self._data, start)
        end = start + PREFIX.size + length
        if length > LARGEST or end > self._size:
            return None
        record = self._data[start:end]
        stored = bytes(self._data[place:start])
        channel, number = 0, self._segment
        if opcode == MESSAGE:
            channel = int.from_bytes(record[9:11], "little")
            number += channel == self._opener
        elif opcode == ATTACHMENT:
            channel, number = ATTACHED, self._files
        fields = CheckFields(
            zlib.crc32(record), len(record), self._ordinal, channel, number & 0xFFFF
        )
        expected = check_record(fields)
        if stored[9:13] != expected[9:13] and stored[-4:] != expected[-4:]:
            return None
        self._damaged(place, start, 0)
        self._count(fields)
        self._position = end
        return self._record(start, end, fields)

    def _search(self, place: int) -> bool:
        """Continues at the next intact checksum record, or at the end of the data."""
        end = min(self._size, place + _SEARCH)
        found = self._data.find(_MARK, place + 1, end)
        while found >= 0 and fields_at(self._data, found) is None:
            found = self._data.find(_MARK, found + 1, end)
        if found < 0:
            found = self._data_end_by_footer()
            if found <= place:
                self._damaged(place, self._size, -1)
                self.stop = place
                self._position = self._size
                return False
        self._damaged(place, found, -1)
        self._position = found
        return True

    def _data_end_by_footer(self) -> int:
        """Where the data end, if the summary at the end of the file is intact; else −1."""
        foot = self._size - len(MAGIC) - _FOOTER_SIZE
        if foot < 0 or bytes(self._data[foot : foot + PREFIX.size]) != PREFIX.pack(FOOTER, 20):
            return -1
        (summary,) = struct.unpack_from("<Q", self._data, foot + PREFIX.size)
        place = summary - _DATA_END_SIZE
        return place if 0 <= place < foot and self._is_data_end(place) else -1


def summary_is_intact(data: Data, start: int, end: int) -> bool:
    """Whether the summary, from the end of the data to the end of the footer, is intact."""
    foot = end - _FOOTER_SIZE
    if foot < start or bytes(data[foot : foot + PREFIX.size]) != PREFIX.pack(FOOTER, 20):
        return False
    first, _, crc = struct.unpack_from("<QQI", data, foot + PREFIX.size)
    return first == start and zlib.crc32(data[start : end - 4]) == crc
