"""Humanoid XML of Lima et al.: solids, joints and labels in two languages."""

import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from contract.small_files import HUMANOID
from linkwork.core.errors import FormatError, LinkworkError
from linkwork.formats.robots.humanoid_xml import HumanoidXmlFormat
from linkwork.kinematics import forward
from linkwork.model.parts import Box
from linkwork.model.world import compile_scene

#: The excerpt of Lima et al. §3.2 with the two solids that its joint connects.
EXCERPT = """\
<robot>
  <kind value='humanoid'/>
  <solids>
    <cuboid>
      <ID value='6'/>
      <pos x='-0.040' y='0' z='0.010'/>
      <size x='0.082' y='0.102' z='0.137'/>
      <mass value='0.635'/>
      <desc Pt='Tronco'/>
      <desc Eng='Trunk'/>
    </cuboid>
    <cuboid><ID value='7'/><pos x='-0.039' y='0.030' z='-0.120'/>
      <size x='0.04' y='0.03' z='0.1'/><mass value='0.2'/><desc Eng='Left Femur'/></cuboid>
    <cuboid><ID value='17'/><pos x='-0.039' y='0.030' z='-0.220'/>
      <size x='0.04' y='0.03' z='0.1'/><mass value='0.1'/><desc Eng='Left Leg'/></cuboid>
  </solids>
  <articulations>
    <joint>
      <ID value='0'/>
      <pos x='-0.039' y='0.030' z='-0.170'/>
      <axis x='0' y='1' z='0'/>
      <connect B1='7' B2='17'/>
      <limits Min='-98' Max='32'/>
      <type value='Hinge'/>
      <desc Pt='Joelho Esq'/>
      <desc Eng='Left Knee'/>
    </joint>
    <joint><ID value='1'/><pos x='-0.039' y='0.030' z='-0.070'/><axis x='1' y='0' z='0'/>
      <axis2 x='0' y='1' z='0'/><connect B1='6' B2='7'/><limits Min='-20' Max='40'/>
      <limits2 Min='-50' Max='60'/><type value='Universal'/><desc Eng='Left Hip'/></joint>
  </articulations>
</robot>
"""


