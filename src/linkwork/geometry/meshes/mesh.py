"""TriangleMesh: vertices and the triangles between them, as immutable arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.core.errors import MeshError

Color = tuple[float, float, float, float]

MAX_COORDINATE = 1e9
"""Largest allowed absolute coordinate [m]; fifth powers of larger ones lose precision."""


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A surface of triangles; equality is identity, the arrays are read-only.

    Attributes:
        vertices: Corner positions, n×3 float64 [m].
        faces: Corner indices, m×3 int32, counter-clockwise seen from outside.
        color: Red, green, blue and opacity, each 0 to 1, or None if the file has none.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    color: Color | None = None

    def __post_init__(self) -> None:
        vertices = _as_table(self.vertices, np.float64, "vertices")
        faces = _as_table(self.faces, np.int32, "faces")
        if len(faces) == 0:
            raise MeshError("a mesh needs at least one triangle, but it has none.")
        bad = ~(np.abs(vertices) <= MAX_COORDINATE).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise MeshError(
                f"vertex {row} is {vertices[row].tolist()}.",
                hint=f"Coordinates must be finite and at most {MAX_COORDINATE:g} in size.",
            )
        check_indices(faces, len(vertices))
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @cached_property
    def triangles(self) -> NDArray[np.float64]:
        """Corner positions of every face, m×3×3 [m]."""
        return self.vertices[self.faces]

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """Least and greatest coordinates of the vertices, 2×3 [m]."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @cached_property
    def is_watertight(self) -> bool:
        """Whether the surface is closed and its faces are consistently oriented.

        True if each directed edge occurs as often as its reverse: the surface then has no
        boundary and the divergence theorem gives its volume exactly.
        """
        start = self.faces.ravel().astype(np.int64)
        end = np.roll(self.faces, -1, axis=1).ravel().astype(np.int64)
        count = len(self.vertices)
        forward = np.sort(start * count + end)
        backward = np.sort(end * count + start)
        return bool(np.array_equal(forward, backward))

    def scaled(self, scale: float | Sequence[float] | NDArray[np.float64]) -> TriangleMesh:
        """Scales about the origin; a mirroring scale also reverses the faces.

        Args:
            scale: One factor, or one per axis; none may be zero.
        """
        factors = np.asarray(scale, dtype=np.float64)
        if factors.shape not in ((), (3,)) or not np.isfinite(factors).all():
            raise MeshError(f"the mesh scale is {scale!r}.", hint="Give one number or three.")
        if (factors == 0).any():
            raise MeshError(
                f"the mesh scale {factors.tolist()} flattens the mesh.",
                hint="Every factor must differ from zero.",
            )
        if (factors == 1).all():
            return self
        mirrors = np.prod(np.sign(np.broadcast_to(factors, 3))) < 0
        faces = self.faces[:, ::-1] if mirrors else self.faces
        return TriangleMesh(self.vertices * factors, faces, self.color)

    def moved(self, xyz: ArrayLike, quat_wxyz: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> TriangleMesh:
        """Rotates by a quaternion, then translates.

        Args:
            xyz: Translation [m].
            quat_wxyz: Rotation; it is normalized.
        """
        shift = np.asarray(xyz, dtype=np.float64)
        quat = np.asarray(quat_wxyz, dtype=np.float64)
        length = float(np.linalg.norm(quat)) if quat.shape == (4,) else 0.0
        if shift.shape != (3,) or not np.isfinite(length) or length < 1e-12:
            raise MeshError(
                f"a mesh cannot be moved by {shift.tolist()} and turned by {quat.tolist()}.",
                hint="Give three coordinates and four quaternion numbers (w, x, y, z), not all 0.",
            )
        return TriangleMesh(
            self.vertices @ _rotation(quat / length).T + shift, self.faces, self.color
        )

    def hull(self) -> TriangleMesh:
        """Returns the convex hull, to within 2e-7 of the mesh's size; raises if it is flat."""
        from linkwork.geometry.meshes.hull import convex_hull

        vertices, faces = convex_hull(self.vertices)
        return TriangleMesh(vertices, faces, self.color)

    def simplified(self, max_faces: int) -> TriangleMesh:
        """Returns a mesh of similar shape with at most ``max_faces`` triangles (4 or more).

        A watertight mesh stays watertight, but walls thinner than the new triangles become
        sheets: take mass properties from the full mesh. A mesh that is small enough is returned
            unchanged.
        """
        from linkwork.geometry.meshes.simplify import cluster

        if len(self.faces) <= max_faces:
            return self
        vertices, faces = cluster(self.vertices, self.faces, max_faces)
        return TriangleMesh(vertices, faces, self.color)


def check_indices(faces: NDArray[np.integer], count: int) -> None:
    """Raises if a face names a vertex that does not exist."""
    bad = faces[(faces < 0) | (faces >= count)]
    if bad.size:
        raise MeshError(
            f"a triangle names the vertex {int(bad[0])}, but there are {count}.",
            hint=f"They are numbered from 0 to {count - 1}." if count else "",
        )


def weld(
    vertices: NDArray[np.float64], faces: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Joins vertices at exactly equal positions and drops the triangles that collapse.

    Unused vertices are dropped too; the rest keep the order of their first use.
    """
    from linkwork.geometry.meshes.weld_kernels import first_of_equal

    bits = np.add(vertices, 0.0, order="C").view(np.uint64)  # -0.0 becomes 0.0
    table = np.full(1 << (2 * len(bits)).bit_length(), -1, np.int64)
    first = np.empty(len(bits), np.int64)
    if not first_of_equal(bits, table, first):
        first = _first_of_sorted(bits)
    faces = first[faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    used = np.zeros(len(vertices), dtype=bool)
    used[faces] = True
    renumbered = np.cumsum(used) - 1
    return vertices[used], renumbered[faces].astype(np.int32)


def _first_of_sorted(bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns the first vertex that is equal to each vertex, by sorting."""
    order = np.lexsort(bits.T)
    ordered = bits[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.empty(len(order), dtype=np.int64)
    first[order] = order[starts][np.cumsum(starts) - 1]
    return first


def _as_table(values: ArrayLike, kind: type[np.generic], name: str) -> NDArray:
    try:
        given = np.asarray(values)
        table = np.array(given, dtype=kind, order="C")
    except (ValueError, TypeError, OverflowError) as error:
        raise MeshError(f"the {name} of a mesh must be a table of numbers: {error}.") from None
    if table.ndim != 2 or table.shape[1] != 3:
        raise MeshError(f"the {name} of a mesh must be an n×3 table, not {table.shape}.")
    if kind is np.int32 and not np.array_equal(table, given):
        raise MeshError(f"the {name} of a mesh must be whole numbers below 2147483648.")
    table.flags.writeable = False
    return table


def _rotation(unit_quat: NDArray[np.float64]) -> NDArray[np.float64]:
    w, x, y, z = unit_quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
