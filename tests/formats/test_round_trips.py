"""Round trips through formats with joints: bodies, joints, inertias and names are restored."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from export_fixture import (
    PLACE,
    coupled,
    four_bar,
    kit_things,
    part_named,
    placed,
    postures,
    stands,
    zoo,
)
from formats.test_humanoid_xml import EXCERPT
from formats.test_robotix import INDUSTRIAL
from linkwork.core.errors import LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Cone, Cylinder, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import World
from unsupported_fields import (
    assert_loops_come_back,
    assert_pieces_come_back,
    assert_told,
    comes_loose,
    plain,
    wordless,
    written_names,
    zeros,
)

#: Suffix of each format that holds one robot with its joints, and is read and written.
SUFFIXES = [".urdf", ".sdf", ".mjcf"]


def assert_same(one: World, other: World) -> None:
    """Both worlds have the same bodies and joints, and move alike."""
    extra = set(plain(other.element_names)) - set(plain(one.element_names))
    assert len(other.element_names) - len(extra) == len(one.element_names)
    assert sorted(plain(one.joint_names)) == sorted(plain(other.joint_names))
    assert len(one.body_names) == len(other.body_names)
    joints, bodies, dofs, coordinates = matched(one, other)
    assert [joint.type for joint in one.joints] == [other.joints[n].type for n in joints]
    for field in ("dof_lo", "dof_hi", "dof_effort", "damping", "friction"):
        a, b = getattr(one, field), getattr(other, field)[dofs]
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=field)
    # massless bodies have MuJoCo's minimum mass
    np.testing.assert_allclose(one.mass, other.mass[bodies], rtol=1e-9, atol=1.001e-9)
    for field in ("com", "inertia"):
        a, b = getattr(one, field), getattr(other, field)[bodies]
        np.testing.assert_allclose(a, b, atol=2e-9, err_msg=field)
    for q in postures(one):
        same = np.empty_like(q)
        same[coordinates] = q
        there = {k.replace("/", "_"): v for k, v in stands(other, same).items()}
        for name, matrix in stands(one, q).items():
            found = there[name.replace("/", "_")]
            np.testing.assert_allclose(found, matrix, atol=1e-9, err_msg=name)


def matched(one: World, other: World) -> tuple[list[int], list[int], list[int], list[int]]:
    """Where joints, bodies, degrees of freedom and coordinates of one world are in the other.

    Formats that nest bodies have other bodies' joints between those of a compound's parts.
    """
    names = plain(other.joint_names)
    joints = [names.index(name) for name in plain(one.joint_names)]
    bodies = list(range(len(one.body_names)))
    dofs, coordinates = [0] * one.nv, [0] * one.nq
    for mine, theirs in enumerate(joints):
        a, b = int(one.joint_body[mine]), int(other.joint_body[theirs])
        bodies[a], kind = b, one.joints[mine].kind
        for k in range(kind.nv):
            dofs[int(one.vadr[a]) + k] = int(other.vadr[b]) + k
        for k in range(kind.nq):
            coordinates[int(one.qadr[a]) + k] = int(other.qadr[b]) + k
    return joints, bodies, dofs, coordinates


def part_of(thing: Part | Scene) -> Part:
    """The part, or the only one of a scene that a model became."""
    if isinstance(thing, Part):
        return thing
    assert list(thing.parts) == [thing.name]
    return thing.parts[thing.name].part


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_comes_back(name: str, suffix: str, tmp_path: Path) -> None:
    """TOML → X → TOML keeps bodies, joints, inertias and names; a second pass changes nothing.

    Of parts with joints that X lacks it keeps all else, and the writer notes them.
    """
    part, out, own = part_named(name), tmp_path / f"out{suffix}", tmp_path / "own.toml"
    notes = lw.save(part, out)
    assert_told(part, notes, suffix)
    lw.save(lw.load(out), own)
    back = lw.load(own)
    assert back.name == part.name
    lw.save(back, out)
    again = part_of(lw.load(out))
    for found in (part_of(back), again):
        assert_pieces_come_back(part, found, suffix)
        if not wordless(part, suffix):
            assert_same(placed(part), placed(found))
    assert_same(placed(part_of(back)), placed(again))
    if suffix != ".urdf":
        assert_loops_come_back(part, part_of(back), notes, suffix)
    assert {*again.elements} == {*part_of(back).elements}
    if not comes_loose(part, suffix):
        assert list(again.elements) == list(part_of(back).elements)


def chain(count: int) -> Part:
    """Returns bars in series, each on a hinge."""
    bar = Cylinder(0.01, 0.1, at=Pose.of((0.0, 0.0, 0.05)))
    part = Part("chain").add(Element("bar0", (bar,), mass=0.1))
    for n in range(1, count):
        at = Pose.of((0.0, 0.0, 0.1), rpy=(0.0, 0.01, 0.02))
        part.add(
            Element(f"bar{n}", (bar,), mass=0.1),
            Joint(f"hinge{n}", "hinge", f"bar{n - 1}", f"bar{n}", at=at, axis=(0, 1, 0)),
        )
    return part


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_chain_of_150_bodies_comes_back(suffix: str, tmp_path: Path) -> None:
    """However deep bodies are nested or frames are chained."""
    part = chain(150)
    lw.save(part, tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").stat().st_size < 2_000 * 150  # indentation is limited
    assert_same(placed(part), placed(part_of(lw.load(tmp_path / f"out{suffix}"))))


@pytest.mark.parametrize("suffix", [".x3d", ".wrl", ".glb", ".sdf", ".urdf"])
def test_a_longer_chain_is_written(suffix: str, tmp_path: Path) -> None:
    """No function recurses for each body."""
    lw.save(chain(1500), tmp_path / f"out{suffix}")


def test_what_mujoco_would_not_read_is_not_written(tmp_path: Path) -> None:
    """MuJoCo's reader fails at a nesting of 500 elements."""
    with pytest.raises(LinkworkError, match="deeper than 499 elements"):
        lw.save(chain(600), tmp_path / "out.mjcf")
    assert not (tmp_path / "out.mjcf").exists()


