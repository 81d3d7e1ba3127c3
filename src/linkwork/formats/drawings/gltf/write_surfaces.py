"""glTF surfaces: shapes as meshes with materials in one buffer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwork.formats.appearance import is_drawn_flat, linear, rgba, smooth, triangles_of_shape
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.geometry.pose import IDENTITY
from linkwork.model.parts import Shape

_FLOAT, _UNSIGNED = 5126, 5125
_VERTICES, _INDICES = 34962, 34963


@dataclass
class GltfBuffer:
    """The bytes of a file, with the views and accessors into them."""

    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def add(self, values: np.ndarray, kind: str, *, target: int | None = None) -> int:
        """Adds numbers and returns their accessor; ``kind`` is SCALAR, VEC3 or VEC4."""
        whole = np.issubdtype(values.dtype, np.integer)
        numbers = np.ascontiguousarray(values, "<u4" if whole else "<f4")
        view: dict[str, Any] = {
            "buffer": 0, "byteOffset": len(self.data), "byteLength": numbers.nbytes,
        }  # fmt: skip
        if target is not None:
            view["target"] = target
        self.views.append(view)
        self.data += numbers.tobytes()
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _UNSIGNED if whole else _FLOAT,
            "count": len(numbers),
            "type": kind,
        }
        if not whole and kind != "VEC4":
            table = numbers.reshape(len(numbers), -1)
            accessor["min"] = table.min(axis=0).tolist()
            accessor["max"] = table.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


class GltfSurfaces:
    """Meshes and materials; equal ones are written once."""

    def __init__(self, notes: ConversionNotes) -> None:
        self.notes = notes
        self.buffer = GltfBuffer()
        self._meshes: dict[tuple[str, str], int] = {}
        self._forms: dict[str, dict[str, Any]] = {}
        self._materials: dict[str, int] = {}
        self._made: list[dict[str, Any]] = []

    def mesh(self, shape: Shape, color: str) -> int:
        """Returns the number of the mesh that shows a shape in a color."""
        form = repr(replace(shape, at=IDENTITY, color="", texture="", visible=True, collide=True))
        key = (form, color.lower())
        if key not in self._meshes:
            if form not in self._forms:
                self._forms[form] = self._primitive(shape)
            primitive = {**self._forms[form], "material": self._material(color.lower())}
            self._made.append({"name": shape.kind, "primitives": [primitive]})
            self._meshes[key] = len(self._made) - 1
        return self._meshes[key]

    def _primitive(self, shape: Shape) -> dict[str, Any]:
        triangles = triangles_of_shape(shape)
        if is_drawn_flat(shape):
            # without normals viewers draw flat faces
            place = self.buffer.add(triangles.vertices, "VEC3", target=_VERTICES)
            faces = triangles.faces.astype(np.uint32).ravel()
            index = self.buffer.add(faces, "SCALAR", target=_INDICES)
            return {"attributes": {"POSITION": place}, "indices": index}
        corners, normals = smooth(triangles)
        place = self.buffer.add(corners, "VEC3", target=_VERTICES)
        normal = self.buffer.add(normals, "VEC3", target=_VERTICES)
        return {"attributes": {"POSITION": place, "NORMAL": normal}}

    def _material(self, color: str) -> int:
        if color not in self._materials:
            self._materials[color] = len(self._materials)
        return self._materials[color]

    def tables(self) -> dict[str, Any]:
        """Returns the document's tables of meshes and materials."""
        return {"meshes": self._made, "materials": [_material(color) for color in self._materials]}


def _material(color: str) -> dict[str, Any]:
    """Returns a matte material; colors of glTF are linear, those of files are sRGB."""
    opacity = rgba(color)[3]
    look: dict[str, Any] = {
        "name": color,
        "pbrMetallicRoughness": {
            "baseColorFactor": [*linear(color), opacity],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        },
    }  # fmt: skip
    if opacity < 1.0:
        look["alphaMode"] = "BLEND"
    return look
