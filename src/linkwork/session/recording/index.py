"""One pass over a recording's file: where each message stands, up to the first damage."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from linkwork.errors import RecordingError
from linkwork.session.recording import container
from linkwork.session.recording.attachments import check_file_name
from linkwork.session.recording.header import Header
from linkwork.session.recording.messages import (
    CHANNELS,
    OPENERS,
    PROFILE,
    Change,
    Opening,
    decode,
    decode_opening,
    foreign,
)
from linkwork.session.recording.outline import Clock, Outline
from linkwork.session.recording.scan import (
    Damage,
    Data,
    check_magic,
    read_attachment,
    read_channel,
    read_profile,
    records,
)

_HEAD = container.MESSAGE_HEAD.unpack_from
_HEAD_SIZE = container.MESSAGE_HEAD.size


@dataclass(slots=True)
class Series:
    """Where the messages of one channel stand, in order.

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


class Stretch:
    """One world's part of a recording.

    Args:
        world: The world.
        files: Its files by name.
        clock: Its times.

    Attributes:
        sizes: Length that a payload must have, by topic [byte].
        first: Number of each channel's first message in this part, by topic.
    """

    def __init__(
        self, world: Outline, files: dict[str, container.Attachment], clock: Clock
    ) -> None:
        world.check()
        clock.check()
        self.world = world
        self.files = files
        self.clock = clock
        self.first: dict[str, int] = {}
        self.sizes = {
            "state": world.state_bytes,
            "frame": world.frame_bytes,
            "signals": world.signals_bytes,
        }


class Index:
    """What a recording's file holds, found in one pass.

    Damage ends the pass: what stands before it is kept, and ``problem`` says what it is.

    Args:
        data: The file.

    Attributes:
        header: About the run.
        series: Messages by topic, without those that open worlds.
        stretches: Worlds in order, each with its first state.
        summary: What the end of the file says, or would say.
        last_step: Highest step.
        whole: Where the sound data end [byte].
        complete: Whether the writer closed the file.
        problem: What is wrong with the file; empty if nothing is.
        checksum: CRC-32 of the data, as the writer says; 0 if it does not.

    Raises:
        RecordingError: It is not a recording, or is cut off before its first state.
    """

    header: Header

    def __init__(self, data: Data) -> None:
        check_magic(data)
        self._data = data
        self.series = {topic: Series() for topic in CHANNELS if topic not in OPENERS}
        self.stretches: list[Stretch] = []
        self.summary = container.Summary()
        self.last_step = 0
        self.whole = len(container.MAGIC)
        self.complete = False
        self.problem = ""
        self.checksum = 0
        self._pending: Stretch | None = None
        self._opener = 0
        self._topics: dict[int, str] = {}
        self._profile: str | None = None
        self._declared: list[str] = []
        self._chunks = False
        position = self.whole
        try:
            for opcode, position, start, end in records(data, self.whole):
                if opcode == container.DATA_END:
                    self._end(start, end)
                    break
                self._read(opcode, position, start, end)
                position = end
                if self._pending is None:
                    self.whole = end
        except Damage as damage:
            lost = len(data) - self.whole
            self.problem = f"at byte {position} {damage}; the last {lost} bytes are left out"
        self._conclude()

    def _read(self, opcode: int, position: int, start: int, end: int) -> None:
        if opcode == container.MESSAGE:
            self._message(start, end)
        elif opcode == container.CHANNEL:
            number, topic = read_channel(self._data, start, end)
            self._declared.append(topic)
            if topic in CHANNELS and number not in self._topics:
                self._topics[number] = topic
            self.summary.channels.append(bytes(self._data[position:end]))
            self.summary.counts.setdefault(number, 0)
        elif opcode == container.ATTACHMENT:
            place = read_attachment(self._data, position, start, end)
            self.summary.attachments.append(place)
        elif opcode == container.HEADER:
            self._profile = read_profile(self._data, start, end)
        elif opcode == container.CHUNK:
            self._chunks = True
            raise Damage("there is a chunk, which Linkwork does not write")

    def _message(self, start: int, end: int) -> None:
        size = end - start - _HEAD_SIZE
        if size < 0:
            raise Damage("a message is too short")
        number, sequence, time, published = _HEAD(self._data, start)
        start += _HEAD_SIZE
        topic = self._topics.get(number)
        if topic is None:
            raise Damage(f"a message stands on the unknown channel {number}")
        stretch = self._stretch(topic, start, end)
        step = self.last_step + ((sequence - self.last_step) & 0xFFFFFFFF)
        if time != published or time != stretch.clock.nanoseconds(step):
            raise Damage(f"the time of a message on {topic!r} does not fit its step")
        if stretch.sizes.get(topic, size) != size:
            raise Damage(f"a message on {topic!r} has {size} bytes, not {stretch.sizes[topic]}")
        if stretch is self._pending:
            if topic != "state":  # counts only if its state follows
                self._opener = number
                return
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

    def _stretch(self, topic: str, start: int, end: int) -> Stretch:
        """The world to which a message belongs; a message may open one."""
        if topic in OPENERS:
            if self._pending is not None or (topic == "header") == bool(self.stretches):
                raise Damage(f"a message on {topic!r} stands where none can")
            self._pending = self._open(topic, bytes(self._data[start:end]))
            return self._pending
        if self._pending is not None:
            if topic != "state":
                raise Damage(f"a message on {topic!r} stands before the state of its world")
            return self._pending
        if not self.stretches:
            raise Damage(f"a message on {topic!r} stands before the header")
        return self.stretches[-1]

    def _open(self, topic: str, content: bytes) -> Stretch:
        try:
            if topic == "header":
                message = decode_opening(content)
                self.header = message.header
                self.last_step = message.step
                return self._world(message.header.world, message)
            message = decode(content, Change, "world")
            return self._world(message.world, message)
        except RecordingError as error:
            if topic == "header":  # without it nothing can be read
                raise
            raise Damage(error.message.rstrip(".")) from None

    def _world(self, world: Outline, message: Opening | Change) -> Stretch:
        files: dict[str, container.Attachment] = {}
        shelf = self.summary.attachments
        for name, number in message.files.items():
            if not 0 <= number < len(shelf):
                raise RecordingError(f"the recorded file {name[:200]!r} is missing.")
            files[check_file_name(name)] = shelf[number]
        if message.step < self.last_step:
            raise RecordingError("the recorded world begins before the last one ends.")
        return Stretch(world, files, Clock(message.step, message.time, world.step))

    def _end(self, start: int, end: int) -> None:
        """Reads on from the end of the data to the end of the file."""
        if self._pending is not None:
            raise Damage("the data end before the state of their last world")
        self.checksum = int.from_bytes(self._data[start:end][:4], "little")
        self.problem = "its summary is cut off or damaged; no data are left out"
        try:
            after = next(
                last
                for opcode, _, _, last in records(self._data, end)
                if opcode == container.FOOTER
            )
        except Damage:
            return
        if bytes(self._data[after : after + len(container.MAGIC)]) == container.MAGIC:
            extra = len(self._data) - after - len(container.MAGIC)
            self.complete = True
            self.problem = f"{extra} bytes after its end are left out" if extra else ""

    def _conclude(self) -> None:
        if self.stretches:
            return
        if self._chunks or self._profile not in (None, PROFILE):
            raise foreign(self._profile or "", self._declared, chunks=self._chunks)
        raise RecordingError(
            "this recording ends before its first state, so nothing in it can be shown: "
            f"{self.problem or 'it has no header'}."
        )
