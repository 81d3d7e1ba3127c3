"""URDF files become parts, and errors name file and line."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from linkwork.core.errors import FormatError, LinkworkError, MeshError
from linkwork.formats.robots.links import repair_inertia
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.formats.robots.xml import MAX_DEPTH
from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import Box, Capsule, Cylinder, Mesh, Part, Sphere

INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>'


def robot(*lines: str, name: str = "bot") -> str:
    """Returns a URDF whose first given line is line 2 of the file."""
    return "\n".join([f'<robot name="{name}">', *lines, "</robot>"])


def link(name: str, *inside: str) -> str:
    return f'<link name="{name}">{"".join(inside)}</link>'


def joint(name: str, parent: str, child: str, *inside: str, type: str = "continuous") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{type}">{ends}{"".join(inside)}</joint>'


@pytest.fixture
def read(tmp_path: Path):
    def reader(text: str, missing: str = "error") -> tuple[Part, list[str]]:
        path = tmp_path / "bot.urdf"
        path.write_text(text)
        form = UrdfFormat(missing_meshes=missing)  # type: ignore[arg-type]
        return form.read_with_notes(path)

    return reader


TWO = (link("a"), link("b"))


def test_every_kind_of_joint_is_read(read) -> None:
    """URDF's six joint types become ours, with ranges only where URDF has them."""
    limits = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    dynamics = '<dynamics damping="0.5" friction="0.25"/>'
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    part, notes = read(
        robot(
            *(link(name) for name in "abcdefg"),
            joint("j1", "a", "b", limits, dynamics, origin, type="revolute"),
            joint("j2", "b", "c", '<axis xyz="0 0 2"/>', limits, type="continuous"),
            joint("j3", "c", "d", '<axis xyz="0 1 0"/>', limits, type="prismatic"),
            joint("j4", "d", "e", '<axis xyz="0 0 0"/>', type="fixed"),
            joint("j5", "e", "f", type="floating"),
            joint("j6", "f", "g", '<axis xyz="0 0 1"/>', type="planar"),
        )
    )
    assert notes == ["continuous joints with limits, which do not count: j2."]
    types = [j.type for j in part.joints.values()]
    assert types == ["hinge", "hinge", "slider", "fixed", "free", "planar"]
    first = part.joints["j1"]
    assert first.ranges == ((-1.0, 2.0),)
    assert (first.max_effort, first.max_speed) == (3.0, 4.0)
    assert (first.damping, first.friction) == (0.5, 0.25)
    assert first.axis == (1.0, 0.0, 0.0)
    assert first.at == Pose.of((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    assert (first.from_, first.to) == ("a", "b")
    assert part.joints["j2"].ranges == (None,)
    assert part.joints["j2"].axis == (0.0, 0.0, 1.0)
    assert part.joints["j3"].ranges == ((-1.0, 2.0),)


def test_a_rotated_inertial_is_turned_into_the_links_frame(read) -> None:
    """A quarter turn about z exchanges the inertias about x and y and moves the center."""
    inertial = f"<inertial><origin xyz='1 0 0' rpy='0 0 {math.pi / 2}'/>" + (
        f"<mass value='2'/>{INERTIA}</inertial>"
    )
    part, _ = read(robot(link("a", inertial)))
    found = part.elements["a"].mass_properties()
    assert found.mass == 2.0
    np.testing.assert_allclose(found.com, [1, 0, 0])
    np.testing.assert_allclose(found.matrix, np.diag([2, 1, 2.5]), atol=1e-15)


def test_a_link_without_inertial_is_massless_and_its_mesh_is_never_opened(
    read, tmp_path: Path
) -> None:
    """Such a link needs no triangles, so a broken mesh has no effect."""
    (tmp_path / "broken.stl").write_text("no triangles at all")
    part, _ = read(
        robot(link("a", '<visual><geometry><mesh filename="broken.stl"/></geometry></visual>'))
    )
    assert part.elements["a"].mass_properties().mass == 0.0


@pytest.mark.parametrize(
    ("moments", "allowed"),
    [
        ((1.0, 1.0, 10.0), (5.0, 5.0, 10.0)),
        ((1.0, 2.0, 5.0), (2.0, 3.0, 5.0)),
        ((0.0, 0.0, 3.0), (1.5, 1.5, 3.0)),
        ((-1.0, 2.0, 3.0), (0.0, 3.0, 3.0)),
        ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)),
        ((-2.0, -1.0, -1.0), (0.0, 0.0, 0.0)),
    ],
)
def test_an_impossible_inertia_is_raised_just_enough(moments, allowed) -> None:
    """The repair keeps axes and the largest moment, and the result is physical."""
    turn = Pose.of(rpy=(0.4, -1.1, 2.0)).matrix()
    found = repair_inertia(turn @ np.diag(moments) @ turn.T)
    np.testing.assert_allclose(found, turn @ np.diag(allowed) @ turn.T, atol=1e-12)
    assert Inertia.of(1.0, matrix=found).problem() == ""


