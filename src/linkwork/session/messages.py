"""Messages of the inbox.

The inbox is the only input of a session. Every message is a msgspec struct with a tag; messages
from outside are decoded and checked here, so that nothing malformed reaches the session.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from linkwork.core.errors import ErrorRecord, FormatError

Name = Annotated[str, msgspec.Meta(max_length=512)]
#: A position [m] or angle [rad].
Length = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Triple = tuple[Length, Length, Length]
Source = Annotated[str, msgspec.Meta(max_length=1 << 20)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class Message(msgspec.Struct, frozen=True, tag=str.lower, forbid_unknown_fields=True):
    """Base of all inbox messages."""


class SetSignal(Message, frozen=True, tag="set"):
    """Sets an input (as its owner) or a parameter."""

    signal: Name
    value: float
    owner: Name = "user"


class TakeSignal(Message, frozen=True, tag="take"):
    """Makes ``owner`` the owner of an input."""

    signal: Name
    owner: Name = "user"


class ReleaseSignals(Message, frozen=True, tag="release"):
    """Releases everything that ``owner`` owns."""

    owner: Name = "user"


class GrabElement(Message, frozen=True, tag="grab"):
    """Pulls a point of a body toward a position with a spring, until ``ReleaseGrab``."""

    element: Name
    target: Triple
    point: Triple = (0.0, 0.0, 0.0)
    slot: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    stiffness: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] = 0.0
    damping: Annotated[float, msgspec.Meta(ge=0.0, le=1e9)] = 0.0


class ReleaseGrab(Message, frozen=True, tag="drop"):
    """Ends a pull."""

    slot: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0


class ApplyPosture(Message, frozen=True, tag="posture"):
    """Sets a named posture of the robot, at rest."""

    name: Name


class PlaceJoint(Message, frozen=True, tag="place"):
    """Sets one degree of freedom of a joint to a value, at rest; while paused."""

    joint: Name
    dof: Name
    value: Length


class PlaceJoints(Message, frozen=True, tag="arrange"):
    """Sets joints to coordinates, at rest; as ``PlaceJoint``, for several joints at once.

    Attributes:
        joints: Coordinates by joint: one value [rad or m] for each degree of freedom, a unit
            quaternion w x y z for a ball, or position and quaternion for a free body.
    """

    joints: Annotated[dict[Name, list[Length]], msgspec.Meta(max_length=10_000)]


class RestoreState(Message, frozen=True, tag="restore"):
    """Continues from an earlier state of the session."""

    state: bytes


class ResetState(Message, frozen=True, tag="reset"):
    """Restores the initial state."""


class ReloadProgram(Message, frozen=True, tag="reload"):
    """Gives an agent new program source.

    Attributes:
        agent: The agent.
        source: The new text.
        modules: In a recording: modules beside the program that have changed since it was last
            recorded, by name relative to its folder. Else ignored.
    """

    agent: Name
    source: Source
    modules: dict[str, bytes] = {}


class StartPrograms(Message, frozen=True, tag="start_programs"):
    """Starts programs that were withheld because nobody had trusted them."""

    agents: list[Name]


class SwapScene(Message, frozen=True, tag="swap"):
    """Replaces the scene by an edited one; objects with the same id keep their state.

    Attributes:
        archive: The scene as packed by ``linkwork.model.scene.archive``.
        ids: Stable ids by full name.
        sources: Texts of programs by agent, in place of those in the archive.
        withheld: Programs that did not run in the recorded session.
    """

    archive: bytes
    ids: dict[str, str] = {}
    sources: dict[Name, Source] = {}
    withheld: list[Name] = []


class SetMode(Message, frozen=True, tag="mode"):
    """Sets the mode of the scene: "kinematic", "emulation" or "simulation"."""

    mode: Name


class BusInputs(Message, frozen=True, tag="feed"):
    """Values that a bus has received.

    Attributes:
        bus: Name of the bus.
        values: Physical values by port and signal, ``arm/elbow.target``.
        turn: Whether this ends the client's turn, in lock-step.
        counters: Counters of the bus at the turn.
    """

    bus: Name
    values: Annotated[dict[Name, float], msgspec.Meta(max_length=100_000)] = {}
    turn: bool = False
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}


class BusHealth(Message, frozen=True, tag="health"):
    """Status of a bus process: connected clients, restarts, counters."""

    bus: Name
    clients: Count = 0
    restarts: Count = 0
    counters: Annotated[dict[Name, float], msgspec.Meta(max_length=1000)] = {}
    # The clients of recordings of earlier versions; never written.
    former_clients: Count | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="partners"
    )

    def __post_init__(self) -> None:
        if self.former_clients is not msgspec.UNSET:
            msgspec.structs.force_setattr(self, "clients", self.former_clients)
            msgspec.structs.force_setattr(self, "former_clients", msgspec.UNSET)


class ControllerLost(Message, frozen=True, tag="lost"):
    """The loss of a bus's controller; the next input ends it.

    ``keys`` are the signals that the controller commanded; their ports are lost, all without.
    """

    bus: Name
    why: Annotated[str, msgspec.Meta(max_length=2000)]
    keys: Annotated[list[Name], msgspec.Meta(max_length=100_000)] = []


class OverrideSignal(Message, frozen=True, tag="override"):
    """Overrides a port's signal with a value; None ends the override."""

    signal: Name
    value: float | None = None
    owner: Name = "user"


