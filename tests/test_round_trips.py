"""What goes out to a format that has joints comes back: bodies, joints, inertias and names."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from export_rig import coupled, four_bar, kit_things, part_named, placed, postures, stands, zoo
from linkwork.parts import Part
from linkwork.scene import Scene
from linkwork.world import World
from test_humanoid_xml import EXCERPT
from test_robotix import INDUSTRIAL

#: Suffix of each format that holds one robot with its joints, and is read and written.
SUFFIXES = [".urdf", ".sdf", ".mjcf"]


def plain(names: list[str]) -> list[str]:
    """Names as flat files have them."""
    return [name.replace("/", "_") for name in names]


def assert_same(one: World, other: World) -> None:
    """Both worlds have the same bodies and joints, and move alike."""
    extra = set(plain(other.element_names)) - set(plain(one.element_names))
    assert len(other.element_names) - len(extra) == len(one.element_names)
    # flat formats have a link without mass or shape between two chained joints
    assert all(not other.mass[other.body_names.index(n.replace("_", "/", 1))] for n in extra)
    assert plain(one.joint_names) == plain(other.joint_names)
    assert len(one.body_names) == len(other.body_names)
    assert [joint.type for joint in one.joints] == [joint.type for joint in other.joints]
    for field in ("dof_lo", "dof_hi", "dof_effort", "damping", "friction", "mass"):
        a, b = getattr(one, field), getattr(other, field)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=field)
    for field in ("com", "inertia"):
        a, b = getattr(one, field), getattr(other, field)
        np.testing.assert_allclose(a, b, atol=2e-9, err_msg=field)
    for q in postures(one):
        there = {k.replace("/", "_"): v for k, v in stands(other, q).items()}
        for name, matrix in stands(one, q).items():
            found = there[name.replace("/", "_")]
            np.testing.assert_allclose(found, matrix, atol=1e-9, err_msg=name)


def part_of(thing: Part | Scene) -> Part:
    """The part, or the only one of a scene that a model became."""
    if isinstance(thing, Part):
        return thing
    assert list(thing.parts) == [thing.name]
    return thing.parts[thing.name].part


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_comes_back(name: str, suffix: str, tmp_path: Path) -> None:
    """TOML → X → TOML keeps bodies, joints, inertias and names; the second time nothing changes."""
    part, out, own = part_named(name), tmp_path / f"out{suffix}", tmp_path / "own.toml"
    lw.save(part, out)
    lw.save(lw.load(out), own)
    back = lw.load(own)
    assert back.name == part.name
    assert_same(placed(part), placed(part_of(back)))
    lw.save(back, out)
    again = part_of(lw.load(out))
    assert_same(placed(part), placed(again))
    assert list(again.elements) == list(part_of(back).elements)


#: Imported robots, in the words of their formats.
IMPORTED = {"robot.humanoid.xml": EXCERPT, "robot.cfg": INDUSTRIAL}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("file", IMPORTED)
def test_imported_parts_keep_their_names(file: str, suffix: str, tmp_path: Path) -> None:
    """Other formats have the names of bodies and joints, and none of the numbers of the first."""
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
    assert_same(placed(part), placed(back))
    assert back.joints["joint_screw"].pitch == 0.02


def test_a_loop_comes_back_from_sdf(tmp_path: Path) -> None:
    """A joint to a link that has one already closes a loop between two anchors."""
    part = four_bar()
    assert lw.save(part, tmp_path / "bar.sdf") == []
    back = lw.load_part(tmp_path / "bar.sdf")
    assert_same(placed(part), placed(back))
    assert {"end", "top"} < set(back.anchors)
    loop = back.loops["closing"]
    assert (loop.joint, back.anchors[loop.a].on, back.anchors[loop.b].on) == (
        "hinge", "coupler", "rocker",
    )  # fmt: skip
    np.testing.assert_allclose(loop.axis, (0.0, 1.0, 0.0), atol=1e-12)
    one, other = placed(part), placed(back)
    np.testing.assert_allclose(one.loop_pose[:, :, :3], other.loop_pose[:, :, :3], atol=1e-12)


def test_a_coupling_comes_back_from_sdf(tmp_path: Path) -> None:
    """Ratio and offset are those of the mimic."""
    lw.save(coupled(), tmp_path / "two.sdf")
    (found,) = lw.load_part(tmp_path / "two.sdf").couplings
    assert (found.joint, found.of, found.ratio, found.offset) == ("follow", "lead", -0.5, 0.25)


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_comes_back_from_sdf(name: str, tmp_path: Path) -> None:
    """A world keeps parts, scenery, gravity and where all stand."""
    scene = lw.load_scene(name)
    lw.save(scene, tmp_path / "out.world")
    back = lw.load_scene(tmp_path / "out.world")
    assert (back.name, back.gravity, back.step) == (scene.name, scene.gravity, scene.step)
    assert set(back.scenery) == set(scene.scenery)
    one, other = lw.compile_scene(scene), lw.compile_scene(back)
    assert one.nv == other.nv
    q0 = {n.replace("/", "_"): m for n, m in stands(other, one.q0, "").items()}
    for element, matrix in stands(one, one.q0, "").items():
        found = [m for n, m in q0.items() if n.endswith(element.replace("/", "_"))]
        assert any(np.allclose(m, matrix, atol=1e-9) for m in found), element


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_comes_back_from_mjcf(name: str, tmp_path: Path) -> None:
    """A model keeps bodies, joints, masses, postures and names, behind its own; so it stays."""
    scene = lw.load_scene(name)
    lw.save(scene, tmp_path / "out.mjcf")
    lw.save(lw.load(tmp_path / "out.mjcf"), tmp_path / "own.toml")
    lw.save(lw.load(tmp_path / "own.toml"), tmp_path / "again.mjcf")
    one = lw.compile_scene(scene)
    for file in ("own.toml", "again.mjcf"):
        back = lw.load_scene(tmp_path / file)
        assert (back.name, back.gravity, back.step) == (scene.name, scene.gravity, scene.step)
        other = lw.compile_scene(back)
        assert set(scene.postures) <= set(back.postures)
        scope = f"{back.name}/"
        assert {n.removeprefix(scope) for n in other.joint_names} == set(plain(one.joint_names))
        elements = {n.removeprefix(scope) for n in other.element_names}
        assert elements - {"origin"} == set(plain(one.element_names))
        np.testing.assert_allclose(one.mass.sum(), other.mass.sum(), rtol=1e-9)
        q0 = other.postures.get(scene.start or "start", other.q0)
        there = {n.removeprefix(scope): m for n, m in stands(other, q0, "").items()}
        for element, matrix in stands(one, one.q0, "").items():
            np.testing.assert_allclose(there[element.replace("/", "_")], matrix, atol=1e-9)
