"""Draws a world without a graphics card: MuJoCo casts the rays, numpy shades what they hit.

Light comes from a soft lamp and from the sky. Each pixel tries a few places of both; neighbours
try others and share what they found, so that shadows are smooth and files small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco as compiled_mujoco
import numpy as np

from linkwork.engines.mujoco_geoms import add_shape
from linkwork.parts import Box, Capsule, Cone, Cylinder, Plane, Shape, Sphere
from linkwork.spatial import Pose
from linkwork.world import World

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

GROUND = 0  # what a pixel shows: nothing, the ground, or a shape from here on
FIRST_SHAPE = 1
SUB = 4  # rays across a pixel's edge
SETS = 3  # neighbours across a block that share their light
LAMP_RAYS, SKY_RAYS = 8, 16  # of each pixel, times Look.rays
TOP, BOTTOM = (0xF6, 0xF8, 0xFA), (0xE3, 0xE8, 0xEC)  # behind everything
SKIN = 4e-4  # how far above a surface light is measured, at least [m]


@dataclass(frozen=True)
class Camera:
    """From where the world is seen: eye and target [m], vertical opening [rad]."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    opening: float = 0.6

    def rays(self, x: np.ndarray, y: np.ndarray, width: int, height: int) -> np.ndarray:
        """Unit directions (n×3) through points of the picture, in pixels from its top left."""
        forward = _unit(np.subtract(self.target, self.eye))
        right = _unit(np.cross(forward, (0.0, 0.0, 1.0)))
        up = np.cross(right, forward)
        scale = 2.0 * math.tan(self.opening / 2.0) / height
        across, down = (x - width / 2.0) * scale, (y - height / 2.0) * scale
        return _unit(forward + across[:, None] * right - down[:, None] * up)


@dataclass(frozen=True)
class Look:
    """How a picture is lit.

    Attributes:
        lamp: Where the lamp stands, seen from the camera's target [m].
        lamp_radius: How large it is; larger is softer [m].
        ground: Height of the ground [m], or None for no ground.
        grid: Distance of the fine lines [m]; each fifth is stronger. 0 draws none.
        reach: How far the grid is seen [m].
        rays: How many times more light is tried than in a quick picture.
    """

    lamp: tuple[float, float, float] = (-1.6, -1.9, 3.2)
    lamp_radius: float = 0.45
    ground: float | None = 0.0
    grid: float = 0.1
    reach: float = 1.6
    rays: int = 2


