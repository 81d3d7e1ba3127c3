"""Mesh files: every format gives the same mesh, as Pinocchio's reader (assimp) sees it."""

import json
import os
import time
import tracemalloc
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

from linkwork.errors import MeshError
from linkwork.meshes import MESH_SUFFIXES, TriangleMesh, clear_mesh_cache, load_mesh, source
from linkwork.meshes.mass import volume_moments
from mesh_files import (
    ONE_NODE,
    bent,
    binary_stl,
    box,
    collada,
    glb,
    gltf,
    gltf_document,
    samples,
    text_stl,
    words,
    written,
)

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
)
ROBOT_MESHES = sorted(f for f in ROBOTS.rglob("*") if f.suffix.lower() in MESH_SUFFIXES)
L_OUTLINE = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)]


def volume(mesh: TriangleMesh) -> float:
    return volume_moments(mesh.triangles)[0]


def pinocchios(path: Path) -> tuple[np.ndarray, int]:
    """The vertices and the number of triangles that Pinocchio's mesh reader finds."""
    reader: Any = coal
    found = reader.MeshLoader().load(str(path), np.ones(3))
    return found.vertices(), found.num_tris


def sorted_rows(table: np.ndarray) -> np.ndarray:
    return np.unique(np.round(table, 5) + 0.0, axis=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clear_mesh_cache()
    return tmp_path


@pytest.mark.parametrize("name", samples(box()))
def test_every_format_gives_the_same_mesh(folder: Path, name: str):
    """A mesh comes back from each format with its corners, triangles and closed surface."""
    shape = bent()
    mesh = load_mesh(written(folder, name, samples(shape)[name]))
    assert_allclose(sorted_rows(mesh.vertices), sorted_rows(shape.vertices))
    assert len(mesh.vertices) == len(shape.vertices)
    assert len(mesh.faces) == len(shape.faces)
    assert mesh.is_watertight
    a, b, c = mesh.triangles.swapaxes(0, 1)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(3.0)


@pytest.mark.parametrize("path", ROBOT_MESHES[::20], ids=lambda path: path.name)
def test_robot_meshes_are_those_that_pinocchio_reads(path: Path):
    """The meshes of example-robot-data have the bounds and triangles that Pinocchio finds."""
    mesh = load_mesh(path)
    vertices, triangles = pinocchios(path)
    size = np.ptp(mesh.bounds, axis=0).max()
    assert_allclose(mesh.bounds, [vertices.min(axis=0), vertices.max(axis=0)], atol=1e-5 * size)
    assert len(mesh.faces) == triangles


def test_the_robots_have_meshes_of_three_formats():
    """The sample above is not empty and covers STL, OBJ and Collada."""
    assert len(ROBOT_MESHES) > 700
    assert {path.suffix.lower() for path in ROBOT_MESHES[::20]} == {".stl", ".obj", ".dae"}


NESTED = """<node id="a"><translate>1 2 3</translate><rotate>0 0 1 30</rotate><scale>1 2 3</scale>
<node id="b"><matrix>0 -1 0 5  1 0 0 6  0 0 1 7  0 0 0 1</matrix><rotate>0.6 0.8 0 -70</rotate>
<instance_geometry url="#g"/></node><instance_geometry url="#g"/></node>
<node id="c"><lookat>5 5 5  5 5 4  1 0 0</lookat><instance_geometry url="#g"/></node>"""


@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
def test_collada_nodes_place_as_in_pinocchio(folder: Path, up: str):
    """Nested transforms place each instance where Pinocchio does, and no up axis is applied."""
    path = written(folder, "nested.dae", collada(bent(), nodes=NESTED, up=up))
    vertices, triangles = pinocchios(path)
    mesh = load_mesh(path)
    assert_allclose(sorted_rows(mesh.vertices), sorted_rows(vertices), atol=2e-5)
    assert len(mesh.faces) == triangles == 3 * len(bent().faces)


def test_collada_unit_is_honoured(folder: Path):
    """A file in inches comes out in metres, as in rviz and Gazebo."""
    path = written(folder, "inch.dae", collada(box(), unit="0.0254"))
    assert_allclose(load_mesh(path).bounds, box().bounds * 0.0254)


@pytest.mark.parametrize(("up", "expected"), [("X_UP", 0), ("Y_UP", 1), ("Z_UP", 2)])
def test_up_axis_can_be_turned_to_z(folder: Path, up: str, expected: int):
    """With up_axis="z" what the file calls up points along z, and nothing is mirrored."""
    path = written(folder, "up.dae", collada(bent().scaled((1, 3, 5)), up=up))
    mesh = load_mesh(path, up_axis="z")
    assert mesh.bounds[1, 2] == pytest.approx(bent().scaled((1, 3, 5)).bounds[1, expected])
    a, b, c = mesh.triangles.swapaxes(0, 1)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(45.0)
    as_written = load_mesh(path)
    assert_allclose(as_written.bounds, bent().scaled((1, 3, 5)).bounds)


def test_gltf_is_y_up_only_when_asked(folder: Path):
    """glTF coordinates stay as written in a URDF; up_axis="z" turns y to z and z to -y."""
    path = written(folder, "up.glb", glb(*gltf_document(bent())))
    assert_allclose(load_mesh(path).bounds, bent().bounds)
    assert_allclose(load_mesh(path, up_axis="z").bounds, [[0, -1, 0], [2, 0, 2]], atol=1e-12)
    with pytest.raises(MeshError, match="as_written"):
        load_mesh(path, up_axis="y")  # pyright: ignore[reportArgumentType]


SURFACES = {
    "polylist": '<polylist count="2" material="m">{input}<vcount>6 6</vcount>'
    "<p>6 7 8 9 10 11 5 4 3 2 1 0</p></polylist>",
    "polygons": '<polygons count="2">{input}<p>6 7 8 9 10 11</p><p>5 4 3 2 1 0</p></polygons>',
    "trifans": '<trifans count="2">{input}<p>6 7 8 9 10 11</p><p>0 5 4 3 2 1</p></trifans>',
    "tristrips": '<tristrips count="2">{input}<p>6 7 11 8 10 9</p><p>0 5 1 4 2 3</p></tristrips>',
}


@pytest.mark.parametrize("kind", SURFACES)
def test_collada_surfaces_of_every_kind(folder: Path, kind: str):
    """Top and bottom of the L as polygons, fans or strips have its area, on the right sides."""
    surface = SURFACES[kind].format(input='<input semantic="VERTEX" source="#v" offset="0"/>')
    mesh = load_mesh(written(folder, "l.dae", collada(bent(), surface=surface)))
    a, b, c = mesh.triangles.swapaxes(0, 1)
    normals = np.cross(b - a, c - a) / 2
    assert len(normals) == 8
    if kind != "tristrips":  # a strip cannot follow the outline of an L
        assert normals[normals[:, 2] > 0, 2].sum() == pytest.approx(3.0)
        assert normals[normals[:, 2] < 0, 2].sum() == pytest.approx(-3.0)


def test_collada_strip_faces_one_way(folder: Path):
    """A strip around the sides of the L faces outwards: ∮ (x, y)·n dA is twice the volume."""
    surface = '<tristrips count="1"><input semantic="VERTEX" source="#v" offset="0"/>'
    surface += "<p>6 0 7 1 8 2 9 3 10 4 11 5 6 0</p></tristrips>"
    mesh = load_mesh(written(folder, "band.dae", collada(bent(), surface=surface)))
    a, b, c = mesh.triangles.swapaxes(0, 1)
    flux = (a + b + c) / 3 * np.cross(b - a, c - a) / 2
    assert len(mesh.faces) == 12
    assert flux[:, :2].sum() == pytest.approx(6.0)


def test_collada_instances_and_skins(folder: Path):
    """A node placed twice and a skinned geometry in its bind pose are all there."""
    library = (
        '<library_nodes><node id="part"><translate>0 0 10</translate>'
        '<instance_geometry url="#g"/></node></library_nodes>'
        '<library_controllers><controller id="skin"><skin source="#g"><bind_shape_matrix>'
        "1 0 0 0 0 1 0 0 0 0 1 50 0 0 0 1</bind_shape_matrix></skin></controller>"
        "</library_controllers><library_visual_scenes>"
    )
    nodes = (
        '<node id="n1"><translate>20 0 0</translate><instance_node url="#part"/></node>'
        '<node id="n2"><instance_node url="#part"/></node>'
        '<node id="n3"><instance_controller url="#skin"/></node>'
    )
    data = collada(box(), nodes=nodes).replace(b"<library_visual_scenes>", library.encode())
    mesh = load_mesh(written(folder, "parts.dae", data))
    assert len(mesh.faces) == 36
    assert_allclose(mesh.bounds, [[-0.5, -1, 8.5], [20.5, 1, 51.5]])


def test_collada_without_scene_gives_its_geometry(folder: Path):
    """A file that shows nothing but defines a geometry gives that geometry."""
    head, _, rest = collada(box()).partition(b"<library_visual_scenes>")
    data = head + rest[rest.index(b"</COLLADA>") :]
    assert_allclose(load_mesh(written(folder, "bare.dae", data)).bounds, box().bounds)


def test_mirroring_nodes_keep_the_outside_outside(folder: Path):
    """A mirrored instance, in Collada or glTF, is wound so that its faces look outwards."""
    nodes = ONE_NODE.replace('<node id="n">', '<node id="n"><scale>-1 1 1</scale>')
    document, body = gltf_document(bent())
    document["nodes"][0]["scale"] = [-1, 1, 1]
    for name, data in {
        "m.dae": collada(bent(), nodes=nodes),
        "m.glb": glb(document, body),
    }.items():
        mesh = load_mesh(written(folder, name, data))
        a, b, c = mesh.triangles.swapaxes(0, 1)
        assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(3.0)
        assert_allclose(mesh.bounds[:, 0], [-2, 0])


def test_gltf_nodes_place_as_in_trimesh(folder: Path):
    """Nested translation, rotation, scale and matrices place as trimesh's reader does."""
    document, body = gltf_document(bent())
    turn = [0.5, -0.1, 0.7, 0.3]
    document["nodes"] = [
        {"children": [1, 2], "translation": [1, 2, 3], "rotation": list(unit(turn))},
        {"mesh": 0, "scale": [1, 2, 3], "rotation": list(unit([0, 0.5, 0, 1]))},
        {"mesh": 0, "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]},
    ]
    path = written(folder, "nested.glb", glb(document, body))
    theirs: Any = trimesh.load_scene(path).to_mesh()
    mesh = load_mesh(path)
    assert len(mesh.faces) == 2 * len(bent().faces)
    assert_allclose(sorted_rows(mesh.vertices), sorted_rows(theirs.vertices), atol=2e-5)


def unit(values: list[float]) -> np.ndarray:
    return np.array(values) / np.linalg.norm(values)


def test_gltf_tables_of_every_kind(folder: Path):
    """Quantised, interleaved, sparse and index-free tables are read."""
    places = np.zeros(3, dtype=[("xyz", "<i2", 3), ("pad", "<u2")])
    places["xyz"] = [(0, 0, 0), (32767, 0, 0), (0, -32768, 0)]
    row, place = np.array([0], "<u1"), np.array([(0, 0, 32767)], "<i2")
    body = places.tobytes() + row.tobytes().ljust(4, b"\0") + place.tobytes().ljust(8, b"\0")
    accessor = {
        "bufferView": 0,
        "componentType": 5122,
        "normalized": True,
        "count": 3,
        "type": "VEC3",
        "sparse": {
            "count": 1,
            "indices": {"bufferView": 1, "componentType": 5121},
            "values": {"bufferView": 2},
        },
    }
    document = {
        "asset": {"version": "2.0"},
        "extensionsRequired": ["KHR_mesh_quantization"],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]}],
        "accessors": [accessor],
        "bufferViews": [
            {"buffer": 0, "byteLength": 24, "byteStride": 8},
            {"buffer": 0, "byteOffset": 24, "byteLength": 1},
            {"buffer": 0, "byteOffset": 28, "byteLength": 6},
        ],
    }
    mesh = load_mesh(written(folder, "packed.gltf", gltf(document, body)))
    assert_allclose(mesh.vertices, [(0, 0, 1), (1, 0, 0), (0, -1, 0)])


