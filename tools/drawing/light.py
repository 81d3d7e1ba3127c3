"""Light: how much of a soft lamp and of the sky reaches each spot.

Each pixel tries a few places of both; neighbors try others and share what they found, so that
shadows are smooth and files small.
"""

from __future__ import annotations

import math

import numpy as np

from drawing.spots import GROUND, Spots
from drawing.surfaces import Model
from drawing.view import Camera, Look, unit

SETS = 3  # neighbors across a block that share their light
LAMP_RAYS, SKY_RAYS = 8, 16  # of each pixel, times Look.rays
SKIN = 4e-4  # how far above a surface light is measured, at least [m]


def light(
    model: Model, camera: Camera, look: Look, spots: Spots, width: int, height: int
) -> tuple[np.ndarray, np.ndarray]:
    """How much of the lamp (with its angle) and of the sky reaches each spot, 0 to 1."""
    lamps, domes = _positions(camera, look)
    lamp, sky = np.zeros(len(spots.pixel)), np.zeros(len(spots.pixel))
    # The middle of a spot on an edge lies inside the body, by up to part of a pixel.
    pixel = np.linalg.norm(spots.point - camera.eye, axis=1) * camera.opening / height
    start = spots.point + np.maximum(SKIN, 0.7 * pixel)[:, None] * spots.normal
    number = (spots.pixel // width % SETS) * SETS + spots.pixel % width % SETS
    for each in range(SETS * SETS):
        mine = np.flatnonzero((number == each) & (spots.what >= GROUND))
        points, normals = start[mine], spots.normal[mine]
        for positions, total in ((lamps[each], lamp), (domes[each], sky)):
            for place in positions:
                away = points - place
                facing = -np.einsum("ij,ij->i", unit(away), normals)
                lit = np.flatnonzero(facing > 0.0)
                geom, distance = model.cast(place, away[lit])
                free = lit[(geom < 0) | (distance > 1.0 - 1e-6)]
                total[mine[free]] += facing[free] / len(positions)
    return _shared(spots, lamp, sky, width, len(model.shapes) + 2)


def _positions(camera: Camera, look: Look) -> tuple[np.ndarray, np.ndarray]:
    """Places on the lamp and in the sky, by set of neighbors: evenly spread in each and in all."""
    sets = SETS * SETS
    golden = math.pi * (3.0 - math.sqrt(5.0))
    center = np.add(camera.target, look.lamp)
    toward = unit(np.multiply(look.lamp, -1.0))
    side = unit(np.cross(toward, (0.0, 0.0, 1.0)))
    other = np.cross(toward, side)
    k = np.arange(LAMP_RAYS * look.rays * sets)
    radius = look.lamp_radius * np.sqrt((k + 0.5) / len(k))
    lamps = (
        center
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
    spots: Spots, lamp: np.ndarray, sky: np.ndarray, width: int, kinds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both lights averaged over neighboring spots of the same surface."""
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
