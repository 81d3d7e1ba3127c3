"""Geometries of Collada files: sources, primitives, colors of materials."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.meshes.assembly import as_color
from linkwork.geometry.meshes.mesh import Color, check_indices
from linkwork.geometry.meshes.polygons import fan_faces, strip_faces, triangulate
from linkwork.geometry.meshes.source import MeshSource


def local_name(element: Element) -> str:
    """Returns the tag without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: Element, name: str) -> Element | None:
    """Returns the first child of that name."""
    return next((one for one in element if local_name(one) == name), None)


def children(element: Element, name: str) -> list[Element]:
    """Returns all children of that name."""
    return [one for one in element if local_name(one) == name]


def numbers(source: MeshSource, element: Element, count: int | None = None) -> NDArray[np.float64]:
    """Returns the numbers in an element's text; ``count`` is the required number of them."""
    return _parsed(source, element, np.float64, count)


def whole_numbers(source: MeshSource, element: Element) -> NDArray[np.int64]:
    """Returns the whole numbers in an element's text."""
    return _parsed(source, element, np.int64, None)


def _parsed(
    source: MeshSource, element: Element, kind: type[np.generic], count: int | None
) -> NDArray:
    text = element.text or ""
    try:
        if not text.isascii() or "_" in text:  # numpy reads digits of other scripts, and 1_000
            raise ValueError("a character that is in no number")
        values = np.array(text.split(), dtype=kind)
    except (ValueError, OverflowError) as error:
        raise source.error(f"<{local_name(element)}> holds something else: {error}.") from None
    if count is not None and len(values) != count:
        raise source.error(
            f"<{local_name(element)}> holds {len(values)} numbers.", hint=f"It needs {count}."
        )
    return values


def node_matrix(source: MeshSource, node: Element) -> NDArray[np.float64]:
    """Returns the 4×4 placement of a node: its transform elements multiplied in file order."""
    matrix = np.eye(4)
    for element in node:
        step = np.eye(4)
        match local_name(element):
            case "matrix":
                step = numbers(source, element, 16).reshape(4, 4)
            case "translate":
                step[:3, 3] = numbers(source, element, 3)
            case "scale":
                step[:3, :3] = np.diag(numbers(source, element, 3))
            case "rotate":
                step[:3, :3] = _rotation(numbers(source, element, 4))
            case "lookat":
                step = _look_at(numbers(source, element, 9))
            case "skew":
                raise source.error(
                    "a node has a <skew>, which is not supported.",
                    hint="Export the scene with transforms as matrices.",
                )
            case _:
                continue
        matrix = matrix @ step
    return matrix


def _rotation(axis_angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation about an axis (three numbers) by an angle [deg], by Rodrigues' formula."""
    length = np.linalg.norm(axis_angle[:3])
    if not length > 0:
        return np.eye(3)
    x, y, z = axis_angle[:3] / length
    angle = np.deg2rad(axis_angle[3])
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)


