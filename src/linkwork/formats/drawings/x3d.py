"""X3D or VRML97 drawings, written from parts or scenes."""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from linkwork.core.errors import FormatError, Origin
from linkwork.formats.appearance import Y_UP, look_at_pose, rgba, triangles_of_shape
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.flat import FlatLink, FlatStructure, flatten, unique
from linkwork.formats.posture import link_pose, start_values
from linkwork.formats.text_output import (
    DEEPEST_INDENT,
    number_text,
    numbers_text,
    save_bytes,
    save_xml,
)
from linkwork.geometry.pose import IDENTITY, Pose, quat_from_axis
from linkwork.model.parts import Box, Cone, Cylinder, Joint, Part, Plane, Shape, Sphere
from linkwork.model.scene import Scene


@dataclass
class X3dNode:
    """A node.

    Attributes:
        type: "Transform", "Shape", …
        name: Its DEF name, or empty.
        fields: Values: numbers, flags, a text, tuples of numbers; lists are fields of several
            values.
        nodes: The nodes in each field of nodes; lists if it has several.
        use: Name of an earlier node that it repeats.
    """

    type: str
    name: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, X3dNode | list[X3dNode]] = field(default_factory=dict)
    use: str = ""

    def add(self, child: X3dNode) -> X3dNode:
        """Adds a child and returns it."""
        children = self.nodes.setdefault("children", [])
        assert isinstance(children, list)
        children.append(child)
        return child


def as_xml(node: X3dNode) -> ET.Element:
    """X3D's spelling."""
    top = ET.Element("top")
    waiting = [(node, top)]
    while waiting:
        here, above = waiting.pop()
        element = ET.SubElement(above, here.type)
        if here.name:
            element.set("DEF", here.name)
        if here.use:
            element.set("USE", here.use)
        for name, value in here.fields.items():
            element.set(name, _attribute(value))
        inside = [
            child
            for found in here.nodes.values()
            for child in (found if isinstance(found, list) else [found])
        ]
        waiting.extend((child, element) for child in reversed(inside))
    return top[0]


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return numbers_text(value)
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return " ".join(_quoted(text) for text in value)
        return " ".join(_attribute(each) for each in value)
    return number_text(value)


def as_vrml(node: X3dNode) -> str:
    """VRML97's spelling."""
    lines: list[str] = []
    waiting: list[tuple[X3dNode | str, str, int]] = [(node, "", 0)]
    while waiting:
        here, key, depth = waiting.pop()
        indent, inner = ("  " * min(d, DEEPEST_INDENT) for d in (depth, depth + 1))
        if isinstance(here, str):
            lines.append(indent + here)
            continue
        if here.use:
            lines.append(f"{indent}{key}USE {here.use}")
            continue
        name = f"DEF {here.name} " if here.name else ""
        lines.append(f"{indent}{key}{name}{here.type} {{")
        lines += [f"{inner}{word} {_classic(value)}" for word, value in here.fields.items()]
        waiting.append(("}", "", depth))
        for word, inside in reversed(here.nodes.items()):
            if isinstance(inside, list):
                waiting.append(("]", "", depth + 1))
                waiting.extend((child, "", depth + 2) for child in reversed(inside))
                waiting.append((f"{word} [", "", depth + 1))
            else:
                waiting.append((inside, f"{word} ", depth + 1))
    return "\n".join(lines)


