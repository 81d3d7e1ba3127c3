"""Registries of plug-ins: built-in ones by module path, others by entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from linkwork.errors import LinkworkError, Origin, not_found

T = TypeVar("T")


class Registry(Generic[T]):
    """Named classes or functions of one kind, imported only when first asked for.

    Args:
        kind: What the entries are, for messages ("engine").
        builtin: Name to "module:attribute" of what the package itself offers.
        plural: Of ``kind``, where it does not end in s.

    A pip-installed package adds its own through the entry point group ``linkwork.<kind>s``; a
    program adds one with :meth:`register`.
    """

    def __init__(self, kind: str, builtin: dict[str, str], *, plural: str = "") -> None:
        self.kind = kind
        self.plural = plural or f"{kind}s"
        self._paths = dict(builtin)
        self._loaded: dict[str, T] = {}
        self._scanned = False

    def register(self, name: str, thing: T) -> T:
        """Adds ``thing`` under ``name``; an existing name is replaced."""
        self._loaded[name] = thing
        return thing

    def forget(self, name: str) -> None:
        """Takes back what :meth:`register` added under ``name``."""
        self._loaded.pop(name, None)

    def decorate(self, name: str) -> Callable[[T], T]:
        """Decorator form of :meth:`register`."""
        return lambda thing: self.register(name, thing)

    def _scan(self) -> None:
        if not self._scanned:
            self._scanned = True
            for entry in entry_points(group=f"linkwork.{self.plural}"):
                self._paths.setdefault(entry.name, entry.value)

    def names(self) -> list[str]:
        """Every known name, sorted."""
        self._scan()
        return sorted({*self._paths, *self._loaded})

    def get(self, name: str, *, origin: Origin | None = None) -> T:
        """The entry called ``name``.

        Raises:
            NameNotFound: If there is none; the message lists what exists.
        """
        if name in self._loaded:
            return self._loaded[name]
        self._scan()
        path = self._paths.get(name)
        if path is None:
            raise not_found(f"{self.kind} type", name, self.names(), origin=origin)
        module, _, attribute = path.partition(":")
        try:
            thing: Any = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            if _interrupted(error):
                raise KeyboardInterrupt from error
            raise LinkworkError(
                f"the {self.kind} plug-in {name!r} ({path}) cannot be imported: {error}.",
                origin=origin,
                hint="Install or repair the package that offers it.",
            ) from error
        self._loaded[name] = thing
        return thing

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: str) -> bool:
        return name in self.names()


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: an extension module tells it as a failed import."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


#: Engines, sensors, actuators, agents, buses and faults that a scene may name by type, and formats.
ENGINES: Registry[Any] = Registry(
    "engine",
    {
        "kinematic": "linkwork.engines.kinematic:Kinematic",
        "emulation": "linkwork.engines.emulation:Emulation",
        "mujoco": "linkwork.engines.mujoco:Mujoco",
        "impulse": "linkwork.engines.impulse:Impulse",
        "lagrange": "linkwork.engines.lagrange:Lagrange",
    },
)
SENSORS: Registry[Any] = Registry(
    "sensor",
    {
        "encoder": "linkwork.sensors.encoder:Encoder",
        "effort": "linkwork.sensors.effort:Effort",
        "ray": "linkwork.sensors.ray:Ray",
        "inclinometer": "linkwork.sensors.inclinometer:Inclinometer",
        "contact": "linkwork.sensors.contact:Contact",
        "imu": "linkwork.sensors.imu:Imu",
        "foot": "linkwork.sensors.foot:Foot",
        "lidar": "linkwork.sensors.lidar:Lidar",
        "camera": "linkwork.sensors.camera:Camera",
        "mujoco": "linkwork.sensors.mujoco:MujocoSensors",
        "motion": "linkwork.sensors.motion:Motion",
    },
)
ACTUATORS: Registry[Any] = Registry(
    "actuator",
    {
        "servo": "linkwork.actuators.servo:Servo",
        "smart_servo": "linkwork.actuators.smart_servo:SmartServo",
        "motor": "linkwork.actuators.motor:Motor",
        "effort": "linkwork.actuators.effort:Effort",
        "general": "linkwork.actuators.general:General",
    },
)
AGENTS: Registry[Any] = Registry(
    "agent",
    {
        "program": "linkwork.agents.program:Program",
        "wave": "linkwork.agents.wave:Wave",
        "sequence": "linkwork.agents.sequence:Sequence",
        "movement": "linkwork.agents.movement:MovementPlayer",
        "formula": "linkwork.agents.formula:FormulaPlayer",
        "table": "linkwork.agents.table:TablePlayer",
        "legs": "linkwork.agents.legs:Legs",
        "walk": "linkwork.agents.walk:Walker",
    },
)
BUSES: Registry[Any] = Registry(
    "bus",
    {
        "can": "linkwork.buses.can.adapter:Can",
        "loop": "linkwork.buses.loop:Loop",
        "tcp": "linkwork.buses.tcp:Tcp",
    },
    plural="buses",
)
FAULTS: Registry[Any] = Registry(
    "fault",
    {
        "stuck": "linkwork.faults.readings:Stuck",
        "offset": "linkwork.faults.readings:Offset",
        "noise": "linkwork.faults.readings:Noise",
        "dead": "linkwork.faults.dead:Dead",
        "person": "linkwork.faults.person:Person",
        "drop": "linkwork.faults.wire:Drop",
        "delay": "linkwork.faults.wire:Delay",
        "corrupt": "linkwork.faults.wire:Corrupt",
        "duplicate": "linkwork.faults.wire:Duplicate",
        "error": "linkwork.faults.wire:Error",
        "bus_off": "linkwork.faults.wire:BusOff",
    },
)
FORMATS: Registry[Any] = Registry(
    "format",
    {
        "gltf": "linkwork.formats.gltf:GltfFormat",
        "humanoid_xml": "linkwork.formats.humanoid_xml:HumanoidXmlFormat",
        "mesh": "linkwork.formats.mesh:MeshFormat",
        "sdf": "linkwork.formats.sdf:SdfFormat",
        "robotix": "linkwork.formats.robotix:RobotixFormat",
        "step": "linkwork.formats.step:StepFormat",
        "toml": "linkwork.formats.toml:TomlFormat",
        "mjcf": "linkwork.formats.mjcf:MjcfFormat",
        "urdf": "linkwork.formats.urdf:UrdfFormat",
        "wrl": "linkwork.formats.x3d:VrmlFormat",
        "x3d": "linkwork.formats.x3d:X3dFormat",
    },
)


def bus_block() -> Any:
    """The block by which any bus takes part in the cycle; its room comes after the session's."""
    return import_module("linkwork.buses.block").BusBlock


def bus_partners() -> Any:
    """What starts and looks after the processes of a session's buses."""
    return import_module("linkwork.buses.partners").BusPartners
