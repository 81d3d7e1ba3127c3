"""Optics: a pinhole camera's picture of a world, by ray casting; no graphics library takes part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from linkwork.scene.scene import Light, Scene
from linkwork.sensors.camera_kernels import aim_pixels, shade
from linkwork.sensors.shadow import SEEN, Shadow
from linkwork.world import World

#: How bright a surface is that no light reaches, as a share of its own colour.
AMBIENT = 0.35
#: Lights of a scene that has none: a sun over the shoulder, and a weaker one against it.
DAYLIGHT = (
    Light("sun", "sun", (-1.4, -2.2, 3.0), strength=0.9),
    Light("fill", "sun", (3.0, 2.0, 1.0), color="#dfe9ff", strength=0.3),
)


@dataclass(frozen=True)
class Lens:
    """What a picture needs to know of one camera.

    Attributes:
        body: Number of the body that carries it.
        frame: Its pose in that body, 7 numbers.
        width, height: Of the picture [pixel].
        opening: Vertical angle of view [rad].
        near, far: Where depth begins and ends, along the optical axis [m].
        sky: Colour where nothing is seen, red, green and blue from 0 to 255.
        noise: On the depth, standard deviation [m].
        key: Of the noise.
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


class Optics:
    """Takes pictures with one camera; its room is made once.

    Attributes:
        colour: Of the last picture, height×width×3, 8 bit.
        depth: Of the last picture along the optical axis, height×width [m]; inf where nothing is
            seen, 0 where it is too near.
        segmentation: Of the last picture, height×width: number of the element, −1 for none.
    """

    def __init__(self, world: World, shadow: Shadow, lens: Lens) -> None:
        self._shadow, self._lens = shadow, lens
        pixels = lens.width * lens.height
        self._rays, self._normals = np.zeros(3 * pixels), np.zeros(3 * pixels)
        self._along, self._distances = np.zeros(pixels), np.zeros(pixels)
        self._geoms = np.zeros(pixels, np.int32)
        self._place = np.zeros(7)
        self._palette, self._lights = palette(world, shadow), lights(world.scene)
        self._ignored = int(shadow.numbers[lens.body])
        # A corner's ray is the longest for a given depth.
        self._reach = lens.far * math.hypot(
            1.0, 0.5 * lens.height / lens.focal, 0.5 * lens.width / lens.focal
        )
        self.colour = np.zeros((lens.height, lens.width, 3), np.uint8)
        self.depth = np.zeros((lens.height, lens.width))
        self.segmentation = np.zeros((lens.height, lens.width), np.int32)

    def take(self, pose: np.ndarray, draw: int) -> None:
        """Takes a picture; the shadow stands where ``pose`` (nb×7) says.

        Args:
            pose: Of the bodies.
            draw: Number of the picture, for its noise.
        """
        lens = self._lens
        aim_pixels(
            pose[lens.body], lens.frame, lens.width, lens.height, lens.focal,
            self._place, self._rays, self._along,
        )  # fmt: skip
        start = self._place[:3]
        self._shadow.cast(
            start, self._rays, SEEN["visible"], self._ignored, self._reach,
            self._distances, self._geoms, self._normals,
        )  # fmt: skip
        shade(
            start, self._rays, self._along, self._distances, self._geoms, self._normals,
            self._palette, self._lights, AMBIENT, lens.sky, lens.near, lens.far,
            lens.noise, lens.key, draw,
            self.colour.reshape(-1, 3), self.depth.reshape(-1), self.segmentation.reshape(-1),
        )  # fmt: skip


@cache
def warm_up() -> None:
    """Compiles the optics before the first picture: a program that asks for one has no time."""
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


def palette(world: World, shadow: Shadow) -> np.ndarray:
    """Colour and element of each geom, as :func:`shade` takes them."""
    pieces = [world.shapes[number] for number in shadow.shapes]
    rows = [[*rgb(piece.shape.color or piece.color), piece.element] for piece in pieces]
    return np.array(rows, np.float64).reshape(-1, 4)


def lights(scene: Scene) -> np.ndarray:
    """The lights of a scene, as :func:`shade` takes them."""
    rows = []
    for light in scene.lights or DAYLIGHT:
        lamp = light.kind == "lamp"
        towards = np.array(light.xyz) if lamp else np.subtract(light.xyz, light.look_at)
        length = 1.0 if lamp else float(np.linalg.norm(towards)) or 1.0
        shine = [light.strength * part / 255.0 for part in rgb(light.color)]
        rows.append([float(lamp), *(towards / length), *shine])
    return np.array(rows, np.float64)
