"""Reading glTF: each node with triangles becomes an element, fixed to the one above it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linkwork.errors import FormatError, MeshError, Origin
from linkwork.formats.gltf.frames import rigid
from linkwork.formats.gltf.left_out import note_left_out
from linkwork.formats.mesh.element import LARGE, UPRIGHT, mesh_element
from linkwork.formats.names import KEY_PREFIX
from linkwork.formats.notes import Notes
from linkwork.meshes import load_mesh, mesh_nodes
from linkwork.parts import Element, Part
from linkwork.parts.names import plain
from linkwork.spatial.pose import Pose

#: More elements than this are a drawing, not a machine.
MOST = 2000


def read_gltf_part(path: Path, *, up: str = "Y", of: Path | None = None) -> tuple[Part, list[str]]:
    """The part that a glTF file's scene makes.

    A file with one mesh is a part of one element. Of several, each node with triangles is an
    element in the node's frame, fixed to the nearest such node above it, or to an element
    without shape that stands for the file. The file's y up becomes z up, in the nodes' frames too.

    Args:
        path: The glTF file.
        up: Which axis is up in it.
        of: The file that it was made from, where it stands for another.

    Returns:
        The part, and notes of what was assumed or left out.

    Raises:
        LinkworkError: If the file cannot be read or holds too many nodes.
    """
    notes, of, turn = Notes(), of or path, UPRIGHT[up]
    name = plain(of.stem)
    part = Part(name, origin=Origin(str(of)))
    if name != of.stem:
        part.title = of.stem
    whole = load_mesh(path)
    note_left_out(path, notes)
    nodes = mesh_nodes(path)
    shown = [node for node in nodes if node.has_mesh]
    if len(shown) > MOST:
        raise FormatError(
            f"it holds {len(shown)} meshes; at most {MOST} become elements.",
            origin=part.origin,
            hint="Join what moves together before exporting.",
        )
    size = float((whole.bounds[1] - whole.bounds[0]).max())
    if size > LARGE:
        notes.say(
            f"{of}: the thing is {size:.4g} m large, as the file says it; if it was drawn in "
            f"millimetres, begin with linkwork new --from {of.name} --unit mm."
        )
    if len(shown) < 2:
        return part.add(mesh_element(path, name, notes, at=turn)), notes.lines()
    root = plain(name, {plain(node.name) for node in shown})
    part.add(Element(root, origin=part.origin))
    carriers = {"": (root, Pose())}  # node to the element that carries what is below, and its pose
    for node in nodes:
        above = carriers[node.parent]
        if not node.has_mesh:
            carriers[node.key] = above
            continue
        frame = rigid(node.matrix)
        if frame is None:
            notes.about("nodes that are flattened to nothing, left out", node.key)
            carriers[node.key] = above
            continue
        own = turn @ frame @ turn.inverse()
        made = plain(node.name or f"node{node.key}", {*part.elements})
        try:
            element = mesh_element(path, made, notes, node=node.key, at=own.inverse() @ turn)
        except MeshError:  # points and lines, or triangles that shrank to nothing
            notes.about("nodes without triangles, left out", node.key)
            carriers[node.key] = above
            continue
        part.add(replace(element, on=above[0], at=above[1].inverse() @ own))
        carriers[node.key] = (made, own)
        if node.name and node.name != made:
            own_name = node.key == node.name  # others have the name too, and this one a number
            part.aliases[node.key if own_name else f"{KEY_PREFIX}{node.key}"] = made
    return part, notes.lines()
