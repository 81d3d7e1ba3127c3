"""Camera: color, depth, segmentation images by ray casting."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from linkwork.components.sensors import (
    ReadingParams,
    ReadingRow,
    SampledSensor,
    noise_key,
)
from linkwork.components.sensors.camera_kernels import aim_pixels, shade
from linkwork.core.errors import FormatError, not_found
from linkwork.core.state import State
from linkwork.core.value_types import NonNegative
from linkwork.engines.common.collision_scene import VISIBLE_GROUPS, CollisionScene
from linkwork.geometry.pose import Pose
from linkwork.model.blocks import scoped_name
from linkwork.model.parts import Spec
from linkwork.model.scene import Light, Scene
from linkwork.model.world import World

#: Brightness of an unlit surface, as a fraction of its own color.
AMBIENT = 0.35
#: Default lights: a sun, and a weaker one from the opposite side.
DAYLIGHT = (
    Light("sun", "sun", (-1.4, -2.2, 3.0), strength=0.9),
    Light("fill", "sun", (3.0, 2.0, 1.0), color="#dfe9ff", strength=0.3),
)


@dataclass(frozen=True)
class PinholeModel:
    """Optical data of one camera.

    Attributes:
        body: Index of the body that carries it.
        frame: Its pose in that body, 7 numbers.
        width, height: Of the picture [pixel].
        opening: Vertical angle of view [rad].
        near, far: Where depth begins and ends, along the optical axis [m].
        sky: Color of the background, red, green and blue from 0 to 255.
        noise: Standard deviation of the depth noise [m].
        key: Key of the noise.
    """

    body: int
    frame: np.ndarray
    width: int
    height: int
    opening: float
    near: float
    far: float
    sky: np.ndarray
    noise: float
    key: np.uint64

    @property
    def focal(self) -> float:
        """Focal length [pixel]."""
        return 0.5 * self.height / math.tan(0.5 * self.opening)


class CameraRenderer:
    """Renders images of one camera; its buffers are allocated once.

    Attributes:
        color: Color of the last image, height×width×3, 8 bit.
        depth: Depth of the last image along the optical axis, height×width [m]; inf if nothing is
            seen, 0 if it is too near.
        segmentation: Segmentation of the last image, height×width: index of the element, −1 for
            none.
    """

    def __init__(self, world: World, collision_scene: CollisionScene, lens: PinholeModel) -> None:
        self._collision_scene, self._lens = collision_scene, lens
        pixels = lens.width * lens.height
        self._rays, self._normals = np.zeros(3 * pixels), np.zeros(3 * pixels)
        self._along, self._distances = np.zeros(pixels), np.zeros(pixels)
        self._geoms = np.zeros(pixels, np.int32)
        self._place = np.zeros(7)
        self._palette, self._lights = palette(world, collision_scene), lights(world.scene)
        self._ignored = int(collision_scene.numbers[lens.body])
        # A corner's ray is the longest for a given depth.
        self._reach = lens.far * math.hypot(
            1.0, 0.5 * lens.height / lens.focal, 0.5 * lens.width / lens.focal
        )
        self.color = np.zeros((lens.height, lens.width, 3), np.uint8)
        self.depth = np.zeros((lens.height, lens.width))
        self.segmentation = np.zeros((lens.height, lens.width), np.int32)

    def render(self, pose: np.ndarray, draw: int) -> None:
        """Renders an image of the bodies at ``pose`` (nb×7).

        Args:
            pose: Poses of the bodies.
            draw: Number of the image, for its noise.
        """
        lens = self._lens
        aim_pixels(
            pose[lens.body], lens.frame, lens.width, lens.height, lens.focal,
            self._place, self._rays, self._along,
        )  # fmt: skip
        start = self._place[:3]
        self._collision_scene.cast(
            start, self._rays, VISIBLE_GROUPS["visible"], self._ignored, self._reach,
            self._distances, self._geoms, self._normals,
        )  # fmt: skip
        shade(
            start, self._rays, self._along, self._distances, self._geoms, self._normals,
            self._palette, self._lights, AMBIENT, lens.sky, lens.near, lens.far,
            lens.noise, lens.key, draw,
            self.color.reshape(-1, 3), self.depth.reshape(-1), self.segmentation.reshape(-1),
        )  # fmt: skip


@cache
def compile_camera_kernels() -> None:
    """Compiles the kernels before the first image, so that a program need not wait."""
    one, many = np.ones(1), np.ones(3)
    pose = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    aim_pixels(pose, pose, 1, 1, 1.0, pose.copy(), many, one)
    shade(
        many, many, one, one, np.zeros(1, np.int32), many, np.ones((1, 4)), np.ones((1, 7)),
        AMBIENT, many, 0.1, 1.0, 0.0, np.uint64(0), 0,
        np.zeros((1, 3), np.uint8), one, np.zeros(1, np.int32),
    )  # fmt: skip


def rgb(color: str) -> list[int]:
    """Red, green and blue of ``#rrggbb`` or ``#rrggbbaa``, from 0 to 255."""
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


