"""Mesh files: every format gives the same mesh, as Pinocchio's reader (assimp) does."""

from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

from linkwork.core.errors import MeshError
from linkwork.geometry.meshes import MESH_SUFFIXES, clear_mesh_cache, load_mesh
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
    words,
    written,
)

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
)
ROBOT_MESHES = sorted(f for f in ROBOTS.rglob("*") if f.suffix.lower() in MESH_SUFFIXES)
L_OUTLINE = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)]


def pinocchios(path: Path) -> tuple[np.ndarray, int]:
    """Returns the vertices and the number of triangles found by Pinocchio's mesh reader."""
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
    """A mesh read from each format has its vertices, triangles and closed surface."""
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
    """A file in inches comes out in meters, as in rviz and Gazebo."""
    path = written(folder, "inch.dae", collada(box(), unit="0.0254"))
    assert_allclose(load_mesh(path).bounds, box().bounds * 0.0254)


@pytest.mark.parametrize(("up", "expected"), [("X_UP", 0), ("Y_UP", 1), ("Z_UP", 2)])
def test_up_axis_can_be_turned_to_z(folder: Path, up: str, expected: int):
    """With up_axis="z" the file's up axis becomes z, without mirroring."""
    path = written(folder, "up.dae", collada(bent().scaled((1, 3, 5)), up=up))
    mesh = load_mesh(path, up_axis="z")
    assert mesh.bounds[1, 2] == pytest.approx(bent().scaled((1, 3, 5)).bounds[1, expected])
    a, b, c = mesh.triangles.swapaxes(0, 1)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(45.0)
    as_written = load_mesh(path)
    assert_allclose(as_written.bounds, bent().scaled((1, 3, 5)).bounds)


def test_gltf_is_y_up_only_when_asked(folder: Path):
    """glTF coordinates are unchanged by default; up_axis="z" maps y to z and z to -y."""
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
    """Top and bottom of the L as polygons, fans or strips have its area and orientation."""
    surface = SURFACES[kind].format(input='<input semantic="VERTEX" source="#v" offset="0"/>')
    mesh = load_mesh(written(folder, "l.dae", collada(bent(), surface=surface)))
    a, b, c = mesh.triangles.swapaxes(0, 1)
    normals = np.cross(b - a, c - a) / 2
    assert len(normals) == 8
    if kind != "tristrips":  # a strip cannot follow the outline of an L
        assert normals[normals[:, 2] > 0, 2].sum() == pytest.approx(3.0)
        assert normals[normals[:, 2] < 0, 2].sum() == pytest.approx(-3.0)


def test_collada_strip_faces_one_way(folder: Path):
    """A strip around the sides of the L faces outward: ∮ (x, y)·n dA is twice the volume."""
    surface = '<tristrips count="1"><input semantic="VERTEX" source="#v" offset="0"/>'
    surface += "<p>6 0 7 1 8 2 9 3 10 4 11 5 6 0</p></tristrips>"
    mesh = load_mesh(written(folder, "band.dae", collada(bent(), surface=surface)))
    a, b, c = mesh.triangles.swapaxes(0, 1)
    flux = (a + b + c) / 3 * np.cross(b - a, c - a) / 2
    assert len(mesh.faces) == 12
    assert flux[:, :2].sum() == pytest.approx(6.0)


def test_collada_instances_and_skins(folder: Path):
    """A node placed twice and a skinned geometry in its bind pose are all read."""
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
    """The geometry of a file without a scene is read."""
    head, _, rest = collada(box()).partition(b"<library_visual_scenes>")
    data = head + rest[rest.index(b"</COLLADA>") :]
    assert_allclose(load_mesh(written(folder, "bare.dae", data)).bounds, box().bounds)


def test_mirroring_nodes_keep_the_outside_outside(folder: Path):
    """The faces of a mirrored instance, in Collada or glTF, point outward."""
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
    positions = np.zeros(3, dtype=[("xyz", "<i2", 3), ("pad", "<u2")])
    positions["xyz"] = [(0, 0, 0), (32767, 0, 0), (0, -32768, 0)]
    row, place = np.array([0], "<u1"), np.array([(0, 0, 32767)], "<i2")
    body = positions.tobytes() + row.tobytes().ljust(4, b"\0") + place.tobytes().ljust(8, b"\0")
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


def test_colors_come_with_the_mesh(folder: Path):
    """Diffuse colors of Collada, MTL, glTF and Magics STL are read; the largest area wins."""
    written(folder, "thing.mtl", b"newmtl blue\nKd 0 0 1\nnewmtl red\nKd 1 0 0\nd 0.25\n")
    for name, data in samples(box()).items():
        written(folder, name, data)
    header = b"COLOR=" + bytes([255, 0, 51, 255])
    magics = written(folder, "magics.stl", binary_stl(box(), header))
    assert load_mesh(folder / "thing.obj").color == (1, 0, 0, 0.25)
    assert load_mesh(folder / "thing.dae").color == (0.1, 0.2, 0.3, 1.0)
    assert load_mesh(folder / "thing.glb").color == pytest.approx(
        (0.349, 0.485, 0.584, 0.5), abs=1e-3
    )
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
    """Random star-shaped polygons in a tilted plane are triangulated without overlap."""
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
    """STL corners at equal positions become one vertex, also for +0 and −0."""
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
