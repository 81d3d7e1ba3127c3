"""glTF 2.0 files (.gltf, .glb): the meshes of the scene, placed by its nodes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from linkwork.core.errors import suggestion
from linkwork.geometry.meshes.assembly import MeshAssembly, as_color
from linkwork.geometry.meshes.gltf_buffers import (
    GltfBuffers,
    GltfDocument,
    GltfNode,
    GltfPrimitive,
    entry,
)
from linkwork.geometry.meshes.mesh import Color, check_indices
from linkwork.geometry.meshes.polygons import fan_faces, strip_faces
from linkwork.geometry.meshes.source import MAX_DEPTH, MAX_NODES, MeshSource

_MAX_BLOCKS = 4_000_000
_IGNORED_EXTENSIONS = (
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_",
    "KHR_mesh_quant",
)
"""Prefixes of extensions that a file may require without changing its triangles."""

_TRIANGLES, _STRIP, _FAN = 4, 5, 6


@dataclass(frozen=True, eq=False)
class PlacedNode:
    """A node of a glTF file's scene.

    Attributes:
        key: Unique key: its name, or ``#`` and its number if the name is empty or not unique.
        name: Name in the file; may be empty or not unique.
        parent: Key of the parent node, empty for a root node.
        matrix: 4×4 placement in the file's frame.
        has_mesh: Whether it has triangles.
    """

    key: str
    name: str
    parent: str
    matrix: NDArray[np.float64]
    has_mesh: bool


def read_gltf(source: MeshSource, node: str = "") -> MeshAssembly:
    """Reads a glTF file; lines and points are ignored, skins are taken in their rest pose.

    Args:
        source: The file.
        node: Key of the node whose own triangles are read, at its pose; all nodes if empty.
    """
    document, buffers = _open(source)
    assembly = MeshAssembly(source)
    if not document.nodes and not node:
        for mesh in document.meshes:
            for primitive in mesh.primitives:
                _add(source, document, buffers, assembly, primitive, np.eye(4))
        return assembly
    keys = _keys(document)
    if node and node not in keys:
        raise source.error(
            f"there is no node {node[:100]!r}.", hint=suggestion(node, keys, kind="nodes")
        )
    for index, _, matrix in _placed(source, document):
        if node in ("", keys[index]):
            _add_node(source, document, buffers, assembly, index, matrix)
    return assembly


def read_gltf_nodes(source: MeshSource) -> Iterator[tuple[str, MeshAssembly]]:
    """Yields the key and the placed triangles of each node with a mesh; reads the file once."""
    document, buffers = _open(source)
    keys = _keys(document)
    for index, _, matrix in _placed(source, document):
        if document.nodes[index].mesh is not None:
            assembly = MeshAssembly(source)
            _add_node(source, document, buffers, assembly, index, matrix)
            yield keys[index], assembly


def gltf_nodes(source: MeshSource) -> list[PlacedNode]:
    """Returns the nodes of a glTF file's default scene, each after its parent."""
    document = _open(source)[0]
    keys = _keys(document)
    return [
        PlacedNode(
            keys[index],
            document.nodes[index].name,
            keys[parent] if parent >= 0 else "",
            matrix,
            document.nodes[index].mesh is not None,
        )
        for index, parent, matrix in _placed(source, document)
    ]


def _open(source: MeshSource) -> tuple[GltfDocument, GltfBuffers]:
    text, body = _chunks(source)
    document = _parse(source, text)
    return document, GltfBuffers(source, document, body)


def _keys(document: GltfDocument) -> list[str]:
    """Returns the key of each node."""
    names = Counter(node.name for node in document.nodes)
    return [
        node.name if names[node.name] == 1 and node.name[:1] not in ("", "#") else f"#{index}"
        for index, node in enumerate(document.nodes)
    ]


