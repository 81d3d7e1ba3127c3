"""The MCAP container format of a recording."""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import time as wall
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import Origin, RecordingError

MAGIC = b"\x89MCAP0\r\n"

HEADER = 0x01
FOOTER = 0x02
CHANNEL = 0x04
MESSAGE = 0x05
CHUNK = 0x06
ATTACHMENT = 0x09
ATTACHMENT_INDEX = 0x0A
STATISTICS = 0x0B
SUMMARY_OFFSET = 0x0E
DATA_END = 0x0F

#: Opcode and length of the content, before each record.
PREFIX = struct.Struct("<BQ")
#: Channel, sequence, log time [ns] and publish time [ns], before the payload of a message.
MESSAGE_HEAD = struct.Struct("<HIQQ")
#: Both together: the bytes before a payload.
MESSAGE_PREFIX = struct.Struct("<BQHIQQ")

#: Maximum size of a record [byte]. A greater length indicates damage.
LARGEST = 2**30


def record(opcode: int, content: bytes) -> bytes:
    """Puts content into a record."""
    return PREFIX.pack(opcode, len(content)) + content


def text(value: str) -> bytes:
    """A string in MCAP's encoding, preceded by its length."""
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def header_record(profile: str, library: str) -> bytes:
    """The first record of a file: its profile, and the program that wrote it."""
    return record(HEADER, text(profile) + text(library))


def channel_record(number: int, topic: str, encoding: str, metadata: dict[str, str]) -> bytes:
    """Declares a channel without schema."""
    pairs = b"".join(text(key) + text(value) for key, value in metadata.items())
    head = struct.pack("<HH", number, 0) + text(topic) + text(encoding)
    return record(CHANNEL, head + struct.pack("<I", len(pairs)) + pairs)


def message_head(channel: int, step: int, time: int, size: int) -> bytes:
    """The bytes before the payload of a message.

    Args:
        channel: Its channel.
        step: Its step, of which the lower 32 bits are written.
        time: Simulated time [ns].
        size: Length of the payload [byte].
    """
    length = MESSAGE_HEAD.size + size
    return MESSAGE_PREFIX.pack(MESSAGE, length, channel, step & 0xFFFFFFFF, time, time)


def attachment_record(name: str, data: bytes, *, time: int, created: int) -> bytes:
    """A file, with its checksum.

    Args:
        name: Relative name.
        data: Its bytes.
        time: Simulated time [ns].
        created: Wall time since 1970 [ns].
    """
    content = b"".join(
        [
            struct.pack("<QQ", time, created),
            text(name),
            text("application/octet-stream"),
            struct.pack("<Q", len(data)),
            data,
        ]
    )
    return record(ATTACHMENT, content + struct.pack("<I", zlib.crc32(content)))


@dataclass(frozen=True, slots=True)
class McapAttachment:
    """Position of an attached file in a recording.

    Attributes:
        name: Relative name.
        offset, length: Its record, from the opcode to the checksum [byte].
        start, size: Its data [byte].
        time: Simulated time [ns].
        created: Wall time since 1970 [ns].
    """

    name: str
    offset: int
    length: int
    start: int
    size: int
    time: int
    created: int

    def index_record(self) -> bytes:
        """The attachment index record."""
        numbers = (self.offset, self.length, self.time, self.created, self.size)
        names = text(self.name) + text("application/octet-stream")
        return record(ATTACHMENT_INDEX, struct.pack("<5Q", *numbers) + names)


@dataclass(slots=True)
class McapSummary:
    """Summary section of a file.

    Attributes:
        channels: The channel records, as in the file.
        counts: Messages by channel number.
        attachments: The files.
        first, last: Lowest and highest time of a message [ns].
    """

    channels: list[bytes] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    attachments: list[McapAttachment] = field(default_factory=list)
    first: int = 0
    last: int = 0

    def _statistics(self) -> bytes:
        counts = b"".join(struct.pack("<HQ", *item) for item in self.counts.items())
        numbers = (
            *(sum(self.counts.values()), 0, len(self.channels), len(self.attachments)),
            *(0, 0, self.first, self.last, len(counts)),
        )
        return record(STATISTICS, struct.pack("<QHIIIIQQI", *numbers) + counts)

    def ending(self, position: int, crc: int) -> bytes:
        """Everything from the end of the data to the end of the file.

        Args:
            position: End of the data [byte].
            crc: CRC-32 of the file up to that position.
        """
        end = record(DATA_END, struct.pack("<I", crc))
        start = position + len(end)
        groups = {
            CHANNEL: b"".join(self.channels),
            STATISTICS: self._statistics(),
            ATTACHMENT_INDEX: b"".join(each.index_record() for each in self.attachments),
        }
        body, offsets = b"", b""
        for opcode, group in groups.items():
            if group:
                place = struct.pack("<BQQ", opcode, start + len(body), len(group))
                offsets += record(SUMMARY_OFFSET, place)
                body += group
        summary = body + offsets
        summary += PREFIX.pack(FOOTER, 20) + struct.pack("<QQ", start, start + len(body))
        return end + summary + struct.pack("<I", zlib.crc32(summary)) + MAGIC


_PREFIX = PREFIX.unpack_from
_PREFIX_SIZE = PREFIX.size
_OPCODES = frozenset(range(0x01, 0x10))

