"""glTF: nodes with triangles as elements, joints as movable nodes."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from linkwork.core.errors import FormatError, MeshError, Origin
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.drawings.gltf.write import write_gltf
from linkwork.formats.drawings.mesh import LARGE_SIZE, UP_ROTATIONS, mesh_element
from linkwork.formats.names import KEY_PREFIX
from linkwork.geometry.meshes import load_mesh, mesh_nodes
from linkwork.geometry.pose import Pose, quat_from_matrix
from linkwork.model.parts import Element, Part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene


def rigid_pose(matrix: np.ndarray) -> Pose | None:
    """Returns the pose nearest to a 4×4 placement, without its scale, shear and mirroring.

    The rotation is U·Vᵀ of the singular value decomposition, made right-handed. None if the
    placement is singular or not finite.
    """
    if not np.isfinite(matrix).all():
        return None
    u, values, v = np.linalg.svd(matrix[:3, :3])
    if not values[2] > 1e-9 * values[0]:
        return None
    if np.linalg.det(u @ v) < 0:
        u[:, 2] = -u[:, 2]
    return Pose.of(matrix[:3, 3].tolist(), quat=quat_from_matrix(u @ v))


#: Lists of the document that are not read, with their notes.
_UNSUPPORTED_TABLES = {
    "cameras": "cameras, left out",
    "animations": "animations, left out",
    "skins": "skins, left out: their meshes are rigid",
    "textures": "textures, left out",
}


class _Document(msgspec.Struct):
    """The lists of a document that are not read, of any form."""

    cameras: Any = None
    animations: Any = None
    skins: Any = None
    textures: Any = None
    extensions: Any = None
    meshes: Any = None
    nodes: Any = None


def note_unsupported_gltf(path: Path, notes: ConversionNotes) -> None:
    """Notes cameras, lights, animations, textures, skins, morph targets and our joints.

    Args:
        path: A glTF file whose meshes can be read.
        notes: Receives what a part cannot hold.
    """
    data = path.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    try:
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return  # anything but a list is empty
    for table, what in _UNSUPPORTED_TABLES.items():
        _note(what, _named(getattr(document, table)), notes)
    lights = _inside(_inside(document.extensions, "KHR_lights_punctual"), "lights")
    _note("lights, left out", _named(lights), notes)
    _note(
        "morph targets, left out",
        (
            name
            for name, mesh in _named_ones(document.meshes)
            if any(_inside(one, "targets") for one in _list(_inside(mesh, "primitives")))
        ),
        notes,
    )
    _note(
        "joints in extras, left out: their nodes are fixed",
        (
            name
            for name, node in _named_ones(document.nodes)
            if isinstance(_inside(_inside(node, "extras"), "joint"), dict)
        ),
        notes,
    )


def _note(what: str, names: Iterable[str], notes: ConversionNotes) -> None:
    for name in names:
        notes.about(what, name)


def _inside(thing: Any, key: str) -> Any:
    return thing.get(key) if isinstance(thing, dict) else None


def _list(thing: Any) -> list[Any]:
    return thing if isinstance(thing, list) else []


def _named_ones(table: Any) -> Iterator[tuple[str, Any]]:
    """Yields the name, or else the number, of each item of a list."""
    for number, thing in enumerate(_list(table)):
        name = _inside(thing, "name")
        yield name if isinstance(name, str) and name else f"#{number}", thing


def _named(table: Any) -> Iterator[str]:
    return (name for name, _ in _named_ones(table))


#: Maximum number of elements.
MAX_ELEMENTS = 2000


def read_gltf_part(path: Path, *, up: str = "Y", of: Path | None = None) -> tuple[Part, list[str]]:
    """Returns the part of a glTF file's scene.

    A file with one mesh is a part of one element. Of several, each node with triangles is an
    element in the node's frame, fixed to the nearest such node above it, or to an element
    without shape at the file's origin. The file's y up becomes z up, in the nodes' frames too.

    Args:
        path: The glTF file.
        up: Its up axis.
        of: The file that it was converted from, if any.

    Returns:
        The part, and notes of what was assumed or left out.

    Raises:
        LinkworkError: If the file cannot be read or holds too many nodes.
    """
    notes, of, turn = ConversionNotes(), of or path, UP_ROTATIONS[up]
    name = plain_name(of.stem)
    part = Part(name, origin=Origin(str(of)))
    if name != of.stem:
        part.title = of.stem
    whole = load_mesh(path)
    note_unsupported_gltf(path, notes)
    nodes = mesh_nodes(path)
    shown = [node for node in nodes if node.has_mesh]
    if len(shown) > MAX_ELEMENTS:
        raise FormatError(
            f"it holds {len(shown)} meshes; at most {MAX_ELEMENTS} become elements.",
            origin=part.origin,
            hint="Join what moves together before exporting.",
        )
    size = float((whole.bounds[1] - whole.bounds[0]).max())
    if size > LARGE_SIZE:
        notes.add(
            f"{of}: the object is {size:.4g} m large in meters; if it was drawn in "
            f"millimeters, begin with linkwork new --from {of.name} --unit mm.",
            kind="unit",
        )
    if len(shown) < 2:
        return part.add(mesh_element(path, name, notes, at=turn)), notes.lines()
    root = plain_name(name, {plain_name(node.name) for node in shown})
    part.add(Element(root, origin=part.origin))
    carriers = {"": (root, Pose())}  # node to the parent element of its children, and its pose
    for node in nodes:
        above = carriers[node.parent]
        if not node.has_mesh:
            carriers[node.key] = above
            continue
        frame = rigid_pose(node.matrix)
        if frame is None:
            notes.about("nodes with a singular placement, left out", node.key)
            carriers[node.key] = above
            continue
        own = turn @ frame @ turn.inverse()
        made = plain_name(node.name or f"node{node.key}", {*part.elements})
        try:
            element = mesh_element(path, made, notes, node=node.key, at=own.inverse() @ turn)
        except MeshError:  # points and lines, or degenerate triangles
            notes.about("nodes without triangles, left out", node.key)
            carriers[node.key] = above
            continue
        part.add(replace(element, on=above[0], at=above[1].inverse() @ own))
        carriers[node.key] = (made, own)
        if node.name and node.name != made:
            own_name = node.key == node.name  # the name is not unique and gets a number
            part.aliases[node.key if own_name else f"{KEY_PREFIX}{node.key}"] = made
    return part, notes.lines()


__all__ = ["GltfFormat"]


class GltfFormat:
    """Reads glTF files as parts: an element for each node with triangles."""

    suffixes: ClassVar[tuple[str, ...]] = (".gltf", ".glb")

    def read(self, path: str | os.PathLike[str]) -> Part:
        """Returns the part of a file's scene; see :meth:`read_with_notes`."""
        return self.read_with_notes(path)[0]

    def read_with_notes(self, path: str | os.PathLike[str]) -> tuple[Part, list[str]]:
        """Returns the part of a file's scene, and what was assumed or left out.

        Raises:
            LinkworkError: If the file cannot be read.
        """
        return read_gltf_part(Path(path))

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part or scene, with its joints as nodes that can be moved.

        Returns:
            What was left out, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_gltf(thing, Path(path))
