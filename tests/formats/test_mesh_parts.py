"""Mesh files as parts: elements with names, colors and masses, and notes on assumptions."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.core.errors import MeshError
from linkwork.formats import format_for
from linkwork.geometry.meshes import load_mesh, mesh_nodes
from linkwork.model.world import compile_scene
from mesh_files import bent, box, collada, glb, gltf_document, obj, samples, text_stl, written


def read(path: Path) -> tuple[lw.Part, list[str]]:
    return format_for(path).read_with_notes(path)  # type: ignore[attr-defined]


def robot_glb(folder: Path) -> Path:
    """Writes a base with an arm and, below an empty group, two fingers of one name; y is up."""
    document, body = gltf_document(box(0.5, 0.25, 1.0))
    document["materials"].append({"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}})
    primitive = document["meshes"][0]["primitives"][0] | {"material": 1}
    document["meshes"].append({"primitives": [primitive]})
    document["nodes"] = [
        {"name": "base plate", "mesh": 0, "children": [1]},
        {"name": "arm", "mesh": 1, "translation": [0, 2, 0], "children": [2]},
        {"name": "group", "translation": [0, 1, 0], "scale": [2, 2, 2], "children": [3, 4]},
        {"name": "finger", "mesh": 1, "translation": [1, 0, 0]},
        {"name": "finger", "mesh": 1, "translation": [-1, 0, 0], "rotation": [0, 1, 0, 0]},
    ]
    return written(folder, "robot.glb", glb(document, body))


@pytest.mark.capability(33)
def test_a_mesh_is_a_part_of_one_element(tmp_path: Path) -> None:
    """Each format gives the volume times the density of water, about the right center."""
    for name, data in samples(bent()).items():
        part, notes = read(written(tmp_path, name, data))
        (element,) = part.elements.values()
        assert element.name == part.name == Path(name).stem
        found = element.mass_properties()
        assert math.isclose(found.mass, 3000.0, rel_tol=1e-6)
        np.testing.assert_allclose(sorted(abs(found.com)), sorted([5 / 6, 5 / 6, 0.5]), atol=1e-6)
        assert any("1000 kg/m³" in note and "3000 kg" in note for note in notes)


def test_the_files_up_becomes_z(tmp_path: Path) -> None:
    """glTF's y and Collada's X_UP and Y_UP become z; STL and OBJ are unchanged."""
    tall = box(1.0, 3.0, 2.0)
    document, body = gltf_document(tall)
    heights = {
        "a.glb": (glb(document, body), 3.0),
        "a.stl": (text_stl(tall), 2.0),
        "a.obj": (obj(tall), 2.0),
        "z.dae": (collada(tall, up="Z_UP"), 2.0),
        "y.dae": (collada(tall, up="Y_UP"), 3.0),
        "x.dae": (collada(tall, up="X_UP"), 1.0),
    }
    for name, (data, height) in heights.items():
        part = lw.load_part(written(tmp_path, name, data))
        (shape,) = part.elements[Path(name).stem].shapes
        assert isinstance(shape, lw.Mesh)
        points = shape.triangles().vertices @ shape.at.matrix().T
        assert math.isclose(float(np.ptp(points[:, 2])), height, rel_tol=1e-6), name
        turned = load_mesh(tmp_path / name, up_axis="z").vertices
        np.testing.assert_allclose(np.sort(points, axis=0), np.sort(turned, axis=0), atol=1e-6)


def test_a_large_thing_is_told_and_not_scaled(tmp_path: Path) -> None:
    """An object of 120 m stays 120 m, with a note about millimeters."""
    part, notes = read(written(tmp_path, "bracket.stl", text_stl(box(120.0, 30.0, 40.0))))
    assert part.elements["bracket"].shapes[0].scale == (1.0, 1.0, 1.0)  # type: ignore[attr-defined]
    (note,) = [note for note in notes if "millimeters" in note]
    assert "120 m" in note
    assert "--unit mm" in note
    assert not any("mm" in n for n in read(written(tmp_path, "b.stl", text_stl(box())))[1])


def test_a_sheet_has_no_mass(tmp_path: Path) -> None:
    """A mesh without volume is an element without mass, with a note."""
    sheet = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    part, notes = read(written(tmp_path, "sheet.obj", sheet))
    assert part.elements["sheet"].mass_properties().mass == 0.0
    assert any("without volume" in note for note in notes)


@pytest.mark.capability(33)
def test_nodes_become_elements(tmp_path: Path) -> None:
    """Names, colors, parents and poses of a glTF file's nodes are kept, with z up."""
    part = lw.load_part(robot_glb(tmp_path))
    elements = part.elements
    assert [(e.name, e.on) for e in elements.values()] == [
        ("robot", ""), ("base_plate", "robot"), ("arm", "base_plate"), ("finger", "arm"),
        ("finger_2", "arm"),
    ]  # fmt: skip
    assert part.aliases == {"base plate": "base_plate", "~#4": "finger_2"}
    assert elements["base_plate"].color == "#597c9580"
    assert elements["arm"].color == "#ff0000"
    volume = 0.125
    np.testing.assert_allclose(
        [e.mass_properties().mass for e in elements.values()],
        np.array([0.0, 1.0, 1.0, 8.0, 8.0]) * volume * 1000.0,
        rtol=1e-6,
    )
    np.testing.assert_allclose(elements["arm"].at.xyz, (0.0, 0.0, 2.0), atol=1e-9)
    world = compile_scene(lw.Scene("s").place(part))
    assert world.nb <= 2  # a single body
    whole = load_mesh(tmp_path / "robot.glb", up_axis="z").bounds
    points = [
        (piece.pose.matrix() @ piece.shape.triangles().vertices.T).T + piece.pose.xyz  # type: ignore
        for piece in world.shapes
    ]
    stacked = np.concatenate(points)
    np.testing.assert_allclose([stacked.min(axis=0), stacked.max(axis=0)], whole, atol=1e-6)


