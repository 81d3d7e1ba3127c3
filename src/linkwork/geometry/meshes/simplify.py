"""Simplification by vertex clustering with quadric error minimization (Lindstrom 2000)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes.mesh import weld

Rows = tuple[NDArray[np.float64], NDArray[np.int32]]

_MAX_ITERATIONS = 16
"""Bisection rounds for the cell size; each halves the interval of its logarithm."""


def cluster(vertices: NDArray[np.float64], faces: NDArray[np.int32], max_faces: int) -> Rows:
    """Merges the vertices in each cell of the finest grid that leaves at most ``max_faces`` faces.

    A merged vertex minimizes the sum of squared distances to the planes of its adjacent faces, near
    its cell. Of coincident faces, the excess of one orientation over the other remains, or one of
    each (a wall thinner than a cell stays as a sheet); a closed surface therefore stays closed.

    Args:
        vertices: n×3 [m].
        faces: m×3.
        max_faces: Maximum number of triangles in the result, at least 4.

    Raises:
        MeshError: No triangles are left within the limit.
    """
    if max_faces < 4:
        raise MeshError(f"a mesh cannot have {max_faces} triangles.", hint="Ask for 4 or more.")
    low = vertices.min(axis=0)
    size = float((vertices.max(axis=0) - low).max())
    best: NDArray[np.int32] | None = None
    best_cells: NDArray[np.int64] | None = None
    best_step = fine = size * 1e-6
    coarse = size
    for _ in range(_MAX_ITERATIONS):
        step = float(np.sqrt(fine * coarse))
        cells = _cells(vertices, low, step)
        merged = _joined(cells[faces])
        if len(merged) > max_faces:
            fine = step
            continue
        coarse = step
        if best is None or len(merged) > len(best):
            best, best_cells, best_step = merged, cells, step
    if best is None or best_cells is None or len(best) < 4:
        raise MeshError(
            f"the mesh of {len(faces)} triangles keeps no shape with at most {max_faces}.",
            hint="Allow more triangles, or use its convex hull.",
        )
    points = _placed(vertices, faces, best_cells, best_step)
    return weld(points, best)


def _cells(
    vertices: NDArray[np.float64], low: NDArray[np.float64], step: float
) -> NDArray[np.int64]:
    """Returns the number of the cell of each vertex; occupied cells are numbered from 0."""
    index = np.floor((vertices - low) / step).astype(np.int64)
    span = index.max(axis=0) + 1
    keys = (index[:, 0] * span[1] + index[:, 1]) * span[2] + index[:, 2]
    return np.unique(keys, return_inverse=True)[1]


def _joined(faces: NDArray[np.int64]) -> NDArray[np.int32]:
    """Returns the faces with three different corners; coincident ones are joined."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    turn = faces.argmin(axis=1)[:, None]
    faces = np.take_along_axis(faces, (turn + np.arange(3)) % 3, axis=1)
    is_front = faces[:, 1] < faces[:, 2]
    front = np.where(is_front[:, None], faces, faces[:, [0, 2, 1]])
    unique, which = np.unique(front, axis=0, return_inverse=True)
    sides = np.where(is_front, 1, -1)
    surplus = np.zeros(len(unique), dtype=np.int64)
    np.add.at(surplus, which.ravel(), sides)
    fronts = np.repeat(unique, np.where(surplus == 0, 1, np.maximum(surplus, 0)), axis=0)
    backs = np.repeat(unique, np.where(surplus == 0, 1, np.maximum(-surplus, 0)), axis=0)
    return np.concatenate([fronts, backs[:, [0, 2, 1]]]).astype(np.int32)


def _placed(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int32],
    cells: NDArray[np.int64],
    step: float,
) -> NDArray[np.float64]:
    """Returns the point of each cell that minimizes the quadric error of its adjacent faces."""
    count = int(cells.max()) + 1
    amount = np.bincount(cells, minlength=count)[:, None]
    mean = np.stack([np.bincount(cells, vertices[:, k], count) for k in range(3)], axis=1) / amount
    corners = vertices[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    matrix = np.zeros((count, 3, 3))
    target = np.zeros((count, 3))
    for k in range(3):
        cell = cells[faces[:, k]]
        height = np.einsum("ij,ij->i", area, corners[:, 0] - mean[cell])
        for i in range(3):
            target[:, i] += np.bincount(cell, area[:, i] * height, count)
            for j in range(3):
                matrix[:, i, j] += np.bincount(cell, area[:, i] * area[:, j], count)
    # Weak directions (planes and ridges) keep the mean; the pseudo-inverse is truncated at 1e-3.
    shift = (np.linalg.pinv(matrix, rcond=1e-3, hermitian=True) @ target[:, :, None])[:, :, 0]
    length = np.linalg.norm(shift, axis=1)
    too_far = ~(length <= step)
    shift[too_far] = 0.0
    return mean + shift
