"""Archives: a scene with all its files as bytes, restored identically elsewhere."""

import math
import warnings
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork
from linkwork.core.errors import FormatError, LinkworkError, MeshError, Origin, SceneError
from linkwork.geometry import Inertia, Pose
from linkwork.geometry.meshes import load_mesh
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Loop,
    Mesh,
    Part,
    Plane,
    RailPiece,
    Spec,
    Sphere,
)
from linkwork.model.scene import CollisionRules, Light, Scene, Viewpoint
from linkwork.model.scene.archive import pack, unpack
from linkwork.model.world import compile_scene
from mesh_files import binary_stl, box, gltf_document, obj, written

HERE = Origin("robots/f.toml", 12)
PLACE = Pose.of((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))


def everything() -> Scene:
    """Returns a scene with one item of each kind, with no defaults."""
    inertia = Inertia.of(2.0, (0, 0.1, 0), np.diag([1.0, 1.5, 2.0]))
    arm = Part("arm", title="An arm", labels={"de": "Arm"}, origin=HERE).add(
        Element("a", (Box(size=(1, 2, 3), at=PLACE), Plane()), mass=1.0, origin=HERE),
        Element("b", (Cylinder(radius=1, length=2), Sphere(radius=1)), density=10.0, friction=0.1),
        Element("c", (Cone(radius=1, length=2), Capsule(radius=1, length=2)), inertia=inertia),
        Element("d", on="a", at=PLACE, color="#11223344", group="g", velocity=(1, 2, 3)),
        Joint("j", "universal", "a", "b", axis=(1, 0, 0), range=((-1.0, 1.0), None), at=PLACE,
              drive=Spec("actuator", "servo", params={"kp": 3.0}, origin=HERE), bus={"can_id": 4}),
        Joint("k", "rail", "b", "c", rail=(RailPiece(1.0, 0.5), RailPiece(2.0, climb=0.1))),
        Anchor("flange", "b", at=PLACE, fits="f50", turns=4, origin=HERE),
        Anchor("other", "c"),
        Coupling("k", "j.angle1", 2.0, 0.5, origin=HERE),
    )  # fmt: skip
    arm.aliases = {"old name": "a"}
    arm.sensors = [Spec("sensor", "encoder", "e", {"joint": "j"}, HERE)]
    arm.close("flange", "other", joint="hinge", axis=(1, 0, 0), origin=HERE)
    hand = Part("hand").add(Element("palm", mass=1.0), Anchor("mount", "palm", fits="f50"))
    arm.attach("flange", hand, turn=math.pi / 2, origin=HERE, source="kit/hand")
    scene = Scene("s", gravity=(0, 0, -1.6), step=0.001, seed=2**70, title="All", origin=HERE)
    scene.place(arm, at=PLACE, base="free", source="kit/arm", origin=HERE)
    scene.add(Element("floor", (Plane(size=(1.0, 2.0)),)))
    scene.postures, scene.start = {"up": {"arm/j.angle1": 1.0}}, "up"
    scene.loops["l"] = Loop("l", "arm/other", "arm/hand/mount")
    scene.couplings.append(Coupling("arm/k", "arm/j.angle2"))
    scene.engine("mujoco", iterations=5).agent("w", "wave", phases=[0.1, (1, 2)], deep={"~f": "x"})
    scene.actuator("m", "motor", table=np.arange(6.0).reshape(2, 3), codes=np.arange(3))
    scene.collide = CollisionRules((("arm", "floor"),), (("a", "b"),), joined=True)
    scene.lights, scene.viewpoints = [Light("sun", strength=2.0)], [Viewpoint("top", opening=1.0)]
    return scene


