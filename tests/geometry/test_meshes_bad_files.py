"""Damaged, inconsistent and hostile mesh files give a MeshError with file and location."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes import clear_mesh_cache, load_mesh, source
from mesh_files import binary_stl, box, collada, glb, gltf_document, text_stl, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clear_mesh_cache()
    return tmp_path


def with_document(change: dict) -> bytes:
    document, body = gltf_document(box())
    return glb(document | change, body)


def doubling(depth: int, inner: str) -> bytes:
    nodes = "".join(
        f'<node id="d{k}"><instance_node url="#d{k + 1}"/><instance_node url="#d{k + 1}"/></node>'
        for k in range(depth)
    )
    return collada(box(), nodes=nodes + f'<node id="d{depth}">{inner}</node>')


HUGE_COUNT = {"bufferView": 0, "componentType": 5126, "count": 2**33, "type": "VEC3"}
ZEROS = {"componentType": 5126, "count": 10**9, "type": "VEC3"}
BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<COLLADA>&b;</COLLADA>'
NAN_OBJ = b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"
BAD = {
    "missing.stl": (None, "there is no file"),
    "thing.ply": (b"ply", ".stl, .obj, .dae, .gltf, .glb"),
    "empty.obj": (b"", "empty"),
    "faceless.obj": (b"v 0 0 0\nv 1 0 0\n", "no triangles"),
    "shrunk.obj": (b"v 0 0 0\nf 1 1 1\n", "shrunk"),
    "short.stl": (b"\1" * 50, "50 bytes"),
    "lying.stl": (b"\0" * 80 + b"\xff" * 4 + b"\0" * 100, "announces 4294967295 triangles"),
    "cut.stl": (binary_stl(box(), b"cad")[:-10], "announces 12 triangles"),
    "none.stl": (b"\0" * 84, "no triangles"),
    "text_cut.stl": (text_stl(box())[:-40], "ends without 'endsolid'"),
    "text_vertex.stl": (text_stl(box()).replace(b"vertex", b"vertex x", 1), "stl:4: .*vertex x y"),
    "text_corners.stl": (text_stl(box()).replace(b"vertex", b"endloop", 1), "stl:8: .*2 corners"),
    "text_word.stl": (text_stl(box()).replace(b"outer", b"inner", 1), "stl:3: 'inner loop'"),
    "nan.obj": (NAN_OBJ, "vertex 2 has the coordinates .*nan"),
    "infinite.obj": (NAN_OBJ.replace(b"nan", b"1e999"), "inf"),
    "far.obj": (NAN_OBJ.replace(b"nan", b"1e30"), "far.obj: vertex 2"),
    "vertex.obj": (b"v 0 0 0\n\nv 1 0\n", "obj:3: 'v 1 0' is not a vertex"),
    "index.obj": (b"v 0 0 0\nf 1 2 9\n", "names the vertex 9, but there are 1"),
    "zero.obj": (b"v 0 0 0\nf 0 1 1\n", "obj:2: 'f 0 1 1'"),
    "backwards.obj": (b"v 0 0 0\nf -1 -1 -2\n", "obj:2:"),
    "word.obj": (b"v 0 0 0\nf a b c\n", "obj:2:"),
    "pair.obj": (b"v 0 0 0\nf 1 1\n", "three or more"),
    "cut.dae": (collada(box())[:-30], r"dae:1\d: it is not well-formed XML"),
    "encoding.dae": (collada(box()).replace(b"utf-8", b"utq-8"), "unknown encoding"),
    "bomb.dae": (BOMB, "DTD or XML entities"),
    "other.dae": (b"<robot/>", "<robot>, not <COLLADA>"),
    "unit.dae": (collada(box(), unit="-1"), "<unit> is '-1' meters"),
    "letters.dae": (collada(box()).replace(b"0.5", b"half"), "<float_array> holds"),
    "index.dae": (
        collada(box()).replace(b"<p>0 ", b"<p>8 "),
        "names the vertex 8,",
    ),
    "count.dae": (collada(box()).replace(b'count="8"', b'count="9"'), "announces 9 places"),
    "stride.dae": (collada(box()).replace(b'stride="3"', b'stride="x"'), "stride='x'"),
    "corner.dae": (collada(box()).replace(b"<p>0 ", b"<p>"), "whole corners of 2 numbers"),
    "reference.dae": (collada(box()).replace(b'id="g"', b'id="h"'), "refers to '#g'"),
    "skew.dae": (
        collada(box(), nodes="<node><skew>45 0 1 0 1 0 0</skew></node>"),
        "<skew>, which is not supported",
    ),
    "matrix.dae": (collada(box(), nodes="<node><matrix>1</matrix></node>"), "It needs 16"),
    "invisible.dae": (collada(box(), nodes="<node/>"), "no triangles"),
    "doubling.dae": (doubling(40, ""), "more than 100000 nodes"),
    "endless.dae": (doubling(1, '<instance_node url="#d0"/>'), "contains itself"),
    "cut.glb": (with_document({})[:-8], "announces"),
    "tiny.glb": (b"glTF\2\0\0\0", "8 bytes is cut off"),
    "old.glb": (b"glTF\1\0\0\0" + b"\0" * 20, "version 1"),
    "json.gltf": (b'{"asset": {"version": "2.0"}', "not valid glTF"),
    "version.gltf": (b'{"asset": {"version": "1.0"}}', "version '1.0'"),
    "deep.gltf": (b'{"asset": ' + b"[" * 100_000, "not valid glTF"),
    "type.glb": (with_document({"nodes": 5}), r"not valid glTF: Expected `array`.*nodes"),
    "draco.glb": (with_document({"extensionsRequired": ["KHR_draco"]}), "extension 'KHR_draco'"),
    "huge.glb": (with_document({"accessors": [HUGE_COUNT, HUGE_COUNT]}), "8589934592 entries"),
    "zeros.glb": (with_document({"accessors": [ZEROS, ZEROS]}), "1000000000 entries"),
    "views.glb": (with_document({"bufferViews": []}), "buffer view 0, but there are 0"),
    "loop.glb": (with_document({"nodes": [{"children": [0]}]}), "node 0 is placed twice"),
    "turn.glb": (with_document({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}), "rotation"),
    "matrix.glb": (with_document({"nodes": [{"mesh": 0, "matrix": [1]}]}), "1 numbers, not 16"),
    "bare.gltf": (b'{"asset": {"version": "2.0"}}', "no triangles"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_gives_an_error_that_names_it(folder: Path, name: str):
    """Each damaged file gives a MeshError with its path, the problem and its location."""
    data, message = BAD[name]
    path = folder / name if data is None else written(folder, name, data)
    with pytest.raises(MeshError, match=message) as caught:
        load_mesh(path)
    assert str(path) in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", ["lying.stl", "huge.glb", "zeros.glb"])
def test_lying_header_allocates_little(folder: Path, name: str):
    """A file that announces gigabytes is rejected before memory is allocated."""
    path = written(folder, name, BAD[name][0] or b"")
    tracemalloc.start()
    with pytest.raises(MeshError):
        load_mesh(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_instances_cannot_multiply_beyond_the_limit(folder: Path, monkeypatch):
    """Many placements of one large geometry stop at the triangle limit."""
    monkeypatch.setattr("linkwork.geometry.meshes.assembly.MAX_TRIANGLES", 1000)
    data = doubling(10, '<instance_geometry url="#g"/>')
    with pytest.raises(MeshError, match="more than 1000 triangles"):
        load_mesh(written(folder, "many.dae", data))


def test_only_plain_files_of_bounded_size_are_read(folder: Path, monkeypatch):
    """A folder, a pipe and a file over the size limit are rejected without reading."""
    (folder / "folder.stl").mkdir()
    os.mkfifo(folder / "pipe.stl")
    for name in ("folder.stl", "pipe.stl"):
        with pytest.raises(MeshError, match="is not a file"):
            load_mesh(folder / name)
    monkeypatch.setattr(source, "MAX_FILE_BYTES", 100)
    with pytest.raises(MeshError, match="684 bytes"):
        load_mesh(written(folder, "large.stl", binary_stl(box())))
    with pytest.raises(MeshError, match="cannot be read"):
        load_mesh(Path("nul\0.stl"))


@pytest.mark.parametrize("uri", ["../body.bin", "/etc/hosts", "http://x/y.bin", "gone.bin", ""])
def test_gltf_reads_no_file_outside_its_folder(folder: Path, uri: str):
    """Buffers that name another folder, another host or no file are rejected."""
    document, body = gltf_document(box())
    written(folder, "body.bin", body)
    below = folder / "below"
    below.mkdir()
    document["buffers"][0]["uri"] = uri
    with pytest.raises(MeshError, match=r"names the file|there is no file"):
        load_mesh(written(below, "outside.gltf", json.dumps(document).encode()))
