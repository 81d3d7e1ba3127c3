"""Messages between a session and its bus processes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from linkwork.buses.port import BusPlan
from linkwork.core.errors import ErrorRecord, FormatError, LinkworkError

Name = Annotated[str, msgspec.Meta(max_length=512)]
Line = Annotated[str, msgspec.Meta(max_length=2000)]
#: Maximum number of frames in one message.
MAX_FRAMES = 256


class BusProcessSettings(msgspec.Struct, frozen=True):
    """Settings of a bus process, passed by its standard input, which no other user can read.

    Attributes:
        link: Address of the session's link.
        key: Its key.
        adapter: ``module:Class`` of the adapter.
        search_path: Search path of its modules.
        plan: The bus and its ports.
        version: Number of the plan.
        allow: What the adapter may do.
    """

    link: str
    key: str
    adapter: str
    search_path: list[str]
    plan: BusPlan
    version: int
    allow: list[str] = []


# ---- session to process ------------------------------------------------------------------------


class OutputValues(msgspec.Struct, frozen=True, array_like=True):
    """Values for the bus; only the newest matter.

    Attributes:
        version: Number of the plan that the values belong to.
        step: Steps since the start.
        time: Simulated time [s].
        turn: Number of the turn that the scene waits for; 0 for none.
        taken: Number of input messages that the session has taken.
        values: Values of ``plan.outputs``, in order; NaN for those that have none yet.
    """

    version: int
    step: int
    time: float
    turn: int
    taken: int
    values: list[float]


class PlanUpdate(msgspec.Struct, frozen=True, tag=True):
    """New ports after an edit."""

    plan: BusPlan
    version: int


class BusOrder(msgspec.Struct, frozen=True, tag=True):
    """A command: a fault to inject, the log to pause."""

    name: str
    args: dict[str, Any]


class Ping(msgspec.Struct, frozen=True, tag=True):
    """A request for a :class:`Pong` of the same number: the heartbeat of a process."""

    number: int


# ---- process to session ------------------------------------------------------------------------


class BusReady(msgspec.Struct, frozen=True, tag=True):
    """The adapter serves at ``endpoints``; ``error`` is why it cannot."""

    endpoints: Annotated[list[Line], msgspec.Meta(max_length=100)] = []
    error: ErrorRecord | None = None


class InputValues(msgspec.Struct, frozen=True, tag=True):
    """Received values, by key; ``turn`` is the turn that they end, 0 for none.

    In lock-step, counters that do not depend on response times come with the turn.
    """

    version: int
    values: Annotated[dict[Name, float], msgspec.Meta(max_length=100_000)]
    turn: int = 0
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}


class ActiveFault(msgspec.Struct, frozen=True):
    """A fault that is active on the wire.

    Attributes:
        number: Number for ending it.
        name: Name for ending it.
        text: Description for people: "drop, 50 %, seed 7".
        hits: Number of affected frames.
        kind: Type of the fault: "drop", "delay", …
        chance: Probability for each frame, 0 to 1.
        seed: Seed of the random numbers.
    """

    number: int
    name: Name
    text: Line
    hits: int
    kind: Name
    chance: float = 1.0
    seed: int = 0


class BusReport(msgspec.Struct, frozen=True, tag=True):
    """Status of the bus: connected clients, the adapter's counters, active faults."""

    clients: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)]
    faults: Annotated[list[ActiveFault], msgspec.Meta(max_length=1000)] = []


class ControllerGone(msgspec.Struct, frozen=True, tag=True):
    """The controller of these signals has left; of all if ``keys`` is empty."""

    keys: Annotated[list[Name], msgspec.Meta(max_length=100_000)] = []


#: Kind of a line of the bus log: a frame with data, a request for one, an error frame, or a note.
LineKind = Literal["data", "remote", "error", "note"]


class LogFrame(msgspec.Struct, frozen=True, array_like=True):
    """One line of the bus log.

    Attributes:
        time: Simulated time [s].
        way: "in", "out" or "" for neither.
        address: Identifier as text, "0x104".
        data: The bytes.
        text: Description of the content, for people.
        mark: Effect of a fault, "dropped"; empty for none.
        kind: What the line shows.
    """

    time: float
    way: Annotated[str, msgspec.Meta(max_length=8)]
    address: Annotated[str, msgspec.Meta(max_length=100)] = ""
    data: Annotated[bytes, msgspec.Meta(max_length=4096)] = b""
    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    mark: Annotated[str, msgspec.Meta(max_length=20)] = ""
    kind: LineKind = "data"


class LogFrames(msgspec.Struct, frozen=True, tag=True):
    """New lines of the bus log; ``skipped`` were dropped."""

    frames: Annotated[list[LogFrame], msgspec.Meta(max_length=MAX_FRAMES)]
    skipped: int = 0


class LogNote(msgspec.Struct, frozen=True, tag=True):
    """A message for the session's log; ``error`` is the error that it reports."""

    text: Line
    level: Annotated[str, msgspec.Meta(pattern="^(info|warning|error)$")] = "info"
    error: ErrorRecord | None = None

    @classmethod
    def of(cls, error: LinkworkError) -> LogNote:
        """Builds the message that reports an error."""
        return cls(str(error)[:2000], "error", error.to_record())


class Pong(msgspec.Struct, frozen=True, tag=True):
    """The answer to a :class:`Ping`, from the event loop that serves the bus."""

    number: int


FromProcess = BusReady | InputValues | BusReport | ControllerGone | LogFrames | LogNote | Pong
#: Events that a session sends to a bus process.
ToProcess = PlanUpdate | BusOrder | Ping

_encoder = msgspec.msgpack.Encoder()
_from_process = msgspec.msgpack.Decoder(FromProcess)
_to_process = msgspec.msgpack.Decoder(ToProcess)
_outgoing = msgspec.msgpack.Decoder(OutputValues)
_FAULTS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


def encode(message: msgspec.Struct) -> bytes:
    """Encodes a message."""
    return _encoder.encode(message)


def decode_from_process(data: bytes) -> FromProcess:
    """Decodes a message of a bus process.

    Raises:
        FormatError: If it is invalid.
    """
    try:
        return _from_process.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is not a message of a bus: {error}.") from None


def decode_to_process(data: bytes) -> ToProcess:
    """Decodes a message to a bus process."""
    return _to_process.decode(data)


def decode_outgoing(data: bytes) -> OutputValues:
    """Decodes the values for a bus process."""
    return _outgoing.decode(data)
