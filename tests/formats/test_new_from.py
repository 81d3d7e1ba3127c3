"""``linkwork new --from``: a wizard that asks only for information missing in the file."""

import math
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork, start
from formats.test_mesh_parts import robot_glb
from linkwork.model.world import compile_scene
from mesh_files import box, text_stl, written


def wizard(folder: Path, *words: str, send_text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the command in its own process, with answers on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "linkwork", "new", *words], cwd=folder, input=send_text,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def bracket(folder: Path) -> Path:
    """A bracket of 120 x 30 x 40 mm, drawn in millimeters on its corner."""
    corner = box(120.0, 30.0, 40.0).moved((60.0, 15.0, 20.0))
    return written(folder, "bracket.stl", text_stl(corner))


@pytest.mark.capability(155, 33)
def test_answers_on_the_terminal_make_a_part(tmp_path: Path) -> None:
    """Typed into a terminal: up, unit, mass and anchors; the part follows the answers."""
    bracket(tmp_path)
    leader, follower = pty.openpty()
    job = subprocess.Popen(
        [sys.executable, "-m", "linkwork", "new", "--from", "bracket.stl", "--in", "made"],
        cwd=tmp_path, stdin=follower, stdout=follower, stderr=follower, close_fds=True,
    )  # fmt: skip
    os.close(follower)
    os.write(leader, b"z\nfurlong\nmm\n0.5 kg\nbottom\n0,0,0.1\n")
    seen = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the process has ended
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    assert job.wait(60) == 0, seen.decode()
    assert b"One unit is a" in seen
    assert b"Give one of m, cm, mm, inch" in seen
    part = lw.load_part(tmp_path / "made" / "bracket.toml")
    element = part.elements["bracket"]
    assert math.isclose(element.mass_properties().mass, 0.5, rel_tol=1e-9)
    np.testing.assert_allclose(part.anchors["mount"].at.xyz, (0.06, 0.015, 0.0), atol=1e-12)
    assert part.anchors["flange"].at.xyz == (0.0, 0.0, 0.1)
    assert (tmp_path / "made" / "bracket_meshes" / "bracket.stl").is_file()