def _look_at(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Placement at an eye point, looking along -z at a target, with a given up direction."""
    eye, target, up = values.reshape(3, 3)
    back = eye - target
    right = np.cross(up, back)
    matrix = np.eye(4)
    if np.linalg.norm(back) > 0 and np.linalg.norm(right) > 0:
        back, right = back / np.linalg.norm(back), right / np.linalg.norm(right)
        matrix[:3, :3] = np.stack([right, np.cross(back, right), back], axis=1)
    matrix[:3, 3] = eye
    return matrix


_SURFACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")


@dataclass(frozen=True, slots=True)
class ColladaPiece:
    """The triangles of one primitive element and the symbol of its material."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    material: str


class ColladaGeometries:
    """Definitions in the libraries of a Collada file, found by id and read once.

    Args:
        source: The file, for messages.
        root: Its root element.
    """

    def __init__(self, source: MeshSource, root: Element) -> None:
        self.source = source
        self._by_id: dict[str, Element] = {}
        for element in root.iter():
            name = element.get("id")
            if name is not None:
                self._by_id.setdefault(name, element)
        self._meshes: dict[Element, list[ColladaPiece]] = {}

    def referred(self, element: Element, attribute: str) -> Element:
        """Returns the element of this file that an attribute (``#id``) refers to."""
        written = element.get(attribute, "")
        found = self._by_id.get(written[1:]) if written.startswith("#") else None
        if found is None:
            raise self.source.error(
                f"<{local_name(element)}> refers to {written[:80]!r}, which is not in the file.",
                hint="References have the form #id and stay within one file.",
            )
        return found

    def surfaces(self, geometry: Element) -> list[ColladaPiece]:
        """Returns the surfaces of a geometry; lines and points are left out."""
        if geometry not in self._meshes:
            mesh = child(geometry, "mesh")
            surfaces = [] if mesh is None else [e for e in mesh if local_name(e) in _SURFACES]
            self._meshes[geometry] = [self._mesh(surface) for surface in surfaces]
        return self._meshes[geometry]

    def material_color(self, instance_material: Element) -> Color | None:
        """The diffuse color of a bound material, or None if it has a texture or is missing."""
        material = self._by_id.get(instance_material.get("target", "")[1:])
        binding = child(material, "instance_effect") if material is not None else None
        effect = self._by_id.get(binding.get("url", "")[1:]) if binding is not None else None
        if effect is None:
            return None
        for element in effect.iter():
            if local_name(element) == "diffuse":
                color = child(element, "color")
                return None if color is None else as_color(numbers(self.source, color).tolist())
        return None

    def _mesh(self, surface: Element) -> ColladaPiece:
        offsets = [0]
        vertices, corner_offset = None, 0
        for entry in children(surface, "input"):
            offset = _whole(self.source, entry, "offset", 0)
            offsets.append(offset)
            if entry.get("semantic") == "VERTEX":
                vertices = self._positions(self.referred(entry, "source"))
                corner_offset = offset
        stride = max(offsets) + 1
        lists = [whole_numbers(self.source, p) for p in surface.iter() if local_name(p) == "p"]
        if vertices is None or not any(len(one) for one in lists):
            return ColladaPiece(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64), "")
        if any(len(one) % stride for one in lists):
            raise self.source.error(
                f"a <p> of <{local_name(surface)}> does not hold whole corners of {stride} "
                "numbers each.",
                hint="The file is damaged.",
            )
        corners = [one[corner_offset::stride] for one in lists]
        check_indices(np.concatenate(corners)[:, None], len(vertices))
        faces = self._faces(surface, vertices, corners)
        return ColladaPiece(vertices, faces, surface.get("material", ""))

    def _positions(self, vertices: Element) -> NDArray[np.float64]:
        """Returns the positions behind a <vertices> element, read through the source's accessor."""
        entries = children(vertices, "input")
        entry = next((one for one in entries if one.get("semantic") == "POSITION"), None)
        if entry is None:
            raise self.source.error("a <vertices> has no input with the semantic POSITION.")
        table = self.referred(entry, "source")
        common = child(table, "technique_common")
        accessor = child(common, "accessor") if common is not None else None
        if accessor is None:
            raise self.source.error(f"the source {table.get('id')!r} has no <accessor>.")
        values = numbers(self.source, self.referred(accessor, "source"))
        count = _whole(self.source, accessor, "count", 0)
        stride = _whole(self.source, accessor, "stride", 1)
        offset = _whole(self.source, accessor, "offset", 0)
        if stride < 3 or offset + count * stride > len(values):
            raise self.source.error(
                f"the source {table.get('id')!r} announces {count} places of {stride} numbers, "
                f"but holds {len(values)} numbers.",
                hint="The file is cut off or damaged.",
            )
        return values[offset : offset + count * stride].reshape(count, stride)[:, :3]

    def _faces(
        self, surface: Element, vertices: NDArray[np.float64], corners: list[NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        kind = local_name(surface)
        if kind == "tristrips":
            return np.concatenate([strip_faces(one) for one in corners])
        if kind == "trifans":
            return np.concatenate([fan_faces(one) for one in corners])
        joined = np.concatenate(corners)
        if kind == "triangles":
            counts = np.full(len(joined) // 3, 3, dtype=np.int64)
        elif kind == "polygons":
            counts = np.array([len(one) for one in corners], dtype=np.int64)
        else:
            listed = child(surface, "vcount")
            counts = whole_numbers(self.source, listed) if listed is not None else np.array([0])
        total = int(counts.sum())
        if (counts < 0).any() or (counts > len(joined)).any() or total != len(joined):
            raise self.source.error(
                f"a <{kind}> announces {total} corners, but its <p> holds {len(joined)}.",
                hint="The file is cut off or damaged.",
            )
        return triangulate(vertices, joined, counts)


def _whole(source: MeshSource, element: Element, attribute: str, default: int) -> int:
    written = element.get(attribute, str(default))
    if not (written.strip().isascii() and written.strip().isdigit() and len(written) < 12):
        raise source.error(
            f"<{local_name(element)}> has {attribute}={written[:40]!r}.",
            hint="It must be a whole number.",
        )
    return int(written)
