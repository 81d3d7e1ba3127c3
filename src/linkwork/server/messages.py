"""Messages: everything that the studio's server and its browser client say to each other.

This file is the source: ``python -m linkwork.server.typescript --write`` makes the client's types
of it. Text frames are JSON with a field ``type``. A binary frame is a whole picture: the header of
:data:`HEADER`, then blocks, each with the header of :data:`BLOCK`, its numbers and zeros up to a
multiple of 8 bytes, until the frame ends. Who does not know a kind of block skips it.
Positions are in metres, angles in radians, a pose is x y z and the quaternion w x y z.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any, Literal

import msgspec

from linkwork.errors import FormatError

#: Raised whenever an older client would misunderstand; checked when it connects.
PROTOCOL = 2

#: Kind of frame, two fields that are zero, scene version, simulated time [s]; little endian.
HEADER = struct.Struct("<BBHId")
#: The one kind of binary frame there is so far; others are not to be acknowledged.
PICTURE = 1
#: Kind of block, flags, length of its numbers without the zeros after them [byte].
BLOCK = struct.Struct("<HHI")
#: Kinds of blocks: poses of the bodies; values of the watched signals, with the number of the
#: watch as flags; points, forces and bodies of contacts; poses of the bodies as wanted.
POSES, SIGNALS, CONTACTS, GHOST = 1, 2, 3, 4
#: Kind of a block with what holds joints and loops: place [m], force on the second body [N], and
#: the number of the joint, or of joints plus that of the loop; empty where no engine knows.
FORCES = 8
#: Kind of a block about the tool that reaches, a list of numbers: its pose (7); the pose it is
#: dragged to, not a number while it is not (7); lengths (3) and axes, one behind the other (9), of
#: its ellipsoid; the figure of that; the damping of the last step; how far the tool is from its
#: target, or at rest from where it was let go, zeros where it has arrived [m, rad]; whether it is
#: on its way; how often the robot was put elsewhere without going there; n; its Jacobian, row by
#: row (6·n).
REACH = 9
#: Kind of a block with what is near the robot that reaches: nearest points of its shape and of the
#: other, their distance [m], then element and shape of the first and of the second.
NEAR = 10
#: How many numbers a row of a block has, and of how many bytes each is.
ROWS = {
    POSES: (7, 4), SIGNALS: (1, 8), CONTACTS: (7, 4), GHOST: (7, 4), 7: (1, 1), 8: (7, 4),
    9: (1, 8), 10: (11, 4),
}  # fmt: skip
#: Asked for like blocks, but told as texts, ``ports`` and ``frames``: only while somebody looks.
PORTS, FRAMES = 5, 6
#: Kind of a block with the picture of a camera: its number among the sensors as flags; width and
#: height, a number that is another for each new picture, then red, green, blue for each pixel. It
#: comes only when it is new.
IMAGE = 7
IMAGE_HEAD = struct.Struct("<HHI")
#: A camera is asked for by kind and number, in one: kind + number·IMAGE_STEP.
IMAGE_STEP = 2**16
#: Pictures that may be on the way to a client that has not acknowledged them, and how many a
#: client may let come before it says so: every message costs the server as much as a picture.
IN_FLIGHT, ACK_EACH = 12, 6
#: Keys of attributes of the running scene, which no file keeps, begin with it.
LIVE = "live."
#: How fast a pulled body swings towards the hand [rad/s]: the spring is its mass times the square.
PULL_RATE = 15

Name = Annotated[str, msgspec.Meta(max_length=512)]
#: A place [m]; nothing is further away.
Length = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Triple = tuple[Length, Length, Length]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e9)]
#: The number of a thing in a list, −1 for none; of a movement of a hand, 0 for none.
Number = Annotated[int, msgspec.Meta(ge=-1, le=2**31)]
Gesture = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
#: Whose file says an attribute: a kit's, the user's, or none.
Source = Literal["kit", "file", "default"]
Level = Literal["info", "warning", "error", "soft", "note", "mark"]
Direction = Literal["output", "input", "param"]
Drive = Literal["servo", "motor", "effort", "kinematic", "none"]
Role = Literal["command", "sensor", "parameter"]
ShapeKind = Literal["box", "cylinder", "cone", "sphere", "capsule", "plane", "mesh"]
AimKind = Literal["position", "orientation", "posture", "centre of mass", "point"]
DampingKind = Literal["smallest", "constant", "robotix"]
EllipsoidKind = Literal["velocity", "force", "dynamic", "impact"]
Interpolation = Literal["linear", "smooth", "hold"]
#: How a movement's joints are planned; empty for not at all.
Planner = Literal["", "acceleration", "speed", "energy", "cruise", "jerk"]


# ---- what a scene is made of -------------------------------------------------------------


class Body(msgspec.Struct, frozen=True):
    """A rigid body; number 0 is the world. Their order is that of the poses.

    ``com`` is the centre of mass [m] and ``inertia`` six numbers about it, xx yy zz xy xz yz
    [kg m²], in the frame of the body.
    """

    name: str
    part: str
    static: bool
    mass: float
    com: list[float]
    inertia: list[float]


class ShapeView(msgspec.Struct, frozen=True):
    """A shape of an element, posed in the frame of its body.

    Sizes: box x y z; cylinder radius, length; cone radius, length, radius at the top; sphere
    radius; capsule radius, length; plane x y; mesh none, its triangles are to scale. The axis is z,
    through the centre. ``mesh`` and ``texture`` are to be asked for as ``/api/mesh/<hash>``.
    """

    kind: ShapeKind
    size: list[float]
    pose: list[float]
    color: str
    visible: bool
    collide: bool
    mesh: str | None = None
    texture: str | None = None
    texture_repeat: tuple[float, float] = (1.0, 1.0)


class ElementView(msgspec.Struct, frozen=True):
    """An element, posed in the frame of its body."""

    name: str
    label: str
    part: str
    body: int
    pose: list[float]
    origin: str
    shapes: list[ShapeView]


class Dof(msgspec.Struct, frozen=True):
    """A degree of freedom of a joint; ``lo`` and ``hi`` are null where there is no limit."""

    name: str
    unit: str
    lo: float | None
    hi: float | None
    signal: str
    target_signal: str | None
    speed_signal: str | None
    effort_signal: str | None


class JointView(msgspec.Struct, frozen=True):
    """A joint between ``parent`` and ``body``.

    ``x0`` is the pose of the body in its parent at joint value 0; ``pivot`` and ``axis`` are in
    the frame of the body. ``path`` has the points x y z of a rail, one behind the other, in the
    frame of the parent; it is empty for others.
    """

    name: str
    label: str
    part: str
    type: str
    body: int
    parent: int
    x0: list[float]
    pivot: list[float]
    axis: list[float]
    axis2: list[float]
    pitch: float
    origin: str
    drive: Drive
    dofs: list[Dof]
    path: list[float] = []


class AnchorView(msgspec.Struct, frozen=True):
    """An anchor, posed in the frame of its body."""

    name: str
    on: str
    body: int
    pose: list[float]
    fits: str


class LoopView(msgspec.Struct, frozen=True):
    """A connection that closes a loop between the bodies ``a`` and ``b``."""

    name: str
    a: int
    b: int
    joint: str


class RayView(msgspec.Struct, frozen=True):
    """The line of a ray sensor in the frame of a body: from ``start`` [m] along a unit vector.

    It sees as far as ``range`` [m]; ``signal`` is the distance of what it meets [m].
    """

    body: int
    start: list[float]
    direction: list[float]
    range: float
    signal: str


class FanView(msgspec.Struct, frozen=True):
    """The rays of a lidar: in the x-y plane of a frame (7 numbers) in a body, at angles [rad].

    They see as far as ``range`` [m]; ``signals`` are the distances of what they meet [m].
    """

    body: int
    frame: list[float]
    angles: list[float]
    range: float
    signals: list[str]


class CameraView(msgspec.Struct, frozen=True):
    """A camera in a frame (7 numbers) in a body: it looks along x, z is up.

    ``opening`` is its vertical angle of view [rad], ``aspect`` its width by its height; it sees as
    far as ``far`` [m].
    """

    body: int
    frame: list[float]
    opening: float
    aspect: float
    far: float


class SensorView(msgspec.Struct, frozen=True):
    """A sensor and the signals it fills."""

    name: str
    type: str
    on: str
    signals: list[str]
    ray: RayView | None = None
    fan: FanView | None = None
    camera: CameraView | None = None


class AgentView(msgspec.Struct, frozen=True):
    """What decides targets; ``file`` is its program, if it has one."""

    name: str
    type: str
    file: str


class SignalView(msgspec.Struct, frozen=True):
    """A named value; ``lo`` and ``hi`` are null where there is no limit."""

    name: str
    unit: str
    lo: float | None
    hi: float | None
    direction: Direction


class ViewpointView(msgspec.Struct, frozen=True):
    """Where to look from; ``opening`` is the vertical angle [rad]."""

    name: str
    xyz: list[float]
    look_at: list[float]
    opening: float


class LightView(msgspec.Struct, frozen=True):
    """A light: a sun (parallel, from ``xyz`` towards ``look_at``) or a lamp."""

    name: str
    kind: str
    xyz: list[float]
    look_at: list[float]
    color: str
    strength: float
    shadows: bool = True


class FindingView(msgspec.Struct, frozen=True):
    """Something that an engine cannot do, or does only softly."""

    level: Level
    about: str
    text: str
    origin: str


class PortSignalView(msgspec.Struct, frozen=True):
    """A signal of a port: ``name`` in the scene, ``label`` in its port.

    ``bits`` is 0 for a plain number; ``address`` is where it stands on the bus, for people;
    ``behind`` the scene's signal behind it, or empty.
    """

    name: str
    label: str
    role: Role
    unit: str
    lo: float | None
    hi: float | None
    bits: int
    address: str
    behind: str


class PortView(msgspec.Struct, frozen=True):
    """A device on a bus; ``group`` is a path, ``joint`` the joint behind it, or empty."""

    name: str
    group: str
    joint: str
    signals: list[PortSignalView]


class FrameSignalView(msgspec.Struct, frozen=True):
    """Bits of a frame: value = raw · scale + offset.

    ``start`` counts as a DBC file does (byte · 8 + bit): the lowest bit, or the highest if
    ``big_endian``; ``real`` bits are an IEEE number,
    ``words`` are for raw values. With a ``parent`` it is in the frame only while
    that one's raw value is within one of ``ranges``.
    """

    name: str
    start: int
    bits: int
    big_endian: bool
    signed: bool
    real: bool
    scale: float
    offset: float
    unit: str
    words: dict[str, str]
    parent: str
    ranges: list[tuple[int, int]]


class FrameView(msgspec.Struct, frozen=True):
    """What the bytes of a frame mean; ``address`` and ``way`` as in the log, empty for both ways.

    ``name`` is a DBC file's; empty where none names it.
    """

    address: str
    way: str
    name: str
    length: int
    signals: list[FrameSignalView]


class BusView(msgspec.Struct, frozen=True):
    """A bus and its ports; ``about`` says its type in words, ``orders`` what it can be told.

    ``faults`` are the kinds that its wire knows, ``frames`` what its frames hold.
    """

    name: str
    kind: str
    about: str
    plant: str
    lockstep: bool
    deadline: float
    on_loss: str
    orders: list[str]
    faults: list[str]
    ports: list[PortView]
    frames: list[FrameView] = []


class MarkView(msgspec.Struct, frozen=True):
    """Something that a recording tells of; ``level`` is "mark" for what people marked.

    ``time`` is that of the recording [s].
    """

    time: float
    level: Level
    text: str
    source: str


class ReplayView(msgspec.Struct, frozen=True):
    """The recording that is looked at; its length [s], and when it was made (ISO 8601).

    ``live`` says whether a scene waits behind it, ``unsaved`` which of that scene's files have
    changes to save, ``problem`` what is wrong with the recording.
    """

    path: str
    name: str
    created: str
    duration: float
    live: bool
    problem: str
    marks: list[MarkView]
    unsaved: list[str] = []


class ReachAim(msgspec.Struct, frozen=True):
    """Something that reaching wants; priority 0 comes first, what is equal shares by weight.

    A ``point`` of ``frame`` stays where it is; the others are of the tool, or of the whole robot.
    """

    kind: AimKind
    priority: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    weight: Annotated[float, msgspec.Meta(gt=0.0, le=1000.0)] = 1.0
    frame: Name = ""
    point: Triple = (0.0, 0.0, 0.0)


#: The tool, its place more than its turn, then the posture that it began with.
USUAL_AIMS = ReachAim("position"), ReachAim("orientation", 0, 0.2), ReachAim("posture", 1, 0.1)


class ReachSetup(msgspec.Struct, frozen=True):
    """How a tool is dragged.

    ``tip`` is its element or anchor, and ``point`` the tool point in it; ``first`` is the joint
    where the active chain begins, empty for all. Shapes keep the distance ``keep`` [m] from others,
    and with ``itself`` from those of their own robot; null for none. With ``hold`` the tool stays
    while another link is dragged.
    """

    tip: Name
    point: Triple = (0.0, 0.0, 0.0)
    first: Name = ""
    aims: Annotated[list[ReachAim], msgspec.Meta(max_length=20)] = msgspec.field(
        default_factory=lambda: list(USUAL_AIMS)
    )
    damping: DampingKind = "smallest"
    damping_value: Annotated[float, msgspec.Meta(ge=0.0, le=100.0)] = 0.05
    keep: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] | None = None
    itself: bool = False
    hold: bool = False
    ellipsoid: EllipsoidKind = "velocity"


class TimedPosture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Values that joints reach at a time [s]; ``speeds`` and ``planner`` are for a planner."""

    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]
    joints: Annotated[dict[Name, Length], msgspec.Meta(max_length=1000)]
    speeds: Annotated[dict[Name, Length], msgspec.Meta(max_length=1000)] = {}
    planner: Planner = ""


class JointLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a joint may do at most [rad or m, s]; null where nothing limits it."""

    speed: Positive | None = None
    acceleration: Positive | None = None
    jerk: Positive | None = None


class MovementDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A movement as it is edited: postures at times, joints named within their part."""

    name: Name
    postures: Annotated[list[TimedPosture], msgspec.Meta(max_length=1000)]
    interpolation: Interpolation = "smooth"
    planner: Planner = ""
    limits: Annotated[dict[Name, JointLimits], msgspec.Meta(max_length=1000)] = {}
    title: Annotated[str, msgspec.Meta(max_length=500)] = ""


# ---- server to client --------------------------------------------------------------------


class ServerMessage(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base of what the server says."""


class Hello(ServerMessage, frozen=True):
    """What a client is told first.

    ``address`` is where other machines reach the studio; empty where they cannot. ``key`` is this
    client's own: who brings files to ``/api/import`` shows by it that it is who drives.
    """

    protocol: int
    version: str
    you: str
    driver: str | None
    people: list[str]
    scene_open: bool
    address: str
    key: str = ""


class Scene(ServerMessage, frozen=True):
    """The scene that is open; frames carry its ``version``.

    ``opened`` differs each time that something is opened; an edit, or a save under another name,
    keeps it. ``mode`` is what moves it, kinematic, emulation or simulation; empty where it offers
    no choice.
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


class Closed(ServerMessage, frozen=True):
    """No scene is open any more."""


class Status(ServerMessage, frozen=True):
    """How the run stands; about ten times a second.

    ``mode`` is the clock's; ``rtf`` simulated per real time; ``gap`` the largest joint gap [m]
    and ``gap_at`` the loop that has it; ``history`` the first and last time one can go back to
    [s]; ``seeking`` whether the poses are those of the past; ``unseen`` the elements, by their
    place in the scene's list, that are not to be drawn now.
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
    unseen: list[int] = []


class Event(ServerMessage, frozen=True):
    """Something that happened."""

    step: int
    level: Level
    text: str
    source: str


class Owners(ServerMessage, frozen=True):
    """Who owns which input."""

    owners: dict[str, str]


class RunningFault(msgspec.Struct, frozen=True):
    """A fault at work on a bus, and how many frames it has struck; ``name`` is the scene's."""

    number: int
    name: str
    text: str
    hits: int


class FaultState(msgspec.Struct, frozen=True):
    """A fault of the scene, or one that was injected: what it strikes, when, and whether it does.

    ``count`` is how often it has begun; ``own`` whether it is the scene's and not injected.
    """

    name: str
    kind: str
    about: str
    when: str
    active: bool
    waits: bool
    count: int
    own: bool


class BusState(msgspec.Struct, frozen=True):
    """How a bus is: its process, who is connected, its health.

    ``state`` is "starting", "waiting" (for a partner), "active", "lost" (the policy on loss is at
    work) or "off" (``problem`` says why); ``age`` is that of the port that has waited longest [s],
    null before anything came.
    """

    name: str
    state: Literal["starting", "waiting", "active", "lost", "off"]
    problem: str
    doors: list[str]
    pid: int
    partners: int
    restarts: int
    age: float | None
    misses: int
    losses: int
    feeds: int
    refused: int
    counters: dict[str, float]
    faults: list[RunningFault]


class PortState(msgspec.Struct, frozen=True):
    """How a port is: ``age`` of its last command [s], null before the first; ``lost`` with it."""

    age: float | None
    misses: int
    lost: bool


class Ports(ServerMessage, frozen=True):
    """How buses and ports stand, at most ten times a second, while somebody looks.

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
    """A line of a bus log: ``data`` in hexadecimal, ``mark`` what a fault did to it."""

    number: int
    time: float
    way: str
    address: str
    data: str
    text: str
    mark: str


class Frames(ServerMessage, frozen=True):
    """New lines of a bus log while somebody looks; ``skipped`` before them were too many.

    Who begins to look gets the newest lines that are known. Lines may come twice, not out of
    order: their numbers tell.
    """

    bus: str
    lines: list[FrameLine]
    skipped: int


class Row(msgspec.Struct, frozen=True):
    """An attribute; ``value`` is as the file would say it, ``words`` what is allowed.

    ``origin`` is file and line, ``source`` whose file that is, ``help`` one sentence for people.
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

    ``convert`` is set where a copy in TOML could be edited; ``placement`` is the placed part whose
    drives replace a joint's own.
    """

    name: str
    kind: str
    rows: list[Row]
    note: str = ""
    convert: bool = False
    placement: str = ""


class Refused(ServerMessage, frozen=True):
    """Something asked for was not done; ``what`` is the type of the message that asked."""

    what: str
    text: str
    key: str = ""


class People(ServerMessage, frozen=True):
    """Who is here, who drives, and who asks to."""

    driver: str | None
    people: list[str]
    asks: str | None


class UndoState(ServerMessage, frozen=True, tag="undo"):
    """What can be undone, redone and saved.

    ``undo`` and ``redo`` name the steps; ``files`` have something to save; ``own`` is whether
    they can be saved where they are, else under another name, for instance ``suggestion``.
    """

    can_undo: bool
    can_redo: bool
    dirty: bool
    undo: str = ""
    redo: str = ""
    files: list[str] = msgspec.field(default_factory=list)
    own: bool = True
    suggestion: str = ""


class Saved(ServerMessage, frozen=True):
    """Files were written."""

    files: list[str]


class GalleryChanged(ServerMessage, frozen=True, tag="gallery_changed"):
    """The gallery is to be asked for again."""


class Reaching(ServerMessage, frozen=True):
    """How the tool is dragged now; ``setup`` is null while none is.

    ``chain`` are the joints that carry the tool, ``joints`` those that may move and ``columns`` the
    degrees of freedom that its Jacobian has columns of, both empty while the mathematics are being
    made ready.
    """

    setup: ReachSetup | None
    chain: list[str]
    joints: list[str]
    columns: list[str]


class Cloud(ServerMessage, frozen=True):
    """How far the cloud of places in reach of ``tip`` is: ``done`` of ``count`` postures.

    ``hash`` is to be asked for as ``/api/mesh/<hash>``: places x y z, float32; empty until there is
    one. A ``count`` of 0 says that there is none any more.
    """

    tip: str
    done: int
    count: int
    hash: str


class MovementState(ServerMessage, frozen=True, tag="movement"):
    """The movement that is being edited; ``draft`` is null while there is none.

    ``on`` is the part that it moves, one of ``robots``; its joints are named within that part.
    ``selected`` is the number of a posture, −1 for none; ``shown`` is whether the robot has that
    posture now, so that what a hand moves goes into it. ``problems`` say what keeps it from being
    played, ``mirror`` why it cannot be mirrored. ``file`` is where it was last saved or opened,
    ``suggestion`` where it could be saved, ``files`` what can be opened, ``buses`` those with a
    machine whose posture can be read. ``number`` is that of the last ``set_movement``: what has an
    earlier one than you sent last is of the time before it.
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
    """Where in the movement the robot is [s], and whether it is being played."""

    time: float
    playing: bool


FromServer = (
    Hello | Scene | Closed | Status | Event | Owners | Attributes | Refused | People | UndoState
    | Saved | GalleryChanged | Ports | Frames | Reaching | Cloud | MovementState | MovementTime
)  # fmt: skip


# ---- client to server --------------------------------------------------------------------


class ClientMessage(
    msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, forbid_unknown_fields=True
):
    """Base of what a client says."""


class Open(ClientMessage, frozen=True):
    """Opens a scene or part: a kit's name for it, or a recent or imported file.

    While a recording is looked at, a scene with changes that are not saved may wait behind it:
    only with ``discard`` it is given up.
    """

    scene: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    discard: bool = False


class CloseScene(ClientMessage, frozen=True, tag="close_scene"):
    """Goes back to the gallery; ``discard`` is as for ``open``."""

    discard: bool = False


class Play(ClientMessage, frozen=True):
    """Lets time run."""


class Pause(ClientMessage, frozen=True):
    """Stops time."""


class Step(ClientMessage, frozen=True):
    """Does some steps while paused; a negative number goes back through history."""

    steps: Annotated[int, msgspec.Meta(ge=-10_000, le=10_000)] = 1


class Reset(ClientMessage, frozen=True):
    """Goes back to the first state."""


class Speed(ClientMessage, frozen=True):
    """Simulated seconds per real second; 0 is as fast as possible."""

    value: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)]