def palette(world: World, collision_scene: CollisionScene) -> np.ndarray:
    """Returns color and element of each geom, for :func:`shade`."""
    seen = [world.shapes[number] for number in collision_scene.shapes]
    rows = [[*rgb(one.shape.color or one.color), one.element] for one in seen]
    return np.array(rows, np.float64).reshape(-1, 4)


def lights(scene: Scene) -> np.ndarray:
    """The lights of a scene, in the format of :func:`shade`."""
    rows = []
    for light in scene.lights or DAYLIGHT:
        lamp = light.kind == "lamp"
        towards = np.array(light.xyz) if lamp else np.subtract(light.xyz, light.look_at)
        length = 1.0 if lamp else float(np.linalg.norm(towards)) or 1.0
        shine = [light.strength * part / 255.0 for part in rgb(light.color)]
        rows.append([float(lamp), *(towards / length), *shine])
    return np.array(rows, np.float64)


#: Maximum number of pixels along an edge.
MAX_PIXELS = 4096
Pixels = Annotated[int, msgspec.Meta(ge=1, le=MAX_PIXELS)]


class CameraParams(ReadingParams):
    """Parameters of ``Camera``.

    Attributes:
        on: Element or anchor that carries it. It looks along x of that frame; z is up in the image,
            y left.
        width: Width of the image [pixel].
        height: Height of the image [pixel].
        opening: Vertical angle of view [rad].
        near: Minimum distance; nearer surfaces read 0 [m].
        far: Maximum distance [m].
        sky: Color of the background, #rrggbb.
        noise: Standard deviation of the depth noise [m].
    """

    on: str
    width: Pixels = 320
    height: Pixels = 240
    opening: Annotated[float, msgspec.Meta(ge=0.01, le=3.0)] = 1.0
    near: NonNegative = 0.01
    far: Annotated[float, msgspec.Meta(gt=0.0, le=1e12)] = 100.0
    sky: Annotated[str, msgspec.Meta(pattern="^#[0-9a-fA-F]{6}$")] = "#bcd4ee"