def same(one: Any, other: Any) -> bool:
    """Returns equality in type and value, including arrays and origins, which == ignores."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_a_scene_comes_back_the_same(tmp_path: Path) -> None:
    """Every value, type, order and origin is restored; packing again gives the same bytes."""
    scene = everything()
    data = pack(scene)
    again = unpack(data, tmp_path)
    assert same(again, scene)
    assert not list(tmp_path.iterdir())
    assert pack(again) == data
    assert not same(again, everything().add(Element("more")))


def test_kit_scenes_come_back_and_compile_to_the_same_world(tmp_path: Path) -> None:
    """Including their control programs."""
    for name in ("tripod/level", "gripper/follow"):
        scene = linkwork.load_scene(name)
        again = unpack(pack(scene), tmp_path)
        one, two = compile_scene(scene), compile_scene(again)
        assert two.body_names == one.body_names
        for mine, theirs in zip(one.tree, two.tree, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        programs = [s.params["file"] for s in again.agents if "file" in s.params]
        originals = [s.params["file"] for s in scene.agents if "file" in s.params]
        assert programs
        for program, original in zip(programs, originals, strict=True):
            assert Path(program).is_relative_to(tmp_path)
            assert Path(program).name == Path(original).name
            assert Path(program).read_bytes() == Path(original).read_bytes()


def meshed(*files: Path, **words: Any) -> Scene:
    shapes = tuple(Mesh(file=str(file), **words) for file in files)
    return Scene("s").place(Part("p").add(Element("e", shapes, mass=1.0)))


def meshes_of(scene: Scene) -> list[Mesh]:
    element = scene.parts["p"].part.elements["e"]
    return [shape for shape in element.shapes if isinstance(shape, Mesh)]


def test_meshes_and_textures_come_along(tmp_path: Path) -> None:
    """Two files of one name stay two; one file used twice is stored once."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = written(tmp_path / "one", "part.stl", binary_stl(box(1.0, 1.0, 1.0)))
    second = written(tmp_path / "two", "part.stl", binary_stl(box(2.0, 2.0, 2.0)))
    image = written(tmp_path, "wood.png", b"not looked at")
    scene = meshed(first, second, first, texture=str(image), scale=(1, 2, 3))
    here = tmp_path / "here"
    data = pack(scene)
    for file in (first, second, image):
        file.unlink()
    found = meshes_of(unpack(data, here))
    assert [round(mesh.volume()) for mesh in found] == [6, 48, 6]
    assert found[0].file == found[2].file != found[1].file
    assert {Path(m.texture).read_bytes() for m in found} == {b"not looked at"}
    assert all(Path(m.file).is_relative_to(here) for m in found)
    assert len([p for p in here.rglob("*") if p.is_file()]) == 3


def test_files_that_a_mesh_names_come_along(tmp_path: Path) -> None:
    """glTF's buffers and OBJ's materials are stored beside it, under the names it uses."""
    document, body = gltf_document(box())
    document["buffers"][0]["uri"] = "raw/my%20box.bin"
    (tmp_path / "raw").mkdir()
    written(tmp_path / "raw", "my box.bin", body)
    model = written(tmp_path, "box.gltf", msgspec.json.encode(document))
    colored = b"mtllib paint.mtl\nusemtl red\n" + obj(box())
    painted = written(tmp_path, "box.obj", colored)
    written(tmp_path, "paint.mtl", b"newmtl red\nKd 1 0 0\n")
    here = tmp_path / "here"
    found = meshes_of(unpack(pack(meshed(model, painted)), here))
    for mesh, original in zip(found, (model, painted), strict=True):
        assert Path(mesh.file).is_relative_to(here)
        loaded, expected = load_mesh(Path(mesh.file)), load_mesh(original)
        np.testing.assert_array_equal(loaded.vertices, expected.vertices)
        assert loaded.color == expected.color
    assert load_mesh(Path(found[1].file)).color == (1.0, 0.0, 0.0, 1.0)


def test_odd_file_names_come_along(tmp_path: Path) -> None:
    """A plain character on one system may be a path separator on another."""
    file = written(tmp_path, ".a\\b:c é.stl", binary_stl(box(1.0, 1.0, 1.0)))
    found = meshes_of(unpack(pack(meshed(file)), tmp_path / "here"))
    assert found[0].volume() == pytest.approx(1.0)


def test_a_program_is_found_beside_the_file_that_names_it(tmp_path: Path) -> None:
    """A relative path is relative to the scene's file."""
    written(tmp_path, "control.py", b"class Control: ...\n")
    scene = Scene("s")
    origin = Origin(str(tmp_path / "scene.toml"), 3)
    scene.agents.append(Spec("agent", "program", "p", {"file": "control.py"}, origin))
    again = unpack(pack(scene), tmp_path / "here")
    assert Path(again.agents[0].params["file"]).read_bytes() == b"class Control: ...\n"
    scene.agents[0].params["file"] = "gone.py"
    with pytest.raises(SceneError, match=r"scene.toml:3: file '.*gone.py' cannot be read: No such"):
        pack(scene)


def test_a_mesh_that_is_gone_is_named(tmp_path: Path) -> None:
    """A missing file is an error that names it."""
    with pytest.raises(SceneError, match=r"gone\.stl' cannot be read: No such file"):
        pack(meshed(tmp_path / "gone.stl"))
    with pytest.raises(MeshError, match=r"gone\.obj"):
        pack(meshed(tmp_path / "gone.obj"))


