"""Writing STL: triangles for formats that name mesh files and cannot hold triangles themselves."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from linkwork.errors import MeshError, Origin
from linkwork.meshes.mesh import TriangleMesh


def write_stl(mesh: TriangleMesh, path: Path) -> None:
    """Writes a mesh as binary STL, coordinates in metres.

    Raises:
        MeshError: If the file cannot be written.
    """
    corners = mesh.triangles
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    rows = np.zeros(len(corners), dtype=[("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
    rows["numbers"][:, 0], rows["numbers"][:, 1:] = normals, corners
    data = b"Linkwork, metres".ljust(80) + struct.pack("<I", len(corners)) + rows.tobytes()
    try:
        path.write_bytes(data)
    except OSError as error:
        why = error.strerror or str(error)
        raise MeshError(f"it cannot be written: {why}.", origin=Origin(str(path))) from None
