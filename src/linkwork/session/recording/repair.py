"""Repair: a whole copy of the intact parts of a recording."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from linkwork.core.errors import Origin, RecordingError
from linkwork.session.recording import mcap_format
from linkwork.session.recording.checksums import ATTACHED, CheckedAppender, start_check
from linkwork.session.recording.copies import MISSING, CopyCollector
from linkwork.session.recording.index import (
    FIRST_OPENER,
    LOST_ATTACHMENT,
    OPENER_NUMBER,
    REPAIRED,
    Index,
    checksum_of,
)
from linkwork.session.recording.journal import Journal
from linkwork.session.recording.mcap_format import Data, McapSummary, map_file, read_attachment
from linkwork.session.recording.messages import (
    CHANNELS,
    PROFILE,
    EventMessage,
    channel_records,
    encode,
)

_PIECE = 2**20


def repair(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Copies all intact records of a recording and closes the copy properly.

    Args:
        path: A recording, truncated or not. It is not changed.
        target: The copy; ``name.repaired.mcap`` beside the recording if not given.
        overwrite: Whether an existing file may be replaced.

    Returns:
        The copy.

    Raises:
        RecordingError: The file contains no usable data, or the copy cannot be written.
    """
    path = Path(path)
    copy = path.with_suffix(f".repaired{path.suffix}") if target is None else Path(target)
    if copy.exists() and (not overwrite or not copy.is_file()):
        raise RecordingError(
            f"the repaired copy cannot be written to {copy}: there is something of that name."
        )
    part = copy.with_name(f".{copy.name}.{os.getpid()}")
    with map_file(path) as data:
        try:
            index = Index(data)
        except RecordingError as error:
            error.at(Origin(str(path)))
            raise
        try:
            if index.checked and (index.damage or index.cut):
                _copy_intact(index, data, part)
            else:
                _copy_beginning(index, data, part)
            part.replace(copy)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RecordingError(
                f"the repaired copy cannot be written to {copy}: {error.strerror}."
            ) from None
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return copy


def _copy_beginning(index: Index, data: Data, copy: Path) -> None:
    """Copies the bytes up to the end of the intact data and closes the copy."""
    summary = _dated(index)
    with copy.open("xb") as file:
        for start in range(0, index.whole, _PIECE):
            file.write(data[start : min(start + _PIECE, index.whole)])
        file.write(summary.ending(index.whole, checksum_of(data, index.whole)))


def _copy_intact(index: Index, data: Data, copy: Path) -> None:
    """Copies the intact records one by one, under checksums that leave no gaps."""
    dated = _dated(index)
    numbers = {place.offset: n for n, place in enumerate(dated.attachments)}
    counts = dict.fromkeys(range(1, len(CHANNELS) + 1), 0)
    summary = McapSummary(channel_records(), counts, [], dated.first, dated.last)
    journal = Journal(copy)
    checked = CheckedAppender(journal)

    copies = CopyCollector()

    def attach(record: bytes) -> None:
        copies.add_file(record)
        offset = checked.append(record, channel=ATTACHED)
        start = mcap_format.PREFIX.size
        place = read_attachment(record, 0, start, len(record))
        summary.attachments.append(
            replace(place, offset=offset, start=offset + place.start, length=len(record))
        )

    beginning = mcap_format.MAGIC + mcap_format.header_record(PROFILE, REPAIRED)
    journal.append(beginning + start_check(beginning))
    for channel in summary.channels:
        checked.append(channel)
    for place in index.kept:
        opcode, length = mcap_format.PREFIX.unpack_from(data, place)
        record = bytes(data[place : place + mcap_format.PREFIX.size + length])
        if opcode == mcap_format.ATTACHMENT:
            while len(summary.attachments) < numbers.get(place, 0):
                attach(mcap_format.attachment_record(LOST_ATTACHMENT.name, b"", time=0, created=0))
            attach(record)
        elif opcode == mcap_format.MESSAGE:
            channel = int.from_bytes(record[9:11], "little")
            checked.segment += channel == OPENER_NUMBER
            if channel in (FIRST_OPENER, OPENER_NUMBER):
                copies.add_opener(channel, checked.segment, record)
            checked.append(record, channel=channel)
            summary.counts[channel] += 1
    missing = [*index.missing, *index.damage, *([index.cut] if index.cut else [])]
    checked.append(mcap_format.record(MISSING, encode(missing, "list of missing parts")))
    checked.append(copies.record())
    note = EventMessage(
        level="warning", text=f"repaired copy; of the original {index.problem}", source="recording"
    )
    channel = list(CHANNELS).index("event") + 1
    payload = encode(note, "event")
    head = mcap_format.message_head(channel, index.last_step, summary.last, len(payload))
    checked.append(head, payload, channel=channel)
    summary.counts[channel] += 1
    crc = journal.checksum()
    journal.append(summary.ending(journal.position, crc))
    journal.close()
    if journal.failed is not None:
        raise journal.failed


def _dated(index: Index) -> McapSummary:
    """The summary with the times of the first and last message."""
    index.date_summary()
    return index.summary
