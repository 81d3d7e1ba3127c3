"""What a session and its bus processes tell each other, over one link each."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from linkwork.buses.port import BusPlan
from linkwork.errors import FormatError

Name = Annotated[str, msgspec.Meta(max_length=512)]
Line = Annotated[str, msgspec.Meta(max_length=2000)]
#: Frames that one message carries at most.
MOST_FRAMES = 256


class Settings(msgspec.Struct, frozen=True):
    """What a bus process is told through its standard input: no other user sees it.

    Attributes:
        link: Address of the session's link.
        key: Its key.
        adapter: ``module:Class`` of the adapter.
        places: Where it is imported from.
        plan: The bus and its ports.
        version: Number of the plan.
    """

    link: str
    key: str
    adapter: str
    places: list[str]
    plan: BusPlan
    version: int


# ---- session to process ------------------------------------------------------------------------


class Outgoing(msgspec.Struct, frozen=True, array_like=True):
    """How things stand: the newest wins.

    Attributes:
        version: Number of the plan that the values belong to.
        step: Steps since the start.
        time: Simulated time [s].
        turn: Number of the turn that the scene waits for; 0 for none.
        taken: Feeds that the session has taken so far.
        values: Values of ``plan.given``, in its order; NaN for what has none yet.
    """

    version: int
    step: int
    time: float
    turn: int
    taken: int
    values: list[float]


class Replan(msgspec.Struct, frozen=True, tag=True):
    """The ports have changed."""

    plan: BusPlan
    version: int


class Tell(msgspec.Struct, frozen=True, tag=True):
    """An order of a person or a rule: a fault to inject, the log to pause."""

    name: str
    args: dict[str, Any]


# ---- process to session ------------------------------------------------------------------------


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The adapter serves; ``error`` says why it cannot. ``doors`` tell people where."""

    doors: Annotated[list[Line], msgspec.Meta(max_length=100)] = []
    error: Line = ""


class Fed(msgspec.Struct, frozen=True, tag=True):
    """Values that came over the bus, by key; ``turn`` is the turn that they end, 0 for none.

    In lock-step the counters that are the same at every pace come along, as they stand at the turn.
    """

    version: int
    values: Annotated[dict[Name, float], msgspec.Meta(max_length=100_000)]
    turn: int = 0
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}


class Report(msgspec.Struct, frozen=True, tag=True):
    """Health: partners on the bus, and the adapter's counters."""

    partners: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)]


class Gone(msgspec.Struct, frozen=True, tag=True):
    """Who commanded these signals has left; others may still be there. All if there are none."""

    keys: Annotated[list[Name], msgspec.Meta(max_length=100_000)] = []


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """One line of the bus log.

    Attributes:
        time: Simulated time [s].
        way: "in", "out" or "" for what is neither.
        address: Identifier as people write it, "0x104".
        data: The bytes.
        text: What they mean, for people.
        mark: What a fault did to it, "dropped"; empty for nothing.
    """

    time: float
    way: Annotated[str, msgspec.Meta(max_length=8)]
    address: Annotated[str, msgspec.Meta(max_length=100)] = ""
    data: Annotated[bytes, msgspec.Meta(max_length=4096)] = b""
    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    mark: Annotated[str, msgspec.Meta(max_length=20)] = ""


class Frames(msgspec.Struct, frozen=True, tag=True):
    """New lines of the bus log; ``skipped`` were too many to show."""

    frames: Annotated[list[Frame], msgspec.Meta(max_length=MOST_FRAMES)]
    skipped: int = 0


class Note(msgspec.Struct, frozen=True, tag=True):
    """Something to tell people."""

    text: Line
    level: Annotated[str, msgspec.Meta(pattern="^(info|warning|error)$")] = "info"


FromProcess = Ready | Fed | Report | Gone | Frames | Note

_encoder = msgspec.msgpack.Encoder()
_from_process = msgspec.msgpack.Decoder(FromProcess)
_to_process = msgspec.msgpack.Decoder(Replan | Tell)
_outgoing = msgspec.msgpack.Decoder(Outgoing)
_FAULTS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


def encode(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return _encoder.encode(message)


def decode_from_process(data: bytes) -> FromProcess:
    """A message of a bus process.

    Raises:
        FormatError: If it is none.
    """
    try:
        return _from_process.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is no message of a bus: {error}.") from None


def decode_to_process(data: bytes) -> Replan | Tell:
    """A message to a bus process."""
    return _to_process.decode(data)


def decode_outgoing(data: bytes) -> Outgoing:
    """A snapshot for a bus process."""
    return _outgoing.decode(data)