def test_a_repair_keeps_mass_and_center_and_is_noted(read) -> None:
    """The note names file, line and link."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="10"/>'
    inertial = f'<inertial><origin xyz="1 2 3"/><mass value="0.1"/>{inertia}</inertial>'
    part, notes = read(robot(link("a", inertial)))
    found = part.elements["a"].mass_properties()
    assert found.mass == 0.1
    assert found.com.tolist() == [1, 2, 3]
    assert len(notes) == 1
    assert re.search(r"bot\.urdf:2: link 'a': .*raised to 5, 5, 10", notes[0])


def test_geometries_and_materials_are_read(read, tmp_path: Path) -> None:
    """Colours come from the visual, from the robot, or from another link's definition."""
    (tmp_path / "part.stl").write_bytes(b"")

    def shape(tag: str, geometry: str, look: str = "") -> str:
        return f"<{tag}><geometry>{geometry}</geometry>{look}</{tag}>"

    part, notes = read(
        robot(
            link(
                "a",
                shape("visual", '<box size="1 2 3"/>', '<material name="later"/>'),
                shape("visual", '<sphere radius="1"/>', '<material name="red"/>'),
                shape("visual", '<cylinder radius="1" length="2"/>', '<material name="nowhere"/>'),
                shape("collision", '<capsule radius="1" length="2"/>'),
                shape("visual", '<mesh filename="part.stl" scale="0.1 0.2 0.3"/>'),
                shape("visual", '<box size="0 1 1"/>'),
            ),
            link(
                "b",
                shape(
                    "visual",
                    '<sphere radius="1"/>',
                    '<material name="later"><color rgba="0 0 1 0.5"/></material>',
                ),
            ),
            joint("j", "a", "b"),
            '<material name="red"><color rgba="1 0 0 1"/></material>',
        )
    )
    box, ball, tube, mesh, pill = part.elements["a"].shapes
    assert (box, box.color) == (Box((1, 2, 3), color="#0000ff80", collide=False), "#0000ff80")
    assert ball == Sphere(1, color="#ff0000", collide=False)
    assert tube == Cylinder(1, 2, collide=False)
    assert pill == Capsule(1, 2, visible=False)
    assert mesh == Mesh(str(tmp_path / "part.stl"), (0.1, 0.2, 0.3), collide=False)
    assert "materials named but not defined, shown in the default color: nowhere." in notes
    assert any(note.startswith("shapes of size 0, left out: box at ") for note in notes)


def test_the_same_visual_and_collision_become_one_shape(read) -> None:
    """Equal ones become one shape; a shape at another pose is separate."""
    box = '<geometry><box size="1 1 1"/></geometry>'
    away = '<origin xyz="0 0 1"/>'
    part, _ = read(
        robot(
            link(
                "a",
                f"<visual>{box}<material name='m'><color rgba='0 1 0 1'/></material></visual>",
                f"<collision>{box}</collision>",
                f"<collision>{away}{box}</collision>",
            )
        )
    )
    one, two = part.elements["a"].shapes
    assert (one.visible, one.collide, one.color) == (True, True, "#00ff00")
    assert (two.visible, two.collide, two.at.xyz) == (False, True, (0, 0, 1))


def test_contact_gives_friction_and_restitution(read) -> None:
    """The surface that Bullet's files describe is read."""
    contact = '<contact><lateral_friction value="0.3"/><restitution value="0.5"/></contact>'
    part, _ = read(robot(link("a", contact)))
    assert (part.elements["a"].friction, part.elements["a"].restitution) == (0.3, 0.5)


