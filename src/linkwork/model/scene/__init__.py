"""Scene: the authored content of one scene file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Self

from linkwork.core.errors import Origin, SceneError, not_found
from linkwork.geometry.pose import IDENTITY, Pose, Vec3
from linkwork.model.parts import Coupling, Element, Joint, Loop, Part, Spec, Spring
from linkwork.model.parts.anchor import check_fit
from linkwork.model.parts.spec import check_name, scoped_name_of
from linkwork.model.scene.movement import Movement, TimedPosture


def check_drives(drives: Any, part: str, *, origin: Origin | None = None) -> dict[str, Spec]:
    """Returns the drives, if they are specs of actuators by joint or pattern.

    Raises:
        SceneError: If they are not such a table, or a drive has a name or a joint of its own.
    """
    where = f"part {part!r}: drives"
    hint = "{'neck': Spec('actuator', 'smart_servo', params={'model': 'AX-12'})}"
    if not isinstance(drives, dict):
        raise SceneError(f"{where} must be a table, {hint}, not {drives!r}.", origin=origin)
    for name, spec in drives.items():
        if not isinstance(name, str) or not isinstance(spec, Spec) or spec.kind != "actuator":
            raise SceneError(
                f"{where}: {name!r} has {spec!r}, and no actuator.", origin=origin, hint=hint
            )
        if spec.name:
            raise SceneError(
                f"{where}: {name!r} has a drive with the name {spec.name!r}; leave it out.",
                origin=spec.origin,
            )
        if "joint" in spec.params:
            raise SceneError(
                f"{where}: {name!r} names a second joint, {spec.params['joint']!r}.",
                origin=spec.at("joint"),
                hint="Leave joint out: the table names it.",
            )
        if not isinstance(spec.params.get(UNDRIVEN, False), bool):
            raise SceneError(
                f"{where}: {name!r}: undriven must be true or false.", origin=spec.at(UNDRIVEN)
            )
    return drives


#: Parameter of a pattern that reaches joints without a drive.
UNDRIVEN = "undriven"
#: Bases of a placed part.
BASES = ("fixed", "free")
#: Modes of motion (Schwanen 2002).
MODES = ("kinematic", "emulation", "simulation")
#: Directional and point lights.
LIGHTS = ("sun", "lamp")


@dataclass(frozen=True)
class Placement:
    """A part placed in the scene.

    Attributes:
        name: Scope of its names.
        part: The part.
        at: Pose of its root element in the world, or in the frame of the anchor ``on``.
        base: "fixed" to the world (or to ``on``), or "free".
        on: Anchor of a part placed earlier (``table/top``), or empty for the world.
        by: Anchor of the part that coincides with ``on``; its mount or root if empty.
        drives: Drives that replace the part's, by joint or pattern:
            ``{"*": Spec("actuator", "smart_servo", params={"model": "AX-12"})}``. A pattern with
            the parameter ``undriven`` reaches joints without a drive instead.
        source: The part as the file names it: a kit name or a path.
        origin: Where it is defined.
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
    """A light: ``kind`` "sun" (direction) or "lamp" (position), color, strength, shadows."""

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
    """A camera at ``xyz`` that looks at ``look_at``, with a vertical field of view [rad]."""

    name: str
    xyz: Vec3 = (1.5, -1.5, 1.0)
    look_at: Vec3 = (0.0, 0.0, 0.3)
    opening: float = 0.8
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class CollisionRules:
    """Which bodies collide.

    Attributes:
        never: Pairs of element, part or group names that do not collide.
        always: Pairs that collide although they are joined.
        joined: Whether bodies that are joined directly or attached at anchors collide.
    """

    never: tuple[tuple[str, str], ...] = ()
    always: tuple[tuple[str, str], ...] = ()
    joined: bool = False
    origin: Origin = field(default=Origin(), compare=False)


@dataclass
class Scene:
    """A scene as authored: pure data, no state.

    Attributes:
        name: Name of the scene.
        parts: Placed parts, by name.
        scenery: Elements fixed to the world, by name.
        gravity: [m/s²].
        step: Time step [s].
        seed: Seed of all random numbers.
        postures: Named postures: joint (or ``joint.dof``) to value [rad or m].
        posture_origins: Where postures are defined, if known.
        start: Initial posture of a session, or empty.
        mode: "kinematic" (joints follow their targets exactly), "emulation" (the same, with
            computed efforts) or "simulation" (the scene's engines); empty for a scene without
            modes, which is simulated.
        loops: Loops between placed parts.
        couplings: Joints that mimic others, across parts.
        springs: Springs between placed parts, by name.
        engines, sensors, actuators, agents, buses, ports, faults: Specs of plug-ins.
        collide: Collision rules.
        lights, viewpoints: Lights and cameras.
        background: Background color, ``#rrggbb``; empty for the studio's.
        title: Title, one line.
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
    collide: CollisionRules = CollisionRules()
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
        """Places a part in the scene (arguments as in :class:`Placement`)."""
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
        """Adds an engine; ``owns`` lists the parts that it moves (all others if absent)."""
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
        """Adds a bus: a connection of external software and hardware to the scene's ports."""
        return self._spec("bus", self.buses, type, name, params)

    def port(self, name: str, **params: object) -> Self:
        """Adds a port: ``bus``, ``group`` and lists of ``commands``, ``sensors``, ``parameters``.

        Each item is the name of a signal, or a dict with ``signal``, ``name``, ``bits``, ``lo``,
        ``hi``, ``signed``, ``safe`` and its address on the bus.
        """
        return self._spec("port", self.ports, "port", name, params)

    def fault(self, name: str, type: str, **params: object) -> Self:
        """Adds a fault: ``type`` "stuck", "dead", "drop" or another, and what it affects.

        It starts ``at`` a time [s], by ``chance`` or by hand, and ``lasts`` [s].
        """
        return self._spec("fault", self.faults, type, name, params)


