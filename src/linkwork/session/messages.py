"""Messages: what may come in through the inbox, and what goes out.

The inbox is the only door in. Every message is a msgspec struct with a tag; what arrives from
outside is decoded and checked here, so that nothing malformed reaches the session.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from linkwork.errors import FormatError

Name = Annotated[str, msgspec.Meta(max_length=512)]
#: A place [m] or turn [rad]; nothing is further away.
Length = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Triple = tuple[Length, Length, Length]
Source = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class Message(msgspec.Struct, frozen=True, tag=str.lower, forbid_unknown_fields=True):
    """Base of all inbox messages."""


class Set(Message, frozen=True):
    """Sets an input (as its owner) or a parameter."""

    signal: Name
    value: float
    owner: Name = "user"


class Take(Message, frozen=True):
    """Makes ``owner`` the owner of an input."""

    signal: Name
    owner: Name = "user"


class Release(Message, frozen=True):
    """Gives up everything that ``owner`` owns."""

    owner: Name = "user"


class Grab(Message, frozen=True):
    """Pulls a point of a body towards a place with a spring, until ``Drop``."""

    element: Name
    target: Triple
    point: Triple = (0.0, 0.0, 0.0)
    slot: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    stiffness: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] = 0.0
    damping: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] = 0.0


class Drop(Message, frozen=True):
    """Ends a pull."""

    slot: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0


class Posture(Message, frozen=True):
    """Puts the robot into a named posture, at rest."""

    name: Name


class Place(Message, frozen=True):
    """Moves one degree of freedom of a joint to a value, at rest; for hands on a paused robot."""

    joint: Name
    dof: Name
    value: Length


class Arrange(Message, frozen=True):
    """Moves joints to coordinates at once, at rest; as ``Place``, for hands that move a chain.

    Attributes:
        joints: Coordinates by joint: one value [rad or m] for each degree of freedom, or a unit
            quaternion w x y z for a ball, behind the place for a free body.
    """

    joints: Annotated[dict[Name, list[Length]], msgspec.Meta(max_length=10_000)]


class Restore(Message, frozen=True):
    """Goes on from a state that the session was in before."""

    state: bytes


class Reset(Message, frozen=True):
    """Goes back to the first state."""


class Reload(Message, frozen=True):
    """Gives an agent new program source."""

    agent: Name
    source: Source


class Swap(Message, frozen=True):
    """Replaces the scene by an edited one; what shares an id keeps its state.

    Attributes:
        archive: The scene as ``linkwork.scene.archive`` packs it.
        ids: Stable ids by full name.
        sources: Texts of programs by agent, in place of those in the archive.
    """

    archive: bytes
    ids: dict[str, str] = {}
    sources: dict[Name, Source] = {}


class Mode(Message, frozen=True):
    """Chooses what moves the scene: "kinematic", "emulation" or "simulation"; all else goes on."""

    mode: Name


class Feed(Message, frozen=True):
    """Hands on what came over a bus.

    Attributes:
        bus: Its name.
        values: Physical values by port and signal, ``arm/elbow.target``.
        turn: Whether this ends the partner's turn, in lock-step.
        counters: Counters of the bus as they stand at the turn.
    """

    bus: Name
    values: Annotated[dict[Name, float], msgspec.Meta(max_length=100_000)] = {}
    turn: bool = False
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}


class Health(Message, frozen=True):
    """Says how a bus's process is: who is connected, how often it began anew, its counters."""

    bus: Name
    partners: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    restarts: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}


class Lost(Message, frozen=True):
    """Says that a bus has lost its controller, and why; what it feeds next ends that.

    ``keys`` are the signals that the controller commanded: their ports are lost; all without.
    """

    bus: Name
    why: Annotated[str, msgspec.Meta(max_length=2000)]
    keys: Annotated[list[Name], msgspec.Meta(max_length=100_000)] = []


class Override(Message, frozen=True):
    """Holds a port's signal at a value, whatever the bus or the scene says; None lets go."""

    signal: Name
    value: float | None = None
    owner: Name = "user"


class Order(Message, frozen=True):
    """Tells a bus's process something: a fault to inject, its log to pause."""

    bus: Name
    name: Name
    args: Annotated[
        dict[Name, bool | int | float | str | list[int]], msgspec.Meta(max_length=100)
    ] = {}


class Fault(Message, frozen=True):
    """Begins or ends a fault now.

    Without a ``kind`` it is the scene's fault called ``name``, or one that was injected before.
    With a ``kind`` it is a new one, injected into the running scene; at most eight are at work.

    Attributes:
        name: Of the fault; a new one gets its type's, and ``on = false`` alone ends them all.
        on: Whether it begins, for as long as it lasts, or ends, and its rule with it.
        kind: Registered type of a new one: "stuck", "dead", "drop", …
        args: Its parameters: {"sensor": "tilt", "lasts": 2.0}. With ``at`` or ``chance`` it begins
            by its rule, else at once.
        slot: Its place in the state, where a recording begins while it is there.
    """

    name: Name = ""
    on: bool = True
    kind: Name = ""
    args: Annotated[
        dict[Name, bool | int | float | str | list[int | float]], msgspec.Meta(max_length=100)
    ] = {}
    slot: Annotated[int, msgspec.Meta(ge=-1, le=7)] = -1