def test_colours_come_with_the_mesh(folder: Path):
    """Diffuse colours of Collada, MTL, glTF and Magics STL arrive; the largest area wins."""
    written(folder, "thing.mtl", b"newmtl blue\nKd 0 0 1\nnewmtl red\nKd 1 0 0\nd 0.25\n")
    for name, data in samples(box()).items():
        written(folder, name, data)
    header = b"COLOR=" + bytes([255, 0, 51, 255])
    magics = written(folder, "magics.stl", binary_stl(box(), header))
    assert load_mesh(folder / "thing.obj").color == (1, 0, 0, 0.25)
    assert load_mesh(folder / "thing.dae").color == (0.1, 0.2, 0.3, 1.0)
    assert load_mesh(folder / "thing.glb").color == (0.1, 0.2, 0.3, 0.5)
    assert load_mesh(magics).color == (1, 0, 0.2, 1)
    assert load_mesh(folder / "binary.stl").color is None
    two = b"mtllib thing.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 9 0\n"
    two += b"usemtl red\nf 1 2 3\nusemtl blue\nf 1 2 4\n"
    assert load_mesh(written(folder, "two.obj", two)).color == (0, 0, 1, 1)


def test_obj_polygons_continuations_and_negative_numbers(folder: Path):
    """A concave polygon written with negative numbers over two lines keeps its area."""
    lines = [f"v {words(corner)}" for corner in L_OUTLINE]
    data = "\r\n".join([*lines, "vn 0 0 1", "f -6//1 -5//1 -4//1 \\", " -3//1 -2//1 -1//1", ""])
    mesh = load_mesh(written(folder, "l.obj", data.encode()))
    a, b, c = mesh.triangles.swapaxes(0, 1)
    areas = np.cross(b - a, c - a)[:, 2] / 2
    assert len(areas) == 4
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(3.0)


