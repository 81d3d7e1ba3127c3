"""The channels of a recording and the MessagePack messages on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from linkwork.errors import RecordingError, listing
from linkwork.session.recording.header import FORMAT, Header
from linkwork.session.recording.outline import Outline

PROFILE = "linkwork"

#: Encoding of each channel's messages. The number of a channel is its place here, from 1.
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

#: What a message on each channel is, for those who find the file without us.
DESCRIPTIONS = {
    "header": "run, world and files at the start",
    "segment": "world and files after an edit of the running scene",
    "state": "all numbers of the state, little endian; the first of a world, then keyframes",
    "inbox": "a message that the session took in, as it came",
    "hash": "hash of the state",
    "frame": "poses of the bodies: x y z qw qx qy qz, little endian",
    "signals": "values of the signals that the header or the segment lists, little endian",
    "event": "what happened: level, text, source",
}

#: Longest MessagePack message that is decoded [byte].
LONGEST = 2**26

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Message on ``header``: the run, and the world that it starts with.

    Attributes:
        header: About the run.
        files: Number of the attachment, from 0, by file name.
        step: First step.
        time: Simulated time of that step [s].
    """

    header: Header
    files: dict[str, int]
    step: int = 0
    time: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Message on ``segment``: the world after a live edit.

    Attributes:
        world: The new world.
        files: Number of the attachment, from 0, by name, for all files of the new world.
        step: First step of the new world.
        time: Simulated time of that step [s].
    """

    world: Outline
    files: dict[str, int]
    step: int
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Message on ``event``.

    Attributes:
        level: "info", "warning", "error" or what else the session says.
        text: What happened.
        source: Who says so: a program, an engine, the session.
    """

    level: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class _HeaderVersion:
    format: int


@dataclass(frozen=True, slots=True)
class _OpeningVersion:
    """What the opening of every format, older or newer, has."""

    header: _HeaderVersion


def encode(message: Opening | Change | Notice, what: str) -> bytes:
    """Writes a message.

    Raises:
        RecordingError: A value has no place in it.
    """
    try:
        return msgspec.msgpack.encode(message)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise RecordingError(f"the {what} cannot be recorded: {error}.") from None


def decode(data: bytes, kind: type[T], what: str) -> T:
    """Reads a message.

    Raises:
        RecordingError: It is no such message.
    """
    if len(data) > LONGEST:
        raise RecordingError(f"the recorded {what} has {len(data)} bytes, too many.")
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError, MemoryError) as error:
        raise RecordingError(f"the recorded {what} is damaged: {error}.") from None


def decode_opening(data: bytes) -> Opening:
    """Reads the message on ``header``.

    Raises:
        RecordingError: It is damaged, or a newer version of Linkwork wrote it.
    """
    version = decode(data, _OpeningVersion, "header").header.format
    if version != FORMAT:
        raise RecordingError(
            f"this recording has format {version}; this version of Linkwork reads format {FORMAT}.",
            hint="Update Linkwork." if version > FORMAT else "",
        )
    return decode(data, Opening, "header")


def foreign(profile: str, topics: list[str], *, chunks: bool) -> RecordingError:
    """The error for an MCAP file that something else wrote.

    Args:
        profile: Profile that it names.
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
