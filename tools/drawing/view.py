"""View: from where a picture is taken, and in which light."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def unit(v: ArrayLike) -> np.ndarray:
    """Vectors (…×3) scaled to length one."""
    v = np.asarray(v, float)
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


@dataclass(frozen=True)
class Camera:
    """From where the world is seen: eye and target [m], vertical opening [rad]."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    opening: float = 0.6

    def rays(self, x: np.ndarray, y: np.ndarray, width: int, height: int) -> np.ndarray:
        """Unit directions (n×3) through points of the picture, in pixels from its top left."""
        forward = unit(np.subtract(self.target, self.eye))
        right = unit(np.cross(forward, (0.0, 0.0, 1.0)))
        up = np.cross(right, forward)
        scale = 2.0 * math.tan(self.opening / 2.0) / height
        across, down = (x - width / 2.0) * scale, (y - height / 2.0) * scale
        return unit(forward + across[:, None] * right - down[:, None] * up)


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