def archive(**changes: Any) -> bytes:
    content = msgspec.msgpack.decode(pack(Scene("s")))
    return msgspec.msgpack.encode(content | changes)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a scene archive"),
        (b"format = 1", "not a scene archive"),
        (msgspec.msgpack.encode([1, 2]), "not a scene archive"),
        (msgspec.msgpack.encode({}), "not a scene archive"),
        (archive(format="linkwork/archive 9"), "form 'linkwork/archive 9' cannot be read"),
        (archive(scene={"~": "Pose", "xyz": {"~t": [0.0, 0.0, 0.0]}}), "holds no scene"),
        (archive(scene={"~": "Popen"}), "unknown 'Popen'"),
        (archive(scene={"~": "Scene"}), "not a scene archive"),
        (archive(scene={"~f": "/etc/passwd"}), "not a scene archive"),
        (archive(scene={"~a": b"12345678", "shape": [9], "type": "<f8"}), "not a scene archive"),
        (archive(scene={"~a": b"12345678", "shape": [1], "type": "O"}), "array of objects"),
        (archive(files={"../up": b""}), r"a file named '\.\./up'"),
        (archive(files={"/etc/up": b""}), "a file named"),
        (archive(files={"a/../../b": b""}), "a file named"),
        (archive(files={"a": 5}), "not a scene archive"),
        (archive(files={"a": b"", "a/b": b""}), "cannot be unpacked"),
    ],
)
def test_what_is_no_archive_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    """No path leaves the folder, no other object is built, and no traceback is shown."""
    with pytest.raises(FormatError, match=words):
        unpack(data, tmp_path)
    assert not (tmp_path.parent / "up").exists()


def test_an_archive_of_endless_depth_is_refused(tmp_path: Path) -> None:
    """Excessive nesting gives an ordinary error."""
    with pytest.raises(FormatError, match="not a scene archive"):
        unpack(b"\x81\xa5scene" + b"\x91" * 100_000, tmp_path)


@given(st.data())
def test_damaged_archives_are_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """A changed or missing byte gives a scene or a LinkworkError, never another exception."""
    whole = bytearray(pack(everything()))
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        whole[at] = data.draw(st.integers(0, 255))
    else:
        del whole[at]
    with suppress(LinkworkError):
        assert isinstance(unpack(bytes(whole), tmp_path_factory.mktemp("damaged")), Scene)


def test_an_archive_of_an_earlier_version_opens_with_the_current_names(tmp_path: Path) -> None:
    """Renamed keys, values and classes of older recordings are translated."""
    scene = Scene("old").engine("impulse", max_iterations=7, prediction_tolerance=0.25)
    scene.bus("line", "loop", lockstep=True, turn_timeout=2.0, on_loss="torque_off")
    scene.agent("control", "program", source="", call_timeout=3.0)
    old = pack(scene)
    for new, former in (
        ("max_iterations", "most"),
        ("prediction_tolerance", "foretold"),
        ("turn_timeout", "patience"),
        ("call_timeout", "patience"),
        ("torque_off", "limp"),
        ("CollisionRules", "Collide"),
    ):
        old = _replace_text(old, new, former)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = unpack(old, tmp_path, notes := [])
    assert notes == [
        "engine 'impulse': 'most' is now called 'max_iterations'.",
        "engine 'impulse': 'foretold' is now called 'prediction_tolerance'.",
        "agent 'control': 'patience' is now called 'call_timeout'.",
        "bus 'line': 'patience' is now called 'turn_timeout'.",
        'bus \'line\': on_loss = "limp" is now called "torque_off".',
    ]
    assert back.engines[0].params == {"max_iterations": 7, "prediction_tolerance": 0.25}
    assert back.buses[0].params["turn_timeout"] == 2.0
    assert back.buses[0].params["on_loss"] == "torque_off"
    assert back.agents[0].params["call_timeout"] == 3.0
    assert back.collide == scene.collide


def _replace_text(data: bytes, old: str, new: str) -> bytes:
    """Returns the archive with every key and value ``old`` replaced by ``new``."""

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {replaced(k): replaced(v) for k, v in value.items()}
        if isinstance(value, list):
            return [replaced(v) for v in value]
        return new if value == old else value

    return msgspec.msgpack.encode(replaced(msgspec.msgpack.decode(data)))
