"""MJCF: models are read as MuJoCo's own compiler reads the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.core.errors import LinkworkError
from linkwork.formats import load, load_scene, save
from linkwork.formats.robots.mjcf import MjcfFormat
from linkwork.model.parts import Ellipsoid, Mesh, Terrain
from linkwork.model.scene import Scene, Viewpoint
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle
from mesh_files import binary_stl, box
from mjcf_reference import Twin, gap, mujoco

#: Models by subject.
MODELS: dict[str, str] = {
    "defaults, classes and frames": """
      <compiler angle="radian" eulerseq="zyx" autolimits="true"/>
      <default><geom density="300"/><default class="a"><joint damping="0.3" armature="0.02"/>
        <default class="b"><geom type="box" size="0.1 0.05 0.02"/></default></default></default>
      <worldbody><geom type="plane" size="0 0 1"/>
        <frame pos="0 0 0.3" euler="0.1 0.2 0.3"><body childclass="a" name="x">
          <joint name="h" axis="1 2 3" pos="0.05 0 0" range="-0.4 0.6"/><geom class="b"/>
          <body name="y" pos="0.2 0 0" xyaxes="0 1 0 -1 0 0"><joint name="s" type="slide"/>
            <geom class="b" zaxis="1 0 1"/></body></body></frame></worldbody>""",
    "several joints to a body, with references and springs": """
      <worldbody><body name="x" pos="0 0 1">
        <joint name="h1" axis="0 1 0" ref="20" springref="5" stiffness="3"/>
        <joint name="l" type="slide" axis="1 0 0" pos="0.1 0 0" ref="0.2" stiffness="50"/>
        <joint name="h2" axis="1 0 1" pos="0 0.1 0" ref="-30" frictionloss="0.1"/>
        <geom size="0.1 0.2" type="cylinder"/>
        <body name="y" pos="0 0 0.3"><joint name="b" type="ball" range="0 60" stiffness="2"/>
          <geom type="ellipsoid" size="0.1 0.05 0.2" pos="0 0 0.1"/></body></body></worldbody>""",
    "loops, welds and couplings": """
      <worldbody>
        <body name="x" pos="0 0 1"><joint name="h1" axis="0 1 0" ref="10"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
          <body name="f" pos="0.3 0 0"><geom size="0.05"/></body></body>
        <body name="y" pos="0 0 1.5"><joint name="h2" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body>
        <body name="z" pos="0.3 0 2"><freejoint/><geom size="0.1"/></body>
        <body name="w" pos="1 0 2"><freejoint/><geom size="0.1"/></body></worldbody>
      <equality><connect body1="f" body2="y" anchor="0 0 0.1" solref="0.05 1"/>
        <weld body1="z" body2="y" relpose="0.1 0 0.4 0.8 0.6 0 0" torquescale="0.3"/>
        <weld body1="w"/>
        <joint joint1="h2" joint2="h1" polycoef="0.1 0.5 0 0 0" solimp="0.8 0.9
          0.01"/></equality>""",
    "couplings by a polynomial about reference values": """
      <worldbody>
        <body name="x" pos="0 0 1"><joint name="h1" axis="0 1 0" ref="20"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body>
        <body name="y" pos="0 0 1.5"><joint name="h2" axis="0 1 0" ref="-15"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body></worldbody>
      <equality><joint joint1="h2" joint2="h1" polycoef="0.1 0.5 -0.3 0.2 0.05"/></equality>""",
    "surfaces, masks, pairs and exclusions": """
      <option cone="elliptic" impratio="3"/>
      <worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.3" priority="1"/>
        <body name="a" pos="0 0 0.4"><freejoint/>
          <geom name="a" size="0.3" condim="6" friction="1 0.1 0.2" margin="0.05"
          gap="0.01"/></body>
        <body name="b" pos="0.2 0 0.6"><freejoint/><geom name="b" size="0.3" contype="2"
          conaffinity="3" solmix="2" solref="-500 -10"/></body>
        <body name="c" pos="0 0.2 0.8"><freejoint/><geom name="c" size="0.3" contype="0"
          conaffinity="0"/></body></worldbody>
      <contact><pair geom1="c" geom2="a" condim="1"/><exclude body1="a" body2="b"/></contact>""",
    "drives": """
      <option integrator="implicitfast"/>
      <worldbody><body name="x" pos="0 0 1"><joint name="h" axis="0 1 0" actuatorfrcrange="-4 5"/>
        <geom size="0.1" pos="0.3 0 0"/><body name="y" pos="0.5 0 0">
          <joint name="s" type="slide" damping="1"/><geom size="0.1"/></body></body></worldbody>
      <tendon><fixed name="t" stiffness="20" damping="1" range="-0.1 0.1"><joint joint="h"
          coef="2"/>
        <joint joint="s" coef="-1"/></fixed></tendon>
      <actuator><motor name="m" joint="h" gear="3" ctrlrange="-1 0.5"/>
        <position name="p" joint="s" kp="30" kv="2" forcerange="-8 3"/>
        <general name="g" tendon="t" gainprm="3" biastype="affine" biasprm="1 -2 -0.1"
          dyntype="filterexact" dynprm="0.05"/>
        <velocity name="v" joint="h" kv="0.4"/><intvelocity name="i" joint="s" kp="5"
          actrange="-0.5 0.5"/></actuator>""",
    "strings, fluids and weightlessness": """
      <option density="1000" viscosity="0.01" wind="1 0 0" integrator="RK4"/>
      <worldbody><site name="s0" pos="0 0 2"/><body name="x" pos="0 0 1"><freejoint/>
        <geom type="ellipsoid" size="0.1 0.2 0.05" fluidshape="ellipsoid"/><site name="s1"/></body>
        <body name="y" pos="1 0 1" gravcomp="0.7"><freejoint/><geom type="box" size=".1 .2 .3"/>
        </body></worldbody>
      <tendon><spatial name="t" range="0 0.9" limited="true" stiffness="40" springlength="0.3">
        <site site="s0"/><site site="s1"/></spatial></tendon>""",
    "ground of a grid": """
      <asset><hfield name="h" nrow="3" ncol="3" size="2 2 0.5 0.1"
        elevation="0 0 0 1 1 1 0 0.5 0"/></asset>
      <worldbody><geom type="hfield" hfield="h"/><body name="x" pos="0 0 0.5"><freejoint/>
        <geom size="0.3" type="sphere"/></body></worldbody>""",
    "given inertias and total mass": """
      <compiler inertiafromgeom="false" settotalmass="7"/>
      <worldbody><body name="x" pos="0 0 1"><freejoint/>
        <inertial pos="0.1 0 0" mass="2" fullinertia="0.1 0.2 0.25 0.01 0.02 0.03"/>
        <geom size="0.1"/><body name="y" euler="0 30 0"><joint name="h"/>
          <inertial pos="0 0 0.2" mass="1" diaginertia="0.01 0.02 0.02"/><geom size="0.1"/></body>
        </body></worldbody>""",
}