class Seek(ClientMessage, frozen=True):
    """Shows the past at a time [s]; playing goes on from there."""

    time: Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]


class Live(ClientMessage, frozen=True):
    """Shows the present again."""


class Set(ClientMessage, frozen=True):
    """Sets an input or a parameter."""

    signal: Name
    value: float


class Take(ClientMessage, frozen=True):
    """Takes an input over."""

    signal: Name


class Release(ClientMessage, frozen=True):
    """Gives all inputs back."""


class Place(ClientMessage, frozen=True):
    """Moves a joint itself, while paused.

    What one movement of a hand asks for has the same ``gesture`` and is one step of undo; 0 is a
    step of its own.
    """

    joint: Name
    dof: Name
    value: float
    gesture: Gesture = 0


class Posture(ClientMessage, frozen=True):
    """Puts the robot into a named posture."""

    name: Name


class Grab(ClientMessage, frozen=True):
    """Pulls a point of an element (in its frame) towards a place (in the world's)."""

    element: Name
    point: Triple
    target: Triple


class Drop(ClientMessage, frozen=True):
    """Ends a pull."""


class Watch(ClientMessage, frozen=True):
    """Asks for the values of these signals; their blocks carry ``number`` as flags."""

    number: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    signals: Annotated[list[Name], msgspec.Meta(max_length=4096)]