def test_concave_polygons_are_filled_and_nothing_else(folder: Path):
    """Random star-shaped polygons in a tilted plane are cut without overlap."""
    rng = np.random.default_rng(3)
    for corners in range(5, 30):
        angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
        radius = rng.uniform(0.2, 1.0, corners)
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        lines = [f"v {words(place)}" for place in np.stack([x, y, x - 2 * y], axis=1)]
        lines.append("f " + " ".join(str(k + 1) for k in range(corners)))
        mesh = load_mesh(written(folder, f"star{corners}.obj", "\n".join(lines).encode()))
        a, b, c = mesh.triangles.swapaxes(0, 1)
        areas = np.cross(b - a, c - a)[:, 2] / 2
        outline = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2
        if np.diff(angle, append=angle[0] + 2 * np.pi).max() < np.pi:
            assert (areas > -1e-12).all()
        assert areas.sum() == pytest.approx(outline)


def test_equal_vertices_are_joined_and_empty_triangles_dropped(folder: Path):
    """STL corners at one place become one vertex, also where zero has two signs."""
    triangles = [((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, -0.0, 0), (0, 1, 0), (0, 1, 0))]
    triangles += [((-0.0, 0, 0), (0, 1, 0), (-1, 0, 0))]
    flat = np.array(triangles).reshape(-1, 3)
    text = "solid a\n"
    for k in range(0, 9, 3):
        text += "facet normal 0 0 1\nouter loop\n"
        text += "".join(f"vertex {words(place)}\n" for place in flat[k : k + 3])
        text += "endloop\nendfacet\n"
    mesh = load_mesh(written(folder, "two.stl", (text + "endsolid\n").encode()))
    assert (len(mesh.vertices), len(mesh.faces)) == (4, 2)


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
    "unit.dae": (collada(box(), unit="-1"), "<unit> is '-1' metres"),
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
    """Each damaged file gives a MeshError with its path, what was found and where."""
    data, message = BAD[name]
    path = folder / name if data is None else written(folder, name, data)
    with pytest.raises(MeshError, match=message) as caught:
        load_mesh(path)
    assert str(path) in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", ["lying.stl", "huge.glb", "zeros.glb"])
