"""Writing X3D and VRML97: a Transform per body, named and nested as they carry each other."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from linkwork.formats.colors import rgba
from linkwork.formats.flat import Flat, FlatLink, flatten, unique
from linkwork.formats.losses import note_losses
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import link_pose, start_values
from linkwork.formats.save_text import save_bytes, save_xml
from linkwork.formats.view import Y_UP, looking
from linkwork.formats.x3d.geometry import Forms, shape_node
from linkwork.formats.x3d.graph import GraphNode, as_vrml, as_xml
from linkwork.parts import Joint, Part
from linkwork.scene import Scene
from linkwork.spatial.pose import Pose

#: What these formats have words for; the rest is told.
SAYS = {"lights", "viewpoints", "background", "joints: initial values"}


def write_x3d(thing: Part | Scene, path: Path, *, classic: bool = False) -> list[str]:
    """Writes a part or scene as it stands at the start, and returns what was left out.

    Args:
        thing: What to write.
        path: The file.
        classic: Writes VRML97 instead of X3D.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = Notes()
    flat = flatten(thing)
    note_losses(flat, SAYS, notes)
    nodes = _nodes(thing, flat, notes, classic=classic)
    if classic:
        text = "#VRML V2.0 utf8\n" + "".join(f"{as_vrml(node)}\n" for node in nodes)
        save_bytes(path, text.encode())
    else:
        save_xml(path, _document(thing, nodes), head='<?xml version="1.0" encoding="UTF-8"?>')
    return notes.lines()


def _document(thing: Part | Scene, nodes: list[GraphNode]) -> ET.Element:
    root = ET.Element("X3D", profile="Immersive", version="3.3")
    head = ET.SubElement(root, "head")
    ET.SubElement(head, "meta", name="title", content=thing.title or thing.name)
    ET.SubElement(head, "meta", name="generator", content="Linkwork")
    ET.SubElement(root, "Scene").extend(as_xml(node) for node in nodes)
    return root


def _nodes(thing: Part | Scene, flat: Flat, notes: Notes, *, classic: bool) -> list[GraphNode]:
    taken: set[str] = set()
    moved = [link for link in flat.links if link.joint is not None]
    info = [_told(link.joint, link.joint_name, link.name) for link in moved if link.joint]
    world = GraphNode("WorldInfo", fields={"title": thing.title or thing.name, "info": info})
    names = {link.name: unique(node_name(link.name), taken) for link in flat.links}
    root = GraphNode("Transform", unique(node_name(thing.name), taken), _placed(Y_UP))
    if flat.scene is not None:
        _see(root, flat.scene, taken, notes, classic=classic)
    values = start_values(flat)
    offsets: dict[str, Pose] = {"": Pose()}
    parents = {"": root}
    forms = Forms(taken)
    for link in flat.links:
        offsets[link.name] = link.offset
        pose = offsets[link.carrier] @ link_pose(link, values)
        node = GraphNode("Transform", names[link.name], _placed(pose))
        here = parents[link.carrier].add(node)
        parents[link.name] = here
        _shapes(link, here, notes, forms)
    return [world, root]


def node_name(name: str) -> str:
    """The nearest name that X3D and VRML97 both allow."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


def _shapes(link: FlatLink, here: GraphNode, notes: Notes, forms: Forms) -> None:
    element = link.element
    for shape in element.shapes if element else ():
        if element is None or not shape.visible:
            notes.about("shapes that are not seen, left out", link.name)
            continue
        made, turn = shape_node(shape, shape.color or element.color, forms)
        pose = link.offset @ shape.at @ turn
        if pose.is_identity():
            here.add(made)
        else:
            here.add(GraphNode("Transform", "", _placed(pose))).add(made)


def _see(root: GraphNode, scene: Scene, taken: set[str], notes: Notes, *, classic: bool) -> None:
    """Adds the background, viewpoints and lights."""
    if scene.background:
        root.add(GraphNode("Background", fields={"skyColor": [rgba(scene.background)[:3]]}))
    for view in scene.viewpoints:
        pose = looking(view.xyz, view.look_at)
        fields = {
            "description": view.name,
            "position": pose.xyz,
            "orientation": axis_angle(pose),
            "fieldOfView": view.opening,
        }
        root.add(GraphNode("Viewpoint", unique(node_name(view.name), taken), fields))
    for light in scene.lights:
        way = [to - at for at, to in zip(light.xyz, light.look_at, strict=True)]
        name = unique(node_name(light.name), taken)
        if light.strength > 1.0:
            notes.about("lights stronger than 1, written as 1", light.name)
        fields = {"color": rgba(light.color)[:3], "intensity": min(max(light.strength, 0.0), 1.0)}
        if light.kind == "sun":
            fields["direction"] = tuple(way)
        else:
            fields |= {"location": light.xyz, "radius": 100.0}
        if not classic:
            fields["global"] = True
        kind = "DirectionalLight" if light.kind == "sun" else "PointLight"
        root.add(GraphNode(kind, name, fields))


def _placed(pose: Pose) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    if any(pose.xyz):
        found["translation"] = pose.xyz
    if any(pose.quat[1:]):
        found["rotation"] = axis_angle(pose)
    return found


def axis_angle(pose: Pose) -> tuple[float, float, float, float]:
    """The rotation as a direction and an angle [rad]."""
    w, x, y, z = pose.quat
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-15:
        return (0.0, 0.0, 1.0, 0.0)
    return (x / sine, y / sine, z / sine, 2.0 * math.atan2(sine, w))


def _told(joint: Joint, name: str, link: str) -> str:
    """A line about a joint, for people and for programs that look for one."""
    text = f"joint {name}: {joint.type}, moves {link}"
    if joint.type not in ("ball", "free", "fixed"):
        text += f", axis {numerals(joint.directions[0])}"
    for dof, limits in zip(joint.kind.dofs, joint.ranges, strict=True):
        if limits is not None:
            text += f", {dof} {numeral(limits[0])} to {numeral(limits[1])}"
    return text