def _placed(
    source: MeshSource, document: GltfDocument
) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Yields number, number of the parent (-1 for none) and placement of each node of the scene."""
    waiting = [(index, -1, np.eye(4), 1) for index in reversed(_roots(source, document))]
    visited: set[int] = set()
    while waiting:
        index, parent, matrix, depth = waiting.pop()
        if depth > MAX_DEPTH or len(visited) >= MAX_NODES:
            raise source.error(
                f"its scene has more than {MAX_NODES} nodes or is nested more than {MAX_DEPTH} "
                "deep."
            )
        node = entry(source, document.nodes, index, "node")
        if index in visited:
            raise source.error(
                f"node {index} is placed twice.", hint="The nodes of a glTF file form a tree."
            )
        visited.add(index)
        matrix = matrix @ _matrix(source, node)
        yield index, parent, matrix
        waiting += [(one, index, matrix, depth + 1) for one in reversed(node.children)]


def _chunks(source: MeshSource) -> tuple[bytes, bytes | None]:
    """Returns the JSON text and the binary body; a .gltf file has text only."""
    data = source.data
    if data[:4] != b"glTF":
        return data, None
    if len(data) < 20:
        raise source.error(f"a .glb file of {len(data)} bytes is cut off.")
    _, version, length = struct.unpack_from("<4sII", data)
    if version != 2:
        raise source.error(f"it is glTF version {version}.", hint="Only version 2 is read.")
    if length > len(data):
        raise source.error(
            f"it announces {length} bytes, but has {len(data)}.", hint="The file is cut off."
        )
    chunks: list[tuple[int, bytes]] = []
    place = 12
    while place + 8 <= length and len(chunks) < 2:
        size, kind = struct.unpack_from("<II", data, place)
        if place + 8 + size > length:
            raise source.error(f"a chunk at byte {place} is longer than the file.")
        chunks.append((kind, data[place + 8 : place + 8 + size]))
        place += 8 + size
    if not chunks or chunks[0][0] != 0x4E4F534A:
        raise source.error("its first chunk is not JSON.", hint="Export the mesh again.")
    body = chunks[1][1] if len(chunks) > 1 and chunks[1][0] == 0x004E4942 else None
    return chunks[0][1], body


def _parse(source: MeshSource, text: bytes) -> GltfDocument:
    if text.count(b"{") > _MAX_BLOCKS:
        raise source.error(f"it has more than {_MAX_BLOCKS} JSON objects.")
    try:
        document = msgspec.json.decode(text, type=GltfDocument)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise source.error(
            f"it is not valid glTF: {error}.", hint="The file is cut off or damaged."
        ) from None
    if not document.asset.version.startswith("2."):
        raise source.error(
            f"it is glTF version {document.asset.version[:20]!r}.", hint="Only version 2 is read."
        )
    for extension in document.extensions_required:
        if not extension.startswith(_IGNORED_EXTENSIONS):
            raise source.error(
                f"it requires the extension {extension[:60]!r}, which is not supported.",
                hint="Export the mesh without compression or extensions.",
            )
    return document


def _roots(source: MeshSource, document: GltfDocument) -> list[int]:
    """Returns the root nodes of the file's default scene, or all root nodes if it names none."""
    if document.scenes:
        return entry(source, document.scenes, document.scene or 0, "scene").nodes
    below = {child for node in document.nodes for child in node.children}
    return [index for index in range(len(document.nodes)) if index not in below]


def _matrix(source: MeshSource, node: GltfNode) -> NDArray[np.float64]:
    """Returns the 4×4 placement of a node: its matrix, or translation · rotation · scale."""
    if node.matrix is not None:
        if len(node.matrix) != 16:
            raise source.error(f"a node's matrix has {len(node.matrix)} numbers, not 16.")
        return np.array(node.matrix).reshape(4, 4).T
    quat = np.array(node.rotation)
    length = np.linalg.norm(quat)
    if not length > 0:
        raise source.error("a node's rotation is the zero quaternion.")
    x, y, z, w = quat / length
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix = np.eye(4)
    matrix[:3, :3] = (np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross) * np.array(node.scale)
    matrix[:3, 3] = node.translation
    return matrix


def _add_node(
    source: MeshSource,
    document: GltfDocument,
    buffers: GltfBuffers,
    assembly: MeshAssembly,
    index: int,
    matrix: NDArray[np.float64],
) -> None:
    mesh = document.nodes[index].mesh
    if mesh is not None:
        for primitive in entry(source, document.meshes, mesh, "mesh").primitives:
            _add(source, document, buffers, assembly, primitive, matrix)


def _add(
    source: MeshSource,
    document: GltfDocument,
    buffers: GltfBuffers,
    assembly: MeshAssembly,
    primitive: GltfPrimitive,
    matrix: NDArray[np.float64],
) -> None:
    if primitive.mode not in (_TRIANGLES, _STRIP, _FAN) or "POSITION" not in primitive.attributes:
        return
    vertices = buffers.table(primitive.attributes["POSITION"], "VEC3")
    if primitive.indices is None:
        corners = np.arange(len(vertices))
    else:
        corners = buffers.indices(primitive.indices)
    check_indices(corners, len(vertices))
    if primitive.mode == _STRIP:
        faces = strip_faces(corners)
    elif primitive.mode == _FAN:
        faces = fan_faces(corners)
    elif len(corners) % 3:
        raise source.error(f"a mesh has {len(corners)} triangle corners, not a multiple of 3.")
    else:
        faces = corners.reshape(-1, 3)
    color: Color | None = None
    if primitive.material is not None:
        material = entry(source, document.materials, primitive.material, "material")
        pbr = material.pbr_metallic_roughness
        if pbr is not None and pbr.base_color_factor is not None:
            color = _srgb(as_color(pbr.base_color_factor))
    assembly.add(vertices, faces, matrix=matrix, color=color)


def _srgb(light: Color | None) -> Color | None:
    """Converts linear color components of glTF to sRGB, which other files use."""
    if light is None:
        return None
    red, green, blue = (
        12.92 * c if c <= 0.0031308 else 1.055 * c ** (1.0 / 2.4) - 0.055 for c in light[:3]
    )
    return red, green, blue, light[3]
