"""Kernels of cameras."""

from __future__ import annotations

import math

import numpy as np

from linkwork.components.sensors.kernels import gauss
from linkwork.core.jit import kernel
from linkwork.geometry.kernels import compose, rotate


@kernel
def aim_pixels(body, frame, width, height, focal, place, rays, along):
    """Unit vectors of all pixels in world axes, row by row from the top left.

    The camera at ``place`` = ``body``·``frame`` looks along its x axis; y is left, z up. ``focal``
    is the focal length [pixel]. ``along`` gets each ray's component along the optical axis.
    """
    compose(body, frame, place)
    q = place[3:]
    ax, ay, az = rotate(q, 1.0, 0.0, 0.0)
    lx, ly, lz = rotate(q, 0.0, 1.0, 0.0)
    ux, uy, uz = rotate(q, 0.0, 0.0, 1.0)
    n = 0
    for row in range(height):
        up = (0.5 * height - row - 0.5) / focal
        vx, vy, vz = ax + up * ux, ay + up * uy, az + up * uz
        for column in range(width):
            left = (0.5 * width - column - 0.5) / focal
            share = 1.0 / math.sqrt(1.0 + left * left + up * up)
            rays[3 * n] = (vx + left * lx) * share
            rays[3 * n + 1] = (vy + left * ly) * share
            rays[3 * n + 2] = (vz + left * lz) * share
            along[n] = share
            n += 1


@kernel
def shade(
    start, rays, along, distances, geoms, normals, palette, lights, ambient, sky, near, far,
    noise, key, draw, color, depth, segmentation,
):  # fmt: skip
    """Fills ``color`` (n×3), ``depth`` (n, along the optical axis) and ``segmentation`` (n).

    ``palette`` (geoms×4): red, green, blue from 0 to 255, index of the element. ``lights`` (k×7): 1
    for a lamp at a position or 0 for a sun in a direction, that position or direction, red, green
    and blue as factors. A surface's color is its own times ambient + (1 − ambient)·Σ light·max(0,
    normal·direction to the light), at most its own.
    """
    for n in range(distances.shape[0]):
        distance, geom = distances[n], geoms[n]
        deep = distance * along[n]
        if geom < 0 or distance < 0.0 or deep > far:
            color[n, 0], color[n, 1], color[n, 2] = sky[0], sky[1], sky[2]
            depth[n], segmentation[n] = np.inf, -1
            continue
        x, y, z = rays[3 * n], rays[3 * n + 1], rays[3 * n + 2]
        nx, ny, nz = normals[3 * n], normals[3 * n + 1], normals[3 * n + 2]
        if nx * x + ny * y + nz * z > 0.0:  # back face
            nx, ny, nz = -nx, -ny, -nz
        red = green = blue = 0.0
        for k in range(lights.shape[0]):
            lx, ly, lz = lights[k, 1], lights[k, 2], lights[k, 3]
            if lights[k, 0] > 0.0:
                lx -= start[0] + distance * x
                ly -= start[1] + distance * y
                lz -= start[2] + distance * z
                length = math.sqrt(lx * lx + ly * ly + lz * lz)
                if length > 0.0:
                    lx, ly, lz = lx / length, ly / length, lz / length
            lit = nx * lx + ny * ly + nz * lz
            if lit > 0.0:
                red += lit * lights[k, 4]
                green += lit * lights[k, 5]
                blue += lit * lights[k, 6]
        rest = 1.0 - ambient
        color[n, 0] = int(palette[geom, 0] * min(1.0, ambient + rest * red) + 0.5)
        color[n, 1] = int(palette[geom, 1] * min(1.0, ambient + rest * green) + 0.5)
        color[n, 2] = int(palette[geom, 2] * min(1.0, ambient + rest * blue) + 0.5)
        segmentation[n] = int(palette[geom, 3])
        if deep < near:
            depth[n] = 0.0
            continue
        if noise > 0.0:
            a = gauss(key, draw * distances.shape[0] + n)[0]
            deep = max(deep + noise * a, 0.0)
        depth[n] = deep
