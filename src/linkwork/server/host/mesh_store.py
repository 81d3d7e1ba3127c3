"""MeshStore: the triangles and images that a scene draws, by the hash of their content."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np

from linkwork.parts import Ellipsoid, Mesh, Terrain

#: Corners and triangles, ahead of float32 positions [m] and uint32 indices; little endian.
MESH_HEADER = struct.Struct("<II")


#: A larger image is not laid on anything [byte].
LARGEST_IMAGE = 32 * 2**20


def is_image(data: bytes) -> bool:
    """Whether data begin as images do that browsers draw."""
    return (
        data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
        or (data[:2] == b"BM" and data[6:10] == bytes(4))
        or data[4:12] in (b"ftypavif", b"ftypavis")
    )


def _key(shape: Mesh | Ellipsoid | Terrain) -> tuple[object, ...]:
    """What two shapes have in common that are drawn the same."""
    match shape:
        case Mesh():
            return shape.file, shape.node, *shape.scale
        case Ellipsoid():
            return shape.kind, *shape.radii
    return shape.kind, shape.size, shape.rows, shape.columns, shape.heights


class MeshStore:
    """Meshes and images as browsers take them, made once each."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[object, ...], str] = {}
        self._images: dict[str, str | None] = {}
        self._data: dict[str, bytes] = {}

    def add(self, shape: Mesh | Ellipsoid | Terrain) -> str:
        """Takes a shape that is drawn by triangles and returns the hash of its content."""
        key = _key(shape)
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

    def add_image(self, file: str) -> str | None:
        """Takes an image file and returns the hash of its content.

        None if it cannot be read or is no image: a scene may name any file as a texture, and
        whoever watches would get to read it.
        """
        if file and file not in self._images:
            try:
                path = Path(file)
                data = path.read_bytes() if path.stat().st_size <= LARGEST_IMAGE else b""
            except OSError:  # gone since the scene was loaded; the colour is drawn instead
                data = b""
            known = hashlib.sha256(data).hexdigest()[:32] if is_image(data) else None
            self._images[file] = known
            if known is not None:
                self._data[known] = data
        return self._images.get(file)

    def keep(self, data: bytes) -> str:
        """Takes anything else that is drawn, and returns the hash of its content."""
        known = hashlib.sha256(data).hexdigest()[:32]
        self._data[known] = data
        return known

    def drop(self, known: str) -> None:
        """Forgets what is not drawn any more."""
        self._data.pop(known, None)

    def get(self, mesh: str) -> bytes:
        """The mesh or image of a hash; empty if there is none."""
        return self._data.get(mesh, b"")
