"""The bytes of an MCAP file: magic, records (opcode, length, content), summary and footer.

Of the format (https://mcap.dev/spec) a recording uses the part without chunks: a record is whole on
disk as soon as its bytes are. The library's own writer takes four times as long for a message.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field

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
#: Both at once: what stands before a payload.
MESSAGE_PREFIX = struct.Struct("<BQHIQQ")

#: Most that one record may hold [byte]. A length above it is damage, not data.
LARGEST = 2**30


def record(opcode: int, content: bytes) -> bytes:
    """Puts content into a record."""
    return PREFIX.pack(opcode, len(content)) + content


def text(value: str) -> bytes:
    """A string as MCAP writes it, with its length before it."""
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def header_record(profile: str, library: str) -> bytes:
    """The first record of a file: what it follows, and what wrote it."""
    return record(HEADER, text(profile) + text(library))


def channel_record(number: int, topic: str, encoding: str, metadata: dict[str, str]) -> bytes:
    """Declares a channel without schema."""
    pairs = b"".join(text(key) + text(value) for key, value in metadata.items())
    head = struct.pack("<HH", number, 0) + text(topic) + text(encoding)
    return record(CHANNEL, head + struct.pack("<I", len(pairs)) + pairs)


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
class Attachment:
    """Where a file stands in a recording.

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
        """The record by which readers find it."""
        numbers = (self.offset, self.length, self.time, self.created, self.size)
        names = text(self.name) + text("application/octet-stream")
        return record(ATTACHMENT_INDEX, struct.pack("<5Q", *numbers) + names)


@dataclass(slots=True)
class Summary:
    """What the end of a file says about the whole.

    Attributes:
        channels: The channel records, as they stand in the file.
        counts: Messages by channel number.
        attachments: The files.
        first, last: Lowest and highest time of a message [ns].
    """

    channels: list[bytes] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    attachments: list[Attachment] = field(default_factory=list)
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
            position: Where the data end [byte].
            crc: CRC-32 of the file up to there.
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