#: Imported robots by format.
IMPORTED = {"robot.humanoid.xml": EXCERPT, "robot.cfg": INDUSTRIAL}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("file", IMPORTED)
def test_imported_parts_keep_their_names(file: str, suffix: str, tmp_path: Path) -> None:
    """Other formats have the names of bodies and joints, without the numbers of the first."""
    (tmp_path / file).write_text(IMPORTED[file])
    part = lw.load_part(tmp_path / file)
    lw.save(part, tmp_path / f"out{suffix}")
    back = part_of(lw.load(tmp_path / f"out{suffix}"))
    assert {*part.elements} <= {*back.elements}
    single = {name for name, joint in part.joints.items() if joint.kind.nv == 1}
    assert single <= {*back.joints}
    assert not any(part.aliases[alias] in back.aliases.values() for alias in part.aliases)


def test_joints_that_sdf_has_words_for_come_back(tmp_path: Path) -> None:
    """Balls, universals and screws keep their type; a free body stays free."""
    part = zoo("hinge", "slider", "ball", "universal", "screw", "fixed")
    assert lw.save(part, tmp_path / "zoo.sdf") == []
    back = lw.load_part(tmp_path / "zoo.sdf")
    assert_pieces_come_back(part, back, ".sdf")
    assert_same(placed(part), placed(back))
    assert back.joints["joint_screw"].pitch == 0.02


def test_a_loop_comes_back_from_sdf(tmp_path: Path) -> None:
    """A second joint to a link closes a loop between two anchors."""
    part = four_bar()
    assert lw.save(part, tmp_path / "bar.sdf") == []
    back = lw.load_part(tmp_path / "bar.sdf")
    assert_same(placed(part), placed(back))
    assert set(back.anchors) == {"end", "top"}
    loop = back.loops["closing"]
    assert (loop.joint, loop.a, loop.b) == ("hinge", "end", "top")
    np.testing.assert_allclose(loop.axis, (0.0, 1.0, 0.0), atol=1e-12)
    one, other = placed(part), placed(back)
    np.testing.assert_allclose(one.loop_pose[:, :, :3], other.loop_pose[:, :, :3], atol=1e-12)


def test_loops_at_one_place_have_anchors_of_their_own(tmp_path: Path) -> None:
    """Frames at a closing joint are its anchors, each for one loop; others are added."""
    part = four_bar()
    part.add(replace(part.anchors["end"], name="other"))
    part.close("other", "top", joint="ball", name="second")
    lw.save(part, tmp_path / "bar.sdf")
    text = (tmp_path / "bar.sdf").read_text()
    assert text.count("<frame ") == 3
    back = lw.load_part(tmp_path / "bar.sdf")
    ends = [end for loop in back.loops.values() for end in (loop.a, loop.b)]
    assert ends == ["end", "top", "other", "second_b"]
    lw.save(back, tmp_path / "again.sdf")
    assert {*lw.load_part(tmp_path / "again.sdf").anchors} == {*back.anchors}
    np.testing.assert_allclose(back.anchors["second_b"].at.xyz, part.anchors["top"].at.xyz)


