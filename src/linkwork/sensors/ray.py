"""Ray: distance to the nearest surface along a straight line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.blocks import scoped_name
from linkwork.errors import FormatError
from linkwork.parts import Spec
from linkwork.sensors.kernels import aim_rays
from linkwork.sensors.readings import Finite, ReadingParams, Readings, Row
from linkwork.sensors.shadow import SEEN, Shadow
from linkwork.spatial.pose import Vec3
from linkwork.state import State
from linkwork.world import World


class RayParams(ReadingParams):
    """Parameters of ``Ray``.

    Attributes:
        on: Element or anchor that carries it; the ray starts at its origin.
        range: What is farther away is not seen [m].
        direction: Where it looks, in the frame of ``on``; any length but 0.
        sees: Shapes that stop it: those that collide, or those that are drawn.
        noise: On the distance, where something is hit [m].
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
        body: Number of the body.
        start: Where it starts [m].
        direction: Unit vector.
        range: How far it sees [m].
    """

    name: str
    body: int
    start: Vec3
    direction: Vec3
    range: float


class Ray(Readings):
    """Reads distances: ``<name>.distance`` [m], 0 to ``range``.

    The reading is ``range`` where nothing is hit. A ray passes through the rigid body that carries
    it. Meshes and cones are seen by their convex hulls, as they touch; a plane only from above.
    """

    type: ClassVar[str] = "ray"
    form = RayParams
    kernel = staticmethod(aim_rays)

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self._shadow = Shadow(world)
        self._looks = any(params.sees == "visible" for params in self.params)
        numbers = self._shadow.numbers
        self._casts = [
            (n, self.every[n], params.range, SEEN[params.sees], int(numbers[row.fields[0][1]]))
            for n, (params, row) in enumerate(zip(self.params, self.rows, strict=True))
        ]

    def resolve(self, number: int, spec: Spec, params: RayParams) -> Row:  # noqa: D102
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
        return Row((("pose", body, 0),), (params.noise, *frame.xyz, *frame.rotate((x, y, z))))

    def beams(self) -> list[Beam]:
        """Where the rays are, for those who draw them."""
        return [
            Beam(spec.name, row.fields[0][1], row.numbers[1:4], row.numbers[4:7], params.range)  # type: ignore[arg-type]
            for spec, params, row in zip(self.specs, self.params, self.rows, strict=True)
        ]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        self._aim = np.zeros((len(self.specs), 7))
        # Views of each ray's start, direction and reading, which the step would else make anew.
        reading = self.slot("reading")
        self._views = [(a[:3], a[3:6], a[6:], r) for a, r in zip(self._aim, reading, strict=True)]

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        due = [cast for cast in self._casts if now or step % cast[1] == 0]
        if not due:
            return
        self._shadow.move(self.state.pose)
        if self._looks:
            self._shadow.show(self.state["param/visible"])
        self.kernel(step, *self._tables, self._aim)
        for n, _, reach, seen, ignored in due:
            start, direction, noise, reading = self._views[n]
            distance = self._shadow.distance(start, direction, seen, ignored)
            if 0.0 <= distance < reach:
                reading[0] = min(max(distance + noise[0], 0.0), reach)
            else:
                reading[0] = reach
