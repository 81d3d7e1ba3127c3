"""MessagePack messages on the channels of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from linkwork.core.errors import ErrorRecord, RecordingError, listing
from linkwork.session.recording.header import FIRST_FORMAT, FORMAT, Header, RecordedWorld
from linkwork.session.recording.mcap_format import channel_record

PROFILE = "linkwork"

#: Encoding of each channel's messages. The number of a channel is its position here, from 1.
CHANNELS = {
    "header": "msgpack",
    "segment": "msgpack",
    "state": "float64",
    "inbox": "bytes",
    "hash": "hex",
    "frame": "float32",
    "signals": "float64",
    "event": "msgpack",
}

#: Channels whose messages open a world; its first state follows.
OPENERS = frozenset({"header", "segment"})

#: Description of each channel's messages, stored in the file.
DESCRIPTIONS = {
    "header": "run, world and files at the start",
    "segment": "world and files after an edit of the running scene",
    "state": "the whole state, little endian; the first of a world, then keyframes",
    "inbox": "an inbox message that the session applied, as received",
    "hash": "hash of the state",
    "frame": "poses of the bodies: x y z qw qx qy qz, little endian",
    "signals": "values of the signals that the header or the segment lists, little endian",
    "event": "log entry: level, text, source",
}

#: Longest MessagePack message that is decoded [byte].
LONGEST = 2**26

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningMessage:
    """Message on ``header``: the run, and its first world.

    Attributes:
        header: Description of the run.
        files: Number of the attachment, from 0, by file name.
        step: First step.
        time: Simulated time of that step [s].
    """

    header: Header
    files: dict[str, int]
    step: int = 0
    time: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentMessage:
    """Message on ``segment``: the world after a live edit.

    Attributes:
        world: The new world.
        files: Number of the attachment, from 0, by name, for all files of the new world.
        step: First step of the new world.
        time: Simulated time of that step [s].
    """

    world: RecordedWorld
    files: dict[str, int]
    step: int
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMessage:
    """Message on ``event``.

    Attributes:
        level: "info", "warning", "error" or another level of the session.
        text: Description of the event.
        source: Its source: a program, an engine, the session.
        simulated: Whether it was logged inside a step, so that a replay logs it, too.
        error: The reported error, or None.
    """

    level: str
    text: str
    source: str
    simulated: bool = False
    error: ErrorRecord | None = None


def channel_records() -> list[bytes]:
    """The records that declare the channels."""
    return [
        channel_record(number, topic, encoding, {"content": DESCRIPTIONS[topic]})
        for number, (topic, encoding) in enumerate(CHANNELS.items(), start=1)
    ]


@dataclass(frozen=True, slots=True)
class _HeaderVersion:
    format: int


@dataclass(frozen=True, slots=True)
class _OpeningVersion:
    """The fields common to the opening messages of all formats."""

    header: _HeaderVersion


def encode(message: object, what: str) -> bytes:
    """Writes a message.

    Raises:
        RecordingError: A value cannot be encoded.
    """
    try:
        return msgspec.msgpack.encode(message)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise RecordingError(f"the {what} cannot be recorded: {error}.") from None


def decode(data: bytes, kind: type[T], what: str) -> T:
    """Reads a message.

    Raises:
        RecordingError: It is not a valid message.
    """
    if len(data) > LONGEST:
        raise RecordingError(f"the recorded {what} has {len(data)} bytes, too many.")
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError, MemoryError) as error:
        raise RecordingError(f"the recorded {what} is damaged: {error}.") from None


def decode_opening(data: bytes) -> OpeningMessage:
    """Reads the message on ``header``.

    Raises:
        RecordingError: It is damaged, or a newer version of Linkwork wrote it.
    """
    version = decode(data, _OpeningVersion, "header").header.format
    if not FIRST_FORMAT <= version <= FORMAT:
        raise RecordingError(
            f"this recording has format {version}; this version of Linkwork reads formats "
            f"{FIRST_FORMAT} to {FORMAT}.",
            hint="Update Linkwork." if version > FORMAT else "",
        )
    return decode(data, OpeningMessage, "header")


def describe_foreign_file(profile: str, topics: list[str], *, chunks: bool) -> RecordingError:
    """The error for an MCAP file that another program wrote.

    Args:
        profile: Its profile.
        topics: Channels found in it.
        chunks: Whether it has chunks.
    """
    if chunks and profile == PROFILE:
        return RecordingError(
            "this recording was rewritten in chunks, which Linkwork does not read.",
            hint="Use the file as Linkwork wrote it.",
        )
    missing = [topic for topic in CHANNELS if topic not in topics]
    return RecordingError(
        f"this MCAP file is not a recording of Linkwork: its profile is {profile[:100]!r}, not "
        f"{PROFILE!r}, and it lacks the channels {listing(missing)}.",
        hint=f"Channels found: {listing(topic[:100] for topic in topics)}.",
    )
