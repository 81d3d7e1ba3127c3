"""Triangle meshes: load (STL, OBJ, glTF, Collada), hull, inertia, simplification."""

from linkwork.geometry.meshes.load import (
    MESH_SUFFIXES,
    UpAxis,
    clear_mesh_cache,
    load_mesh,
    mesh_files,
    mesh_nodes,
    up_axis_of,
)
from linkwork.geometry.meshes.mass import MassProperties, mass_properties
from linkwork.geometry.meshes.mesh import TriangleMesh
from linkwork.geometry.meshes.obj import write_obj
from linkwork.geometry.meshes.stl import write_stl

__all__ = [
    "MESH_SUFFIXES",
    "MassProperties",
    "TriangleMesh",
    "UpAxis",
    "clear_mesh_cache",
    "load_mesh",
    "mass_properties",
    "mesh_files",
    "mesh_nodes",
    "up_axis_of",
    "write_obj",
    "write_stl",
]
