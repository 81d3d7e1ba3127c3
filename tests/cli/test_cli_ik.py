"""The command ``linkwork ik``: one target, a batch, and what is out of reach."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene


@pytest.mark.capability(110)
def test_one_target_is_solved_and_shown() -> None:
    """Joint values in degrees, and that it was reached."""
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--to", "0.4,0.1,0.6,180,0,0")
    assert done.code == 0, done.err
    assert "reached" in done.out
    assert done.out.count("°") >= 7


def test_a_sub_chain_is_chosen_by_its_first_joint() -> None:
    """Joints before it stay, and where is said; their part's name may be left out."""
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--first", "J4", "--to", "0.4,0.1,0.9")
    stays = {line.split()[0]: line for line in done.out.splitlines() if "(stays)" in line}
    assert set(stays) == {"arm/J1", "arm/J2", "arm/J3"}
    assert "30°" in stays["arm/J2"]
    assert "arm/J4" in done.out
    assert "°." not in done.out  # only the place is asked for


def test_the_turn_of_a_free_base_is_a_rotation_vector(tmp_path: Path) -> None:
    """In a batch and on the screen; base and joints lead forward to the target."""
    given, out = tmp_path / "targets.csv", tmp_path / "joints.csv"
    given.write_text("0.1,0.1,0.3")
    done = linkwork(
        "ik", "bioloid/stand", "--tip", "robot/left_hand", "--batch", given, "--out", out
    )
    assert done.code == 0, done.err
    row = {name: float(v) for name, v in next(csv.DictReader(out.open())).items()}
    world = compile_scene(lw.load_scene("bioloid/stand"))
    q = world.q0.copy()
    q[:3] = [row[f"robot.{axis}_m"] for axis in "xyz"]
    turn = np.radians([row[f"robot.r{axis}_deg"] for axis in "xyz"])
    angle = float(np.linalg.norm(turn))
    assert angle > 0.01
    q[3:7] = math.cos(angle / 2), *(math.sin(angle / 2) * turn / angle)
    for name, value in row.items():
        if name.startswith("robot/"):
            joint = world.joint(name.removesuffix("_deg"))
            q[world.qadr[world.joint_body[joint]]] = math.radians(value)
    body, local = world.frame("robot/left_hand")
    pose = lw.forward(world, q)[body]
    place = (lw.Pose(tuple(pose[:3]), tuple(pose[3:])) @ local).xyz
    np.testing.assert_allclose(place, (0.1, 0.1, 0.3), atol=1e-6)
    shown = linkwork("ik", "bioloid/stand", "--tip", "robot/left_hand", "--to", "0.1,0.1,0.3")
    assert "free" not in shown.out
    assert "robot.rz" in shown.out


def test_numbers_that_are_not_finite_are_told() -> None:
    """Apart from words that are no numbers."""
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--to", "nan,0,0")
    assert done.code != 0
    assert "not all finite" in done.err


def test_a_target_out_of_reach_ends_with_1_and_the_nearest_posture() -> None:
    """The remaining errors are printed."""
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--to", "5,0,0")
    assert done.code == 1
    assert "not reached" in done.out
    assert "has the errors" in done.out


def test_a_batch_writes_a_row_for_each_target(tmp_path: Path) -> None:
    """Forward kinematics of each row leads back to its target."""
    targets = [(0.4, 0.1, 0.6, 180.0, 0.0, 0.0), (0.3, -0.2, 0.7, 90.0, 20.0, 10.0)]
    given, out = tmp_path / "targets.csv", tmp_path / "joints.csv"
    # columns come in the order of the heading
    lines = ["z,y,x,Roll,pitch,yaw", *(",".join(map(str, (*t[2::-1], *t[3:]))) for t in targets)]
    given.write_text("\n".join(lines))
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--batch", given, "--out", out)
    assert done.code == 0, done.err
    assert "2 of 2 reached" in done.out
    world = compile_scene(Scene("s").place(lw.load_part("kuka/arm"), name="arm", base="fixed"))
    name = next(n for n in [*world.anchors, *world.element_names] if n.endswith("flange"))
    body, local = world.frame(name)
    with out.open() as file:
        for row, target in zip(csv.DictReader(file), targets, strict=True):
            assert row["reached"] == "1"
            values = [math.radians(float(v)) for key, v in row.items() if key.endswith("_deg")][1:]
            q = world.q0.copy()
            q[: len(values)] = values
            pose = lw.forward(world, q)[body]
            there = lw.Pose(tuple(pose[:3]), tuple(pose[3:])) @ local
            np.testing.assert_allclose(there.xyz, target[:3], atol=1e-5)


def test_mistakes_are_told(tmp_path: Path) -> None:
    """Too few numbers, neither target nor batch, a tool that is not there."""
    assert "either --to or --batch" in linkwork("ik", "kuka/arm", "--tip", "flange").err
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--to", "1,2")
    assert "expected x,y,z" in done.err
    assert "nose" in linkwork("ik", "kuka/arm", "--tip", "nose", "--to", "1,2,3").err
    logged = linkwork("ik", "kuka/arm", "--tip", "flange", "--to", "1,2,3", "--out", tmp_path / "a")
    assert "--out is for the answers of a --batch" in logged.err


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        (b"x,y,z\n0.4,0.1,0.6\n\n0.4,zero,0.6\n", ":4: a target: expected x,y,z"),
        (b"0.4,0.1,0.6\n0.4,0.1,0.6,0,0,0\n", ":2: expected 3 numbers"),
        (b"0.4,0.1,0.6\n0.4,\xff,0.6\n", ":2: this is not UTF-8 text"),
        (b'0.4,0.1,0.6\n0.4,"0.1"x,0.6\n', ":2: "),
        (b"x,y,height\n0.4,0.1,0.6\n", ":1: the heading must name the columns x, y, z"),
        (b"z,y,x\n0.4,0.1\n", ":2: a target: expected x,y,z"),
        (b"x,y,z\n", ": expected rows of three or of six"),
    ],
)
def test_mistakes_in_a_batch_name_its_line(tmp_path: Path, text: bytes, logged: str) -> None:
    """As an editor counts them, heading and empty lines included."""
    given, out = tmp_path / "targets.csv", tmp_path / "joints.csv"
    given.write_bytes(text)
    done = linkwork("ik", "kuka/arm", "--tip", "flange", "--batch", given, "--out", out)
    assert done.code == 1
    assert f"targets.csv{logged}" in " ".join(done.err.split()).replace(
        "targets.csv ", "targets.csv"
    )
    assert not out.exists()


def test_a_tip_that_fits_several_is_refused(tmp_path: Path) -> None:
    """All that it may mean are listed; an answer that cannot be written is said before solving."""
    scene = tmp_path / "cell.toml"
    arms = "".join(f'[[part]]\nname = "{n}"\npart = "kuka/arm"\nbase = "fixed"\n' for n in "ab")
    scene.write_text(f'format = "linkwork/scene 1"\nname = "cell"\n{arms}')
    done = linkwork("ik", scene, "--tip", "flange", "--to", "0.4,0.1,0.6")
    assert done.code == 1
    assert "a/flange" in done.err
    assert "b/flange" in done.err
    given = tmp_path / "targets.csv"
    given.write_text("0.4,0.1,0.6\n")
    out = tmp_path / "nowhere" / "joints.csv"
    done = linkwork("ik", scene, "--tip", "a/flange", "--batch", given, "--out", out)
    assert done.code == 1
    assert "there is no folder" in done.err
