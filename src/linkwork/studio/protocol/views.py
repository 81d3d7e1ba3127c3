"""Views: the description of a scene for browsers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from linkwork.studio.protocol.frames import (
    AimKind,
    DampingKind,
    Direction,
    Drive,
    EllipsoidKind,
    Interpolation,
    Length,
    Level,
    Name,
    Planner,
    Positive,
    Role,
    ShapeKind,
    Triple,
)


class Body(msgspec.Struct, frozen=True):
    """A rigid body; number 0 is the world. Poses are in the same order.

    ``com`` is the center of mass [m] and ``inertia`` six numbers about it, xx yy zz xy xz yz
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
    radius; capsule radius, length; plane x y; mesh none, its triangles are scaled. The axis is z,
    through the center. ``mesh`` and ``texture`` are requested as ``/api/mesh/<hash>``.
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
    """A degree of freedom of a joint; ``lo`` and ``hi`` are null if there is no limit."""

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
    the frame of the body. ``path`` has the points x y z of a rail, one after the other, in the
    frame of the parent; it is empty for other joints.
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

    Its range is ``range`` [m]; ``signal`` is the distance of the hit [m].
    """

    body: int
    start: list[float]
    direction: list[float]
    range: float
    signal: str


class FanView(msgspec.Struct, frozen=True):
    """The rays of a lidar: in the x-y plane of a frame (7 numbers) in a body, at angles [rad].

    Their range is ``range`` [m]; ``signals`` are the distances of the hits [m].
    """

    body: int
    frame: list[float]
    angles: list[float]
    range: float
    signals: list[str]


class CameraView(msgspec.Struct, frozen=True):
    """A camera in a frame (7 numbers) in a body: it looks along x, z is up.

    ``opening`` is its vertical angle of view [rad], ``aspect`` its width over its height, ``far``
    its range [m].
    """

    body: int
    frame: list[float]
    opening: float
    aspect: float
    far: float


class SensorView(msgspec.Struct, frozen=True):
    """A sensor and its signals."""

    name: str
    type: str
    on: str
    signals: list[str]
    ray: RayView | None = None
    fan: FanView | None = None
    camera: CameraView | None = None


class AgentView(msgspec.Struct, frozen=True):
    """An agent, which sets targets; ``file`` is its program, if it has one."""

    name: str
    type: str
    file: str


class UntrustedProgram(msgspec.Struct, frozen=True):
    """A program that does not run until it is trusted.

    ``key`` identifies the program with everything that it can import. ``folder`` is the folder that
    can be trusted; empty if there is none. ``modules`` are the other files that it can import.
    ``replaces`` says that an earlier version, which is trusted, runs meanwhile.
    """

    key: str
    agent: str
    file: str
    text: str
    folder: str
    modules: list[str]
    replaces: bool = False


class SignalView(msgspec.Struct, frozen=True):
    """A named value; ``lo`` and ``hi`` are null if there is no limit."""

    name: str
    unit: str
    lo: float | None
    hi: float | None
    direction: Direction


class ViewpointView(msgspec.Struct, frozen=True):
    """A viewpoint; ``opening`` is the vertical angle of view [rad]."""

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
    """A feature that an engine rejects or approximates."""

    level: Level
    about: str
    text: str
    origin: str


class PortSignalView(msgspec.Struct, frozen=True):
    """A signal of a port: ``name`` in the scene, ``label`` in its port.

    ``bits`` is 0 for a plain number; ``address`` is its address on the bus as text; ``behind`` is
    the scene's signal behind it, or empty.
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

    ``start`` counts as in a DBC file (byte · 8 + bit): the lowest bit, or the highest if
    ``big_endian``; ``real`` bits are an IEEE number, ``words`` are labels of raw values. With a
    ``parent`` it is in the frame only while that signal's raw value is within one of ``ranges``.
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
    """The layout of a frame; ``address`` and ``way`` as in the log, empty for both directions.

    ``name`` is from a DBC file; empty if there is none.
    """

    address: str
    way: str
    name: str
    length: int
    signals: list[FrameSignalView]


class BusView(msgspec.Struct, frozen=True):
    """A bus and its ports; ``about`` describes its type, ``orders`` are those it supports.

    ``faults`` are the kinds that its wire supports, ``frames`` the layouts of its frames.
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
    """A mark or event in a recording; ``level`` is "mark" for a user's mark.

    ``time`` is in the time of the recording [s].
    """

    time: float
    level: Level
    text: str
    source: str


class ReplayView(msgspec.Struct, frozen=True):
    """The displayed recording; its length [s], and when it was made (ISO 8601).

    ``live`` says whether a scene is suspended behind it, ``unsaved`` which of that scene's files
    have unsaved changes, ``problem`` what is wrong with the recording.
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
    """A goal of inverse kinematics; priority 0 comes first, equal priorities share by weight.

    A ``point`` of ``frame`` is held in position; other goals concern the tool or the whole robot.
    """

    kind: AimKind
    priority: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    weight: Annotated[float, msgspec.Meta(gt=0.0, le=1000.0)] = 1.0
    frame: Name = ""
    point: Triple = (0.0, 0.0, 0.0)


#: The tool, its position weighted more than its orientation, then the initial posture.
DEFAULT_AIMS = ReachAim("position"), ReachAim("orientation", 0, 0.2), ReachAim("posture", 1, 0.1)


class ReachSetup(msgspec.Struct, frozen=True):
    """Settings of a dragged tool.

    ``tip`` is its element or anchor, and ``point`` the tool point in it; ``first`` is the joint
    where the active chain begins, empty for all. Shapes keep the distance ``keep`` [m] from others,
    and with ``itself`` from those of their own robot; null for none. With ``hold`` the tool is held
    while another link is dragged.
    """

    tip: Name
    point: Triple = (0.0, 0.0, 0.0)
    first: Name = ""
    aims: Annotated[list[ReachAim], msgspec.Meta(max_length=20)] = msgspec.field(
        default_factory=lambda: list(DEFAULT_AIMS)
    )
    damping: DampingKind = "smallest"
    damping_value: Annotated[float, msgspec.Meta(ge=0.0, le=100.0)] = 0.05
    keep: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] | None = None
    itself: bool = False
    hold: bool = False
    ellipsoid: EllipsoidKind = "velocity"


class PostureDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Joint values at a time [s]; ``speeds`` and ``planner`` are for a planner."""

    time: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]
    joints: Annotated[dict[Name, Length], msgspec.Meta(max_length=1000)]
    speeds: Annotated[dict[Name, Length], msgspec.Meta(max_length=1000)] = {}
    planner: Planner = ""


class JointLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a joint [rad or m, s]; null if unlimited."""

    speed: Positive | None = None
    acceleration: Positive | None = None
    jerk: Positive | None = None


class MovementDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A movement being edited: postures at times, joints named within their part."""

    name: Name
    postures: Annotated[list[PostureDraft], msgspec.Meta(max_length=1000)]
    interpolation: Interpolation = "smooth"
    planner: Planner = ""
    limits: Annotated[dict[Name, JointLimits], msgspec.Meta(max_length=1000)] = {}
    title: Annotated[str, msgspec.Meta(max_length=500)] = ""