class BusCommand(Message, frozen=True, tag="order"):
    """A command to a bus process: a fault to inject, its log to pause."""

    bus: Name
    name: Name
    args: Annotated[
        dict[Name, bool | int | float | str | list[int]], msgspec.Meta(max_length=100)
    ] = {}


class SetFault(Message, frozen=True, tag="fault"):
    """Begins or ends a fault now.

    Without a ``kind`` it is the scene's fault called ``name``, or one that was injected before.
    With a ``kind`` it is a new one, injected into the running scene; at most eight are active.

    Attributes:
        name: Name of the fault; a new one gets that of its type, and ``on = false`` alone ends all.
        on: Whether it begins, for its duration, or ends together with its rule.
        kind: Registered type of a new one: "stuck", "dead", "drop", …
        args: Its parameters: {"sensor": "tilt", "lasts": 2.0}. With ``at`` or ``chance`` it begins
            by its rule, else at once.
        slot: Its slot in the state, in a recording that begins while it is active.
    """

    name: Name = ""
    on: bool = True
    kind: Name = ""
    args: Annotated[
        dict[Name, bool | int | float | str | list[int | float]], msgspec.Meta(max_length=100)
    ] = {}
    slot: Annotated[int, msgspec.Meta(ge=-1, le=7)] = -1


class FailedStep(Message, frozen=True, tag="tried"):
    """A step that failed and was undone; occurs in recordings only.

    A program's data outside the state may have changed in it, so a replay tries it, too.
    """


class StartClock(Message, frozen=True, tag="play"):
    """Starts the clock; ``speed`` 1 is real time, 0 as fast as possible."""

    speed: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None


class PauseClock(Message, frozen=True, tag="pause"):
    """Pauses the clock and cancels granted steps."""


class AdvanceSteps(Message, frozen=True, tag="advance"):
    """Grants steps while paused or in lock-step.

    Later messages are applied after these steps, however early they arrive.
    """

    steps: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


Inbox = (
    SetSignal
    | TakeSignal
    | ReleaseSignals
    | GrabElement
    | ReleaseGrab
    | ApplyPosture
    | PlaceJoint
    | PlaceJoints
    | RestoreState
    | ResetState
    | ReloadProgram
    | StartPrograms
    | SwapScene
    | SetMode
    | StartClock
    | PauseClock
    | AdvanceSteps
    | BusInputs
    | BusHealth
    | ControllerLost
    | OverrideSignal
    | BusCommand
    | SetFault
)

#: Messages that change the run and are recorded; a swap or another mode is recorded with its
#: segment.
RECORDED = (
    SetSignal,
    TakeSignal,
    ReleaseSignals,
    GrabElement,
    ReleaseGrab,
    ApplyPosture,
    PlaceJoint,
    PlaceJoints,
    RestoreState,
    ResetState,
    ReloadProgram,
    StartPrograms,
    FailedStep,
    BusInputs,
    BusHealth,
    ControllerLost,
    OverrideSignal,
    SetFault,
)

_encoder = msgspec.msgpack.Encoder(enc_hook=float)
_decoder = msgspec.msgpack.Decoder(Inbox)
_json_decoder = msgspec.json.Decoder(Inbox)
_recorded_decoder = msgspec.msgpack.Decoder(Inbox | FailedStep)


#: Exceptions of encoding and decoding an invalid message.
_FAULTS = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


def encode(message: msgspec.Struct) -> bytes:
    """Encodes a message."""
    return _encoder.encode(message)


def decode(data: bytes) -> Message:
    """Decodes a message (MessagePack, or JSON starting with a brace).

    Raises:
        FormatError: If it is invalid.
    """
    try:
        return _json_decoder.decode(data) if data[:1] == b"{" else _decoder.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is not an inbox message: {error}.") from None


def checked(message: Message) -> Message:
    """Returns a message after a check of its types and bounds.

    Raises:
        FormatError: If it is invalid.
    """
    try:
        return _decoder.decode(_encoder.encode(message))
    except _FAULTS as error:
        name = type(message).__name__
        raise FormatError(f"{name} is not an inbox message: {error}.") from None


def decode_recorded(data: bytes) -> Message:
    """Decodes a message of a recording.

    Raises:
        FormatError: If it is invalid.
    """
    try:
        return _recorded_decoder.decode(data)
    except _FAULTS as error:
        raise FormatError(f"this is not a recorded message: {error}.") from None


#: Source of recorded events that the session itself logged.
SESSION = "session"
#: An operation that an error ended: a step, after which the session is paused; a message of the
#: inbox, which was refused; an edit of the scene, which is not in use. Else empty.
FailedOperation = Literal["", "step", "message", "edit"]


class SessionEvent(msgspec.Struct, frozen=True, tag="event"):
    """A log entry; entries are ordered and none is lost.

    Attributes:
        step: Step at which it occurred.
        level: "info", "warning" or "error".
        text: Text of the log.
        source: Agent, bus or component that logged it; empty for the session itself.
        error: The reported error, or None.
        failed: The operation that the error ended.
        edit: Number of the failed edit; 0 for other events.
        simulated: Whether it was logged inside a step, so that a replay logs it, too.
    """

    step: int
    level: str
    text: str
    source: str = ""
    error: ErrorRecord | None = None
    failed: FailedOperation = ""
    edit: int = 0
    simulated: bool = False