class Tried(Message, frozen=True):
    """A step that failed and was taken back; stands in recordings only.

    What a program remembers outside the state may have changed in it, so a replay tries it too.
    """


class Play(Message, frozen=True):
    """Lets time run; ``speed`` 1 is real time, 0 as fast as possible."""

    speed: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None


class Pause(Message, frozen=True):
    """Stops time, and takes back the steps that were handed out."""


class Advance(Message, frozen=True):
    """Steps while paused, or hands steps to a session in lock-step.

    Messages behind it are applied after these steps, however early they arrive.
    """

    steps: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class Watch(Message, frozen=True):
    """Asks for values of these signals in every snapshot; empty ends it."""

    signals: list[Name] = []


Inbox = (
    Set | Take | Release | Grab | Drop | Posture | Place | Arrange | Restore | Reset | Reload | Swap
    | Mode
    | Play | Pause | Advance | Watch | Feed | Health | Lost | Override | Order | Fault
)  # fmt: skip

#: Messages that change the run and are recorded as they are; a swap or
#: another mode is recorded with its segment.
RECORDED = (
    Set, Take, Release, Grab, Drop, Posture, Place, Arrange, Restore, Reset, Reload, Tried, Feed,
    Health, Lost, Override, Fault,
)  # fmt: skip

_encoder = msgspec.msgpack.Encoder(enc_hook=float)
_decoder = msgspec.msgpack.Decoder(Inbox)
_json_decoder = msgspec.json.Decoder(Inbox)
_recorded_decoder = msgspec.msgpack.Decoder(Inbox | Tried)


#: What encoding and decoding raise for a message that is none.
_FAULTS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


def encode(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return _encoder.encode(message)


def decode(data: bytes) -> Message:
    """A message from bytes (MessagePack, or JSON starting with a brace).

    Raises:
        FormatError: If it is none; the message says what is wrong.
    """
    try:
        return _json_decoder.decode(data) if data[:1] == b"{" else _decoder.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is no inbox message: {error}.") from None


def checked(message: Message) -> Message:
    """The message as it would arrive from outside: of the right types, within its bounds.

    Raises:
        FormatError: If it is none; the message says what is wrong.
    """
    try:
        return _decoder.decode(_encoder.encode(message))
    except _FAULTS as error:
        name = type(message).__name__
        raise FormatError(f"{name} is no inbox message: {error}.") from None


def decode_recorded(data: bytes) -> Message:
    """A message from a recording.

    Raises:
        FormatError: If it is none.
    """
    try:
        return _recorded_decoder.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is no recorded message: {error}.") from None


class Event(msgspec.Struct, frozen=True, tag=str.lower):
    """Something that happened: ordered, none lost.

    Attributes:
        step: When.
        level: "info", "warning" or "error".
        text: For people.
        source: Who says it.
    """

    step: int
    level: str
    text: str
    source: str = ""


class Snapshot(msgspec.Struct, frozen=True, tag=str.lower):
    """How things stand: the newest wins.

    Attributes:
        version: Scene version; goes up with each structural edit.
        step: Steps since the start.
        time: Simulated time [s].
        running: Whether time runs.
        lateness: How far real time is ahead [s].
        pose: Poses of the bodies, float64 nb×7.
        values: Values of the watched signals by name.
    """

    version: int
    step: int
    time: float
    running: bool
    lateness: float
    pose: bytes
    values: dict[str, float]


class Hello(msgspec.Struct, frozen=True, tag=str.lower):
    """What a peer is told first: names and shapes of everything in the world.

    Attributes:
        version: Scene version.
        scene: Name of the scene.
        step: Time step [s].
        bodies: Names of the bodies, in the order of the poses.
        joints: Names of the joints.
        signals: Name, unit, lowest, highest and direction of each signal.
    """

    version: int
    scene: str
    step: float
    bodies: list[str]
    joints: list[str]
    signals: list[tuple[str, str, float, float, str]]


Outbox = Event | Hello
_outbox_decoder = msgspec.msgpack.Decoder(Outbox)
_snapshot_decoder = msgspec.msgpack.Decoder(Snapshot)


def decode_event(data: bytes) -> Event | Hello:
    """An event or greeting from bytes."""
    return _outbox_decoder.decode(data)


def decode_snapshot(data: bytes) -> Snapshot:
    """A snapshot from bytes."""
    return _snapshot_decoder.decode(data)
