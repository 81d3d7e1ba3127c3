"""Assembly: collects the placed submeshes of a mesh file into one mesh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.meshes.mesh import Color, TriangleMesh, check_indices, weld
from linkwork.geometry.meshes.source import MAX_TRIANGLES, MAX_VERTICES, MeshSource


class MeshAssembly:
    """The submeshes of one file; ``finish`` joins them.

    Args:
        source: The file, for messages.
    """

    def __init__(self, source: MeshSource) -> None:
        self._source = source
        self._vertices: list[NDArray[np.float64]] = []
        self._faces: list[NDArray[np.int64]] = []
        self._areas: dict[Color, float] = {}
        self._vertex_count = 0
        self._face_count = 0

    def add(
        self,
        vertices: NDArray[np.floating],
        faces: NDArray[np.integer],
        *,
        matrix: NDArray[np.float64] | None = None,
        color: Color | None = None,
    ) -> None:
        """Adds a submesh; a mirroring placement reverses its faces.

        Args:
            vertices: n×3 in the submesh's frame.
            faces: m×3, indices into ``vertices``.
            matrix: 4×4 placement of the submesh in the file's frame, or None for the identity.
            color: Color of this submesh; the mesh gets the one with the largest area.
        """
        if not len(faces):
            return
        check_indices(faces, len(vertices))
        if len(vertices) > len(faces) * 3:  # a submesh may share one long table with many others
            used, faces = np.unique(faces, return_inverse=True)
            vertices, faces = vertices[used], faces.reshape(-1, 3)
        self._face_count += len(faces)
        self._vertex_count += len(vertices)
        if self._face_count > MAX_TRIANGLES or self._vertex_count > MAX_VERTICES:
            raise self._source.error(
                f"the mesh has more than {MAX_TRIANGLES} triangles or {MAX_VERTICES} vertices.",
                hint="Simplify it before loading.",
            )
        placed = np.asarray(vertices, dtype=np.float64)
        faces = np.asarray(faces, dtype=np.int64)
        if matrix is not None:
            placed = placed @ matrix[:3, :3].T + matrix[:3, 3]
            if np.linalg.det(matrix[:3, :3]) < 0:
                faces = faces[:, ::-1]
        if color is not None:
            a, b, c = placed[faces].swapaxes(0, 1)
            area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
            self._areas[color] = self._areas.get(color, 0.0) + area
        self._faces.append(faces + (self._vertex_count - len(placed)))
        self._vertices.append(placed)

    def finish(self, matrix: NDArray[np.float64] | None = None) -> TriangleMesh:
        """Returns the mesh of all submeshes with equal vertices joined.

        Args:
            matrix: 3×3 applied to every vertex (units, up axis), never mirroring.
        """
        if not self._faces:
            raise self._source.error("it contains no triangles.", hint="Export the mesh again.")
        vertices = np.concatenate(self._vertices)
        if matrix is not None:
            vertices = vertices @ matrix.T
        if not np.isfinite(vertices).all():
            row = int(np.argmax(~np.isfinite(vertices).all(axis=1)))
            raise self._source.error(
                f"vertex {row} has the coordinates {vertices[row].tolist()}.",
                hint="Every coordinate must be a finite number.",
            )
        vertices, faces = weld(vertices, np.concatenate(self._faces))
        if not len(faces):
            raise self._source.error(
                "all its triangles have shrunk to lines or points.", hint="Export the mesh again."
            )
        color = max(self._areas, key=lambda one: self._areas[one]) if self._areas else None
        return TriangleMesh(vertices, faces, color)


def as_color(values: list[float]) -> Color | None:
    """Returns a color from three or four numbers, each clamped to 0–1; None for other values."""
    if len(values) not in (3, 4) or not np.isfinite(values).all():
        return None
    red, green, blue, *rest = (min(max(float(value), 0.0), 1.0) for value in values)
    return red, green, blue, rest[0] if rest else 1.0
