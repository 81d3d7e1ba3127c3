"""Recorder: writes a session to an append-only file that survives the session's death."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from linkwork.errors import RecordingError
from linkwork.session.recording import container
from linkwork.session.recording.attachments import Attachments, check_files
from linkwork.session.recording.header import Header
from linkwork.session.recording.journal import Journal
from linkwork.session.recording.messages import (
    CHANNELS,
    DESCRIPTIONS,
    PROFILE,
    Change,
    Notice,
    Opening,
    encode,
)
from linkwork.session.recording.outline import Clock, Outline

#: Bytes as they are, or an array of numbers.
Block = bytes | bytearray | memoryview | np.ndarray

_NUMBERS = {topic: number for number, topic in enumerate(CHANNELS, start=1)}
_STATE = _NUMBERS["state"]
_INBOX = _NUMBERS["inbox"]
_HASH = _NUMBERS["hash"]
_FRAME = _NUMBERS["frame"]
_SIGNALS = _NUMBERS["signals"]
_EVENT = _NUMBERS["event"]

_MESSAGE = container.MESSAGE
_PREFIX = container.MESSAGE_PREFIX.pack
_HEAD_SIZE = container.MESSAGE_HEAD.size
_SECOND = 1_000_000_000
_NOT_STARTED = 2**63


class Recorder:
    """Writes a session to a file while it runs.

    Everything recorded reaches the operating system after at most 0.25 s of wall time or one
    simulated second, whichever is first: a process that is killed loses no more. Once the
    recorder is made, a full or broken disk never stops the session: ``failed`` says what
    happened, and further calls do nothing. Steps never go back; a session that starts over
    starts a new recording.

    Args:
        path: The file, by custom with the suffix ``.mcap``.
        header: About the run and the world that it starts with.
        files: Every source of the world (scene, parts, programs, meshes) by relative name.
        step: First step.
        time: Simulated time of that step [s]; its number times its duration if not given.
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
        encode(Opening(header=header, files={}), "header")
        self._journal = Journal(self.path, overwrite=overwrite, fsync=fsync)
        self._summary = container.Summary(counts=dict.fromkeys(_NUMBERS.values(), 0))
        self._attachments = Attachments(self._journal, self._summary)
        self._open(header, files)
        atexit.register(self.close)

    @property
    def failed(self) -> RecordingError | None:
        """Why nothing more is recorded; None while all is well."""
        return self._journal.failed

    def first(self, state: Block) -> None:
        """Records the state of the first step; once, before all else."""
        if self._step != _NOT_STARTED:
            raise RecordingError(f"the recording {self.path} has its first state already.")
        data = _numbers("a state", state, "<f8", self._state_bytes)
        self._step = self._clock.step
        self._message(_STATE, self._step, data)
        self.flush()

    def keyframe(self, step: int, state: Block) -> None:
        """Records the whole state, as a place to which a viewer can jump."""
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

    def event(self, step: int, level: str, text: str, source: str = "session") -> None:
        """Records what happened, in words."""
        notice = Notice(level=_readable(level), text=_readable(text), source=_readable(source))
        self._message(_EVENT, step, encode(notice, "event"))

    def segment(
        self,
        step: int,
        world: Outline,
        state: Block,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Records that the session goes on in another world, after an edit of the running scene.

        Args:
            step: First step of the new world.
            world: The new world.
            state: Its first state.
            files: All its sources; those recorded before take no room.
        """
        if step < self._step:
            raise self._misstep(step)
        files = files or {}
        check_files(files)
        world.check()
        data = _numbers("a state", state, "<f8", world.state_bytes)
        time = self._clock.nanoseconds(step) / _SECOND
        encode(Change(world=world, files={}, step=step, time=time), "new world")
        self._enter(world, step, time)
        numbers = self._attachments.add(files, self._last)
        change = Change(world=world, files=numbers, step=step, time=time)
        self._message(_NUMBERS["segment"], step, encode(change, "new world"))
        self._message(_STATE, step, data)
        self.flush()

    def flush(self) -> None:
        """Hands everything recorded so far to the operating system."""
        self._due = self._last + _SECOND
        self._journal.flush()

    def close(self) -> None:
        """Ends the recording with a summary; once is enough. A full disk shows in ``failed``."""
        atexit.unregister(self.close)
        if self._journal.closed:
            return
        self._summary.last = self._last
        crc = self._journal.checksum()
        self._journal.append(self._summary.ending(self._journal.position, crc))
        self._journal.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self, header: Header, files: Mapping[str, bytes]) -> None:
        self._summary.channels = [
            container.channel_record(
                _NUMBERS[topic], topic, encoding, {"content": DESCRIPTIONS[topic]}
            )
            for topic, encoding in CHANNELS.items()
        ]
        clock = self._clock
        library = f"linkwork {header.versions.get('linkwork', '')}".strip()
        self._journal.append(container.MAGIC + container.header_record(PROFILE, library))
        self._journal.append(b"".join(self._summary.channels))
        self._summary.first = self._last = clock.nanoseconds(clock.step)
        numbers = self._attachments.add(files, self._last)
        opening = Opening(header=header, files=numbers, step=clock.step, time=clock.time)
        self._write(_NUMBERS["header"], clock.step, self._last, encode(opening, "header"))
        self.flush()
        if self.failed is not None:
            self._journal.close()
            self.path.unlink(missing_ok=True)
            raise self.failed

    def _enter(self, world: Outline, step: int, time: float) -> None:
        """Makes a world the one whose states, frames and signals are recorded from now on."""
        world.check()
        clock = Clock(step, time, world.step)
        clock.check()
        self._clock = clock
        self._state_bytes = world.state_bytes
        self._frame_bytes = world.frame_bytes
        self._signals_bytes = world.signals_bytes

    def _message(self, channel: int, step: int, payload: bytes) -> None:
        if step < self._step:
            raise self._misstep(step)
        self._step = step
        time = self._clock.nanoseconds(step)
        self._write(channel, step, time, payload)
        if time >= self._due:
            self.flush()

    def _write(self, channel: int, step: int, time: int, payload: bytes) -> None:
        self._last = time
        size = _HEAD_SIZE + len(payload)
        head = _PREFIX(_MESSAGE, size, channel, step & 0xFFFFFFFF, time, time)
        self._journal.append(head, payload)
        self._summary.counts[channel] += 1

    def _misstep(self, step: int) -> RecordingError:
        if self._step == _NOT_STARTED:
            return RecordingError(
                f"the recording {self.path} has no first state yet.", hint="Call first() before."
            )
        return RecordingError(
            f"the recording {self.path} is at step {self._step} and cannot go back to {step}.",
            hint="A session that starts over starts a new recording.",
        )


def _numbers(what: str, block: Block | Sequence[float], kind: str, size: int) -> bytes:
    """The block as little-endian bytes, if it has the length that the world asks for."""
    if not isinstance(block, bytes):
        raw = isinstance(block, bytearray | memoryview)
        block = bytes(block) if raw else np.asarray(block, kind).tobytes()
    if len(block) != size:
        raise RecordingError(f"{what} of this world has {size} bytes, not {len(block)}.")
    return block


def _readable(text: str) -> str:
    """The text without lone surrogates, which no encoding can hold."""
    return text.encode("utf-8", "backslashreplace").decode()