def written(folder: Path, body: str) -> Path:
    path = folder / "model.xml"
    path.write_text(f'<mujoco model="m">{body}</mujoco>', encoding="utf-8")
    return path


@pytest.mark.capability(33)
@pytest.mark.parametrize("about", MODELS)
@pytest.mark.parametrize("way", ["as read", "scene.toml", "scene.mjcf"])
def test_a_model_moves_as_in_mujoco(tmp_path: Path, about: str, way: str) -> None:
    """At random states accelerations equal MuJoCo's, also after saving as TOML."""
    path = written(tmp_path, MODELS[about])
    scene, notes = MjcfFormat().read_with_notes(path)
    assert [note for note in notes if "visual" not in note] == []
    if way != "as read":
        lost = save(scene, tmp_path / way)
        assert [note for note in lost if "the posture at the start" not in note] == []
        scene = load_scene(tmp_path / way)
    twin, chance = Twin.of(path, scene), np.random.default_rng(2)
    for _ in range(30):
        twin.place(chance)
        assert gap(*twin.accelerations()) < 1e-8


def test_masses_and_inertias_are_those_of_the_compiler(tmp_path: Path) -> None:
    """Each body has the mass, center and inertia that MuJoCo computes from its geoms."""
    path = written(tmp_path, MODELS["several joints to a body, with references and springs"])
    twin = Twin.of(path)
    world, m = twin.cycle.world, twin.m
    for name in ("x", "y"):
        b, theirs = world.body(f"m/{name}"), m.body(name)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, theirs.iquat)
        turn = turn.reshape(3, 3)
        assert world.mass[b] == pytest.approx(float(theirs.mass[0]), rel=1e-12)
        np.testing.assert_allclose(world.com[b], theirs.ipos, atol=1e-12)
        np.testing.assert_allclose(world.inertia[b], turn @ np.diag(theirs.inertia) @ turn.T,
                                   atol=1e-12)  # fmt: skip


