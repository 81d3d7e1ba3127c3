"""Linkwork: a virtual test bench for robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from linkwork.agents.control import Control
    from linkwork.errors import LinkworkError
    from linkwork.formats import load, load_movement, load_part, load_scene, save
    from linkwork.kinematics import forward, jacobian
    from linkwork.parts import (
        Anchor,
        Arc,
        Box,
        Capsule,
        Cone,
        Coupling,
        Cylinder,
        Element,
        Ellipsoid,
        Joint,
        Loop,
        Mesh,
        Part,
        Plane,
        Polyline,
        Sphere,
        Spline,
        Spring,
        Terrain,
    )
    from linkwork.scene import Movement, Scene
    from linkwork.scene.document import Document
    from linkwork.server.client import connect
    from linkwork.session.replay import replay
    from linkwork.session.session import Session
    from linkwork.spatial import Inertia, Pose
    from linkwork.world import World, compile_scene

#: Public names and the rooms they live in; imported when first used, so that a viewer or bus
#: process that needs only part of the package does not load the compiler.
_ROOMS = {
    "Anchor": "parts", "Box": "parts", "Capsule": "parts", "Cone": "parts", "Cylinder": "parts",
    "Element": "parts", "Ellipsoid": "parts", "Joint": "parts", "Mesh": "parts", "Part": "parts",
    "Plane": "parts", "Terrain": "parts", "Arc": "parts", "Coupling": "parts", "Loop": "parts",
    "Polyline": "parts", "Spline": "parts", "Spring": "parts", "Inertia": "spatial",
    "Sphere": "parts", "Control": "agents.control", "Document": "scene.document",
    "LinkworkError": "errors", "Pose": "spatial", "Scene": "scene", "Session": "session.session",
    "World": "world", "compile_scene": "world", "connect": "server.client", "forward": "kinematics",
    "jacobian": "kinematics", "load": "formats", "load_movement": "formats",
    "load_part": "formats", "load_scene": "formats", "Movement": "scene",
    "replay": "session.replay", "save": "formats",
}  # fmt: skip

__all__ = [
    "Anchor",
    "Arc",
    "Box",
    "Capsule",
    "Cone",
    "Control",
    "Coupling",
    "Cylinder",
    "Document",
    "Element",
    "Ellipsoid",
    "Inertia",
    "Joint",
    "LinkworkError",
    "Loop",
    "Mesh",
    "Movement",
    "Part",
    "Plane",
    "Polyline",
    "Pose",
    "Scene",
    "Session",
    "Sphere",
    "Spline",
    "Spring",
    "Terrain",
    "World",
    "compile_scene",
    "connect",
    "forward",
    "jacobian",
    "load",
    "load_movement",
    "load_part",
    "load_scene",
    "replay",
    "save",
]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("linkwork")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "0+source"


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
    return getattr(import_module(f"linkwork.{room}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
