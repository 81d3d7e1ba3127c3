"""Triangle meshes: load (STL, OBJ, glTF, Collada), hull, inertia, simplification."""

from linkwork.meshes.load import (
    MESH_SUFFIXES,
    UpAxis,
    clear_mesh_cache,
    load_mesh,
    mesh_files,
    mesh_nodes,
    up_of,
)
from linkwork.meshes.mass import MassProperties, mass_properties
from linkwork.meshes.mesh import TriangleMesh
from linkwork.meshes.obj_write import write_obj
from linkwork.meshes.stl_write import write_stl

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
    "up_of",
    "write_obj",
    "write_stl",
]
