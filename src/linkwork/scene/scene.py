"""Scene: parts and where they stand, scenery, and specs of all that makes them live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from linkwork.errors import Origin, SceneError, not_found
from linkwork.parts import Coupling, Element, Loop, Part, Spec, Spring
from linkwork.parts.fit import check_fit
from linkwork.parts.names import check_name
from linkwork.scene.drive_checks import check_drives
from linkwork.spatial.pose import IDENTITY, Pose, Vec3

#: How a placed part is held: not at all, or to the world.
BASES = ("fixed", "free")
#: 002's modes, three choices on one world: what moves it.
MODES = ("kinematic", "emulation", "simulation")
#: From a direction, or from a place.
LIGHTS = ("sun", "lamp")


@dataclass(frozen=True)
class Placement:
    """A part that stands in the scene.

    Attributes:
        name: Scope of its names.
        part: The part.
        at: Pose of its root element in the world, or in the anchor's frame where ``on`` is given.
        base: "fixed" to the world (or to ``on``), or "free".
        on: Anchor of a part placed before (``table/top``), or empty for the world.
        by: Anchor of the part that meets ``on``; its mount or root if empty.
        drives: What drives joints of the part here in place of its own drives, by joint or pattern:
            ``{"*": Spec("actuator", "smart_servo", params={"model": "AX-12"})}``.
        source: What the file said: a kit name or a path.
        origin: Where it was said.
    """

    name: str
    part: Part
    at: Pose = IDENTITY
    base: str = "fixed"
    on: str = ""
    by: str = ""
    drives: dict[str, Spec] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "part", origin=self.origin)
        if self.base not in BASES:
            raise SceneError(
                f"part {self.name!r}: base must be {' or '.join(BASES)}, not {self.base!r}.",
                origin=self.origin,
            )


@dataclass(frozen=True)
class Light:
    """A light: ``kind`` "sun" (direction) or "lamp" (position), colour, strength, shadows."""

    name: str
    kind: str = "sun"
    xyz: Vec3 = (2.0, -2.0, 4.0)
    look_at: Vec3 = (0.0, 0.0, 0.0)
    color: str = "#ffffff"
    strength: float = 1.0
    shadows: bool = True
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        if self.kind not in LIGHTS:
            raise SceneError(
                f"light {self.name!r}: kind must be {' or '.join(LIGHTS)}, not {self.kind!r}.",
                origin=self.origin,
            )


@dataclass(frozen=True)
class Viewpoint:
    """A camera place for people: from ``xyz`` towards ``look_at``, vertical opening [rad]."""

    name: str
    xyz: Vec3 = (1.5, -1.5, 1.0)
    look_at: Vec3 = (0.0, 0.0, 0.3)
    opening: float = 0.8
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class Collide:
    """Which bodies touch.

    Attributes:
        never: Pairs of element, part or group names that do not touch.
        always: Pairs that touch although they are joined.
        joined: Whether bodies joined directly or snapped at anchors touch.
    """

    never: tuple[tuple[str, str], ...] = ()
    always: tuple[tuple[str, str], ...] = ()
    joined: bool = False
    origin: Origin = field(default=Origin(), compare=False)


@dataclass
class Scene:
    """What is authored. Pure data, no state.

    Attributes:
        name: Name of the scene.
        parts: Parts and where they stand, by name.
        scenery: Elements fixed to the world, by name.
        gravity: [m/s²].
        step: Time step [s].
        seed: Seed of everything random.
        postures: Named postures: joint (or ``joint.dof``) to value [rad or m].
        posture_origins: Where postures were said, as far as that is known.
        start: Posture in which a session starts, or empty.
        mode: "kinematic" (joints go where their targets say), "emulation" (they do, and the efforts
            that this takes are computed) or "simulation" (the scene's engines move them); empty
            for a scene that offers no such choice and is simulated.
        loops: Loops between placed parts.
        couplings: Joints that follow others, across parts.
        springs: Springs between placed parts, by name.
        engines, sensors, actuators, agents, buses, ports, faults: Specs, built by the rooms below.
        collide: Which bodies touch.
        lights, viewpoints: For the eye.
        background: Colour behind everything, ``#rrggbb``; empty for the studio's own.
        title: One line for people.
        origin: The file.
    """

    name: str
    parts: dict[str, Placement] = field(default_factory=dict)
    scenery: dict[str, Element] = field(default_factory=dict)
    gravity: Vec3 = (0.0, 0.0, -9.81)
    step: float = 0.002
    seed: int = 1
    postures: dict[str, dict[str, float]] = field(default_factory=dict)
    start: str = ""
    loops: dict[str, Loop] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    engines: list[Spec] = field(default_factory=list)
    sensors: list[Spec] = field(default_factory=list)
    actuators: list[Spec] = field(default_factory=list)
    agents: list[Spec] = field(default_factory=list)
    buses: list[Spec] = field(default_factory=list)
    ports: list[Spec] = field(default_factory=list)
    faults: list[Spec] = field(default_factory=list)
    springs: dict[str, Spring] = field(default_factory=dict)
    collide: Collide = Collide()
    lights: list[Light] = field(default_factory=list)
    viewpoints: list[Viewpoint] = field(default_factory=list)
    title: str = ""
    background: str = ""
    mode: str = ""
    posture_origins: dict[str, Origin] = field(default_factory=dict, compare=False, repr=False)
    origin: Origin = field(default=Origin(), compare=False)

    def __post_init__(self) -> None:
        check_name(self.name, "scene", origin=self.origin)
        check_mode(self.mode, origin=self.origin)

    def place(
        self,
        part: Part,
        *,
        name: str = "",
        at: Pose = IDENTITY,
        base: str = "fixed",
        on: str = "",
        by: str = "",
        drives: dict[str, Spec] | None = None,
        source: str = "",
        origin: Origin | None = None,
    ) -> Self:
        """Puts a part into the scene (arguments as in :class:`Placement`)."""
        own = {} if drives is None else check_drives(drives, name or part.name, origin=origin)
        placement = Placement(
            name or part.name, part, at, base, on, by, own, source, origin or Origin()
        )
        self._free_name(placement.name, "part", placement.origin)
        if on:
            scope = on.partition("/")[0]
            if scope not in self.parts:
                raise not_found("part", scope, self.parts, origin=placement.origin)
            carrier = self.parts[scope].part.find_anchor(
                on.partition("/")[2], origin=placement.origin
            )
            check_fit(carrier, scope, part, by or part.mount, origin=placement.origin)
        if by:
            part.find_anchor(by, origin=placement.origin)
        self.parts[placement.name] = placement
        return self

    def add(self, *elements: Element) -> Self:
        """Adds scenery: elements fixed to the world."""
        for element in elements:
            self._free_name(element.name, "element", element.origin)
            self.scenery[element.name] = element
        return self

    def _free_name(self, name: str, kind: str, origin: Origin) -> None:
        if name in self.parts or name in self.scenery:
            raise SceneError(f"{kind} name {name!r} is taken in this scene.", origin=origin)

    def _spec(self, kind: str, specs: list[Spec], type: str, name: str, params: dict) -> Self:
        if name and any(s.name == name for s in specs):
            raise SceneError(f"{kind} name {name!r} is taken in this scene.")
        specs.append(Spec(kind, type, name, params))
        return self

    def engine(self, type: str, **params: object) -> Self:
        """Adds an engine; ``owns`` lists the parts it moves (all that are left if absent)."""
        return self._spec("engine", self.engines, type, str(params.pop("name", "")), params)

    def sensor(self, name: str, type: str, **params: object) -> Self:
        """Adds a sensor."""
        return self._spec("sensor", self.sensors, type, name, params)

    def actuator(self, name: str, type: str, **params: object) -> Self:
        """Adds an actuator."""
        return self._spec("actuator", self.actuators, type, name, params)

    def agent(self, name: str, type: str, **params: object) -> Self:
        """Adds an agent."""
        return self._spec("agent", self.agents, type, name, params)

    def bus(self, name: str, type: str, **params: object) -> Self:
        """Adds a bus: a way for software and hardware outside to reach the scene's ports."""
        return self._spec("bus", self.buses, type, name, params)

    def port(self, name: str, **params: object) -> Self:
        """Adds a port: ``bus``, ``group`` and lists of ``commands``, ``sensors``, ``parameters``.

        Each item is the name of a signal, or a dict with ``signal``, ``name``, ``bits``, ``lo``,
        ``hi``, ``signed``, ``safe`` and its address on the bus.
        """
        return self._spec("port", self.ports, "port", name, params)

    def fault(self, name: str, type: str, **params: object) -> Self:
        """Adds a fault: ``type`` "stuck", "dead", "drop" or another, and what it strikes.

        It begins ``at`` a time [s] or by ``chance``, or where a person says so, and ``lasts`` [s].
        """
        return self._spec("fault", self.faults, type, name, params)


def check_mode(mode: str, *, origin: Origin | None = None) -> None:
    """Refuses what is no mode.

    Raises:
        NameNotFound: The message lists the modes.
    """
    if mode and mode not in MODES:
        raise not_found("mode", mode, MODES, origin=origin)
