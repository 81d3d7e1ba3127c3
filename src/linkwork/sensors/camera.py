"""Camera: colour, depth and segmentation of what a pinhole camera sees."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
import numpy as np

from linkwork.blocks import scoped_name
from linkwork.errors import FormatError, not_found
from linkwork.parts import Spec
from linkwork.sensors.optics import Lens, Optics, rgb, warm_up
from linkwork.sensors.readings import Positive, ReadingParams, Readings, Row, noise_key
from linkwork.sensors.shadow import Shadow
from linkwork.spatial.pose import Pose
from linkwork.state import State
from linkwork.world import World

#: Pixels along an edge, at most.
MOST_PIXELS = 4096
Pixels = Annotated[int, msgspec.Meta(ge=1, le=MOST_PIXELS)]


class CameraParams(ReadingParams):
    """Parameters of ``Camera``.

    Attributes:
        on: Element or anchor that carries it. It looks along x of that frame; z is up in the
            picture, y left.
        width: Of the picture [pixel].
        height: Of the picture [pixel].
        opening: Vertical angle of view [rad].
        near: What is nearer has no depth, it reads 0 [m].
        far: What is farther away is not seen [m].
        sky: Colour where nothing is seen, #rrggbb.
        noise: On the depth [m].
    """

    on: str
    width: Pixels = 320
    height: Pixels = 240
    opening: Annotated[float, msgspec.Meta(ge=0.01, le=3.0)] = 1.0
    near: Positive = 0.01
    far: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)] = 100.0
    sky: Annotated[str, msgspec.Meta(pattern="^#[0-9a-fA-F]{6}$")] = "#bcd4ee"


class Camera(Readings):
    """Takes pictures: ``<name>.frame`` is the number of the newest one, from 0.

    A picture is taken each period and is a function of the state: the state remembers where every
    body was and what was hidden then, and the picture itself is made when somebody asks for it.
    So it costs nothing while nobody looks, and a replay shows the same pictures. The rigid body
    that carries the camera is not in them; meshes are seen with all their triangles, planes without
    end and only from above.
    """

    type: ClassVar[str] = "camera"
    arrays: ClassVar[tuple[str, ...]] = ("colour", "depth", "segmentation")
    form = CameraParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        self.frames: list[tuple[int, Pose]] = []
        super().__init__(world, specs, name)
        self._shadow: Shadow | None = None
        self._optics: dict[int, Optics] = {}
        self._taken: dict[int, bytes] = {}
        warm_up()

    def resolve(self, number: int, spec: Spec, params: CameraParams) -> Row:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        if params.near >= params.far:
            raise FormatError(
                f"camera {spec.name!r}: near {params.near:g} m is not below far {params.far:g} m.",
                origin=spec.origin,
            )
        self.frames.append((body, frame))
        self.offer(number, 0, "frame", lo=0.0)
        return Row((), (params.noise,))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """The number of each camera's picture, and what is in it: poses, and what is drawn.

        Not by row: an edited scene has other bodies, of which new pictures are taken.
        """
        n, world = len(self.specs), self.world
        return {
            **super().slots(),
            "pose": (n * world.nb * 7,),
            "visible": (n * max(1, len(world.element_names)),),
        }

    def read(self, step: int, *, now: bool = False) -> None:  # noqa: D102
        reading = self.slot("reading")
        for n, every in enumerate(self.every):
            if now or step % every == 0:
                poses, visible = self._views(self.state, n)
                poses[:] = self.state.pose
                visible[:] = self.state["param/visible"]
                reading[n, 0] = step // every

    def _views(self, state: State, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the bodies were in a camera's picture, and which elements were drawn."""
        world, count = self.world, len(self.world.element_names)
        poses = state[self.field("pose")].reshape(-1, world.nb, 7)[number]
        return poses, state[self.field("visible")].reshape(len(self.specs), -1)[number, :count]

    def lens(self, number: int) -> Lens:
        """The optics of one camera."""
        params, (body, frame) = self.params[number], self.frames[number]
        key = np.uint64(noise_key(self.world.scene.seed, self.specs[number]))
        return Lens(
            body, frame.array(), params.width, params.height, params.opening, params.near,
            params.far, np.array(rgb(params.sky), np.float64), params.noise, key,
        )  # fmt: skip

    def look(self, number: int, state: State | None = None) -> Optics:
        """The newest picture of one camera, of the present or of another state of this world."""
        state = state or self.state
        poses, visible = self._views(state, number)
        frame = int(state[self.field("reading")][number, 0])
        if self._shadow is None:
            self._shadow = Shadow(self.world, exact=True)
        if number not in self._optics:
            self._optics[number] = Optics(self.world, self._shadow, self.lens(number))
        optics = self._optics[number]
        content = poses.tobytes() + visible.tobytes() + frame.to_bytes(8, "little")
        if self._taken.get(number) != content:
            self._shadow.move(poses)
            self._shadow.show(visible)
            optics.take(poses, frame)
            self._taken[number] = content
        return optics

    def array(self, number: int, name: str) -> np.ndarray:
        """``colour``, ``depth`` or ``segmentation`` of one camera's newest picture.

        Colour is height×width×3 of 8 bit; depth height×width along the optical axis [m], inf where
        nothing is seen; segmentation height×width with the number of the element, −1 for none.
        """
        if name not in self.arrays:
            raise not_found("array", name, self.arrays)
        return getattr(self.look(number), name).copy()
