"""MuJoCo's own sensors."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.sensors import Sensor
from linkwork.core.errors import SceneError
from linkwork.core.mujoco_library import mujoco
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.mujoco import Mujoco
from linkwork.engines.mujoco.spec_builder import ModelBuilder, carrying_body
from linkwork.model.blocks import SignalSpec, period_in_steps, read_params, scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

_SITE = (
    "touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer",
    "rangefinder",
)  # fmt: skip
_JOINT = (
    "jointpos", "jointvel", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel",
    "jointlimitfrc",
)  # fmt: skip
_TENDON = ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")
_FRAME = (
    "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel",
    "frameangvel", "framelinacc", "frameangacc",
)  # fmt: skip
_SUBTREE = ("subtreecom", "subtreelinvel", "subtreeangmom")
_WHOLE = ("e_potential", "e_kinetic")
#: Object type of each kind of sensor.
OBJECT_KINDS = {
    **dict.fromkeys((*_SITE, *_FRAME, *_SUBTREE), "on"),
    **dict.fromkeys(_JOINT, "joint"),
    **dict.fromkeys(_TENDON, "tendon"),
    **dict.fromkeys(_WHOLE, ""),
}
_UNITS = {
    "touch": "N", "accelerometer": "m/s²", "velocimeter": "m/s", "gyro": "rad/s", "force": "N",
    "torque": "N m", "rangefinder": "m", "framepos": "m", "framelinvel": "m/s",
    "frameangvel": "rad/s", "framelinacc": "m/s²", "frameangacc": "rad/s²", "subtreecom": "m",
    "subtreelinvel": "m/s", "subtreeangmom": "kg m²/s", "e_potential": "J", "e_kinetic": "J",
    "ballangvel": "rad/s", "tendonpos": "m", "tendonvel": "m/s",
}  # fmt: skip
_COLUMNS = {1: ("value",), 3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}
_MAX_COLUMNS = 4
_ONE = ("touch", "rangefinder", *_TENDON, *_WHOLE)


#: Half the size of a volume [m].
Half = Annotated[float, msgspec.Meta(ge=0.0, le=1e6)]


class MujocoSensorParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``MujocoSensors``.

    Attributes:
        sensor: MuJoCo's sensor type: "touch", "gyro", "framepos" and others.
        on: Element or anchor that carries it.
        joint: Joint that it measures.
        tendon: Tendon of the engine that it measures.
        ref: Reference frame of a frame sensor, an element or anchor; the world if absent.
        volume: Kind of the volume of a "touch" sensor.
        size: Its half sizes [m].
        cutoff: Maximum reading; none if 0.
        period: Time between readings [s], a whole multiple of the step; each step if 0.
    """

    sensor: str
    on: str = ""
    joint: str = ""
    tendon: str = ""
    ref: str = ""
    volume: Literal["sphere", "capsule", "ellipsoid", "cylinder", "box"] = "sphere"
    size: tuple[Half, Half, Half] = (0.005, 0.005, 0.005)
    cutoff: Annotated[float, msgspec.Meta(ge=0.0, le=1e15)] = 0.0
    period: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0


