"""A mesh file is read once, and again after it or a file that it names has changed."""

import json
import os
import time
from pathlib import Path

import pytest

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes import TriangleMesh, clear_mesh_cache, gltf, load_mesh
from linkwork.geometry.meshes.mass import volume_moments
from mesh_files import binary_stl, box, glb, gltf_document, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clear_mesh_cache()
    return tmp_path


def volume(mesh: TriangleMesh) -> float:
    return volume_moments(mesh.triangles)[0]


def settled(path: Path, age: float = 10.0) -> Path:
    """Sets the file's time a few seconds back."""
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_loaded_mesh_is_kept_until_its_file_changes(folder: Path):
    """The same file gives the same object; a changed one is reread, a missing one reported."""
    path = settled(written(folder, "kept.stl", binary_stl(box())))
    first = load_mesh(path)
    assert load_mesh(path) is first
    assert load_mesh(path, up_axis="z") is not first
    settled(written(folder, "kept.stl", binary_stl(box(2, 2, 3))), age=5)
    assert volume(load_mesh(path)) == pytest.approx(12.0)
    path.unlink()
    with pytest.raises(MeshError, match="no file"):
        load_mesh(path)


def test_loaded_mesh_follows_the_files_that_it_names(folder: Path):
    """A changed buffer beside an unchanged glTF file is detected."""
    document, body = gltf_document(box())
    document["buffers"][0]["uri"] = "my%20body.bin"
    buffer = settled(written(folder, "my body.bin", body))
    path = settled(written(folder, "apart.gltf", json.dumps(document).encode()))
    assert volume(load_mesh(path)) == pytest.approx(6.0)
    assert load_mesh(path) is load_mesh(path)
    buffer.write_bytes(gltf_document(box(2, 2, 3))[1])
    assert volume(load_mesh(path)) == pytest.approx(12.0)


def test_fresh_file_is_not_trusted_to_stay(folder: Path):
    """Two contents of equal size and equal time, both just written, are distinguished."""
    path = written(folder, "fresh.stl", binary_stl(box()))
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    assert volume(load_mesh(path)) == pytest.approx(6.0)
    written(folder, "fresh.stl", binary_stl(box(2, 2, 3)))
    os.utime(path, ns=(now, now))
    assert volume(load_mesh(path)) == pytest.approx(12.0)


def test_old_meshes_leave_the_cache(folder: Path, monkeypatch):
    """The least recently used meshes are removed when the cache holds too many bytes."""
    paths = [settled(written(folder, f"{k}.stl", binary_stl(box()))) for k in range(3)]
    size = load_mesh(paths[0]).vertices.nbytes + load_mesh(paths[0]).faces.nbytes
    monkeypatch.setattr("linkwork.geometry.meshes.load._MAX_CACHED_BYTES", 2 * size)
    first, second = load_mesh(paths[0]), load_mesh(paths[1])
    load_mesh(paths[0])
    load_mesh(paths[2])
    assert load_mesh(paths[0]) is first
    assert load_mesh(paths[1]) is not second


def test_nodes_of_a_file_are_loaded_in_one_pass(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Fifty nodes requested one by one: the file is read once, each node has its pose."""
    document, body = gltf_document(box())
    del document["scenes"]
    document.pop("scene", None)
    document["meshes"].append({"primitives": [{"attributes": {}, "mode": 0}]})
    document["nodes"] = [{"name": f"n{k}", "mesh": 0, "translation": [k, 0, 0]} for k in range(50)]
    document["nodes"].append({"name": "points", "mesh": 1})
    path = settled(written(folder, "many.glb", glb(document, body)))
    passes = []
    opened = gltf._open
    monkeypatch.setattr(gltf, "_open", lambda source: passes.append(1) or opened(source))
    for turn in range(2):
        for k in range(50):
            middle = load_mesh(path, node=f"n{k}").bounds.mean(axis=0)
            assert middle[0] == pytest.approx(k)
        with pytest.raises(MeshError, match=r"many\.glb.*no triangles"):
            load_mesh(path, node="points")
        assert len(passes) == 1, turn
    with pytest.raises(MeshError, match="there is no node 'x'"):
        load_mesh(path, node="x")
