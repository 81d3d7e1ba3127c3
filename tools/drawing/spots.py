"""Spots: what a picture shows, pixel by pixel, before there is light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drawing.surfaces import Model
from drawing.view import Camera, Look, unit

GROUND = 0  # what a spot shows; −1 is the background
FIRST_SHAPE = 1  # and from here on the shapes
SUB = 4  # rays across a pixel's edge


@dataclass
class Spots:
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


def look_at(
    model: Model, camera: Camera, look: Look, width: int, height: int, top: int, end: int
) -> tuple[np.ndarray, ...]:
    """The spots of some rows of the picture."""
    eye = np.array(camera.eye)
    x, y = np.meshgrid(
        (np.arange(width * SUB) + 0.5) / SUB, (np.arange(SUB * (end - top)) + 0.5) / SUB
    )
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
    return key // kinds, key % kinds - 1, count / SUB**2, mean(points), unit(mean(normals))