#: A file in memory, or mapped to it.
Data = mmap.mmap | bytes


class DamagedFile(Exception):
    """Damaged bytes at one position. Reading ends there."""


class CutOffFile(DamagedFile):
    """The file ends inside a record, as that of a killed process does."""


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
    """Refuses a file without the magic bytes of MCAP.

    Raises:
        RecordingError: With the first bytes of the file.
    """
    start = bytes(data[: len(MAGIC)])
    if start != MAGIC:
        raise RecordingError(
            f"this is not a recording: it starts with {start!r}, where an MCAP file has {MAGIC!r}."
        )


def records(data: Data, position: int) -> Iterator[tuple[int, int, int, int]]:
    """Records from one position on.

    Yields:
        Opcode, where the record starts, where its content starts and ends [byte].

    Raises:
        DamagedFile: The file ends, or the next record is incomplete.
    """
    size = len(data)
    while True:
        start = position + _PREFIX_SIZE
        if start > size:
            raise CutOffFile("the file is cut off")
        opcode, length = _PREFIX(data, position)
        if opcode not in _OPCODES:
            raise DamagedFile("there is no record")
        if length > size - start:
            raise CutOffFile("the file is cut off in the middle of a record")
        if length > LARGEST:
            raise DamagedFile(f"a record claims to have {length} bytes")
        yield opcode, position, start, start + length
        position = start + length


class ByteCursor:
    """Reads numbers and texts out of the content of a record.

    Args:
        data: The file.
        place: Start of the content [byte].
        end: End of the content.
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
            raise DamagedFile("a record is too short")
        return struct.unpack_from(form, self._data, start)[0]

    def text(self) -> str:
        """The next text."""
        length = self.number("<I")
        start = self.place
        self.place += length
        if self.place > self._end:
            raise DamagedFile("a text in a record is longer than the record")
        try:
            return bytes(self._data[start : self.place]).decode()
        except UnicodeDecodeError:
            raise DamagedFile("a text in a record is not UTF-8") from None


def read_profile(data: Data, start: int, end: int) -> tuple[str, str]:
    """Profile and program in a header record."""
    cursor = ByteCursor(data, start, end)
    return cursor.text(), cursor.text()


def read_channel(data: Data, start: int, end: int) -> tuple[int, str]:
    """Number and topic of a channel."""
    cursor = ByteCursor(data, start, end)
    number = cursor.number("<H")
    cursor.number("<H")
    return number, cursor.text()


def read_attachment(data: Data, position: int, start: int, end: int) -> McapAttachment:
    """Returns the position of an attached file."""
    cursor = ByteCursor(data, start, end)
    time, created = cursor.number("<Q"), cursor.number("<Q")
    name = cursor.text()
    cursor.text()
    size = cursor.number("<Q")
    if size + 4 != end - cursor.place:
        raise DamagedFile(f"the file {name[:100]!r} does not fill its record")
    return McapAttachment(
        name=name,
        offset=position,
        length=end - position,
        start=cursor.place,
        size=size,
        time=time,
        created=created,
    )


def check_file_name(name: str) -> str:
    """Returns the name, if a file of that name stays inside its folder.

    Raises:
        RecordingError: It is absolute, leads out of the folder or is not a name.
    """
    if len(name) > 1000 or "\0" in name or "\\" in name or {"", ".", ".."} & {*name.split("/")}:
        raise RecordingError(
            f"{name[:200]!r} cannot be the name of a recorded file.",
            hint="Names are relative to one folder and stay in it, as 'parts/arm.toml' does.",
        )
    return name


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuses files that a recording cannot hold.

    Raises:
        RecordingError: A name leaves the folder, or a file is too large.
    """
    for name, data in files.items():
        check_file_name(name)
        if len(data) > LARGEST // 2:
            raise RecordingError(
                f"the file {name!r} has {len(data)} bytes; "
                f"a recording takes files of at most {LARGEST // 2}."
            )


class Attachments:
    """Writes source files into a recording and numbers them.

    Args:
        append: Appends a record to the recording and returns its offset [byte].
        summary: Summary for the end of the file, to which they are added.
    """

    def __init__(self, append: Callable[[bytes], int], summary: McapSummary) -> None:
        self._append = append
        self._summary = summary
        self._numbers: dict[bytes, int] = {}

    def add(self, files: Mapping[str, bytes], time: int) -> dict[str, int]:
        """Writes the files that are not in the recording yet.

        Args:
            files: Bytes by name.
            time: Simulated time [ns].

        Returns:
            Number of the attachment, from 0, by name.
        """
        return {name: self._number(name, data, time) for name, data in files.items()}

    def _number(self, name: str, data: bytes, time: int) -> int:
        digest = hashlib.blake2b(data, digest_size=32).digest()
        known = self._numbers.get(digest)
        if known is not None:
            return known
        created = wall.time_ns()
        record = attachment_record(name, data, time=time, created=created)
        offset = self._append(record)
        place = McapAttachment(
            name=name,
            offset=offset,
            length=len(record),
            start=offset + len(record) - 4 - len(data),
            size=len(data),
            time=time,
            created=created,
        )
        self._summary.attachments.append(place)
        number = self._numbers[digest] = len(self._numbers)
        return number