class Show(ClientMessage, frozen=True):
    """Asks for contacts, for the wanted posture, for the ports and for the frames of buses.

    ``forces`` are those that hold joints and loops.

    ``cameras`` are those whose pictures are wanted, by their numbers among the scene's sensors.
    ``reach`` is about the tool that reaches, ``near`` what is near its robot.
    """

    contacts: bool = False
    ghost: bool = False
    forces: bool = False
    ports: bool = False
    frames: bool = False
    cameras: Annotated[
        list[Annotated[int, msgspec.Meta(ge=0, lt=2**16)]], msgspec.Meta(max_length=4)
    ] = []
    reach: bool = False
    near: bool = False


class SetReach(ClientMessage, frozen=True, tag="set_reach"):
    """Chooses which tool is dragged and how; without a setup none is."""

    setup: ReachSetup | None = None


class Reach(ClientMessage, frozen=True):
    """Drags the tool to a pose (7 numbers), or with ``frame`` a point of that to the place alone.

    Joints go there step by step, also after the hand has stopped. What one movement of a hand asks
    for has the same ``gesture``.
    """

    pose: tuple[Length, Length, Length, Length, Length, Length, Length]
    gesture: Gesture = 0
    frame: Name = ""
    point: Triple = (0.0, 0.0, 0.0)


