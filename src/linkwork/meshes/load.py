"""load_mesh: reads a mesh file of any known format, once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import MeshError, Origin
from linkwork.meshes.assembly import Assembly
from linkwork.meshes.mesh import TriangleMesh
from linkwork.meshes.source import FileStamp, MeshSource

if TYPE_CHECKING:
    from linkwork.meshes.gltf import PlacedNode

T = TypeVar("T")

UpAxis = Literal["as_written", "z"]
"""Whether coordinates stay as the file writes them or are turned until the file's up is z."""

MESH_SUFFIXES = (".stl", ".obj", ".dae", ".gltf", ".glb")
"""The file suffixes that can be loaded; upper case works too."""

_MAX_CACHED_BYTES = 512 * 2**20

_SETTLED_NS = 100_000_000
"""A file that changed less than this before [ns] is not kept: file times are coarse, and a
second change to the same size would go unseen."""

_TURNS: dict[str, list[list[float]]] = {
    "X": [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]],
    "Y": [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
}
"""Rotations that bring a file's up axis to z. Collada: X_UP has right -y, Y_UP has right x."""

_Key = tuple[Path, UpAxis, str]
_Stamps = tuple[FileStamp, ...]
_cache: OrderedDict[_Key, tuple[_Stamps, TriangleMesh | MeshError]] = OrderedDict()
_cache_lock = threading.Lock()


def load_mesh(path: Path, *, up_axis: UpAxis = "as_written", node: str = "") -> TriangleMesh:
    """Loads a mesh file as one mesh in metres, with equal vertices joined.

    STL and OBJ have no units: their numbers are metres. Collada's ``<unit>`` is honoured and its
    scene's node transforms are applied; so are glTF's. By default no up axis is applied, which
    is how files named in a URDF are read everywhere (rviz, Gazebo, Pinocchio): Collada's
    ``<up_axis>`` and glTF's y-up rule change nothing. (Pinocchio ignores ``<unit>`` too, rviz
    and Gazebo do not.)

    The mesh is kept and returned again while the file, and each file it names, keeps its time
    and size.

    Args:
        path: The file; its suffix says the format.
        up_axis: ``"z"`` turns Collada and glTF meshes so that the file's up becomes z.
        node: Of a glTF file, the node whose own triangles are wanted, where it stands in the
            file's frame; all if empty. A name that is not unique is said as ``#`` and its number.

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
    if node and _is_gltf(path) and _settled(FileStamp.of(path)):
        _keep_nodes(path, up_axis)
        with _cache_lock:
            _, mesh = _cache.get(key, ((), None))
        if isinstance(mesh, TriangleMesh):
            return mesh
    mesh, stamps = _load(path, up_axis, node)
    _keep({key: mesh}, stamps)
    return mesh


def _keep_nodes(path: Path, up_axis: UpAxis) -> None:
    """Loads all nodes of a glTF file in one pass: asked for one by one, each would be another."""
    from linkwork.meshes.gltf import read_gltf_nodes

    made: dict[_Key, TriangleMesh | MeshError] = {}

    def read(source: MeshSource) -> _Stamps:
        with np.errstate(all="ignore"):
            turn = _turn(1.0, "Y", up_axis)
            for node, assembly in read_gltf_nodes(source):
                try:
                    mesh = assembly.finish(turn)
                except MeshError as error:  # no triangles: known next time
                    error.at(Origin(str(path)))
                    mesh = error.with_traceback(None)  # which would hold the whole file
                made[(path.absolute(), up_axis, node)] = mesh
        return tuple(source.stamps)

    try:
        stamps = _guarded(path, read)
    except MeshError:
        return  # another node is damaged; each is read on its own
    _keep(made, stamps)


def _keep(made: Mapping[_Key, TriangleMesh | MeshError], stamps: _Stamps) -> None:
    """Keeps what was loaded, unless its files have just changed; lets go of the oldest."""
    if not all(map(_settled, stamps)):
        return
    with _cache_lock:
        for key, mesh in made.items():
            _cache[key] = (stamps, mesh)
        room = sum(_size(one) for _, one in _cache.values())
        while len(_cache) > 1 and room > _MAX_CACHED_BYTES:
            room -= _size(_cache.popitem(last=False)[1][1])


def _settled(stamp: FileStamp) -> bool:
    return time.time_ns() - stamp.changed_ns >= _SETTLED_NS


def _is_gltf(path: Path) -> bool:
    return path.suffix.lower() in (".gltf", ".glb")


def mesh_files(path: Path) -> list[Path]:
    """The mesh file and each file that it names (buffers, materials) and that exists.

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
    """The nodes of a glTF file, each after the one above it.

    Raises:
        MeshError: If it is no glTF file, or damaged.
    """
    from linkwork.meshes.gltf import gltf_nodes

    return _guarded(Path(path), gltf_nodes)


def up_of(path: Path) -> str:
    """Which way is up in a file: "X", "Y" or "Z" ("Z" also where the format does not say).

    Raises:
        MeshError: If it is a damaged Collada file.
    """
    path = Path(path)
    if _is_gltf(path):
        return "Y"
    if path.suffix.lower() != ".dae":
        return "Z"
    from linkwork.meshes.collada import read_collada

    up = _guarded(path, lambda source: read_collada(source)[2])
    return up if up in _TURNS else "Z"


def clear_mesh_cache() -> None:
    """Forgets all loaded meshes."""
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

    return _guarded(path, read)


def _guarded(path: Path, read: Callable[[MeshSource], T]) -> T:
    """What ``read`` makes of a file; no reader's failure reaches the user as a traceback."""
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
) -> tuple[Assembly, NDArray[np.float64] | None]:
    """The pieces of a file and the matrix to metres and the wanted up axis.

    Each reader is imported when its first file comes, which keeps the room quick to import.
    """
    if node and suffix not in (".gltf", ".glb"):
        raise source.error(f"it has no nodes, but the node {node[:100]!r} is wanted.")
    if suffix == ".stl":
        from linkwork.meshes.stl import read_stl

        return read_stl(source), None
    if suffix == ".obj":
        from linkwork.meshes.obj import read_obj

        return read_obj(source), None
    if suffix == ".dae":
        from linkwork.meshes.collada import read_collada

        assembly, unit, up = read_collada(source)
    else:
        from linkwork.meshes.gltf import read_gltf

        assembly, unit, up = read_gltf(source, node), 1.0, "Y"
    return assembly, _turn(unit, up, up_axis)


def _turn(unit: float, up: str, up_axis: UpAxis) -> NDArray[np.float64] | None:
    """The matrix to metres and the wanted up axis; None where it changes nothing."""
    turn = np.array(_TURNS[up]) if up_axis == "z" and up in _TURNS else np.eye(3)
    return None if unit == 1.0 and np.array_equal(turn, np.eye(3)) else unit * turn


def _size(mesh: TriangleMesh | MeshError) -> int:
    return mesh.vertices.nbytes + mesh.faces.nbytes if isinstance(mesh, TriangleMesh) else 0