def _classic(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        return numbers_text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_classic(each) for each in value) + "]"
    return number_text(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


#: Cylinders and cones of X3D are along y, ours along z.
ALONG_Z = Pose(quat=quat_from_axis((1.0, 0.0, 0.0), math.pi / 2.0))
_CREASE = 0.6


@dataclass
class GeometryNames:
    """Faces that equal shapes share.

    Attributes:
        taken: Names of all nodes.
        named: Names of faces, by what they draw.
    """

    taken: set[str]
    named: dict[str, str] = field(default_factory=dict)


def shape_node(shape: Shape, color: str, forms: GeometryNames) -> tuple[X3dNode, Pose]:
    """Returns the Shape that draws a shape in a color, and its rotation."""
    form, turn = _geometry_node(shape, forms)
    *levels, opacity = rgba(color)
    fields: dict[str, object] = {"diffuseColor": tuple(levels)}
    if opacity < 1.0:
        fields["transparency"] = 1.0 - opacity
    look = X3dNode("Appearance", nodes={"material": X3dNode("Material", fields=fields)})
    return X3dNode("Shape", nodes={"appearance": look, "geometry": form}), turn


def _geometry_node(shape: Shape, forms: GeometryNames) -> tuple[X3dNode, Pose]:
    match shape:
        case Box():
            return X3dNode("Box", fields={"size": shape.size}), IDENTITY
        case Sphere():
            return X3dNode("Sphere", fields={"radius": shape.radius}), IDENTITY
        case Cylinder():
            sizes = {"radius": shape.radius, "height": shape.length}
            return X3dNode("Cylinder", fields=sizes), ALONG_Z
        case Cone() if shape.top_radius == 0.0:
            sizes = {"bottomRadius": shape.radius, "height": shape.length}
            return X3dNode("Cone", fields=sizes), ALONG_Z
    bare = replace(shape, at=IDENTITY, color="", visible=True, collide=True, mujoco={})
    if used := forms.named.get(repr(bare)):
        return X3dNode("IndexedFaceSet", use=used), IDENTITY
    name = forms.named[repr(bare)] = unique(f"{shape.kind}_faces", forms.taken)
    mesh = triangles_of_shape(shape)
    points = [tuple(row) for row in mesh.vertices.tolist()]
    fields = {
        "coordIndex": [(*row, -1) for row in mesh.faces.tolist()],
        "creaseAngle": _CREASE,
        "solid": not isinstance(shape, Plane) and mesh.is_watertight,
    }
    place = X3dNode("Coordinate", fields={"point": points})
    return X3dNode("IndexedFaceSet", name, fields=fields, nodes={"coord": place}), IDENTITY


#: Fields that these formats hold; others are noted.
SUPPORTED_FIELDS = {"lights", "viewpoints", "background", "joints: initial values"}


def write_x3d(thing: Part | Scene, path: Path, *, classic: bool = False) -> list[str]:
    """Writes a part or scene in its initial posture, and returns what was left out.

    Args:
        thing: What to write.
        path: The file.
        classic: Writes VRML97 instead of X3D.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = ConversionNotes()
    flat = flatten(thing)
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    nodes = _nodes(thing, flat, notes, classic=classic)
    if classic:
        text = "#VRML V2.0 utf8\n" + "".join(f"{as_vrml(node)}\n" for node in nodes)
        save_bytes(path, text.encode())
    else:
        save_xml(path, _document(thing, nodes), head='<?xml version="1.0" encoding="UTF-8"?>')
    return notes.lines()


def _document(thing: Part | Scene, nodes: list[X3dNode]) -> ET.Element:
    root = ET.Element("X3D", profile="Immersive", version="3.3")
    head = ET.SubElement(root, "head")
    ET.SubElement(head, "meta", name="title", content=thing.title or thing.name)
    ET.SubElement(head, "meta", name="generator", content="Linkwork")
    ET.SubElement(root, "Scene").extend(as_xml(node) for node in nodes)
    return root


def _nodes(
    thing: Part | Scene, flat: FlatStructure, notes: ConversionNotes, *, classic: bool
) -> list[X3dNode]:
    taken: set[str] = set()
    moved = [link for link in flat.links if link.joint is not None]
    info = [_joint_metadata(link.joint, link.joint_name, link.name) for link in moved if link.joint]
    world = X3dNode("WorldInfo", fields={"title": thing.title or thing.name, "info": info})
    names = {link.name: unique(node_name(link.name), taken) for link in flat.links}
    root = X3dNode("Transform", unique(node_name(thing.name), taken), _placed(Y_UP))
    if flat.scene is not None:
        _add_viewpoints(root, flat.scene, taken, notes, classic=classic)
    values = start_values(flat)
    offsets: dict[str, Pose] = {"": Pose()}
    parents = {"": root}
    forms = GeometryNames(taken)
    for link in flat.links:
        offsets[link.name] = link.offset
        pose = offsets[link.carrier] @ link_pose(link, values)
        node = X3dNode("Transform", names[link.name], _placed(pose))
        here = parents[link.carrier].add(node)
        parents[link.name] = here
        _shapes(link, here, notes, forms)
    return [world, root]


def node_name(name: str) -> str:
    """Returns the nearest name that X3D and VRML97 both allow."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


def _shapes(link: FlatLink, here: X3dNode, notes: ConversionNotes, forms: GeometryNames) -> None:
    element = link.element
    for shape in element.shapes if element else ():
        if element is None or not shape.visible:
            notes.about("invisible shapes, left out", link.name)
            continue
        made, turn = shape_node(shape, shape.color or element.color, forms)
        pose = link.offset @ shape.at @ turn
        if pose.is_identity():
            here.add(made)
        else:
            here.add(X3dNode("Transform", "", _placed(pose))).add(made)


def _add_viewpoints(
    root: X3dNode, scene: Scene, taken: set[str], notes: ConversionNotes, *, classic: bool
) -> None:
    """Adds the background, viewpoints and lights."""
    if scene.background:
        root.add(X3dNode("Background", fields={"skyColor": [rgba(scene.background)[:3]]}))
    for view in scene.viewpoints:
        pose = look_at_pose(view.xyz, view.look_at)
        fields = {
            "description": view.name,
            "position": pose.xyz,
            "orientation": axis_angle(pose),
            "fieldOfView": view.opening,
        }
        root.add(X3dNode("Viewpoint", unique(node_name(view.name), taken), fields))
    for light in scene.lights:
        direction = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
        name = unique(node_name(light.name), taken)
        if light.strength > 1.0:
            notes.about("lights stronger than 1, written as 1", light.name)
        fields = {"color": rgba(light.color)[:3], "intensity": min(max(light.strength, 0.0), 1.0)}
        if light.kind == "sun":
            fields["direction"] = tuple(direction)
        else:
            fields |= {"location": light.xyz, "radius": 100.0}
        if not classic:
            fields["global"] = True
        kind = "DirectionalLight" if light.kind == "sun" else "PointLight"
        root.add(X3dNode(kind, name, fields))


def _placed(pose: Pose) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    if any(pose.xyz):
        found["translation"] = pose.xyz
    if any(pose.quat[1:]):
        found["rotation"] = axis_angle(pose)
    return found


def axis_angle(pose: Pose) -> tuple[float, float, float, float]:
    """Returns the rotation as a direction and an angle [rad]."""
    w, x, y, z = pose.quat
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-15:
        return (0.0, 0.0, 1.0, 0.0)
    return (x / sine, y / sine, z / sine, 2.0 * math.atan2(sine, w))


def _joint_metadata(joint: Joint, name: str, link: str) -> str:
    """Returns a line that describes a joint."""
    text = f"joint {name}: {joint.type}, moves {link}"
    if joint.type not in ("ball", "free", "fixed"):
        text += f", axis {numbers_text(joint.directions[0])}"
    for dof, limits in zip(joint.kind.dofs, joint.ranges, strict=True):
        if limits is not None:
            text += f", {dof} {number_text(limits[0])} to {number_text(limits[1])}"
    return text


__all__ = ["VrmlFormat", "X3dFormat"]


class X3dFormat:
    """Writes X3D files, the XML of the scene graph."""

    suffixes = (".x3d",)

    def read(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuses to read: a drawing has no joints.

        Raises:
            FormatError: Always; it names formats that can be read.
        """
        raise FormatError(
            f"{self.suffixes[0]} files are written, not read.",
            origin=Origin(os.fspath(path)),
            hint="Bring its meshes as .glb, .gltf, .obj, .dae or .stl.",
        )

    def write(self, thing: Part | Scene, path: str | os.PathLike[str]) -> list[str]:
        """Writes a part or scene in its initial posture.

        Returns:
            What was left out, one line each.

        Raises:
            LinkworkError: If a part is not one tree, or the file cannot be written.
        """
        return write_x3d(thing, Path(path), classic=self.suffixes[0] == ".wrl")


class VrmlFormat(X3dFormat):
    """Writes VRML97 files, the older text of the same scene graph."""

    suffixes = (".wrl", ".vrml")
