"""Wavefront OBJ files with the colors of their MTL files."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from linkwork.core.atomic import whole_file
from linkwork.core.errors import MeshError, Origin, os_error_text
from linkwork.core.mistakes import ascii_float
from linkwork.geometry.meshes.assembly import MeshAssembly, as_color
from linkwork.geometry.meshes.mesh import Color, TriangleMesh
from linkwork.geometry.meshes.polygons import triangulate
from linkwork.geometry.meshes.source import MAX_TRIANGLES, MAX_VERTICES, MeshSource

#: Most lines with ``usemtl`` or ``mtllib`` that are read compiled.
_MAX_MARKS = 10_000


@dataclass(slots=True)
class _Faces:
    """Polygons of one material: corner vertex numbers from 0, corners per polygon."""

    corners: array = field(default_factory=lambda: array("q"))
    counts: array = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class _ObjLines:
    """Content of a file: vertices (n×3), faces by material, colors of materials."""

    vertices: np.ndarray
    materials: dict[str, _Faces]
    colors: dict[str, Color]


def read_obj(source: MeshSource) -> MeshAssembly:
    """Reads an OBJ file: ``v``, ``f``, ``usemtl`` and ``mtllib``; other lines are ignored.

    The format has no units, coordinates are taken as meters. If a material file is missing or
    broken, only the color is lost.
    """
    lines = _scan_lines(source) or _read_lines(source)
    vertices = lines.vertices
    assembly = MeshAssembly(source)
    for name, group in lines.materials.items():
        corners = np.array(group.corners, dtype=np.int64)
        counts = np.array(group.counts, dtype=np.int64)
        if corners.size and int(corners.max()) >= len(vertices):
            raise source.error(
                f"a face names the vertex {int(corners.max()) + 1}, but there are {len(vertices)}.",
                hint="The file is cut off or damaged.",
            )
        faces = triangulate(vertices, corners, counts)
        assembly.add(vertices, faces, color=lines.colors.get(name))
    return assembly


def _scan_lines(source: MeshSource) -> _ObjLines | None:
    """Reads a file of plain lines, compiled; None if a line is not plain, or wrong."""
    from linkwork.geometry.meshes.obj_kernels import POWERS, scan_obj

    data = source.data
    vertices = np.empty((data.count(b"v") + 1, 3))
    corners = np.empty(data.count(b" ") + data.count(b"\t") + 1, np.int64)
    counts, marks = np.empty(data.count(b"f") + 1, np.int64), np.empty((_MAX_MARKS, 4), np.int64)
    late = np.empty((vertices.size, 3), np.int64)
    known, used, faces, marked, delayed = scan_obj(
        np.frombuffer(data, np.uint8), POWERS, vertices, corners, counts, marks, late
    )
    if not 0 <= known <= MAX_VERTICES or used > 3 * MAX_TRIANGLES:
        return None
    for start, end, number in late[:delayed].tolist():
        vertices.flat[number] = float(data[start:end])
    materials: dict[str, _Faces] = {"": _Faces()}
    colors: dict[str, Color] = {}
    name, first_corner, first_face = "", 0, 0
    for start, end, corner, face in [*marks[:marked].tolist(), [0, 0, used, faces]]:
        group = materials.setdefault(name, _Faces())
        group.corners.frombytes(corners[first_corner:corner].tobytes())
        group.counts.frombytes(counts[first_face:face].tobytes())
        first_corner, first_face = corner, face
        line = data[start:end].decode("utf-8", "replace").replace("\t", " ")
        keyword, _, rest = line.partition(" ")
        if keyword == "usemtl":
            name = rest.strip()
        elif keyword == "mtllib":
            colors.update(_read_colors(source, rest.strip()))
    return _ObjLines(vertices[:known], materials, colors)


def _read_lines(source: MeshSource) -> _ObjLines:
    """Reads any file, and reports what is wrong.

    Raises:
        MeshError: If a line is wrong.
    """
    coordinates = array("d")
    materials: dict[str, _Faces] = {}
    faces = materials.setdefault("", _Faces())
    colors: dict[str, Color] = {}
    for number, line in _lines(source.data):
        keyword, _, rest = line.partition(" ")
        if keyword == "v":
            _add_vertex(source, coordinates, rest, number)
        elif keyword == "f":
            _add_face(source, faces, rest, len(coordinates) // 3, number)
        elif keyword == "usemtl":
            faces = materials.setdefault(rest.strip(), _Faces())
        elif keyword == "mtllib":
            colors.update(_read_colors(source, rest.strip()))
        if len(coordinates) > 3 * MAX_VERTICES or len(faces.corners) > 3 * MAX_TRIANGLES:
            raise source.error(
                f"the mesh has more than {MAX_TRIANGLES} triangles or {MAX_VERTICES} vertices.",
                hint="Simplify it before loading.",
            )
    vertices = np.array(coordinates, dtype=np.float64).reshape(-1, 3)
    return _ObjLines(vertices, materials, colors)


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yields numbered lines without comments; a backslash at the end of a line continues it."""
    held, held_number = "", 0
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace")
    for number, raw in enumerate(text, start=1):
        line = raw.partition("#")[0].replace("\t", " ").strip()
        if line.endswith("\\"):
            held, held_number = held + line[:-1] + " ", held_number or number
            continue
        yield held_number or number, held + line
        held, held_number = "", 0


