"""RecordingWriter: writes an append-only file that survives a crash."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from linkwork.core.errors import ErrorRecord, RecordingError
from linkwork.session.recording import mcap_format
from linkwork.session.recording.checksums import ATTACHED, CheckedAppender, start_check
from linkwork.session.recording.copies import CopyCollector
from linkwork.session.recording.header import Header, RecordedWorld, Timebase
from linkwork.session.recording.journal import Journal
from linkwork.session.recording.mcap_format import Attachments, check_files
from linkwork.session.recording.messages import (
    CHANNELS,
    OPENERS,
    PROFILE,
    EventMessage,
    OpeningMessage,
    SegmentMessage,
    channel_records,
    encode,
)

#: Raw bytes, or an array of numbers.
Block = bytes | bytearray | memoryview | np.ndarray

_NUMBERS = {topic: number for number, topic in enumerate(CHANNELS, start=1)}
_OPENER_NUMBERS = frozenset(_NUMBERS[topic] for topic in OPENERS)
_STATE = _NUMBERS["state"]
_INBOX = _NUMBERS["inbox"]
_HASH = _NUMBERS["hash"]
_FRAME = _NUMBERS["frame"]
_SIGNALS = _NUMBERS["signals"]
_EVENT = _NUMBERS["event"]

_MESSAGE = mcap_format.MESSAGE
_PREFIX = mcap_format.MESSAGE_PREFIX.pack
_HEAD_SIZE = mcap_format.MESSAGE_HEAD.size
_SECOND = 1_000_000_000
_NOT_STARTED = 2**63


class RecordingWriter:
    """Writes a session to a file while it runs.

    Everything recorded reaches the operating system after at most 0.25 s of wall time or one
    simulated second, whichever is first: a killed process loses no more. Once the writer exists, a
    full or broken disk never stops the session: ``failed`` describes the error, and further calls
    do nothing. Steps never go back; a session that starts over starts a new recording.

    Args:
        path: The file, by convention with the suffix ``.mcap``.
        header: Description of the run and its first world.
        files: Every source of the world (scene, parts, programs, meshes) by relative name.
        step: First step.
        time: Simulated time of that step [s]; step number times duration if not given.
        overwrite: Whether an existing file may be replaced.
        fsync: Whether to wait for the disk at each flush, against loss of power.

    Raises:
        RecordingError: The file cannot be created or written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: Header,
        files: Mapping[str, bytes] | None = None,
        *,
        step: int = 0,
        time: float | None = None,
        overwrite: bool = False,
        fsync: bool = False,
    ) -> None:
        self.path = Path(path)
        self._step = _NOT_STARTED
        self._enter(header.world, step, header.world.step * step if time is None else time)
        files = files or {}
        check_files(files)
        encode(OpeningMessage(header=header, files={}), "header")
        self._journal = Journal(self.path, overwrite=overwrite, fsync=fsync)
        self._summary = mcap_format.McapSummary(counts=dict.fromkeys(_NUMBERS.values(), 0))
        self._checked = CheckedAppender(self._journal)
        self._copies = CopyCollector()
        self._attachments = Attachments(self._append_file, self._summary)
        self._open(header, files)
        atexit.register(self.close)

    @property
    def failed(self) -> RecordingError | None:
        """Why recording has failed; None if it has not."""
        return self._journal.failed

    def first(self, state: Block) -> None:
        """Records the state of the first step; once, before anything else."""
        if self._step != _NOT_STARTED:
            raise RecordingError(f"the recording {self.path} has its first state already.")
        data = _numbers("a state", state, "<f8", self._state_bytes)
        self._step = self._clock.step
        self._message(_STATE, self._step, data)
        self.flush()

    def keyframe(self, step: int, state: Block) -> None:
        """Records the whole state, as a keyframe for viewers to jump to."""
        self._message(_STATE, step, _numbers("a state", state, "<f8", self._state_bytes))

    def inbox(self, step: int, message: bytes | bytearray | memoryview) -> None:
        """Records a message that the session applied at a step."""
        self._message(_INBOX, step, bytes(message))

    def hash(self, step: int, digest: str) -> None:
        """Records the hash of the state at a step, in hexadecimal."""
        self._message(_HASH, step, digest.encode())

    def frame(self, step: int, poses: Block) -> None:
        """Records the poses of all bodies for viewing.

        Args:
            step: Step.
            poses: nb×7, x y z [m] and quaternion wxyz: an array of floats, or float32 bytes.
        """
        self._message(_FRAME, step, _numbers("a frame", poses, "<f4", self._frame_bytes))

    def signals(self, step: int, values: Block | Sequence[float]) -> None:
        """Records the values of the signals that the header or the segment lists, in order."""
        data = _numbers("a reading of the signals", values, "<f8", self._signals_bytes)
        self._message(_SIGNALS, step, data)

    def event(
        self,
        step: int,
        level: str,
        text: str,
        source: str = "session",
        *,
        simulated: bool = False,
        error: ErrorRecord | None = None,
    ) -> None:
        """Records a log entry; ``simulated`` if a replay must log it, too."""
        notice = EventMessage(
            level=_readable(level), text=_readable(text), source=_readable(source),
            simulated=simulated, error=error,
        )  # fmt: skip
        self._message(_EVENT, step, encode(notice, "event"))

    def segment(
        self,
        step: int,
        world: RecordedWorld,
        state: Block,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Records that the session continues in another world, after an edit of the scene.

        Args:
            step: First step of the new world.
            world: The new world.
            state: Its first state.
            files: All its sources; those recorded before are not stored again.
        """
        if step < self._step:
            raise self._check_step(step)
        files = files or {}
        check_files(files)
        world.check()
        data = _numbers("a state", state, "<f8", world.state_bytes)
        time = self._clock.nanoseconds(step) / _SECOND
        encode(SegmentMessage(world=world, files={}, step=step, time=time), "new world")
        self._enter(world, step, time)
        numbers = self._attachments.add(files, self._last)
        self._checked.segment += 1
        change = SegmentMessage(world=world, files=numbers, step=step, time=time)
        self._message(_NUMBERS["segment"], step, encode(change, "new world"))
        self._message(_STATE, step, data)
        self.flush()

    def flush(self) -> None:
        """Hands everything recorded so far to the operating system."""
        self._due = self._last + _SECOND
        self._journal.flush()

    def close(self) -> None:
        """Ends the recording with a summary; repeated calls have no effect. See ``failed``."""
        atexit.unregister(self.close)
        if self._journal.closed:
            return
        self._summary.last = self._last
        self._checked.append(self._copies.record())
        crc = self._journal.checksum()
        self._journal.append(self._summary.ending(self._journal.position, crc))
        self._journal.close()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self, header: Header, files: Mapping[str, bytes]) -> None:
        self._summary.channels = channel_records()
        clock = self._clock
        library = f"linkwork {header.versions.get('linkwork', '')}".strip()
        beginning = mcap_format.MAGIC + mcap_format.header_record(PROFILE, library)
        self._journal.append(beginning + start_check(beginning))
        for channel in self._summary.channels:
            self._checked.append(channel)
        self._summary.first = self._last = clock.nanoseconds(clock.step)
        numbers = self._attachments.add(files, self._last)
        opening = OpeningMessage(header=header, files=numbers, step=clock.step, time=clock.time)
        self._write(_NUMBERS["header"], clock.step, self._last, encode(opening, "header"))
        self.flush()
        if self.failed is not None:
            self._journal.close()
            self.path.unlink(missing_ok=True)
            raise self.failed

    def _enter(self, world: RecordedWorld, step: int, time: float) -> None:
        """Sets the world whose states, frames and signals are recorded from now on."""
        world.check()
        clock = Timebase(step, time, world.step)
        clock.check()
        self._clock = clock
        self._state_bytes = world.state_bytes
        self._frame_bytes = world.frame_bytes
        self._signals_bytes = world.signals_bytes

    def _message(self, channel: int, step: int, payload: bytes) -> None:
        if step < self._step:
            raise self._check_step(step)
        self._step = step
        time = self._clock.nanoseconds(step)
        self._write(channel, step, time, payload)
        if time >= self._due:
            self.flush()

    def _write(self, channel: int, step: int, time: int, payload: bytes) -> None:
        self._last = time
        head = mcap_format.message_head(channel, step, time, len(payload))
        self._checked.append(head, payload, channel=channel)
        self._summary.counts[channel] += 1
        if channel in _OPENER_NUMBERS:
            self._copies.add_opener(channel, self._checked.segment, head + payload)

    def _append_file(self, record: bytes) -> int:
        self._copies.add_file(record)
        return self._checked.append(record, channel=ATTACHED)

    def _check_step(self, step: int) -> RecordingError:
        if self._step == _NOT_STARTED:
            return RecordingError(
                f"the recording {self.path} has no first state yet.", hint="Call first() before."
            )
        return RecordingError(
            f"the recording {self.path} is at step {self._step} and cannot go back to {step}.",
            hint="A session that starts over starts a new recording.",
        )


def _numbers(what: str, block: Block | Sequence[float], kind: str, size: int) -> bytes:
    """The block as little-endian bytes, if it has the length that the world requires."""
    if not isinstance(block, bytes):
        raw = isinstance(block, bytearray | memoryview)
        block = bytes(block) if raw else np.asarray(block, kind).tobytes()
    if len(block) != size:
        raise RecordingError(f"{what} of this world has {size} bytes, not {len(block)}.")
    return block


def _readable(text: str) -> str:
    """The text without lone surrogates, which no encoding can hold."""
    return text.encode("utf-8", "backslashreplace").decode()
