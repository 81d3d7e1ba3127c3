"""What we write moves in Drake and PyBullet as it moves here."""

import json
import subprocess
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from export_fixture import (
    four_bar,
    kit_things,
    masses,
    part_named,
    placed,
    postures,
    stands,
    zoo,
)
from linkwork.formats.flat import flatten
from linkwork.geometry import Pose
from linkwork.model.parts import Element, Mesh, Part
from linkwork.model.scene import Scene
from mesh_files import box, text_stl, written
from unsupported_fields import logged

#: Types of joints inside a robot that PyBullet holds still.
HELD_BY_BULLET = ("free", "planar")
#: Freedoms of a robot of which it tells where its links are; of others it tells the masses.
MOST_OF_BULLET = 120
HOME = Path(__file__).resolve().parent.parent.parent / ".venv-peers" / "bin" / "python"


def ask(script: str, path: Path, *more: str) -> dict[str, Any]:
    """What a peer says of a file."""
    where = Path(__file__).with_name(script)
    run = subprocess.run(
        [str(HOME), str(where), str(path), *more],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout[run.stdout.index("{") :])


def moved(
    script: str, part: Part, path: Path, held: Collection[str] = ()
) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Writes a part, and asks a peer where its links stand at several postures.

    Returns:
        The part's coordinates, joints at 0 that the file or the peer does not have, and what the
        peer says.
    """
    lw.save(part, path)
    world = placed(part)
    wanted, values = [], []
    for q in postures(world):
        given, here = logged(world, q, path.suffix, held)
        wanted.append(here)
        values.append(_in_joints(part, {k.removeprefix("robot_"): v for k, v in given.items()}))
    given_file = path.with_suffix(".json")
    given_file.write_text(json.dumps(values))
    return wanted, ask(script, path, str(given_file), part.root())


def opened(part: Part) -> Part:
    """The part without its loops, which Drake takes from a file and then refuses to move."""
    inside = {n: replace(a, part=opened(a.part)) for n, a in part.attachments.items()}
    return replace(part, loops={}, attachments=inside)


def drake_reads(path: Path, *, loops: bool) -> int:
    """How many bodies Drake's parser finds; it makes a plant of them unless they close loops."""
    code = (
        "import sys; from pydrake.multibody.plant import MultibodyPlant as P;"
        "from pydrake.multibody.parsing import Parser; p = P(0.001);"
        "Parser(p).AddModels(sys.argv[1]); sys.argv[2] or p.Finalize(); print(p.num_bodies())"
    )
    run = subprocess.run(
        [str(HOME), "-c", code, str(path), "loops" if loops else ""],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def _in_joints(part: Part, values: dict[str, list[float]]) -> dict[str, list[float]]:
    """The coordinates, balls turned about their joints' axes instead of their bodies'."""
    for name, joint in part.joints.items():
        if joint.type == "ball" and name in values:
            turn = joint.at_to.inverse() @ Pose.of(quat=values[name]) @ joint.at_to
            values[name] = list(turn.quat)
    return values


def assert_in_drake(part: Part, path: Path) -> None:
    wanted, found = moved("drake_poses.py", part, path)
    world = placed(part)
    for q, poses in zip(wanted, found["poses"], strict=True):
        for element, matrix in stands(world, q).items():
            there = np.array(poses[element.replace("/", "_")])
            np.testing.assert_allclose(there, matrix, atol=1e-6, err_msg=element)
    for element, (mass, com, inertia) in masses(part).items():
        their_mass, their_com, their_inertia = found["masses"][element.replace("/", "_")]
        assert their_mass == pytest.approx(mass)
        np.testing.assert_allclose(their_com, com, atol=1e-9)
        np.testing.assert_allclose(their_inertia, inertia, atol=1e-9)


@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_moves_in_drake_as_here(name: str, tmp_path: Path) -> None:
    """Links of the SDF stand where elements stand, with the same masses and inertias.

    Those of the tree do; the loops' joints are read.
    """
    part = part_named(name)
    assert_in_drake(opened(part), tmp_path / "out.sdf")
    if flatten(part).loops:
        lw.save(part, tmp_path / "closed.sdf")
        assert drake_reads(tmp_path / "closed.sdf", loops=True) > len(flatten(part).links)


def test_every_type_of_joint_moves_in_drake_as_here(tmp_path: Path) -> None:
    """Hinges, sliders, balls, universals, screws and fixed ones, askew at both ends."""
    part = zoo("hinge", "slider", "ball", "universal", "screw", "fixed")
    assert_in_drake(part, tmp_path / "zoo.sdf")


@pytest.mark.parametrize("name", kit_things(Scene))
def test_every_kit_scene_loads_in_drake(name: str, tmp_path: Path) -> None:
    """Drake's parser takes the world."""
    scene = lw.load_scene(name)
    lw.save(scene, tmp_path / "out.sdf")
    count = drake_reads(tmp_path / "out.sdf", loops=bool(flatten(scene).loops))
    assert count >= len(lw.compile_scene(scene).element_names)


@pytest.mark.parametrize("name", kit_things(Part))
def test_every_kit_part_moves_in_pybullet_as_here(name: str, tmp_path: Path) -> None:
    """Links of the URDF stand where elements stand (Bullet keeps seven digits), masses too."""
    part = part_named(name)
    wanted, found = moved("bullet_poses.py", part, tmp_path / "out.urdf", HELD_BY_BULLET)
    world, frames = placed(part), _joint_frames(part)
    for q, poses in zip(wanted, found["poses"], strict=True):
        here = stands(world, q)
        here.pop(part.root())
        if world.nv > MOST_OF_BULLET:
            assert not poses
            continue
        for element, matrix in here.items():
            x, y, z, qx, qy, qz, qw = poses[element.replace("/", "_")]
            there = Pose.of((x, y, z), quat=(qw, qx, qy, qz)) @ frames.get(element, Pose())
            np.testing.assert_allclose(there.xyz, matrix[:3, 3], atol=1e-6, err_msg=element)
            np.testing.assert_allclose(there.matrix(), matrix[:3, :3], atol=1e-6)
    for element, (mass, _, _) in masses(part).items():
        if element != part.root():
            given = mass or 1.0  # PyBullet takes a link without inertial for 1 kg
            assert found["masses"][element.replace("/", "_")] == pytest.approx(given, rel=1e-6)


def _joint_frames(part: Part) -> dict[str, Pose]:
    """Where an element's frame is in that of its URDF link, which stands at the joint."""
    return {j.to: j.at_to.inverse() for j in part.joints.values()}


def test_a_loop_is_in_the_file_that_sdformat_reads(tmp_path: Path) -> None:
    """The library behind Drake's parser takes the loop's joint; Drake says what it cannot do."""
    lw.save(four_bar(), tmp_path / "bar.sdf")
    code = (
        "import sys; from pydrake.multibody.plant import MultibodyPlant as P;"
        "from pydrake.multibody.parsing import Parser; p = P(0.001);"
        "Parser(p).AddModels(sys.argv[1]); print(p.num_joints())"
    )
    run = subprocess.run(
        [str(HOME), "-c", code, str(tmp_path / "bar.sdf")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == 4


def test_meshes_touch_in_drake(tmp_path: Path) -> None:
    """The mesh of an STL file is a collision geometry there, which STL itself cannot be."""
    shape = Mesh(str(written(tmp_path, "a.stl", text_stl(box(0.1, 0.2, 0.3)))))
    lw.save(Part("p").add(Element("e", (shape,), mass=1.0)), tmp_path / "p.sdf")
    code = (
        "import sys; from pydrake.all import AddMultibodyPlantSceneGraph, DiagramBuilder, Parser;"
        "p, s = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001);"
        "Parser(p).AddModels(sys.argv[1]); p.Finalize(); print(p.num_collision_geometries())"
    )
    run = subprocess.run(
        [str(HOME), "-c", code, str(tmp_path / "p.sdf")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "warning" not in run.stderr.lower()
    assert int(run.stdout) == 1