def test_lying_header_allocates_little(folder: Path, name: str):
    """A file that announces gigabytes is refused before the memory is asked for."""
    path = written(folder, name, BAD[name][0] or b"")
    tracemalloc.start()
    with pytest.raises(MeshError):
        load_mesh(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_instances_cannot_multiply_beyond_the_limit(folder: Path, monkeypatch):
    """Many placements of one large geometry stop at the triangle limit."""
    monkeypatch.setattr("linkwork.meshes.assembly.MAX_TRIANGLES", 1000)
    data = doubling(10, '<instance_geometry url="#g"/>')
    with pytest.raises(MeshError, match="more than 1000 triangles"):
        load_mesh(written(folder, "many.dae", data))


def test_only_plain_files_of_bounded_size_are_read(folder: Path, monkeypatch):
    """A folder, a pipe and a file over the size limit are refused without reading."""
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
    """Buffers that name another folder, another host or nothing are refused."""
    document, body = gltf_document(box())
    written(folder, "body.bin", body)
    below = folder / "below"
    below.mkdir()
    document["buffers"][0]["uri"] = uri
    with pytest.raises(MeshError, match=r"names the file|there is no file"):
        load_mesh(written(below, "outside.gltf", json.dumps(document).encode()))


def settled(path: Path, age: float = 10.0) -> Path:
    """The file as if it had been written some seconds ago."""
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_loaded_mesh_is_kept_until_its_file_changes(folder: Path):
    """The same file gives the same object; a changed one is read anew, a missing one missed."""
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
    """A changed buffer beside an unchanged glTF file is noticed."""
    document, body = gltf_document(box())
    document["buffers"][0]["uri"] = "my%20body.bin"
    buffer = settled(written(folder, "my body.bin", body))
    path = settled(written(folder, "apart.gltf", json.dumps(document).encode()))
    assert volume(load_mesh(path)) == pytest.approx(6.0)
    assert load_mesh(path) is load_mesh(path)
    buffer.write_bytes(gltf_document(box(2, 2, 3))[1])
    assert volume(load_mesh(path)) == pytest.approx(12.0)


def test_fresh_file_is_not_trusted_to_stay(folder: Path):
    """Two contents of equal size and equal time, both just written, are told apart."""
    path = written(folder, "fresh.stl", binary_stl(box()))
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    assert volume(load_mesh(path)) == pytest.approx(6.0)
    written(folder, "fresh.stl", binary_stl(box(2, 2, 3)))
    os.utime(path, ns=(now, now))
    assert volume(load_mesh(path)) == pytest.approx(12.0)


def test_old_meshes_leave_the_cache(folder: Path, monkeypatch):
    """The cache forgets what was used longest ago when it holds too many bytes."""
    paths = [settled(written(folder, f"{k}.stl", binary_stl(box()))) for k in range(3)]
    size = load_mesh(paths[0]).vertices.nbytes + load_mesh(paths[0]).faces.nbytes
    monkeypatch.setattr("linkwork.meshes.load._MAX_CACHED_BYTES", 2 * size)
    first, second = load_mesh(paths[0]), load_mesh(paths[1])
    load_mesh(paths[0])
    load_mesh(paths[2])
    assert load_mesh(paths[0]) is first
    assert load_mesh(paths[1]) is not second