def test_mimic_becomes_a_coupling(read) -> None:
    """Multiplier and offset are kept; an impossible mimic is noted and left out."""
    part, notes = read(
        robot(
            *(link(name) for name in "abcdef"),
            joint("lead", "a", "b"),
            joint("same", "b", "c", '<mimic joint="lead"/>'),
            joint("half", "c", "d", '<mimic joint="lead" multiplier="-0.5" offset="0.1"/>'),
            joint("lost", "d", "e", '<mimic joint="leed"/>'),
            joint("self", "e", "f", '<mimic joint="self"/>'),
        )
    )
    found = [(c.joint, c.of, c.ratio, c.offset) for c in part.couplings]
    assert found == [("same", "lead", 1.0, 0.0), ("half", "lead", -0.5, 0.1)]
    assert any("'leed', which does not exist; left out. Did you mean 'lead'?" in n for n in notes)
    assert "mimics left out because the joint would follow itself: self." in notes


def test_names_are_kept_or_remembered(read) -> None:
    """Invalid names, or names shared by a link and a joint, get aliases."""
    part, _ = read(
        robot(
            link("base.link"),
            link("base_link"),
            link("arm"),
            joint("arm", "base.link", "arm"),
            joint("a/b c", "arm", "base_link"),
            name="my bot",
        )
    )
    assert (part.name, part.title) == ("my_bot", "my bot")
    assert set(part.elements) == {"base_link", "base_link_2", "arm"}
    assert set(part.joints) == {"arm_joint", "a_b_c"}
    assert part.aliases == {
        "base.link": "base_link_2",
        "joint:arm": "arm_joint",
        "a/b c": "a_b_c",
    }
    assert (part.joints["a_b_c"].from_, part.joints["a_b_c"].to) == ("arm", "base_link")


def test_every_thing_knows_its_line(read, tmp_path: Path) -> None:
    """Origins name the file as given and the line of the element."""
    part, _ = read(robot(*TWO, "", joint("j", "a", "b", '\n<mimic joint="k"/>'), "", link("c"),
                         joint("k", "b", "c")))  # fmt: skip
    file = str(tmp_path / "bot.urdf")
    assert str(part.elements["b"].origin) == f"{file}:3"
    assert str(part.joints["j"].origin) == f"{file}:5"
    assert str(part.couplings[0].origin) == f"{file}:6"
    assert part.origin.file == file


def test_what_is_not_read_is_said(read) -> None:
    """Elements of other programs are counted in the notes."""
    gazebo = "<gazebo><plugin/></gazebo>"
    _, notes = read(robot(link("a", "<sensor/>"), gazebo, gazebo, "<transmission/>"))
    assert notes == [
        "plugins, left out; what they drive moves freely, their forces do not act: "
        "plugin (line 3), plugin (line 4).",
        "elements that are not read: link/sensor (1), transmission (1).",
    ]


def test_limits_beyond_reach_are_no_limits(read) -> None:
    """Infinite, huge and zero limits mean none; reversed ones are noted."""
    part, notes = read(
        robot(
            *(link(name) for name in "abcd"),
            joint("j1", "a", "b", '<limit lower="-1e16" upper="inf" effort="1e12" velocity="0"/>',
                  type="revolute"),
            joint("j2", "b", "c", '<limit lower="0" upper="inf" effort="1" velocity="1"/>',
                  type="prismatic"),
            joint("j3", "c", "d", '<limit lower="1" upper="-1" effort="1" velocity="1"/>',
                  type="revolute"),
        )
    )  # fmt: skip
    first = part.joints["j1"]
    assert (first.ranges, first.max_effort, first.max_speed) == ((None,), None, None)
    assert part.joints["j2"].ranges == ((0.0, 1e9),)
    assert part.joints["j3"].ranges == (None,)
    assert notes == [
        "joints with velocity limit 0 or less, read as no limit: j1.",
        "joints whose lower limit is above the upper, left unlimited: j3.",
    ]


