"""load_mesh: reads mesh files of all known formats, with a cache."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from linkwork.core.errors import MeshError, Origin
from linkwork.geometry.meshes.assembly import MeshAssembly
from linkwork.geometry.meshes.mesh import TriangleMesh
from linkwork.geometry.meshes.source import FileStamp, MeshSource

if TYPE_CHECKING:
    from linkwork.geometry.meshes.gltf import PlacedNode

T = TypeVar("T")

UpAxis = Literal["as_written", "z"]
"""Up axis of loaded meshes: that of the file, or z, to which the file's up axis is rotated."""

MESH_SUFFIXES = (".stl", ".obj", ".dae", ".gltf", ".glb", ".msh")
"""The file suffixes that can be loaded; upper case works too."""

_MAX_CACHED_BYTES = 512 * 2**20

_SETTLED_NS = 100_000_000
"""A file that changed more recently than this [ns] is not cached: file times are coarse, and
a second change to the same size would not be detected."""

_UP_ROTATIONS: dict[str, list[list[float]]] = {
    "X": [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]],
    "Y": [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
}
"""Rotations that bring a file's up axis to z. Collada: X_UP has right -y, Y_UP has right x."""

_Key = tuple[Path, UpAxis, str]
_Stamps = tuple[FileStamp, ...]
_cache: OrderedDict[_Key, tuple[_Stamps, TriangleMesh | MeshError]] = OrderedDict()
_cache_lock = threading.Lock()


def load_mesh(path: Path, *, up_axis: UpAxis = "as_written", node: str = "") -> TriangleMesh:
    """Loads a mesh file as one mesh in meters, with equal vertices joined.

    STL and OBJ have no units: their numbers are meters. Collada's ``<unit>`` is honored and its
    scene's node transforms are applied; so are glTF's. By default no up axis is applied, as rviz,
    Gazebo and Pinocchio read the files named in a URDF: Collada's ``<up_axis>`` and glTF's y-up
    rule change nothing. (Pinocchio ignores ``<unit>`` too, rviz and Gazebo do not.)

    The mesh is cached while the time and size of the file, and of each file it names, are
    unchanged.

    Args:
        path: The file; its suffix determines the format.
        up_axis: ``"z"`` rotates Collada and glTF meshes so that the file's up axis becomes z.
        node: Node of a glTF file whose own triangles are read, at its pose in the file's frame; all
            nodes if empty. ``#`` and its number for a name that is not unique.

    Raises:
        MeshError: The file is missing, of an unknown format, damaged, empty or too large.
    """
    path = Path(path)
    if up_axis not in get_args(UpAxis):
        raise MeshError(
            f"the up axis is {up_axis!r}.", hint=f"Choose one of {', '.join(get_args(UpAxis))}."
        )
    key = (path.absolute(), up_axis, node)
    with _cache_lock:
        known = _cache.get(key)
        if known is not None:
            stamps, mesh = known
            if all(FileStamp.of(stamp.path) == stamp for stamp in stamps):
                _cache.move_to_end(key)
                if isinstance(mesh, MeshError):
                    raise MeshError(mesh.message, origin=mesh.origin, hint=mesh.hint)
                return mesh
            del _cache[key]
    if node and _is_gltf(path) and _is_settled(FileStamp.of(path)):
        _keep_nodes(path, up_axis)
        with _cache_lock:
            _, mesh = _cache.get(key, ((), None))
        if isinstance(mesh, TriangleMesh):
            return mesh
    mesh, stamps = _load(path, up_axis, node)
    _store({key: mesh}, stamps)
    return mesh


def _keep_nodes(path: Path, up_axis: UpAxis) -> None:
    """Loads and caches all nodes of a glTF file in one pass, instead of one pass per node."""
    from linkwork.geometry.meshes.gltf import read_gltf_nodes

    made: dict[_Key, TriangleMesh | MeshError] = {}

    def read(source: MeshSource) -> _Stamps:
        with np.errstate(all="ignore"):
            turn = _up_matrix(1.0, "Y", up_axis)
            for node, assembly in read_gltf_nodes(source):
                try:
                    mesh = assembly.finish(turn)
                except MeshError as error:  # no triangles: the error is cached
                    error.at(Origin(str(path)))
                    mesh = error.with_traceback(None)  # it would keep the whole file in memory
                made[(path.absolute(), up_axis, node)] = mesh
        return tuple(source.stamps)

    try:
        stamps = _with_file_errors(path, read)
    except MeshError:
        return  # another node is damaged; each is read on its own
    _store(made, stamps)


def _store(made: Mapping[_Key, TriangleMesh | MeshError], stamps: _Stamps) -> None:
    """Caches loaded meshes, unless their files have just changed; drops the oldest ones."""
    if not all(map(_is_settled, stamps)):
        return
    with _cache_lock:
        for key, mesh in made.items():
            _cache[key] = (stamps, mesh)
        room = sum(_size(one) for _, one in _cache.values())
        while len(_cache) > 1 and room > _MAX_CACHED_BYTES:
            room -= _size(_cache.popitem(last=False)[1][1])