class Camera(SampledSensor):
    """Takes images: ``<name>.frame`` is the number of the newest one, from 0.

    An image is taken each period and is a function of the state: the state stores the poses of all
    bodies and their visibility at that time, and the image itself is rendered on demand. So it
    costs nothing while it is not used, and a replay shows the same images. The rigid body that
    carries the camera is not in them; meshes are rendered with all their triangles, planes are
    infinite and visible only from above.
    """

    type: ClassVar[str] = "camera"
    arrays: ClassVar[tuple[str, ...]] = ("color", "depth", "segmentation")
    form = CameraParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        self.frames: list[tuple[int, Pose]] = []
        super().__init__(world, specs, name)
        self._collision_scene: CollisionScene | None = None
        self._optics: dict[int, CameraRenderer] = {}
        self._taken: dict[int, bytes] = {}
        compile_camera_kernels()

    def resolve(self, number: int, spec: Spec, params: CameraParams) -> ReadingRow:  # noqa: D102
        body, frame = self.world.frame(scoped_name(spec, params.on), origin=spec.at("on"))
        if params.near >= params.far:
            raise FormatError(
                f"camera {spec.name!r}: near {params.near:g} m is not below far {params.far:g} m.",
                origin=spec.origin,
            )
        self.frames.append((body, frame))
        self.offer(number, 0, "frame", lo=0.0)
        return ReadingRow((), (params.noise,))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory: the number of each camera's image, and its content: poses and visibility.

        Not by row: an edited scene has other bodies, of which new images are taken.
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
        """Poses of the bodies in a camera's image, and the visible elements."""
        world, count = self.world, len(self.world.element_names)
        poses = state[self.field("pose")].reshape(-1, world.nb, 7)[number]
        return poses, state[self.field("visible")].reshape(len(self.specs), -1)[number, :count]

    def lens(self, number: int) -> PinholeModel:
        """The optics of one camera."""
        params, (body, frame) = self.params[number], self.frames[number]
        key = np.uint64(noise_key(self.world.scene.seed, self.specs[number]))
        return PinholeModel(
            body, frame.array(), params.width, params.height, params.opening, params.near,
            params.far, np.array(rgb(params.sky), np.float64), params.noise, key,
        )  # fmt: skip

    def render(self, number: int, state: State | None = None) -> CameraRenderer:
        """The newest image of one camera, in the present or another state of this world."""
        state = state or self.state
        poses, visible = self._views(state, number)
        frame = int(state[self.field("reading")][number, 0])
        if self._collision_scene is None:
            self._collision_scene = CollisionScene(self.world, exact=True)
        if number not in self._optics:
            self._optics[number] = CameraRenderer(
                self.world, self._collision_scene, self.lens(number)
            )
        optics = self._optics[number]
        content = poses.tobytes() + visible.tobytes() + frame.to_bytes(8, "little")
        if self._taken.get(number) != content:
            self._collision_scene.move(poses)
            self._collision_scene.show(visible)
            optics.render(poses, frame)
            self._taken[number] = content
        return optics

    def array(self, number: int, name: str) -> np.ndarray:
        """Returns ``color``, ``depth`` or ``segmentation`` of a camera's newest image.

        Color is height×width×3 of 8 bit; depth height×width along the optical axis [m], inf if
        nothing is seen; segmentation height×width with the index of the element, −1 for none.
        """
        if name not in self.arrays:
            raise not_found("array", name, self.arrays)
        return getattr(self.render(number), name).copy()

    @classmethod
    def array_name(cls, name: str) -> str:
        """Returns the name of an array, which may be given in British spelling."""
        return "color" if name == "colour" else name


#: Kinds of pixels in the file: one number, or red, green and blue.
_GREY, _RGB = 0, 2
#: Each row is stored as the difference from the row above, which compresses well.
_UP = 2
#: Compression level of zlib; higher levels cost time and gain little.
_LEVEL = 3


def png(image: np.ndarray) -> bytes:
    """An image as a PNG file.

    Args:
        image: height×width×3 of 8 bit, or height×width of 16 bit.

    Raises:
        ValueError: If it is neither.
    """
    if image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3:
        bits, kind = 8, _RGB
        rows = np.ascontiguousarray(image).reshape(len(image), -1)
    elif image.dtype == np.uint16 and image.ndim == 2:
        bits, kind = 16, _GREY
        rows = np.ascontiguousarray(image.astype(">u2")).view(np.uint8)
    else:
        raise ValueError(f"no PNG of {image.shape} {image.dtype}")
    lines = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    lines[:, 0] = _UP
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], bits, kind, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), _LEVEL)
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def to_millimeters(depth: np.ndarray) -> np.ndarray:
    """Depths [m] as 16 bit [mm], rounded; 0 if there is none, or more than 65.535 m."""
    known = (depth > 0.0) & (depth <= 65.535)
    return np.where(known, np.rint(1000.0 * np.where(known, depth, 0.0)), 0).astype(np.uint16)


def __getattr__(name: str) -> Any:
    """Reads the former name of :func:`to_millimeters`."""
    if name == "millimetres":
        warnings.warn("millimetres is now to_millimeters.", DeprecationWarning, stacklevel=2)
        return to_millimeters
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def numbers(segmentation: np.ndarray) -> np.ndarray:
    """Element indices plus 1 as 16 bit; 0 for none."""
    return (segmentation + 1).astype(np.uint16)
