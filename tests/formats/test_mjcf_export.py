"""Parts and scenes become MJCF files that MuJoCo compiles and moves in the same way."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from export_fixture import (
    coupled,
    four_bar,
    kit_things,
    masses,
    part_named,
    placed,
    postures,
    short_joints,
    stands,
    values_of,
    zoo,
)
from linkwork.formats.robots.mjcf import write_mjcf
from linkwork.geometry import Inertia, Pose
from linkwork.kinematics import forward, velocities
from linkwork.model.parts import (
    Anchor,
    Box,
    Cone,
    Element,
    Ellipsoid,
    Joint,
    Mesh,
    Part,
    Plane,
    Spec,
    Terrain,
)
from linkwork.model.scene import Light, Scene, Viewpoint
from mesh_files import box, text_stl, written

mujoco: Any = import_module("mujoco")  # its names are made at run time

#: Primitive joints of each type that MuJoCo lacks, in the order of its coordinates.
SPLIT = {
    "universal": ("_1", "_2"),
    "cylindrical": ("_position", "_angle"),
    "planar": ("_x", "_y", "_angle"),
}


def compiled(path: Path) -> Any:
    return mujoco.MjModel.from_xml_path(str(path))


def assert_moves_alike(part: Part, path: Path) -> None:
    """At several postures every body has the pose of its element."""
    model, world = compiled(path), placed(part)
    data = mujoco.MjData(model)
    types = short_joints(world)
    for q in postures(world):
        for name, values in values_of(world, q).items():
            joint = types[name]
            if joint.type in ("ball", "free"):
                first = model.joint(name).qposadr[0]
                data.qpos[first : first + len(values)] = values
                continue
            for suffix, value in zip(SPLIT.get(joint.type, ("",)), values, strict=True):
                data.qpos[model.joint(name + suffix).qposadr[0]] = value
            if joint.type == "screw":
                slide = model.joint(f"{name}_slide").qposadr[0]
                data.qpos[slide] = joint.pitch * values[0] / (2.0 * np.pi)
        mujoco.mj_kinematics(model, data)
        for name, matrix in stands(world, q).items():
            body = data.body(name)
            np.testing.assert_allclose(body.xpos, matrix[:3, 3], atol=1e-9, err_msg=name)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), matrix[:3, :3], atol=1e-9)


@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_moves_in_mujoco_as_here(name: str, tmp_path: Path) -> None:
    """Bodies have the poses, masses and inertias of the elements."""
    part, path = part_named(name), tmp_path / "out.xml"
    write_mjcf(part, path)
    assert_moves_alike(part, path)
    model = compiled(path)
    for element, (mass, com, inertia) in masses(part).items():
        body = model.body(element)
        turn = Pose.of(quat=body.iquat).matrix()
        assert body.mass[0] == pytest.approx(mass or 1e-9, rel=1e-12)  # what MuJoCo needs
        np.testing.assert_allclose(body.ipos, com, atol=1e-12)
        found = turn @ np.diag(body.inertia) @ turn.T
        np.testing.assert_allclose(found, inertia, atol=2e-9, rtol=1e-6)


def test_every_type_of_joint_moves_in_mujoco_as_here(tmp_path: Path) -> None:
    """Including types that MuJoCo lacks, with skew frames at both ends."""
    part = zoo(
        "hinge", "slider", "ball", "universal", "cylindrical", "screw", "planar", "fixed", "free"
    )
    notes = write_mjcf(part, tmp_path / "zoo.xml")
    assert_moves_alike(part, tmp_path / "zoo.xml")
    logged = "\n".join(notes)
    for kind in ("universal joints", "cylindrical joints", "screws", "planar joints"):
        assert f"{kind}, written as" in logged


def test_a_loop_holds_in_mujoco(tmp_path: Path) -> None:
    """A pushed four-bar keeps its joint closed, and its bars parallel."""
    part = four_bar()
    write_mjcf(part, tmp_path / "bar.xml")
    model = compiled(tmp_path / "bar.xml")
    data = mujoco.MjData(model)
    data.qvel[model.joint("a").dofadr[0]] = 1.0
    mujoco.mj_step(model, data, 100)
    crank, rocker = (float(data.qpos[model.joint(n).qposadr[0]]) for n in ("a", "c"))
    assert crank > 0.05
    assert rocker == pytest.approx(crank, abs=2e-3)


def test_a_coupling_holds_in_mujoco(tmp_path: Path) -> None:
    """The follower obeys ratio and offset, from the start of the file."""
    write_mjcf(coupled(), tmp_path / "two.xml")
    model = compiled(tmp_path / "two.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    follow, lead = (float(data.joint(n).qpos[0]) for n in ("follow", "lead"))
    assert (follow, lead) == (0.25, 0.0)
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[: model.neq]).max() < 1e-12


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_compiles_and_starts_as_here(name: str, tmp_path: Path) -> None:
    """MuJoCo's initial posture is the session's, and omissions are noted."""
    scene, path = lw.load_scene(name), tmp_path / "out.xml"
    notes = write_mjcf(scene, path)
    assert not scene.agents or any(note.startswith("agents, left out") for note in notes)
    model, world = compiled(path), lw.compile_scene(scene)
    data = mujoco.MjData(model)
    keys = [model.key(k).name for k in range(model.nkey)]
    if (start := scene.start or "start") in keys:
        mujoco.mj_resetDataKeyframe(model, data, keys.index(start))
    mujoco.mj_kinematics(model, data)
    for element, matrix in stands(world, world.q0, "").items():
        np.testing.assert_allclose(data.body(element).xpos, matrix[:3, 3], atol=1e-9)


def test_initial_motion_is_that_of_the_start(tmp_path: Path) -> None:
    """Every body of a start keyframe has the velocity of the session's start."""
    speeds = {
        "ball": (0.3, -0.4, 0.5), "universal": (0.7, -0.3), "screw": (2.0,), "hinge": (-1.0,),
        "cylindrical": (0.1, 0.9), "planar": (0.1, 0.2, 0.3), "slider": (0.4,),
    }  # fmt: skip
    robot, loose = zoo(*speeds), zoo("free")
    for part in (robot, loose):
        for name, joint in part.joints.items():
            values, given = (0.1,) * joint.kind.nv, speeds.get(joint.type)
            part.joints[name] = replace(joint, value=values, speed=given)
        for name, element in part.elements.items():
            part.elements[name] = replace(element, velocity=(0.3, -0.2, 0.1), spin=(0.4, 0.5, -0.6))
    turned = Pose.of((1.0, 2.0, 3.0), rpy=(0.5, 0.2, 0.3))
    scene = Scene("s").place(robot, at=turned, base="free")
    scene.place(loose, name="loose", at=turned)
    path = tmp_path / "s.xml"
    assert not any("initial" in note for note in write_mjcf(scene, path))
    model, world = compiled(path), lw.compile_scene(scene)
    data, found = mujoco.MjData(model), np.zeros(6)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    mujoco.mj_forward(model, data)
    twists = velocities(world, world.q0, world.v0, forward(world, world.q0))
    for name, wanted in zip(world.body_names, twists, strict=True):
        body = model.body(name).id
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, found, 0)
        np.testing.assert_allclose([*found[3:], *found[:3]], wanted, atol=1e-9, err_msg=name)