def _is_settled(stamp: FileStamp) -> bool:
    return time.time_ns() - stamp.changed_ns >= _SETTLED_NS


def _is_gltf(path: Path) -> bool:
    return path.suffix.lower() in (".gltf", ".glb")


def mesh_files(path: Path) -> list[Path]:
    """Returns the mesh file and each file that it names (buffers, materials) and that exists.

    Raises:
        MeshError: As :func:`load_mesh`.
    """
    path = Path(path)
    load_mesh(path)
    with _cache_lock:
        known = _cache.get((path.absolute(), "as_written", ""))
    stamps = known[0] if known is not None else _load(path, "as_written")[1]
    folder = stamps[0].path.parent
    return [path, *(path.parent / s.path.relative_to(folder) for s in stamps[1:] if s.size >= 0)]


def mesh_nodes(path: Path) -> list[PlacedNode]:
    """Returns the nodes of a glTF file, each after its parent.

    Raises:
        MeshError: If it is not a glTF file, or damaged.
    """
    from linkwork.geometry.meshes.gltf import gltf_nodes

    return _with_file_errors(Path(path), gltf_nodes)


def up_axis_of(path: Path) -> str:
    """Returns the up axis of a file, "X", "Y" or "Z" ("Z" if the format has none).

    Raises:
        MeshError: If it is a damaged Collada file.
    """
    path = Path(path)
    if _is_gltf(path):
        return "Y"
    if path.suffix.lower() != ".dae":
        return "Z"
    from linkwork.geometry.meshes.collada import read_collada

    up = _with_file_errors(path, lambda source: read_collada(source)[2])
    return up if up in _UP_ROTATIONS else "Z"


def clear_mesh_cache() -> None:
    """Removes all meshes from the cache."""
    with _cache_lock:
        _cache.clear()


def _load(
    path: Path, up_axis: UpAxis, node: str = ""
) -> tuple[TriangleMesh, tuple[FileStamp, ...]]:
    suffix = path.suffix.lower()
    if suffix not in MESH_SUFFIXES:
        raise MeshError(
            f"meshes with the suffix {path.suffix!r} cannot be loaded.",
            origin=Origin(str(path)),
            hint=f"Known are {', '.join(MESH_SUFFIXES)}.",
        )

    def read(source: MeshSource) -> tuple[TriangleMesh, tuple[FileStamp, ...]]:
        with np.errstate(all="ignore"):  # damaged files overflow; the vertices are checked
            assembly, turn = _read(source, suffix, up_axis, node)
            return assembly.finish(turn), tuple(source.stamps)

    return _with_file_errors(path, read)


def _with_file_errors(path: Path, read: Callable[[MeshSource], T]) -> T:
    """Returns the result of ``read`` on a file; every exception becomes a MeshError."""
    source = MeshSource.open(path)
    if not source.data:
        raise source.error("the file is empty.", hint="Export the mesh again.")
    try:
        return read(source)
    except MeshError as error:
        raise error.at(Origin(str(path))) from None
    except Exception as error:
        raise source.error(
            f"the file is damaged ({type(error).__name__}: {error}).",
            hint="Export the mesh again.",
        ) from None


def _read(
    source: MeshSource, suffix: str, up_axis: UpAxis, node: str
) -> tuple[MeshAssembly, NDArray[np.float64] | None]:
    """Returns the submeshes of a file and the matrix to meters and the requested up axis.

    Each reader is imported with its first file, which keeps the import of the package fast.
    """
    if node and suffix not in (".gltf", ".glb"):
        raise source.error(f"it has no nodes, but the node {node[:100]!r} is wanted.")
    if suffix == ".stl":
        from linkwork.geometry.meshes.stl import read_stl

        return read_stl(source), None
    if suffix == ".msh":
        from linkwork.geometry.meshes.stl import read_msh

        return read_msh(source), None
    if suffix == ".obj":
        from linkwork.geometry.meshes.obj import read_obj

        return read_obj(source), None
    if suffix == ".dae":
        from linkwork.geometry.meshes.collada import read_collada

        assembly, unit, up = read_collada(source)
    else:
        from linkwork.geometry.meshes.gltf import read_gltf

        assembly, unit, up = read_gltf(source, node), 1.0, "Y"
    return assembly, _up_matrix(unit, up, up_axis)


def _up_matrix(unit: float, up: str, up_axis: UpAxis) -> NDArray[np.float64] | None:
    """Returns the matrix to meters and the requested up axis; None for the identity."""
    turn = np.array(_UP_ROTATIONS[up]) if up_axis == "z" and up in _UP_ROTATIONS else np.eye(3)
    return None if unit == 1.0 and np.array_equal(turn, np.eye(3)) else unit * turn


def _size(mesh: TriangleMesh | MeshError) -> int:
    return mesh.vertices.nbytes + mesh.faces.nbytes if isinstance(mesh, TriangleMesh) else 0