class LetGo(ClientMessage, frozen=True, tag="let_go"):
    """Ends a drag of the tool; one that is ``given_up`` puts the joints back where they were."""

    given_up: bool = False


class Workspace(ClientMessage, frozen=True):
    """Asks for the cloud of places that the tool reaches, by so many postures; 0 gives it up."""

    count: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 50_000


class Override(ClientMessage, frozen=True):
    """Holds a port's signal at a value, whatever the bus or the scene says; null lets go."""

    signal: Name
    value: float | None = None


class Order(ClientMessage, frozen=True):
    """Tells a bus something that it knows: a fault to inject, a frame to send."""

    bus: Name
    name: Name
    args: Annotated[
        dict[Name, bool | float | Annotated[str, msgspec.Meta(max_length=512)] | list[int]],
        msgspec.Meta(max_length=100),
    ] = {}


class Fault(ClientMessage, frozen=True):
    """Begins or ends a fault: one of the scene by its name, or with a ``kind`` a new one.

    ``args`` are its parameters as a file would say them; with neither name nor kind all end. A
    ``person`` without a ``part`` is a visitor whom the scene gets, who comes from ``enters``.
    """

    name: Name = ""
    on: bool = True
    kind: Name = ""
    args: Annotated[
        dict[Name, bool | float | Annotated[str, msgspec.Meta(max_length=512)] | list[float]],
        msgspec.Meta(max_length=100),
    ] = {}


