"""Binary tables of a glTF file, and the typed structures of its JSON."""

from __future__ import annotations

import base64
import binascii
import urllib.parse
from typing import Annotated, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.meshes.source import MAX_VERTICES, MeshSource

Count = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class _Block(msgspec.Struct, rename="camel"):
    """A JSON object with glTF's camelCase names; unknown fields are ignored."""


class SparseIndices(_Block):
    """Indices of the replaced rows of a table."""

    buffer_view: Count
    component_type: int
    byte_offset: Count = 0


class SparseValues(_Block):
    """Values of the replaced rows of a table."""

    buffer_view: Count
    byte_offset: Count = 0


class GltfSparse(_Block):
    """Rows of an accessor that differ from its buffer view."""

    count: Count
    indices: SparseIndices
    values: SparseValues


class GltfAccessor(_Block):
    """A typed table within a buffer view, or of zeros."""

    component_type: int
    count: Count
    type: str
    buffer_view: Count | None = None
    byte_offset: Count = 0
    normalized: bool = False
    sparse: GltfSparse | None = None


class GltfBufferView(_Block):
    """A range of bytes in a buffer."""

    buffer: Count
    byte_length: Count
    byte_offset: Count = 0
    byte_stride: Count | None = None


class GltfBufferInfo(_Block):
    """Binary data: in the file, beside it or in the text."""

    byte_length: Count
    uri: str | None = None


class GltfPrimitive(_Block):
    """Triangles of one material; ``mode`` is OpenGL's."""

    attributes: dict[str, Count]
    indices: Count | None = None
    material: Count | None = None
    mode: int = 4


class GltfMesh(_Block):
    """Primitives that are placed together."""

    primitives: list[GltfPrimitive]


class GltfNode(_Block):
    """A placement of a mesh and of the nodes below."""

    children: list[Count] = []
    name: str = ""
    mesh: Count | None = None
    matrix: list[float] | None = None
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class GltfScene(_Block):
    """The root nodes of a scene."""

    nodes: list[Count] = []


class GltfPbr(_Block):
    """A metallic-roughness surface."""

    base_color_factor: list[float] | None = None


class GltfMaterial(_Block):
    """The appearance of a surface."""

    pbr_metallic_roughness: GltfPbr | None = None


class GltfAsset(_Block):
    """The version of the format."""

    version: str


class GltfDocument(_Block):
    """The whole document."""

    asset: GltfAsset
    accessors: list[GltfAccessor] = []
    buffers: list[GltfBufferInfo] = []
    buffer_views: list[GltfBufferView] = []
    materials: list[GltfMaterial] = []
    meshes: list[GltfMesh] = []
    nodes: list[GltfNode] = []
    scenes: list[GltfScene] = []
    scene: Count | None = None
    extensions_required: list[str] = []


_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}

T = TypeVar("T")


class GltfBuffers:
    """The binary data of one file.

    Args:
        source: The file, for messages and for the files beside it.
        document: Its JSON.
        body: The binary chunk of a .glb file, or None.
    """

    def __init__(self, source: MeshSource, document: GltfDocument, body: bytes | None) -> None:
        self._source = source
        self._document = document
        self._body = body
        self._buffers: dict[int, bytes] = {}

    def table(self, index: int, kind: str) -> NDArray[np.float64]:
        """Returns an accessor as numbers, count×width; normalized integers become fractions."""
        accessor = entry(self._source, self._document.accessors, index, "accessor")
        if accessor.type != kind:
            raise self._source.error(
                f"accessor {index} is of type {accessor.type[:20]!r} where {kind!r} is needed."
            )
        raw = self._raw(accessor)
        values = raw.astype(np.float64)
        if accessor.normalized and raw.dtype.kind in "iu":
            values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
        return values

    def indices(self, index: int) -> NDArray[np.int64]:
        """Returns an accessor of vertex numbers."""
        return self.table(index, "SCALAR")[:, 0].astype(np.int64)

    def _raw(self, accessor: GltfAccessor) -> NDArray:
        dtype = self._dtype(accessor.component_type)
        width = _WIDTHS[accessor.type]
        if accessor.count > MAX_VERTICES:
            raise self._source.error(
                f"an accessor announces {accessor.count} entries.",
                hint=f"At most {MAX_VERTICES} are read.",
            )
        if accessor.buffer_view is None:
            values = np.zeros((accessor.count, width), dtype=dtype)
        else:
            values = self._view(
                accessor.buffer_view, accessor.byte_offset, accessor.count, width, dtype
            )
        return self._filled(values, accessor.sparse) if accessor.sparse is not None else values

    def _filled(self, values: NDArray, sparse: GltfSparse) -> NDArray:
        """Returns a copy of a table with some rows replaced."""
        which, new = sparse.indices, sparse.values
        kind = self._dtype(which.component_type)
        rows = self._view(which.buffer_view, which.byte_offset, sparse.count, 1, kind)[:, 0]
        if rows.size and not (int(rows.min()) >= 0 and int(rows.max()) < len(values)):
            raise self._source.error("a sparse accessor replaces rows that do not exist.")
        values = values.copy()
        values[rows.astype(np.int64)] = self._view(
            new.buffer_view, new.byte_offset, sparse.count, values.shape[1], values.dtype
        )
        return values

    def _dtype(self, component_type: int) -> np.dtype:
        if component_type not in _COMPONENTS:
            raise self._source.error(
                f"an accessor has the component type {component_type}.",
                hint=f"Known are {', '.join(map(str, _COMPONENTS))}.",
            )
        return np.dtype(_COMPONENTS[component_type])

    def _view(self, index: int, offset: int, count: int, width: int, dtype: np.dtype) -> NDArray:
        """Returns rows of a buffer view, after checking that they all lie inside."""
        view = entry(self._source, self._document.buffer_views, index, "buffer view")
        data = self._buffer(view.buffer)
        row = width * dtype.itemsize
        stride = row if not view.byte_stride else view.byte_stride
        end = offset + max(count - 1, 0) * stride + (row if count else 0)
        if stride < row or end > view.byte_length or view.byte_offset + end > len(data):
            raise self._source.error(
                f"buffer view {index} is too short for {count} rows of {row} bytes.",
                hint="The file is cut off or damaged.",
            )
        return np.ndarray(
            (count, width), dtype, data, view.byte_offset + offset, (stride, dtype.itemsize)
        )

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            buffer = entry(self._source, self._document.buffers, index, "buffer")
            data = self._fetched(index, buffer.uri)
            if len(data) < buffer.byte_length:
                raise self._source.error(
                    f"buffer {index} announces {buffer.byte_length} bytes, but has {len(data)}.",
                    hint="The file is cut off or damaged.",
                )
            self._buffers[index] = data
        return self._buffers[index]

    def _fetched(self, index: int, uri: str | None) -> bytes:
        if uri is None:
            if index != 0 or self._body is None:
                raise self._source.error(f"buffer {index} has no data.")
            return self._body
        if not uri.startswith("data:"):
            return self._source.beside(urllib.parse.unquote(uri))
        head, _, payload = uri.partition(",")
        try:
            if not head.endswith(";base64"):
                return urllib.parse.unquote_to_bytes(payload)
            return base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self._source.error(f"buffer {index} is not base64: {error}.") from None


def entry(source: MeshSource, table: list[T], index: int, kind: str) -> T:
    """Returns the entry of a glTF list, or raises an error that states their number."""
    if index >= len(table):
        raise source.error(f"it refers to {kind} {index}, but there are {len(table)}.")
    return table[index]
