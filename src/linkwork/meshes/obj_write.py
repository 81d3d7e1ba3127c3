"""Writing OBJ: triangles for programs that read no STL."""

from __future__ import annotations

from pathlib import Path

from linkwork.errors import MeshError, Origin
from linkwork.meshes.mesh import TriangleMesh


def write_obj(mesh: TriangleMesh, path: Path) -> None:
    """Writes a mesh as OBJ, coordinates in metres to the last digit, without colours.

    Raises:
        MeshError: If the file cannot be written.
    """
    lines = ["# Linkwork, metres"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    try:
        path.write_text("\n".join([*lines, ""]), encoding="ascii")
    except OSError as error:
        why = error.strerror or str(error)
        raise MeshError(f"it cannot be written: {why}.", origin=Origin(str(path))) from None
