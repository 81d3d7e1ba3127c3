"""Collada's XML vocabulary: children, numbers and the transforms of nodes."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from linkwork.meshes.source import MeshSource


def local_name(element: Element) -> str:
    """The tag without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: Element, name: str) -> Element | None:
    """The first child of that name."""
    return next((one for one in element if local_name(one) == name), None)


def children(element: Element, name: str) -> list[Element]:
    """All children of that name."""
    return [one for one in element if local_name(one) == name]


def numbers(source: MeshSource, element: Element, count: int | None = None) -> NDArray[np.float64]:
    """The numbers in an element's text; ``count`` says how many there must be."""
    return _parsed(source, element, np.float64, count)


def whole_numbers(source: MeshSource, element: Element) -> NDArray[np.int64]:
    """The whole numbers in an element's text."""
    return _parsed(source, element, np.int64, None)


def _parsed(
    source: MeshSource, element: Element, kind: type[np.generic], count: int | None
) -> NDArray:
    try:
        values = np.array((element.text or "").split(), dtype=kind)
    except (ValueError, OverflowError) as error:
        raise source.error(f"<{local_name(element)}> holds something else: {error}.") from None
    if count is not None and len(values) != count:
        raise source.error(
            f"<{local_name(element)}> holds {len(values)} numbers.", hint=f"It needs {count}."
        )
    return values


def node_matrix(source: MeshSource, node: Element) -> NDArray[np.float64]:
    """The 4×4 placement of a node: its transform elements multiplied in file order."""
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