@dataclass
class Model:
    """The shapes of a world as geoms, at given poses.

    Attributes:
        mj, data: The MuJoCo model and its data.
        shapes: Shape, position, rotation matrix and colour (linear) by geom.
    """

    mj: Any
    data: Any
    shapes: list[tuple[Shape, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    @classmethod
    def of(cls, worlds: Sequence[tuple[World, np.ndarray]]) -> Model:
        """Shapes that are drawn, of one or more worlds with their poses (nb×7)."""
        spec = mujoco.MjSpec()
        shapes = []
        for world, pose in worlds:
            for piece in world.shapes:
                if not piece.shape.visible or isinstance(piece.shape, Plane):
                    continue
                row = pose[piece.body].tolist()
                at = Pose.of(row[:3], quat=row[3:]) @ piece.pose
                name = f"shape{len(shapes)}"
                add_shape(spec, spec.worldbody, piece, name, pose=at, moving=False)
                color = linear(piece.shape.color or piece.color)
                shapes.append((piece.shape, np.array(at.xyz), at.matrix(), color))
        mj = spec.compile()
        data = mujoco.MjData(mj)
        mujoco.mj_kinematics(mj, data)
        return cls(mj, data, shapes)

    def cast(self, start: np.ndarray, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which geom each ray from ``start`` hits (−1 for none) and how many of its lengths away."""
        count = len(rays)
        geom, distance = np.zeros(count, np.int32), np.zeros(count)
        flat = np.ascontiguousarray(rays, np.float64).ravel()
        mujoco.mj_multiRay(
            self.mj, self.data, start, flat, None, True, -1, geom, distance, None, count, 1e6
        )
        return geom, distance

    def normals(self, geom: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Outward directions at points on the shapes; edges are rounded as if they were broken."""
        made = np.zeros_like(points)
        for number in np.unique(geom):
            shape, at, turn, _ = self.shapes[number]
            here = geom == number
            made[here] = _normal(shape, (points[here] - at) @ turn) @ turn.T
        return made


def _normal(shape: Shape, p: np.ndarray) -> np.ndarray:
    match shape:
        case Sphere():
            return _unit(p)
        case Capsule():
            axis = np.zeros_like(p)
            axis[:, 2] = np.clip(p[:, 2], -shape.length / 2.0, shape.length / 2.0)
            return _unit(p - axis)
        case Box():
            half = np.array(shape.size) / 2.0
            inner = half - min(0.004, 0.25 * half.min())
            return _unit(p - np.clip(p, -inner, inner))
        case Cylinder() | Cone():
            bottom = shape.radius
            top = shape.top_radius if isinstance(shape, Cone) else bottom
            return _turned_normal(p, bottom, top, shape.length)
    return _unit(p)


def _turned_normal(p: np.ndarray, bottom: float, top: float, length: float) -> np.ndarray:
    """Of a cylinder or cone along z, with broken edges."""
    radius = np.hypot(p[:, 0], p[:, 1])
    here = (bottom + top) / 2.0 + (top - bottom) * p[:, 2] / length
    edge = min(0.003, 0.2 * min(max(bottom, top), length))
    out = np.clip(radius - (here - edge), 0.0, None)
    up = p[:, 2] - np.clip(p[:, 2], edge - length / 2.0, length / 2.0 - edge)
    slope = (bottom - top) / length * out
    around = p[:, :2] / np.maximum(radius, 1e-12)[:, None]
    return _unit(np.column_stack([around * out[:, None], up + slope]))


def linear(color: str) -> np.ndarray:
    """``#rrggbb`` as amounts of light, 0 to 1."""
    parts = np.array([int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _screen(light: np.ndarray) -> np.ndarray:
    light = np.clip(light, 0.0, 1.0)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def _unit(v: Any) -> np.ndarray:
    v = np.asarray(v, float)
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


@dataclass
class _Spots:
    """What the picture shows: one row for each surface in each pixel.

    Attributes:
        pixel: Number of the pixel, row by row.
        what: −1 background, ``GROUND``, or the geom's number + ``FIRST_SHAPE``.
        share: Part of the pixel that it covers.
        point, normal: Where the middle of it is, and its outward direction.
    """

    pixel: np.ndarray
    what: np.ndarray
    share: np.ndarray
    point: np.ndarray
    normal: np.ndarray


def render(model: Model, camera: Camera, look: Look, width: int, height: int) -> np.ndarray:
    """The picture (height×width×3, 8 bit)."""
    bands = [
        _look_at(model, camera, look, width, height, top, min(top + 40, height))
        for top in range(0, height, 40)
    ]
    spots = _Spots(*(np.concatenate(arrays) for arrays in zip(*bands, strict=True)))
    lamp, sky = _light(model, camera, look, spots, width, height)
    colors = _shade(model, camera, look, spots, lamp, sky, width, height)
    image = np.zeros((width * height, 3))
    for channel in range(3):
        image[:, channel] = np.bincount(
            spots.pixel, spots.share * colors[:, channel], minlength=width * height
        )
    return np.round(image * 255.0).astype(np.uint8).reshape(height, width, 3)


def _look_at(
    model: Model, camera: Camera, look: Look, width: int, height: int, top: int, end: int
) -> tuple[np.ndarray, ...]:
    """The spots of some rows of the picture."""
    eye = np.array(camera.eye)
    x, y = np.meshgrid((np.arange(width * SUB) + 0.5) / SUB, (np.arange(SUB * (end - top)) + 0.5) / SUB)
    pixel = ((y.ravel() + top).astype(np.int64)) * width + x.ravel().astype(np.int64)
    rays = camera.rays(x.ravel(), y.ravel() + top, width, height)
    geom, distance = model.cast(eye, rays)
    what = np.where(geom >= 0, geom + FIRST_SHAPE, -1)
    distance = np.where(geom >= 0, distance, np.inf)
    if look.ground is not None:
        with np.errstate(divide="ignore"):
            floor = (look.ground - eye[2]) / rays[:, 2]
        nearer = (floor > 0.0) & (floor < distance)
        what[nearer], distance[nearer] = GROUND, floor[nearer]
    distance = np.where(np.isfinite(distance), distance, 100.0)
    key, inverse, count = np.unique(
        pixel * (len(model.shapes) + 2) + what + 1, return_inverse=True, return_counts=True
    )
    points = eye + rays * np.minimum(distance, 100.0)[:, None]
    normals = np.zeros_like(points)
    on = what >= FIRST_SHAPE
    normals[on] = model.normals(what[on] - FIRST_SHAPE, points[on])
    normals[what == GROUND] = (0.0, 0.0, 1.0)

    def mean(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(inverse, values[:, k], minlength=len(key)) for k in range(3)]
        return np.column_stack(sums) / count[:, None]

    kinds = len(model.shapes) + 2
    return key // kinds, key % kinds - 1, count / SUB**2, mean(points), _unit(mean(normals))


def _light(
    model: Model, camera: Camera, look: Look, spots: _Spots, width: int, height: int
) -> tuple[np.ndarray, np.ndarray]:
    """How much of the lamp (with its angle) and of the sky reaches each spot, 0 to 1."""
    lamps, domes = _places(camera, look)
    lamp, sky = np.zeros(len(spots.pixel)), np.zeros(len(spots.pixel))
    # The middle of a spot on an edge lies inside the body, by up to part of a pixel.
    pixel = np.linalg.norm(spots.point - camera.eye, axis=1) * camera.opening / height
    start = spots.point + np.maximum(SKIN, 0.7 * pixel)[:, None] * spots.normal
    number = (spots.pixel // width % SETS) * SETS + spots.pixel % width % SETS
    for each in range(SETS * SETS):
        mine = np.flatnonzero((number == each) & (spots.what >= GROUND))
        points, normals = start[mine], spots.normal[mine]
        for places, total in ((lamps[each], lamp), (domes[each], sky)):
            for place in places:
                away = points - place
                facing = -np.einsum("ij,ij->i", _unit(away), normals)
                lit = np.flatnonzero(facing > 0.0)
                geom, distance = model.cast(place, away[lit])
                free = lit[(geom < 0) | (distance > 1.0 - 1e-6)]
                total[mine[free]] += facing[free] / len(places)
    return _shared(spots, lamp, sky, width, len(model.shapes) + 2)


def _places(camera: Camera, look: Look) -> tuple[np.ndarray, np.ndarray]:
    """Places on the lamp and in the sky, by set of neighbours: evenly spread in each and in all."""
    sets = SETS * SETS
    golden = math.pi * (3.0 - math.sqrt(5.0))
    centre = np.add(camera.target, look.lamp)
    toward = _unit(np.multiply(look.lamp, -1.0))
    side = _unit(np.cross(toward, (0.0, 0.0, 1.0)))
    other = np.cross(toward, side)
    k = np.arange(LAMP_RAYS * look.rays * sets)
    radius = look.lamp_radius * np.sqrt((k + 0.5) / len(k))
    lamps = (
        centre
        + (radius * np.cos(golden * k))[:, None] * side
        + (radius * np.sin(golden * k))[:, None] * other
    )
    k = np.arange(SKY_RAYS * look.rays * sets)
    height = (k + 0.5) / len(k)
    flat = np.sqrt(1.0 - height**2)
    domes = np.add(
        camera.target,
        30.0 * np.column_stack([flat * np.cos(golden * k), flat * np.sin(golden * k), height]),
    )
    return (
        np.stack([lamps[n::sets] for n in range(sets)]),
        np.stack([domes[n::sets] for n in range(sets)]),
    )


def _shared(
    spots: _Spots, lamp: np.ndarray, sky: np.ndarray, width: int, kinds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both lights averaged over neighbouring spots of the same surface."""
    key = spots.pixel * kinds + spots.what + 1
    made = np.column_stack([lamp, sky])
    total, weight = made.copy(), np.ones(len(key))
    reach = SETS // 2
    for down in range(-reach, reach + 1):
        for across in range(-reach, reach + 1):
            if not (down or across):
                continue
            column = spots.pixel % width + across
            wanted = key + (down * width + across) * kinds
            place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
            alike = (key[place] == wanted) & (column >= 0) & (column < width)
            alike &= np.einsum("ij,ij->i", spots.normal, spots.normal[place]) > 0.9
            total[alike] += made[place[alike]]
            weight[alike] += 1.0
    total /= weight[:, None]
    return total[:, 0], total[:, 1]


def _shade(
    model: Model,
    camera: Camera,
    look: Look,
    spots: _Spots,
    lamp: np.ndarray,
    sky: np.ndarray,
    width: int,
    height: int,
) -> np.ndarray:
    """Colour of each spot as the screen takes it, 0 to 1."""
    down = (spots.pixel // width + 0.5) / height
    colors = np.array(TOP) / 255.0 + down[:, None] * (np.subtract(BOTTOM, TOP) / 255.0)
    ground = spots.what == GROUND
    if ground.any():
        colors[ground] = _ground(camera, look, spots.point[ground], colors[ground], lamp[ground],
                                 sky[ground])
    on = spots.what >= FIRST_SHAPE
    paint = np.array([color for _, _, _, color in model.shapes])[spots.what[on] - FIRST_SHAPE]
    normal, point = spots.normal[on], spots.point[on]
    toward = _unit(np.subtract(camera.eye, point))
    light = _unit(np.add(camera.target, look.lamp) - point)
    halfway = _unit(toward + light)
    shine = np.clip(np.einsum("ij,ij->i", normal, halfway), 0.0, 1.0) ** 60
    facing = np.clip(np.einsum("ij,ij->i", normal, toward), 0.0, 1.0)
    bounce = 0.5 - 0.5 * normal[:, 2]
    lit = 0.62 * lamp[on] + 0.98 * sky[on] + 0.24 * bounce + 0.06
    made = paint * lit[:, None] + (0.10 * shine * lamp[on])[:, None]
    made += (0.06 * (1.0 - facing) ** 4 * (0.3 + sky[on]))[:, None]
    colors[on] = _screen(made)
    return colors


def _ground(
    camera: Camera,
    look: Look,
    point: np.ndarray,
    behind: np.ndarray,
    lamp: np.ndarray,
    sky: np.ndarray,
) -> np.ndarray:
    """The background with the ground's shadows and a grid that fades away."""
    centre = _unit(np.add(camera.target, look.lamp) - point)
    free = np.clip(centre[:, 2], 0.05, 1.0)
    shade = 0.17 * (1.0 - np.clip(lamp / free, 0.0, 1.0)) + 0.34 * np.clip(1.0 - 2.0 * sky, 0.0, 1.0)
    distance = np.hypot(point[:, 0] - camera.target[0], point[:, 1] - camera.target[1])
    made = behind * (1.0 - shade)[:, None] + shade[:, None] * np.array([0.10, 0.13, 0.17])
    if look.grid > 0.0:
        fade = np.clip(1.0 - distance / look.reach, 0.0, 1.0)
        width = _footprint(camera, point)
        for step, strength in ((look.grid, 0.22), (5.0 * look.grid, 0.36)):
            for axis in (0, 1):
                off = np.abs((point[:, axis] + step / 2.0) % step - step / 2.0)
                wide = np.maximum(width[:, axis], 0.0012)
                line = np.clip(1.2 - off / wide, 0.0, 1.0) * np.clip(1.3 - 4.0 * wide / step, 0.0, 1.0)
                made += (line * fade * strength)[:, None] * (np.array([0.50, 0.55, 0.61]) - made)
    return made


def _footprint(camera: Camera, point: np.ndarray) -> np.ndarray:
    """How much ground along x and y a pixel of a 600 pixel high picture covers (n×2) [m]."""
    ray = point - camera.eye
    away = np.linalg.norm(ray, axis=1)
    size = away * camera.opening / 600.0
    long = size * away / np.maximum(np.abs(ray[:, 2]), 1e-9)
    flat = ray[:, :2] / np.maximum(np.linalg.norm(ray[:, :2], axis=1, keepdims=True), 1e-9)
    return np.hypot(flat * long[:, None], flat[:, ::-1] * size[:, None])
