"""A scene replaces the drives of a part's joints."""

from pathlib import Path

import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.core.errors import LinkworkError
from linkwork.model.parts import Spec
from linkwork.model.world import compile_scene
from linkwork.project.document import Document
from linkwork.session.session import Session
from linkwork.studio.host.editor import Editor, OpenedFile

SCENE = """\
format = "linkwork/scene 1"
name = "bench"
step = 0.002

[[part]]
name = "robot"           # kept
part = "bioloid/humanoid"

[part.drives]
neck = { type = "smart_servo", model = "XM430-W350" }
"*" = { type = "smart_servo", model = "AX-12", supply = 9.6 }
"left_*" = { type = "servo", kp = 3 }
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    file = tmp_path / "bench.toml"
    file.write_text(SCENE)
    return file


def models(session: Session) -> dict[str, str]:
    """Returns the servo model, or else the type, that drives each joint."""
    rows = (pair for b in session.cycle.actuators for pair in zip(b.specs, b.params, strict=True))  # type: ignore[attr-defined]
    return {p.joint: getattr(p, "model", s.type) for s, p in rows}


@pytest.mark.capability(19)
def test_a_kits_robot_gets_smart_servos_in_a_scene(scene: Path) -> None:
    """A name overrides patterns, a later pattern an earlier one; the kit is unchanged."""
    with Session(scene, watch=False) as session:
        found = models(session)
        session["robot/right_knee.target"] = 0.3
        session.run(0.5)
        assert session["robot/right_knee.energy"] > 0.0
        assert "robot/left_knee.energy" not in session.signals
        assert session["robot/left_knee.kp"] == 3.0
    assert len(found) == 19
    for joint, model in found.items():
        wanted = "XM430-W350" if joint == "robot/neck" else "AX-12"
        assert model == ("servo" if "/left_" in joint else wanted)
    assert lw.load_part("bioloid/humanoid").joints["neck"].drive.type == "servo"  # type: ignore[union-attr]


def test_python_says_it_with_the_same_word(scene: Path, tmp_path: Path) -> None:
    """A placement with drives= equals that of the file, and is saved and read again."""
    drives = {
        "neck": Spec("actuator", "smart_servo", params={"model": "XM430-W350"}),
        "*": Spec("actuator", "smart_servo", params={"model": "AX-12", "supply": 9.6}),
        "left_*": Spec("actuator", "servo", params={"kp": 3}),
    }
    made = lw.Scene("bench", step=0.002)
    made.place(lw.load_part("bioloid/humanoid"), name="robot", drives=drives)
    read = lw.load_scene(scene)
    assert made == read
    lw.save(read, tmp_path / "again.toml")
    assert lw.load_scene(tmp_path / "again.toml") == read


def test_a_servos_own_file_is_found_from_the_scene(scene: Path, tmp_path: Path) -> None:
    """file = is relative to the scene, also when it is saved elsewhere."""
    (tmp_path / "mine.toml").write_text(
        'format = "linkwork/servo 1"\n[parameters]\ngear = 77\nkp = 3\n'
    )
    scene.write_text(SCENE.replace('model = "XM430-W350"', 'file = "mine.toml"'))
    (tmp_path / "deep").mkdir()
    lw.save(lw.load_scene(scene), tmp_path / "deep" / "moved.toml")
    for file in (scene, tmp_path / "deep" / "moved.toml"):
        with Session(file, watch=False) as session:
            params = [p for b in session.cycle.actuators for p in b.params]  # type: ignore[attr-defined]
        assert [p.gear for p in params if p.joint == "robot/neck"] == [77]


def test_an_edit_of_the_drives_is_undone_and_keeps_comments(scene: Path) -> None:
    """The document changes the table and restores it."""
    document = Document.open(str(scene))
    document.set_value(("part", "robot", "drives", "neck", "model"), "AX-12")
    assert 'neck = { type = "smart_servo", model = "AX-12" }' in document.text
    assert "# kept" in document.text
    document.undo()
    assert document.text == SCENE


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        (("neck =", "nek ="), "bench.toml:10: there is no joint named 'nek'. Did you mean 'neck'?"),
        (
            ('"left_*"', '"tail_*"'),
            "bench.toml:12: part 'robot': no joint with a drive fits 'tail_*'",
        ),
        (('"servo", kp', '"servo", kpp'), "bench.toml:12: actuator 'robot/left"),
        (('type = "servo", ', ""), "type"),
        (
            ('"XM430-W350"', '"XM430-W350", joint = "left_knee"'),
            "bench.toml:10: part 'robot': drives: 'neck' names a second joint, 'left_knee'",
        ),
        (("[part.drives]\n", "drives = 3\n[part.more]\n"), "drives"),
    ],
)
def test_mistakes_name_their_line(scene: Path, change: tuple[str, str], expected_text: str) -> None:
    """Joints and patterns without a match, and unknown keys of a drive."""
    scene.write_text(SCENE.replace(*change))
    with pytest.raises(LinkworkError) as caught:
        Session(scene, watch=False).close()
    assert expected_text in str(caught.value)


@pytest.mark.parametrize(
    "drives",
    [
        {"*": {"type": "servo"}}, {"*": "servo"}, ["neck"], "neck", {1: Spec("actuator", "servo")},
        {"neck": Spec("sensor", "camera")}, {"neck": Spec("actuator", "servo", "mine")},
    ],
)  # fmt: skip
def test_what_python_gives_as_drives_is_checked(drives: object) -> None:
    """Only tables of actuators without names of their own are accepted."""
    part = lw.load_part("bioloid/humanoid")
    with pytest.raises(LinkworkError, match="part 'robot': drives"):
        lw.Scene("bench").place(part, name="robot", drives=drives)  # type: ignore[arg-type]


def test_exports_know_the_drives_of_the_scene(scene: Path, tmp_path: Path) -> None:
    """MJCF has the scene's gain, and notes the drives that it leaves out."""
    found = linkwork("convert", scene, tmp_path / "bench.xml")
    assert found.code == 0, found.err
    assert "drives of type smart_servo" in found.out
    assert 'kp="3"' in (tmp_path / "bench.xml").read_text()


