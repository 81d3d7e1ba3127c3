"""MeshStore: the triangles and images of a scene, by content hash."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np

from linkwork.model.parts import Ellipsoid, Mesh, Terrain

#: Numbers of vertices and triangles, followed by float32 positions [m] and uint32 indices; little
#: endian.
MESH_HEADER = struct.Struct("<II")


#: Size limit of a texture image [byte].
LARGEST_IMAGE = 32 * 2**20


def is_image(data: bytes) -> bool:
    """Whether data begin with the signature of an image format that browsers draw."""
    return (
        data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
        or (data[:2] == b"BM" and data[6:10] == bytes(4))
        or data[4:12] in (b"ftypavif", b"ftypavis")
    )


def _key(shape: Mesh | Ellipsoid | Terrain) -> tuple[object, ...]:
    """The geometry of a shape as a cache key."""
    match shape:
        case Mesh():
            return shape.file, shape.node, *shape.scale
        case Ellipsoid():
            return shape.kind, *shape.radii
    return shape.kind, shape.size, shape.rows, shape.columns, shape.heights


class MeshStore:
    """Meshes and images in the format that browsers receive, each made once."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[object, ...], str] = {}
        self._images: dict[str, str | None] = {}
        self._data: dict[str, bytes] = {}

    def add(self, shape: Mesh | Ellipsoid | Terrain) -> str:
        """Adds a shape drawn as triangles and returns its content hash."""
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
        """Adds an image file and returns its content hash.

        Returns None if the file cannot be read or is no image: a scene may name any file as a
        texture, and viewers would be able to read it.
        """
        if file and file not in self._images:
            try:
                path = Path(file)
                data = path.read_bytes() if path.stat().st_size <= LARGEST_IMAGE else b""
            except OSError:  # deleted since the scene was loaded; the color is drawn instead
                data = b""
            known = hashlib.sha256(data).hexdigest()[:32] if is_image(data) else None
            self._images[file] = known
            if known is not None:
                self._data[known] = data
        return self._images.get(file)

    def keep(self, data: bytes) -> str:
        """Adds any other data to be drawn and returns its content hash."""
        known = hashlib.sha256(data).hexdigest()[:32]
        self._data[known] = data
        return known

    def drop(self, known: str) -> None:
        """Removes data that is no longer drawn."""
        self._data.pop(known, None)

    def get(self, mesh: str) -> bytes:
        """The mesh or image with a hash; empty if there is none."""
        return self._data.get(mesh, b"")
