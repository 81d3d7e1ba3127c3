"""glTF writer: a node per body, postures as animations."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.formats.appearance import Y_UP, linear, look_at_pose
from linkwork.formats.conversion_notes import ConversionNotes, note_unsupported
from linkwork.formats.drawings.gltf.write_surfaces import GltfBuffer, GltfSurfaces
from linkwork.formats.flat import FlatLink, FlatStructure, flatten, unique
from linkwork.formats.posture import Values, link_pose, start_values
from linkwork.formats.text_output import save_bytes
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Joint, Part
from linkwork.model.scene import Light, Scene, Viewpoint

#: Duration of the animation to a posture [s] and its steps: each rotates by less than half a
#: turn, because quaternions are interpolated along the shorter arc.
DURATION, STEPS = 1.0, 12


def add_postures(
    flat: FlatStructure, nodes: dict[str, int], buffer: GltfBuffer
) -> list[dict[str, Any]]:
    """Returns an animation for each posture of the scene."""
    if flat.scene is None:
        return []
    first = start_values(flat)
    found = []
    for name in flat.scene.postures:
        last = start_values(flat, name)
        shares = np.linspace(0.0, 1.0, STEPS + 1)
        track = [_interpolated(first, last, float(share)) for share in shares]
        made = animation(name, flat, nodes, buffer, shares * DURATION, track)
        if made is not None:
            found.append(made)
    return found


def animation(
    name: str,
    flat: FlatStructure,
    nodes: dict[str, int],
    buffer: GltfBuffer,
    times: np.ndarray,
    track: Sequence[Values],
) -> dict[str, Any] | None:
    """Returns an animation of joint values at given times [s]; None if nothing moves."""
    offsets: dict[str, Pose] = {"": Pose()}
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    clock = -1
    for link in flat.links:
        offsets[link.name] = link.offset
        if link.joint is None or not _is_animated(link, track):
            continue
        poses = [offsets[link.carrier] @ link_pose(link, values) for values in track]
        paths = {"translation": np.array([pose.xyz for pose in poses])}
        paths["rotation"] = np.array([(*pose.quat[1:], pose.quat[0]) for pose in poses])
        for path, values in paths.items():
            if not (values != values[0]).any():
                continue
            if clock < 0:
                clock = buffer.add(np.asarray(times, np.float64), "SCALAR")
            out = buffer.add(values, "VEC3" if path == "translation" else "VEC4")
            samplers.append({"input": clock, "output": out, "interpolation": "LINEAR"})
            target = {"node": nodes[link.name], "path": path}
            channels.append({"sampler": len(samplers) - 1, "target": target})
    return {"name": name, "samplers": samplers, "channels": channels} if channels else None


def _is_animated(link: FlatLink, track: Sequence[Values]) -> bool:
    first = tuple(track[0][link.joint_name])
    return any(tuple(values[link.joint_name]) != first for values in track)


def _interpolated(first: Values, last: Values, share: float) -> dict[str, tuple[float, ...]]:
    return {
        name: tuple(a + share * (b - a) for a, b in zip(values, last[name], strict=True))
        for name, values in first.items()
    }


#: Fields that glTF holds, with our extras; others are noted.
SUPPORTED_FIELDS = {"postures", "lights", "viewpoints", "joints: initial values"}


def write_gltf(thing: Part | Scene, path: Path) -> list[str]:
    """Writes a part or scene to a ``.glb`` or ``.gltf`` file and returns what was left out.

    Each body is a node at its joint, named as the element, inside its parent's node: rotating it
    about the axis in its extras moves the joint. Postures are animations.

    Raises:
        LinkworkError: If a part is not one tree, a mesh is missing, or the file cannot be written.
    """
    notes = ConversionNotes()
    flat = flatten(thing)
    note_unsupported(flat, SUPPORTED_FIELDS, notes)
    document = _Document(flat, notes).build(thing.name)
    blob = document.pop("blob")
    buffer: dict[str, Any] = {"byteLength": len(blob)}
    document["buffers"] = [buffer] if blob else []
    if path.suffix.lower() == ".glb":
        save_bytes(path, _glb(_without_empty(document), blob))
        return notes.lines()
    if blob:
        text = base64.b64encode(blob).decode()
        buffer["uri"] = f"data:application/octet-stream;base64,{text}"
    save_bytes(path, json.dumps(_without_empty(document), indent=1, ensure_ascii=False).encode())
    return notes.lines()


class _Document:
    def __init__(self, flat: FlatStructure, notes: ConversionNotes) -> None:
        self.flat, self.notes = flat, notes
        self.surfaces = GltfSurfaces(notes)
        self.nodes: list[dict[str, Any]] = []
        self.number: dict[str, int] = {}

    def build(self, name: str) -> dict[str, Any]:
        """Returns the whole document, its bytes under ``blob``."""
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
                self.notes.about("invisible shapes, left out", link.name)
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
            place = _placed(look_at_pose(light.xyz, light.look_at))
            self._child(root, self._node({"name": light.name, **place, "extensions": extension}))
        if lights:
            document["extensionsUsed"] = ["KHR_lights_punctual"]
            document["extensions"] = {"KHR_lights_punctual": {"lights": lights}}
        cameras = []
        for view in scene.viewpoints:
            cameras.append(_camera(view))
            place = _placed(look_at_pose(view.xyz, view.look_at))
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
    """Returns the extras: the joint, and the pose of the element's frame in the node."""
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


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document without empty tables, which glTF does not allow."""
    return {key: value for key, value in document.items() if value not in ([], {})}


def _glb(document: dict[str, Any], blob: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if blob:
        blob += b"\0" * (-len(blob) % 4)
        chunks += struct.pack("<II", len(blob), 0x004E4942) + blob
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