@pytest.mark.parametrize("top", [0.0, 0.02, 0.3])
def test_a_cone_comes_back_from_mjcf(top: float, tmp_path: Path) -> None:
    """MuJoCo has a mesh of its vertices; read back it is the same cone at the same pose."""
    cone = Cone(0.1, 0.3, top, at=PLACE, color="#ff0000")
    part = lw.Part("hat").add(lw.Element("hat", (cone,), mass=0.5))
    lw.save(part, tmp_path / "hat.mjcf")
    back = lw.load_scene(tmp_path / "hat.mjcf")
    (again,) = (e for p in back.parts.values() for e in p.part.elements.values() if e.shapes)
    (found,) = again.shapes
    assert isinstance(found, Cone)
    assert (found.radius, found.length, found.top_radius) == (0.1, 0.3, top)
    np.testing.assert_allclose(found.at.xyz, cone.at.xyz, atol=1e-12)
    np.testing.assert_allclose(found.at.matrix(), cone.at.matrix(), atol=1e-12)
    a, b = part.elements["hat"].mass_properties(), again.mass_properties()
    np.testing.assert_allclose(b.matrix, a.matrix, atol=1e-9)


def test_a_coupling_comes_back_from_sdf(tmp_path: Path) -> None:
    """Ratio and offset are those of the mimic."""
    lw.save(coupled(), tmp_path / "two.sdf")
    (found,) = lw.load_part(tmp_path / "two.sdf").couplings
    assert (found.joint, found.of, found.ratio, found.offset) == ("follow", "lead", -0.5, 0.25)


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_comes_back_from_sdf(name: str, tmp_path: Path) -> None:
    """A world keeps parts, scenery, gravity and poses."""
    scene = lw.load_scene(name)
    notes = lw.save(scene, tmp_path / "out.world")
    back = lw.load_scene(tmp_path / "out.world")
    assert (back.name, back.gravity, back.step) == (scene.name, scene.gravity, scene.step)
    assert set(back.scenery) == set(scene.scenery)
    one, other = lw.compile_scene(scene), lw.compile_scene(back)
    here, there = one.q0, one.q0
    assert_told(scene, notes, ".sdf")
    if wordless(scene, ".sdf"):
        here, there = zeros(one), zeros(other)
    if not comes_loose(scene, ".sdf"):
        assert one.nv == other.nv
    q0 = {n.replace("/", "_"): m for n, m in stands(other, there, "").items()}
    for element, matrix in stands(one, here, "").items():
        found = [m for n, m in q0.items() if n.endswith(element.replace("/", "_"))]
        assert any(np.allclose(m, matrix, atol=1e-9) for m in found), element


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_comes_back_from_mjcf(name: str, tmp_path: Path) -> None:
    """A model keeps bodies, joints, masses, postures and names, under its own scope."""
    scene = lw.load_scene(name)
    assert_told(scene, lw.save(scene, tmp_path / "out.mjcf"), ".mjcf")
    lw.save(lw.load(tmp_path / "out.mjcf"), tmp_path / "own.toml")
    lw.save(lw.load(tmp_path / "own.toml"), tmp_path / "again.mjcf")
    one = lw.compile_scene(scene)
    for file in ("own.toml", "again.mjcf"):
        back = lw.load_scene(tmp_path / file)
        assert (back.name, back.gravity, back.step) == (scene.name, scene.gravity, scene.step)
        other = lw.compile_scene(back)
        assert set(scene.postures) <= set(back.postures)
        scope = f"{back.name}/"
        joints = set(plain(written_names(one, ".mjcf")))
        assert {n.removeprefix(scope) for n in other.joint_names} == joints
        elements = {n.removeprefix(scope) for n in other.element_names}
        assert elements - {"origin"} == set(plain(one.element_names))
        np.testing.assert_allclose(one.mass.sum(), other.mass.sum(), rtol=1e-9)
        q0 = other.postures.get(scene.start or "start", other.q0)
        there = {n.removeprefix(scope): m for n, m in stands(other, q0, "").items()}
        for element, matrix in stands(one, one.q0, "").items():
            np.testing.assert_allclose(there[element.replace("/", "_")], matrix, atol=1e-9)
