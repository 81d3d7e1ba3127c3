"""Inertial sensors: IMU or inclinometer."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from linkwork.components.sensors import (
    Finite,
    ReadingParams,
    ReadingRow,
    SampledSensor,
)
from linkwork.components.sensors.kernels import read_inclinometers
from linkwork.components.sensors.motion_kernels import body_accelerations, read_imus
from linkwork.core.errors import FormatError
from linkwork.core.state import State
from linkwork.core.value_types import NonNegative
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World

Range = Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
Triple = tuple[Finite, Finite, Finite]

#: Signals of the accelerometer and of the gyroscope, in the order of the readings.
AXES = ("ax", "ay", "az", "gx", "gy", "gz")


class ImuParams(ReadingParams):
    """Parameters of ``Imu``.

    Attributes:
        on: Element or anchor that carries it; its frame is the sensor's.
        noise: Standard deviation of an accelerometer reading [m/s²].
        gyro_noise: Standard deviation of a gyroscope reading [rad/s].
        noise_density: Noise density, instead of ``noise`` [m/s²/√Hz].
        gyro_noise_density: Noise density, instead of ``gyro_noise`` [rad/s/√Hz].
        bias: Constant bias of the accelerometer [m/s²].
        gyro_bias: Constant bias of the gyroscope [rad/s].
        bias_walk: Random walk of the accelerometer's bias [m/s²/√s].
        gyro_bias_walk: Random walk of the gyroscope's bias [rad/s/√s].
        range: Maximum acceleration on each axis [m/s²].
        gyro_range: Maximum angular velocity about each axis [rad/s].
    """

    on: str
    gyro_noise: NonNegative = 0.0
    noise_density: NonNegative = 0.0
    gyro_noise_density: NonNegative = 0.0
    bias: Triple = (0.0, 0.0, 0.0)
    gyro_bias: Triple = (0.0, 0.0, 0.0)
    bias_walk: NonNegative = 0.0
    gyro_bias_walk: NonNegative = 0.0
    range: Range | None = None
    gyro_range: Range | None = None


class Imu(SampledSensor):
    """Reads ``<name>.ax ay az`` [m/s²] and ``<name>.gx gy gz`` [rad/s] in the frame of ``on``.

    The accelerometer reads the specific force at its position, a − g: at rest it reads g upward, in
    free fall 0. The acceleration is that of the body with the joints' accelerations of the last
    step's report, which every engine fills; before the first step these are 0. For an engine that
    sets the motion (``Kinematic``) and for steps in contact they are the change of the speeds
    divided by the step.

    reading = clip(truth + bias + walk + σ·n, ±range). With the period T, σ is ``noise``, or
    ``noise_density``/√T; each reading the walk grows by ``bias_walk``·√T·n (n: independent numbers
    of normal distribution). The walk is stored in the state; noise is a function of seed, name and
    step.
    """

    type: ClassVar[str] = "imu"
    form = ImuParams
    kernel = staticmethod(read_imus)
    columns = 6

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        nb = world.nb
        self._room = np.zeros(world.nq), np.zeros((nb, 7)), np.zeros((nb, 6)), np.zeros((nb, 6))
        self._acceleration = np.zeros((nb, 6))

    def resolve(self, number: int, spec: Spec, params: ImuParams) -> ReadingRow:  # noqa: D102
        world = self.world
        body, frame = world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        period = self.every[number] * world.scene.step
        errors = [
            _noise(spec, params, "", period), _noise(spec, params, "gyro_", period),
            params.bias_walk * math.sqrt(period), params.gyro_bias_walk * math.sqrt(period),
        ]  # fmt: skip
        ranges = [params.range or math.inf, params.gyro_range or math.inf]
        for column, axis in enumerate(AXES):
            reach, unit = ranges[column // 3], "m/s²" if column < 3 else "rad/s"
            self.offer(number, column, axis, unit, lo=-reach, hi=reach)
        place = [at - com for at, com in zip(frame.xyz, world.com[body].tolist(), strict=True)]
        return ReadingRow(
            (("pose", body, 0), ("twist", body, 0), ("param/gravity", 0),
             (self.field("walk"), number, 0)),
            (*errors, *ranges, *params.bias, *params.gyro_bias, *place, *frame.quat),
            (body,),
        )  # fmt: skip

    def slots(self) -> dict[str, tuple[int, ...]]:
        """The readings, and the random walk of each bias."""
        return {**super().slots(), "walk": (len(self.specs), 6)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world = self.world
        self._motion: tuple[Any, ...] = (
            *world.tree, world.com, world.kind, world.qadr, world.vadr,
            state.q, state.v, state.report.acceleration, state.pose, *self._room,
            self._acceleration,
        )  # fmt: skip

    def reset(self) -> None:  # noqa: D102
        self.slot("walk")[:] = 0.0

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        if now or any(step % every == 0 for every in self.every):
            body_accelerations(*self._motion)
            self.kernel(step, now, *self._tables, self._acceleration)


def _noise(spec: Spec, params: ImuParams, which: str, period: float) -> float:
    """Standard deviation of a reading, given directly or as a density."""
    plain, density = f"{which}noise", f"{which}noise_density"
    given = getattr(params, plain), getattr(params, density)
    if all(given):
        raise FormatError(
            f"imu {spec.name!r} has both {plain} and {density}.",
            origin=spec.origin,
            hint="Keep one of them.",
        )
    return given[0] or given[1] / math.sqrt(period)


class InclinometerParams(ReadingParams):
    """Parameters of ``Inclinometer``.

    Attributes:
        on: Element or anchor that carries it.
        noise: Standard deviation of both tilts, independent [rad].
    """

    on: str


class Inclinometer(SampledSensor):
    """Reads tilts of frames: ``<name>.x`` and ``<name>.y`` [rad], −π to π.

    With u the direction opposite to gravity (the world's z if there is none) in the frame's axes: x
    = atan2(u_y, u_z), y = atan2(−u_x, u_z). So a level frame turned by +a about its own x axis
    reads x = +a, y = 0; turned by +a about its own y axis, x = 0, y = +a. A rotation about the
    vertical has no effect. Tilts depend on the pose only: accelerations do not disturb them.
    """

    type: ClassVar[str] = "inclinometer"
    form = InclinometerParams
    kernel = staticmethod(read_inclinometers)
    columns = 2

    def resolve(self, number: int, spec: Spec, params: InclinometerParams) -> ReadingRow:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        self.offer(number, 0, "x", "rad", lo=-math.pi, hi=math.pi)
        self.offer(number, 1, "y", "rad", lo=-math.pi, hi=math.pi)
        return ReadingRow((("pose", body, 0), ("param/gravity", 0)), (params.noise, *frame.quat))
