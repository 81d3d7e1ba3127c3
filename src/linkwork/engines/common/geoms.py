"""Shapes as MuJoCo geoms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco, read_mesh_file, reads_mesh_file
from linkwork.geometry.meshes import load_mesh
from linkwork.geometry.pose import Pose
from linkwork.model.parts import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Sphere,
    Terrain,
)
from linkwork.model.world.world import WorldShape

_CONE_CORNERS = 32
_FLOOR_THICKNESS = 0.02


class MeshAssets:
    """Mesh assets of a native model; geoms of the same file and scale share one."""

    def __init__(self) -> None:
        self._names: dict[tuple[Any, ...], str] = {}

    def add(self, spec: Any, shape: Mesh) -> str:
        """Returns the asset of a mesh, which is added if it is new."""
        own = shape.mujoco
        inertia, most = own.get("mesh_inertia", "legacy"), own.get("maxhullvert", -1)
        key = (shape.file, shape.node, shape.scale, inertia, most)
        if key not in self._names:
            name = self._names[key] = f"mesh#{len(self._names)}"
            triangles = load_mesh(Path(shape.file), node=shape.node)  # checks the file
            mesh = spec.add_mesh(name=name, scale=list(shape.scale), maxhullvert=most)
            mesh.inertia = getattr(mujoco.mjtMeshInertia, f"mjMESH_INERTIA_{inertia.upper()}")
            if not shape.node and reads_mesh_file(Path(shape.file)):
                read_mesh_file(mesh, Path(shape.file))
            else:
                mesh.uservert = triangles.vertices.astype(np.float32).ravel()
                mesh.userface = triangles.faces.astype(np.int32).ravel()
        return self._names[key]


def add_shape(
    spec: Any,
    body: Any,
    world_shape: WorldShape,
    name: str,
    *,
    pose: Pose | None = None,
    moving: bool = True,
    exact: bool = False,
    whole: MeshAssets | None = None,
    **attributes: Any,
) -> Any:
    """Adds one shape of a world as a geom.

    Args:
        spec: The MuJoCo model being built.
        body: The MuJoCo body that carries the geom.
        world_shape: The shape.
        name: Name of the geom.
        pose: Pose in the MuJoCo body's frame; the one in the world's body if absent.
        moving: Whether the body may move (MuJoCo has no moving planes: they become slabs).
        exact: Whether a mesh keeps all its triangles, for rays, instead of its convex hull.
        whole: Mesh assets of a native model, which MuJoCo prepares itself from the file's
            triangles; the hull is computed here if absent.
        attributes: Further attributes of the geom.
    """
    shape = world_shape.shape
    pose = pose or world_shape.pose
    size = [0.0, 0.0, 0.0]
    match shape:
        case Box():
            kind, size = mujoco.mjtGeom.mjGEOM_BOX, [c / 2.0 for c in shape.size]
        case Cylinder():
            kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.radius, shape.length / 2.0, 0.0]
        case Sphere():
            kind, size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.radius, 0.0, 0.0]
        case Ellipsoid():
            kind, size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, list(shape.radii)
        case Capsule():
            kind, size = mujoco.mjtGeom.mjGEOM_CAPSULE, [shape.radius, shape.length / 2.0, 0.0]
        case Plane():
            if moving:
                kind = mujoco.mjtGeom.mjGEOM_BOX
                size = [shape.size[0] / 2.0, shape.size[1] / 2.0, _FLOOR_THICKNESS / 2.0]
                pose = pose @ Pose((0.0, 0.0, -_FLOOR_THICKNESS / 2.0))
            else:
                kind = mujoco.mjtGeom.mjGEOM_PLANE
                size = [shape.size[0] / 2.0, shape.size[1] / 2.0, 1.0]
        case Terrain():
            kind = mujoco.mjtGeom.mjGEOM_HFIELD
            pose = pose @ Pose((0.0, 0.0, _add_terrain(spec, shape, name)))
            attributes["hfieldname"] = name
        case Mesh() if whole is not None:
            kind = mujoco.mjtGeom.mjGEOM_MESH
            attributes["meshname"] = whole.add(spec, shape)
        case Cone() | Mesh():
            kind = mujoco.mjtGeom.mjGEOM_MESH
            pose = pose @ Pose(_add_mesh(spec, shape, name, exact=exact))
            attributes["meshname"] = name
        case _:
            raise TypeError(f"no geom for {type(shape).__name__}")
    return body.add_geom(
        name=name, type=kind, size=size, pos=list(pose.xyz), quat=list(pose.quat), **attributes
    )


def _add_mesh(
    spec: Any, shape: Cone | Mesh, name: str, *, exact: bool = False
) -> tuple[float, float, float]:
    """Adds a shape or its convex hull as a centered mesh asset; returns its center."""
    faces = None
    if isinstance(shape, Cone):
        vertices = cone_vertices(shape)
    elif exact:
        triangles = shape.triangles()
        vertices, faces = triangles.vertices, triangles.faces
    else:
        vertices = shape.triangles().hull().vertices
    center = (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
    mesh = spec.add_mesh(name=name)
    mesh.uservert = (vertices - center).astype(np.float32).ravel()
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    if faces is not None:
        mesh.userface = np.asarray(faces, np.int32).ravel()
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # the mesh may be open
    return (float(center[0]), float(center[1]), float(center[2]))


def _add_terrain(spec: Any, shape: Terrain, name: str) -> float:
    """Adds the heights of a terrain as an asset; returns its vertical offset [m]."""
    heights = shape.grid()
    lowest = float(heights.min())
    top = float(heights.max()) - lowest
    field = spec.add_hfield(name=name, nrow=shape.rows, ncol=shape.columns)
    field.size = [shape.size[0] / 2.0, shape.size[1] / 2.0, top or 1.0, shape.depth]
    field.userdata = ((heights - lowest) / (top or 1.0)).astype(np.float32).ravel()
    return lowest


def cone_vertices(shape: Cone) -> np.ndarray:
    """Returns the corners of a polygonal cone (n×3) [m]."""
    angles = [2.0 * math.pi * k / _CONE_CORNERS for k in range(_CONE_CORNERS)]
    ring = np.array([(math.cos(a), math.sin(a), 0.0) for a in angles])
    low = ring * shape.radius + (0.0, 0.0, -shape.length / 2.0)
    if shape.top_radius > 0.0:
        high = ring * shape.top_radius + (0.0, 0.0, shape.length / 2.0)
    else:
        high = np.array([[0.0, 0.0, shape.length / 2.0]])
    return np.vstack([low, high])