@pytest.mark.capability(155, 45)
def test_options_answer_everything(tmp_path: Path) -> None:
    """With options and --yes there are no questions, and the part can be attached at once."""
    bracket(tmp_path)
    done = wizard(
        tmp_path, "part", "plate", "--from", "bracket.stl", "--unit", "mm", "--density", "2700",
        "--up", "z", "--mount", "bottom", "--yes",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "?" not in done.stdout + done.stderr
    plate = lw.load_part(tmp_path / "plate.toml")
    assert math.isclose(plate.elements["bracket"].mass_properties().mass, 0.3888, rel_tol=1e-6)
    stack = lw.Part("stack").add(lw.Element("foot"), lw.Anchor("on", "foot"))
    stack.attach("on", plate, name="a").attach("a/flange", plate, name="b")
    world = compile_scene(lw.Scene("s").place(stack))
    assert math.isclose(world.mass.sum(), 2 * 0.3888, rel_tol=1e-6)
    heights = sorted(piece.pose.xyz[2] for piece in world.shapes)
    np.testing.assert_allclose(heights, (0.0, 0.04), atol=1e-12)


def test_no_note_about_an_answer(tmp_path: Path) -> None:
    """Unit and density, which are asked for or given, are not also printed as assumptions."""
    bracket(tmp_path)
    done = wizard(tmp_path, "--from", "bracket.stl", "--in", "made", "--unit", "mm", "--yes")
    assert done.returncode == 0, done.stderr
    assert "note:" not in done.stdout + done.stderr


def test_only_what_lacks_is_asked(tmp_path: Path) -> None:
    """For a URDF with masses and one unlimited joint, only its range and anchors are asked."""
    (tmp_path / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0"'
        ' ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="tip"><inertial><mass '
        'value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><visual>'
        '<geometry><box size="0.1 0.1 0.4"/></geometry></visual></link><joint name="J1" '
        'type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    done = wizard(tmp_path, "--from", "arm.urdf", send_text="-90 wide\n-90 45\n\n\n")
    assert done.returncode == 0, done.stderr
    assert "Range of J1" in done.stderr
    assert "Give two numbers" in done.stderr
    assert "unit" not in done.stderr
    assert "Density" not in done.stderr
    part = lw.load_part(tmp_path / "arm.toml")
    np.testing.assert_allclose(np.degrees(np.array(part.joints["J1"].ranges[0])), (-90, 45))
    assert part.anchors["mount"].on == "base"
    assert part.anchors["flange"].on == "tip"
    assert part.anchors["flange"].at.xyz == (0.0, 0.0, 0.2)
    flagged = wizard(tmp_path, "part", "b", "--from", "arm.urdf", "--range", "J1=-10,10", "--yes")
    assert flagged.returncode == 0, flagged.stderr
    assert wizard(tmp_path, "--from", "arm.urdf", "--yes").returncode == 1  # it exists


@pytest.mark.capability(155)
def test_a_scene_graph_gets_a_base(tmp_path: Path) -> None:
    """One of several nodes is the base; all others keep their relative poses."""
    robot_glb(tmp_path)
    before = compile_scene(lw.Scene("s").place(lw.load_part(tmp_path / "robot.glb"), name="p"))
    done = wizard(tmp_path, "--from", "robot.glb", "--base", "arm", "--yes", "--in", "made")
    assert done.returncode == 0, done.stderr
    part = lw.load_part(tmp_path / "made" / "robot.toml")
    assert part.root() == "arm"
    assert {e.on for e in part.elements.values()} == {"", "arm"}
    after = compile_scene(lw.Scene("s").place(part, name="p"))
    np.testing.assert_allclose(after.mass.sum(), before.mass.sum(), rtol=1e-9)
    np.testing.assert_allclose(
        np.sort(np.linalg.eigvalsh(after.inertia[-1])),
        np.sort(np.linalg.eigvalsh(before.inertia[-1])), rtol=1e-6,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (["--unit", "furlong"], 2, "mm"),
        (["--mount", "left"], 2, "bottom"),
        (["--base", "nobody"], 1, "there is no element named 'nobody'"),
        (["--range", "J1"], 2, "J1=-90,90"),
        (["--range", "J1=1,2"], 1, "there is no joint named 'J1'"),
        (["--range", "J1=90,-90"], 2, "the lower end comes first"),
        (["--mass", "3", "--density", "5"], 2, "not both"),
        (["--mass", "0"], 2, "above 0"),
        (["--density", "0"], 2, "above 0"),
    ],
)
def test_answers_that_do_not_fit_are_told(
    tmp_path: Path, words: list[str], code: int, reported: str
) -> None:
    """A wrong option is an error with the allowed values, and nothing is written."""
    path = bracket(tmp_path)
    done = linkwork("new", "--from", path, "--in", tmp_path / "made", "--yes", *words)
    assert done.code == code
    assert reported in done.err
    assert not (tmp_path / "made" / "bracket.toml").exists()


def test_an_end_of_input_writes_nothing(tmp_path: Path) -> None:
    """At the end of input the error names the question and its option."""
    bracket(tmp_path)
    done = wizard(tmp_path, "--from", "bracket.stl", send_text="z\n")
    assert done.returncode == 1
    assert "the input ended at the question 'The model measures" in done.stderr
    assert "--unit" in done.stderr
    assert "--yes takes what is offered" in done.stderr
    assert "fault in Linkwork" not in done.stderr
    assert not (tmp_path / "bracket.toml").exists()


def test_ctrl_c_at_a_question_cancels(tmp_path: Path) -> None:
    """Ctrl-C at a question ends with one word and the exit code of a canceled command."""
    bracket(tmp_path)
    job = start("new", "--from", "bracket.stl", cwd=tmp_path, stdin=True)
    assert job.stderr is not None
    seen = ""
    while not seen.endswith("[z]:"):
        piece = job.stderr.read(1)
        assert piece, seen
        seen += piece
    job.send_signal(signal.SIGINT)
    out, err = job.communicate(timeout=60)
    assert job.returncode == 130, out + err
    assert "Cancelled." in err
    assert not (tmp_path / "bracket.toml").exists()


def test_a_unit_that_is_none_is_asked_for_again(tmp_path: Path) -> None:
    """Pounds are not a density: the question is repeated."""
    bracket(tmp_path)
    done = wizard(
        tmp_path, "--from", "bracket.stl", send_text="z\nmm\n1.5 pounds\n-1 kg\n1.5 kg\n\n\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Give a number above 0") == 2
    assert "1 element, 1.5 kg" in done.stdout


def test_what_yes_assumes_is_listed(tmp_path: Path) -> None:
    """Each assumed answer is listed with the option that changes it."""
    path = bracket(tmp_path)
    done = linkwork("new", "--from", path, "--in", tmp_path / "made", "--yes", "--mount", "none")
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("assumed:")]
    for word in ("z is up (--up)", "1 mm (--unit)", "1000 kg/m³ (--density)", "(--flange)"):
        assert word in line
    assert "--mount" not in line


def test_a_part_of_several_is_named(tmp_path: Path) -> None:
    """Of a file with two robots the first is used, with a note; --part selects another."""
    robots = "".join(
        f"ROBOT = {k} {{ JOINT J{k} {{ AXIS = J{k}_z TYPE = 1 QMIN = -9 QMAX = 9 }} }}\n"
        for k in (1, 2)
    )
    (tmp_path / "arms.cfg").write_text(robots)
    done = linkwork("new", "--from", tmp_path / "arms.cfg", "--in", tmp_path / "made", "--yes")
    assert "'robot_1' is taken and not robot_2 (--part)" in done.out
    words = ("new", "part", "b", "--from", tmp_path / "arms.cfg", "--in", tmp_path, "--yes")
    done = linkwork(*words, "--part", "robot_2")
    assert "(--part)" not in done.out
    assert list(lw.load_part(tmp_path / "b.toml").joints) == ["J2"]


def test_what_a_scene_has_for_the_part_is_listed(tmp_path: Path) -> None:
    """Drives and sensors of a MuJoCo model stay in the scene, with a note."""
    model = tmp_path / "arm.xml"
    model.write_text(
        '<mujoco model="arm"><worldbody><body name="base"><geom size="0.1"/><body name="up">'
        '<joint name="j" axis="0 1 0" range="-9 9"/><geom size="0.1"/></body></body></worldbody>'
        '<actuator><motor name="push" joint="j"/></actuator>'
        '<sensor><jointpos name="turn" joint="j"/></sensor></mujoco>'
    )
    made = linkwork("new", "part", "p", "--from", model, "--in", tmp_path, "--yes")
    taken = linkwork("convert", model, tmp_path / "q.toml", "--part", "arm")
    for done in (made, taken):
        assert "drives that the scene has for 'arm', left out: push." in done.out, done.err
        assert "sensors that the scene has for 'arm', left out: turn." in done.out
    assert "keeps the scene whole" in made.out
