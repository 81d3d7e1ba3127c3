"""Meshes with known volumes, and writers of small mesh files, for tests."""

import base64
import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from linkwork.geometry.meshes import TriangleMesh

COLLADA = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{unit}" name="unit"/><up_axis>{up}</up_axis></asset>
<library_effects><effect id="paint"><profile_COMMON><technique sid="t"><phong>
<diffuse><color>0.1 0.2 0.3 1</color></diffuse></phong></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="red"><instance_effect url="#paint"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="pa" count="{numbers}">{positions}</float_array>
<technique_common><accessor source="#pa" count="{count}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{surface}</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""

ONE_NODE = (
    '<node id="n"><instance_geometry url="#g"><bind_material><technique_common>'
    '<instance_material symbol="skin" target="#red"/></technique_common></bind_material>'
    "</instance_geometry></node>"
)


def mesh_of(vertices: ArrayLike, faces: ArrayLike) -> TriangleMesh:
    """Returns a mesh from tables of any kind."""
    return TriangleMesh(np.asarray(vertices, np.float64), np.asarray(faces, np.int32))


def box(x: float = 1.0, y: float = 2.0, z: float = 3.0) -> TriangleMesh:
    """Returns a box about the origin, full lengths [m]."""
    corners = [(i, j, k) for i in (-x / 2, x / 2) for j in (-y / 2, y / 2) for k in (-z / 2, z / 2)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return TriangleMesh(np.array(corners), np.array(faces))


def ball(rounds: int, radii: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> TriangleMesh:
    """Returns an octahedron refined ``rounds`` times onto an ellipsoid."""
    points = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    positions = [np.array(point, dtype=float) for point in points]
    for _ in range(rounds):
        middles: dict[frozenset[int], int] = {}
        finer = []
        for face in faces:
            new = []
            for a, b in zip(face, (*face[1:], face[0]), strict=True):
                edge = frozenset((a, b))
                if edge not in middles:
                    middle = positions[a] + positions[b]
                    middles[edge] = len(positions)
                    positions.append(middle / np.linalg.norm(middle))
                new.append(middles[edge])
            (a, b, c), (ab, bc, ca) = face, new
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    return TriangleMesh(np.array(positions) * radii, np.array(faces))


def bent() -> TriangleMesh:
    """Returns a concave prism over an L: three unit cubes, the corner one at the origin."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    positions = [(x, y, z) for z in (0.0, 1.0) for x, y in outline]
    top = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(a + 6, b + 6, c + 6) for a, b, c in top] + [(c, b, a) for a, b, c in top]
    for a in range(6):
        b = (a + 1) % 6
        faces += [(a, b, b + 6), (a, b + 6, a + 6)]
    return TriangleMesh(np.array(positions), np.array(faces))


def binary_stl(mesh: TriangleMesh, header: bytes = b"solid by an unhelpful exporter") -> bytes:
    records = b"".join(
        struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in mesh.triangles
    )
    return header.ljust(80, b"\0") + struct.pack("<I", len(mesh.faces)) + records


def text_stl(mesh: TriangleMesh) -> bytes:
    lines = ["solid thing"]
    for triangle in mesh.triangles:
        lines += ["  facet normal 0 0 0", "    outer loop"]
        lines += [f"      vertex {x:.17g} {y:.17g} {z:.17g}" for x, y, z in triangle]
        lines += ["    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid thing", ""]).encode()


def obj(mesh: TriangleMesh) -> bytes:
    lines = ["# a comment", "mtllib thing.mtl", "o thing", "usemtl red"]
    lines += [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in mesh.vertices]
    lines += [f"f {a + 1}/1/1 {b + 1}//2 {c + 1}" for a, b, c in mesh.faces]
    return "\n".join(lines).encode()


def words(values) -> str:
    return " ".join(f"{value:.17g}" for value in np.asarray(values).ravel())


def collada(
    mesh: TriangleMesh,
    *,
    unit: str = "1",
    up: str = "Z_UP",
    nodes: str = ONE_NODE,
    surface: str | None = None,
) -> bytes:
    corners = np.repeat(mesh.faces.ravel(), 2)  # a second number per corner, as for normals
    if surface is None:
        surface = (
            f'<triangles count="{len(mesh.faces)}" material="skin">'
            '<input semantic="VERTEX" source="#v" offset="0"/>'
            f'<input semantic="NORMAL" source="#p" offset="1"/><p>{words(corners)}</p></triangles>'
        )
    return COLLADA.format(
        unit=unit,
        up=up,
        nodes=nodes,
        surface=surface,
        positions=words(mesh.vertices),
        numbers=mesh.vertices.size,
        count=len(mesh.vertices),
    ).encode()


def gltf_document(mesh: TriangleMesh) -> tuple[dict, bytes]:
    positions = mesh.vertices.astype("<f4").tobytes()
    body = positions + mesh.faces.astype("<u2").tobytes()
    body += b"\0" * (-len(body) % 4)
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.5]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(mesh.vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": mesh.faces.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(positions)},
            {"buffer": 0, "byteOffset": len(positions), "byteLength": mesh.faces.size * 2},
        ],
        "buffers": [{"byteLength": len(body)}],
    }
    return document, body


def glb(document: dict, body: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(body), 0x004E4942) + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def gltf(document: dict, body: bytes) -> bytes:
    uri = "data:application/octet-stream;base64," + base64.b64encode(body).decode()
    return json.dumps(document | {"buffers": [{"byteLength": len(body), "uri": uri}]}).encode()


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def samples(mesh: TriangleMesh) -> dict[str, bytes]:
    """Returns the same mesh in every format, by file name."""
    document, body = gltf_document(mesh)
    return {
        "binary.stl": binary_stl(mesh),
        "text.STL": text_stl(mesh),
        "thing.obj": obj(mesh),
        "thing.dae": collada(mesh),
        "thing.glb": glb(document, body),
        "thing.gltf": gltf(document, body),
    }
