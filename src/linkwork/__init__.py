"""Linkwork: a virtual test bench for robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from linkwork.components.agents.control import Control
    from linkwork.core.errors import LinkworkError
    from linkwork.formats import load, load_movement, load_part, load_scene, save
    from linkwork.geometry import Inertia, Pose
    from linkwork.kinematics import forward, jacobian
    from linkwork.model.parts import (
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
        Spec,
        Sphere,
        Spline,
        Spring,
        Terrain,
    )
    from linkwork.model.scene import Movement, Scene
    from linkwork.model.world import World, compile_scene
    from linkwork.project.document import Document
    from linkwork.session.recording import Recording
    from linkwork.session.replay import replay
    from linkwork.session.session import Session
    from linkwork.studio.client import connect

#: Public names and the rooms they live in; imported when first used, so that a viewer or bus
#: process that needs only part of the package does not load the compiler.
_ROOMS = {
    name: room
    for room, names in {
        "core.errors": "LinkworkError",
        "geometry": "Inertia Pose",
        "model.parts": "Anchor Arc Box Capsule Cone Coupling Cylinder Element Ellipsoid "
        "Joint Loop Mesh Part Plane Polyline Spec Sphere Spline Spring Terrain",
        "model.scene": "Movement Scene",
        "model.world": "World compile_scene",
        "formats": "load load_movement load_part load_scene save",
        "project.document": "Document",
        "kinematics": "forward jacobian",
        "components.agents.control": "Control",
        "session.session": "Session",
        "session.recording": "Recording",
        "session.replay": "replay",
        "studio.client": "connect",
    }.items()
    for name in names.split()
}

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
    "Recording",
    "Scene",
    "Session",
    "Spec",
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
