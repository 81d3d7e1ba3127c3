"""MeshStore: the triangles that a scene draws, by the hash of their content."""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from linkwork.parts import Mesh

#: Corners and triangles, ahead of float32 positions [m] and uint32 indices; little endian.
MESH_HEADER = struct.Struct("<II")


class MeshStore:
    """Meshes as browsers take them, made once each."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, tuple[float, ...]], str] = {}
        self._data: dict[str, bytes] = {}

    def add(self, shape: Mesh) -> str:
        """Takes a mesh, at its scale, and returns the hash of its content."""
        key = (shape.file, tuple(shape.scale))
        known = self._hashes.get(key)
        if known is None:
            triangles = shape.triangles()
            data = (
                MESH_HEADER.pack(len(triangles.vertices), len(triangles.faces))
                + triangles.vertices.astype("<f4").tobytes()
                + np.ascontiguousarray(triangles.faces).astype("<u4").tobytes()
            )
            known = self._hashes[key] = hashlib.sha256(data).hexdigest()[:32]
            self._data[known] = data
        return known

    def get(self, mesh: str) -> bytes:
        """The mesh of a hash; empty if there is none."""
        return self._data.get(mesh, b"")
