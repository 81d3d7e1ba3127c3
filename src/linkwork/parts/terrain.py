"""Terrain: ground whose height is given at the points of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkwork.errors import PartError
from linkwork.meshes import TriangleMesh
from linkwork.parts.shape import Shape
from linkwork.spatial.inertia import Inertia

#: Most points of a grid.
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Terrain(Shape):
    """Ground over a rectangle ``size`` [m], centred, whose height is given by a grid of points.

    Attributes:
        size: Extent along x and y [m].
        rows: Points along y.
        columns: Points along x.
        heights: Height of each point [m], row by row from −y to y, each from −x to x; flat if
            empty.
        depth: How thick the ground is below its lowest point [m].
    """

    kind: ClassVar[str] = "terrain"
    size: tuple[float, float]
    rows: int = 2
    columns: int = 2
    heights: tuple[float, ...] = ()
    depth: float = 0.1

    def __post_init__(self) -> None:
        self._positive(x=self.size[0], y=self.size[1], depth=self.depth)
        for name in ("rows", "columns"):
            count = getattr(self, name)
            if not isinstance(count, int) or not 2 <= count <= MOST_POINTS:
                raise PartError(f"a terrain's {name} must be a whole number from 2, not {count}.")
        points = self.rows * self.columns
        if points > MOST_POINTS:
            raise PartError(f"a terrain has at most {MOST_POINTS} points, not {points}.")
        if self.heights and len(self.heights) != points:
            raise PartError(
                f"a terrain of {self.rows} rows and {self.columns} columns needs {points} "
                f"heights, not {len(self.heights)}."
            )
        if not all(math.isfinite(height) for height in self.heights):
            raise PartError("a terrain's heights must be finite numbers.")

    def grid(self) -> np.ndarray:
        """Height of each point (rows×columns) [m]."""
        if not self.heights:
            return np.zeros((self.rows, self.columns))
        return np.array(self.heights, np.float64).reshape(self.rows, self.columns)

    def triangles(self) -> TriangleMesh:
        """The surface, two triangles to a cell."""
        x = np.linspace(-self.size[0] / 2.0, self.size[0] / 2.0, self.columns)
        y = np.linspace(-self.size[1] / 2.0, self.size[1] / 2.0, self.rows)
        vertices = np.column_stack([*(a.ravel() for a in np.meshgrid(x, y)), self.grid().ravel()])
        number = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        a, b = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
        c, d = number[1:, 1:].ravel(), number[1:, :-1].ravel()
        faces = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
        return TriangleMesh(vertices, faces.astype(np.int32))

    def volume(self) -> float:  # noqa: D102
        return 0.0

    def inertia(self, mass: float) -> Inertia:  # noqa: D102
        return Inertia.of(mass)