def _add_vertex(source: MeshSource, coordinates: array, rest: str, number: int) -> None:
    try:
        x, y, z = map(ascii_float, rest.split()[:3])
    except ValueError:
        raise source.error(
            f"'v {rest[:80]}' is not a vertex.", line=number, hint="Write: v x y z"
        ) from None
    coordinates.extend((x, y, z))


def _add_face(source: MeshSource, faces: _Faces, rest: str, known: int, number: int) -> None:
    try:
        if not rest.isascii() or "_" in rest:
            raise ValueError
        named = [int(word.partition("/")[0]) for word in rest.split()]
        corners = [one - 1 if one > 0 else known + one for one in named]
        if len(corners) < 3 or 0 in named or min(corners) < 0:
            raise ValueError
        faces.corners.extend(corners)
    except (ValueError, OverflowError):
        raise source.error(
            f"'f {rest[:80]}' is not a face of the {known} vertices before it.",
            line=number,
            hint="Write three or more vertex numbers, from 1 up or from -1 down.",
        ) from None
    faces.counts.append(len(corners))


def _read_colors(source: MeshSource, name: str) -> dict[str, Color]:
    try:
        text = source.beside(name).decode("utf-8", "replace")
    except MeshError:
        return {}
    colors: dict[str, Color] = {}
    material, rgb, opacity = "", [], 1.0
    for line in [*text.split("\n"), "newmtl"]:
        words = line.split()
        try:
            if words[:1] == ["newmtl"]:
                color = as_color([*rgb, opacity]) if rgb else None
                if color is not None:
                    colors[material] = color
                material, rgb, opacity = " ".join(words[1:]), [], 1.0
            elif words[:1] == ["Kd"]:
                rgb = [ascii_float(word) for word in words[1:4]]
            elif words[:1] == ["d"]:
                opacity = ascii_float(words[-1])
            elif words[:1] == ["Tr"]:
                opacity = 1.0 - ascii_float(words[-1])
        except ValueError:
            continue
    return colors


def write_obj(mesh: TriangleMesh, path: Path) -> None:
    """Writes a mesh as OBJ, exact coordinates in meters, without colors.

    Raises:
        MeshError: If the file cannot be written.
    """
    lines = ["# Linkwork, meters"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    try:
        with whole_file(path) as part:
            part.write_text("\n".join([*lines, ""]), encoding="ascii")
    except OSError as error:
        why = os_error_text(error)
        raise MeshError(f"it cannot be written: {why}.", origin=Origin(str(path))) from None