class Inspect(ClientMessage, frozen=True):
    """Asks for the attributes of a thing; ``kind`` is scene, part, element, joint or the like."""

    name: Name
    kind: Name


class Edit(ClientMessage, frozen=True):
    """Changes an attribute in the file; a number, or words as the file would say them."""

    name: Name
    kind: Name
    key: Name
    value: Annotated[str, msgspec.Meta(max_length=65536)] | float | bool


class CloseLoop(ClientMessage, frozen=True, tag="close_loop"):
    """Holds two anchors together by a joint, in the file; ``axis`` is in the anchors' frames."""

    a: Name
    b: Name
    joint: Name = "ball"
    axis: Triple = (0.0, 0.0, 1.0)


class Undo(ClientMessage, frozen=True):
    """Takes the last edit back."""


class Redo(ClientMessage, frozen=True):
    """Does it again."""


class Save(ClientMessage, frozen=True):
    """Writes the files that changed."""


class SaveAs(ClientMessage, frozen=True, tag="save_as"):
    """Writes the scene and what it needs to another file, and goes on there."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    overwrite: bool = False


class NewScene(ClientMessage, frozen=True, tag="new_scene"):
    """Opens a new scene, not saved yet: a floor, and on it a part of a kit if one is named.

    ``discard`` is as for ``open``.
    """

    name: Name
    part: Name = ""
    discard: bool = False


class StorePosture(ClientMessage, frozen=True, tag="store_posture"):
    """Writes the joint values that are shown into the file, as a named posture."""

    name: Name


class SetMovement(ClientMessage, frozen=True, tag="set_movement"):
    """Edits the movement: puts another in its place; without a draft there is none any more.

    ``what`` names the step for undo; steps of one ``gesture`` are one. ``selected`` is a posture.
    The answer has the same ``number``, also if it is refused.
    """

    draft: MovementDraft | None = None
    selected: Number = -1
    on: Name = ""
    what: Annotated[str, msgspec.Meta(max_length=200)] = ""
    gesture: Gesture = 0
    number: Gesture = 0


class AddPosture(ClientMessage, frozen=True, tag="add_posture"):
    """Adds the posture that the robot has, or with ``wanted`` the one it is to have.

    Without a ``time`` it comes a second after the last. Where there is no movement one begins,
    of the part ``on``.
    """

    wanted: bool = False
    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None
    on: Name = ""


class ShowMovement(ClientMessage, frozen=True, tag="show_movement"):
    """Selects a ``posture`` by its number and shows it, or shows the movement at a time [s].

    While time stands the joints themselves go there; while it runs their targets do.
    """

    posture: Number = -1
    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0


class PlayMovement(ClientMessage, frozen=True, tag="play_movement"):
    """Plays the movement on the robot, or ends that; ``take`` takes its joints over first."""

    on: bool = True
    take: bool = False


class MirrorMovement(ClientMessage, frozen=True, tag="mirror_movement"):
    """Exchanges left and right in a posture, or in all of them."""

    posture: Number = -1


class ReadPosture(ClientMessage, frozen=True, tag="read_posture"):
    """Takes what the machine behind a bus reports into a posture, or adds one of it.

    ``on`` is the robot that a new movement is of.
    """

    bus: Name = ""
    posture: Number = -1
    on: Name = ""


class OpenMovement(ClientMessage, frozen=True, tag="open_movement"):
    """Edits a movement of a file: a kit's name for it, or a file of the studio's folders."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    name: Name = ""
    on: Name = ""


