"""Render: shades what the rays found."""

from __future__ import annotations

import numpy as np

from drawing.light import light
from drawing.spots import FIRST_SHAPE, GROUND, Spots, look_at
from drawing.surfaces import Model
from drawing.view import Camera, Look, unit

TOP, BOTTOM = (0xF6, 0xF8, 0xFA), (0xE3, 0xE8, 0xEC)  # behind everything
LINE = (0.50, 0.55, 0.61)  # of the grid


def render(model: Model, camera: Camera, look: Look, width: int, height: int) -> np.ndarray:
    """The picture (height×width×3, 8 bit)."""
    bands = [
        look_at(model, camera, look, width, height, top, min(top + 40, height))
        for top in range(0, height, 40)
    ]
    spots = Spots(*(np.concatenate(arrays) for arrays in zip(*bands, strict=True)))
    lamp, sky = light(model, camera, look, spots, width, height)
    colors = shade(model, camera, look, spots, lamp, sky, width, height)
    image = np.zeros((width * height, 3))
    for channel in range(3):
        image[:, channel] = np.bincount(
            spots.pixel, spots.share * colors[:, channel], minlength=width * height
        )
    return np.round(image * 255.0).astype(np.uint8).reshape(height, width, 3)


def shade(
    model: Model,
    camera: Camera,
    look: Look,
    spots: Spots,
    lamp: np.ndarray,
    sky: np.ndarray,
    width: int,
    height: int,
) -> np.ndarray:
    """Color of each spot as the screen takes it, 0 to 1."""
    down = (spots.pixel // width + 0.5) / height
    colors = np.array(TOP) / 255.0 + down[:, None] * (np.subtract(BOTTOM, TOP) / 255.0)
    ground = spots.what == GROUND
    if ground.any():
        colors[ground] = _ground(
            camera, look, spots.point[ground], colors[ground], lamp[ground], sky[ground]
        )
    on = spots.what >= FIRST_SHAPE
    paint = np.array([color for _, _, _, color in model.shapes])[spots.what[on] - FIRST_SHAPE]
    normal, point = spots.normal[on], spots.point[on]
    toward = unit(np.subtract(camera.eye, point))
    light = unit(np.add(camera.target, look.lamp) - point)
    halfway = unit(toward + light)
    shine = np.clip(np.einsum("ij,ij->i", normal, halfway), 0.0, 1.0) ** 60
    facing = np.clip(np.einsum("ij,ij->i", normal, toward), 0.0, 1.0)
    bounce = 0.5 - 0.5 * normal[:, 2]
    lit = 0.62 * lamp[on] + 0.98 * sky[on] + 0.24 * bounce + 0.06
    made = paint * lit[:, None] + (0.10 * shine * lamp[on])[:, None]
    made += (0.06 * (1.0 - facing) ** 4 * (0.3 + sky[on]))[:, None]
    colors[on] = _screen(made)
    return colors


def _screen(light: np.ndarray) -> np.ndarray:
    light = np.clip(light, 0.0, 1.0)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def _ground(
    camera: Camera,
    look: Look,
    point: np.ndarray,
    behind: np.ndarray,
    lamp: np.ndarray,
    sky: np.ndarray,
) -> np.ndarray:
    """The background with the ground's shadows and a grid that fades away."""
    center = unit(np.add(camera.target, look.lamp) - point)
    free = np.clip(center[:, 2], 0.05, 1.0)
    shade = 0.17 * (1.0 - np.clip(lamp / free, 0.0, 1.0))
    shade += 0.34 * np.clip(1.0 - 2.0 * sky, 0.0, 1.0)
    shade = np.clip(shade - 0.014, 0.0, None)  # what nobody sees would only make the file large
    distance = np.hypot(point[:, 0] - camera.target[0], point[:, 1] - camera.target[1])
    made = behind * (1.0 - shade)[:, None] + shade[:, None] * np.array([0.10, 0.13, 0.17])
    if look.grid > 0.0:
        fade = np.clip(1.0 - distance / look.reach, 0.0, 1.0)
        width = _footprint(camera, point)
        for step, strength in ((look.grid, 0.22), (5.0 * look.grid, 0.36)):
            for axis in (0, 1):
                off = np.abs((point[:, axis] + step / 2.0) % step - step / 2.0)
                wide = np.maximum(width[:, axis], 0.0012)
                line = np.clip(1.2 - off / wide, 0.0, 1.0) * np.clip(
                    1.3 - 4.0 * wide / step, 0.0, 1.0
                )
                made += (line * fade * strength)[:, None] * (np.array(LINE) - made)
    return made


def _footprint(camera: Camera, point: np.ndarray) -> np.ndarray:
    """How much ground along x and y a pixel of a 600 pixel high picture covers (n×2) [m]."""
    ray = point - camera.eye
    away = np.linalg.norm(ray, axis=1)
    size = away * camera.opening / 600.0
    long = size * away / np.maximum(np.abs(ray[:, 2]), 1e-9)
    flat = ray[:, :2] / np.maximum(np.linalg.norm(ray[:, :2], axis=1, keepdims=True), 1e-9)
    return np.hypot(flat * long[:, None], flat[:, ::-1] * size[:, None])
