"""RoboTiX text: grammar, several robots, swapped limits, and the scene graph beside it."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.core.errors import FormatError
from linkwork.formats.robots.robotix import RobotixFormat
from linkwork.kinematics import forward
from linkwork.model.world import compile_scene
from mesh_files import box, glb, gltf_document, written

#: The grammar of the RoboTiX thesis §3.3 with values; QMIN is the upper limit, as there.
INDUSTRIAL = """\
# This is a comment
ROBOT = 1
{
JOINT J1
{
AXIS = A1_z
TYPE = 1
QMIN = 160
QMAX = -160
}
JOINT J2
{
AXIS = A2_y
TYPE = 1
QMIN = 90   # upper
QMAX = -45
}
JOINT lift
{
AXIS = A3
TYPE = 2
QMIN = 0.3
QMAX = 0
}
}
"""


def read(folder: Path, text: str) -> tuple[lw.Part | lw.Scene, list[str]]:
    path = folder / "robot.cfg"
    path.write_text(text)
    return RobotixFormat().read_with_notes(path)


@pytest.mark.capability(108)
def test_the_grammar_of_the_document_is_read(tmp_path: Path) -> None:
    """AXIS, TYPE, QMIN and QMAX of each joint; the smaller of both is the lower limit."""
    part, notes = read(tmp_path, INDUSTRIAL)
    assert isinstance(part, lw.Part)
    assert {j.name: (j.type, j.axis) for j in part.joints.values()} == {
        "J1": ("hinge", (0.0, 0.0, 1.0)),
        "J2": ("hinge", (0.0, 1.0, 0.0)),
        "lift": ("slider", (0.0, 0.0, 1.0)),
    }
    ranges = [pair for j in part.joints.values() if (pair := j.ranges[0]) is not None]
    rad = math.radians
    np.testing.assert_allclose(ranges, [(-rad(160), rad(160)), (-rad(45), rad(90)), (0, 0.3)])
    assert any("QMIN is the upper" in n and "J1, J2, lift" in n for n in notes)
    assert any("direction" in n and "A3" in n for n in notes)
    assert any("no shapes" in n for n in notes)
    assert part.joints["J2"].origin.line == 11


@pytest.mark.capability(108)
def test_labels_as_they_should_be_mean_the_same(tmp_path: Path) -> None:
    """QMIN below QMAX gives the same ranges, without a note."""
    swapped, _ = read(tmp_path, INDUSTRIAL)
    words = INDUSTRIAL.replace("QMIN", "x").replace("QMAX", "QMIN").replace("x ", "QMAX ")
    straight, notes = read(tmp_path, words)
    assert isinstance(swapped, lw.Part)
    assert isinstance(straight, lw.Part)
    assert [j.range for j in swapped.joints.values()] == [j.range for j in straight.joints.values()]
    assert not any("QMIN" in note for note in notes)


@pytest.mark.capability(108)
def test_several_robots_are_a_scene_that_runs(tmp_path: Path) -> None:
    """Two robots in one file are placed side by side, and the command line runs them."""
    text = INDUSTRIAL + INDUSTRIAL.replace("ROBOT = 1", "ROBOT = 7")
    scene, _ = read(tmp_path, text)
    assert isinstance(scene, lw.Scene)
    assert [*scene.parts] == ["robot_1", "robot_7"]
    assert compile_scene(scene).nv == 6
    done = linkwork("check", tmp_path / "robot.cfg")
    assert done.code == 0, done.err
    assert "6 degrees of freedom" in done.out


def graph(folder: Path) -> None:
    """003's hierarchical model: link, axis and next joint inside each joint's node; y is up."""
    document, body = gltf_document(box(0.25, 0.5, 0.25))
    half = 0.5**0.5
    document["nodes"] = [
        {"name": "world", "children": [1, 2, 3]},
        {"name": "foot", "mesh": 0},
        {"name": "A1", "rotation": [-half, 0, 0, half]},  # z of the node along the file's y
        {"name": "J1", "translation": [0, 1, 0], "children": [4, 5, 6]},
        {"name": "upper", "mesh": 0},
        {"name": "A2", "translation": [0, 1, 0]},  # along the file's z, which is -y here
        {"name": "J2", "translation": [0, 1, 0], "children": [7]},
        {"name": "fore", "mesh": 0, "translation": [0, 0.5, 0]},
    ]
    document["scenes"] = [{"nodes": [0]}]
    written(folder, "robot.glb", glb(document, body))


ARM = """ROBOT = 1 {
  JOINT J1 { AXIS = A1 TYPE = 1 QMIN = -170 QMAX = 170 }
  JOINT J2 { AXIS = A2 TYPE = 1 QMIN = -90 QMAX = 90 }
}"""


@pytest.mark.capability(108)
def test_the_scene_graph_beside_gives_form_and_places(tmp_path: Path) -> None:
    """With robot.glb beside it, links have shapes, and joints the axes of their nodes."""
    graph(tmp_path)
    part, notes = read(tmp_path, ARM)
    assert isinstance(part, lw.Part)
    assert not any("no shapes" in n for n in notes)
    shapes = {name: [s.node for s in e.shapes] for name, e in part.elements.items()}  # type: ignore
    assert shapes == {"base": ["foot"], "J1_link": ["upper"], "J2_link": ["fore"]}
    world = compile_scene(lw.Scene("s").place(part, name="r"))
    still = forward(world, np.zeros(2))
    np.testing.assert_allclose(still[-1, :3], (0.0, 0.0, 2.0), atol=1e-9)
    turned = forward(world, np.array([math.pi / 2, math.pi / 2]))
    # J1 about z (the file's y); J2 then about the file's z = -y, rotated by J1 to +x.
    fore = turned[-1]
    np.testing.assert_allclose(fore[:3], (0.0, 0.0, 2.0), atol=1e-9)
    tip = lw.Pose.of(fore[:3].tolist(), quat=fore[3:].tolist()).apply((0.0, 0.0, 0.5))
    np.testing.assert_allclose(tip, (0.0, -0.5, 2.0), atol=1e-9)


def test_a_joint_that_the_graph_lacks_is_told(tmp_path: Path) -> None:
    """A name without a node is an error with its line and the nearest node."""
    graph(tmp_path)
    with pytest.raises(FormatError, match=r"robot.cfg:3: joint 'J22'.*Did you mean 'J2'"):
        read(tmp_path, ARM.replace("JOINT J2", "JOINT J22"))


def test_an_export_beside_the_text_is_no_scene_graph(tmp_path: Path) -> None:
    """A glTF file without any of the text's names is noted and ignored."""
    for suffix in ("glb", "cfg"):
        assert linkwork("convert", "kuka/arm", tmp_path / f"kuka.{suffix}").code == 0
    done = linkwork("check", tmp_path / "kuka.cfg")
    assert done.code == 0, done.err
    assert "kuka.glb has no node named as a joint or axis of kuka.cfg" in done.out