def read(folder: Path, text: str, name: str = "robot.xml") -> tuple[lw.Part, list[str]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return HumanoidXmlFormat().read_with_notes(path)


@pytest.mark.capability(157)
def test_the_documents_excerpt_is_read(tmp_path: Path) -> None:
    """Trunk and left knee are those of Lima et al. §3.2, with both descriptions as labels."""
    part, _ = read(tmp_path, EXCERPT)
    trunk, knee = part.elements["trunk"], part.joints["left_knee"]
    assert trunk.labels == {"pt": "Tronco", "en": "Trunk"}
    assert trunk.mass == 0.635
    assert trunk.shapes == (lw.Box(size=(0.082, 0.102, 0.137)),)
    assert knee.labels == {"pt": "Joelho Esq", "en": "Left Knee"}
    assert (knee.type, knee.axis) == ("hinge", (0.0, 1.0, 0.0))
    np.testing.assert_allclose(np.degrees(np.array(knee.ranges[0])), (-98.0, 32.0))
    world = compile_scene(lw.Scene("s").place(part, name="r", at=lw.Pose((-0.04, 0.0, 0.01))))
    poses = forward(world, np.zeros(3))[:, :3]
    np.testing.assert_allclose(
        poses[-2:], [(-0.039, 0.03, -0.12), (-0.039, 0.03, -0.22)], atol=1e-12
    )
    bent = forward(world, np.array([0.0, 0.0, -math.pi / 2]))[-1, :3]  # the shank swings forward
    np.testing.assert_allclose(bent, (-0.039 + 0.05, 0.03, -0.17), atol=1e-12)


@pytest.mark.capability(157)
def test_the_command_line_speaks_both_languages(tmp_path: Path) -> None:
    """A robot runs from its XML; its joints are shown in either language."""
    read(tmp_path, EXCERPT)
    words = {"pt": "Joelho Esq", "en": "Left Knee"}
    for language, word in words.items():
        done = linkwork("check", tmp_path / "robot.xml", "--language", language)
        assert done.code == 0, done.err
        assert word in done.out
        assert words["en" if language == "pt" else "pt"] not in done.out
    changed = EXCERPT.replace("Min='-98'", "Min='-70'")
    part, _ = read(tmp_path, changed)
    assert math.isclose(part.joints["left_knee"].ranges[0][0], math.radians(-70))  # type: ignore


@pytest.mark.capability(157)
def test_labels_and_numbers_survive_toml_and_xml(tmp_path: Path) -> None:
    """Both languages and the numbers of solids and joints survive TOML and XML."""
    part, _ = read(tmp_path, EXCERPT)
    lw.save(part, tmp_path / "robot.toml")
    back = lw.load_part(tmp_path / "robot.toml")
    assert lw.save(back, tmp_path / "again.humanoid.xml") == []
    text = (tmp_path / "again.humanoid.xml").read_text()
    assert 'Pt="Joelho Esq"' in text
    again = lw.load_part(tmp_path / "again.humanoid.xml")
    assert again.aliases == part.aliases
    assert {n: e.labels for n, e in again.elements.items()} == {
        n: e.labels for n, e in part.elements.items()
    }
    ours, theirs = (compile_scene(lw.Scene("s").place(p, name="p")) for p in (part, again))
    q = np.array([0.1, 0.2, -0.3])
    np.testing.assert_allclose(forward(theirs, q), forward(ours, q), atol=1e-12)


MOVEMENTS = """
  <movements>
    <movement>
      <ID value='0'/>
      <desc Pt='Agachar'/>
      <desc Eng='Squat'/>
      <posture><time value='0'/>
        <joint ID='0' value='0'/><joint ID='1' value='0' value2='0'/></posture>
      <posture><time value='1.5'/><joint ID='0' value='-80'/></posture>
      <posture><time value='2'/>
        <joint ID='0' value='-40'/><joint ID='1' value='5' value2='40'/></posture>
    </movement>
  </movements>
</robot>"""


@pytest.mark.capability(157, 171)
def test_movements_of_the_file_are_played(tmp_path: Path) -> None:
    """The XML holds movements; an agent plays them, and convert writes them to files."""
    text = HUMANOID.replace("</robot>", MOVEMENTS).replace(
        "<speed Max='281'/>", "<servo P='20' D='0.5'/>"
    )
    _, notes = read(tmp_path, text)
    assert any("Squat" in note and "movement" in note for note in notes)
    path = tmp_path / "robot.xml"
    (movement,) = HumanoidXmlFormat().movements(path)
    assert movement.labels == {"pt": "Agachar", "en": "Squat"}
    np.testing.assert_allclose(movement.at(1.75)["left_knee"], math.radians(-60.0))
    np.testing.assert_allclose(movement.at(2.0)["hip.angle2"], math.radians(40.0))
    done = linkwork("convert", path, tmp_path / "made.toml")
    assert done.code == 0, done.err
    assert (tmp_path / "made.squat.toml").is_file()
    done = linkwork("convert", path, tmp_path / "made.mjcf")
    assert "movements, left out: squat" in done.out
    scene = lw.Scene("s").place(lw.load_part(path), name="r").engine("kinematic")
    scene.agent("play", "movement", file=str(path), on="r")
    session = lw.Session(scene)
    session.run(1.5)
    assert math.isclose(session["r/left_knee.angle"], math.radians(-80), abs_tol=0.02)
    path.write_text(text.replace("<joint ID='0' value='-80'/>", "<joint ID='5' value='1'/>"))
    with pytest.raises(FormatError, match="names joint 5, which does not exist"):
        HumanoidXmlFormat().movements(path)


@pytest.mark.capability(157)
def test_names_that_are_no_labels_come_back(tmp_path: Path) -> None:
    """A part whose names and labels differ keeps both, and gets no other labels."""
    box = Box((0.1, 0.1, 0.1))
    part = lw.Part("p").add(
        lw.Element("torso", (box,), mass=1.0, labels={"en": "Trunk", "pt": "Tronco"}),
        lw.Element("Left_Shank", (box,), mass=1.0, labels={"pt": "Perna"}),
        lw.Joint("J1", "hinge", "torso", "Left_Shank", labels={"en": "Left Knee"}),
    )
    assert lw.save(part, tmp_path / "p.humanoid.xml") == []
    back = lw.load_part(tmp_path / "p.humanoid.xml")
    assert {n: e.labels for n, e in back.elements.items()} == {
        n: e.labels for n, e in part.elements.items()
    }
    assert {n: j.labels for n, j in back.joints.items()} == {"J1": {"en": "Left Knee"}}


@pytest.mark.capability(157, 171)
def test_check_looks_at_the_movements_of_the_file(tmp_path: Path) -> None:
    """They are listed with the robot and values out of range; an invalid one is an error."""
    path = tmp_path / "robot.xml"
    text = HUMANOID.replace("</robot>", MOVEMENTS)
    path.write_text(text, encoding="utf-8")
    done = linkwork("check", path)
    assert done.code == 0, done.err
    assert "movement 'squat': 3 postures of 3 joints in 2 s, linear" in done.out
    assert "leaves the ranges" not in done.out
    assert "It can run." in done.out
    path.write_text(text.replace("value='-80'", "value='-99'"), encoding="utf-8")
    assert "leaves the ranges of: left_knee (−98° … 32°)" in linkwork("check", path).out
    path.write_text(text.replace("ID='0' value='-80'", "ID='5' value='1'"), encoding="utf-8")
    done = linkwork("check", path)
    assert done.code == 1
    assert "names joint 5, which does not exist" in done.err


@pytest.mark.parametrize("type", ["Hinge", "Universal"])
def test_a_joint_told_from_the_other_side_is_the_same(tmp_path: Path, type: str) -> None:
    """With B1 and B2 exchanged the joint is the same: axes are negated, values kept."""
    second = {"Hinge": "", "Universal": "<axis2 x='1' y='0' z='0'/><limits2 Min='-5' Max='9'/>"}
    text = HUMANOID.replace("<axis x='0' y='1' z='0'/>", f"<axis x='0' y='1' z='0'/>{second[type]}")
    text = text.replace("value='Hinge'", f"value='{type}'")
    part, _ = read(tmp_path, text)
    if type == "Universal":  # B1 in B2: R(-x, second)·R(-y, first)
        turned = text.replace("<axis x='0' y='1'", "<axis x='-1' y='0'")
        turned = turned.replace("<axis2 x='1' y='0' z", "<axis2 x='0' y='-1' z")
        turned = turned.replace("<limits Min='-98' Max='32'/>", "<limits Min='-5' Max='9'/>")
        turned = turned.replace("<limits2 Min='-5' Max='9'/>", "<limits2 Min='-98' Max='32'/>")
    else:
        turned = text.replace("<axis x='0' y='1'", "<axis x='0' y='-1'")
    turned = turned.replace("B1='7' B2='17'", "B1='17' B2='7'")
    assert turned != text
    assert read(tmp_path, turned)[0].joints["left_knee"] == part.joints["left_knee"]


def test_a_joint_that_closes_a_circle_is_a_loop(tmp_path: Path) -> None:
    """A joint between connected solids becomes a loop, with a note."""
    extra = (
        "<joint><ID value='9'/><pos x='0' y='0' z='0'/><axis x='0' y='1' z='0'/>"
        "<connect B1='6' B2='17'/><type value='Hinge'/><desc Eng='Rod'/></joint>"
    )
    part, notes = read(tmp_path, HUMANOID.replace("</articulations>", extra + "</articulations>"))
    assert part.loops["rod"].joint == "hinge"
    assert any("close a loop" in note and "rod" in note for note in notes)


@pytest.mark.parametrize(
    ("right", "wrong", "line", "reported"),
    [
        ("<size x='0.082'", "<size w='0.082'", 7, "needs the attribute 'x'"),
        ("<mass value='0.635'/>\n", "\n", 4, "<cuboid> needs <mass …/>"),
        ("<mass value='0.635'/>", "<mass value='heavy'/>", 8, "heavy"),
        ("B2='17'", "B2='18'", 39, "connects solid 18, which does not exist"),
        ("B2='17'", "B2='7'", 39, "with itself"),
        ("value='Hinge'", "value='Hing'", 45, "Did you mean 'Hinge'"),
        ("Min='-98'", "Min='98'", 44, "is above Max"),
        ("<ID value='7'/>", "<ID value='6'/>", 12, "defined twice, first at"),
        ("<axis x='0' y='1' z='0'/>", "<axis x='0' y='0' z='0'/>", 42, "no direction"),
    ],
)
def test_mistakes_are_told(
    tmp_path: Path, right: str, wrong: str, line: int, reported: str
) -> None:
    """Each error names the line, the value found and the allowed ones."""
    assert right in HUMANOID
    with pytest.raises(LinkworkError) as caught:
        read(tmp_path, HUMANOID.replace(right, wrong, 1))
    assert reported in str(caught.value)
    assert caught.value.origin is not None
    assert caught.value.origin.line == line


def test_entity_bombs_and_other_robots_are_refused(tmp_path: Path) -> None:
    """Documents with entities are rejected; for a URDF as .xml the hint is its suffix."""
    bomb = '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY c "&a;&a;&a;">]><robot>&c;</robot>'
    with pytest.raises(FormatError, match="entities"):
        read(tmp_path, bomb)
    with pytest.raises(FormatError, match=r"A URDF has the suffix \.urdf"):
        read(tmp_path, '<robot name="r"><link name="l"/></robot>')
    with pytest.raises(FormatError, match="not connected"):
        read(tmp_path, HUMANOID.replace("B1='6' B2='7'", "B1='17' B2='7'"))


def test_what_the_xml_cannot_say_is_told(tmp_path: Path) -> None:
    """A part with sliders, springs and round shapes is written, with a note for each loss."""
    notes = lw.save(lw.load_part("tripod/tripod"), tmp_path / "arm.humanoid.xml")
    assert any("not one upright box" in note for note in notes)
    assert len(lw.load_part(tmp_path / "arm.humanoid.xml").elements) > 3


def test_what_the_format_has_no_words_for_is_listed(tmp_path: Path) -> None:
    """Surfaces, colors, initial motion, springs and bus settings are noted one by one."""
    part = lw.Part("p", labels={"en": "Robot"})
    box = Box((0.1, 0.1, 0.1))
    part.add(lw.Element("a", (box,), mass=1.0, color="#ff0000", friction=0.1, restitution=0.5))
    part.add(lw.Element("b", (box,), mass=1.0, spin=(0.0, 0.0, 1.0)))
    part.add(
        lw.Joint(
            "j", "hinge", "a", "b", value=0.3, speed=1.0, stiffness=2.0, rest=0.1, bus={"id": 3}
        )
    )
    notes = lw.save(part, tmp_path / "p.humanoid.xml")
    for what in (
        "friction of elements, left out: a.",
        "restitution of elements, left out: a.",
        "colors of elements, left out: a.",
        "initial motion of elements, left out: b.",
        "initial values of joints, left out: j.",
        "initial speeds of joints, left out: j.",
        "springs of joints, left out: j.",
        "bus settings of joints, left out: j.",
    ):
        assert what in notes
    reported = lw.save(part, tmp_path / "p.cfg")
    assert {*notes} - {*reported} == {"colors of elements, left out: a."}
    assert "labels, left out: p." in reported