def test_meshes_stand_where_mujoco_has_them(tmp_path: Path) -> None:
    """A mesh from a file, scaled and moved by refpos, has MuJoCo's vertices."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "box.stl").write_bytes(binary_stl(box(1.0, 2.0, 3.0)))
    path = written(tmp_path, """<compiler meshdir="meshes"/>
      <asset><mesh name="k" file="box.stl" scale="0.1 0.1 0.2" refpos="0.5 0 0"/></asset>
      <worldbody><body name="x" pos="0 0 1"><freejoint/><geom type="mesh" mesh="k" pos="0.2 0 0"
      euler="0 0 30"/></body></worldbody>""")  # fmt: skip
    twin = Twin.of(path)
    (piece,) = (s for s in twin.cycle.world.shapes if s.shape.kind == "mesh")
    assert isinstance(piece.shape, Mesh)
    ours = np.array([piece.pose.apply(v) for v in piece.shape.triangles().vertices])
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, twin.m.geom_quat[0])
    theirs = twin.m.mesh_vert @ turn.reshape(3, 3).T + twin.m.geom_pos[0]
    for corner in theirs:
        assert np.linalg.norm(ours - corner, axis=1).min() < 1e-6


def test_a_scene_of_its_own_things(tmp_path: Path) -> None:
    """Sites are anchors, keyframes postures, cameras viewpoints; ellipsoids and terrain shapes."""
    path = written(tmp_path, """<worldbody><camera name="eye" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
      <light name="sun" directional="true"/><geom name="g" type="plane" size="1 1 1"/>
      <body name="x"><joint name="h"/><geom type="ellipsoid" size="1 2 3"/><site name="tip"/>
      </body></worldbody><keyframe><key name="up" qpos="0.5"/></keyframe>""")  # fmt: skip
    scene = load(path)
    assert isinstance(scene, Scene)
    part = scene.parts["m"].part
    assert scene.postures == {"up": {"m/h": 0.5}}
    assert part.anchors["tip"].on == "x"
    assert [v.name for v in scene.viewpoints] == ["eye"]
    assert [light.kind for light in scene.lights] == ["sun"]
    assert part.elements["x"].shapes[0].kind == Ellipsoid.kind
    assert list(scene.scenery) == ["g"]
    assert Terrain((1.0, 1.0), heights=(0.0, 1.0, 0.0, 1.0)).triangles().faces.shape == (2, 3)


def test_keyframes_of_free_bodies_are_postures(tmp_path: Path) -> None:
    """A posture sets free bodies, balls and hinges as the keyframe does, within limits."""
    path = written(tmp_path, """<worldbody><body name="x" pos="0 0 1"><freejoint name="f"/>
      <geom size="0.1"/><body name="y" pos="0 0 0.5"><joint name="b" type="ball"/><geom size="0.1"/>
      <body name="z" pos="0 0 0.5"><joint name="h" range="-30 30"/><geom size="0.1"/></body></body>
      </body></worldbody><keyframe><key name="k" qpos="1 2 3 0.6 0 0.8 0 0.8 0.6 0 0 1"/></keyframe>
      """)  # fmt: skip
    scene, notes = MjcfFormat().read_with_notes(path)
    assert notes == ["values of keyframes beyond a limit, clamped: k."]
    q = compile_scene(scene).postures["k"]
    np.testing.assert_allclose(q[:11], [1, 2, 3, 0.6, 0, 0.8, 0, 0.8, 0.6, 0, 0], atol=1e-12)
    assert q[11] == pytest.approx(np.radians(30))


@pytest.mark.parametrize(
    ("body", "line", "word"),
    [
        ("<worldbody>\n<geom size='-1'/></worldbody>", 2, "size"),
        ("<worldbody>\n\n<geom sise='1'/></worldbody>", 3, "sise"),
        ("<worldbody/>\n<include file='/x.xml'/>", 2, "outside"),
        ("<worldbody><body>\n<joint type='hinj'/></body></worldbody>", 2, "hinj"),
        ("<worldbody/><actuator>\n<motor joint='nobody'/></actuator>", 2, "nobody"),
        ("<option timestep='nan'/>", 1, "nan"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, body: str, line: int, word: str) -> None:
    """Errors name the file, the line of the user's text and the attribute."""
    path = written(tmp_path, body)
    with pytest.raises(LinkworkError) as caught:
        load(path)
    assert caught.value.origin is not None
    assert (caught.value.origin.file, caught.value.origin.line) == (str(path), line)
    assert word in str(caught.value)


def test_what_is_left_out_is_listed(tmp_path: Path) -> None:
    """Each kind of omission has a note."""
    path = written(tmp_path, """<worldbody><body name="x"><joint name="h"/><geom name="k"
      size="0.1" user="1 2"/><site name="s"/></body></worldbody><actuator>
      <general name="thrust" site="s" delay="0.1" nsample="60"/></actuator>
      <sensor><clock name="c"/></sensor><custom><text name="a" data="b"/></custom>""")  # fmt: skip
    _, notes = MjcfFormat().read_with_notes(path)
    text = "\n".join(notes)
    for name in ("thrust", "sensors of type clock", "custom"):
        assert name in text
    assert "custom numbers (user=…), left out of: geom." in notes