@pytest.mark.parametrize(
    ("right", "wrong", "line", "reported"),
    [
        ("ROBOT = 1", "ROBOTER = 1", 2, "'ROBOTER' found where ROBOT"),
        ("TYPE = 2", "TYPE = 3", 21, "1 is revolute, 2 is prismatic"),
        ("AXIS = A2_y\n", "", 11, "needs AXIS"),
        ("QMAX = -45", "QMAX = low", 16, "QMAX = low is not a number"),
        ("QMAX = 0\n", "", 18, "needs QMAX too"),
        ("QMIN = 0.3", "QMIM = 0.3", 22, "Did you mean 'QMIN'"),
        ("JOINT lift", "JOINT J1", 18, "defined twice, first at"),
        ("QMAX = 0\n}\n}", "QMAX = 0\n}", 24, "the file ends where JOINT or }"),
    ],
)
def test_mistakes_are_told(
    tmp_path: Path, right: str, wrong: str, line: int, reported: str
) -> None:
    """Each error names the line, the token found and the allowed ones."""
    assert right in INDUSTRIAL
    with pytest.raises(FormatError) as caught:
        read(tmp_path, INDUSTRIAL.replace(right, wrong, 1))
    assert reported in str(caught.value)
    assert f"robot.cfg:{line}:" in str(caught.value)


def test_any_robot_is_written_with_what_the_text_can_say(tmp_path: Path) -> None:
    """Joints are restored with type and range; omissions are noted."""
    notes = lw.save(lw.load_part("gripper/arm"), tmp_path / "arm.cfg")
    assert any("shapes, colors, masses" in note for note in notes)
    arm, back = lw.load_part("gripper/arm"), lw.load_part(tmp_path / "arm.cfg")
    moving = [j for j in arm.joints.values() if j.type in ("hinge", "slider")]
    assert len(back.joints) >= len(moving) > 0
    for joint in moving:
        assert back.joints[joint.name].type == joint.type
        theirs, ours = back.joints[joint.name].ranges[0], joint.ranges[0]
        assert theirs is not None
        assert ours is not None
        np.testing.assert_allclose(theirs, ours, atol=1e-9)


@pytest.mark.capability(108)
def test_the_text_opens_as_a_robot_that_moves(tmp_path: Path) -> None:
    """It has no masses and drives: kinematic moves its joints to their targets, with a note."""
    file = tmp_path / "arm.cfg"
    file.write_text(INDUSTRIAL)
    words = ("--for", "0.5", "--set", "arm/J2.target=0.5", "--csv", str(tmp_path / "a.csv"))
    done = linkwork("run", str(file), *words, "--watch", "arm/J2.angle")
    assert done.code == 0, done.err
    assert "kinematic moves the joints" in done.out
    assert (tmp_path / "a.csv").read_text().strip().endswith("0.5")
    two = tmp_path / "two.cfg"
    two.write_text(INDUSTRIAL + INDUSTRIAL.replace("ROBOT = 1", "ROBOT = 2"))
    with lw.Session(two) as session:
        session["robot_2/J1.target"] = 0.25
        session.run(0.1)
        assert session["robot_2/J1.angle"] == 0.25
