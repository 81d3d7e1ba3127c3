"""URDF extensions of Bullet, Drake and Gazebo are read; what is not is listed with its effect."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from linkwork.core.errors import FormatError
from linkwork.formats.conversion_notes import NoteLines
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.kinematics import forward
from linkwork.model.parts import Capsule, Ellipsoid, Mesh, Part, Plane
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene

MASS = (
    '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>'
    "</inertial>"
)
BALL = '<collision><geometry><sphere radius="0.1"/></geometry>{}</collision>'
TRANSMISSION = (
    '<transmission><joint name="{}"/><actuator name="m"><drake:rotor_inertia value="{}"/>'
    "{}</actuator></transmission>"
)


def robot(*lines: str, head: str = 'name="r"') -> str:
    return "\n".join([f"<robot {head}>", *lines, "</robot>"])


def link(name: str, *inside: str) -> str:
    return f'<link name="{name}">{"".join(inside)}</link>'


def joint(
    *inside: str, name: str = "j", ends: Sequence[str] = "ab", tag: str = "joint", type: str
) -> str:
    return (
        f'<{tag} name="{name}" type="{type}"><parent link="{ends[0]}"/><child link="{ends[1]}"/>'
        f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>{"".join(inside)}</{tag}>'
    )


@pytest.fixture
def read(tmp_path: Path):
    def reader(text: str) -> tuple[Part, NoteLines]:
        path = tmp_path / "r.urdf"
        path.write_text(text)
        part, notes = UrdfFormat().read_with_notes(path)
        assert isinstance(notes, NoteLines)
        return part, notes

    return reader


AB = (link("a", MASS, BALL.format("")), link("b", MASS, BALL.format("")))


# ---- Bullet ----


def test_bullet_surfaces_are_read(read) -> None:
    """Friction and restitution of the link; rolling and spinning friction of its shapes."""
    contact = (
        '<contact><lateral_friction value="0.5"/><restitution value="0.25"/>'
        '<rolling_friction value="0.01"/><spinning_friction value="0.02"/></contact>'
    )
    part, notes = read(robot(link("a", MASS, BALL.format(""), contact)))
    element = part.elements["a"]
    assert (element.friction, element.restitution) == (0.5, 0.25)
    (shape,) = element.shapes
    assert shape.mujoco == {"condim": 6, "friction": [0.5, 0.02, 0.01]}
    assert notes == ["rolling and spinning friction (Bullet), with mujoco only: a."]
    assert notes.of("motion") == []


def test_bullet_contact_dynamics_are_listed(read) -> None:
    """Stiffness, damping, CFM and ERP have no counterpart; --strict counts them."""
    tags = ("stiffness", "damping", "contact_cfm", "contact_erp")
    inside = "".join(f'<{tag} value="1"/>' for tag in tags)
    _, notes = read(robot(link("a", f"<contact>{inside}</contact>")))
    assert len(notes.of("motion")) == 4
    assert "stiffness of contacts (Bullet), left out; contacts of these links are as stiff as " \
        "the engine's: a." in notes  # fmt: skip


def test_bullet_scales_inertias(read) -> None:
    """<inertia_scaling> multiplies the matrix, not the mass."""
    scaled = link("a", MASS, '<contact><inertia_scaling value="3"/></contact>')
    part, _ = read(robot(scaled))
    inertia = part.elements["a"].mass_properties()
    assert inertia.mass == 2.0
    assert np.allclose(np.diag(inertia.matrix), (3, 6, 7.5))


def test_bullet_numbers_are_read(read) -> None:
    """Commas, a fourth number, one number as a scale, a second point; each with a note."""
    part, notes = read(
        robot(
            link("a", '<visual><origin xyz="1, 2,3" rpy="0 0 0 9"/><geometry><box size="1 1 1"/>'
                 "</geometry></visual>"),
            link("b"),
            joint('<limit lower="-1.57." upper="2" effort="1" velocity="1"/>', type="revolute"),
        )
    )  # fmt: skip
    assert part.elements["a"].shapes[0].at.xyz == (1.0, 2.0, 3.0)
    assert part.joints["j"].ranges == ((-1.57, 2.0),)
    assert len(notes) == 3
    assert any("lower='-1.57.', read as -1.57" in note and "r.urdf:4" in note for note in notes)


def test_one_number_scales_all_axes(read, tmp_path: Path) -> None:
    """As Drake reads it."""
    (tmp_path / "m.stl").write_bytes(b"")
    mesh = '<visual><geometry><mesh filename="m.stl" scale=".001"/></geometry></visual>'
    part, _ = read(robot(link("a", mesh)))
    (shape,) = part.elements["a"].shapes
    assert isinstance(shape, Mesh)
    assert shape.scale == (0.001, 0.001, 0.001)


def test_bullet_shapes_and_joints_are_read(read) -> None:
    """A plane with a normal, a spherical joint; an unknown collision is listed."""
    plane = '<collision><geometry><plane normal="1 0 0"/></geometry></collision>'
    cdf = '<collision><geometry><cdf filename="x.cdf"/></geometry></collision>'
    part, notes = read(robot(link("a", plane, cdf), link("b"), joint(type="spherical")))
    (shape,) = part.elements["a"].shapes
    assert isinstance(shape, Plane)
    assert np.allclose(shape.at.rotate((0.0, 0.0, 1.0)), (1, 0, 0))
    assert part.joints["j"].type == "ball"
    assert notes.of("motion") == ["collisions with geometry of kind cdf, left out, in line: 2."]


def test_what_other_tools_accept_is_accepted(read) -> None:
    """A robot without name, a revolute joint without limit, inertias without products."""
    inertial = '<inertial><mass value="1"/>{}</inertial>'
    part, notes = read(
        robot(
            link("a", inertial.format('<inertia ixx="1" iyy="1" izz="1"/>')),
            link("b", inertial.format(""), "<visual/>"),
            joint(type="revolute"),
            head='name=""',
        )
    )
    assert part.name == "r"
    assert part.joints["j"].ranges == (None,)
    text = "\n".join(notes)
    for found in (
        "has no name", "without <limit>, left unlimited: j", "without ixy, ixz, iyz, read as 0: a",
        "links without <inertia>, read as point masses: b", "geometry of kind none, left out",
    ):  # fmt: skip
        assert found in text


def test_the_world_need_not_be_defined(read) -> None:
    """Drake and Bullet know a link "world"; it becomes the fixed root."""
    part, notes = read(robot(link("a", MASS), joint(ends=("world", "a"), type="fixed")))
    assert part.root() == "world"
    assert part.elements["world"].mass_properties().mass == 0.0
    assert "the link 'world' is not defined, added as the fixed root." in notes[0]


# ---- Drake ----


def test_a_rotor_is_an_armature(read) -> None:
    """armature = rotor_inertia · gear_ratio²; the ratio is 1 if it is not given."""
    gear = '<drake:gear_ratio value="100"/>'
    part, notes = read(
        robot(
            *AB, link("c"), joint(type="continuous"),
            joint(name="k", ends="bc", type="continuous"),
            TRANSMISSION.format("j", "2e-5", gear), TRANSMISSION.format("k", "0.3", ""),
        )
    )  # fmt: skip
    assert part.joints["j"].armature == pytest.approx(0.2)
    assert part.joints["k"].armature == 0.3
    assert notes == []


def test_drake_shapes_and_friction_are_read(read) -> None:
    """Capsules, ellipsoids; friction of the first collision; compliance is listed."""
    properties = (
        '<drake:proximity_properties><drake:mu_static value="0.9"/><drake:mu_dynamic value="{}"/>'
        "{}</drake:proximity_properties>"
    )
    soft = '<drake:hydroelastic_modulus value="1e6"/>'
    shape = "<collision><geometry>{}</geometry>{}</collision>"
    part, notes = read(
        robot(
            link(
                "a",
                shape.format(
                    '<drake:capsule radius="1" length="2"/>', properties.format(0.3, soft)
                ),
                shape.format('<drake:ellipsoid a="1" b="2" c="3"/>', properties.format(0.6, "")),
            )
        )
    )
    element = part.elements["a"]
    kinds = [type(each) for each in element.shapes]
    assert kinds == [Capsule, Ellipsoid]
    assert element.friction == 0.3
    assert len(notes.of("motion")) == 2
    assert "drake:hydroelastic_modulus (Drake), left out; contacts are as stiff as the engine's: " \
        "a." in notes  # fmt: skip


CURVES = (
    '<drake:initial_tangent xyz="0 0 1"/><drake:plane_normal xyz="1 0 0"/>'
    '<drake:is_periodic value="false"/><drake:curves><drake:line_segment length="1"/>'
    '<drake:circular_arc radius="2" angle="1.5"/><drake:circular_arc radius="1" angle="-1.2"/>'
    "</drake:curves>"
)
#: Joints of Drake: their elements, a position, and the pose of the child in Drake 1.58 [m, wxyz].
DRAKE_JOINTS = {
    "universal": (
        "",
        (0.3, -0.7),
        (2.0411536584, 4.0916086088, 5.9225284408),
        (0.9431725913, 0.2787581736, -0.0798909838, 0.1622860883),
    ),
    "screw": (
        '<axis xyz="0 1 1"/><drake:screw_thread_pitch value="0.04"/>',
        (1.3,),
        (2.0407336052, 4.096426676, 5.9292443104),
        (0.5334381663, 0.0220523353, 0.5368129061, 0.6532911457),
    ),
    "curvilinear": (
        CURVES,
        (2.7,),
        (3.4506396162, 3.5058058868, 8.0190591368),
        (0.4368217154, -0.7986443593, 0.1946089099, -0.3653509935),
    ),
}


@pytest.mark.parametrize("type_", DRAKE_JOINTS)
def test_drake_joints_move_as_in_drake(read, type_: str) -> None:
    """Position and rotation of the child are those that Drake returned for the same file."""
    inside, q, position, rotation = DRAKE_JOINTS[type_]
    base = joint(name="w", ends=("world", "a"), type="fixed")
    part, notes = read(robot(*AB, base, joint(inside, tag="drake:joint", type=type_)))
    assert not notes.of("motion")
    world = compile_scene(Scene("s").place(part, name="r"))
    coordinates = world.q0.copy()
    coordinates[:] = q
    found = forward(world, coordinates)[-1]
    assert np.allclose(found[:3], position, atol=1e-9)
    assert abs(np.dot(found[3:], rotation)) == pytest.approx(1.0, abs=1e-9)


def test_a_curvilinear_joint_is_a_rail(read) -> None:
    """An arc of radius r and angle φ is a segment of length r φ that turns by φ."""
    part, notes = read(robot(*AB, joint(CURVES, tag="drake:joint", type="curvilinear")))
    rail = part.joints["j"]
    assert rail.type == "rail"
    assert [(s.length, s.turn) for s in rail.rail] == [(1.0, 0.0), (3.0, 1.5), (1.2, -1.2)]
    assert rail.ranges == ((0.0, pytest.approx(5.2)),)
    ring = CURVES.replace("false", "true")
    _, notes = read(robot(*AB, joint(ring, tag="drake:joint", type="curvilinear")))
    assert len(notes.of("motion")) == 1


def test_frames_springs_and_ball_constraints_are_read(read) -> None:
    """Frames are anchors, ball constraints loops, linear spring dampers springs."""
    ends = (
        '<drake:{0}_body_A name="a"/><drake:{0}_p_AP value="1 0 0"/><drake:{0}_body_B name="b"/>'
        '<drake:{0}_p_BQ value="0 1 0"/>'
    )
    numbers = "".join(
        f'<drake:linear_spring_damper_{key} value="{value}"/>'
        for key, value in (("free_length", 0.5), ("stiffness", 100), ("damping", 2))
    )
    part, notes = read(
        robot(
            *AB, joint(type="floating"),
            '<frame name="tool" link="b" xyz="0 0 1" rpy="0 0 1.5"/>',
            f"<drake:ball_constraint>{ends.format('ball_constraint')}</drake:ball_constraint>",
            f"<drake:linear_spring_damper>{ends.format('linear_spring_damper')}{numbers}"
            "</drake:linear_spring_damper>",
        )
    )  # fmt: skip
    assert notes == []
    tool = part.anchors["tool"]
    assert (tool.on, tool.at.xyz, tool.at.rpy()[2]) == ("b", (0, 0, 1), pytest.approx(1.5))
    (loop,) = part.loops.values()
    assert (loop.joint, part.anchors[loop.a].at.xyz, part.anchors[loop.b].on) == (
        "ball", (1, 0, 0), "b",
    )  # fmt: skip
    (spring,) = part.springs.values()
    assert (spring.stiffness, spring.damping, spring.rest) == (100.0, 2.0, 0.5)


def test_unread_elements_name_their_effect(read) -> None:
    """A bushing and stiff contacts are differences in motion; a plugin of a sensor is not."""
    imu = '<plugin filename="libgazebo_ros_imu_sensor.so"/>'
    gazebo = f'<gazebo reference="a"><kp>1e6</kp>{imu}</gazebo>'
    _, notes = read(robot(link("a"), "<drake:linear_bushing_rpy/>", gazebo))
    assert notes.of("motion") == [
        "<drake:linear_bushing_rpy>, left out; nothing holds these links together, in line: 3.",
        "<kp> of <gazebo>, left out; contacts of these links are as stiff as the engine's: a.",
    ]
    assert notes.without("motion") == [
        "plugins that move nothing, left out: gazebo_ros_imu_sensor."
    ]


def filters(*pairs: tuple[str, str, str]) -> str:
    return "".join(
        f'<drake:collision_filter_group name="{name}">'
        + "".join(f'<drake:member link="{each}"/>' for each in members)
        + f'<drake:ignored_collision_filter_group name="{ignored}"/>'
        "</drake:collision_filter_group>"
        for name, members, ignored in pairs
    )


def test_collision_filter_groups_are_read(read) -> None:
    """Groups that exclude every pair switch self-collision off; others are listed by pair."""
    chain = (
        *(link(name, MASS, BALL.format("")) for name in "abcd"),
        *(joint(name=f"j{ends}", ends=ends, type="continuous") for ends in ("ab", "bc", "cd")),
    )
    part, notes = read(robot(*chain, filters(("g", "abcd", "g"))))
    assert part.self_collision == "none"
    assert notes == []
    part, notes = read(robot(*chain, filters(("g", "a", "h"), ("h", "cd", "none"))))
    assert part.self_collision != "none"
    assert notes.of("motion")[0].endswith("[collide] never excludes them: a and c, a and d.")
    part, notes = read(robot(*chain, filters(("g", "ab", "g"))))
    assert notes == []  # joined links do not collide
    with pytest.raises(FormatError, match="no link 'x'"):
        read(robot(*chain, filters(("g", "x", "g"))))


# ---- Gazebo ----


def test_gazebo_friction_and_springs_are_read(read) -> None:
    """mu1 of a link, springStiffness and springReference of a joint."""
    part, notes = read(
        robot(
            *AB, joint(type="continuous"), '<gazebo reference="a"><mu1>0.2</mu1></gazebo>',
            '<gazebo reference="j"><springStiffness>5</springStiffness>'
            "<springReference>0.1</springReference></gazebo>",
        )
    )  # fmt: skip
    assert part.elements["a"].friction == 0.2
    assert (part.joints["j"].stiffness, part.joints["j"].rest) == (5.0, 0.1)
    assert notes == []


def test_values_of_gazebo_without_effect_are_no_differences(read) -> None:
    """Equal friction in both directions, gravity that acts, and damping 0 change nothing."""
    for text, count in (("0.2", 0), ("0.3", 1)):
        same = f"<mu1>0.2</mu1><mu2>{text}</mu2><gravity>true</gravity>"
        more = "<dampingFactor>0</dampingFactor><turnGravityOff>false</turnGravityOff>"
        _, notes = read(robot(*AB[:1], f'<gazebo reference="a">{same}{more}</gazebo>'))
        assert len(notes.of("motion")) == count
        assert notes.without("motion") == []


@pytest.mark.parametrize("flag", ["<gravity>0</gravity>", "<turnGravityOff>true</turnGravityOff>"])
def test_gazebo_links_without_gravity_have_no_weight(read, flag: str) -> None:
    """They are weightless for mujoco, which is listed."""
    part, notes = read(robot(*AB[:1], f'<gazebo reference="a">{flag}</gazebo>'))
    assert part.elements["a"].mujoco == {"gravcomp": 1.0}
    assert notes == ["links without gravity, with mujoco only: a."]


def test_a_plugin_that_drives_is_a_difference(read) -> None:
    """Its name and line are listed."""
    plugin = '<plugin name="p" filename="gz-sim-diff-drive-system"/>'
    _, notes = read(robot(*AB[:1], f"<gazebo>{plugin}</gazebo>"))
    (note,) = notes.of("motion")
    assert "diff-drive (line 3)" in note


def test_a_limit_without_range_is_no_limit(read) -> None:
    """Bullet and Drake leave such a joint unlimited; one number counts, the other is 0."""
    part, notes = read(robot(*AB, joint('<limit effort="1" velocity="2"/>', type="revolute")))
    assert part.joints["j"].ranges == (None,)
    assert part.joints["j"].max_effort == 1.0
    assert "no range" in notes.of("motion")[0]
    one = '<limit lower="-1" effort="1" velocity="2"/>'
    part, _ = read(robot(*AB, joint(one, type="revolute")))
    assert part.joints["j"].ranges == ((-1.0, 0.0),)


def test_repairs_that_change_the_motion_are_differences(read) -> None:
    """Raised inertias, negative damping and mimics without a leader are counted by --strict."""
    flat = MASS.replace('izz="2.5"', 'izz="9"')
    part = (link("a", MASS), link("b", flat))
    inside = '<dynamics damping="-1"/><mimic joint="none"/>'
    _, notes = read(robot(*part, joint(inside, type="continuous")))
    found = notes.of("motion")
    assert len(found) == 3
    for word in ("no real body", "negative damping", "does not exist"):
        assert any(word in note for note in found)


def test_substitutions_with_a_default_are_read(read, monkeypatch: pytest.MonkeyPatch) -> None:
    """$(optenv NAME default) is the variable's value, else the default; it is listed."""
    held = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>{}</joint>'
    text = robot(*AB, held.format('<origin xyz="$(optenv LW_TEST_XYZ 0.1 0 0.2)"/>'))
    part, notes = read(text)
    assert part.joints["j"].at.xyz == (0.1, 0.0, 0.2)
    assert "read as '0.1 0 0.2'" in notes[0]
    monkeypatch.setenv("LW_TEST_XYZ", "1 2 3")
    assert read(text)[0].joints["j"].at.xyz == (1.0, 2.0, 3.0)


def test_damping_of_several_degrees_of_freedom(read) -> None:
    """Drake's planar joint has three values; they are listed if they differ."""
    for text, count in (("0.1 0.1 0.1", 0), ("0.1 0.2 0.3", 1)):
        part, notes = read(robot(*AB, joint(f'<dynamics damping="{text}"/>', type="planar")))
        assert part.joints["j"].damping == 0.1
        assert len(notes.of("motion")) == count
    assert math.isclose(part.joints["j"].friction, 0.0)