def test_a_part_that_is_taken_alone_keeps_the_drives_it_was_placed_with(
    scene: Path, tmp_path: Path
) -> None:
    """convert --part writes them into the part."""
    found = linkwork("convert", scene, tmp_path / "robot.toml", "--part", "robot")
    assert found.code == 0, found.err
    joints = lw.load_part(tmp_path / "robot.toml").joints
    given = {name: joint.drive.params for name, joint in joints.items() if joint.drive}
    assert given["neck"] == {"model": "XM430-W350"}
    assert given["left_knee"] == {"kp": 3}
    assert given["right_knee"] == {"model": "AX-12", "supply": 9.6}


def test_the_attributes_of_a_joint_tell_that_the_scene_gives_its_drive(scene: Path) -> None:
    """The part's own drive, which they show, is not the active one."""
    content = lw.load_scene(scene)
    editor = Editor(OpenedFile(content, str(scene), folders=[scene.parent]))
    world = compile_scene(content)
    for joint, word in (("neck", "neck"), ("left_knee", "left_*"), ("right_knee", "*")):
        rows, note = editor.rows(world, "joint", f"robot/{joint}")
        assert f"not this one but {word!r} of the drives of part 'robot'" in note
        drive = [row for row in rows if row.key.split(".")[0] == "drive"]
        assert drive
        assert not any(row.editable for row in drive)
        assert editor.placement("joint", f"robot/{joint}") == "robot"
    assert any(row.key == "drives.*.model" for row in editor.rows(world, "part", "robot")[0])
    assert editor.placement("element", "robot/trunk") == ""
    assert "drives" not in editor.rows(world, "element", "robot/trunk")[1]
