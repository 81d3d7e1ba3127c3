"""Lidar: distances to the nearest surfaces along a fan of rays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.blocks import scoped_name
from linkwork.errors import FormatError, not_found
from linkwork.parts import Spec
from linkwork.sensors.lidar_kernels import aim_fan, read_fan
from linkwork.sensors.readings import Positive, ReadingParams, Readings, Row
from linkwork.sensors.shadow import SEEN, Shadow
from linkwork.spatial.pose import Pose
from linkwork.state import State
from linkwork.world import World

#: A fan with more rays than this has no signal for each of them: programs read the array.
MOST_SIGNALS = 512
_TURN = 2.0 * math.pi


class LidarParams(ReadingParams):
    """Parameters of ``Lidar``.

    Attributes:
        on: Element or anchor that carries it; the rays start at its origin, in its x-y plane.
        range: What is farther away is not seen [m].
        min_range: What is nearer reads 0 [m].
        count: How many rays.
        opening: Angle from the first to the last ray [rad], x in the middle; a whole turn has its
            rays evenly all around.
        sees: Shapes that stop it: those that collide, or those that are drawn.
        noise: On each distance, where something is hit [m].
    """

    on: str
    range: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)]
    min_range: Positive = 0.0
    count: Annotated[int, msgspec.Meta(ge=1, le=65536)] = 360
    opening: Annotated[float, msgspec.Meta(ge=0.0, le=_TURN + 1e-9)] = _TURN
    sees: Literal["colliding", "visible"] = "colliding"


@dataclass(frozen=True)
class Fan:
    """Where the rays of one lidar are, for those who draw them.

    Attributes:
        name: The sensor's name.
        body: Number of the body that carries it.
        frame: Its frame in that body.
        angles: Of the rays, about z from x [rad].
        range: How far it sees [m].
        near: What is nearer reads 0 [m].
    """

    name: str
    body: int
    frame: Pose
    angles: np.ndarray
    range: float
    near: float


class Lidar(Readings):
    """Reads distances along a fan of rays: ``<name>.nearest`` [m], its ``bearing`` [rad], ``r0`` ….

    The rays turn about the z axis of the frame, counterclockwise, r0 first. A reading is ``range``
    where nothing is hit. Programs have them all in one array, ``self.sensor("scan").ranges``, with
    ``angles`` beside it; up to 512 rays are signals too, ``<name>.r0`` and so on. Rays pass through
    the rigid body that carries them, and see what :class:`~linkwork.sensors.ray.Ray` sees.
    """

    type: ClassVar[str] = "lidar"
    arrays: ClassVar[tuple[str, ...]] = ("ranges", "angles")
    form = LidarParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        self.fans: list[Fan] = []
        super().__init__(world, specs, name)
        self._shadow = Shadow(world)
        self._looks = any(params.sees == "visible" for params in self.params)
        most = max(len(fan.angles) for fan in self.fans)
        self._columns = 2 + most
        self._start, self._directions = np.zeros(3), np.zeros(3 * most)
        self._distances, self._geoms = np.zeros(most), np.zeros(most, np.int32)
        self._aims = [
            (np.array(fan.frame.xyz), np.array([fan.frame.rotate(way) for way in _ways(fan)]))
            for fan in self.fans
        ]

    def resolve(self, number: int, spec: Spec, params: LidarParams) -> Row:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.origin)
        if params.min_range >= params.range:
            raise FormatError(
                f"lidar {spec.name!r}: min_range {params.min_range:g} m is not below the range "
                f"{params.range:g} m.",
                origin=spec.origin,
            )
        angles = _angles(params.count, params.opening)
        self.fans.append(Fan(spec.name, body, frame, angles, params.range, params.min_range))
        self.offer(number, 0, "nearest", "m", lo=0.0, hi=params.range)
        self.offer(number, 1, "bearing", "rad", lo=-math.pi, hi=math.pi)
        if params.count <= MOST_SIGNALS:
            for k in range(params.count):
                self.offer(number, 2 + k, f"r{k}", "m", lo=0.0, hi=params.range)
        return Row((("pose", body, 0),), (params.noise,))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """A row for each lidar: the nearest distance, its bearing, and all distances."""
        return {"reading": (len(self.specs), self._columns)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._readings, self._keys = self.slot("reading"), self._tables[3]

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        due = [n for n, every in enumerate(self.every) if now or step % every == 0]
        if due:
            self._shadow.move(self.state.pose)
            if self._looks:
                self._shadow.show(self.state["param/visible"])
        for n in due:
            fan, params = self.fans[n], self.params[n]
            count = len(fan.angles)
            directions, distances = self._directions[: 3 * count], self._distances[:count]
            aim_fan(self.state.pose[fan.body], *self._aims[n], self._start, directions)
            self._shadow.cast(
                self._start, directions, SEEN[params.sees], int(self._shadow.numbers[fan.body]),
                fan.range, distances, self._geoms[:count],
            )  # fmt: skip
            read_fan(
                step, self._keys[n], params.noise, fan.near, fan.range, fan.angles, distances,
                self._readings[n],
            )  # fmt: skip

    def array(self, number: int, name: str) -> np.ndarray:
        """``ranges`` [m] or ``angles`` [rad] of one lidar, an array each."""
        angles = self.fans[number].angles
        if name == "ranges":
            return self._readings[number, 2 : 2 + len(angles)].copy()
        if name == "angles":
            return angles.copy()
        raise not_found("array", name, self.arrays)


def _angles(count: int, opening: float) -> np.ndarray:
    """The angles of a fan [rad]; the last ray of a whole turn is not the first once more."""
    if count == 1:
        return np.zeros(1)
    if opening >= _TURN - 1e-9:
        return -math.pi + np.arange(count) * (_TURN / count)
    return np.linspace(-opening / 2.0, opening / 2.0, count)


def _ways(fan: Fan) -> list[tuple[float, float, float]]:
    return [(math.cos(a), math.sin(a), 0.0) for a in fan.angles.tolist()]