class MujocoSensors(Sensor):
    """Readings of MuJoCo's own sensors: ``<name>.value``, or ``<name>.x``, ``.y``, ``.z``.

    They are computed from the state after each step, with the efforts of that step, by
    the model of the Mujoco engine that moves their target. A rangefinder sees colliding geoms.
    """

    type: ClassVar[str] = "mujoco"
    form = MujocoSensorParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params = [read_params(spec, MujocoSensorParams) for spec in specs]
        self.every: list[int] = []
        self._engines: list[Mujoco | None] = []
        self._widths: list[int] = []
        for number, (spec, params) in enumerate(zip(specs, self.params, strict=True)):
            _check(spec, params)
            what = f"sensor {spec.name!r}"
            self.every.append(
                period_in_steps(params.period, world.scene.step, what, spec.at("period"))
            )
            columns = _columns(params.sensor)
            self._widths.append(len(columns))
            for column, word in enumerate(columns):
                full, place = f"{spec.name}.{word}", (self.field("reading"), (number, column))
                self._signals.append(SignalSpec(full, *place, _UNITS.get(params.sensor, "")))

    def attach_engines(self, engines: list[Engine]) -> None:
        """Adds each sensor to the model of the engine that moves its target."""
        own = [engine for engine in engines if isinstance(engine, Mujoco)]
        for number, spec in enumerate(self.specs):
            engine = self._engine_of(spec, self.params[number], own)
            self._engines.append(engine)
            if engine is not None:
                engine.extras.append(_adder(spec, self.params[number], f"sensor{number}"))

    def _engine_of(
        self, spec: Spec, params: MujocoSensorParams, engines: list[Mujoco]
    ) -> Mujoco | None:
        world, body = self.world, 0
        if params.on:
            body = world.body(scoped_name(spec, params.on), origin=spec.at("on"))
        elif params.joint:
            number = world.joint(scoped_name(spec, params.joint), origin=spec.at("joint"))
            body = int(world.joint_body[number])
        if world.is_static(body):
            return engines[0] if engines else None
        return next((engine for engine in engines if engine.owned[body]), None)

    def check(self) -> list[Finding]:
        """Returns sensors that cannot be read, because another engine moves their target."""
        text = "only the Mujoco engine has this sensor; it reads 0."
        return [
            Finding("approximated", spec.name, text, spec.origin)
            for spec, engine in zip(self.specs, self._engines, strict=True)
            if engine is None
        ]

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {"reading": (len(self.specs), _MAX_COLUMNS)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._addresses = [
            None if engine is None else int(engine.model.mj.sensor(f"sensor{n}").adr[0])
            for n, engine in enumerate(self._engines)
        ]

    def read(self, step: int, *, now: bool = False) -> None:
        """Updates the readings that are due at ``step``; all of them with ``now``."""
        due = [n for n, every in enumerate(self.every) if now or step % every == 0]
        sensed: dict[int, np.ndarray] = {}
        reading = self.slot("reading")
        for n in due:
            engine, place = self._engines[n], self._addresses[n]
            if engine is None or place is None:
                continue
            if id(engine) not in sensed:
                sensed[id(engine)] = engine.sense()
            width = self._widths[n]
            reading[n, :width] = sensed[id(engine)][place : place + width]


def _check(spec: Spec, params: MujocoSensorParams) -> None:
    if params.sensor not in OBJECT_KINDS:
        raise SceneError(
            f"sensor {spec.name!r}: MuJoCo's sensor {params.sensor!r} is not known here.",
            origin=spec.origin,
            hint=f"Known: {', '.join(OBJECT_KINDS)}.",
        )
    wanted = OBJECT_KINDS[params.sensor]
    if wanted and not getattr(params, wanted):
        raise SceneError(
            f"sensor {spec.name!r}: a {params.sensor} needs {wanted!r}.", origin=spec.origin
        )


def _columns(kind: str) -> tuple[str, ...]:
    """Names of the numbers of a reading."""
    if kind in ("framequat", "ballquat"):
        return _COLUMNS[4]
    if kind in _ONE or (kind in _JOINT and kind != "ballangvel"):
        return _COLUMNS[1]
    return _COLUMNS[3]


def _adder(spec: Spec, params: MujocoSensorParams, name: str) -> Any:
    def add(build: ModelBuilder) -> None:
        kind = getattr(mujoco.mjtSensor, f"mjSENS_{params.sensor.upper()}")
        made = build.spec.add_sensor(name=name, type=kind, cutoff=params.cutoff)
        if params.sensor == "rangefinder":
            made.intprm[0] = 1  # only the distance
        looks = OBJECT_KINDS[params.sensor]
        if looks == "joint":
            made.objtype = mujoco.mjtObj.mjOBJ_JOINT
            made.objname = scoped_name(spec, params.joint)
        elif looks == "tendon":
            made.objtype, made.objname = mujoco.mjtObj.mjOBJ_TENDON, params.tendon
        elif params.sensor in _SUBTREE:
            carrier = carrying_body(build, scoped_name(spec, params.on), spec.origin)[0]
            made.objtype, made.objname = mujoco.mjtObj.mjOBJ_BODY, carrier.name
        elif looks:
            site = _add_site(build, spec, params.on, f"{name}#on", params)
            made.objtype, made.objname = mujoco.mjtObj.mjOBJ_SITE, site
            if params.ref:
                made.reftype = mujoco.mjtObj.mjOBJ_SITE
                made.refname = _add_site(build, spec, params.ref, f"{name}#ref", params)

    return add


def _add_site(
    build: ModelBuilder, spec: Spec, given: str, name: str, params: MujocoSensorParams
) -> str:
    carrier, pose = carrying_body(build, scoped_name(spec, given), spec.origin)
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{params.volume.upper()}")
    size = [max(c, 1e-9) if math.isfinite(c) else 1e-9 for c in params.size]
    carrier.add_site(name=name, pos=list(pose.xyz), quat=list(pose.quat), type=kind, size=size)
    return name
