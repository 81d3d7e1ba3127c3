"""Range sensors: one ray or a lidar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.sensors import (
    Finite,
    ReadingParams,
    ReadingRow,
    SampledSensor,
)
from linkwork.components.sensors.kernels import aim_fan, aim_rays, read_fan
from linkwork.core.errors import FormatError, not_found
from linkwork.core.state import State
from linkwork.core.value_types import NonNegative
from linkwork.engines.common.collision_scene import VISIBLE_GROUPS, CollisionScene
from linkwork.geometry.pose import Pose, Vec3
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World


class RayParams(ReadingParams):
    """Parameters of ``Ray``.

    Attributes:
        on: Element or anchor that carries it; the ray starts at its origin.
        range: Maximum distance [m].
        direction: Direction in the frame of ``on``; any length but 0.
        sees: Shapes that it detects: those that collide, or those that are drawn.
        noise: Standard deviation of the distance, if something is hit [m].
    """

    on: str
    range: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
    direction: tuple[Finite, Finite, Finite] = (1.0, 0.0, 0.0)
    sees: Literal["colliding", "visible"] = "colliding"


@dataclass(frozen=True)
class Beam:
    """The line of one ray in the frame of the body that carries it.

    Attributes:
        name: The sensor's name.
        body: Index of the body.
        start: Starting point [m].
        direction: Unit vector.
        range: Maximum distance [m].
    """

    name: str
    body: int
    start: Vec3
    direction: Vec3
    range: float


class Ray(SampledSensor):
    """Reads distances: ``<name>.distance`` [m], 0 to ``range``.

    The reading is ``range`` if nothing is hit. A ray passes through the rigid body that carries it.
    Meshes and cones are represented by their convex hulls, as for contacts; a plane is hit only
    from above.
    """

    type: ClassVar[str] = "ray"
    form = RayParams
    kernel = staticmethod(aim_rays)

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self._collision_scene = CollisionScene(world)
        self._looks = any(params.sees == "visible" for params in self.params)
        numbers = self._collision_scene.numbers
        self._casts = [
            (
                n,
                self.every[n],
                params.range,
                VISIBLE_GROUPS[params.sees],
                int(numbers[row.fields[0][1]]),
            )
            for n, (params, row) in enumerate(zip(self.params, self.rows, strict=True))
        ]

    def resolve(self, number: int, spec: Spec, params: RayParams) -> ReadingRow:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        length = math.hypot(*params.direction)
        if length < 1e-9:
            raise FormatError(
                f"ray {spec.name!r}: direction has no length.",
                origin=spec.origin,
                hint="For example direction = [1, 0, 0].",
            )
        x, y, z = (c / length for c in params.direction)
        self.offer(number, 0, "distance", "m", lo=0.0, hi=params.range)
        return ReadingRow(
            (("pose", body, 0),), (params.noise, *frame.xyz, *frame.rotate((x, y, z)))
        )

    def beams(self) -> list[Beam]:
        """The lines of the rays, for drawing."""
        return [
            Beam(spec.name, row.fields[0][1], row.numbers[1:4], row.numbers[4:7], params.range)  # type: ignore[arg-type]
            for spec, params, row in zip(self.specs, self.params, self.rows, strict=True)
        ]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._aim = np.zeros((len(self.specs), 7))
        # Views of each ray's start, direction and reading, created once.
        reading = self.slot("reading")
        self._views = [(a[:3], a[3:6], a[6:], r) for a, r in zip(self._aim, reading, strict=True)]

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        due = [cast for cast in self._casts if now or step % cast[1] == 0]
        if not due:
            return
        self._collision_scene.move(self.state.pose)
        if self._looks:
            self._collision_scene.show(self.state["param/visible"])
        self.kernel(step, *self._tables, self._aim)
        for n, _, reach, seen, ignored in due:
            start, direction, noise, reading = self._views[n]
            distance = self._collision_scene.distance(start, direction, seen, ignored)
            if 0.0 <= distance < reach:
                reading[0] = min(max(distance + noise[0], 0.0), reach)
            else:
                reading[0] = reach


#: Maximum number of rays with signals of their own; with more, programs read the array.
MAX_SIGNALS = 512
_FULL_TURN = 2.0 * math.pi


class LidarParams(ReadingParams):
    """Parameters of ``Lidar``.

    Attributes:
        on: Element or anchor that carries it; the rays start at its origin, in its x-y plane.
        range: Maximum distance [m].
        min_range: Minimum distance; nearer hits read 0 [m].
        count: Number of rays.
        opening: Angle from the first to the last ray [rad], centered at x; a full turn has its rays
            evenly spaced all around.
        sees: Shapes that they detect: those that collide, or those that are drawn.
        noise: Standard deviation of each distance, if something is hit [m].
    """

    on: str
    range: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
    min_range: NonNegative = 0.0
    count: Annotated[int, msgspec.Meta(ge=1, le=65536)] = 360
    opening: Annotated[float, msgspec.Meta(ge=0.0, le=_FULL_TURN + 1e-9)] = _FULL_TURN
    sees: Literal["colliding", "visible"] = "colliding"


@dataclass(frozen=True)
class RayFan:
    """The rays of one lidar, for drawing.

    Attributes:
        name: The sensor's name.
        body: Index of the body that carries it.
        frame: Its frame in that body.
        angles: Angles of the rays, about z from x [rad].
        range: Maximum distance [m].
        near: Minimum distance; nearer hits read 0 [m].
    """

    name: str
    body: int
    frame: Pose
    angles: np.ndarray
    range: float
    near: float


class Lidar(SampledSensor):
    """Reads distances along a fan of rays: ``<name>.nearest`` [m], its ``bearing`` [rad], ``r0`` ….

    The rays rotate about the z axis of the frame, counterclockwise, r0 first. A reading is
    ``range`` if nothing is hit. Programs read them as one array, ``self.sensor("scan").ranges``,
    with the corresponding ``angles``; up to 512 rays are also signals, ``<name>.r0`` and so on.
    Rays pass through the rigid body that carries them, and detect the same shapes as
    :class:`~linkwork.components.sensors.range_sensors.Ray`.
    """

    type: ClassVar[str] = "lidar"
    arrays: ClassVar[tuple[str, ...]] = ("ranges", "angles")
    form = LidarParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        self.fans: list[RayFan] = []
        super().__init__(world, specs, name)
        self._collision_scene = CollisionScene(world)
        self._looks = any(params.sees == "visible" for params in self.params)
        most = max(len(fan.angles) for fan in self.fans)
        self._columns = 2 + most
        self._start, self._directions = np.zeros(3), np.zeros(3 * most)
        self._distances, self._geoms = np.zeros(most), np.zeros(most, np.int32)
        self._aims = [
            (np.array(fan.frame.xyz), np.array([fan.frame.rotate(ray) for ray in _directions(fan)]))
            for fan in self.fans
        ]

    def resolve(self, number: int, spec: Spec, params: LidarParams) -> ReadingRow:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.origin)
        if params.min_range >= params.range:
            raise FormatError(
                f"lidar {spec.name!r}: min_range {params.min_range:g} m is not below the range "
                f"{params.range:g} m.",
                origin=spec.origin,
            )
        angles = _angles(params.count, params.opening)
        self.fans.append(RayFan(spec.name, body, frame, angles, params.range, params.min_range))
        self.offer(number, 0, "nearest", "m", lo=0.0, hi=params.range)
        self.offer(number, 1, "bearing", "rad", lo=-math.pi, hi=math.pi)
        if params.count <= MAX_SIGNALS:
            for k in range(params.count):
                self.offer(number, 2 + k, f"r{k}", "m", lo=0.0, hi=params.range)
        return ReadingRow((("pose", body, 0),), (params.noise,))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """A row for each lidar: the nearest distance, its bearing, and all distances."""
        return {"reading": (len(self.specs), self._columns)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._readings, self._keys = self.slot("reading"), self._tables[3]

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        due = [n for n, every in enumerate(self.every) if now or step % every == 0]
        if due:
            self._collision_scene.move(self.state.pose)
            if self._looks:
                self._collision_scene.show(self.state["param/visible"])
        for n in due:
            fan, params = self.fans[n], self.params[n]
            count = len(fan.angles)
            directions, distances = self._directions[: 3 * count], self._distances[:count]
            aim_fan(self.state.pose[fan.body], *self._aims[n], self._start, directions)
            self._collision_scene.cast(
                self._start,
                directions,
                VISIBLE_GROUPS[params.sees],
                int(self._collision_scene.numbers[fan.body]),
                fan.range,
                distances,
                self._geoms[:count],
            )
            read_fan(
                step, self._keys[n], params.noise, fan.near, fan.range, fan.angles, distances,
                self._readings[n],
            )  # fmt: skip

    def array(self, number: int, name: str) -> np.ndarray:
        """``ranges`` [m] or ``angles`` [rad] of one lidar, as an array."""
        angles = self.fans[number].angles
        if name == "ranges":
            return self._readings[number, 2 : 2 + len(angles)].copy()
        if name == "angles":
            return angles.copy()
        raise not_found("array", name, self.arrays)


def _angles(count: int, opening: float) -> np.ndarray:
    """The angles of a fan [rad]; the last ray of a full turn does not repeat the first."""
    if count == 1:
        return np.zeros(1)
    if opening >= _FULL_TURN - 1e-9:
        return -math.pi + np.arange(count) * (_FULL_TURN / count)
    return np.linspace(-opening / 2.0, opening / 2.0, count)


def _directions(fan: RayFan) -> list[tuple[float, float, float]]:
    return [(math.cos(a), math.sin(a), 0.0) for a in fan.angles.tolist()]