def test_engine_words_are_read_written_and_checked(tmp_path: Path) -> None:
    """Engine parameters in TOML reach MuJoCo; a wrong one is an error with its line."""
    text = """format = "linkwork/scene 1"
name = "s"

[[element]]
name = "ground"
shape = { plane = { size = [1, 1] }, mujoco = { condim = 4, solref = [0.01, 1.5] } }
"""
    path = tmp_path / "s.toml"
    path.write_text(text)
    cycle = Cycle(compile_scene(load_scene(path)))
    mj = cycle.engines[0].model.mj  # type: ignore[attr-defined]
    assert mj.geom_condim[0] == 4
    assert mj.geom_solref[0].tolist() == [0.01, 1.5]
    path.write_text(text.replace("condim", "condym"))
    with pytest.raises(LinkworkError, match="condym") as caught:
        load_scene(path)
    assert caught.value.origin is not None
    assert caught.value.origin.line == 6


def test_a_mass_that_an_unread_mesh_makes_is_told_as_unknown(tmp_path: Path) -> None:
    """A body with only such a mesh has no mass, and the note gives a remedy."""
    (tmp_path / "a.ply").write_bytes(b"")
    body = """<asset><mesh name="a" file="a.ply"/></asset><worldbody>
      <body name="alone"><joint/><geom type="mesh" mesh="a"/></body>
      <body name="partly"><joint/><geom type="mesh" mesh="a"/><geom size="0.1"/></body>
      <body name="given"><joint/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="a"/></body>
      <body name="seen"><joint/><geom type="mesh" mesh="a" density="0"/><geom size="0.1"/></body>
      </worldbody>"""
    scene, notes = MjcfFormat().read_with_notes(written(tmp_path, body))
    reported = [note for note in notes if "not known" in note]
    assert [note.rpartition(": ")[2] for note in reported] == ["alone, partly."]
    assert "<inertial>" in reported[0]
    elements = scene.parts["m"].part.elements
    assert elements["alone"].inertia is None
    assert elements["given"].mass == pytest.approx(2.0)
    assert elements["partly"].mass == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3, rel=1e-4)
    with pytest.raises(LinkworkError, match="a moving body needs mass"):
        Cycle(compile_scene(scene))


def test_flags_of_lights_and_cameras_are_read(tmp_path: Path) -> None:
    """Shadows and inactive lights are respected; orthographic lengths are no field of view."""
    body = """<worldbody><light name="a" castshadow="false"/><light name="b" active="false"/>
      <light name="c"/><camera name="flat" projection="orthographic" fovy="2"/>
      <camera name="deep" fovy="60"/></worldbody>"""
    scene, notes = MjcfFormat().read_with_notes(written(tmp_path, body))
    assert [(light.name, light.shadows) for light in scene.lights] == [("a", False), ("c", True)]
    flat, deep = scene.viewpoints
    assert (flat.opening, deep.opening) == pytest.approx((Viewpoint.opening, np.radians(60)))
    assert notes == [
        "orthographic cameras, read as perspective: flat.",
        "lights that are switched off, left out: b.",
    ]


@pytest.mark.parametrize("way", ["as read", "scene.toml", "scene.mjcf"])
def test_the_keyframe_of_the_start_is_the_initial_motion(tmp_path: Path, way: str) -> None:
    """If it has velocities, all joints and free bodies start with them."""
    body = """<worldbody><body name="f" pos="0 0 1"><freejoint name="f"/><geom size="0.1"/>
      <body name="b" pos="0.2 0 0"><joint name="b" type="ball"/><geom size="0.1"/>
      <body name="h" pos="0.2 0 0"><joint name="h" axis="0 1 0"/><geom size="0.1"/></body>
      </body></body></worldbody><keyframe><key name="other" qvel="1 0 0 0 0 0 0 0 0 0"/>
      <key name="start" qpos="1 2 3 0.6 0 0.8 0 0.8 0.6 0 0 0.5"
        qvel="0.1 0.2 0.3 0.4 0.5 0.6 -0.1 -0.2 -0.3 2"/></keyframe>"""
    path = written(tmp_path, body)
    scene, notes = MjcfFormat().read_with_notes(path)
    assert set(notes) == {
        "velocities of keyframes, left out: other.",
        "starts in its keyframe, with its velocities: start.",
    }
    if way != "as read":
        save(scene, tmp_path / way)
        scene = load_scene(tmp_path / way)
    assert [*scene.postures] == ["other", "start"]
    twin = Twin.of(path, scene)
    key, world = twin.m.key("start"), twin.cycle.world
    np.testing.assert_allclose(world.q0[twin.q], key.qpos, atol=1e-9)
    np.testing.assert_allclose(world.v0[twin.v], key.qvel, atol=1e-9)
