"""The parts of glTF 2.0's JSON that meshes need, as typed structures."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class _Block(msgspec.Struct, rename="camel"):
    """A JSON object with glTF's camelCase names; unknown fields are passed over."""


class SparseIndices(_Block):
    """Which rows of a table are replaced."""

    buffer_view: Count
    component_type: int
    byte_offset: Count = 0


class SparseValues(_Block):
    """What they are replaced with."""

    buffer_view: Count
    byte_offset: Count = 0


class Sparse(_Block):
    """Rows of an accessor that differ from its buffer view."""

    count: Count
    indices: SparseIndices
    values: SparseValues


class Accessor(_Block):
    """A typed table within a buffer view, or of zeros."""

    component_type: int
    count: Count
    type: str
    buffer_view: Count | None = None
    byte_offset: Count = 0
    normalized: bool = False
    sparse: Sparse | None = None


class BufferView(_Block):
    """A stretch of a buffer."""

    buffer: Count
    byte_length: Count
    byte_offset: Count = 0
    byte_stride: Count | None = None


class Buffer(_Block):
    """Binary data: in the file, beside it or in the text."""

    byte_length: Count
    uri: str | None = None


class Primitive(_Block):
    """Triangles of one material; ``mode`` is OpenGL's."""

    attributes: dict[str, Count]
    indices: Count | None = None
    material: Count | None = None
    mode: int = 4


class Mesh(_Block):
    """Primitives that are placed together."""

    primitives: list[Primitive]


class Node(_Block):
    """A placement of a mesh and of the nodes below."""

    children: list[Count] = []
    name: str = ""
    mesh: Count | None = None
    matrix: list[float] | None = None
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class Scene(_Block):
    """The top nodes of a scene."""

    nodes: list[Count] = []


class Pbr(_Block):
    """A metallic-roughness surface."""

    base_color_factor: list[float] | None = None


class Material(_Block):
    """The look of a surface."""

    pbr_metallic_roughness: Pbr | None = None


class Asset(_Block):
    """The version of the format."""

    version: str


class Gltf(_Block):
    """The whole document."""

    asset: Asset
    accessors: list[Accessor] = []
    buffers: list[Buffer] = []
    buffer_views: list[BufferView] = []
    materials: list[Material] = []
    meshes: list[Mesh] = []
    nodes: list[Node] = []
    scenes: list[Scene] = []
    scene: Count | None = None
    extensions_required: list[str] = []