def check_mode(mode: str, *, origin: Origin | None = None) -> None:
    """Checks a mode.

    Raises:
        NameNotFound: The message lists the modes.
    """
    if mode and mode not in MODES:
        raise not_found("mode", mode, MODES, origin=origin)


def placed_drives(
    placement: Placement, joints: Mapping[str, Joint], taken: Collection[str] = ()
) -> dict[str, Spec]:
    """Returns the drives that the scene gives to joints of a placed part, by their full names.

    A name within the part, ``neck``, takes precedence over patterns; ``*`` and ``left_*`` match
    the joints that have a drive, or with ``undriven`` the hinges, sliders and other joints of one
    degree of freedom that have neither a drive nor a spring; later patterns take precedence over
    earlier ones.

    Args:
        placement: The part with its drives.
        joints: Joints of the scene by full name.
        taken: Full names of joints that follow others or that actuators of the scene drive.

    Raises:
        NameNotFound: If there is no joint of a name.
        SceneError: If a pattern matches no joint with a drive.
    """
    if not placement.drives:
        return {}
    scope = f"{placement.name}/"
    own = {name.removeprefix(scope): j for name, j in joints.items() if name.startswith(scope)}
    driven = [name for name, joint in own.items() if joint.drive is not None]
    undriven = [n for n, j in own.items() if can_be_driven(j) and f"{scope}{n}" not in taken]
    found: dict[str, Spec] = {}
    for pattern, spec in sorted(
        placement.drives.items(), key=lambda each: not _is_pattern(each[0])
    ):
        names: Iterable[str] = [pattern]
        if spec.params.get(UNDRIVEN):
            names = [name for name in undriven if fnmatchcase(name, pattern)]
            if not any(fnmatchcase(name, pattern) for name in own):
                raise not_found("joint", pattern, own, origin=spec.origin)
        elif _is_pattern(pattern):
            names = [name for name in driven if fnmatchcase(name, pattern)]
            if not names:
                raise SceneError(
                    f"part {placement.name!r}: no joint with a drive fits {pattern!r}.",
                    origin=spec.origin,
                    hint=f"Joints with a drive: {', '.join(driven) or 'none'}. With undriven = "
                    "true it gives a drive to joints without one.",
                )
        elif pattern not in own:
            raise not_found("joint", pattern, own, origin=spec.origin)
        params = {key: value for key, value in spec.params.items() if key != UNDRIVEN}
        found |= {f"{scope}{name}": replace(spec, params=params) for name in names}
    return found


def can_be_driven(joint: Joint) -> bool:
    """Whether a joint has one degree of freedom, and neither a drive nor a spring."""
    return joint.drive is None and joint.kind.nv == 1 and joint.stiffness == 0.0


def taken_joints(
    couplings: Iterable[Coupling], actuators: Iterable[Spec], aliases: Mapping[str, str]
) -> set[str]:
    """Returns the full names of joints that follow others or that actuators drive."""
    names = {coupling.joint for coupling in couplings}
    for spec in actuators:
        own = [spec.params.get("joint"), *dict(spec.params.get("joints") or {})]
        names |= {scoped_name_of(spec.scope, name) for name in own if isinstance(name, str)}
    return names | {aliases[name] for name in names if name in aliases}


def drive_pattern(placement: Placement, joint: str) -> str:
    """The name or pattern among the placement's drives that a joint's drive comes from, or none.

    Args:
        placement: The part with its drives.
        joint: Its name within the part; it has a drive in the part.
    """
    if joint in placement.drives:
        return joint
    own = placement.part.joints.get(joint)
    undriven = own is not None and own.drive is None
    fitting = [
        word
        for word, spec in placement.drives.items()
        if _is_pattern(word)
        and fnmatchcase(joint, word)
        and bool(spec.params.get(UNDRIVEN)) == undriven
    ]
    return fitting[-1] if fitting else ""


def _is_pattern(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")


__all__ = [
    "CollisionRules",
    "Light",
    "Movement",
    "Placement",
    "Scene",
    "TimedPosture",
    "Viewpoint",
]
