"""Index of a recording file: what it holds, and where it is damaged."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass, field
from functools import cached_property

from linkwork.core.errors import DamagedRecording, RecordingError
from linkwork.session.recording import mcap_format
from linkwork.session.recording.checksums import (
    ATTACHED,
    CheckedRecord,
    CheckedScan,
    DamagedRange,
    is_checked,
    starts_as_recording,
    summary_is_intact,
)
from linkwork.session.recording.copies import MISSING, Copies, find_copies
from linkwork.session.recording.damage import Damage, list_damage, read_missing
from linkwork.session.recording.header import FIRST_FORMAT, Header, RecordedWorld, Timebase
from linkwork.session.recording.mcap_format import (
    CutOffFile,
    DamagedFile,
    Data,
    check_file_name,
    check_magic,
    read_attachment,
    read_channel,
    read_profile,
    records,
)
from linkwork.session.recording.messages import (
    CHANNELS,
    OPENERS,
    PROFILE,
    OpeningMessage,
    SegmentMessage,
    decode,
    decode_opening,
    describe_foreign_file,
)

_HEAD = mcap_format.MESSAGE_HEAD.unpack_from
_HEAD_SIZE = mcap_format.MESSAGE_HEAD.size


@dataclass(slots=True)
class Series:
    """Positions of the messages of one channel, in order.

    Attributes:
        steps: Step of each.
        times: Simulated time of each [ns].
        starts: Where each payload starts [byte].
        sizes: Length of each payload [byte].
    """

    steps: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    sizes: array[int] = field(default_factory=lambda: array("Q"))

    def __len__(self) -> int:
        return len(self.steps)


class SegmentIndex:
    """The segment of one world in a recording.

    Args:
        world: The world.
        files: Its files by name.
        clock: Its time base.

    Attributes:
        first_step: Step of its first state; later than the clock's if that one is damaged.
        sizes: Length that a payload must have, by topic [byte].
        first: Number of each channel's first message in this segment, by topic.
    """

    def __init__(
        self, world: RecordedWorld, files: dict[str, mcap_format.McapAttachment], clock: Timebase
    ) -> None:
        world.check()
        clock.check()
        self.world = world
        self.files = files
        self.clock = clock
        self.first_step = clock.step
        self.first: dict[str, int] = {}
        self.sizes = {
            "state": world.state_bytes,
            "frame": world.frame_bytes,
            "signals": world.signals_bytes,
        }


_NO_WORLD = "the description of their world is lost, and with it these messages"
_NO_STATE = "the first state of their world is lost, and with it these messages"
#: Program named in the header record of a repaired copy.
REPAIRED = "linkwork repair"
#: In the place of an attached file that is lost.
LOST_ATTACHMENT = mcap_format.McapAttachment("linkwork.lost", 0, 0, 0, 0, 0, 0)
#: Channels whose messages open the first and a further world.
FIRST_OPENER = list(CHANNELS).index("header") + 1
OPENER_NUMBER = list(CHANNELS).index("segment") + 1


class Index:
    """Contents of a recording file, found in one pass.

    A record whose checksum differs is passed over and listed in ``damage``. A file of an earlier
    version has no checksums of records: there the pass ends at the first damage that shows.

    Args:
        data: The file.

    Attributes:
        header: Description of the run.
        series: Messages by topic, without those that open worlds.
        stretches: Worlds in order, each with its first state.
        summary: Summary at the end of the file, or what it would contain.
        last_step: Highest step.
        whole: Where the intact data end [byte].
        complete: Whether the file is whole up to its end.
        closed: Whether the writer closed the file, even if its end is damaged.
        note: That the file is cut off, if it is.
        cut: What is lost by that, or None.
        missing: What a repaired copy lacks of its original.
        repaired: Whether it is a repaired copy.
        checked: Whether the records have checksums.
        damage: Damaged parts, in order.
        kept: Offsets of the intact records, in order [byte].

    Raises:
        RecordingError: It is not a recording, or is cut off before its first state.
        DamagedRecording: It is damaged where nothing can be read without it.
    """

    header: Header

    def __init__(self, data: Data) -> None:
        if not starts_as_recording(data):
            check_magic(data)
        self._data = data
        self.series = {topic: Series() for topic in CHANNELS if topic not in OPENERS}
        self.stretches: list[SegmentIndex] = []
        self.summary = mcap_format.McapSummary()
        self.last_step = 0
        self.whole = len(mcap_format.MAGIC)
        self.complete = False
        self.closed = bytes(data[-len(mcap_format.MAGIC) :]) == mcap_format.MAGIC
        self.repaired = False
        self.missing: list[Damage] = []
        self.cut: Damage | None = None
        self.checked = is_checked(data)
        self.damage: list[Damage] = []
        self.kept = array("Q")
        self.note = ""
        self._time: float | None = None
        self._undated: list[Damage] = []
        self._pending: SegmentIndex | None = None
        self._opener = self._opener_kept = 0
        self._topics: dict[int, str] = {}
        self._profile: str | None = None
        self._declared: list[str] = []
        self._chunks = False
        if self.checked:
            self._topics = dict(enumerate(CHANNELS, start=1))
            self.summary.counts = dict.fromkeys(self._topics, 0)
            self._segment = -1
            self._read_checked()
        else:
            self._read_unchecked()
        self._conclude()

    @property
    def problem(self) -> str:
        """Damage of the file, and how much is left out; empty if it is intact."""
        return "; ".join([*list_damage(self.damage), *([self.note] if self.note else [])])

    def _read_unchecked(self) -> None:
        position = self.whole
        try:
            for opcode, position, start, end in records(self._data, self.whole):
                if opcode == mcap_format.DATA_END:
                    self._end(position, start, end)
                    break
                self._read(opcode, position, start, end)
                position = end
                if self._pending is None:
                    self.whole = end
        except DamagedFile as damage:
            lost = len(self._data) - self.whole
            text = f"{damage}; the last {lost} bytes are left out"
            if isinstance(damage, CutOffFile):
                self.note = f"at byte {position} {text}"
            else:
                self._add_damage(Damage(position, len(self._data), text))

    def _read_checked(self) -> None:
        scan = CheckedScan(self._data, self.whole, opener=OPENER_NUMBER)
        noted = 0
        for each in scan.records():
            for part in scan.damage[noted:]:
                self._damaged(part)
            noted = len(scan.damage)
            if each.opcode == mcap_format.DATA_END:
                self._end(each.position, each.start, each.end)
                break
            try:
                self._read_intact(each)
            except DamagedFile as damage:  # whole, but not as Linkwork writes it
                self._add_damage(Damage(each.position, each.end, str(damage)))
                continue
            self.kept.append(each.position)
            if self._pending is None:
                self.whole = each.end
        for part in scan.damage[noted:]:
            self._damaged(part)
        self._drop_pending()
        if scan.cut:
            lost = len(self._data) - scan.stop
            self.note = (
                f"at byte {scan.stop} the file is cut off; the last {lost} bytes are left out"
            )
            self.cut = Damage(
                scan.stop, len(self._data), "the file is cut off; what follows is lost", self._time
            )

    def _read_intact(self, each: CheckedRecord) -> None:
        """Reads a record whose checksum agrees."""
        if each.opcode == mcap_format.ATTACHMENT:
            self._pad_files(each.segment)
        if each.opcode != mcap_format.MESSAGE:
            self._read(each.opcode, each.position, each.start, each.end)
            return
        opens = self._topics.get(each.channel) in OPENERS
        if opens:
            self._drop_pending()
            self._segment = each.segment
        elif each.segment != self._segment:
            self._open_copy(each.segment)
        self._message(each.start, each.end)
        for part in self._undated:
            part.before = self._time
        self._undated.clear()

    @cached_property
    def _copies(self) -> Copies:
        return find_copies(self._data)

    def _open_copy(self, number: int) -> None:
        """Opens a world by the copy of its description."""
        copy = self._copies.get((OPENER_NUMBER if number else FIRST_OPENER, number))
        if copy is None:
            raise DamagedFile(_NO_WORLD)
        self._drop_pending()
        self._segment = number
        self._message(copy.start, copy.end)
        self.kept.append(copy.position)

    def _pad_files(self, count: int) -> None:
        """Puts copies, or marks of their loss, in the place of attached files that are lost."""
        attachments = self.summary.attachments
        while len(attachments) < count:
            copy = self._copies.get((ATTACHED, len(attachments)))
            place = LOST_ATTACHMENT
            if copy is not None:
                place = read_attachment(self._data, copy.position, copy.start, copy.end)
                self.kept.append(copy.position)
            attachments.append(place)

    def _drop_pending(self) -> None:
        """Gives up a world without a state."""
        if self._pending is not None:
            self._pending = None
            del self.kept[self._opener_kept]

    def _damaged(self, part: DamagedRange) -> None:
        """Notes damage that the checksums show."""
        topic = self._topics.get(part.channel)
        is_known = part.number >= 0
        if part.records == 0 and not part.text:
            text = "no data are lost"
        elif (part.channel, part.number) in self._copies:
            what = "a recorded file" if part.channel == ATTACHED else "the description of a world"
            text = f"{what} is damaged, and its copy is used; no data are lost"
        elif is_known and part.channel == 0:
            text = "no data are lost"  # a channel is declared, or the copies
        elif part.channel == ATTACHED:
            text = "a recorded file is lost"
        elif topic is not None:
            text = f"a message on {topic!r} is lost"
        elif part.records > 0:
            text = f"{part.records} record{'s' * (part.records > 1)} lost"
        else:
            at_end = part.end == len(self._data)
            text = f"the last {part.end - part.start} bytes are lost" if at_end else "data are lost"
        if topic in OPENERS:
            self._drop_pending()
            self._segment = -1
        inputs = part.records != 0 and not (is_known and topic != "inbox")
        self._add_damage(Damage(part.start, part.end, part.text or text, inputs=inputs))

    def _add_damage(self, damage: Damage) -> None:
        last = self.damage[-1] if self.damage else None
        merged = damage.text in (_NO_WORLD, _NO_STATE)
        if merged and last is not None and last.text == damage.text:
            last.end = damage.end  # one for all messages of a world
            return
        damage.after = self._time
        self.damage.append(damage)
        self._undated.append(damage)

    def _read(self, opcode: int, position: int, start: int, end: int) -> None:
        if opcode == mcap_format.MESSAGE:
            self._message(start, end)
        elif opcode == mcap_format.CHANNEL:
            number, topic = read_channel(self._data, start, end)
            self._declared.append(topic)
            if topic in CHANNELS and number not in self._topics:
                self._topics[number] = topic
            self.summary.channels.append(bytes(self._data[position:end]))
            self.summary.counts.setdefault(number, 0)
        elif opcode == mcap_format.ATTACHMENT:
            place = read_attachment(self._data, position, start, end)
            lost = place.name == LOST_ATTACHMENT.name
            self.summary.attachments.append(LOST_ATTACHMENT if lost else place)
        elif opcode == mcap_format.HEADER:
            self._profile, program = read_profile(self._data, start, end)
            self.repaired = program == REPAIRED
        elif opcode == MISSING:
            self.missing = read_missing(bytes(self._data[start:end]))
        elif opcode == mcap_format.CHUNK:
            self._chunks = True
            raise DamagedFile("there is a chunk, which Linkwork does not write")

    def _message(self, start: int, end: int) -> None:
        size = end - start - _HEAD_SIZE
        if size < 0:
            raise DamagedFile("a message is too short")
        number, sequence, time, published = _HEAD(self._data, start)
        start += _HEAD_SIZE
        topic = self._topics.get(number)
        if topic is None:
            raise DamagedFile(f"a message is on the unknown channel {number}")
        stretch = self._stretch(topic, start, end)
        step = self.last_step + ((sequence - self.last_step) & 0xFFFFFFFF)
        if time != published or time != stretch.clock.nanoseconds(step):
            raise DamagedFile(f"the time of a message on {topic!r} does not fit its step")
        if stretch.sizes.get(topic, size) != size:
            raise DamagedFile(
                f"a message on {topic!r} has {size} bytes, not {stretch.sizes[topic]}"
            )
        self._time = time / 1e9
        if stretch is self._pending:
            if topic != "state":  # valid only if its state follows
                self._opener, self._opener_kept = number, len(self.kept)
                return
            stretch.first_step = step
            stretch.first = {name: len(series) for name, series in self.series.items()}
            self.stretches.append(stretch)
            self.summary.counts[self._opener] += 1
            self._pending = None
        series = self.series[topic]
        series.steps.append(step)
        series.times.append(time)
        series.starts.append(start)
        series.sizes.append(size)
        self.summary.counts[number] += 1
        self.last_step = step

    def _stretch(self, topic: str, start: int, end: int) -> SegmentIndex:
        """The world of a message; a message may open one."""
        if topic in OPENERS:
            if self._pending is not None or (topic == "header") == bool(self.stretches):
                raise DamagedFile(f"a message on {topic!r} is in an invalid position")
            self._pending = self._open(topic, bytes(self._data[start:end]))
            return self._pending
        if self._pending is not None:
            if topic != "state":
                raise DamagedFile(_NO_STATE)
            return self._pending
        if not self.stretches:
            raise DamagedFile(f"a message on {topic!r} precedes the header")
        return self.stretches[-1]

    def _open(self, topic: str, content: bytes) -> SegmentIndex:
        try:
            if topic == "header":
                message = decode_opening(content)
                self.header = message.header
                self.last_step = message.step
                return self._world(message.header.world, message)
            message = decode(content, SegmentMessage, "world")
            return self._world(message.world, message)
        except RecordingError as error:
            if topic == "header":  # without it nothing can be read
                raise
            raise DamagedFile(error.message.rstrip(".")) from None

    def _world(
        self, world: RecordedWorld, message: OpeningMessage | SegmentMessage
    ) -> SegmentIndex:
        files: dict[str, mcap_format.McapAttachment] = {}
        attachments = self.summary.attachments
        last = max(message.files.values(), default=-1)
        while self.checked and len(attachments) <= last:
            if (ATTACHED, len(attachments)) not in self._copies:
                break
            self._pad_files(len(attachments) + 1)
        for name, number in message.files.items():
            if number in range(len(attachments)):
                place = attachments[number]
            elif self.checked and number >= 0:
                place = LOST_ATTACHMENT
            else:
                raise RecordingError(f"the recorded file {name[:200]!r} is missing.")
            files[check_file_name(name)] = place
        if message.step < self.last_step:
            raise RecordingError("the recorded world begins before the last one ends.")
        return SegmentIndex(world, files, Timebase(message.step, message.time, world.step))

    def _end(self, position: int, start: int, end: int) -> None:
        """Reads on from the end of the data to the end of the file."""
        if self._pending is not None and not self.checked:
            raise DamagedFile("the data end before the state of their last world")
        stored = int.from_bytes(self._data[start:end][:4], "little")
        unknown = not self.checked and stored == 0  # as MCAP allows; we always write it
        crc = checksum_of(self._data, position)
        if not self.damage and not unknown and stored != crc:
            text = "the checksum of the whole data differs"
            start, end = (position, end) if self.checked else (0, position)
            self._add_damage(Damage(start, end, text))
        size, magic, after = len(self._data), mcap_format.MAGIC, end
        try:
            after = next(
                last
                for opcode, _, _, last in records(self._data, end)
                if opcode == mcap_format.FOOTER
            )
            rest = bytes(self._data[after : after + len(magic)])
            self.complete = rest == magic and summary_is_intact(self._data, end, after)
        except DamagedFile:
            self.complete = False
        self.closed = True
        if self.complete:
            if extra := size - after - len(magic):
                text = f"{extra} bytes after its end are left out; no data are lost"
                self._add_damage(Damage(size - extra, size, text, inputs=False))
        elif self._is_cut_off(position, crc):
            self.closed = False
            self.note = "its summary is cut off; no data are left out"
        else:
            text = "its summary is damaged; no data are lost"
            self._add_damage(Damage(end, size, text, inputs=False))

    def date_summary(self) -> None:
        """Sets the times of the first and last message in the summary."""
        times = [series.times for series in self.series.values() if len(series)]
        self.summary.first = min((each[0] for each in times), default=0)
        self.summary.last = max((each[-1] for each in times), default=0)

    def _is_cut_off(self, position: int, crc: int) -> bool:
        """Whether the file ends inside its summary, and what is there of it is intact."""
        self.date_summary()
        whole = self.summary.ending(position, crc)
        rest = bytes(self._data[position:])
        return len(rest) < len(whole) and whole.startswith(rest)

    def _conclude(self) -> None:
        if self.stretches and not self.checked and self.header.format > FIRST_FORMAT:
            raise DamagedRecording(
                f"this recording has format {self.header.format}, but its records have no "
                "checksums: they were removed or destroyed."
            )
        if self.stretches:
            return
        if self._chunks or self._profile not in (None, PROFILE):
            raise describe_foreign_file(self._profile or "", self._declared, chunks=self._chunks)
        shown = "so nothing in it can be shown"
        if not self.damage:
            text = f"this recording ends before its first state, {shown}"
        elif not hasattr(self, "header"):
            text = f"this recording is damaged: the description of its world is lost, {shown}"
        else:
            text = f"this recording is damaged: no state in it is intact, {shown}"
        raise DamagedRecording(f"{text}: {self.problem or 'it has no header'}.")


_PIECE = 2**20


def checksum_of(data: Data, end: int) -> int:
    """CRC-32 of the bytes up to ``end``."""
    crc = 0
    for start in range(0, end, _PIECE):
        crc = zlib.crc32(data[start : min(start + _PIECE, end)], crc)
    return crc