def test_one_node_of_a_file_is_a_shape(tmp_path: Path) -> None:
    """A mesh shape with a node holds that node only; the error for an unknown one lists all."""
    path = robot_glb(tmp_path)
    keys = [node.key for node in mesh_nodes(path)]
    assert keys == ["base plate", "arm", "group", "#3", "#4"]
    whole = load_mesh(path).faces
    assert sum(len(load_mesh(path, node=key).faces) for key in keys if key != "group") == len(whole)
    np.testing.assert_allclose(load_mesh(path, node="#4").bounds.mean(axis=0), (-2, 3, 0))
    with pytest.raises(MeshError, match=r"no node 'arn'.*Did you mean 'arm'"):
        load_mesh(path, node="arn")
    with pytest.raises(MeshError, match="has no nodes"):
        load_mesh(written(tmp_path, "a.stl", text_stl(box())), node="arm")


def test_elements_of_a_file_survive_toml_and_urdf(tmp_path: Path) -> None:
    """TOML names file and node; for URDF the node's triangles are written to a file."""
    robot_glb(tmp_path)
    part = lw.load_part(tmp_path / "robot.glb")
    lw.save(part, tmp_path / "robot.toml")
    assert 'node = "#4"' in (tmp_path / "robot.toml").read_text()
    for suffix in ("toml", "urdf"):
        notes = lw.save(part, tmp_path / f"robot.{suffix}")
        back = lw.load_part(tmp_path / f"robot.{suffix}")
        ours, theirs = (compile_scene(lw.Scene("s").place(p, name="p")) for p in (part, back))
        np.testing.assert_allclose(theirs.mass.sum(), ours.mass.sum(), rtol=1e-6)
        assert len(theirs.shapes) == len(ours.shapes)
    assert any("node" in note for note in notes)


@pytest.mark.capability(33)
def test_convert_makes_a_part_of_a_mesh(tmp_path: Path) -> None:
    """``linkwork convert thing.stl thing.toml`` writes a part that names the mesh beside it."""
    written(tmp_path, "thing.stl", text_stl(box()))
    done = linkwork("convert", tmp_path / "thing.stl", tmp_path / "thing.toml")
    assert done.code == 0, done.err
    assert "1000 kg/m³" in done.out
    assert 'file = "thing.stl"' in (tmp_path / "thing.toml").read_text()
    assert lw.load_part(tmp_path / "thing.toml").elements["thing"].mass_properties().mass == 6000.0
