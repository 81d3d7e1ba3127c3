"""STL files, binary or ASCII; MSH files of MuJoCo."""

from __future__ import annotations

import io
import struct
from array import array
from pathlib import Path

import numpy as np

from linkwork.core.atomic import whole_file
from linkwork.core.errors import MeshError, Origin, os_error_text
from linkwork.geometry.meshes.assembly import MeshAssembly, as_color
from linkwork.geometry.meshes.mesh import Color, TriangleMesh
from linkwork.geometry.meshes.source import MAX_TRIANGLES, MeshSource

_HEADER = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(source: MeshSource) -> MeshAssembly:
    """Reads an STL file; the format has no units, coordinates are taken as meters.

    A file whose length matches the binary header's triangle count is binary, whatever its first
    word: many binary files begin with ``solid`` too. Bytes after the last triangle of a binary file
    are ignored.
    """
    data = source.data
    claimed = struct.unpack_from("<I", data, 80)[0] if len(data) >= _HEADER else -1
    needed = _HEADER + claimed * _TRIANGLE.itemsize
    is_text = data[:512].lstrip()[:5].lower() == b"solid"
    if claimed >= 0 and (needed == len(data) or not is_text):
        if needed > len(data):
            raise source.error(
                f"its header announces {claimed} triangles ({needed} bytes), "
                f"but the file has {len(data)} bytes.",
                hint="The file is cut off or not an STL file: export it again.",
            )
        return _read_binary(source, claimed)
    if is_text:
        return _read_text(source)
    raise source.error(
        f"its {len(data)} bytes are neither a binary STL (84 bytes and more) nor text "
        "that begins with 'solid'.",
        hint="Export the mesh again.",
    )


def read_msh(source: MeshSource) -> MeshAssembly:
    """Reads MuJoCo's MSH format.

    It has the numbers of vertices, normals, texture points and triangles, then each of them.
    """
    data = source.data
    counts = np.frombuffer(data, "<i4", 4) if len(data) >= 16 else np.array([-1])
    needed = 16 + 4 * int(counts @ (3, 3, 2, 3)) if counts.min() >= 0 else -1
    if needed != len(data):
        raise source.error(
            f"its {len(data)} bytes are not those of a MuJoCo mesh with the numbers in its head.",
            hint="The file is cut off, or an MSH file of another program: export it as OBJ.",
        )
    vertices, normals, points, triangles = (int(count) for count in counts)
    if triangles > MAX_TRIANGLES:
        raise source.error(f"it has {triangles} triangles, the most are {MAX_TRIANGLES}.")
    corners = np.frombuffer(data, "<f4", 3 * vertices, 16).reshape(-1, 3)
    place = 16 + 4 * (3 * vertices + 3 * normals + 2 * points)
    faces = np.frombuffer(data, "<i4", 3 * triangles, place).reshape(-1, 3)
    if triangles and not (faces.min() >= 0 and faces.max() < vertices):
        raise source.error(f"a triangle names a vertex that is not among its {vertices}.")
    assembly = MeshAssembly(source)
    assembly.add(corners, faces.astype(np.int64))
    return assembly


def _read_binary(source: MeshSource, count: int) -> MeshAssembly:
    records = np.frombuffer(source.data, dtype=_TRIANGLE, count=count, offset=_HEADER)
    corners = records["corners"].reshape(-1, 3)
    assembly = MeshAssembly(source)
    assembly.add(corners, np.arange(3 * count).reshape(-1, 3), color=_header_color(source.data))
    return assembly


def _header_color(data: bytes) -> Color | None:
    """Returns the color of the whole body that Materialise Magics writes as ``COLOR=rgba``."""
    place = data.find(b"COLOR=", 0, 80)
    if place < 0 or place + 10 > 80:
        return None
    return as_color([value / 255 for value in data[place + 6 : place + 10]])


def _read_text(source: MeshSource) -> MeshAssembly:
    coordinates = array("d")
    in_facet = 0  # coordinates of the open facet
    is_open = closed = False
    for number, line in enumerate(io.BytesIO(source.data), start=1):
        words = line.split()
        if not words:
            continue
        keyword = words[0].lower()
        if keyword == b"vertex" and is_open:
            try:
                if b"_" in line:  # float() reads 1_000
                    raise ValueError
                x, y, z = map(float, words[1:])
            except ValueError:
                found = line.strip()[:80].decode("latin-1")
                raise source.error(
                    f"{found!r} is not a vertex.", line=number, hint="Write: vertex x y z"
                ) from None
            coordinates.extend((x, y, z))
            in_facet += 1
        elif keyword == b"facet" and not is_open:
            is_open, in_facet = True, 0
        elif keyword == b"endfacet" and is_open:
            if in_facet != 3:
                raise source.error(
                    f"the facet that ends here has {in_facet} corners.",
                    line=number,
                    hint="An STL facet has three.",
                )
            is_open = False
            if len(coordinates) > 9 * MAX_TRIANGLES:
                break
        elif keyword == b"endsolid" and not is_open:
            closed = True
        elif keyword == b"solid" and not is_open:
            closed = False
        elif keyword not in (b"outer", b"endloop"):
            found = line.strip()[:80].decode("latin-1")
            raise source.error(
                f"{found!r} is not expected here.",
                line=number,
                hint="A facet is: facet normal, outer loop, three times vertex, endloop, endfacet.",
            )
    if is_open or not closed:
        raise source.error("it ends without 'endsolid'.", hint="The file is cut off.")
    corners = np.array(coordinates, dtype=np.float64).reshape(-1, 3)
    assembly = MeshAssembly(source)
    assembly.add(corners, np.arange(len(corners)).reshape(-1, 3))
    return assembly


def write_stl(mesh: TriangleMesh, path: Path) -> None:
    """Writes a mesh as binary STL, coordinates in meters.

    Raises:
        MeshError: If the file cannot be written.
    """
    corners = mesh.triangles
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    rows = np.zeros(len(corners), dtype=[("numbers", "<f4", (4, 3)), ("attribute", "<u2")])
    rows["numbers"][:, 0], rows["numbers"][:, 1:] = normals, corners
    data = b"Linkwork, meters".ljust(80) + struct.pack("<I", len(corners)) + rows.tobytes()
    try:
        with whole_file(path) as part:
            part.write_bytes(data)
    except OSError as error:
        why = os_error_text(error)
        raise MeshError(f"it cannot be written: {why}.", origin=Origin(str(path))) from None