MISTAKES = {
    "unknown child": (robot(*TWO, joint("j", "a", "c")), 4, "child link 'c' does not exist"),
    "unknown parent": (robot(*TWO, joint("j", "aa", "b")), 4, r"Did you mean 'a'\?|Available"),
    "two roots": (robot(*TWO), 3, r"2 links have no parent joint \(a, b\)"),
    "two parents": (
        robot(*TWO, link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
        6,
        r"'c' has two parents: the joints 'j' \(at .*:5\) and 'k'",
    ),
    "cycle": (
        robot(*TWO, link("c"), joint("j", "a", "b"), joint("k", "b", "a")),
        6,
        "the links a → b → a carry",
    ),
    "itself": (robot(*TWO, joint("j", "a", "b"), joint("k", "a", "a")), 5, "a → a"),
    "link twice": (robot(*TWO, link("a")), 4, "link name 'a' is taken by the link at .*:2"),
    "joint twice": (robot(*TWO, joint("j", "a", "b"), joint("j", "a", "b")), 5, "is taken"),
    "no links": (robot(), 1, "has no links"),
    "no link name": (robot("<link nam='a'/>"), 2, "needs the attribute 'name'. It has: nam"),
    "no joint type": (robot(*TWO, joint("j", "a", "b").replace("type", "tip")), 4, "'type'"),
    "unknown type": (robot(*TWO, joint("j", "a", "b", type="hinge")), 4, "no joint type 'hinge'"),
    "no child": (robot(*TWO, '<joint name="j" type="fixed"><parent link="a"/></joint>'), 4,
                 "joint 'j' has no <child>"),
    "zero axis": (robot(*TWO, joint("j", "a", "b", '<axis xyz="0 0 0"/>')), 4, "a zero axis"),
    "not a number": (robot(*TWO, joint("j", "a", "b", '<origin xyz="0 x 0"/>')), 4, "xyz='x'"),
    "nan": (robot(link("a", '<inertial><mass value="nan"/>' + INERTIA + "</inertial>")), 2,
            "value='nan' of <mass> is not a finite number"),
    "overflow": (robot(link("a", '<inertial><mass value="1e999"/>' + INERTIA + "</inertial>")), 2,
                 "'1e999'"),
    "nan limit": (robot(*TWO, joint("j", "a", "b", '<limit lower="nan"/>', type="revolute")), 4,
                  "lower='nan'"),
    "negative mass": (robot(link("a", '<inertial><mass value="-1"/>' + INERTIA + "</inertial>")),
                      2, "mass of link 'a' is negative"),
    "two numbers": (robot(*TWO, joint("j", "a", "b", '<axis xyz="0 1"/>')), 4, "3 numbers"),
    "negative size": (
        robot(link("a", '<visual><geometry><sphere radius="-1"/></geometry></visual>')),
        2,
        "radius must be positive",
    ),
    "other root": ("\n<sdf/>", 2, "outermost element is <sdf>"),
    "not xml": ("<robot name='a'>\n<link", 2, "not well-formed XML"),
    "empty": ("", 1, "not well-formed XML"),
    "xacro macro": (robot("<xacro:macro/>", link("a")), 2, "xacro bot.urdf > bot_expanded.urdf"),
    "xacro value": (robot(link("${prefix}a")), 2, "this is a xacro file"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(read, mistake: str) -> None:
    """The message names the location, the value found and the existing names."""
    text, line, message = MISTAKES[mistake]
    with pytest.raises(LinkworkError, match=message) as caught:
        read(text)
    assert f"bot.urdf:{line}: " in str(caught.value)


BOMBS = {
    "billion laughs": '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
    "outside entity": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="x"/>',
    "outside document type": '<!DOCTYPE r SYSTEM "http://localhost/r.dtd"><robot name="x"/>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % a "ha">]><robot name="x"/>',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_entities_and_document_types_are_refused(read, bomb: str) -> None:
    """No file can exhaust memory or make the reader open other files."""
    with pytest.raises(FormatError, match=r"refused .*Remove the <!DOCTYPE"):
        read(BOMBS[bomb])


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """Neither a missing file nor a folder gives a traceback."""
    for path in (tmp_path / "none.urdf", tmp_path):
        with pytest.raises(FormatError, match="cannot be read"):
            UrdfFormat().read(path)


@pytest.mark.parametrize("depth", [400, 20_000])
def test_a_deep_file_is_read_without_recursion(read, depth: int) -> None:
    """Long chains are limited by memory only; absurdly deep nesting is refused."""
    links = [link(f"l{i}") for i in range(2_000)]
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(1_999)]
    deep = "<gazebo>" + "<x>" * depth + "</x>" * depth + "</gazebo>"
    if depth > MAX_DEPTH:
        with pytest.raises(FormatError, match="nested deeper than 499"):
            read(robot(*links, *joints, deep))
        return
    part, _ = read(robot(*links, *joints, deep))
    assert len(part.joints) == 1_999


MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "ws" / "robots" / "arm" / "urdf").mkdir(parents=True)
    return tmp_path / "ws"


@pytest.mark.parametrize(
    ("place", "reference", "variables"),
    [
        ("robots/arm/urdf/a.stl", "a.stl", {}),
        ("robots/arm/a.stl", "../a.stl", {}),
        ("robots/arm/urdf/a b.stl", "a%20b.stl", {}),
        ("robots/arm/urdf/in/a.stl", "in\\a.stl", {}),
        ("robots/arm/m/a.stl", "package://arm/m/a.stl", {}),
        ("robots/arm/m/a.stl", "package:///arm/m/a.stl", {}),
        ("robots/arm/m/a.stl", "model://arm/m/a.stl", {}),
        ("robots/hand/m/a.stl", "package://hand/m/a.stl", {}),
        ("robots/m/a.stl", "package://described/m/a.stl", {}),
        ("other/hand/m/a.stl", "package://hand/m/a.stl", {"ROS_PACKAGE_PATH": "nowhere:other"}),
        ("other/repo/hand/m/a.stl", "package://hand/m/a.stl", {"ROS_PACKAGE_PATH": "other"}),
        ("other/hand/m/a.stl", "package://hand/m/a.stl", {"ROS_PACKAGE_PATH": "other/hand"}),
        ("install/share/hand/a.stl", "package://hand/a.stl", {"AMENT_PREFIX_PATH": "install"}),
    ],
)
def test_a_mesh_is_found(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, place: str, reference: str, variables: dict
) -> None:
    """Relative paths, packages around the file and packages of the environment are searched."""
    mesh = workspace / place
    mesh.parent.mkdir(parents=True, exist_ok=True)
    mesh.write_bytes(b"")
    (workspace / "robots" / "package.xml").write_text("<package><name>described</name></package>")
    monkeypatch.chdir(workspace)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    path = workspace / "robots" / "arm" / "urdf" / "arm.urdf"
    path.write_text(robot(link("a", MESH.format(reference))))
    (shape,) = UrdfFormat().read(path).elements["a"].shapes
    assert isinstance(shape, Mesh)
    assert Path(shape.file).is_absolute()
    assert Path(shape.file).samefile(mesh)


def test_a_file_reference_is_absolute(workspace: Path) -> None:
    """file:// leads to the file, with and without escapes."""
    mesh = workspace / "a b.stl"
    mesh.write_bytes(b"")
    path = workspace / "robots" / "arm.urdf"
    for spelling in (str(mesh), str(mesh).replace(" ", "%20")):
        path.write_text(robot(link("a", MESH.format(f"file://{spelling}"))))
        (shape,) = UrdfFormat().read(path).elements["a"].shapes
        assert shape == Mesh(str(mesh), collide=False)


def test_a_missing_mesh_lists_every_place_tried(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error lists all paths; with "skip" a note names the mesh, and the shape is left out."""
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(workspace / "ros"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(workspace / "ament"))
    path = workspace / "robots" / "arm" / "urdf" / "arm.urdf"
    path.write_text(robot(link("a", MESH.format("package://arm/m/a.stl"))))
    positions = (
        "ros/arm",
        "ament/share/arm",
        "robots/arm/urdf/arm",
        "robots/arm",
        "robots/arm/arm",
    )
    with pytest.raises(MeshError) as caught:
        UrdfFormat().read(path)
    form = UrdfFormat(missing_meshes="skip")
    assert form.read(path).elements["a"].shapes == ()
    assert form.part_notes == [
        f"visual meshes that are missing, left out: package://arm/m/a.stl ({path}:2)."
    ]
    for place in positions:
        assert f"\n  {workspace / place / 'm' / 'a.stl'}\n" in f"{caught.value}\n"
    assert "arm.urdf:2: " in str(caught.value)
    assert "ROS_PACKAGE_PATH" in str(caught.value)
