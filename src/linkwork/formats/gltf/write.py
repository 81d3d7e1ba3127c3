"""Writing glTF: a node per body in the order of the joints, ready to be moved."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

from linkwork.formats.colors import linear
from linkwork.formats.flat import Flat, FlatLink, flatten, unique
from linkwork.formats.gltf.write_motion import add_postures
from linkwork.formats.gltf.write_surfaces import Surfaces
from linkwork.formats.losses import note_losses
from linkwork.formats.notes import Notes
from linkwork.formats.posture import link_pose, start_values
from linkwork.formats.save_text import save_bytes
from linkwork.formats.view import Y_UP, looking
from linkwork.parts import Joint, Part
from linkwork.scene import Light, Scene, Viewpoint
from linkwork.spatial.pose import Pose

#: What glTF has words for, with our extras; the rest is told.
SAYS = {"postures", "lights", "viewpoints", "joints: initial values"}


def write_gltf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to a ``.glb`` or ``.gltf`` file and returns what was left out.

    Each body is a node at its joint, named as the element, inside the node that carries it: to
    turn it about the axis in its extras is to move the joint. Postures are animations.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = Notes()
    flat = flatten(thing)
    note_losses(flat, SAYS, notes)
    document = _Document(flat, notes).build(thing.name)
    blob = document.pop("blob")
    buffer: dict[str, Any] = {"byteLength": len(blob)}
    document["buffers"] = [buffer] if blob else []
    if path.suffix.lower() == ".glb":
        save_bytes(path, _glb(_lean(document), blob))
        return notes.lines()
    if blob:
        text = base64.b64encode(blob).decode()
        buffer["uri"] = f"data:application/octet-stream;base64,{text}"
    save_bytes(path, json.dumps(_lean(document), indent=1, ensure_ascii=False).encode())
    return notes.lines()


class _Document:
    def __init__(self, flat: Flat, notes: Notes) -> None:
        self.flat, self.notes = flat, notes
        self.surfaces = Surfaces(notes)
        self.nodes: list[dict[str, Any]] = []
        self.number: dict[str, int] = {}

    def build(self, name: str) -> dict[str, Any]:
        """The whole document, its bytes under ``blob``."""
        values = start_values(self.flat)
        called = unique(name, {link.name for link in self.flat.links})
        root = self._node({"name": called, **_placed(Y_UP)})
        offsets: dict[str, Pose] = {"": Pose()}
        parents = {"": root}
        for link in self.flat.links:
            offsets[link.name] = link.offset
            pose = offsets[link.carrier] @ link_pose(link, values)
            here = self._node({"name": link.name, **_placed(pose), **_extras(link)})
            self.number[link.name] = parents[link.name] = here
            self._child(parents[link.carrier], here)
            self._shapes(link, here)
        animations = add_postures(self.flat, self.number, self.surfaces.buffer)
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Linkwork"},
            "scene": 0,
            "scenes": [{"name": name, "nodes": [root]}],
        }
        if self.flat.scene is not None:
            self._see(document, self.flat.scene, root)
        return {
            **document,
            "nodes": self.nodes,
            **self.surfaces.tables(),
            "animations": animations,
            "accessors": self.surfaces.buffer.accessors,
            "bufferViews": self.surfaces.buffer.views,
            "blob": bytes(self.surfaces.buffer.data),
        }

    def _node(self, node: dict[str, Any]) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _child(self, parent: int, child: int) -> None:
        self.nodes[parent].setdefault("children", []).append(child)

    def _shapes(self, link: FlatLink, here: int) -> None:
        element = link.element
        for number, shape in enumerate(element.shapes if element else (), start=1):
            if element is None or not shape.visible:
                self.notes.about("shapes that are not seen, left out", link.name)
                continue
            mesh = self.surfaces.mesh(shape, shape.color or element.color)
            place = _placed(link.offset @ shape.at)
            made = self._node({"name": f"{link.name} shape {number}", "mesh": mesh, **place})
            self._child(here, made)

    def _see(self, document: dict[str, Any], scene: Scene, root: int) -> None:
        """Adds lights and viewpoints."""
        lights = []
        for light in scene.lights:
            lights.append(_light(light))
            extension = {"KHR_lights_punctual": {"light": len(lights) - 1}}
            place = _placed(looking(light.xyz, light.look_at))
            self._child(root, self._node({"name": light.name, **place, "extensions": extension}))
        if lights:
            document["extensionsUsed"] = ["KHR_lights_punctual"]
            document["extensions"] = {"KHR_lights_punctual": {"lights": lights}}
        cameras = []
        for view in scene.viewpoints:
            cameras.append(_camera(view))
            place = _placed(looking(view.xyz, view.look_at))
            node = {"name": view.name, **place, "camera": len(cameras) - 1}
            self._child(root, self._node(node))
        document["cameras"] = cameras


def _placed(pose: Pose) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if any(pose.xyz):
        found["translation"] = list(pose.xyz)
    if any(pose.quat[1:]):
        w, x, y, z = pose.quat
        found["rotation"] = [x, y, z, w]
    return found


def _extras(link: FlatLink) -> dict[str, Any]:
    """What the node's joint can do, and where the element's frame is if it is not the node's."""
    extras: dict[str, Any] = {}
    if link.joint is not None:
        extras["joint"] = _joint(link.joint, link.joint_name)
        extras["joint"]["at"] = _placed(link.at)
    if not link.offset.is_identity():
        extras["frame"] = _placed(link.offset)
    return {"extras": extras} if extras else {}


def _joint(joint: Joint, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "type": joint.type, "dofs": list(joint.kind.dofs)}
    axis, second = joint.directions
    if joint.type not in ("ball", "free", "fixed"):
        found["axis"] = list(axis)
    if joint.type in ("universal", "planar", "rail"):
        found["axis2"] = list(second)
    if any(r is not None for r in joint.ranges):
        found["range"] = [None if r is None else list(r) for r in joint.ranges]
    if joint.type == "screw":
        found["pitch"] = joint.pitch
    if joint.rail:
        found["rail"] = [[p.length, p.turn, p.climb] for p in joint.rail]
    found["value"] = list(joint.values)
    return found


def _light(light: Light) -> dict[str, Any]:
    kind = "directional" if light.kind == "sun" else "point"
    color = list(linear(light.color))
    return {"name": light.name, "type": kind, "color": color, "intensity": light.strength}


def _camera(view: Viewpoint) -> dict[str, Any]:
    lens = {"yfov": view.opening, "znear": 0.01}
    return {"name": view.name, "type": "perspective", "perspective": lens}


def _lean(document: dict[str, Any]) -> dict[str, Any]:
    """The document without empty tables, which glTF does not allow."""
    return {key: value for key, value in document.items() if value not in ([], {})}


def _glb(document: dict[str, Any], blob: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if blob:
        blob += b"\0" * (-len(blob) % 4)
        chunks += struct.pack("<II", len(blob), 0x004E4942) + blob
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
