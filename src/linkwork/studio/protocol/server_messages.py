"""Messages from the studio's server to its clients."""

from __future__ import annotations

from typing import Literal

import msgspec

from linkwork.core.errors import ErrorRecord, LinkworkError
from linkwork.session.messages import FailedOperation
from linkwork.studio.protocol.frames import (
    Level,
    Source,
)
from linkwork.studio.protocol.views import (
    AgentView,
    AnchorView,
    Body,
    BusView,
    ElementView,
    FindingView,
    JointView,
    LightView,
    LoopView,
    MovementDraft,
    ReachSetup,
    ReplayView,
    SensorView,
    SignalView,
    UntrustedProgram,
    ViewpointView,
)


class ServerMessage(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of server messages."""


class Hello(ServerMessage, frozen=True):
    """The first message to a client.

    ``address`` is the studio's address for other machines; empty if they cannot reach it. ``key``
    is this client's own: it proves to ``/api/import`` that the uploader drives.
    """

    protocol: int
    version: str
    you: str
    driver: str | None
    people: list[str]
    scene_open: bool
    address: str
    key: str = ""


class SceneMessage(ServerMessage, frozen=True, tag="scene"):
    """The open scene; frames carry its ``version``.

    ``opened`` changes each time something is opened; an edit, or a save under another name, keeps
    it. ``mode`` is kinematic, emulation or simulation; empty if there is no choice. ``untrusted``
    are the programs that do not run until the driver trusts them. ``undriven`` are the joints of
    imported robots that move freely because nothing drives them.
    """

    version: int
    name: str
    title: str
    file: str
    step: float
    gravity: list[float]
    engines: list[str]
    dirty: bool
    can_undo: bool
    can_redo: bool
    editable: bool
    bodies: list[Body]
    elements: list[ElementView]
    joints: list[JointView]
    anchors: list[AnchorView]
    loops: list[LoopView]
    sensors: list[SensorView]
    agents: list[AgentView]
    signals: list[SignalView]
    viewpoints: list[ViewpointView]
    lights: list[LightView]
    background: str
    postures: list[str]
    findings: list[FindingView]
    replay: ReplayView | None = None
    buses: list[BusView] = []
    opened: int = 0
    mode: str = ""
    untrusted: list[UntrustedProgram] = []
    undriven: list[str] = []


class SceneClosed(ServerMessage, frozen=True, tag="closed"):
    """No scene is open anymore."""


class Status(ServerMessage, frozen=True):
    """State of the run; about ten times a second.

    ``mode`` is the clock's; ``rtf`` simulated per real time; ``gap`` the largest joint gap [m]
    and ``gap_at`` the loop that has it; ``history`` the first and last stored time [s]; ``seeking``
    whether the poses are of the past; ``hidden`` the indices of elements that are not drawn.
    """

    time: float
    running: bool
    speed: float
    mode: str
    lateness: float
    rtf: float
    gap: float
    gap_at: str
    energy: float
    step: int
    recording: str | None
    history: tuple[float, float] | None
    seeking: bool
    version: int
    hidden: list[int] = []


class Event(ServerMessage, frozen=True):
    """An event of the session.

    ``source`` is the agent, bus or component that logged it; empty for the session itself;
    ``error`` the reported error; ``failed`` the operation that it ended.
    """

    step: int
    level: Level
    text: str
    source: str = ""
    error: ErrorRecord | None = None
    failed: FailedOperation = ""


class Owners(ServerMessage, frozen=True):
    """The owner of each input."""

    owners: dict[str, str]


class RunningFault(msgspec.Struct, frozen=True):
    """An active fault on a bus, with the number of affected frames; ``name`` is the scene's.

    ``text`` describes it for people; ``chance`` is the probability for each frame.
    """

    number: int
    name: str
    text: str
    hits: int
    kind: str
    chance: float
    seed: int


class FaultState(msgspec.Struct, frozen=True):
    """A fault of the scene or an injected one: its target, its schedule, and whether it is active.

    ``count`` is how often it has begun; ``from_scene`` whether the scene defines it.
    """

    name: str
    kind: str
    about: str
    when: str
    active: bool
    pending: bool
    count: int
    from_scene: bool


class BusState(msgspec.Struct, frozen=True):
    """State of a bus: its process, its clients, its health.

    ``state`` is "starting", "waiting" (for a client), "active", "lost" (the policy on loss
    applies), "hung" (its process does not answer) or "off" (``problem`` says why); ``age`` is that
    of the port that has waited longest [s], null before the first command.
    """

    name: str
    state: Literal["starting", "waiting", "active", "lost", "hung", "off"]
    problem: str
    endpoints: list[str]
    pid: int
    clients: int
    restarts: int
    age: float | None
    missed_deadlines: int
    losses: int
    inputs: int
    refused: int
    counters: dict[str, float]
    faults: list[RunningFault]


class PortState(msgspec.Struct, frozen=True):
    """State of a port: ``age`` of its last command [s], null before the first; ``lost`` with it."""

    age: float | None
    missed_deadlines: int
    lost: bool


class Ports(ServerMessage, frozen=True):
    """State of buses and ports, at most ten times a second, while a client watches.

    ``ports`` are in the order of the scene's buses and their ports; ``values``, ``raw`` (the codes
    on the wire), ``owners`` and ``held`` are in the order of their signals.
    """

    version: int
    time: float
    buses: list[BusState]
    ports: list[PortState]
    values: list[float | None]
    raw: list[int | None]
    owners: list[str]
    held: list[bool]
    faults: list[FaultState]


class FrameLine(msgspec.Struct, frozen=True):
    """A line of a bus log: ``data`` in hexadecimal, ``mark`` the effect of a fault on it.

    ``way`` is empty for a note; ``text`` describes the content for people.
    """

    number: int
    time: float
    way: str
    address: str
    data: str
    text: str
    mark: str
    kind: Literal["data", "remote", "error", "note"]


class BusFrames(ServerMessage, frozen=True, tag="frames"):
    """New lines of a bus log while a client watches; ``skipped`` lines before them were left out.

    A client that begins to watch gets the newest known lines. Lines may come twice, but in order:
    they are numbered.
    """

    bus: str
    lines: list[FrameLine]
    skipped: int


class AttributeRow(msgspec.Struct, frozen=True):
    """An attribute; ``value`` as in the file, ``words`` the allowed values.

    ``origin`` is file and line, ``source`` the owner of that file, ``help`` one sentence.
    """

    key: str
    value: str | float | bool
    unit: str
    lo: float | None
    hi: float | None
    words: list[str] | None
    origin: str
    editable: bool
    changed: bool
    source: Source = "default"
    help: str = ""


class Attributes(ServerMessage, frozen=True):
    """Answer to ``inspect``; ``note`` says what an edit would do, or why there is none.

    ``convert`` is set if a TOML copy could be edited; ``placement`` is the placed part whose drives
    replace a joint's own.
    """

    name: str
    kind: str
    rows: list[AttributeRow]
    note: str = ""
    convert: bool = False
    placement: str = ""


#: Why a request was refused, for programs.
RefusalReason = Literal["", "exists", "owned", "reload", "token", "site"]


class Refused(ServerMessage, frozen=True):
    """A request was not carried out; ``what`` is the type of its message.

    ``key`` names the subject; ``reason`` is for programs: the file exists, a program owns the
    joints, the page must be reloaded, the token is wrong, the request comes from another site;
    ``error`` is the error with its origin and hint.
    """

    what: str
    text: str
    key: str = ""
    reason: RefusalReason = ""
    error: ErrorRecord | None = None

    @classmethod
    def of(
        cls, what: str, error: LinkworkError, key: str = "", reason: RefusalReason = ""
    ) -> Refused:
        """Builds the refusal that an error causes."""
        return cls(what, str(error), key, reason, error.to_record())


class People(ServerMessage, frozen=True):
    """The connected clients, the driver, and the client that requests control."""

    driver: str | None
    people: list[str]
    requester: str | None


class UndoState(ServerMessage, frozen=True, tag="undo"):
    """The steps to undo and redo, and the files to save.

    ``undo`` and ``redo`` name the steps; ``files`` have unsaved changes; ``is_own_file`` is whether
    they can be saved in place, else under another name such as ``suggestion``.
    """

    can_undo: bool
    can_redo: bool
    dirty: bool
    undo: str = ""
    redo: str = ""
    files: list[str] = msgspec.field(default_factory=list)
    is_own_file: bool = True
    suggestion: str = ""


class FilesSaved(ServerMessage, frozen=True, tag="saved"):
    """Files were written."""

    files: list[str]


class GalleryChanged(ServerMessage, frozen=True, tag="gallery_changed"):
    """The gallery has changed and should be requested again."""


class ReachState(ServerMessage, frozen=True, tag="reaching"):
    """Settings of the dragged tool; ``setup`` is null while there is none.

    ``chain`` are the joints that carry the tool, ``joints`` those that may move and ``columns`` the
    degrees of freedom of its Jacobian's columns, both empty while the solver is being prepared.
    """

    setup: ReachSetup | None
    chain: list[str]
    joints: list[str]
    columns: list[str]


class WorkspaceCloudState(ServerMessage, frozen=True, tag="cloud"):
    """Progress of the workspace cloud of ``tip``: ``done`` of ``count`` postures.

    ``hash`` is requested as ``/api/mesh/<hash>``: positions x y z, float32; empty until the cloud
    exists. With a ``count`` of 0 there is none.
    """

    tip: str
    done: int
    count: int
    hash: str


class MovementState(ServerMessage, frozen=True, tag="movement"):
    """The edited movement; ``draft`` is null while there is none.

    ``on`` is the part that it moves, one of ``robots``; its joints are named within that part.
    ``selected`` is the index of a posture, −1 for none; ``shown`` is whether the robot has that
    posture now, so that drags edit it. ``problems`` say why it cannot be played, ``mirror`` why it
    cannot be mirrored. ``file`` is where it was last saved or opened, ``suggestion`` where it could
    be saved, ``files`` what can be opened, ``buses`` those with a machine whose posture can be
    read. ``number`` is that of the last ``set_movement``: a state with an earlier number than the
    last one sent is outdated.
    """

    draft: MovementDraft | None
    on: str
    robots: list[str]
    selected: int
    shown: bool
    problems: list[str]
    mirror: str
    file: str
    dirty: bool
    suggestion: str
    files: list[str]
    buses: list[str]
    number: int = 0


class MovementTime(ServerMessage, frozen=True, tag="movement_time"):
    """Playback time in the movement [s], and whether it is being played."""

    time: float
    playing: bool


FromServer = (
    Hello
    | SceneMessage
    | SceneClosed
    | Status
    | Event
    | Owners
    | Attributes
    | Refused
    | People
    | UndoState
    | FilesSaved
    | GalleryChanged
    | Ports
    | BusFrames
    | ReachState
    | WorkspaceCloudState
    | MovementState
    | MovementTime
)


class GalleryScene(msgspec.Struct, frozen=True):
    """A scene of a kit; ``picture`` is a URL or null."""

    name: str
    title: str
    engine: str
    picture: str | None
    kit: str


class GalleryPart(msgspec.Struct, frozen=True):
    """A part of a kit."""

    name: str
    title: str
    picture: str | None


class GalleryKit(msgspec.Struct, frozen=True):
    """A kit and its parts."""

    name: str
    parts: list[GalleryPart]


class Recent(msgspec.Struct, frozen=True):
    """A recent file; ``when`` in seconds since 1970, ``missing`` if it no longer exists."""

    path: str
    name: str
    when: float
    missing: bool = False


class RecordingCard(msgspec.Struct, frozen=True):
    """A recording in the studio's folder: its length [s], its size [byte].

    ``when`` in seconds since 1970; ``problem`` says why it cannot be shown, or only in part.
    """

    path: str
    scene: str
    when: float
    duration: float
    size: int
    problem: str


class Gallery(msgspec.Struct, frozen=True):
    """Answer to ``/api/gallery``."""

    version: str
    scenes: list[GalleryScene]
    kits: list[GalleryKit]
    recent: list[Recent]
    recordings: list[RecordingCard] = []


class Imported(msgspec.Struct, frozen=True):
    """Answer to ``/api/import``: the file to open."""

    scene: str


class ShareToken(msgspec.Struct, frozen=True):
    """Answer to ``/api/share``: the token, for an address to give to others."""

    token: str


class ErrorResponse(msgspec.Struct, frozen=True):
    """Answer to a request that failed; ``where`` is the origin, ``reason`` as in ``Refused``."""

    error: str
    where: str = ""
    reason: RefusalReason = ""