def test_drives_and_limits_are_mujocos(tmp_path: Path) -> None:
    """A servo is a position actuator with its gains; ranges, efforts and losses are kept."""
    write_mjcf(part_named("tripod/leg"), tmp_path / "leg.xml")
    model = compiled(tmp_path / "leg.xml")
    hip = model.actuator("hip")
    assert (hip.gainprm[0], -hip.biasprm[2]) == (120.0, 1.6)
    assert tuple(hip.forcerange) == (-4.0, 4.0)
    joint = model.joint("hip")
    np.testing.assert_allclose(joint.range, np.radians([-20, 100]))
    assert (joint.damping[0], joint.armature[0]) == (0.02, 0.0005)
    np.testing.assert_allclose(np.degrees(model.qpos0), [40.0, -80.0])


def test_shapes_of_every_kind_are_geoms(tmp_path: Path) -> None:
    """Including cones, ellipsoids, terrain and meshes; a mesh is a file beside the model's."""
    source = written(tmp_path, "block.stl", text_stl(box(0.2, 0.4, 0.6)))
    shapes = (
        Cone(0.1, 0.2), Ellipsoid((0.1, 0.2, 0.3)), Plane(),
        Terrain((2.0, 1.0), 2, 3, (0.0, 0.1, 0.2, 0.0, 0.0, 0.4)),
        Mesh(str(source), (2.0, 1.0, 1.0), at=Pose.of((1.0, 0.0, 0.0))),
    )  # fmt: skip
    part = Part("shapes").add(Element("e", shapes, mass=1.0, color="#ff000080"))
    target = tmp_path / "out" / "shapes.xml"
    target.parent.mkdir()
    notes = write_mjcf(part, target)
    assert notes == ["cones, written as many-sided meshes: cone."]
    model = compiled(target)
    assert model.ngeom == len(shapes)
    np.testing.assert_allclose(model.geom_rgba[0], (1.0, 0.0, 0.0, 128 / 255), atol=1e-6)
    assert (target.parent / "shapes_meshes" / "block.stl").is_file()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    number = int(np.flatnonzero(model.geom_dataid == model.mesh("block").id)[-1])
    first = model.mesh_vertadr[model.geom_dataid[number]]
    points = model.mesh_vert[first : first + model.mesh_vertnum[model.geom_dataid[number]]]
    seen = points @ data.geom_xmat[number].reshape(3, 3).T + data.geom_xpos[number]
    expected = np.add(shapes[-1].triangles().vertices, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(seen.min(axis=0), expected.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(seen.max(axis=0), expected.max(axis=0), atol=1e-6)


def test_what_mujoco_cannot_do_is_told(tmp_path: Path) -> None:
    """A massless body gets a mass, a point an extent, a moving plane a slab, with notes."""
    part = Part("odd").add(
        Element("base", mass=1.0),
        Element("ghost"),
        Element("point", inertia=Inertia.of(1.0)),
        Element("tray", (Plane((0.2, 0.2)),), inertia=Inertia.of(1.0, matrix=np.eye(3))),
        Joint("j1", "hinge", "base", "ghost"),
        Joint("j2", "hinge", "base", "point", drive=Spec("actuator", "magic")),
        Joint("j3", "hinge", "base", "tray", max_speed=1.0),
    )
    notes = write_mjcf(part, tmp_path / "odd.xml")
    assert notes == [
        "largest speeds of joints, left out: j3.",
        "massless bodies that joints move, given 1e-09 kg: ghost.",
        "point masses, given a radius of gyration of 0.0001 m: point.",
        "planes on moving bodies, written as slabs: tray.",
        "drives of type magic, left out: j2.",
    ]
    assert compiled(tmp_path / "odd.xml").nbody == 5


def test_engine_words_are_mjcfs_own(tmp_path: Path) -> None:
    """Native attributes are written under MuJoCo's names."""
    shape = Box((0.1, 0.1, 0.1), mujoco={"solref": [0.03, 1.0], "condim": 4})
    part = Part("words").add(
        Element("base", mass=1.0),
        Element("arm", (shape,), mass=1.0, mujoco={"gravcomp": 0.5}),
        Joint("j", "hinge", "base", "arm", mujoco={"solref_limit": [0.01, 1.0]}, range=(-1, 1)),
    )
    assert write_mjcf(part, tmp_path / "words.xml") == []
    model = compiled(tmp_path / "words.xml")
    assert (model.geom_solref[0, 0], model.geom_condim[0]) == (0.03, 4)
    assert model.body_gravcomp[model.body("arm").id] == 0.5
    assert model.jnt_solref[0, 0] == 0.01


def test_what_the_engine_is_told_is_written_or_listed(tmp_path: Path) -> None:
    """Options, a drive of two joints and a touch sensor are written; others are noted."""
    part = Part("p").add(
        Element("base", mass=1.0),
        Element("a", (Ellipsoid((0.1, 0.1, 0.2)),), mass=1.0),
        Element("b", (Box((0.1, 0.1, 0.1)),), mass=1.0),
        Joint("j1", "hinge", "base", "a", value=0.5),
        Joint("j2", "slider", "a", "b"),
        Anchor("tip", "b", Pose.of((0.0, 0.0, 0.05)), fits="tool"),
    )
    scene = Scene("s").place(part)
    reported = {"impratio": 7.0, "disable": ["warmstart"], "contact_time": 0.01}
    scene.engines.append(Spec("engine", "mujoco", "", reported))
    law = {"joints": {"p/j1": 2.0, "p/j2": -1.0}, "gain": [3.0, 0.0, 0.0], "control_range": [-1, 2]}
    scene.actuators.append(Spec("actuator", "general", "pull", law))
    felt = {"sensor": "touch", "on": "p/tip", "volume": "box", "size": [0.1, 0.2, 0.3]}
    scene.sensors.append(Spec("sensor", "mujoco", "feel", felt))
    assert write_mjcf(scene, tmp_path / "s.xml") == [
        "tags and turns of anchors, left out: p/tip.",
        "parameters of the engine mujoco, left out: contact_time.",
        "limits, contacts and constraints have MuJoCo's default softness.",
    ]
    model = compiled(tmp_path / "s.xml")
    assert (model.opt.impratio, model.opt.disableflags) == (7.0, 1 << 9)
    assert model.wrap_prm.tolist() == [2.0, -1.0]
    assert model.actuator("pull").ctrlrange.tolist() == [-1.0, 2.0]
    assert model.sensor("feel").objid[0] == model.site("p/tip").id
    assert model.site("p/tip").size.tolist() == [0.1, 0.2, 0.3]
    assert model.joint("p/j1").qpos0[0] == 0.5


def test_lights_and_viewpoints_are_there(tmp_path: Path) -> None:
    """A camera looks at the viewpoint's target."""
    scene = Scene("s").add(Element("floor", (Plane(),)))
    scene.lights.append(Light("sun"))
    scene.viewpoints.append(Viewpoint("front", (2.0, 0.0, 1.0), (0.0, 0.0, 0.3)))
    assert write_mjcf(scene, tmp_path / "s.xml") == []
    model = compiled(tmp_path / "s.xml")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    way = np.array((-2.0, 0.0, -0.7)) / np.hypot(2.0, 0.7)
    np.testing.assert_allclose(-data.cam_xmat[0].reshape(3, 3)[:, 2], way, atol=1e-9)
    assert model.nlight == 1