class SaveMovement(ClientMessage, frozen=True, tag="save_movement"):
    """Writes the movement, as TOML or beside its robot as document 004's XML."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    overwrite: bool = False


class Convert(ClientMessage, frozen=True):
    """Makes a copy in TOML of the file that is open, and opens that."""


class Forget(ClientMessage, frozen=True):
    """Takes a file off the list of recent ones; the file itself stays."""

    path: Annotated[str, msgspec.Meta(max_length=4096)]


class Record(ClientMessage, frozen=True):
    """Begins or ends a recording."""

    on: bool


class Mark(ClientMessage, frozen=True):
    """Puts a named mark into the recording that is being made."""

    text: Annotated[str, msgspec.Meta(max_length=200)] = ""


class GoOn(ClientMessage, frozen=True, tag="go_on"):
    """Goes on live from the instant of the recording that is shown; ``discard`` as for ``open``."""

    discard: bool = False


class ControlRequest(ClientMessage, frozen=True, tag="control_request"):
    """Asks to drive."""


class ControlGrant(ClientMessage, frozen=True, tag="control_grant"):
    """Hands over to somebody."""

    to: Name


class Ack(ClientMessage, frozen=True):
    """How many pictures have arrived since the connection was made."""

    frame: Annotated[int, msgspec.Meta(ge=0, le=2**53)]


FromClient = (
    Open | CloseScene | Play | Pause | Step | Reset | Speed | Seek | Live | Set | Take | Release
    | Place | Posture | Grab | Drop | Watch | Show | Override | Order | Fault | Inspect | Edit
    | CloseLoop | Undo | Redo | Save | SaveAs | SetReach | Reach | LetGo | Workspace
    | NewScene | StorePosture | Convert | Forget | Record | Mark | GoOn | ControlRequest
    | ControlGrant | Ack | SetMovement | AddPosture | ShowMovement | PlayMovement | MirrorMovement
    | ReadPosture | OpenMovement | SaveMovement
)  # fmt: skip

#: What a watcher may send; all else is the driver's.
FOR_ALL = (Watch, Show, Inspect, ControlRequest, Ack)


# ---- over HTTP ---------------------------------------------------------------------------


class GalleryScene(msgspec.Struct, frozen=True):
    """A scene of a kit; ``picture`` is an address or null."""

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
    """A file that was open; ``when`` in seconds since 1970, ``missing`` if it is there no more."""

    path: str
    name: str
    when: float
    missing: bool = False


class RecordingCard(msgspec.Struct, frozen=True):
    """A recording of the studio's folder: its length [s], its size [byte].

    ``when`` in seconds since 1970; ``problem`` says why it cannot be shown, or not all of it.
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
    """Answer to ``/api/import``: what to open."""

    scene: str


class Problem(msgspec.Struct, frozen=True):
    """Answer to a request that failed."""

    error: str
    where: str = ""


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's own, for messages."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise FormatError(f"{value!r} is nothing that a message can hold.")


_encoder = msgspec.json.Encoder(enc_hook=plain)
_decoder = msgspec.json.Decoder(FromClient)


def encode(message: msgspec.Struct) -> bytes:
    """A message as JSON."""
    return _encoder.encode(message)


def decode(data: bytes | str) -> FromClient:
    """A client's message from JSON.

    Raises:
        FormatError: If it is none; the message says what is wrong.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"this is no message of the studio: {_short(str(error))}.") from None


def _short(text: str) -> str:
    """A text without its middle where it is long: what was sent is not sent back as a whole."""
    return text if len(text) <= 400 else f"{text[:200]} … {text[-100:]}"


def claimed_type(data: bytes | str) -> str:
    """The type that a message claims to have, which may not be one; empty where it has none."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return _short(msgspec.json.decode(fields["type"], type=str))
    except (msgspec.MsgspecError, KeyError, ValueError, RecursionError):
        return ""


def type_of(message: msgspec.Struct) -> str:
    """The word in a message's field ``type``."""
    return str(type(message).__struct_config__.tag)
